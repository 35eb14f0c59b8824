/** Markdown as models write it: GitHub's, with math, and with next to no HTML. */

import { Lexer, Marked, type Tokens, type TokenizerAndRendererExtension } from "marked";

import { mathML } from "./math";

/** HTML that does nothing but set text; all other is shown as it was written. */
const HARMLESS = /^<\/?(?:br|sub|sup|kbd|mark|b|i|u|s)\s*\/?>$/i;

const INLINE_MATH = [
  /^\$\$((?:\\[^]|[^\\$])+?)\$\$/,
  // Not what two prices enclose: no space inside the signs, no digit behind them.
  /^\$(?![\s$])((?:\\.|[^\\$\n])*?(?:\\.|[^\\$\s]))\$(?![\d$])/,
  /^\\\(((?:\\[^)]|[^\\])+?)\\\)/,
  /^\\\[((?:\\[^\]]|[^\\])+?)\\\]/,
];
const BLOCK_MATH = [/^ {0,3}\$\$((?:\\[^]|[^\\$])+?)\$\$[ \t]*(?:\n|$)/, /^ {0,3}\\\[((?:\\[^\]]|[^\\])+?)\\\][ \t]*(?:\n|$)/];

interface Math extends Tokens.Generic {
  text: string;
  display: boolean;
}

const blockMath: TokenizerAndRendererExtension = {
  name: "blockMath",
  level: "block",
  start: (text) => /(?:^|\n) {0,3}(?:\$\$|\\\[)/.exec(text)?.index,
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
    return mathML(text, display);
  } catch {
    return `<code>${escaped(raw.trim())}</code>`;
  }
}

const marked = new Marked({
  gfm: true,
  extensions: [blockMath, inlineMath],
  renderer: {
    html: ({ text }) => (HARMLESS.test(text.trim()) ? text : escaped(text)),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]!);
}

/** HTML of a Markdown text; nothing has been checked yet. */
export function toHtml(markdown: string): string {
  return marked.parse(markdown, { async: false });
}

/** The blocks of a Markdown text: paragraphs, lists, tables and so on, with their kind. */
export function blocksOf(markdown: string): { type: string; raw: string }[] {
  return new Lexer(marked.defaults).blockTokens(markdown, []);
}
