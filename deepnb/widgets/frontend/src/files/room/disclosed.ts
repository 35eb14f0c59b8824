/** What has left the browser, in a sentence. */

import type { Disclosure } from "../../model";
import { counted, timeOfDay, tokens } from "../../parts/format";
import { bytes } from "./kinds";

export interface Said {
  readonly strong: string;
  readonly rest: string;
}

export function privacyOf(all: readonly Disclosure[], now = new Date()): Said {
  const last = all.at(-1);
  if (!last) return { strong: "", rest: "Nothing has left this browser." };
  const today = all.filter(({ time }) => isSameDay(new Date(time * 1000), now));
  if (!today.length) return { strong: "", rest: `Nothing has left this browser today. Last on ${dayOf(last.time)}.` };
  const parts = [toAgent(today), sent(today, "copy", "copied"), sent(today, "sync", "kept in step"), sent(today, "index", "indexed")];
  const amount = bytes(today.reduce((sum, each) => sum + each.bytes, 0));
  const what = listed(parts.filter(Boolean));
  return { strong: "Left this browser today:", rest: `${what}, ${amount}. Last at ${timeOfDay(last.time)}.` };
}

/** "12 matching lines and 2 passages from 3 files" */
function toAgent(all: readonly Disclosure[]): string {
  const asked = all.filter(({ kind }) => kind === "tool");
  if (!asked.length) return "";
  const sums = new Map<string, number>();
  for (const { detail } of asked) {
    const [count, one] = amountOf(detail);
    sums.set(one, (sums.get(one) ?? 0) + count);
  }
  for (const [one, count] of sums) if (!count) sums.delete(one);
  if (!sums.size) return "that nothing was found";
  const files = filesOf(asked);
  const what = listed([...sums].map(([one, count]) => counted(count, one)));
  return files ? `${what} from ${counted(files, "file")}` : what;
}

/** How much of what: "12 matching lines", "lines 4 to 9"; anything else is an answer. */
function amountOf(detail: string): [number, string] {
  const range = /^lines? (\d+)(?: to (\d+))?$/.exec(detail);
  if (range) return [Number(range[2] ?? range[1]) - Number(range[1]) + 1, "line"];
  const counted = /^([\d,]+) ([a-z][a-z -]*)$/i.exec(detail);
  if (!counted) return [1, detail ? "other answer" : "answer"];
  return [Number(counted[1]!.replaceAll(",", "")), counted[2]!.replace(/(?<=[^s])s$/, "")];
}

function sent(all: readonly Disclosure[], kind: Disclosure["kind"], done: string): string {
  const files = filesOf(all.filter((each) => each.kind === kind));
  return files ? `${counted(files, "file")} ${done}` : "";
}

/** Each file counts once, as far as is known: of many only the first are named, and the same first ones are the same many. */
function filesOf(all: readonly Disclosure[]): number {
  const named = new Set(all.flatMap(({ paths }) => paths));
  const others = new Map<string | number, number>();
  for (const { seq, files, paths } of all) {
    const first = paths.join("\n") || seq;
    others.set(first, Math.max(others.get(first) ?? 0, files - paths.length));
  }
  return [...others.values()].reduce((sum, count) => sum + count, named.size);
}

function listed(parts: readonly string[]): string {
  return parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** Whether it told no more than that there is nothing. */
function isEmpty({ kind, detail }: Disclosure): boolean {
  return kind === "tool" && amountOf(detail)[0] === 0;
}

/** The latest first; those that told nothing stand together, as long as nothing comes between them. */
export function rowsOf(all: readonly Disclosure[]): (readonly [Disclosure, ...Disclosure[]])[] {
  const rows: [Disclosure, ...Disclosure[]][] = [];
  for (const each of all.toReversed()) {
    const last = rows.at(-1);
    if (last && isEmpty(last[0]) && isEmpty(each)) last.push(each);
    else rows.push([each]);
  }
  return rows;
}

/** What a row of the list was. */
export function rowOf(row: readonly [Disclosure, ...Disclosure[]]): { readonly words: string; readonly isEmpty: boolean } {
  if (!isEmpty(row[0])) return { words: wordsOf(row[0]), isEmpty: false };
  const tools = [...new Set(row.map(({ tool }) => tool || "the agent"))];
  const times = row.length > 1 ? `${row.length} times, ` : "";
  return { words: `Nothing found, ${times}for ${listed(tools)}`, isEmpty: true };
}

function wordsOf({ kind, tool, detail, files }: Disclosure): string {
  const what = detail || `${tokens(files)} ${files === 1 ? "file" : "files"}`;
  if (kind === "tool") return `${what}, for ${tool || "the agent"}`;
  return /^\d+ names?$/.test(what) ? `${what}, to be mapped` : what.charAt(0).toUpperCase() + what.slice(1);
}

export function dayOf(time: number): string {
  return new Date(time * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}
