/** Markdown as models write it: GitHub's, with math, and with next to no HTML. */

import { Lexer, Marked, Renderer, Tokenizer, type Tokens, type TokenizerAndRendererExtension } from "marked";

import { unmasked } from "./mask";
import { mathML } from "./math";

/** HTML that does nothing but set text; all other is shown as it was written. */
const HARMLESS = /^<\/?(?:br|sub|sup|kbd|mark|b|i|u|s)\s*\/?>$/i;

const INLINE_MATH = [
  /^\$\$((?:\\[^]|[^\\$])+?)\$\$/,
  // Not what two prices enclose: no space inside the signs, no digit behind them.
  /^\$(?![\s$])((?:\\.|[^\\$\n])*?(?:\\.|[^\\$\s]))\$(?![\d$])/,
  // So long at most, as nothing else ends the search for an end that is not there.
  /^\\\(((?:\\[^)]|[^\\]){1,5000}?)\\\)/,
  /^\\\[((?:\\[^\]]|[^\\]){1,5000}?)\\\]/,
];
const BLOCK_MATH = [/^ {0,3}\$\$((?:\\[^]|[^\\$])+?)\$\$[ \t]*(?:\n|$)/, /^ {0,3}\\\[((?:\\[^\]]|[^\\])+?)\\\][ \t]*(?:\n|$)/];

interface Math extends Tokens.Generic {
  text: string;
  display: boolean;
}

const blockMath: TokenizerAndRendererExtension = {
  name: "blockMath",
  level: "block",
  start: (text) => /\n {0,3}(?:\$\$|\\\[)/.exec(text)?.index, // asked of what is behind a first sign
  tokenizer: (text) => math("blockMath", BLOCK_MATH, text, () => true),
  renderer: (token) => `<p>${mathml(token as Math)}</p>`,
};

const inlineMath: TokenizerAndRendererExtension = {
  name: "inlineMath",
  level: "inline",
  start: (text) => /\$|\\[([]/.exec(text)?.index,
  tokenizer: (text) => math("inlineMath", INLINE_MATH, text, (raw) => raw.startsWith("$$") || raw.startsWith("\\[")),
  renderer: (token) => mathml(token as Math),
};

function math(type: string, forms: RegExp[], text: string, isDisplay: (raw: string) => boolean): Math | undefined {
  for (const form of forms) {
    const found = form.exec(text);
    if (found) return { type, raw: found[0], text: found[1]!.trim(), display: isDisplay(found[0]) };
  }
  return undefined;
}

function mathml({ text, display, raw }: Math): string {
  try {
    return mathML(unmasked(text), display);
  } catch {
    return `<code>${escaped(raw.trim())}</code>`;
  }
}

/** Beyond what anybody writes. A parser compares each sign with each, and is called anew for each level. */
const MOST_SIGNS = 2_000;
const TOO_DEEP = /^(?:[ \t>*+-]|\d{1,9}[.)]){200}/m;

/** Takes a run of words with more signs than that for what it says. */
const tooManySigns: TokenizerAndRendererExtension = {
  name: "tooManySigns",
  level: "inline",
  tokenizer(text, tokens) {
    if (tokens.length || text.length < MOST_SIGNS) return undefined; // only at its beginning
    const signs = text.match(/[[\]()*_~`$<&\\@]/g)?.length ?? 0;
    return signs > MOST_SIGNS ? { type: "tooManySigns", raw: text, text } : undefined;
  },
  renderer: (token) => escaped(token.text as string),
};

/** At most so much of a table is read until somebody wants to see all. */
const MOST_ROWS = 100;
const MOST_COLUMNS = 100;

interface Table extends Tokens.Table {
  /** How many rows it has, if it was cut. */
  all?: number;
}

/**
 * Reads as many rows as are shown. A table without cells is one to be shown as it was written:
 * each row is filled up to the columns of the head, so that a few letters could make millions.
 */
function table(tokenizer: Tokenizer, source: string, mostRows: number): Table | undefined {
  const found = tokenizer.rules.block.table.exec(source);
  if (!found) return undefined;
  const raw = found[0].replace(/\n+$/, "");
  const lines = raw.split("\n");
  const columns = found[2]!.split("|").length;
  if (columns > MOST_COLUMNS || columns * lines.length > 2 * raw.length)
    return { type: "table", raw, header: [], align: [], rows: [] };
  const read = Tokenizer.prototype.table.call(tokenizer, lines.slice(0, mostRows + 2).join("\n"));
  return read && (lines.length > mostRows + 2 ? { ...read, raw, all: lines.length - 2 } : read);
}

/** A parser that reads no more than so many rows of a table. */
const parser = (mostRows: number) =>
  new Marked({
    gfm: true,
    extensions: [blockMath, inlineMath, tooManySigns],
    tokenizer: {
      table(source) {
        return table(this, source, mostRows);
      },
    },
    renderer: {
      html: ({ text }) => (HARMLESS.test(text.trim()) ? text : escaped(text)),
      checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
      table(token: Table) {
        if (!token.header.length) return `<pre>${escaped(token.raw.trimEnd())}</pre>`;
        const made = Renderer.prototype.table.call(this, token);
        return token.all ? made.replace("<table", `<table data-rows="${token.all}"`) : made;
      },
    },
  });

const marked = parser(MOST_ROWS);
const markedWhole = parser(Infinity);

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]!);
}

/** HTML of a Markdown text, with all rows of its tables or the first ones; nothing has been checked yet. */
export function toHtml(markdown: string, allRows = false): string {
  if (TOO_DEEP.test(markdown)) return `<pre>${escaped(markdown)}</pre>`;
  return (allRows ? markedWhole : marked).parse(markdown, { async: false });
}

/** The blocks of a Markdown text: paragraphs, lists, tables and so on, with their kind. */
export function blocksOf(markdown: string): { type: string; raw: string }[] {
  if (TOO_DEEP.test(markdown)) return [{ type: "code", raw: markdown }];
  return new Lexer(marked.defaults).blockTokens(markdown, []);
}
