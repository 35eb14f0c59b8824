/** The plan while a person changes it. Nothing of it reaches the agent before Save. */

import type { TargetedPointerEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { useApp, useConnection } from "../app";
import type { Plan } from "../model";
import { useDragging } from "../parts/dragging";
import { Icon } from "../parts/Icon";
import { useTask } from "../parts/useTask";
import { Ring } from "./Plan";
import * as drafts from "./planDraft";
import type { Draft, Item } from "./planDraft";

interface EditorProps {
  draft: Draft;
  plan: Plan;
  onChange: (draft: Draft) => void;
  onCancel: () => void;
  onSaved: () => void;
}

export function PlanEditor({ draft, plan, onChange, onCancel, onSaved }: EditorProps) {
  const { client, ui } = useApp();
  const connection = useConnection();
  const task = useTask();
  const list = useRef<HTMLOListElement>(null);
  const focused = useRef("");
  const overtaken = plan.seq !== draft.seen;

  useEffect(() => {
    // That the agent has got further is no reason to ask anything.
    if (overtaken && drafts.onlyAdvanced(draft, plan)) onChange(drafts.onto(draft, plan));
  });
  useLayoutEffect(() => {
    // To be moved in the page takes the focus away from what the person holds.
    if (!focused.current) return;
    list.current?.querySelector<HTMLElement>(`[data-hold="${focused.current}"]`)?.focus();
    focused.current = "";
  });
  const move = (key: string, to: number) => {
    const next = drafts.moved(draft, key, to);
    if (next === draft) return;
    focused.current = `${key}-grip`;
    ui.set({ announcement: `Moved to place ${to + 1} of ${draft.items.length}.` });
    onChange(next);
  };
  const dragging = useDragging(
    draft.items.map((item) => item.key),
    move,
  );
  const add = () => {
    const next = drafts.withNew(draft);
    focused.current = `${next.items.at(-1)!.key}-text`;
    onChange(next);
  };
  const save = () =>
    task.run(async () => {
      await client.request("edit_todos", { todos: drafts.todosOf(draft), seen: draft.seen });
      onSaved();
    });
  return (
    <>
      <div class="dn-head dn-pane-head">
        Editing the plan
        <span class="dn-push" />
        <button type="button" class="dn-btn dn-btn-sm" onClick={onCancel}>
          Cancel
        </button>
        <button
          type="button"
          class="dn-btn dn-btn-sm dn-btn-solid"
          aria-busy={task.busy}
          disabled={task.busy || overtaken || connection === "lost" || !drafts.isChanged(draft)}
          onClick={save}
        >
          Save
        </button>
      </div>
      {task.error && (
        <p class="dn-note dn-gap" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{task.error}</span>
        </p>
      )}
      {overtaken && (
        <Overtaken
          plan={plan}
          onMine={() => onChange(drafts.onto(draft, plan))}
          onTheirs={onCancel}
        />
      )}
      <ol class="dn-todos" ref={list} {...dragging.list}>
        {draft.items.map((item, index) =>
          drafts.hasBegun(item) ? (
            <Begun key={item.key} item={item} onSkip={(skipped) => onChange(drafts.withItem(draft, item.key, { skipped }))} />
          ) : (
            <Open
              key={item.key}
              item={item}
              number={index + 1}
              onChange={(change) => onChange(drafts.withItem(draft, item.key, change))}
              onRemove={() => onChange(drafts.without(draft, item.key))}
              onMove={(to) => move(item.key, to)}
              onGrip={(event) => dragging.start(item.key, event)}
            />
          ),
        )}
      </ol>
      <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-add" onClick={add}>
        <Icon name="plus" small />
        Add a step
      </button>
      <p class="dn-small dn-faint dn-gap">The agent sees changes before its next step.</p>
    </>
  );
}

interface OvertakenProps {
  plan: Plan;
  onMine: () => void;
  onTheirs: () => void;
}

/** The agent has changed its list meanwhile: the new one, beside what the person has written. */
function Overtaken({ plan, onMine, onTheirs }: OvertakenProps) {
  return (
    <section class="dn-note dn-gap dn-overtaken" data-tone="warn" role="alert">
      <Icon name="warn" />
      <div class="dn-grow">
        <b>The agent has changed the plan meanwhile.</b> It is now:
        <ol>
          {plan.todos.map((todo, index) => (
            <li key={index}>
              {todo.content}
              {todo.status === "completed" ? ", done" : todo.status === "in_progress" ? ", under way" : ""}
            </li>
          ))}
        </ol>
        <div class="dn-row dn-wrap">
          <button type="button" class="dn-btn dn-btn-sm" onClick={onMine}>
            Keep mine for what has not begun
          </button>
          <button type="button" class="dn-btn dn-btn-sm dn-btn-bare" onClick={onTheirs}>
            Take the new one
          </button>
        </div>
      </div>
    </section>
  );
}

function Begun({ item, onSkip }: { item: Item; onSkip: (skipped: boolean) => void }) {
  const now = item.status === "in_progress";
  return (
    <li class="dn-todo" data-s={now && !item.skipped ? "now" : "done"}>
      <Ring status={item.skipped ? "completed" : item.status} />
      <span>
        {item.content}
        {now && <small>{item.skipped ? "Skipped by you" : "Under way"}</small>}
      </span>
      {now ? <SkipButton item={item} onSkip={onSkip} /> : <span />}
    </li>
  );
}

function SkipButton({ item, onSkip }: { item: Item; onSkip: (skipped: boolean) => void }) {
  return (
    <button
      type="button"
      class="dn-btn dn-btn-sm dn-btn-bare"
      aria-label={`${item.skipped ? "Do not skip" : "Skip"}: ${item.content}`}
      onClick={() => onSkip(!item.skipped)}
    >
      {item.skipped ? "Undo" : "Skip"}
    </button>
  );
}

interface OpenProps {
  item: Item;
  number: number;
  onChange: (change: Partial<Item>) => void;
  onRemove: () => void;
  onMove: (to: number) => void;
  onGrip: (event: TargetedPointerEvent<HTMLElement>) => void;
}

function Open({ item, number, onChange, onRemove, onMove, onGrip }: OpenProps) {
  const place = number - 1;
  const byKey = (event: KeyboardEvent) => {
    const to = event.key === "ArrowUp" ? place - 1 : event.key === "ArrowDown" ? place + 1 : null;
    if (to === null) return;
    event.preventDefault();
    onMove(to);
  };
  return (
    <li class="dn-todo" data-s={item.skipped ? "done" : undefined}>
      <button
        type="button"
        data-hold={`${item.key}-grip`}
        class="dn-grip"
        aria-label={`Move step ${number}. Use the arrow keys`}
        onKeyDown={byKey}
        onPointerDown={onGrip}
      >
        <Icon name="grip" small />
      </button>
      <span>
        <textarea
          data-hold={`${item.key}-text`}
          class="dn-input"
          rows={1}
          aria-label={`Step ${number}`}
          placeholder="What is to be done"
          value={item.content}
          onInput={(event) => onChange({ content: event.currentTarget.value })}
        />
        {item.skipped && <small>Skipped by you</small>}
      </span>
      <span class="dn-todo-acts">
        <SkipButton item={item} onSkip={(skipped) => onChange({ skipped })} />
        <button
          type="button"
          class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon"
          aria-label={`Remove step ${number}`}
          onClick={onRemove}
        >
          <Icon name="trash" small />
        </button>
      </span>
    </li>
  );
}
