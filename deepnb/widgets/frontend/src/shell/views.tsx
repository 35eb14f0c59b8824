/** The views of a session, in the order of their tabs. A new one is a line here and a room of its own. */

import type { ComponentType } from "preact";

import { shortCost } from "../parts/format";
import { Files } from "../tabs/Files";
import { Plan } from "../tabs/Plan";
import { Sources } from "../tabs/Sources";
import { Trace } from "../tabs/Trace";
import { Usage } from "../tabs/Usage";
import type { Store } from "../store";
import type { Tab } from "../ui";

export interface View {
  readonly id: Exclude<Tab, "chat">;
  readonly name: string;
  readonly Room: ComponentType;
  /** Whether it is shown beside the chat unless the person wants it otherwise. */
  readonly beside: boolean;
  /** What stands behind its name. */
  count(store: Store): string;
  isThere(store: Store): boolean;
}

export const VIEWS: readonly View[] = [
  {
    id: "plan",
    name: "Plan",
    Room: Plan,
    beside: true,
    count: ({ plan }) => (plan?.todos.length ? `${done(plan.todos)}/${plan.todos.length}` : ""),
    isThere: ({ facts, plan }) => facts?.has_todos !== false || plan !== null,
  },
  {
    id: "files",
    name: "Files",
    Room: Files,
    beside: false,
    count: () => "",
    isThere: ({ facts }) => facts?.files !== null,
  },
  {
    id: "trace",
    name: "Trace",
    Room: Trace,
    beside: false,
    count: () => "",
    isThere: () => true,
  },
  {
    id: "sources",
    name: "Sources",
    Room: Sources,
    beside: false,
    count: ({ sources }) => String(sources.size),
    isThere: ({ sources }) => sources.size > 0,
  },
  {
    id: "usage",
    name: "Usage",
    Room: Usage,
    beside: false,
    count: ({ usage }) => (usage.cost ? shortCost(usage.cost) : ""),
    isThere: () => true,
  },
];

function done(todos: readonly { status: string }[]): number {
  return todos.filter((todo) => todo.status === "completed").length;
}
