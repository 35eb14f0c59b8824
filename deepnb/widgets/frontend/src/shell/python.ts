/** Python that opens this thread again, for a cell of the person's own. */

import type { Facts } from "../protocol";

export function openingCode(facts: Facts): string {
  const agent = quoted(facts.agent);
  const thread = quoted(facts.thread);
  return `session = deepnb.Session(${agent}, thread=${thread}, workspace=${quoted(facts.workspace)})`;
}

/** The whole cell, with the import before and the panel after. */
export function openingCell(facts: Facts): string {
  return `import deepnb\n\n${openingCode(facts)}\nsession\n`;
}

/** A string literal: JSON's are Python's too, once what is not plain ASCII has been escaped. */
export function quoted(text: string): string {
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[\u007f-\u00a0\u2028-\u202f\u2066-\u2069\ufeff]/g, escape);
}
