/** Whatever a text holds, what is made of it does nothing. A real browser is asked in tests/browser. */

import { describe, expect, test } from "vitest";

import corpus from "../../../../tests/browser/payloads.json";
import { Blocks, steady } from "../src/markdown/blocks";
import { render } from "../src/markdown/render";
import type { News } from "../src/protocol";
import { Conversation } from "../src/store";

const TEXT = "P BR STRONG EM DEL B I U S MARK SUB SUP KBD CODE PRE BLOCKQUOTE UL OL LI HR A H2 H3 H4 TABLE THEAD TBODY TR TH TD";
const OURS = "DIV SPAN BUTTON SVG PATH"; // of the frame around code and tables
const FINE = new Set(`${TEXT} ${OURS} IMG`.split(" "));
const IDLE = new Set(
  "target rel title alt class start dir tabindex role aria-label aria-hidden type data-load".split(" "),
);

/** What in a rendering could do something. */
function dangers(markdown: string): string[] {
  const box = document.createElement("div");
  box.append(render(markdown, { images: false, whole: true }));
  const found: string[] = [];
  for (const element of box.querySelectorAll("*")) {
    if (element.closest("svg.dn-i") || /[<&]/.test(element.tagName)) continue; // only happy-dom takes "<<" for a tag
    const isMath = element.closest("math") !== null;
    if (!isMath && !FINE.has(element.tagName.toUpperCase())) found.push(element.outerHTML);
    for (const { name, value } of element.attributes) {
      if (!isIdle(name, value, isMath)) found.push(`${element.tagName} ${name}=${value}`);
    }
  }
  return found;
}

function isIdle(name: string, value: string, isMath: boolean): boolean {
  if (name === "src") return /^data:image\/(?:png|jpeg|gif|webp);base64,/.test(value);
  if (name === "href") return !isMath && /^(?:https?|mailto):/i.test(value);
  return isMath ? !/^on|^style$|^id$|^name$|href/i.test(name) : IDLE.has(name);
}

describe.each(Object.entries(corpus))("%s", (_, payloads) => {
  const texts = payloads.map((text) => text.replaceAll("EVIL", "evil.test"));

  test("whole", () => {
    expect(texts.flatMap(dangers)).toEqual([]);
  });

  test("all behind each other, as one message", () => {
    expect(dangers(texts.join("\n\n"))).toEqual([]);
    expect(dangers(texts.join(" "))).toEqual([]);
  });

  test("cut off behind any sign, while it is being written", () => {
    const shown = new Set<string>();
    for (const text of texts) {
      for (const { index } of text.matchAll(/\W/g)) {
        const { pages, tail, links } = new Blocks().grow({ all: [text.slice(0, index + 1)], count: 1 });
        for (const source of [...pages.flat(), steady(tail)]) shown.add(source + links);
      }
    }
    expect([...shown].flatMap(dangers)).toEqual([]);
  }, 60_000);
});

test("the way of looking finds what is dangerous", () => {
  const box = document.createElement("div");
  expect(isIdle("onclick", "__hit(1)", false)).toBe(false);
  expect(isIdle("href", "javascript:__hit(1)", false)).toBe(false);
  expect(isIdle("style", "inset: 0", true)).toBe(false);
  box.append(render("[x](https://a.test) ![x](http://evil.test/leak.png)", { images: true, whole: true }));
  expect(box.querySelector("a")?.rel).toBe("noopener noreferrer");
  expect(box.querySelector("img")?.getAttribute("src")).toBe("http://evil.test/leak.png");
});

test("an image from elsewhere is a button until it is wanted", () => {
  const box = document.createElement("div");
  box.append(render("![a map](http://evil.test/leak.png)", { images: false, whole: true }));
  expect(box.querySelector("img")).toBeNull();
  expect(box.querySelector("button")?.textContent).toBe("Image from evil.test (load): a map");
});

/** A table with a head of so many columns, and rows that say next to nothing. */
const wide = (columns: number, rows: number) => `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"|b|\n".repeat(rows)}`;

describe("what is too much", () => {
  test.each([
    ["quotes", ">".repeat(10_000) + " x"],
    ["lists", Array.from({ length: 3_000 }, (_, n) => `${" ".repeat(2 * n)}- x`).join("\n")],
    ["brackets", "[".repeat(50_000) + "x" + "](".repeat(50_000)],
    ["emphasis", "*a **b ".repeat(20_000)],
    ["backticks", "`".repeat(100_000)],
    ["math", "$".repeat(10_001) + "{".repeat(10_000)],
    ["one line", "x".repeat(1_000_000)],
    ["spaces", " ".repeat(100_000) + "x"],
    ["formulas", "$$a".repeat(20_000)],
    ["columns", wide(5_000, 2_000)],
    ["columns in a list", `- ${wide(1_000, 1_000).replaceAll("\n", "\n  ")}`],
    ["empty cells", wide(90, 3_000)],
    ["rows", `x\n\n|a|b|\n|-|-|\n${"|1|2|\n".repeat(50_000)}`],
    ["tables", `${wide(90, 100)}\n\n`.repeat(50)],
  ])("%s: it is shown all the same", (_, text) => {
    const box = document.createElement("div");
    box.append(render(text, { images: false, whole: true }));
    expect(box.querySelectorAll("*").length).toBeLessThan(5_000);
    expect(box.textContent!.length).toBeGreaterThan(0);
  }, 60_000);

  // What takes the square of these lengths takes minutes.
  test.each([
    ["[".repeat(200_000) + "]x"],
    ["](".repeat(200_000)],
    [" ".repeat(200_000) + "x"],
    ["|x|\n" + " ".repeat(200_000) + "x\n|y|"],
    ["$$a".repeat(200_000)],
    ["\\(a".repeat(200_000)],
    ["`".repeat(200_000) + "x"],
    ["*".repeat(200_000) + "x"],
    ["```\n" + "\n` ".repeat(200_000) + "x"],
  ])("%.20s…: the end of it is looked at once", (text) => {
    expect(steady(text).length).toBeLessThanOrEqual(2 * text.length);
  }, 20_000);
});

test("an event that is not understood leaves the others as they are", () => {
  const store = new Conversation();
  const event = (seq: number, rest: object) => ({ seq, time: 0, run: "r", ...rest });
  const events = [
    event(1, { kind: "run_started", data: { text: "hello" } }),
    event(2, { kind: "nothing", data: {} }),
    event(3, { kind: "__proto__", data: {} }),
    event(4, { kind: "tool_call" }),
    event(6, { kind: "run_ended", data: { status: "done" } }),
  ] as unknown as News["events"];
  const news = { thread: "main", after: 0, last: 6, more: false, facts: null, replies: [], events };
  store.apply(news);
  expect(store.last).toBe(6);
  expect(store.turns.map(({ question, status }) => [question, status])).toEqual([["hello", "done"]]);
});
