/** What a write would change in the reader's files, and whether it is still what the reader has seen. */

import { expect, it } from "vitest";

import { Previews } from "../src/files/previews";
import { FakeShelf, hashOf } from "./files-kernel";

async function shelfWith(files: Record<string, string>) {
  const shelf = new FakeShelf();
  for (const [path, text] of Object.entries(files)) await shelf.write(path, new Blob([text]));
  return { shelf, previews: new Previews(shelf) };
}

const WRITE = { file_path: "/files/a.md", content: "one\nthree\n" };

it("shows a write as a diff against what is there", async () => {
  const { previews } = await shelfWith({ "/a.md": "one\ntwo\n" });
  const shown = await previews.describe("write_file", WRITE);
  expect(shown).toContain("Replace /files/a.md");
  expect(shown).toContain("-two\n+three");
  expect(shown).not.toContain("-one");
});

it("tells a new file from one that is replaced, and an edit from both", async () => {
  const { previews } = await shelfWith({ "/a.md": "one\ntwo\n" });
  expect(await previews.describe("write_file", { ...WRITE, file_path: "/files/b.md" })).toMatch(/^Create \/files\/b.md/);
  const edit = { file_id: "/files/a.md", search: "two", replace: "2" };
  expect(await previews.describe("patch_file", edit)).toMatch(/^Edit [^]*-two\n\+2/);
});

it("has nothing to say about files that are not the reader's", async () => {
  const { previews } = await shelfWith({});
  expect(await previews.describe("write_file", { ...WRITE, file_path: "/workspace/a.md" })).toBeNull();
  expect(await previews.describe("send_mail", { to: "x" })).toBeNull();
});

const CALL = { path: "/a.md", content: WRITE.content };

it("expects of a write what was there when the reader saw it last, in whatever tab that was", async () => {
  const { shelf, previews } = await shelfWith({ "/a.md": "one\ntwo\n" });
  await previews.describe("write_file", WRITE);
  await shelf.write("/a.md", new Blob(["mine"]));
  const another = new Previews(shelf);
  expect(await another.expected("write_file", CALL)).toBe(hashOf("one\ntwo\n"));
  await previews.describe("write_file", WRITE);
  expect(await another.expected("write_file", CALL)).toBe(hashOf("mine"));
  expect(await another.expected("write_file", { ...CALL, content: "never shown" })).toBeUndefined();
});

it.each(["/files//a.md", "files/a.md", "//files/./a.md"])("knows a file by its path, also if that is written as %s", async (path) => {
  const { previews } = await shelfWith({});
  expect(await previews.describe("write_file", { ...WRITE, file_path: path })).toMatch(/^Create \/files\/a.md/);
  expect(await previews.expected("write_file", { ...CALL, path: "//a.md" })).toBe("");
});

it("says nothing about a path that leads nowhere", async () => {
  const { previews } = await shelfWith({});
  expect(await previews.describe("write_file", { ...WRITE, file_path: "/files/../a.md" })).toBeNull();
  expect(await previews.describe("write_file", { ...WRITE, file_path: "/files" })).toBeNull();
});

it("does not hold a diff against a later write of the same kind, which was approved without one", async () => {
  const { previews } = await shelfWith({ "/a.md": "one\ntwo\n" });
  await previews.describe("write_file", WRITE);
  await previews.forget("write_file", CALL);
  expect(await previews.expected("write_file", CALL)).toBeUndefined();
});

it("remembers the last fifty, however many are shown", async () => {
  const { previews } = await shelfWith({});
  const nth = (number: number) => ({ ...WRITE, content: `${number}` });
  for (let number = 0; number <= 50; number += 1) await previews.describe("write_file", nth(number));
  expect(await previews.expected("write_file", nth(0))).toBeUndefined();
  expect(await previews.expected("write_file", nth(1))).toBe("");
});

it("cannot be closed by what it quotes", async () => {
  const { previews } = await shelfWith({ "/a.md": "````\n" });
  const shown = await previews.describe("write_file", WRITE);
  expect(shown).toMatch(/^`{5}diff$/m);
});
