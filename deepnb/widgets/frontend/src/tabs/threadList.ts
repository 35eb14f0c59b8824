/** The threads of a workspace as they are listed: by day, with forks under what they left. */

import { counted, timeOfDay } from "../parts/format";
import type { Thread } from "../protocol";

export interface Entry {
  readonly thread: Thread;
  /** How many forks lie between it and the thread that is no fork. */
  readonly depth: number;
  /** Where it left another thread: "step 5"; empty if it is no fork. */
  readonly from: string;
}

export interface Day {
  readonly name: string;
  readonly entries: readonly Entry[];
}

const DAY = 86_400_000; // ms

/** Groups families: a thread with its forks stands where the latest of them does. */
export function daysOf(threads: readonly Thread[], search: string, now = new Date()): Day[] {
  const wanted = search.trim().toLowerCase();
  const found = threads.filter((thread) =>
    `${thread.title}\n${thread.name}\n${thread.agent}`.toLowerCase().includes(wanted),
  );
  const names = new Set(found.map((thread) => thread.name));
  const children = new Map<string, Thread[]>();
  const roots: Thread[] = [];
  for (const thread of found) {
    const parent = originOf(thread).name;
    if (parent === thread.name || !names.has(parent)) roots.push(thread);
    else children.set(parent, [...(children.get(parent) ?? []), thread]);
  }
  const days = new Map<string, Entry[]>(DAYS.map((name) => [name, []]));
  // Names are used again, so threads may be said to have left each other: those come last, as roots.
  const listed = new Set<Thread>();
  const families = [...roots, ...found]
    .map((thread) => familyOf(thread, children, listed, 0))
    .filter((family) => family.length)
    .sort((one, other) => latest(other) - latest(one));
  for (const family of families) days.get(dayOf(latest(family), now))!.push(...family);
  return [...days].filter(([, entries]) => entries.length).map(([name, entries]) => ({ name, entries }));
}

function familyOf(
  thread: Thread,
  children: Map<string, Thread[]>,
  listed: Set<Thread>,
  depth: number,
): Entry[] {
  if (listed.has(thread)) return [];
  listed.add(thread);
  const forks = children.get(thread.name) ?? [];
  const entry = { thread, depth, from: originOf(thread).from };
  return [entry, ...forks.flatMap((fork) => familyOf(fork, children, listed, depth + 1))];
}

/** Reads "main, step 5" or "main, its beginning": where a fork has left another thread. */
export function originOf({ forked_from: origin }: Thread): { name: string; from: string } {
  const match = /^(.*), (step \d+|its beginning)$/s.exec(origin);
  return match ? { name: match[1]!, from: match[2]! } : { name: origin, from: "" };
}

function latest(family: readonly Entry[]): number {
  return Math.max(...family.map((entry) => entry.thread.updated ?? 0));
}

const DAYS = ["Today", "Yesterday", "This week", "Earlier"] as const;

function dayOf(time: number, now: Date): (typeof DAYS)[number] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const ago = midnight - time * 1000;
  if (ago <= 0) return "Today";
  if (ago <= DAY) return "Yesterday";
  return ago <= 6 * DAY ? "This week" : "Earlier";
}

const STATES: Record<string, string> = {
  running: "running",
  waiting: "waits for you",
  stopped: "stopped",
  failed: "failed",
};

/** What a thread is at, in a few words. */
export function noteOf({ thread, from }: Entry): string {
  return [
    from ? `from ${from}` : thread.agent,
    STATES[thread.status],
    thread.runs > 0 ? counted(thread.runs, "question") : "nothing asked yet",
    thread.can_open ? "" : "cannot be opened from here",
  ]
    .filter(Boolean)
    .join(", ");
}

/** 14:10, Fri or 3 Nov: an entry may be older than the day that its family stands under. */
export function whenOf(time: number, now = new Date()): string {
  const day = dayOf(time, now);
  if (day === "Today") return timeOfDay(time);
  const date = new Date(time * 1000);
  if (day !== "Earlier") return date.toLocaleDateString("en", { weekday: "short" });
  return date.toLocaleDateString("en", { day: "numeric", month: "short" });
}
