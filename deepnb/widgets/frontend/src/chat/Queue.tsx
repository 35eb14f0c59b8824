/** What stands on the input's back: messages that wait for their turn, and the plan where it is narrow. */

import { useApp, useConnection, useStore } from "../app";
import type { Turn } from "../model";
import { Icon } from "../parts/Icon";
import { oneLine } from "../parts/legible";
import { useTask } from "../parts/useTask";

export function Queue() {
  const turns = useStore((store) => store.turns);
  const waiting = turns.slice(turns.findLastIndex(({ status }) => status !== "queued" && status !== "sending") + 1);
  const behind = turns[turns.length - waiting.length - 1]?.status;
  const first = behind === "running" || behind === "waiting" ? 0 : waiting.findIndex(({ status }) => status === "queued");
  if (first < 0 || !waiting.length) return null;
  return (
    <ul class="dn-queue" aria-label="Queued messages">
      {waiting.slice(first).map((turn) => <Queued key={turn.run} turn={turn} />)}
    </ul>
  );
}

function Queued({ turn }: { turn: Turn }) {
  const { client, ui } = useApp();
  const lost = useConnection() === "lost";
  const task = useTask();
  const off = lost || task.busy || turn.status === "sending";
  const remove = () => client.request("unqueue", { run: turn.run });
  const edit = async () => {
    await remove();
    const draft = ui.draft.trim() ? `${ui.draft}\n${turn.question}` : turn.question;
    ui.set({ draft, focus: ui.focus + 1 });
  };
  return (
    <li class="dn-stack dn-row">
      <span class="dn-faint">{turn.status === "sending" ? "Sending" : "Queued"}</span>
      <span class="dn-cut dn-grow" title={turn.question} dir="auto">{oneLine(turn.question)}</span>
      {task.error && <span class="dn-bad" role="alert">{task.error}</span>}
      <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Edit queued message" title="Edit queued message" disabled={off} onClick={() => task.run(edit)}>
        <Icon name="pencil" small />
      </button>
      <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Remove queued message" title="Remove queued message" disabled={off} onClick={() => task.run(remove)}>
        <Icon name="x" small />
      </button>
    </li>
  );
}

/** Where the plan is not beside the chat, how far it has come. */
export function PlanPeek() {
  const { ui } = useApp();
  const plan = useStore((store) => store.plan);
  const running = useStore((store) => store.facts?.status === "running");
  if (!plan?.todos.length || !running) return null;
  const done = plan.todos.filter(({ status }) => status === "completed").length;
  const now = plan.todos.find(({ status }) => status === "in_progress");
  return (
    <button type="button" class="dn-stack dn-row dn-only-narrow dn-peek" onClick={() => ui.set({ tab: "plan", history: false })}>
      <span class="dn-segs" aria-hidden="true">
        {plan.todos.map(({ status }, index) => <i key={index} data-s={{ completed: "done", in_progress: "now", pending: undefined }[status]} />)}
      </span>
      <span class="dn-cut dn-grow">{now?.content ?? "Plan"}</span>
      <span class="dn-faint">{done}/{plan.todos.length}</span>
      <span class="dn-sr">done. Open the plan</span>
    </button>
  );
}
