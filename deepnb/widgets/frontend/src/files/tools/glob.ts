/**
 * Which files a pattern means, by the same rules as the kernel's backends.
 *
 * A pattern without a slash is about names, in whatever folder; one with a slash is about paths below the
 * folder that is searched. A dot at the beginning of a name has to be written. The time is bounded by the
 * length of pattern and path, whatever they are: no regular expression is made of what a model has typed.
 */

import { FileError } from "../types";
import { expandBraces, TooManyError } from "./braces";
import { repr } from "./python";

type Class = (sign: string) => boolean;
type Token = { readonly is: "sign"; readonly sign: string } | { readonly is: "any" | "star" } | { readonly is: "class"; readonly has: Class };
/** What one name has to look like, or any number of names. */
type Segment = readonly Token[] | "**";
interface Pattern {
  readonly segments: readonly Segment[];
  /** It ends with a slash: it is about folders, and so about no file. */
  readonly folders: boolean;
}

const ADVICE = "Write the pattern in another way.";
const CLASSES: Record<string, RegExp> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  ascii: /[\x00-\x7f]/,
  blank: /[\t ]/,
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  word: /[0-9A-Za-z_]/,
  xdigit: /[0-9A-Fa-f]/,
};
const NAMED_CLASS = new RegExp(`^\\[:(${Object.keys(CLASSES).join("|")}):\\]`);

/** Gives what tells whether the path of a file, below the folder that is searched, fits the pattern. */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern.replaceAll("\\", "/").split("/").includes("..")) {
    throw new FileError(`Path traversal not allowed in glob pattern ${repr(pattern)}. ${ADVICE}`, "path");
  }
  const patterns = expanded(pattern).map(parse);
  const isWhole = pattern.includes("/");
  return (path) => {
    const names = isWhole ? path.split("/") : [path.slice(path.lastIndexOf("/") + 1)];
    const characters = names.map((name) => [...name]);
    return patterns.some((each) => fits(each, characters));
  };
}

function expanded(pattern: string): string[] {
  try {
    return expandBraces(pattern.replace(/^\/+/, ""));
  } catch (error) {
    if (!(error instanceof TooManyError)) throw error;
    throw new FileError(`Invalid glob pattern ${repr(pattern)}: Pattern limit exceeded the limit of 1000. ${ADVICE}`, "path");
  }
}

function parse(text: string): Pattern {
  const signs = [...text];
  const segments: Segment[] = [];
  let tokens: Token[] = [];
  let began = 0;
  const finish = (end: number) => {
    if (end > began) segments.push(signs.slice(began, end).join("") === "**" ? "**" : tokens);
    tokens = [];
  };
  let at = 0;
  while (at < signs.length) {
    const sign = signs[at]!;
    const isSlash = sign === "/" || (sign === "\\" && signs[at + 1] === "/");
    if (isSlash) {
      finish(at);
      at += sign === "/" ? 1 : 2;
      began = at;
      continue;
    }
    const found = sign === "[" ? parseClass(signs, at + 1) : null;
    if (found) {
      tokens.push({ is: "class", has: found.has });
      at = found.end;
    } else if (sign === "\\") {
      if (at + 1 < signs.length) tokens.push({ is: "sign", sign: signs[at + 1]! });
      at += 2;
    } else {
      const token: Token = sign === "*" ? { is: "star" } : sign === "?" ? { is: "any" } : { is: "sign", sign };
      if (token.is !== "star" || tokens.at(-1)?.is !== "star") tokens.push(token);
      at += 1;
    }
  }
  const folders = began === signs.length && segments.length > 0 && segments.at(-1) !== "**";
  finish(signs.length);
  return { segments, folders };
}

/** Reads what follows an opening bracket; null if it is not closed before the name ends. */
function parseClass(signs: readonly string[], start: number): { has: Class; end: number } | null {
  const parts: Class[] = [];
  let at = start;
  const isNegated = signs[at] === "!" || signs[at] === "^";
  if (isNegated) at++;
  let last: string | null = null; // what a range may begin with
  for (let isFirst = true; ; isFirst = false) {
    let sign = signs[at];
    if (sign === undefined || sign === "/") return null;
    if (sign === "]" && !isFirst) break;
    const named = sign === "[" ? NAMED_CLASS.exec(signs.slice(at, at + 12).join("")) : null;
    if (named) {
      const signsOfIt = CLASSES[named[1]!]!;
      parts.push((each) => signsOfIt.test(each));
      at += named[0].length;
      last = null;
      continue;
    }
    const isRange = sign === "-" && !isFirst && last !== null && signs[at + 1] !== "]" && !isNamedAt(signs, at + 1);
    if (isRange) sign = signs[++at];
    if (sign === "\\") sign = signs[++at];
    if (sign === undefined || sign === "/") return null;
    at++;
    if (isRange) {
      const [low, high] = [last!.codePointAt(0)!, sign.codePointAt(0)!];
      parts.pop(); // the sign that the range begins with
      parts.push((each) => low <= each.codePointAt(0)! && each.codePointAt(0)! <= high);
      last = null;
    } else {
      const only = sign;
      parts.push((each) => each === only);
      last = sign;
    }
  }
  return { has: (sign) => parts.some((part) => part(sign)) !== isNegated, end: at + 1 };
}

function isNamedAt(signs: readonly string[], at: number): boolean {
  return NAMED_CLASS.test(signs.slice(at, at + 12).join(""));
}

function fits({ segments, folders }: Pattern, names: readonly (readonly string[])[]): boolean {
  if (folders || segments.length === 0) return false;
  const known = new Map<number, boolean>();
  const from = (segment: number, name: number): boolean => {
    if (segment === segments.length) return name === names.length;
    const key = segment * (names.length + 1) + name;
    let answer = known.get(key);
    if (answer === undefined) known.set(key, (answer = step(segment, name)));
    return answer;
  };
  const step = (segment: number, name: number): boolean => {
    const wanted = segments[segment]!;
    const here = names[name];
    if (wanted !== "**") return here !== undefined && nameFits(wanted, here) && from(segment + 1, name + 1);
    const isLast = segments.slice(segment).every((each) => each === "**");
    if (isLast) return here !== undefined && names.slice(name).every((each) => each[0] !== ".");
    return from(segment + 1, name) || (here !== undefined && here[0] !== "." && from(segment, name + 1));
  };
  return from(0, 0);
}

function nameFits(tokens: readonly Token[], name: readonly string[]): boolean {
  const first = tokens[0];
  if (name[0] !== "." || first?.is === "sign") return tokensFit(tokens, name);
  return first?.is === "star" && tokensFit(tokens.slice(1), name); // a star may stand for nothing
}

/** Only the last star has to be tried again: what an earlier one could take, a later one can too. */
function tokensFit(tokens: readonly Token[], name: readonly string[]): boolean {
  let [token, sign, star, taken] = [0, 0, -1, 0];
  while (sign < name.length) {
    const wanted = tokens[token];
    if (wanted?.is === "star") {
      [star, taken] = [token++, sign];
    } else if (wanted && signFits(wanted, name[sign]!)) {
      token++;
      sign++;
    } else if (star >= 0) {
      token = star + 1;
      sign = ++taken;
    } else return false;
  }
  while (tokens[token]?.is === "star") token++;
  return token === tokens.length;
}

function signFits(token: Token, sign: string): boolean {
  if (token.is === "sign") return token.sign === sign;
  return token.is === "any" || (token.is === "class" && token.has(sign));
}
