/** The shelf and the tools where no browser keeps anything. What they share with the kernel's folders is held to it in a real browser (tests/browser/test_client_contract.py). */

import { beforeEach, expect, test, vi } from "vitest";

import { beside } from "../src/files/places";
import { openShelf } from "../src/files/shelf";
import { freeName, fromInput, safeName } from "../src/files/shelf/incoming";
import { MemoryTables } from "../src/files/shelf/tables";
import { runTool } from "../src/files/tools";
import { compileGlob } from "../src/files/tools/glob";
import { safeParts } from "../src/files/tools/paths";
import { casefold, compare, repr } from "../src/files/tools/python";
import type { Shelf } from "../src/files/types";

let shelf: Shelf;

beforeEach(async () => {
  shelf = await openShelf("test");
});

const put = (path: string, text: string) => shelf.write(path, new Blob([text]));
const textOf = async (path: string) => (await shelf.read(path)).text();
const kindOf = (work: Promise<unknown>) => work.then(() => "done", (error) => error.kind);

test("without storage files are kept as long as the page, and that is said", async () => {
  await put("/notes/a.md", "a");
  expect(shelf.trouble).toContain("gone when the page is closed");
  expect((await shelf.entries()).map(({ path, isDir }) => [path, isDir])).toEqual([["/notes", true], ["/notes/a.md", false]]);
});

test.each([
  ["write_file", { path: "/a.md", content: "theirs" }],
  ["patch_file", { path: "/a.md", search: "mine", replace: "theirs" }],
])("a %s that was approved for another content changes nothing, and one for this content is done", async (tool, args) => {
  await put("/a.md", "mine");
  const seen = await shelf.hash("/a.md");
  await put("/a.md", "mine, later");
  expect(await runTool(shelf, tool, args, "q", seen)).toEqual({ error: expect.stringContaining("has changed since the person was asked") });
  expect(await textOf("/a.md")).toBe("mine, later");
  expect(await runTool(shelf, tool, args, "q", await shelf.hash("/a.md"))).toHaveProperty("result");
  expect(await textOf("/a.md")).toMatch(/^theirs/);
});

test("a write that expects something else changes nothing, not even the answers", async () => {
  await put("/a.md", "mine");
  const answers = { question: "q", answer: { result: {} } };
  const theirs = new Blob(["theirs"]);
  expect(await kindOf(shelf.write("/a.md", theirs, { expects: "", answers }))).toBe("changed");
  expect(await kindOf(shelf.write("/a.md/b", theirs, { answers }))).toBe("exists");
  expect(await kindOf(shelf.write("/a.md/b/c", theirs, { answers }))).toBe("no folder");
  expect(await kindOf(shelf.write("/../c", theirs, { answers }))).toBe("path");
  expect(await textOf("/a.md")).toBe("mine");
  expect(await shelf.answered("q")).toBeUndefined();
  expect(await shelf.entries()).toHaveLength(1);
});

test("names that differ only in case or in how accents are written are different files", async () => {
  const names = ["/a.md", "/A.md", "/caf\u00e9", "/cafe\u0301"];
  for (const name of names) await put(name, name);
  expect(await Promise.all(names.map(textOf))).toEqual(names);
});

test("a deletion can be undone, but not over something new", async () => {
  await put("/d/a.md", "a");
  await put("/d/e/b.md", "b");
  await put("/d2.md", "a neighbour");
  const undo = await shelf.remove("/d");
  expect((await shelf.entries()).map(({ path }) => path)).toEqual(["/d2.md"]);
  await put("/d", "in the way");
  expect(await kindOf(undo())).toBe("exists");
  await shelf.move("/d", "/elsewhere");
  await undo();
  expect(await textOf("/d/e/b.md")).toBe("b");
  expect(await kindOf(undo())).toBe("missing");
});

test("a move takes everything along and overwrites nothing", async () => {
  await put("/d/e/a.md", "a");
  await put("/x/b.md", "b");
  expect(await kindOf(shelf.move("/d", "/x"))).toBe("exists");
  expect(await kindOf(shelf.move("/d", "/d/e/f"))).toBe("path");
  await shelf.move("/d", "/x/y/z");
  expect(await textOf("/x/y/z/e/a.md")).toBe("a");
});

test("what fails in the middle is undone", async () => {
  const tables = new MemoryTables();
  await tables.transact("readwrite", (rows) => rows.put("meta", "a", 1));
  const failed = tables.transact("readwrite", async (rows) => {
    await rows.put("meta", "a", 2);
    await rows.put("meta", "b", 2);
    throw new Error("enough");
  });
  await expect(failed).rejects.toThrow("enough");
  expect(await tables.transact("readonly", (rows) => rows.all("meta"))).toEqual([1]);
});

test("a question that was answered gets its answer again, and nothing is changed", async () => {
  await put("/a.md", "a");
  const patch = () => runTool(shelf, "patch_file", { path: "/a.md", search: "a", replace: "aa" }, "q1");
  const first = await patch();
  expect(first).toEqual({ result: { path: "/a.md", occurrences: 1 } });
  expect(await patch()).toEqual(first);
  expect(await textOf("/a.md")).toBe("aa");
});

test("a file that vanishes while all are searched is left out, and that is said", async () => {
  await put("/a.md", "word");
  await put("/b.md", "word");
  const entries = await shelf.entries();
  await shelf.remove("/b.md");
  const late: Shelf = Object.assign(Object.create(shelf), { entries: () => Promise.resolve(entries) });
  const answer = await runTool(late, "grep_files", { pattern: "word" });
  expect(answer).toEqual({ result: { matches: [{ path: "/a.md", line: 1, text: "word" }], truncated: true } });
});

test("an error of any kind is an answer", async () => {
  const broken: Shelf = Object.assign(Object.create(shelf), { read: () => Promise.reject(new Error("out of order")) });
  expect(await runTool(broken, "read_file", { path: "/a.md" })).toEqual({ error: "'a.md' could not be used: out of order. Try another file." });
});

test("a pattern that would take for ever as a regular expression does not", () => {
  const fits = compileGlob(`${"*a".repeat(60)}*b`);
  expect(fits("a".repeat(250))).toBe(false);
  expect(compileGlob(`${"**/a/".repeat(20)}b`)(`${"a/".repeat(100)}c`)).toBe(false);
});

test("what comes in gets names that can be paths, each its own", () => {
  const files = ["a\u202eb.md", "a\u200bb.md", ".deepnb", "C:", "..", "", "\u{1f41f}.md", "n".repeat(300)].map((name) => new File(["x"], name));
  const paths = fromInput(files).map(({ path }) => path);
  expect(paths.slice(0, 3)).toEqual(["/a_b.md", "/a_b 2.md", "/_.deepnb"]);
  expect(new Set(paths).size).toBe(files.length);
  for (const path of paths) expect(safeParts(path)).toHaveLength(1);
  expect(safeName("good name.md")).toBe("good name.md");
});

test("a name that is taken gets a number, before its ending, and stays short enough", () => {
  const taken = new Set(["/d/a.md", "/d/a 2.md", "/b", "/.c", `/${"n".repeat(252)}.md`]);
  expect(freeName("/d/a.md", taken)).toBe("/d/a 3.md");
  expect(freeName("/b", taken)).toBe("/b 2");
  expect(freeName("/.c", taken)).toBe("/.c 2");
  expect(freeName("/new", taken)).toBe("/new");
  expect(freeName(`/${"n".repeat(252)}.md`, taken)).toBe(`/${"n".repeat(250)} 2.md`);
});

test("texts are compared, folded and shown as Python does", () => {
  expect(["\uffff", "\u{1f41f}", "a"].sort(compare)).toEqual(["a", "\uffff", "\u{1f41f}"]);
  expect(casefold("STRA\u1e9eE \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u0131")).toBe("strasse \u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3 \u0131");
  expect(repr("it's\n\u202e")).toBe('"it\'s\\n\\u202e"');
});

test("a name for a second version has room, whatever the first one's is", () => {
  expect(beside("/d.x/notes.md", "theirs", () => false)).toBe("/d.x/notes (theirs).md");
  expect(beside("/d.x/notes", "theirs", (path) => path === "/d.x/notes (theirs)")).toBe("/d.x/notes (theirs 2)");
  for (const name of [`${"n".repeat(252)}.md`, `${"\u{1f41f}".repeat(63)}.md`, `a.${"b".repeat(253)}`]) {
    expect(safeParts(beside(`/d/${name}`, "theirs", () => false))).toHaveLength(2);
    expect(safeParts(freeName(`/d/${name}`, new Set([`/d/${name}`])))).toHaveLength(2);
  }
});

test.each([true, false])("a search stops within a file that has too much of it; case counts: %s", async (case_sensitive) => {
  await put("/many.txt", "a\n".repeat(100_000));
  const decoded = vi.spyOn(TextDecoder.prototype, "decode");
  const { result } = (await runTool(shelf, "grep_files", { pattern: "a", case_sensitive })) as { result: { matches: { line: number }[]; truncated: boolean } };
  const times = decoded.mock.calls.length;
  decoded.mockRestore();
  expect([result.matches.length, result.matches.at(-1)!.line, result.truncated]).toEqual([10_000, 10_000, true]);
  expect(times).toBeLessThan(11_000); // each line that is shown is decoded once
});

test.each([true, false])("a search stops within a file when its time is over; case counts: %s", async (case_sensitive) => {
  await put("/long.txt", `word\n${"\n".repeat(10_000)}word`);
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 5000));
  const answer = await runTool(shelf, "grep_files", { pattern: "word", case_sensitive });
  clock.mockRestore();
  expect(answer).toEqual({ result: { matches: [{ path: "/long.txt", line: 1, text: "word" }], truncated: true } });
});

test.each([true, false])("a search finds each line once, as if they were looked at one by one; case counts: %s", async (case_sensitive) => {
  const lines = ["", "ab", "ABab\r", "\u0130ab\u0130", "b", "\u{1f41f}aB", "", "a", "aab aab", "ab"];
  const wanted = lines.flatMap((line, index) => {
    const isFound = (case_sensitive ? line : line.toLowerCase()).includes("ab");
    return isFound ? [{ path: "/x", line: index + 1, text: line.replace("\r", "") }] : [];
  });
  for (const end of ["", "\n", "\n\n"]) {
    await put("/x", lines.join("\n") + end);
    expect(await runTool(shelf, "grep_files", { pattern: "ab", case_sensitive })).toEqual({ result: { matches: wanted, truncated: false } });
  }
});
