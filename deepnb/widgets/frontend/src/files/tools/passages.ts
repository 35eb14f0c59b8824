/** A text cut into passages that can be searched and quoted: the same as for the kernel, in chunks.py and sentences.py. */

import { ahead, isSpace, lengthOf, SPACE, trimmedEnd } from "./python";

const SIZE = 500;
const OVERLAP = 80;

// Where a sentence may end: behind its full stop, behind a stop of a script without spaces, at a blank
// line, and before the next item of a list. The white space goes with what it follows.
const END = new RegExp(
  `[.!?\\u2026]["'\\u2019\\u201d)\\]]*[${SPACE}]+` +
    `|[\\u3002\\uff01\\uff1f\\uff61]+[\\u201d\\u2019\\u300d\\u300f\\uff09]*[${SPACE}]*` +
    `|\\n[${SPACE}]*\\n[${SPACE}]*` +
    `|\\n(?=[ \\t]*(?:[-*+\\u2022|]|\\p{Nd}{1,3}[.)])[ \\t])`,
  "gu",
);
const BLANK_START = new RegExp(`^(?:(?:(?!\\n)[${SPACE}])*\\n)+`);
const BLANK = new RegExp(`^[${SPACE}]*`);
const BETWEEN_WORDS = [" ", "\t", "\u00a0", "\u3000", "\uff0c", "\u3001", "\uff1b"];
const ABBREVIATIONS = new Set(
  `abb al approx bd bzw ca cf d.h dr drs e.g ed eds eq eqs evtl fig figs ggf i.e incl inkl mr mrs
  ms nr pp prof resp sp spp st u.a usw vgl viz vol vols vs z.b`.split(/\s+/),
);
// These are words, or end sentences, unless a number follows.
const BEFORE_A_NUMBER = new Set(
  "abs apr art aug ch chap dec feb jan jul jun max min no nos nov oct p ref refs sec sep sept tab".split(" "),
);
const OPENING = /^[([{"'\u201c\u2018\u201e\u00ab*_\u2013\u2014-]+/;
// Behind these, in German, a number with a full stop is an ordinal: "am 3. Mai".
const BEFORE_AN_ORDINAL = new Set("ab am bis das dem den der des die im seit vom zum zur".split(" "));
const MONTH = new RegExp(`[${SPACE}](?:Jan|J\\u00e4n|Feb|M\\u00e4r|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)`, "y");
const NEXT = new RegExp(`[${SPACE}]*[^\\p{L}\\p{N}_${SPACE}]*([\\p{L}\\p{N}_]?)`, "uy");
const DIGITS = /^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]+$/u;
const BEFORE = 24; // characters: abbreviations are short

/** A passage, and the line it starts at. */
export interface Passage {
  readonly text: string;
  readonly line: number;
}

/** The paragraphs of a text, and of those that are too long, pieces. */
export function* passages(text: string): Generator<Passage> {
  let lines: string[] = [];
  let number = 0;
  for (const raw of [...text.split("\n"), ""]) {
    number++;
    const line = trimmedEnd(raw);
    if (line) lines.push(line);
    else if (lines.length > 0) {
      yield* pack(lines.join("\n"), number - lines.length);
      lines = [];
    }
  }
}

interface Piece {
  readonly text: string;
  readonly length: number;
  readonly line: number;
}

/** Puts sentences together until a passage is full; the next begins with the last ones of it again, if they are short. */
function* pack(paragraph: string, line: number): Generator<Passage> {
  let pieces: Piece[] = [];
  let length = 0;
  let isFresh = false; // whether there is a piece that is in no passage yet
  for (const piece of cut(paragraph, line)) {
    if (isSpace(piece.text)) {
      if (isFresh) yield passageOf(pieces);
      [pieces, length, isFresh] = [[], 0, false];
      continue;
    }
    if (isFresh && length + lengthOf(trimmedEnd(piece.text)) > SIZE) {
      yield passageOf(pieces);
      pieces = overlap(pieces, SIZE - piece.length);
      length = pieces.reduce((sum, each) => sum + each.length, 0);
    }
    pieces.push(piece);
    length += piece.length;
    isFresh = true;
  }
  if (isFresh) yield passageOf(pieces);
}

function passageOf(pieces: readonly Piece[]): Passage {
  const text = pieces.map((piece) => piece.text).join("");
  return { text: trimmedEnd(text.replace(BLANK_START, "")), line: pieces[0]!.line };
}

function overlap(pieces: readonly Piece[], room: number): Piece[] {
  const kept: Piece[] = [];
  let length = 0;
  for (const piece of pieces.toReversed()) {
    // The last one may be twice as long: half a sentence is of no use.
    const most = kept.length > 0 ? OVERLAP : 2 * OVERLAP;
    if (length + piece.length > Math.min(most, room)) break;
    kept.unshift(piece);
    length += piece.length;
  }
  return kept;
}

function* cut(text: string, firstLine: number): Generator<Piece> {
  let start = 0;
  let line = firstLine;
  for (const end of borders(text)) {
    const piece = text.slice(start, end);
    yield { text: piece, length: lengthOf(piece), line: line + feeds(BLANK.exec(piece)![0]) };
    line += feeds(piece);
    start = end;
  }
}

function feeds(text: string): number {
  return text.split("\n").length - 1;
}

/** Where each piece ends, none of them longer than a passage. */
function* borders(text: string): Generator<number> {
  let start = 0;
  const ends = [...text.matchAll(END)].filter((match) => endsSentence(text, match)).map((match) => match.index + match[0].length);
  for (const end of [...ends, text.length]) {
    while (ahead(text, start, SIZE) < end) {
      start = bestCut(text, start);
      yield start;
    }
    if (end > start) yield end;
    start = end;
  }
}

/** The best place to cut before a passage is full: a line end, a space, or else between characters. */
function bestCut(text: string, start: number): number {
  const limit = ahead(text, start, SIZE);
  const low = ahead(text, start, SIZE / 2);
  const half = text.slice(low, limit);
  const lineEnd = half.lastIndexOf("\n");
  if (lineEnd >= 0) return low + lineEnd + 1;
  const space = Math.max(...BETWEEN_WORDS.map((each) => half.lastIndexOf(each)));
  if (space >= 0) return low + space + 1;
  const marks = /\p{M}+$/u.exec(text.slice(low, limit) + String.fromCodePoint(text.codePointAt(limit)!));
  // An accent stays with its letter, and so does what it stands behind.
  const at = marks ? low + marks.index - (marks.index > 0 ? lastSize(half.slice(0, marks.index)) : 0) : limit;
  return at > low ? at : limit;
}

function lastSize(text: string): number {
  return [...text.slice(-2)].at(-1)!.length;
}

function endsSentence(text: string, match: RegExpExecArray): boolean {
  if (match[0][0] !== "." || feeds(match[0]) > 1) return true;
  return isEnd(text, match.index, match.index + match[0].length);
}

/** Whether the full stop at `stop` is the end of a sentence; `behind` is where what belongs to it ends. */
function isEnd(text: string, stop: number, behind: number): boolean {
  NEXT.lastIndex = behind;
  const following = NEXT.exec(text)?.[1] ?? "";
  if (/^\p{Lowercase}$/u.test(following)) return false;
  const recent = [...text.slice(Math.max(0, stop - 2 * BEFORE), stop)].slice(-BEFORE).join("").replaceAll("\n", " \n ");
  const space = recent.lastIndexOf(" ");
  const before = recent.slice(0, Math.max(space, 0));
  const word = recent.slice(space + 1).replace(OPENING, "");
  if (DIGITS.test(word)) return !isOrdinal(word, before.replace(/ +$/, ""), text, behind);
  if (lengthOf(word) === 1 && /^\p{Uppercase}$/u.test(word)) return DIGITS.test(before.slice(-1)); // a unit, 30 C, and else an initial
  const short = word.toLowerCase();
  return !ABBREVIATIONS.has(short) && !(DIGITS.test(following) && BEFORE_A_NUMBER.has(short));
}

/** Whether a number with a full stop is that of an item, of a day, of a century. */
function isOrdinal(number: string, before: string, text: string, behind: number): boolean {
  if (!before || before.endsWith("\n")) return lengthOf(number) <= 3;
  if (lengthOf(number) > 2) return false;
  MONTH.lastIndex = behind;
  return BEFORE_AN_ORDINAL.has(before.slice(before.lastIndexOf(" ") + 1).toLowerCase()) || MONTH.test(text);
}
