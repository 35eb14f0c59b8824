/** Chips in a report: name, glyph and line say the verdict, so that it reads without colour. */

import { render as draw } from "preact";

import type { MakeChip } from "../markdown/marks";
import type { Citation, Report } from "../model";
import { Icon } from "../parts/Icon";
import { nameOf, VERDICTS } from "./verdicts";

/** Makes the chips of a report; a mark that the check tells otherwise stays as it was written. */
export function chipMaker(citations: readonly Citation[], settled: () => Report["settled"]): MakeChip {
  const byMark = new Map(citations.map((citation) => [citation.mark, citation]));
  return (source, mark) => {
    const citation = byMark.get(mark);
    if (citation?.source !== source) return null;
    const made = chip(citation);
    tick(made, citation, settled());
    return made;
  };
}

function chip(citation: Citation): HTMLElement {
  const { source, verdict, foundIn, mark } = citation;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "dn-cite";
  button.dataset.v = verdict;
  button.dataset.mark = String(mark);
  button.setAttribute("aria-haspopup", "dialog");
  button.setAttribute("aria-expanded", "false");
  draw(
    <>
      <Icon name={VERDICTS[verdict].icon} />
      <span>{source}</span>
      {verdict === "misattributed" && foundIn && <i data-n={foundIn} />}
    </>,
    button,
  );
  return button;
}

/** Has the chips of a report say which of them a person has checked. */
export function tickChips(element: HTMLElement, { citations, settled }: Report): void {
  const byMark = new Map(citations.map((citation) => [String(citation.mark), citation]));
  for (const button of element.querySelectorAll<HTMLElement>(".dn-cite")) {
    const citation = byMark.get(button.dataset.mark!);
    if (citation) tick(button, citation, settled);
  }
}

function tick(button: HTMLElement, citation: Citation, settled: Report["settled"]): void {
  const isSettled = settled.has(citation.id);
  button.setAttribute("aria-label", nameOf(citation, isSettled));
  button.toggleAttribute("data-settled", isSettled);
}
