import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { RefusedError } from "../src/client";
import { StepKeeper } from "../src/files/sync";
import { FileTransfers } from "../src/files/transfers";
import type { Choice, Conflict } from "../src/files/types";
import { KernelWorkspace } from "../src/files/workspace";
import type { Mapping } from "../src/protocol";
import { FakeKernel, FakeShelf, hashOf, until } from "./files-kernel";

let kernel: FakeKernel;
let shelf: FakeShelf;
let closing: (() => void)[];

beforeEach(() => {
  kernel = new FakeKernel();
  shelf = new FakeShelf();
  closing = [];
});
afterEach(() => {
  for (const close of closing) close();
});

function open(view = "one", own = shelf) {
  const page = kernel.page(view);
  const workspace = new KernelWorkspace(page);
  const transfers = new FileTransfers(page.client, own, workspace);
  const sync = new StepKeeper(page, own, transfers);
  closing.push(() => sync.close(), () => transfers.close(), () => workspace.close());
  return { page, sync, transfers };
}

const FOLDER = { source: "/notes", target: "/papers", is_folder: true, mode: "sync" } as const;

async function mapped(fields: Pick<Mapping, "source" | "target" | "is_folder" | "mode"> = FOLDER) {
  const { sync, ...rest } = open();
  const mapping = await sync.map(fields);
  await sync.run();
  return { sync, mapping, ...rest };
}

/** Has both sides agree on "/notes/a.md" first, and then be changed. */
async function conflicting(change: () => void | Promise<unknown>) {
  shelf.put("/notes/a.md", "first");
  const opened = await mapped();
  expect(kernel.text("/papers/a.md")).toBe("first");
  await change();
  await opened.sync.run();
  return { ...opened, conflict: opened.sync.conflicts[0]! };
}

function everything(): Record<string, string> {
  const here = [...shelf.kept.keys()].map((path) => [`here${path}`, shelf.text(path)!] as const);
  const there = [...kernel.files.keys()].map((path) => [`there${path}`, kernel.text(path)!] as const);
  return Object.fromEntries([...here, ...there].sort());
}

describe("a mapped folder", () => {
  it("is brought into step both ways, and then asks for nothing more", async () => {
    shelf.put("/notes/a.md", "mine");
    shelf.put("/notes/deep/b.md", "mine too");
    shelf.put("/elsewhere.md", "private");
    kernel.put("/papers/c.md", "theirs");
    const { sync, mapping } = await mapped();
    expect(everything()).toEqual({
      "here/elsewhere.md": "private",
      "here/notes/a.md": "mine", "here/notes/deep/b.md": "mine too", "here/notes/c.md": "theirs",
      "there/papers/a.md": "mine", "there/papers/deep/b.md": "mine too", "there/papers/c.md": "theirs",
    });
    // Said at once: else a change of the reader's before the next look would be a conflict.
    expect(kernel.asked.filter(({ type }) => type === "agree_file").map(({ fields }) => fields["path"])).toEqual(["c.md"]);
    await sync.run();
    expect(sync.standing(mapping.id)).toMatchObject({ state: "in step", problem: "", files: 3 });
    const before = kernel.count("send_files");
    await sync.run();
    expect(kernel.count("send_files")).toBe(before);
  });

  it("follows changes of either side by itself", async () => {
    shelf.put("/notes/a.md", "first");
    await mapped();
    shelf.put("/notes/a.md", "second");
    await until(() => kernel.text("/papers/a.md") === "second");
    kernel.put("/papers/a.md", "third");
    await until(() => shelf.text("/notes/a.md") === "third");
  });

  it("of another browser is left alone", async () => {
    shelf.put("/notes/a.md", "mine");
    const { mapping } = await mapped();
    const { sync } = open("two", new FakeShelf("another"));
    await sync.run();
    expect(sync.standing(mapping.id)).toMatchObject({ state: "elsewhere" });
    expect(sync.conflicts).toEqual([]);
    expect(kernel.text("/papers/a.md")).toBe("mine");
  });

  it("is not followed any more once it is unmapped, and both sides keep their files", async () => {
    shelf.put("/notes/a.md", "mine");
    const { sync, mapping } = await mapped();
    await sync.unmap(mapping.id);
    await sync.run();
    expect([sync.mappings, sync.standing(mapping.id)]).toEqual([[], undefined]);
    expect(everything()).toEqual({ "here/notes/a.md": "mine", "there/papers/a.md": "mine" });
  });

  it("whose one file cannot be sent brings the others into step, and tells", async () => {
    shelf.put("/notes/a.md", "bad");
    shelf.put("/notes/b.md", "good");
    kernel.before = (type, fields) => {
      if (type === "send_file" && String(fields["path"]).endsWith("a.md")) throw new RefusedError("PathError", "Not this name.");
    };
    const { sync, mapping } = await mapped();
    expect(kernel.text("/papers/b.md")).toBe("good");
    expect(sync.standing(mapping.id)).toMatchObject({ state: "failed", problem: expect.stringContaining("Not this name.") });
    const tries = () => JSON.stringify(kernel.asked.map(({ fields }) => fields["files"])).split('papers/a.md"').length;
    const before = tries();
    shelf.put("/notes/c.md", "new");
    await until(() => kernel.text("/papers/c.md") === "new");
    expect(tries()).toBe(before); // it is not tried again until the reader says so
    kernel.before = () => {};
    await sync.run();
    await until(() => sync.standing(mapping.id)?.state === "in step");
    expect(kernel.text("/papers/a.md")).toBe("bad");
  });

  it("whose one file cannot be read does not take it for deleted", async () => {
    shelf.put("/notes/a.md", "first");
    const { sync, mapping } = await mapped();
    shelf.unreadable.add("/notes/a.md");
    await sync.run();
    expect(sync.conflicts).toEqual([]);
    expect(sync.standing(mapping.id)).toMatchObject({ state: "failed", problem: expect.stringContaining("The disk says no.") });
  });

  it("waits for the kernel, and goes on when it is back", async () => {
    shelf.put("/notes/a.md", "first");
    const { sync, mapping, page } = await mapped();
    page.cut();
    shelf.put("/notes/a.md", "second");
    await until(() => sync.standing(mapping.id)?.state === "waiting");
    expect(kernel.text("/papers/a.md")).toBe("first");
    page.reconnect();
    await until(() => kernel.text("/papers/a.md") === "second");
    await until(() => sync.standing(mapping.id)?.state === "in step");
  });

  it("that is a real folder the browser wants a click for waits, and nothing looks deleted", async () => {
    shelf.real = [{ name: "notes", state: "open" }];
    shelf.put("/notes/a.md", "first");
    const { sync, mapping } = await mapped();
    shelf.kept.clear();
    shelf.real = [{ name: "notes", state: "ask" }];
    await sync.run();
    expect(sync.conflicts).toEqual([]);
    expect(sync.standing(mapping.id)).toMatchObject({ state: "waiting", problem: expect.stringContaining("Open again") });
    expect(kernel.text("/papers/a.md")).toBe("first");
  });

  it("takes up where a page has left off that was closed in the middle", async () => {
    for (let number = 0; number < 20; number += 1) shelf.put(`/notes/${number}.md`, `note ${number}`);
    const first = open("one");
    await first.sync.map(FOLDER);
    await until(() => kernel.files.size > 3);
    first.sync.close();
    first.transfers.close();
    kernel.claims.clear(); // as they expire
    await open("two").sync.run();
    expect(kernel.files.size).toBe(20);
  });
});

describe("a copy of a folder", () => {
  const COPY = { ...FOLDER, mode: "copy" } as const;

  it("is made once: what is added later stays here, also if the reader asks for it or loads the page anew", async () => {
    shelf.put("/notes/a.md", "mine");
    const { sync, mapping } = await mapped(COPY);
    await until(() => kernel.mappings[0]!.done);
    const compared = kernel.count("compare_files");
    shelf.put("/notes/private.md", "added later");
    await sync.run(mapping.id);
    const again = open("two");
    await again.sync.run();
    expect([sync, again.sync].map((each) => each.standing(mapping.id)?.state)).toEqual(["copied", "copied"]);
    expect(everything()).toEqual({ "here/notes/a.md": "mine", "here/notes/private.md": "added later", "there/papers/a.md": "mine" });
    expect(kernel.count("compare_files")).toBe(compared);
  });

  it("is done when the last conflict is decided, and sends nothing new until then", async () => {
    shelf.put("/notes/a.md", "mine");
    shelf.put("/notes/b.md", "mine");
    kernel.put("/papers/a.md", "theirs");
    const { sync, mapping } = await mapped(COPY);
    expect(sync.conflicts).toMatchObject([{ path: "a.md", kind: "conflict" }]);
    shelf.put("/notes/private.md", "added later");
    await sync.run();
    expect([...kernel.files.keys()].sort()).toEqual(["/papers/a.md", "/papers/b.md"]);
    expect(kernel.count("finish_copy")).toBe(0);
    await sync.decide(sync.conflicts[0]!, "both");
    await sync.run();
    await until(() => kernel.mappings[0]!.done);
    expect(sync.standing(mapping.id)).toMatchObject({ state: "copied" });
    expect(Object.fromEntries([...kernel.files.keys()].sort().map((path) => [path, kernel.text(path)]))).toEqual({
      "/papers/a (theirs).md": "theirs", "/papers/a.md": "mine", "/papers/b.md": "mine",
    });
  });

  it("is not done as long as one of its files has failed", async () => {
    shelf.put("/notes/a.md", "mine");
    kernel.before = (type) => {
      if (type === "send_file") throw new RefusedError("PathError", "Not this name.");
    };
    const { sync, mapping } = await mapped(COPY);
    expect(sync.standing(mapping.id)).toMatchObject({ state: "failed" });
    expect(kernel.mappings[0]!.done).toBe(false);
    kernel.before = () => {};
    await sync.run();
    expect(kernel.mappings[0]!.done).toBe(true);
    expect(kernel.text("/papers/a.md")).toBe("mine");
  });
});

describe("a mapped file", () => {
  it("is kept in step by itself", async () => {
    shelf.put("/a.csv", "1");
    shelf.put("/a.csv.old", "0");
    await mapped({ source: "/a.csv", target: "/data/a.csv", is_folder: false, mode: "sync" });
    expect([...kernel.files.keys()]).toEqual(["/data/a.csv"]);
  });

  it("that is copied once is not followed", async () => {
    shelf.put("/a.csv", "1");
    const { sync, mapping } = await mapped({ source: "/a.csv", target: "/a.csv", is_folder: false, mode: "copy" });
    expect(kernel.text("/a.csv")).toBe("1");
    shelf.put("/a.csv", "2");
    await sync.run();
    expect(kernel.text("/a.csv")).toBe("1");
    expect(sync.standing(mapping.id)).toMatchObject({ state: "copied" });
  });

  it("of which both are kept is on both sides afterwards", async () => {
    shelf.put("/a.csv", "1");
    const { sync } = await mapped({ source: "/a.csv", target: "/data/a.csv", is_folder: false, mode: "sync" });
    shelf.put("/a.csv", "mine");
    kernel.put("/data/a.csv", "theirs");
    await sync.run();
    await sync.decide(sync.conflicts[0]!, "both");
    expect(everything()).toEqual({
      "here/a.csv": "mine", "here/a (theirs).csv": "theirs",
      "there/data/a.csv": "mine", "there/data/a (theirs).csv": "theirs",
    });
  });
});

describe("a conflict", () => {
  const both = () => {
    shelf.put("/notes/a.md", "mine");
    kernel.put("/papers/a.md", "theirs");
  };

  it("is shown, and nothing is done", async () => {
    const { conflict, sync, mapping } = await conflicting(both);
    expect(conflict).toMatchObject({ path: "a.md", kind: "conflict", here: hashOf("mine"), there: hashOf("theirs"), agreed: hashOf("first") });
    expect(sync.standing(mapping.id)).toMatchObject({ state: "conflict" });
    expect(everything()).toEqual({ "here/notes/a.md": "mine", "there/papers/a.md": "theirs" });
  });

  it.each<[Choice, Record<string, string>]>([
    ["mine", { "here/notes/a.md": "mine", "there/papers/a.md": "mine" }],
    ["theirs", { "here/notes/a.md": "theirs", "there/papers/a.md": "theirs" }],
    ["both", {
      "here/notes/a.md": "mine", "here/notes/a (theirs).md": "theirs",
      "there/papers/a.md": "mine", "there/papers/a (theirs).md": "theirs",
    }],
  ])("is settled by keeping %s", async (choice, after) => {
    const { conflict, sync, mapping } = await conflicting(both);
    await sync.decide(conflict, choice);
    await sync.run();
    expect(everything()).toEqual(Object.fromEntries(Object.entries(after).sort()));
    expect(sync.conflicts).toEqual([]);
    expect(sync.standing(mapping.id)).toMatchObject({ state: "in step" });
  });

  it.each<Choice>(["mine", "theirs", "both"])("that has changed meanwhile is shown again instead of keeping %s", async (choice) => {
    const { conflict, sync } = await conflicting(both);
    kernel.put("/papers/a.md", "theirs, later");
    await expect(sync.decide(conflict, choice)).rejects.toMatchObject({ kind: "changed" });
    expect(everything()).toEqual({ "here/notes/a.md": "mine", "there/papers/a.md": "theirs, later" });
    expect(sync.conflicts[0]).toMatchObject({ there: hashOf("theirs, later") });
  });

  it("that changes in the very moment of the decision loses nothing", async () => {
    const { conflict, sync } = await conflicting(both);
    kernel.before = (type) => void (type === "send_file" && kernel.put("/papers/a.md", "theirs, later"));
    await expect(sync.decide(conflict, "mine")).rejects.toMatchObject({ kind: "changed" });
    expect(kernel.text("/papers/a.md")).toBe("theirs, later");
  });
});

describe("a deletion", () => {
  it.each<["gone_here" | "gone_there", Choice, Record<string, string>]>([
    ["gone_here", "mine", {}],
    ["gone_here", "theirs", { "here/notes/a.md": "first", "there/papers/a.md": "first" }],
    ["gone_there", "theirs", {}],
    ["gone_there", "mine", { "here/notes/a.md": "first", "there/papers/a.md": "first" }],
  ])("(%s) is proposed, and settled by keeping %s", async (kind, choice, after) => {
    const { conflict, sync, mapping } = await conflicting(() =>
      kind === "gone_here" ? shelf.remove("/notes/a.md") : (kernel.files.delete("/papers/a.md"), undefined),
    );
    expect(conflict.kind).toBe(kind);
    expect(Object.keys(everything()).length).toBe(1);
    await sync.decide(conflict, choice);
    expect(sync.conflicts).toEqual([]);
    await sync.run();
    expect(everything()).toEqual(after);
    expect(sync.conflicts).toEqual([]);
    expect(sync.standing(mapping.id)).toMatchObject({ state: "in step" });
    if (kind === "gone_here" && choice === "mine") expect(kernel.trash.size).toBe(1);
  });

  it.each<["gone_here" | "gone_there", Choice]>([["gone_here", "mine"], ["gone_there", "theirs"]])("(%s) that was accepted can be undone, and is asked about again", async (kind, choice) => {
    const { conflict, sync } = await conflicting(() =>
      kind === "gone_here" ? shelf.remove("/notes/a.md") : (kernel.files.delete("/papers/a.md"), undefined),
    );
    const before = everything();
    const undo = await sync.decide(conflict, choice);
    await sync.run();
    expect(everything()).toEqual({});
    await undo!();
    await sync.run();
    expect(everything()).toEqual(before);
    expect(sync.conflicts).toMatchObject([{ kind, agreed: hashOf("first") }]);
  });

  it("is not carried on to a file that changes in the very moment", async () => {
    const { conflict, sync } = await conflicting(() => shelf.remove("/notes/a.md"));
    kernel.before = (type) => void (type === "delete_file" && kernel.put("/papers/a.md", "worked on"));
    await expect(sync.decide(conflict, "mine")).rejects.toMatchObject({ kind: "ChangedError" });
    expect(kernel.text("/papers/a.md")).toBe("worked on");
  });

  it("is not carried on to a file that has changed meanwhile", async () => {
    const { conflict, sync } = await conflicting(() => shelf.remove("/notes/a.md"));
    kernel.put("/papers/a.md", "worked on");
    await expect(sync.decide(conflict, "mine")).rejects.toMatchObject({ kind: "changed" });
    expect(kernel.text("/papers/a.md")).toBe("worked on");
    expect(sync.conflicts).toMatchObject([{ kind: "gone_here", there: hashOf("worked on") } satisfies Partial<Conflict>]);
  });
});

describe("two pages", () => {
  it("do not both send, and both show what is to be decided", async () => {
    for (let number = 0; number < 5; number += 1) shelf.put(`/notes/${number}.md`, `note ${number}`);
    const one = open("one");
    const two = open("two");
    await one.sync.map(FOLDER);
    await Promise.all([one.sync.run(), two.sync.run()]);
    await until(() => kernel.files.size === 5);
    expect(new Set(kernel.asked.filter(({ type }) => type === "send_files").map(({ view }) => view))).toEqual(new Set(["one"]));
    shelf.put("/notes/0.md", "mine");
    kernel.put("/papers/0.md", "theirs");
    await Promise.all([one.sync.run(), two.sync.run()]);
    expect(two.sync.conflicts).toMatchObject([{ path: "0.md" }]);
    await two.sync.decide(two.sync.conflicts[0]!, "theirs");
    await one.sync.run();
    expect(one.sync.conflicts).toEqual([]);
    expect(shelf.text("/notes/0.md")).toBe("theirs");
  });

  it("go on for each other when one is closed", async () => {
    shelf.put("/notes/a.md", "first");
    const one = open("one");
    await one.sync.map(FOLDER);
    await one.sync.run();
    one.sync.close();
    const two = open("two");
    shelf.put("/notes/a.md", "second");
    await two.sync.run();
    expect(kernel.text("/papers/a.md")).toBe("first"); // as long as it is not known that the other is gone
    kernel.claims.clear();
    await two.sync.run();
    expect(kernel.text("/papers/a.md")).toBe("second");
  });
});
