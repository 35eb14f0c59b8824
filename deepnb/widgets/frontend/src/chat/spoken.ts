/** Markdown as one would read it out: words, and no signs. It may begin and end anywhere in a text. */

import { oneLine } from "../parts/legible";

const LONGEST = 600; // characters

export function spoken(markdown: string): string {
  const words = markdown
    .slice(0, LONGEST * 4)
    .replace(/^[ \t]*(?:```|~~~).*$/gm, "") // fences
    .replace(/^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|?)+[ \t]*$/gm, "") // rules, also of tables
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+(.*?)[ \t]*$/gm, (_, line: string) => (/[.!?:;,…]\W*$/.test(line) ? line : `${line}.`))
    .replace(/!?\[([^[\]\n]*)\]\([^()\s]*\)/g, "$1") // links and images by their words
    .replace(/ ?\[(S\d+)\]/g, " (source $1)")
    .replace(/\\([^\p{L}\p{N}\s])|[*`]+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, "$1")
    .replace(/[ \t]*\|[ \t]*/g, ", ");
  return oneLine(words.replace(/(?:^|\n), |, (?=\n|$)/g, "\n"), LONGEST);
}
