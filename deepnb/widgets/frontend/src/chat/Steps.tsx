/** What was done, one line each, which opens. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { useApp, useConnection } from "../app";
import { Markdown } from "../markdown/Markdown";
import type { FileStep, RemarkStep, Step, SubagentStep, ThoughtStep, ToolStep } from "../model";
import { CopyButton } from "../parts/CopyButton";
import { Elapsed } from "../parts/Elapsed";
import { counted, took } from "../parts/format";
import { Icon, type IconName } from "../parts/Icon";
import { legible, oneLine } from "../parts/legible";
import { memo } from "../parts/memo";
import { useTask } from "../parts/useTask";
import { Args } from "../questions/ArgsForm";
import { Diff } from "../questions/Diff";
import { ForkButton } from "../tabs/Fork";
import { Notice } from "./Notice";
import { useRun } from "./useRun";
import { firstSentence, toolLine } from "./wording";

/** Questions are not among them: those of a subagent, too, stand where nobody can fold them away. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol class="dn-steps">
      {steps.map((step) => (step.type === "question" ? null : <Item key={step.seq} step={step} />))}
    </ol>
  );
}

const Item = memo(function Item({ step }: { step: Step }) {
  switch (step.type) {
    case "thought":
      return <Thought step={step} />;
    case "tool":
      return <Tool step={step} />;
    case "file":
      return <File step={step} />;
    case "remark":
      return <Remark step={step} />;
    case "subagent":
      return <Subagent step={step} />;
    case "notice":
      return <li class="dn-step"><Notice step={step} /></li>;
    case "text":
      return <li class="dn-step dn-said"><Markdown step={step} /></li>;
    default:
      return null;
  }
});

interface RowProps {
  icon: IconName;
  live?: boolean;
  tone?: "bad";
  verb: string;
  object?: ComponentChildren;
  meta?: ComponentChildren;
  fork?: number | null;
  /** Behind the row; without it, there is nothing to open. */
  children?: ComponentChildren;
}

function Row({ icon, live = false, tone, verb, object, meta, fork = null, children }: RowProps) {
  const [opened, setOpened] = useState(false);
  const row = (
    <>
      <span class={tone ? `dn-node dn-${tone}` : "dn-node"}>
        {live ? <span class="dn-spin" /> : <Icon name={tone ? "warn" : icon} />}
      </span>
      <b>{verb}</b>
      <span class="dn-cut">{object}</span>
      <span class="dn-meta">
        {meta}
        {children && <span class="dn-chev"><Icon name="chev" small /></span>}
      </span>
    </>
  );
  if (!children) return <li class="dn-step"><div class="dn-step-row">{row}</div></li>;
  return (
    <li class="dn-step">
      <details onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary class="dn-step-row">{row}</summary>
        {opened && children}
      </details>
      {fork !== null && !live && <span class="dn-step-act"><ForkButton step={fork} /></span>}
    </li>
  );
}

function Thought({ step }: { step: ThoughtStep }) {
  const live = step.state === "writing";
  return (
    <Row
      icon="think"
      live={live}
      verb={live ? "Thinking" : "Thought"}
      object={firstSentence(step.text)}
      meta={step.seconds !== null && took(step.seconds)}
    >
      <div class="dn-think"><Markdown step={step} /></div>
    </Row>
  );
}

function Tool({ step }: { step: ToolStep }) {
  const { icon, verb, object, mono } = toolLine(step);
  const live = step.state === "running";
  const outcome = { running: "", ok: "", error: "failed", stopped: "no result", rejected: "rejected" }[step.state];
  return (
    <Row
      icon={icon}
      live={live}
      {...(step.state === "error" ? { tone: "bad" as const } : {})}
      verb={verb}
      object={mono ? <bdi class="dn-mono">{object}</bdi> : <bdi>{object}</bdi>}
      meta={live ? <Elapsed since={step.time} /> : [outcome, step.seconds !== null && took(step.seconds)].filter(Boolean).join(", ")}
      fork={step.fork}
    >
      <div class="dn-step-body">
        <p class="dn-small dn-faint">Called <span class="dn-mono">{oneLine(step.name, 80)}</span></p>
        {Object.keys(step.args).length > 0 && <Args args={step.args} />}
        {step.result && <Result text={step.result} />}
      </div>
    </Row>
  );
}

function Result({ text }: { text: string }) {
  return (
    <div class="dn-result">
      <pre tabIndex={0} aria-label="Result">{text}</pre>
      <CopyButton class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" label="Copy result" text={() => text} />
    </div>
  );
}

const ACTIONS: Record<string, string> = { created: "Created", changed: "Changed", deleted: "Deleted" };

function File({ step }: { step: FileStep }) {
  const added = step.diff.match(/^\+(?!\+\+ )/gm)?.length ?? 0;
  const removed = step.diff.match(/^-(?!-- )/gm)?.length ?? 0;
  return (
    <Row
      icon={step.action === "deleted" ? "trash" : "pencil"}
      verb={ACTIONS[step.action] ?? "Changed"}
      object={<bdi class="dn-mono">{oneLine(step.path)}</bdi>}
      meta={(added > 0 || removed > 0) && <><span class="dn-ok">+{added}</span> <span class="dn-bad">−{removed}</span></>}
    >
      {step.diff && <div class="dn-step-body"><Diff text={step.diff} /></div>}
    </Row>
  );
}

function Remark({ step }: { step: RemarkStep }) {
  return (
    <Row icon="steer" verb="You said" object={oneLine(step.text)} meta={step.heard ? "" : "not read yet"}>
      {step.text.length > 80 && <p class="dn-think">{step.text}</p>}
    </Row>
  );
}

function Subagent({ step }: { step: SubagentStep }) {
  const live = step.state === "running";
  const [open] = useState(live); // it stays as it is when it ends: nothing moves by itself
  const count = step.steps.filter(({ type }) => type === "tool" || type === "subagent").length;
  const outcome = { running: "", ok: "", error: "failed", stopped: "stopped", rejected: "rejected" }[step.state];
  const said = step.steps.findLast(({ type }) => type === "text");
  const isNews = step.result !== "" && !(said?.type === "text" && legible(said.text).startsWith(step.result.slice(0, 200)));
  return (
    <li class="dn-step dn-sub" data-live={live || undefined}>
      <details open={open}>
        <summary class="dn-step-row">
          <span class="dn-node">{live ? <span class="dn-spin" /> : <Icon name="agent" />}</span>
          <b>{oneLine(step.name, 60) || "Subagent"}</b>
          <span class="dn-cut dn-muted">{oneLine(step.task)}</span>
          <span class="dn-meta">
            {outcome ? `${outcome}, ` : ""}{count > 0 && `${counted(count, "step")}, `}
            {live ? <Elapsed since={step.time} /> : step.seconds !== null && took(step.seconds)}
            <span class="dn-chev"><Icon name="chev" small /></span>
          </span>
        </summary>
        <div class="dn-sub-body">
          {step.task.length > 80 && <p class="dn-small dn-muted">{step.task}</p>}
          <Steps steps={step.steps} />
          {isNews && <Result text={step.result} />}
        </div>
      </details>
      {live && <StopSubagent id={step.id} name={step.name} />}
    </li>
  );
}

function StopSubagent({ id, name }: { id: string; name: string }) {
  const { client } = useApp();
  const lost = useConnection() === "lost";
  const task = useTask();
  const run = useRun();
  const stop = () => task.run(() => client.request("stop", { run, subagent: id }));
  return (
    <>
      <span class="dn-step-act">
        <button type="button" class="dn-btn dn-btn-sm dn-btn-bare" aria-busy={task.busy} disabled={task.busy || lost} onClick={stop}>
          <Icon name="stop" small />Stop<span class="dn-sr"> {oneLine(name, 60)}</span>
        </button>
      </span>
      {task.error && <p class="dn-small dn-bad dn-said" role="alert">{task.error}</p>}
    </>
  );
}
