/** Unified diffs as `deepnb.middleware.diffs` makes them: read, counted, and with the words marked. */

import { diffWordsWithSpace } from "diff";

export interface Part {
  readonly text: string;
  readonly marked: boolean;
}

export interface Line {
  readonly kind: "same" | "added" | "removed";
  readonly before: number | null;
  readonly after: number | null;
  parts: readonly Part[];
  /** Said about the line, and no part of it. */
  note: string;
}

export interface Hunk {
  readonly title: string;
  readonly lines: Line[];
}

export interface Changes {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** What is said in place of lines that were left out; empty if all are here. */
  readonly cut: string;
  readonly text: string;
}

export interface Fenced {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

/** Finds the diff in a Markdown text; null if there is none. */
export function findDiff(markdown: string): Fenced | null {
  const opening = /^(`{3,})diff\n/m.exec(markdown);
  if (!opening) return null;
  const start = opening.index + opening[0].length;
  // Lines of a diff begin with a sign, so that only a fence can begin with a backtick.
  const end = markdown.indexOf(`\n${opening[1]}`, start - 1);
  const stop = end < 0 ? markdown.length : end;
  return {
    before: markdown.slice(0, opening.index).trim(),
    text: markdown.slice(start, stop),
    after: end < 0 ? "" : markdown.slice(end + 1 + opening[1]!.length).trim(),
  };
}

const HEADING = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** Reads a diff, in a fence or bare; null if the text holds no change. */
export function readDiff(source: string): Changes | null {
  const text = findDiff(source)?.text ?? source;
  const hunks: Hunk[] = [];
  let [before, after, beforeLeft, afterLeft] = [0, 0, 0, 0];
  let cut = "";
  for (const row of text.split("\n")) {
    const heading = HEADING.exec(row);
    const lines = hunks.at(-1)?.lines;
    // The heading counts its lines, so that "--- x" in a hunk is a removed "-- x" and no heading.
    if (beforeLeft <= 0 && afterLeft <= 0 && heading) {
      [before, after] = [Number(heading[1]), Number(heading[3])];
      [beforeLeft, afterLeft] = [Number(heading[2] ?? 1), Number(heading[4] ?? 1)];
      const where = `Line ${Math.max(1, after)}`;
      hunks.push({ title: heading[5] ? `${where}, ${heading[5]}` : where, lines: [] });
    } else if (row.startsWith("…")) {
      cut = row;
    } else if (lines && row.startsWith("\\")) {
      const last = lines.at(-1);
      if (last) last.note = row.slice(1).trim();
    } else if (lines && (beforeLeft > 0 || afterLeft > 0)) {
      const kind = row[0] === "+" ? "added" : row[0] === "-" ? "removed" : "same";
      lines.push({
        kind,
        before: kind === "added" ? null : before,
        after: kind === "removed" ? null : after,
        parts: [{ text: row.slice(1), marked: false }],
        note: "",
      });
      if (kind !== "added") (before++, beforeLeft--);
      if (kind !== "removed") (after++, afterLeft--);
    }
  }
  if (!hunks.some((hunk) => hunk.lines.length)) return null;
  for (const hunk of hunks) for (const [old, now] of pairs(hunk.lines)) if (old && now) mark(old, now);
  return { hunks, added: count(hunks, "added"), removed: count(hunks, "removed"), cut, text };
}

function count(hunks: readonly Hunk[], kind: Line["kind"]): number {
  return hunks.reduce((sum, hunk) => sum + hunk.lines.filter((each) => each.kind === kind).length, 0);
}

/** Lines side by side: what was removed beside what came in its place. */
export function pairs(lines: readonly Line[]): [Line | null, Line | null][] {
  const rows: [Line | null, Line | null][] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      rows.push([removed[at] ?? null, added[at] ?? null]);
    [removed, added] = [[], []];
  };
  for (const each of lines) {
    if (each.kind === "same" || (each.kind === "removed" && added.length)) flush();
    if (each.kind === "same") rows.push([each, each]);
    else (each.kind === "removed" ? removed : added).push(each);
  }
  flush();
  return rows;
}

const MOST_EDITS = 60; // beyond, two lines have little in common, and comparing them takes long
const LEAST_ALIKE = 0.3;

/** Marks the words in which a line differs from the one in its place, if they are alike at all. */
function mark(old: Line, now: Line): void {
  const [before, after] = [lineText(old), lineText(now)];
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS });
  if (!changes) return;
  const kept = changes.filter((each) => !each.added && !each.removed);
  const alike = kept.reduce((sum, each) => sum + each.value.trim().length, 0);
  if (alike < LEAST_ALIKE * Math.min(before.length, after.length)) return;
  const parts = (other: "added" | "removed") =>
    joined(
      changes
        .filter((each) => !each[other])
        .map((each) => ({ text: each.value, marked: Boolean(each.added || each.removed) })),
    );
  old.parts = parts("added");
  now.parts = parts("removed");
}

export function lineText(line: Line): string {
  return line.parts.map((part) => part.text).join("");
}

/** A space between two marked words is marked with them, for the eye to see one change. */
function joined(parts: Part[]): Part[] {
  const result: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const between = !part.text.trim() && parts[at - 1]?.marked && parts[at + 1]?.marked;
    const marked = part.marked || Boolean(between);
    const last = result.at(-1);
    if (last && last.marked === marked) result[result.length - 1] = { text: last.text + part.text, marked };
    else result.push({ text: part.text, marked });
  }
  return result;
}
