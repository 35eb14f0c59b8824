/**
 * Text from models, tools and files, made fit to be looked at.
 *
 * It may hold marks that turn the direction of what stands beside them, or that nobody sees. They
 * are spelled out: a reader shall see that they are there, and they shall do nothing.
 */

const UNFIT =
  // Control characters but line feed and tab; marks of direction; what is invisible; tags; what is
  // no character; halves of characters; and joiners, but not behind letters of scripts that need
  // them. The same as in deepnb/transcript/legible.py.
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]|[\ud800-\udfff]|(?<![^\x00-\x7f])[\u200c\u200d]/gu;

export function legible(text: string): string {
  const lines = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  return lines.replace(UNFIT, (mark) => `\\u${mark.codePointAt(0)!.toString(16).padStart(4, "0")}`);
}

/** The beginning of a text, without line ends. */
export function oneLine(text: string, longest = 160): string {
  const line = legible(text.slice(0, longest * 4)).replace(/\s+/g, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}

/** A text as it is, anything else as JSON, nothing as an empty text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/** The same, fit to be looked at. */
export function asText(value: unknown): string {
  return legible(textOf(value));
}
