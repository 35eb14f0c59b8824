import { expect, test } from "vitest";

import { findDiff, pairs, readDiff, lineText } from "../src/questions/unified";

const rows = (text: string) =>
  readDiff(text)!.hunks.flatMap((hunk) =>
    hunk.lines.map((line) => [line.kind, line.before, line.after, lineText(line)]),
  );

test("lines are numbered from the headings and counted", () => {
  const changes = readDiff(
    "--- a\n+++ a\n@@ -2,3 +2,4 @@\n one\n-two\n+deux\n+trois\n four\n@@ -20 +21 @@\n-x\n+y",
  )!;
  expect(changes).toMatchObject({ added: 3, removed: 2, cut: "" });
  expect(changes.hunks.map((hunk) => hunk.title)).toEqual(["Line 2", "Line 21"]);
  expect(rows(changes.text)).toEqual([
    ["same", 2, 2, "one"],
    ["removed", 3, null, "two"],
    ["added", null, 3, "deux"],
    ["added", null, 4, "trois"],
    ["same", 4, 5, "four"],
    ["removed", 20, null, "x"],
    ["added", null, 21, "y"],
  ]);
});

test("a new file begins at line 1", () => {
  const changes = readDiff("--- a\n+++ a\n@@ -0,0 +1 @@\n+new")!;
  expect(changes.hunks[0]).toMatchObject({ title: "Line 1", lines: [{ kind: "added", after: 1 }] });
});

test("lines that look like headings are lines, if the heading has counted them", () => {
  const text = "--- a\n+++ a\n@@ -1,3 +1,3 @@\n--- old\n-@@ -1 +1 @@\n+++ new\n+@@ -9 +9 @@\n … 3 more lines";
  expect(rows(text)).toEqual([
    ["removed", 1, null, "-- old"],
    ["removed", 2, null, "@@ -1 +1 @@"],
    ["added", null, 1, "++ new"],
    ["added", null, 2, "@@ -9 +9 @@"],
    ["same", 3, 3, "… 3 more lines"],
  ]);
});

test("a diff that was cut says so", () => {
  const changes = readDiff("--- a\n+++ a\n@@ -1,9 +1,9 @@\n-a\n+b\n… 1,204 more lines")!;
  expect(changes).toMatchObject({ added: 1, removed: 1, cut: "… 1,204 more lines" });
});

test("a note about the end of the file belongs to the line before it", () => {
  const [hunk] = readDiff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a")!.hunks;
  expect(hunk!.lines.map((line) => line.note)).toEqual(["No newline at end of file", ""]);
});

test("a fence is found, however long, and content cannot close it", () => {
  const found = findDiff(
    "Edit /a\n\n````diff\n@@ -1 +1 @@\n-```\n+```diff\n````\n\nThe agent's reason: because",
  )!;
  expect(found).toEqual({
    before: "Edit /a",
    text: "@@ -1 +1 @@\n-```\n+```diff",
    after: "The agent's reason: because",
  });
  expect(findDiff("no ```diff here")).toBeNull();
});

test("what is no diff is none", () => {
  for (const text of ["", "This changes nothing.", "--- a\n+++ b", "@@ nonsense @@\n+x", "+x"])
    expect(readDiff(text)).toBeNull();
});

test("what came in place of a line stands beside it", () => {
  const { hunks } = readDiff("@@ -1,3 +1,2 @@\n-a\n-b\n+c\n same\n")!;
  expect(pairs(hunks[0]!.lines).map((pair) => pair.map((line) => line && lineText(line)))).toEqual([
    ["a", "c"],
    ["b", null],
    ["same", "same"],
  ]);
});

test("words that differ are marked, in lines that are alike", () => {
  const marked = (text: string) => {
    const lines = readDiff(text)!.hunks[0]!.lines;
    return lines.map((line) => line.parts.filter((part) => part.marked).map((part) => part.text));
  };
  expect(marked("@@ -1 +1 @@\n-coils burnt the cable down\n+coils drove the cable down")).toEqual([
    ["burnt"],
    ["drove"],
  ]);
  expect(marked("@@ -1 +1 @@\n-one two three four\n+quite another sentence here")).toEqual([[], []]);
});

test("lines with too many differences are not compared to the end", () => {
  const [old, now] = ["a", "b"].map((letter) =>
    Array.from({ length: 200 }, (_, at) => `same ${letter}${at}`).join(" "),
  );
  const { hunks } = readDiff(`@@ -1 +1 @@\n-${old}\n+${now}`)!;
  expect(hunks[0]!.lines.flatMap((line) => line.parts).some((part) => part.marked)).toBe(false);
});
