/** The plan: what the agent has set itself to do, how far it is, and a way to change that. */

import { useState } from "preact/hooks";

import { useApp, useConnection, useStore } from "../app";
import type { Plan as PlanOf, Todo } from "../model";
import { Elapsed } from "../parts/Elapsed";
import { Icon } from "../parts/Icon";
import { statusLine } from "../shell/Dock";
import { draftOf, type Draft } from "./planDraft";
import { PlanEditor } from "./PlanEditor";

export function Plan() {
  const { ui } = useApp();
  const thread = useStore((store) => store.facts?.thread) ?? "";
  const plan = useStore((store) => store.plan);
  const hasTodos = useStore((store) => store.facts?.has_todos ?? true);
  // What a person has changed and not sent outlives a look at another tab.
  const place = `plan of ${thread}`;
  const [draft, setDraft] = useState((ui.drafts.get(place) as Draft | undefined) ?? null);
  const [sent, setSent] = useState<number | null>(null);

  const keep = (draft: Draft | null) => {
    if (draft) ui.drafts.set(place, draft);
    else ui.drafts.delete(place);
    setDraft(draft);
  };
  if (!plan?.todos.length && !draft)
    return (
      <div class="dn-pane">
        <p class="dn-pane-empty">
          {hasTodos
            ? "A plan appears here when the agent makes one: for work of several steps, it usually does."
            : "This agent keeps no plan."}
        </p>
      </div>
    );
  return (
    <div class="dn-pane">
      {draft && plan ? (
        <PlanEditor
          draft={draft}
          plan={plan}
          onChange={keep}
          onCancel={() => keep(null)}
          onSaved={() => {
            setSent(plan.seq);
            keep(null);
          }}
        />
      ) : (
        plan && <PlanShown plan={plan} sent={sent} onEdit={() => keep(draftOf(plan))} />
      )}
    </div>
  );
}

interface ShownProps {
  plan: PlanOf;
  /** The list that the person's changes were made to, if the agent has not taken them yet. */
  sent: number | null;
  onEdit: () => void;
}

function PlanShown({ plan, sent, onEdit }: ShownProps) {
  const connection = useConnection();
  const running = useStore((store) => store.facts?.status === "running");
  const todos = plan.todos;
  const done = todos.filter((todo) => todo.status === "completed").length;
  const [since, until] = span(todos, running);
  return (
    <>
      <div class="dn-head dn-pane-head">
        {done} of {todos.length} done{" "}
        {since !== null && (
          <span class="dn-faint">
            <Elapsed since={since} until={until} />
          </span>
        )}
        <button
          type="button"
          class="dn-btn dn-btn-sm dn-btn-bare dn-push"
          disabled={connection === "lost"}
          onClick={onEdit}
        >
          <Icon name="pencil" small />
          Edit
        </button>
      </div>
      <div
        class="dn-segs"
        role="progressbar"
        aria-label="Plan"
        aria-valuemin={0}
        aria-valuemax={todos.length}
        aria-valuenow={done}
        aria-valuetext={`${done} of ${todos.length} done`}
      >
        {todos.map((todo, index) => (
          <i key={index} data-s={MARKS[todo.status]} />
        ))}
      </div>
      <ol class="dn-todos">
        {todos.map((todo, index) => (
          <Step key={index} todo={todo} running={running} />
        ))}
      </ol>
      {sent === plan.seq && (
        <p class="dn-note dn-gap" role="status">
          <Icon name="check" />
          <span>Sent. The agent sees your changes before its next step.</span>
        </p>
      )}
    </>
  );
}

const MARKS = { pending: undefined, in_progress: "now", completed: "done" } as const;
const WORDS = { pending: "Not begun", in_progress: "Under way", completed: "Done" } as const;

/** The circle in front of a step. */
export function Ring({ status }: { status: Todo["status"] }) {
  return (
    <span class="dn-ring" role="img" aria-label={WORDS[status]}>
      {status === "completed" && <Icon name="check" />}
    </span>
  );
}

function Step({ todo, running }: { todo: Todo; running: boolean }) {
  const now = running && todo.status === "in_progress";
  return (
    <li class="dn-todo" data-s={MARKS[todo.status]}>
      <Ring status={todo.status} />
      <span>
        {todo.content}
        {now && <Activity />}
      </span>
      <span class="dn-small dn-faint">
        {todo.began !== null && (now || todo.ended !== null) && (
          <Elapsed since={todo.began} until={todo.ended} />
        )}
      </span>
    </li>
  );
}

/** What the agent is at within the step. */
function Activity() {
  return <small class="dn-cut">{useStore(statusLine)}</small>;
}

/** From the first step's beginning to the last one's end; no end while it goes on. */
function span(todos: readonly Todo[], running: boolean): [number | null, number | null] {
  const began = todos.flatMap((todo) => todo.began ?? []);
  const ended = todos.flatMap((todo) => todo.ended ?? []);
  if (!began.length) return [null, null];
  const goes = running && todos.some((todo) => todo.status === "in_progress");
  return [Math.min(...began), goes ? null : Math.max(...began, ...ended)];
}
