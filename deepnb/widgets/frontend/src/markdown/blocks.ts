/**
 * A text that grows, in blocks: those that are finished are never looked at again.
 *
 * A block is finished when another one has begun behind it. What is shown of the last one is made
 * steady: signs whose other half has not come yet are completed or held back, so that nothing
 * jumps when it comes.
 */

import type { Pieces } from "../model";
import { blocksOf } from "./parser";

export interface Split {
  /**
   * Markdown of what is finished, by the page: those that are full stay the same. Blocks that were
   * finished at once are one piece of it, for each piece costs as much to draw as a block or two.
   */
  readonly pages: readonly (readonly string[])[];
  /** Markdown of the block that is being written. */
  readonly tail: string;
  /** Link definitions, which any block may refer to. */
  readonly links: string;
}

const PAGE = 64; // blocks

export class Blocks {
  private pages: (readonly string[])[] = [];
  private filled = 0; // blocks of the last page
  private links = "";
  private finished = ""; // as it was written, up to the tail
  private tail = "";
  private source: readonly string[] | null = null; // what the text is made of, as far as `taken`
  private taken = 0;

  /** Takes what has come of a text since the last time. */
  grow({ all, count }: Pieces): Split {
    if (all !== this.source) this.reset(all);
    this.tail += all.slice(this.taken, count).join("");
    this.taken = count;
    const blocks = blocksOf(this.tail);
    this.finish(blocks.slice(0, blocks.findLastIndex(({ type }) => type !== "space")));
    return { pages: this.pages, tail: this.tail, links: this.links };
  }

  /** Takes a text that is complete; what was finished of it as it grew stays as it is. */
  whole(text: string): Split {
    const isKnown = this.source ? text.startsWith(this.finished) : text === this.finished;
    if (!isKnown) this.reset(null);
    this.source = null;
    this.tail = text.slice(this.finished.length);
    this.finish(blocksOf(this.tail));
    return { pages: this.pages, tail: "", links: this.links };
  }

  private finish(blocks: { type: string; raw: string }[]): void {
    let length = 0;
    let piece = "";
    let count = 0;
    const end = () => {
      if (count) this.add(piece, count);
      piece = "";
      count = 0;
    };
    for (const { type, raw } of blocks) {
      length += raw.length;
      if (type === "def") {
        this.links += `\n\n${raw}`;
        end(); // what was before it and what comes next would be one list, for example
        continue;
      }
      piece += raw;
      if (type !== "space") count++;
      if (count === PAGE) end();
    }
    end();
    this.finished += this.tail.slice(0, length);
    this.tail = this.tail.slice(length);
  }

  private add(piece: string, count: number): void {
    const last = this.pages.at(-1);
    const fits = last && this.filled < PAGE;
    this.pages = fits ? this.pages.with(-1, [...last, piece]) : [...this.pages, [piece]];
    this.filled = fits ? this.filled + count : count;
  }

  private reset(source: readonly string[] | null): void {
    this.pages = [];
    this.links = this.finished = this.tail = "";
    this.source = source;
    this.taken = 0;
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * Completes or holds back what would look different with the next few characters.
 *
 * It is done again for each drawing, of whatever is written: nothing here may take longer than in
 * proportion to the text.
 */
export function steady(tail: string): string {
  if (FENCE.test(tail)) return tail.replace(/\n[ `~]*$/, ""); // its end may be half written
  const start = tail.lastIndexOf("\n") + 1;
  // A line of signs: a fence, a rule, a list item or a heading that has no text yet.
  if (/^(?:[`~]{1,3}\w*|[-*+=_# ]+|\d+[.)]?|>+ ?)$/.test(tail.slice(start).trimStart())) return tail.slice(0, start);
  const table = /(?:^|\n)[ \t]*\|[^\n]*(?:\n[ \t:|-]*)?$/.exec(tail);
  if (table && !/\n[ \t]*(?:\|[ \t]*)?:?-/.test(tail.slice(0, table.index))) return tail.slice(0, table.index);
  return completed(tail);
}

/** Closes what is open at the end of a text: code, emphasis, math, a link. */
function completed(text: string): string {
  const { plain, code } = withoutCode(text.replace(/\\[^]/g, "  "));
  const open = (sign: string) => plain.split(sign).length % 2 === 0;
  const closed = Math.max(0, ...["$$", "\\]", "\\)"].map((sign) => text.lastIndexOf(sign)));
  const math = closed + text.slice(closed).search(/\$\$|\\[[(]/);
  if (math >= closed && (open("$$") || text[math] !== "$")) return text.slice(0, math);
  if (code) {
    const inside = trimmed(text.slice(code.end), "`");
    return inside ? text.slice(0, code.end) + inside + code.sign : text.slice(0, code.end - code.sign.length);
  }
  // One of two signs around a formula, and not that of a price.
  const formula = /\$(?![\s\d$])[^$\n]*$/.exec(plain);
  if (formula && open("$")) return text.slice(0, formula.index);
  const bracket = plain.lastIndexOf("[");
  const link = bracket >= 0 && /^\[([^\]\n]*)(?:\]\([^)\s]*)?$/.exec(plain.slice(bracket));
  if (link) {
    const from = plain[bracket - 1] === "!" ? bracket - 1 : bracket;
    return text.slice(0, from) + text.slice(bracket + 1, bracket + 1 + link[1]!.length);
  }
  let whole = trimmed(text, "*_~");
  for (const sign of ["**", "~~"]) if (whole.split(sign).length % 2 === 0) whole = `${whole.trimEnd()}${sign}`;
  return whole;
}

/** A text with spaces for its code, and where code begins in the last line that has no end yet. */
function withoutCode(text: string): { plain: string; code: { sign: string; end: number } | null } {
  let plain = "";
  let code: { sign: string; end: number } | null = null;
  for (const { 0: sign, index } of text.matchAll(/`+/g)) {
    if (!code) code = { sign, end: index + sign.length };
    else if (code.sign === sign) {
      plain += text.slice(plain.length, code.end) + " ".repeat(index - code.end) + sign;
      code = null;
    }
  }
  return { plain: plain + text.slice(plain.length), code: code && !text.includes("\n", code.end) ? code : null };
}

/** A text without any of these signs at its end. */
function trimmed(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
