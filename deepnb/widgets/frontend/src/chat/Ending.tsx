/** How a turn has ended, and what can be done about it. */

import { useApp, useConnection, useStore } from "../app";
import type { Turn } from "../model";
import { CopyButton } from "../parts/CopyButton";
import { cost, tokens } from "../parts/format";
import { Icon } from "../parts/Icon";
import { useTask, type Task } from "../parts/useTask";
import { ForkButton } from "../tabs/Fork";
import { Notice } from "./Notice";

interface EndingProps {
  turn: Turn;
  isLast: boolean;
}

export function Ending({ turn, isLast }: EndingProps) {
  const { client } = useApp();
  const task = useTask();
  const canResume = useStore((store) => isLast && store.facts?.can_resume === true);
  const running = useStore((store) => store.facts?.status === "running");
  const off = useConnection() === "lost" || running;
  if (turn.status !== "done" && turn.status !== "failed" && turn.status !== "stopped") return null;
  const resume = canResume && (
    <Act icon="retry" task={task} off={off} work={() => client.request("resume", {})}>
      {turn.status === "failed" ? "Try again" : "Go on"}
    </Act>
  );
  return (
    <>
      {turn.status === "failed" && <Failure turn={turn}>{resume}</Failure>}
      {turn.status === "stopped" && (
        <div class="dn-note"><Icon name="stop" /><span class="dn-grow"><b>Stopped</b>{because(turn.why)}</span>{resume}</div>
      )}
      {task.error && <p class="dn-small dn-bad" role="alert">{task.error}</p>}
      {turn.run && <Acts turn={turn} task={task} off={off} />}
    </>
  );
}

/** A reason is a sentence of its own, or the rest of this one. */
function because(why: string): string {
  if (why === "by the person") return " by you.";
  return /^\p{Ll}/u.test(why) ? ` ${why}` : `. ${why}`;
}

function Failure({ turn, children }: { turn: Turn; children: preact.ComponentChildren }) {
  const told = turn.steps.findLast((step) => step.type === "notice" && step.level === "error");
  // What went wrong stands above, if somebody has said it.
  if (told) return <div class="dn-row">{children}</div>;
  return <Notice step={{ level: "error", title: "This did not work", text: turn.why }}>{children}</Notice>;
}

function Acts({ turn, task, off }: { turn: Turn; task: Task; off: boolean }) {
  const { client } = useApp();
  const takesMessages = useStore((store) => store.facts?.takes_messages !== false);
  const last = turn.steps.findLast((step) => step.fork !== null)?.fork ?? null;
  const answer = () => {
    const said = turn.steps.findLast((step) => step.type === "text");
    return said?.type === "text" ? said.text : turn.why;
  };
  return (
    <div class="dn-acts">
      <CopyButton class="dn-btn dn-btn-sm dn-btn-bare" text={answer}>Copy</CopyButton>
      {takesMessages && (
        <Act icon="retry" task={task} off={off} bare work={() => client.request("resend", { run: turn.run, text: turn.question })}>Retry</Act>
      )}
      {last !== null && <ForkButton step={last} class="dn-btn dn-btn-sm dn-btn-bare" />}
      <span class="dn-push dn-small dn-faint">{spent(turn)}</span>
    </div>
  );
}

function spent({ usage }: Turn): string {
  const all = usage.tokensIn + usage.tokensOut;
  return [all > 0 && `${tokens(all)} tokens`, usage.cost ? cost(usage.cost) : ""].filter(Boolean).join(", ");
}

interface ActProps {
  icon: "retry";
  task: Task;
  off: boolean;
  bare?: boolean;
  work: () => Promise<unknown>;
  children: string;
}

function Act({ icon, task, off, bare = false, work, children }: ActProps) {
  return (
    <button type="button" class={bare ? "dn-btn dn-btn-sm dn-btn-bare" : "dn-btn dn-btn-sm"} aria-busy={task.busy} disabled={task.busy || off} onClick={() => task.run(work)}>
      <Icon name={icon} small />{children}
    </button>
  );
}
