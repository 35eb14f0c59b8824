/** What a shell makes of braces: a{b,c} is ab and ac, and {1..3} is 1, 2 and 3. */

const MOST = 1000;
const NUMBERS = /^([-+]?\d+)\.\.([-+]?\d+)(?:\.\.[-+]?(\d+))?$/;
const LETTERS = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.[-+]?(\d+))?$/;

export class TooManyError extends Error {}

/** The patterns that a pattern with braces stands for; escapes stay as they are. */
export function expandBraces(pattern: string): string[] {
  const open = openingBrace(pattern);
  if (open < 0) return [pattern];
  const before = pattern.slice(0, open);
  const group = groupAt(pattern, open + 1);
  const middle = group && (alternatives(group.parts) ?? range(group.parts[0]!));
  if (!group || !middle) return product([`${before}{`], expandBraces(pattern.slice(open + 1)));
  return product(
    middle.map((each) => before + each),
    expandBraces(pattern.slice(group.end)),
  );
}

function openingBrace(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{" && text[at - 1] !== "$") return at;
  }
  return -1;
}

/** What is between two braces, cut at its own commas. */
function groupAt(text: string, start: number): { parts: string[]; end: number } | null {
  const parts: string[] = [];
  let depth = 0;
  let begin = start;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (sign === "\\") at++;
    else if (sign === "{") depth++;
    else if (sign === "}" && depth > 0) depth--;
    else if (sign === "}") return { parts: [...parts, text.slice(begin, at)], end: at + 1 };
    else if (sign === "," && depth === 0) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  return null;
}

function alternatives(parts: readonly string[]): string[] | null {
  if (parts.length < 2) return null;
  return bounded(parts.flatMap(expandBraces));
}

function range(text: string): string[] | null {
  const numbers = NUMBERS.exec(text);
  if (numbers) {
    const [, from, to, step] = numbers;
    const isPadded = [from!, to!].some((each) => /^-?0\d/.test(each));
    const width = isPadded ? Math.max(from!.length, to!.length) : 0;
    return series(Number(from), Number(to), Number(step ?? 1)).map((each) => padded(each, width));
  }
  const letters = LETTERS.exec(text);
  if (!letters) return null;
  const [, from, to, step] = letters;
  const codes = series(from!.charCodeAt(0), to!.charCodeAt(0), Number(step ?? 1));
  return codes.map((code) => (code === 0x5c ? "" : String.fromCharCode(code)));
}

function series(from: number, to: number, step: number): number[] {
  const size = Math.max(1, step);
  const count = Math.floor(Math.abs(to - from) / size) + 1;
  if (count > MOST) throw new TooManyError();
  return Array.from({ length: count }, (_, index) => from + Math.sign(to - from) * size * index);
}

function padded(value: number, width: number): string {
  const digits = String(Math.abs(value));
  return value < 0 ? `-${digits.padStart(width - 1, "0")}` : digits.padStart(width, "0");
}

function product(heads: readonly string[], tails: readonly string[]): string[] {
  if (heads.length * tails.length > MOST) throw new TooManyError();
  return heads.flatMap((head) => tails.map((tail) => head + tail));
}

function bounded(patterns: string[]): string[] {
  if (patterns.length > MOST) throw new TooManyError();
  return patterns;
}
