/** Lines that contain a literal text. */

import { FileError, type Shelf } from "../types";
import { compileGlob } from "./glob";
import { compare, lengthOf, ahead } from "./python";
import type { Arguments } from "./requests";
import { decode, refuseHalves } from "./text";
import { contents, Deadline, LARGEST, MOST_FOUND, walk } from "./walk";

const LONGEST_LINE = 1000;
const FEED = 0x0a;
const OFTEN = 4096; // lines, after which the time is looked at
// Every byte is one character of its own: so a text can be looked for in bytes, and the place of a match is its byte's.
const bytewise = new TextDecoder("windows-1252");
const tolerant = new TextDecoder("utf-8", { ignoreBOM: true });

export interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export async function grep(shelf: Shelf, args: Arguments["grep_files"]): Promise<{ matches: Match[]; truncated: boolean }> {
  if (!args.pattern || /[\0\n]/.test(args.pattern)) {
    throw new FileError("Search for a part of one line: not empty, no line break.");
  }
  refuseHalves(args.pattern);
  const keep = args.glob ? compileGlob(args.glob) : () => true;
  const files = (await walk(shelf, args.path, false)).filter(({ below }) => keep(below));
  const deadline = new Deadline();
  const linesOf = args.case_sensitive ? exactly(args.pattern) : inAnyCase(args.pattern);
  const found: Match[] = [];
  let truncated = false;
  for await (const [{ entry }, bytes] of contents(shelf, files, () => LARGEST)) {
    truncated ||= bytes === null;
    for (const line of bytes ? linesOf(bytes, deadline) : []) {
      found.push({ path: entry.path, ...line });
      if (found.length > MOST_FOUND) break;
    }
    if (found.length <= MOST_FOUND && !deadline.isOver) continue;
    truncated = true;
    break;
  }
  const matches = found.slice(0, MOST_FOUND);
  const most = args.max_count ?? MOST_FOUND;
  matches.sort((a, b) => compare(a.path, b.path) || a.line - b.line);
  return { matches: matches.slice(0, most), truncated: truncated || matches.length > most };
}

/** Lines in their order; not all of them if there is no more time. */
type LinesOf = (bytes: Uint8Array, deadline: Deadline) => Iterable<{ line: number; text: string }>;

function exactly(pattern: string): LinesOf {
  const needle = bytewise.decode(new TextEncoder().encode(pattern));
  return function* (bytes, deadline) {
    const all = bytewise.decode(bytes);
    let at = all.indexOf(needle);
    if (at < 0 || all.includes("\0")) return;
    let [line, start] = [1, 0];
    while (at >= 0) {
      for (let feed = all.indexOf("\n", start); feed >= 0 && feed < at; feed = all.indexOf("\n", start)) {
        if (line++ % OFTEN === 0 && deadline.isOver) return;
        start = feed + 1;
      }
      const feed = all.indexOf("\n", at);
      const end = feed < 0 ? all.length : feed;
      yield { line, text: shownLine(bytes.subarray(start, end)) };
      at = all.indexOf(needle, end);
    }
  };
}

function inAnyCase(pattern: string): LinesOf {
  const wanted = new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  return function* (bytes, deadline) {
    const all = tolerant.decode(bytes);
    const next = (from: number) => ((wanted.lastIndex = from), wanted.exec(all)?.index ?? -1);
    let at = next(0);
    if (at < 0 || bytes.includes(0)) return;
    // The same line in the text and in the bytes, which have their line breaks in common.
    let [line, textStart, start] = [1, 0, 0];
    while (at >= 0) {
      for (let feed = all.indexOf("\n", textStart); feed >= 0 && feed < at; feed = all.indexOf("\n", textStart)) {
        if (line++ % OFTEN === 0 && deadline.isOver) return;
        textStart = feed + 1;
        start = bytes.indexOf(FEED, start) + 1;
      }
      const feed = bytes.indexOf(FEED, start);
      yield { line, text: shownLine(bytes.subarray(start, feed < 0 ? bytes.length : feed)) };
      const textEnd = all.indexOf("\n", at);
      at = textEnd < 0 ? -1 : next(textEnd);
    }
  };
}

function shownLine(bytes: Uint8Array): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0x0d) end--;
  const text = decode(bytes.subarray(0, end)).replace(/^\ufeff/, "");
  return lengthOf(text) <= LONGEST_LINE ? text : `${text.slice(0, ahead(text, 0, LONGEST_LINE))} ... [line cut]`;
}
