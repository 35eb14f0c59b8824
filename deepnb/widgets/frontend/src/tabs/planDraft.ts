/** A person's changes to the plan, until they are sent or the agent's own overtake them. */

import type { Plan, Todo } from "../model";
import type { WireTodo } from "../protocol";

export interface Item {
  readonly key: string;
  /** The text that the agent knows it by; empty if the person has added it. */
  readonly was: string;
  readonly content: string;
  readonly status: Todo["status"];
  /** The person wants it counted as done without it being done. */
  readonly skipped: boolean;
}

export interface Draft {
  /** The list that was changed: the kernel refuses changes to an older one. */
  readonly seen: number;
  readonly base: readonly Todo[];
  readonly items: readonly Item[];
}

let made = 0;

function item(was: string, content: string, status: Todo["status"]): Item {
  return { key: `item-${++made}`, was, content, status, skipped: false };
}

export function draftOf(plan: Plan): Draft {
  const items = plan.todos.map((todo) => item(todo.content, todo.content, todo.status));
  return { seen: plan.seq, base: plan.todos, items };
}

/** What has begun can only be skipped. */
export function hasBegun(item: Item): boolean {
  return item.status !== "pending";
}

/** Whether the agent has only got further since, and planned nothing else. */
export function onlyAdvanced(draft: Draft, plan: Plan): boolean {
  return (
    plan.todos.length === draft.base.length &&
    plan.todos.every((todo, index) => todo.content === draft.base[index]!.content)
  );
}

/** Puts the person's changes on a newer list: what has begun is the agent's, the rest is theirs. */
export function onto(draft: Draft, plan: Plan): Draft {
  const left = [...draft.items];
  const begun = plan.todos
    .filter((todo) => todo.status !== "pending")
    .map((todo) => {
      const index = left.findIndex((item) => item.was === todo.content);
      const [known] = index < 0 ? [] : left.splice(index, 1);
      const { content, status } = todo;
      return known ? { ...known, content, status } : item(content, content, status);
    });
  // What had begun here and is not in the newer list, the agent has dropped.
  return { seen: plan.seq, base: plan.todos, items: [...begun, ...left.filter((i) => !hasBegun(i))] };
}

export function withItem(draft: Draft, key: string, change: Partial<Item>): Draft {
  const items = draft.items.map((item) => (item.key === key ? { ...item, ...change } : item));
  return { ...draft, items };
}

export function without(draft: Draft, key: string): Draft {
  return { ...draft, items: draft.items.filter((item) => item.key !== key) };
}

export function withNew(draft: Draft): Draft {
  return { ...draft, items: [...draft.items, item("", "", "pending")] };
}

/** Moves a step that has not begun, though never before one that has. */
export function moved(draft: Draft, key: string, to: number): Draft {
  const from = draft.items.findIndex((item) => item.key === key);
  const target = draft.items[to];
  if (from < 0 || !target || from === to || hasBegun(target)) return draft;
  const items = [...draft.items];
  items.splice(to, 0, ...items.splice(from, 1));
  return { ...draft, items };
}

/** As the kernel takes it; a step without a text is none. */
export function todosOf(draft: Draft): WireTodo[] {
  return draft.items
    .map(({ content, status, skipped }) => ({
      content: content.trim(),
      status: skipped ? ("completed" as const) : status,
    }))
    .filter((todo) => todo.content);
}

export function isChanged(draft: Draft): boolean {
  const said = (todos: readonly WireTodo[]) => todos.map((todo) => [todo.content, todo.status]);
  return JSON.stringify(said(todosOf(draft))) !== JSON.stringify(said(draft.base));
}
