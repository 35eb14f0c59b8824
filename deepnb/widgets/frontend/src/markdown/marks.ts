/** Marks of a report: `[S1]` in its Markdown, which a chip takes the place of. */

import { GROUP, hasMask, MASK, mask, unmasked } from "./mask";

/** The text with its marks masked, each with its number; they are where the check has found them. */
export function masked(markdown: string, marks: readonly number[]): string {
  const characters = Array.from(markdown); // the check counts whole ones
  let made = "";
  let end = 0;
  marks.forEach((at, number) => {
    const mark = /^\[S(\d{1,6})\]/.exec(characters.slice(at, at + 9).join(""));
    if (!mark || at < end) return;
    made += characters.slice(end, at).join("") + mask(mark[1]!, number);
    end = at + mark[0].length;
  });
  return made + characters.slice(end).join("");
}

/** Makes the chip of a mark, or null if nothing is known of it. */
export type MakeChip = (source: string, mark: number) => HTMLElement | null;

/** Puts chips in the place of masked marks; those in code, links and formulas become text again. */
export function placeChips(nodes: DocumentFragment, makeChip: MakeChip): void {
  const walker = document.createTreeWalker(nodes, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) if (hasMask(walker.currentNode.nodeValue!)) found.push(walker.currentNode as Text);
  for (const text of found) {
    if (text.parentElement?.closest("code, pre, a, math")) text.data = unmasked(text.data);
    else text.replaceWith(...withChips(text.data, makeChip));
  }
}

/** The last word, its chips and the full stop stay in one line: no chip ever begins one. */
function withChips(text: string, makeChip: MakeChip): (string | HTMLElement)[] {
  const made: (string | HTMLElement)[] = [];
  let end = 0;
  for (const { 0: all, index, groups } of text.matchAll(GROUP)) {
    const { word, marks, stop } = groups as { word: string; marks: string; stop: string };
    const chips = Array.from(marks.matchAll(MASK), ([each, source, mark]) => makeChip(`S${source}`, Number(mark)) ?? unmasked(each));
    const span = document.createElement("span");
    span.className = "dn-nb";
    span.append(word, ...chips, stop);
    made.push(text.slice(end, index), span);
    end = index + all.length;
  }
  return [...made, text.slice(end)];
}
