/**
 * Marks of a report while its Markdown becomes nodes: a word in their place that nobody else could
 * have written. In brackets, `[S1]` could become a link, or the name of one.
 */

const SECRET = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => String.fromCharCode(97 + (byte % 26))).join("");

// A comma first, as bold text may end before a sign such as a bracket; a letter last, as addresses may.
const ONE = `,${SECRET}S\\d+m\\d+e`;
export const MASK = new RegExp(ONE.replaceAll("\\d+", "(\\d+)"), "g");

/** Masks that follow each other, with the word before them and the full stop behind. */
export const GROUP = new RegExp(`(?<word>\\S{0,24}?\\s?)(?<marks>${ONE}(?:\\s?${ONE})*)(?<stop>[.,;:!?)”’"']*)`, "g");

export function mask(source: string, mark: number): string {
  return `,${SECRET}S${source}m${mark}e`;
}

export function hasMask(text: string): boolean {
  return text.includes(SECRET);
}

/** The text with its marks as they were written. */
export function unmasked(text: string): string {
  return hasMask(text) ? text.replace(MASK, "[S$1]") : text;
}
