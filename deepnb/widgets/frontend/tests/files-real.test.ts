/** Real folders: whatever is in them that a page cannot see or read, and whoever else uses them, nothing is lost. */

import { beforeEach, expect, test } from "vitest";

import { Carrier } from "../src/files/carrying";
import { add } from "../src/files/room/adding";
import { HalfDoneError } from "../src/files/room/notes";
import { openShelf } from "../src/files/shelf";
import type { Shelf, Transfers } from "../src/files/types";
import type { Mapping } from "../src/protocol";
import { DiskFolder } from "./files-disk";
import { FakeKernel, hashOf } from "./files-kernel";

let shelf: Shelf;
let disk: DiskFolder;

beforeEach(async () => {
  shelf = await openShelf("test");
  disk = new DiskFolder("disk", { "d/a.md": "a", "d/e/b.md": "b", "c.md": "c" });
  await shelf.openFolder(disk.asHandle());
});

const kindOf = (work: Promise<unknown>) => work.then(() => "done", (error) => error.kind);
const messageOf = (work: Promise<unknown>) => work.then(() => "done", (error) => error.message as string);
const ALL = { d: null, "d/a.md": "a", "d/e": null, "d/e/b.md": "b", "c.md": "c" };

test("a folder is deleted and had back, and moved, with all that is in it", async () => {
  const undo = await shelf.remove("/disk/d");
  expect(disk.dump()).toEqual({ "c.md": "c" });
  await undo();
  expect(disk.dump()).toEqual(ALL);
  await shelf.move("/disk/d", "/disk/x");
  expect(disk.dump()).toEqual({ "c.md": "c", x: null, "x/a.md": "a", "x/e": null, "x/e/b.md": "b" });
  await shelf.move("/disk/x", "/kept");
  expect(disk.dump()).toEqual({ "c.md": "c" });
  await shelf.move("/kept", "/disk/d");
  expect(disk.dump()).toEqual(ALL);
  expect(await kindOf(shelf.makeFolder("/disk"))).toBe("exists");
  expect(await kindOf(shelf.makeFolder("/disk/d"))).toBe("exists");
});

test.each(["d/.deepnb/record", "d/e/a\u202eb.md", "d/e/Icon\r"])("a folder with something unseen in it is neither deleted nor moved: %j", async (path) => {
  disk.put(path, "unseen");
  const before = disk.dump();
  expect(await messageOf(shelf.remove("/disk/d"))).toContain("Nothing was changed");
  expect(await kindOf(shelf.move("/disk/d", "/disk/x"))).toBe("denied");
  expect(await kindOf(shelf.move("/disk/d", "/kept"))).toBe("denied");
  expect(disk.dump()).toEqual(before);
  expect((await shelf.entries()).some(({ path: each }) => each.startsWith("/kept"))).toBe(false);
});

test("neither is one with something unreadable in it", async () => {
  disk.at("d/e/b.md").isLocked = true;
  expect(await messageOf(shelf.remove("/disk/d"))).toContain("e/b.md");
  expect(await kindOf(shelf.move("/disk/d", "/disk/x"))).toBe("denied");
  disk.at("d/e/b.md").isLocked = false;
  disk.folder("d/e").isLocked = true;
  expect(await kindOf(shelf.remove("/disk/d"))).toBe("denied");
  expect(disk.dump()).toEqual(ALL);
});

test("what comes into a folder while it is deleted stays, and so does all the rest", async () => {
  disk.folder("d").onRemove = () => disk.put("d/new.md", "new");
  expect(await kindOf(shelf.remove("/disk/d"))).toBe("changed");
  expect(disk.dump()).toEqual({ ...ALL, "d/new.md": "new" });
});

test("a file that is saved after it was set aside is not deleted", async () => {
  disk.folder("d/e").onRemove = () => disk.at("d/a.md").save("newer");
  expect(await kindOf(shelf.remove("/disk/d"))).toBe("changed");
  expect(disk.dump()).toEqual({ ...ALL, "d/a.md": "newer" });
});

test("a move that meets somebody else's file takes back only what it has made", async () => {
  disk.onMake = (name) => name === "x.md" && disk.put("x.md", "theirs");
  expect(await kindOf(shelf.move("/disk/c.md", "/disk/x.md"))).toBe("changed");
  expect(disk.dump()).toEqual({ ...ALL, "x.md": "theirs" });
  const last = disk.at("d/e/b.md");
  const listed = await last.getFile();
  const reads = [() => Promise.resolve(listed)];
  last.getFile = () => {
    const read = reads.pop();
    if (read) return read();
    disk.put("y/theirs.md", "theirs"); // into the folder that the move has made
    return Promise.reject(new DOMException("", "NotReadableError"));
  };
  expect(await kindOf(shelf.move("/disk/d", "/disk/y"))).toBe("other");
  expect(disk.dump()).toEqual({ ...ALL, "x.md": "theirs", y: null, "y/theirs.md": "theirs" });
});

test("a rename keeps no second copy", async () => {
  const stored: unknown[] = [];
  const { kept } = shelf as unknown as { kept: { discard: (...given: unknown[]) => unknown } };
  kept.discard = (...given) => stored.push(given);
  await shelf.move("/disk/c.md", "/disk/x.md");
  expect(stored).toEqual([]);
  expect(disk.dump()).toMatchObject({ "x.md": "c" });
});

test("another program's save in the middle of a write is not overwritten", async () => {
  const file = disk.at("c.md");
  file.onWritten = () => file.save("theirs");
  expect(await kindOf(shelf.write("/disk/c.md", new Blob(["mine"]), { expects: hashOf("c") }))).toBe("changed");
  expect(file.text).toBe("theirs");
  file.onWritten = () => undefined;
  await shelf.write("/disk/c.md", new Blob(["mine"]), { expects: hashOf("theirs") });
  expect(file.text).toBe("mine");
});

test("a write that fails leaves nothing, or what was there", async () => {
  const broken = new Blob(["mine"]);
  broken.text = () => Promise.reject(new DOMException("full", "QuotaExceededError"));
  broken.slice = () => broken;
  expect(await kindOf(shelf.write("/disk/new.md", broken))).toBe("full");
  expect(await kindOf(shelf.write("/disk/c.md", broken))).toBe("full");
  expect(disk.dump()).toEqual(ALL);
  disk.onMake = (name) => name === "new.md" && disk.put(name, "theirs");
  expect(await kindOf(shelf.write("/disk/new.md", broken))).toBe("changed");
  expect(disk.dump()).toEqual({ ...ALL, "new.md": "theirs" });
});

test("what cannot be read, or has a name that cannot be used, is a mapping's problem and not a deletion", async () => {
  const kernel = new FakeKernel();
  const mapping = { id: "m", browser: shelf.browser, source: "/disk", target: "/w", is_folder: true, mode: "sync" } as Mapping;
  kernel.mappings = [mapping];
  for (const [path, text] of Object.entries({ "d/a.md": "a", "d/e/b.md": "b", "c.md": "c" })) {
    kernel.put(`/w/${path}`, text);
    kernel.agreed.set(`m ${path}`, hashOf(text));
  }
  const carrier = new Carrier(kernel.page().client, shelf, null as unknown as Transfers);
  disk.at("c.md").isLocked = true;
  disk.folder("d/e").isLocked = true;
  disk.put("odd\u202e.md", "odd");
  const { steps, problems } = await carrier.compare(mapping);
  expect(steps).toEqual([]);
  expect(problems.toSorted()).toEqual([
    expect.stringContaining("“/disk/d/e” cannot be read"),
    expect.stringContaining("“/disk/c.md” cannot be read"),
    expect.stringContaining("“/disk/odd\ufffd.md” has a name that cannot be used"),
  ]);
  disk.inside.delete("c.md");
  expect((await carrier.compare(mapping)).steps).toMatchObject([{ path: "c.md", do: "gone_here" }]);
});

test("a replacement that stops half way can still be undone", async () => {
  await shelf.write("/a.md", new Blob(["old a"]));
  const paths = new Set(["/a.md", "/disk/c.md", "/disk/d"]);
  const arrived = [...paths].map((path) => ({ path, blob: new Blob(["new"]), isRenamed: false, isLitter: false }));
  disk.onRemove = () => expect.unreachable("at no moment is there nothing");
  const problem = await add({ shelf, transfers: null as unknown as Transfers }, arrived, paths, true, () => undefined).catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(HalfDoneError);
  expect([await (await shelf.read("/a.md")).text(), disk.at("c.md").text]).toEqual(["new", "new"]);
  await (problem as HalfDoneError).undo();
  expect([await (await shelf.read("/a.md")).text(), disk.at("c.md").text]).toEqual(["old a", "c"]);
});

test.each(["/a.md", "/disk/c.md"])("what the workspace's has replaced can be had back, and that undone: %s", async (path) => {
  const write = (text: string, keepsEarlier = true) => shelf.write(path, new Blob([text]), { keepsEarlier });
  const now = async () => {
    const entry = (await shelf.entries()).find((each) => each.path === path);
    return [await (await shelf.read(path)).text(), entry?.hasEarlier ?? false];
  };
  await write("one", false);
  expect(await now()).toEqual(["one", false]);
  await write("two");
  await write("three");
  expect(await now()).toEqual(["three", true]);
  for (const text of ["two", "three"]) {
    await shelf.bringBack(path);
    expect(await now()).toEqual([text, true]);
  }
  await shelf.forget();
  await expect(shelf.bringBack(path)).rejects.toThrow("cannot be undone any more");
});

test("what is forgotten is gone for good, real folders stay as they are, and the store is another one", async () => {
  await shelf.write("/a.md", new Blob(["a"]));
  await shelf.write("/b.md", new Blob(["b"]));
  const undo = await shelf.remove("/b.md");
  const before = shelf.browser;
  await shelf.forget();
  expect([await shelf.entries(), await shelf.folders()]).toEqual([[], []]);
  expect(shelf.browser).not.toBe(before);
  expect(disk.at("c.md").text).toBe("c");
  await expect(undo()).rejects.toThrow("cannot be undone any more");
});
