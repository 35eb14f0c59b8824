/** What is not fit to be looked at: the same for the panel and for what Python writes (tests/test_legible.py). */

import { expect, test } from "vitest";

import unfit from "../../../../tests/unfit.json";
import { legible } from "../src/parts/legible";

const RANGES = unfit.map(([first, last]) => [parseInt(first!, 16), parseInt(last!, 16)] as const);

test("what cannot be seen or steers the eye is spelled out, and nothing else", () => {
  const wrong: number[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const sign = String.fromCodePoint(code);
    const isUnfit = code !== 0x0d && RANGES.some(([first, last]) => first <= code && code <= last);
    const expected = isUnfit ? `\\u${code.toString(16).padStart(4, "0")}` : code === 0x0d ? "\n" : sign;
    if (legible(sign) !== expected) wrong.push(code);
  }
  expect(wrong).toEqual([]);
});

test("joiners stay where scripts and pictures need them, and lines end in one way", () => {
  for (const text of ["می\u200cخواهم", "👩\u200d💻"]) expect(legible(text)).toBe(text);
  expect(legible("a\u200cb\u200dc")).toBe("a\\u200cb\\u200dc");
  expect(legible("a\r\nb\rc\td")).toBe("a\nb\nc\td");
});
