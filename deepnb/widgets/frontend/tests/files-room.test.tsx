// @vitest-environment happy-dom
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { privacyOf, rowOf, rowsOf } from "../src/files/room/disclosed";
import { FilesRoom } from "../src/files/room/FilesRoom";
import { bytes } from "../src/files/room/kinds";
import { lookAt, notebookOf, separated, textOf } from "../src/files/room/looks";
import { leavesOf } from "../src/files/room/MapDialog";
import { Branches, filesIn, fitting, kept, ofWorkspace, type Item } from "../src/files/room/nodes";
import { progressOf } from "../src/files/room/TransferList";
import type { Choice, Conflict, Entry, Files, Standing, Transfer, Undo } from "../src/files/types";
import type { Disclosure } from "../src/model";
import type { Mapping } from "../src/protocol";
import { panel } from "./app";

const entry = (path: string, size = 10, isDir = false): Entry => ({ path, isDir, size, modified: 1, folder: "" });
const item = (path: string, size = 10, isDir = false): Item => ({ path, isDir, size, modified: 1 });
const MAPPING: Mapping = { id: "m", browser: "b", source: "/notes", target: "/notes", is_folder: true, mode: "sync", done: false };

/** A shelf and a workspace in memory, as far as the room has to do with them. */
function made(change: { entries?: Entry[]; conflicts?: Conflict[]; mappings?: Mapping[]; state?: Standing["state"] } = {}) {
  let entries = change.entries ?? [entry("/notes", 0, true), entry("/notes/a.md"), entry("/notes/b.md"), entry("/data.csv"), entry("/zebra.png")];
  const listeners = new Set<() => void>();
  const set = (next: Entry[]) => ((entries = next), listeners.forEach((tell) => tell()));
  const silent = { subscribe: () => () => {} };
  const shelf = {
    browser: "b",
    trouble: "",
    entries: async () => entries,
    folders: async () => [],
    subscribe: (tell: () => void) => (listeners.add(tell), () => listeners.delete(tell)),
    read: async () => new Blob(["line one\nmine\n"]),
    hash: async () => "",
    write: vi.fn(async (path: string, blob: Blob) => (set([...entries, entry(path, blob.size)]), entry(path, blob.size))),
    move: vi.fn(async (path: string, to: string) => set(entries.map((each) => (each.path === path ? { ...each, path: to } : each)))),
    remove: vi.fn(async (path: string) => {
      const before = entries;
      set(entries.filter((each) => each.path !== path));
      return async () => set(before);
    }),
    makeFolder: vi.fn(async () => {}),
    forget: vi.fn(async () => set([])),
  };
  const theirs = new Blob(["line one\ntheirs\n"]);
  const files = {
    shelf,
    workspace: { ...silent, files: [], truncated: false, problem: "", head: async () => ({ content: theirs, size: theirs.size }), refresh: async () => {} },
    transfers: { ...silent, list: [] },
    sync: {
      ...silent,
      mappings: change.mappings ?? [],
      conflicts: change.conflicts ?? [],
      standing: () => ({ state: change.state ?? "in step", problem: "", at: 0, files: 1 }),
      decide: vi.fn(async (_conflict: Conflict, _choice: Choice): Promise<Undo | null> => null),
      map: vi.fn(async () => MAPPING),
      unmap: vi.fn(async () => {}),
    },
    serving: { ...silent, waiting: [] },
    close: () => {},
  };
  return files as typeof files & Files;
}

async function shown(files: Files, more: Parameters<typeof panel>[0] = {}) {
  const view = panel({ disclosures: [], ...more });
  view.show(<FilesRoom files={files} />);
  await settle();
  return view;
}
/** Until the room has read the files again: by turns, of which a busy machine has as many as any, only later. */
const settle = () =>
  act(async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((done) => setTimeout(done, 5));
  });
/** Waits for what comes by itself, also on a busy machine. */
const soon = (check: () => void) => vi.waitFor(check, 10_000);
const names = () => [...document.querySelectorAll("[data-home=mine] [role=treeitem]")].map((row) => (row as HTMLElement).dataset.path);
const focused = () => (document.activeElement as HTMLElement).dataset.path;
const key = async (name: string, options: KeyboardEventInit = {}) => {
  await act(async () => void document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...options })));
  await settle();
};

beforeEach(() => {
  vi.useRealTimers();
  vi.spyOn(performance, "now").mockReturnValue(0); // the room rests as long as it takes to read, which is then no time
});
afterEach(() => document.body.replaceChildren());

test("a tree is walked with keys, and opens and closes", async () => {
  const { find } = await shown(made());
  expect(names()).toEqual(["/notes", "/notes/a.md", "/notes/b.md", "/data.csv", "/zebra.png"]);
  find("[data-path='/notes']").focus();
  await key("ArrowRight");
  expect(focused()).toBe("/notes/a.md");
  await key("End");
  expect(focused()).toBe("/zebra.png");
  await key("Home");
  await key("ArrowLeft");
  expect(names()).toEqual(["/notes", "/data.csv", "/zebra.png"]);
  expect(find("[data-path='/notes']").getAttribute("aria-expanded")).toBe("false");
  await key("z");
  expect(focused()).toBe("/zebra.png");
  expect(document.querySelectorAll("[data-home=mine] [role=treeitem][tabindex='0']")).toHaveLength(1);
});

test("keys mean the row that has the focus, whatever was chosen before", async () => {
  const files = made();
  const { find, click } = await shown(files);
  await click(find("[data-path='/data.csv']"));
  find("[data-path='/zebra.png']").focus();
  await key("Delete");
  expect(files.shelf.remove).toHaveBeenCalledExactlyOnceWith("/zebra.png");
});

test("of ten thousand files only those in sight are in the page", async () => {
  const many = Array.from({ length: 10_000 }, (_, number) => entry(`/f${number}.txt`));
  await shown(made({ entries: many }));
  expect(names().length).toBeLessThan(100);
  expect(document.querySelector("[data-home=mine] [role=treeitem]")!.getAttribute("aria-setsize")).toBe("10000");
});

test("what is deleted is announced and comes back", async () => {
  const { find, click } = await shown(made());
  find("[data-path='/data.csv']").focus();
  await key("Delete");
  await soon(() => expect(names()).not.toContain("/data.csv"));
  expect(find(".dn-files-notes[role=status]").textContent).toContain("Deleted data.csv.");
  await click(find("button", "Undo"));
  await soon(() => expect(names()).toContain("/data.csv"));
});

test("what can be undone stays, the last few of it, also after a look at another tab", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const wait = (time: number) => act(async () => void (await vi.advanceTimersByTimeAsync(time)));
  const files = made();
  const view = panel({ disclosures: [] });
  view.show(<FilesRoom files={files} />);
  await wait(100);
  const told = () => [...document.querySelectorAll(".dn-files-notes .dn-grow")].map((each) => each.textContent);
  for (const path of ["/zebra.png", "/data.csv", "/notes/b.md", "/notes/a.md"]) {
    view.find(`[data-path='${path}']`).focus();
    await act(async () => void document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key: "Delete", bubbles: true })));
    await wait(100);
  }
  await wait(60_000);
  const last = ["Deleted data.csv.", "Deleted b.md.", "Deleted a.md."];
  expect(told()).toEqual(last);
  view.show(<p />);
  view.show(<FilesRoom files={files} />);
  await wait(100);
  expect(told()).toEqual(last);
});

test("F2 changes a name, Escape leaves it, and a name is no place", async () => {
  const files = made();
  const { find, type } = await shown(files);
  find("[data-path='/data.csv']").focus();
  await key("F2");
  await type(find(".dn-rename"), "never.csv");
  await key("Escape");
  expect(files.shelf.move).not.toHaveBeenCalled();
  await key("F2");
  await type(find(".dn-rename"), "costs.csv");
  await key("Enter");
  expect(files.shelf.move).toHaveBeenCalledExactlyOnceWith("/data.csv", "/costs.csv");
  find("[data-path='/costs.csv']").focus();
  await key("F2");
  await type(find(".dn-rename"), "../elsewhere");
  await key("Enter");
  expect(files.shelf.move).toHaveBeenCalledOnce();
  expect(find("[role=alert]").textContent).toContain("no slash");
});

test("a filter keeps the folders that lead to what fits", async () => {
  const { find, click, type } = await shown(made());
  await click(find("button", "Filter My computer"));
  await type(find("[data-home=mine] [type=search]"), "B.MD");
  expect(names()).toEqual(["/notes", "/notes/b.md"]);
  const items = [item("/a", 0, true), item("/a/x.png"), item("/y.ipynb"), item("/z")];
  expect(fitting(items, { name: "", kind: "image" }).items.map(({ path }) => path)).toEqual(["/a", "/a/x.png"]);
  expect(fitting(items, { name: "", kind: "other" }).count).toBe(1);
});

test("names with markup or marks of direction are shown as what they are", async () => {
  const { root } = await shown(made({ entries: [entry("/<img src=x onerror=alert(1)>.md"), entry("/a\u202egnp.exe"), entry(`/${"é".repeat(127)}`)] }));
  expect(root.querySelector("img")).toBeNull();
  expect(root.innerHTML).not.toMatch(/>[^<]*\u202e/);
  expect(root.querySelector("bdi")!.textContent).toContain("<img src=x");
  expect(root.textContent).toContain("a\\u202egnp.exe");
});

const clash = (path: string, more: Partial<Conflict> = {}): Conflict => ({ mapping: MAPPING, path, kind: "conflict", here: "1", there: "2", agreed: "3", ...more });
const GONE_HERE = { kind: "gone_here", here: "", there: "3" } as const;

test("each button of a conflict carries the conflict it was drawn for", async () => {
  const conflicts = [clash("a.md"), clash("b.md"), clash("c.md", GONE_HERE), clash("d.md", GONE_HERE), clash("e.md", { kind: "gone_there", here: "3", there: "" })];
  const files = made({ conflicts, mappings: [MAPPING] });
  const { find, click } = await shown(files);
  await soon(() => expect(find("[aria-label='Conflict in notes/a.md']").textContent).toContain("theirs"));
  await click(find("[aria-label='Conflict in notes/b.md'] button", "Keep theirs"));
  expect(files.sync.decide.mock.calls).toEqual([[conflicts[1], "theirs"]]);
  await click(find("[aria-label='Deleted in My computer'] button", "Delete them in the workspace too"));
  expect(files.sync.decide.mock.calls.slice(1)).toEqual([[conflicts[2], "mine"], [conflicts[3], "mine"]]);
  await click(find("[aria-label='Deleted in the workspace'] button", "Send it again"));
  expect(files.sync.decide.mock.calls.at(-1)).toEqual([conflicts[4], "mine"]);
  expect(find("[data-path='/notes']").getAttribute("aria-label")).toContain("conflict");
});

test("a folder in which something was only deleted is to be decided about, and not in conflict", async () => {
  const { find } = await shown(made({ conflicts: [clash("a.md", GONE_HERE)], mappings: [MAPPING], state: "conflict" }));
  expect(find("[data-path='/notes']").getAttribute("aria-label")).toBe("notes, to decide");
});

test("a file that is looked at gives way to what is to be decided", async () => {
  const { find, click } = await shown(made({ conflicts: [clash("a.md"), clash("b.md", GONE_HERE)], mappings: [MAPPING] }));
  await click(find("[data-path='/data.csv']"));
  expect(find(".dn-files-front").textContent).toMatch(/^2 files wait for your decision/);
  await click(find("button", "Decide"));
  expect(document.querySelector(".dn-look")).toBeNull();
  await soon(() => expect(document.activeElement!.closest(".dn-clash")).not.toBeNull());
});

test("what was deleted on one side and changed on the other is decided by itself, with what would be lost in sight", async () => {
  const changed = clash("a.md", { ...GONE_HERE, there: "4" });
  const files = made({ conflicts: [clash("b.md", GONE_HERE), changed], mappings: [MAPPING] });
  const { find, click } = await shown(files);
  expect(find("[aria-label='Deleted in My computer']").textContent).toContain("1 file was deleted");
  const card = find("[aria-label='Conflict in notes/a.md']");
  expect(card.textContent).toContain("You deleted it; in the workspace it was changed");
  await soon(() => expect(card.textContent).toContain("theirs"));
  await click(find("[aria-label='Conflict in notes/a.md'] button", "Delete theirs too"));
  expect(files.sync.decide.mock.calls).toEqual([[changed, "mine"]]);
});

test("a deletion that was accepted can be undone, all of it", async () => {
  const files = made({ conflicts: [clash("a.md", GONE_HERE), clash("b.md", GONE_HERE), clash("c.md", GONE_HERE)], mappings: [MAPPING] });
  const undone: string[] = [];
  files.sync.decide.mockImplementation(async ({ path }: Conflict) => {
    if (path === "c.md") throw new Error("It has changed.");
    return async () => void undone.push(path);
  });
  const { find, click } = await shown(files);
  await click(find("button", "Delete them in the workspace too"));
  await settle();
  const notes = find(".dn-files-notes").textContent;
  expect(notes).toContain("Deleted 2 files.");
  expect(notes).toContain("It has changed.");
  await click(find(".dn-files-notes button", "Undo"));
  await settle();
  expect(undone.sort()).toEqual(["a.md", "b.md"]);
});

test("the mapping dialog says what leaves, maps what was asked, and gives the focus back", async () => {
  const files = made();
  const { find, click, type } = await shown(files, { facts: { files: { shelf: "s", version: 1, mappings: [], agent_reads: true, can_index: false } } });
  const row = find("[data-path='/notes']");
  row.focus();
  await key("F10", { shiftKey: true });
  expect(document.querySelector("[role=menu]")!.textContent).not.toContain("index");
  await click(find("[role=menuitem]", "Map to the workspace"));
  const place = find("dialog input.dn-mono") as HTMLInputElement;
  expect(document.activeElement).toBe(place);
  expect(find("dialog").textContent).toContain("2 files, 20 bytes, leave this browser, once.");
  await type(place, "texts/notes");
  await click(find("dialog label", "Keep in step").querySelector("input")!);
  await act(async () => (find("dialog form") as HTMLFormElement).requestSubmit());
  await settle();
  expect(files.sync.map).toHaveBeenCalledExactlyOnceWith({ source: "/notes", target: "/texts/notes", is_folder: true, mode: "sync" });
  expect(document.querySelector("dialog")).toBeNull();
  expect(document.activeElement).toBe(row);
});

test("a name that is taken is asked about; both are kept, or the old one comes back", async () => {
  const files = made();
  const { find, click } = await shown(files);
  const pick = async () => {
    const input = find("[data-pick=files]") as HTMLInputElement;
    Object.defineProperty(input, "files", { value: [new File(["new"], "data.csv")], configurable: true });
    await act(async () => void input.dispatchEvent(new Event("change", { bubbles: true })));
    await settle();
  };
  await pick();
  expect(files.shelf.write).not.toHaveBeenCalled();
  await act(async () => (find("dialog form") as HTMLFormElement).requestSubmit());
  await settle();
  expect(files.shelf.write.mock.calls[0]![0]).toBe("/data 2.csv");
  await pick();
  await click(find("dialog button", "Replace"));
  await settle();
  expect(files.shelf.write.mock.lastCall![0]).toBe("/data.csv");
  expect(files.shelf.remove).not.toHaveBeenCalled(); // at no moment is there nothing
  expect(find(".dn-files-notes").textContent).toContain("Replaced data.csv.");
});

test("what was replaced before something went wrong can be undone from the line that says so", async () => {
  const files = made();
  const { find, click } = await shown(files);
  files.shelf.write.mockResolvedValueOnce(entry("/data.csv")).mockRejectedValueOnce(new Error("The disk is full."));
  const input = find("[data-pick=files]") as HTMLInputElement;
  const picked = ["data.csv", "zebra.png"].map((name) => new File(["new"], name));
  Object.defineProperty(input, "files", { value: picked, configurable: true });
  await act(async () => void input.dispatchEvent(new Event("change", { bubbles: true })));
  await settle();
  await click(find("dialog button", "Replace"));
  await settle();
  expect(find(".dn-files-notes [role=alert]").textContent).toContain("zebra.png was not added. The disk is full.");
  await click(find(".dn-files-notes [role=alert] button", "Undo"));
  await settle();
  expect(files.shelf.write.mock.lastCall![0]).toBe("/data.csv");
  expect(await files.shelf.write.mock.lastCall![1].text()).toBe("line one\nmine\n");
});

test("files that programs leave in folders are neither shown nor moved, unless they were chosen", async () => {
  const real = (path: string, isDir = false): Entry => ({ path, isDir, size: 1, modified: 1, folder: "disk" });
  const disk = [real("/disk", true), real("/disk/a.md"), real("/disk/.DS_Store"), real("/disk/.ipynb_checkpoints", true), real("/disk/.ipynb_checkpoints/a.ipynb")];
  const { items, left } = kept([...disk, entry("/.DS_Store"), entry("/mine", 0, true), entry("/mine/Thumbs.db")], [{ name: "disk", state: "open" }]);
  expect(items.map(({ path }) => path)).toEqual(["/disk", "/disk/a.md", "/.DS_Store", "/mine", "/mine/Thumbs.db"]);
  expect(left).toBe(2);
  expect(filesIn(items, item("/mine", 0, true))).toEqual([]);
  expect(filesIn(items, item("/.DS_Store"))).toHaveLength(1);
  const there = ["/x/.ipynb_checkpoints/a.ipynb", "/x/a.ipynb"].map((path) => ({ path, is_dir: false, size: 1, modified: 1, version: "" }));
  expect(ofWorkspace(there)).toMatchObject({ items: [{ path: "/x/a.ipynb" }], left: 1 });
});

test("a folder that is picked comes without them, and the reader is told", async () => {
  const files = made({ entries: [] });
  const { find } = await shown(files);
  const input = find("[data-pick=folder]") as HTMLInputElement;
  const picked = ["trip/a.md", "trip/.DS_Store", "trip/old/Thumbs.db", ".DS_Store"].map((path) =>
    Object.defineProperty(new File(["x"], path.split("/").at(-1)!), "webkitRelativePath", { value: path.includes("/") ? path : "" }),
  );
  Object.defineProperty(input, "files", { value: picked, configurable: true });
  await act(async () => void input.dispatchEvent(new Event("change", { bubbles: true })));
  await settle();
  expect(files.shelf.write.mock.calls.map(([path]) => path)).toEqual(["/trip/a.md", "/.DS_Store"]);
  expect(find(".dn-files-notes").textContent).toContain("Added 2 files. 2 system files (.DS_Store and the like) were left out.");
});

test("all that the browser keeps is forgotten only after a question that says what goes", async () => {
  const files = made({ mappings: [MAPPING, { ...MAPPING, id: "n", browser: "another" }] });
  const { find, click } = await shown(files);
  await click(find("[aria-label='More about My computer']"));
  await click(find("[role=menuitem]", "Forget everything kept in this browser…"));
  expect(find("dialog").textContent).toContain("4 files, 40 bytes, of this workspace go");
  expect(find("dialog").textContent).toContain("The mapping ends");
  expect(files.shelf.forget).not.toHaveBeenCalled();
  await act(async () => (find("dialog form") as HTMLFormElement).requestSubmit());
  await settle();
  expect(files.shelf.forget).toHaveBeenCalledOnce();
  expect(files.sync.unmap.mock.calls).toEqual([["m"]]);
  expect(names()).toEqual([]);
});

test("the privacy line says what left, how much and when", () => {
  const now = new Date(2026, 10, 15, 15, 0);
  const at = new Date(2026, 10, 15, 14, 6).getTime() / 1000;
  const told = (change: Partial<Disclosure>): Disclosure => ({ seq: 1, time: at, kind: "tool", tool: "grep_files", paths: [], files: 0, bytes: 0, detail: "", ...change });
  const said = (...all: Disclosure[]) => Object.values(privacyOf(all, now)).join(" ").trim();
  expect(said()).toBe("Nothing has left this browser.");
  expect(said(told({ time: at - 86_400 * 3, bytes: 5 }))).toBe("Nothing has left this browser today. Last on 12 Nov.");
  const lines = [told({ detail: "8 matching lines", paths: ["/a", "/b"], files: 2, bytes: 1e6 }), told({ detail: "4 matching lines", paths: ["/b", "/c"], files: 2 })];
  expect(said(...lines, told({ kind: "sync", files: 41, bytes: 130e6 }))).toBe(
    "Left this browser today: 12 matching lines from 3 files and 41 files kept in step, 131 MB. Last at 14:06.",
  );
});

test("the same many files count once, and what told nothing is one quiet row", () => {
  const now = new Date(2026, 10, 15, 15, 0);
  const told = (seq: number, change: Partial<Disclosure>): Disclosure => ({ seq, time: now.getTime() / 1000, kind: "tool", tool: "grep_files", paths: [], files: 0, bytes: 10, detail: "", ...change });
  const paths = Array.from({ length: 20 }, (_, number) => `/files/${number}`);
  const listing = { tool: "list_files", detail: "100 names", paths, files: 100 };
  const nothing = { detail: "0 matching lines" };
  expect(privacyOf([told(1, listing), told(2, listing), told(3, nothing)], now).rest).toBe("200 names from 100 files, 30 bytes. Last at 15:00.");
  expect(privacyOf([told(1, nothing)], now).rest).toBe("that nothing was found, 10 bytes. Last at 15:00.");
  const rows = rowsOf([told(1, nothing), told(2, listing), told(3, nothing), told(4, { tool: "search_files", detail: "0 passages" }), told(5, nothing)]);
  expect(rows.map(rowOf)).toEqual([
    { words: "Nothing found, 3 times, for grep_files and search_files", isEmpty: true },
    { words: "100 names, for list_files", isEmpty: false },
    { words: "Nothing found, for grep_files", isEmpty: true },
  ]);
});

test("amounts and times left are short", () => {
  expect([0, 1, 999, 38_000, 1_440_000, 200e6, 999_600].map(bytes)).toEqual(["0 bytes", "1 byte", "999 bytes", "38 KB", "1.4 MB", "200 MB", "1 MB"]);
  const going = { state: "running", size: 200e6, done: 131e6, speed: 16e6, problem: "" } as Transfer;
  expect(progressOf(going)).toBe("131 of 200 MB, 16 MB/s, 4 s left");
  expect(leavesOf([item("/a", 5)], "sync")).toBe("1 file, 5 bytes, leaves this browser now, and every later change too.");
});

test("a look takes a file for what its bytes are", async () => {
  const of = async (path: string, content: BlobPart) => {
    const files = { shelf: { read: async () => new Blob([content]) } } as unknown as Files;
    return (await lookAt(files, "mine", path)).look;
  };
  expect(await of("/a.md", "# A")).toMatchObject({ kind: "markdown", cut: false });
  expect(await of("/a.txt", "x".repeat(300_000))).toMatchObject({ kind: "text", cut: true });
  expect((await of("/a.pdf", "<script>no</script>")).kind).toBe("text");
  expect((await of("/a.txt", new Uint8Array([0, 1, 2]))).kind).toBe("bytes");
  const image = await of("/a.svg", "<svg/>");
  expect(image.kind === "image" && image.content.type).toBe("image/svg+xml");
  expect(textOf(new TextEncoder().encode("aé").slice(0, 2), true)).toBe("a"); // cut in the middle of a letter
  expect(textOf(new Uint8Array([0x63, 0x61, 0x66, 0xe9]))).toBe("café");
  expect(separated('a,"b ""c"", d"\r\n1,2\n', ",", 9)).toEqual([["a", 'b "c", d'], ["1", "2"]]);
  expect(notebookOf('{"cells":[{"cell_type":"code","source":["1"],"outputs":[{"data":{"text/html":"<b>","text/plain":"2"}}]}]}')).toEqual([
    { type: "code", source: "1", outputs: "2" },
  ]);
  expect(notebookOf("{")).toBeNull();
});

test("folders that a listing leaves out are there all the same", () => {
  const rows = new Branches([item("/a/b/c.txt"), item("/a 10.txt"), item("/a 9.txt")]).rows(null);
  expect(rows.map((row) => `${row.depth} ${row.item.path}`)).toEqual(["0 /a", "1 /a/b", "2 /a/b/c.txt", "0 /a 9.txt", "0 /a 10.txt"]);
});
