import { expect, test } from "vitest";

import { Blocks, steady } from "../src/markdown/blocks";
import { blocksOf, toHtml } from "../src/markdown/parser";
import { render } from "../src/markdown/render";

test.each([
  ["**b** _i_ `c`", "<p><strong>b</strong> <em>i</em> <code>c</code></p>"],
  ["H<sub>2</sub>O", "<p>H<sub>2</sub>O</p>"],
  ["- [x] done", "<ul>\n<li>☑ done</li>\n</ul>"],
  ["<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"],
  ["a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b</b></p>"],
])("%j", (markdown, expected) => expect(toHtml(markdown).trim()).toBe(expected));

test("math becomes MathML, prices do not", () => {
  expect(toHtml("$x^2$ and \\(y\\)").match(/<math/g)).toHaveLength(2);
  expect(toHtml("$$\n\\frac{a}{b}\n$$")).toMatch(/<p><math display="block"/);
  expect(toHtml("\\[ a \\]")).toContain("<math");
  expect(toHtml("It cost $5 and then $10.")).not.toContain("<math");
  expect(toHtml("$\\notacommand{$")).toContain("$");
});

const LONG = "# Title\n\nOne *two* three.\n\n- a\n- b\n  - c\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n\ny = 2\n```\n\n$$\nx\n$$\n\nEnd **bold** here.\n";

const flat = ({ pages }: { pages: readonly (readonly string[])[] }) => pages.flat();

test("a text is split into the same blocks, however it comes", () => {
  const growing = new Blocks();
  const all: string[] = [];
  for (let at = 0; at < LONG.length; at += 3) {
    all.push(LONG.slice(at, at + 3));
    growing.grow({ all, count: all.length });
  }
  const grown = growing.grow({ all, count: all.length });
  const pieces = [...flat(grown), grown.tail];
  expect(pieces.map((piece) => piece.trim())).toEqual(LONG.trim().split(/\n\n(?=[A-Z|`$-])/));
  expect(pieces.join("")).toBe(LONG);
  expect(flat(new Blocks().whole(LONG))).toEqual([LONG]);
});

test("finished blocks stay as they are, and a text that is another one begins anew", () => {
  const blocks = new Blocks();
  const all = ["One.\n\nTwo.\n\n", "Thr"];
  blocks.grow({ all, count: 2 });
  all.push("ee");
  expect(blocks.grow({ all, count: 3 })).toMatchObject({ pages: [["One.\n\nTwo.\n\n"]], tail: "Three" });
  const whole = blocks.whole("One.\n\nTwo.\n\nThree.");
  expect(flat(whole)).toEqual(["One.\n\nTwo.\n\n", "Three."]);
  expect(blocks.whole("One.\n\nTwo.\n\nThree.").pages).toBe(whole.pages);
  expect(flat(blocks.whole("One.\n\nTwo.\n\nThree. Four."))).toEqual(["One.\n\nTwo.\n\nThree. Four."]);
  expect(flat(blocks.whole("Other.\n\nText."))).toEqual(["Other.\n\nText."]);
});

test("a definition that goes leaves what it stood between apart, and a page holds so many blocks", () => {
  const { pages, links } = new Blocks().whole("- a\n\n[x]: https://x.test\n- b\n");
  expect(flat({ pages }).map((piece) => piece.trim())).toEqual(["- a", "- b"]);
  expect(links).toContain("https://x.test");
  const many = new Blocks().whole("Paragraph.\n\n".repeat(130)).pages;
  expect(many.map((page) => page.join("").match(/P/g)!.length)).toEqual([64, 64, 2]);
});

test.each([
  ["a **bold", "a **bold**"],
  ["a **bo ", "a **bo**"],
  ["a `co", "a `co`"],
  ["see [the text](https://exa", "see the text"],
  ["see [the te", "see the te"],
  ["a\n``", "a\n"],
  ["a\n- ", "a\n"],
  ["text\n| a | b |", "text"],
  ["| a | b |\n|--", ""],
  ["| a | b |\n|---|---|\n| 1", "| a | b |\n|---|---|\n| 1"],
  ["```py\nx = 1\n``", "```py\nx = 1"],
  ["so $$x = ", "so "],
  ["so $e^{i", "so "],
  ["it is $5 or", "it is $5 or"],
  ["plain text", "plain text"],
])("half a sign is not shown: %j", (tail, expected) => expect(steady(tail)).toBe(expected));

test("code whose end has not come is closed by the signs that opened it", () => {
  expect(steady("a ``co ` de")).toBe("a ``co ` de``");
  expect(steady("a ``co`")).toBe("a ``co``");
  expect(steady("a ``")).toBe("a ");
  expect(steady("a `[x` [the te")).toBe("a `[x` the te");
  expect(steady("an ![image](https://exa")).toBe("an image");
});

const rows = (count: number) => "| 1 | [b][] |\n".repeat(count);

test("only the rows that are shown are read, until all are wanted", () => {
  const text = `Rows:\n\n| x | y |\n|---|--:|\n${rows(1_200)}\n[b]: https://b.test`;
  expect(toHtml(text).match(/<tr/g)).toHaveLength(101);
  expect(blocksOf(text).map(({ type }) => type)).toEqual(["paragraph", "space", "table", "space", "def"]);
  const box = document.createElement("div");
  box.append(render(text, { images: false, whole: true }));
  const more = box.querySelector<HTMLButtonElement>(".dn-scroll > button")!;
  expect(more.textContent).toBe("Show all 1,200 rows");
  more.click();
  expect(box.querySelectorAll("tbody tr")).toHaveLength(1_200);
  expect(box.querySelectorAll("tbody a[href='https://b.test']")).toHaveLength(1_200);
  expect(box.querySelectorAll("th.r, [data-rows], .dn-scroll > button")).toHaveLength(1);
});

test("a table of a usual size is whole, and what a row lacks is empty", () => {
  const made = toHtml(`a|b|c\n-|-|-\n${"1|2\n".repeat(100)}`);
  expect(made.match(/<td/g)).toHaveLength(300);
  expect(made).not.toContain("data-rows");
});

test("a table never has many more cells than its text has letters", () => {
  for (const [columns, count] of [[1_000, 1_000], [80, 90], [5_000, 1]] as const) {
    const text = `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"|b|\n".repeat(count)}`;
    expect(toHtml(text)).toBe(`<pre>${text.trim()}</pre>`);
    expect(blocksOf(text)).toMatchObject([{ type: "table", raw: text, rows: [] }]);
  }
});
