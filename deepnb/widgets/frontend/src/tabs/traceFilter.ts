/** Which rows of the trace are shown, and the same choice as an expression for pandas. */

import type { TraceKind, TraceRow } from "../model";
import { quoted } from "../shell/python";

export type Group = "all" | "models" | "tools" | "people" | "errors";

export interface Filter {
  readonly group: Group;
  /** Empty for all. */
  readonly agent: string;
  readonly text: string;
}

export const EVERYTHING: Filter = { group: "all", agent: "", text: "" };

export const GROUPS: readonly { id: Group; name: string }[] = [
  { id: "all", name: "All" },
  { id: "models", name: "Models" },
  { id: "tools", name: "Tools" },
  { id: "people", name: "People" },
  { id: "errors", name: "Errors" },
];

const GROUP_OF: Record<TraceKind, Group | null> = {
  model: "models",
  tool: "tools",
  agent: "tools",
  person: "people",
  error: "errors",
  other: null,
};

/** The kinds of `session.trace`, which has a row for each event. */
const EVENTS: Record<Exclude<Group, "all">, readonly string[]> = {
  models: ["message", "usage"],
  tools: ["tool_call", "tool_result", "subagent_started", "subagent_ended"],
  people: ["interrupt_opened", "interrupt_closed"],
  errors: ["error", "warning"],
};

/** The places of the rows to show; null if it is all of them, which needs no list. */
export function placesOf(rows: readonly TraceRow[], filter: Filter): number[] | null {
  const { group, agent } = filter;
  const text = filter.text.trim().toLowerCase();
  if (group === "all" && !agent && !text) return null;
  const places: number[] = [];
  rows.forEach((row, place) => {
    if (group !== "all" && GROUP_OF[row.kind] !== group) return;
    if (agent && row.agent !== agent) return;
    if (text && !`${row.line}\n${row.agent}`.toLowerCase().includes(text)) return;
    places.push(place);
  });
  return places;
}

export interface Tally {
  readonly counts: Record<Group, number>;
  readonly agents: readonly string[];
}

export function tallyOf(rows: readonly TraceRow[]): Tally {
  const counts: Tally["counts"] = { all: rows.length, models: 0, tools: 0, people: 0, errors: 0 };
  const agents = new Set<string>();
  for (const row of rows) {
    const group = GROUP_OF[row.kind];
    if (group) counts[group]++;
    if (row.agent) agents.add(row.agent);
  }
  return { counts, agents: [...agents] };
}

/** `session.trace.query('agent == "x"')` */
export function asPandas({ group, agent, text }: Filter): string {
  const terms: string[] = [];
  if (agent) terms.push(`agent == ${quoted(agent)}`);
  if (group !== "all") terms.push(`kind in [${EVENTS[group].map(quoted).join(", ")}]`);
  if (text.trim())
    terms.push(`summary.str.contains(${quoted(text.trim())}, case=False, regex=False)`);
  return terms.length ? `session.trace.query(${inSingleQuotes(terms.join(" and "))})` : "session.trace";
}

/** A Python literal around one that has double quotes in it. */
function inSingleQuotes(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
