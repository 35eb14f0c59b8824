/** Where JavaScript and Python mean different things by the same word. The kernel's tools are Python's. */

/** What Python takes for white space, to be put into a class of a pattern. */
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const TRAILING = new RegExp(`[${SPACE}]+$`);
const ALL_SPACE = new RegExp(`^[${SPACE}]+$`);
const BLANKS = new Set("\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000");
const SURROGATE = /[\ud800-\udfff]/;

/** A text without the white space at its end. */
export function trimmedEnd(text: string): string {
  // A pattern that looks for the end of a text begins again at every blank of it: too slow for long ones.
  if (!BLANKS.has(text.at(-1) ?? "")) return text;
  if (text.length < 100) return text.replace(TRAILING, "");
  let end = text.length;
  while (end > 0 && BLANKS.has(text[end - 1]!)) end--;
  return text.slice(0, end);
}

export function isSpace(text: string): boolean {
  return ALL_SPACE.test(text);
}

/** How many characters a text has; to JavaScript, an emoji is two. */
export function lengthOf(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Where the character is that comes `count` characters behind the one at `start`. */
export function ahead(text: string, start: number, count: number): number {
  let index = start;
  for (let left = count; left > 0 && index < text.length; left--) index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  return index;
}

/** Orders texts by their characters; JavaScript orders them by halves of characters. */
export function compare(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === shorter) return a.length - b.length;
  const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
  const isHalf = (code: number) => code >= 0xd800 && code <= 0xdfff;
  return isHalf(left) === isHalf(right) ? left - right : isHalf(left) ? 1 : -1;
}

/** A text without case, so that STRASSE and Straße are the same. */
export function casefold(text: string): string {
  const lower = text.toLowerCase();
  // Capitals and back spells out what has no capital of its own; of the dotless i they would make another letter.
  return lower.replace(/[^\x00-\x7fı]+/g, (part) => part.toUpperCase().toLowerCase()).replaceAll("ς", "σ");
}

const NAMED: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A text in quotes, as Python's messages show it. */
export function repr(text: string): string {
  return quoted(text, /[\\\p{C}\p{Z}]/gu);
}

/** The same, with no character beyond ASCII. */
export function ascii(text: string): string {
  return quoted(text, /[\\\x00-\x1f\x7f]|[^\x00-\x7f]/gu);
}

function quoted(text: string, escaped: RegExp): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(escaped, (sign) => (sign === " " ? sign : (NAMED[sign] ?? escape(sign.codePointAt(0)!))));
  return quote + (quote === "'" ? body.replaceAll("'", "\\'") : body) + quote;
}

function escape(code: number): string {
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** A value as Python's messages show it: JSON, in other words. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return repr(value);
  if (Array.isArray(value)) return `[${value.map(shownValue).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  return `{${Object.entries(value).map(([key, each]) => `${repr(key)}: ${shownValue(each)}`).join(", ")}}`;
}
