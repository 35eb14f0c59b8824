/** Python, for a cell of the person's own. */

/** A string literal: JSON's are Python's too, once what is not plain ASCII has been escaped. */
export function quoted(text: string): string {
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[\u007f-\u00a0\u2028-\u202f\u2066-\u2069\ufeff]/g, escape);
}
