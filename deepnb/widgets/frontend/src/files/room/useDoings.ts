/** What the reader can do with files, whichever way they ask for it. */

import { useRef } from "preact/hooks";

import type { Mapping } from "../../protocol";
import { under } from "../places";
import { freeName, fromDrop, fromInput } from "../shelf/incoming";
import { isWithin, nameOf, parentOf } from "../tools/paths";
import type { Files } from "../types";
import { add, into, takenOf, type Arrived } from "./adding";
import { isAddress, isName } from "./Dialogs";
import type { Side as Home } from "./links";
import type { Command, Way } from "./menus";
import { filesIn, type Item } from "./nodes";
import type { Notes } from "./notes";
import type { RowDoings } from "./Tree";

/** A question in front of the files. */
export type Asked =
  | { readonly kind: "map"; readonly item: Item; readonly target: string }
  | { readonly kind: "move"; readonly home: Home; readonly item: Item }
  | { readonly kind: "folder"; readonly home: Home; readonly parent: string }
  | { readonly kind: "taken"; readonly arrived: readonly Arrived[]; readonly taken: readonly string[] }
  | { readonly kind: "index"; readonly item: Item }
  | { readonly kind: "forget" }
  | { readonly kind: "note"; readonly text: string; readonly name: string }
  | { readonly kind: "page"; readonly url: string };

export interface Looked {
  readonly home: Home;
  readonly path: string;
  readonly byKey: boolean;
}

interface Room {
  files: Files;
  notes: Notes;
  items: (home: Home) => readonly Item[];
  /** All that the shelf holds. */
  paths: ReadonlySet<string>;
  ask: (asked: Asked) => void;
  look: (looked: Looked | null) => void;
  setMenu: (menu: { home: Home; item: Item; anchor: HTMLButtonElement }) => void;
  setRenaming: (renaming: { home: Home; path: string } | null) => void;
  select: (home: Home, path: string) => void;
  pick: (kind: "files" | "folder") => void;
}

export type Doings = ReturnType<typeof useDoings>;

/** Milliseconds in which a browser has surely begun to read a file. */
const TO_BE_READ = 10_000;

export function useDoings(room: Room) {
  const { files, notes, items, paths, ask, look, setMenu, setRenaming, select, pick } = room;
  const { shelf, workspace, sync, transfers } = files;
  const dragged = useRef<{ home: Home; item: Item } | null>(null);
  const homeOf = (home: Home) => (home === "mine" ? shelf : workspace);

  const move = async (home: Home, path: string, to: string) => {
    await homeOf(home).move(path, to);
    select(home, to);
    notes.tell(`Moved ${nameOf(path)} to ${to.slice(1)}.`, () => homeOf(home).move(to, path));
  };
  const rename = (home: Home, { path }: Item, name: string) =>
    notes.attempt(async () => {
      if (!isName(name)) throw new Error("A name has no slash in it. To put a file elsewhere, use Move to.");
      const to = under(parentOf(path), name);
      await homeOf(home).move(path, to);
      select(home, to);
    });
  const remove = (home: Home, { path, real }: Item) =>
    notes.attempt(async () => {
      if (real) throw new Error("A folder that was opened in place is closed, not deleted: see its menu.");
      const back = await homeOf(home).remove(path);
      look(null);
      notes.tell(`Deleted ${nameOf(path)}.`, back);
    });

  /** Adds what has come, after a question where a name is taken. */
  const arrive = (arrived: readonly Arrived[]) => {
    const taken = takenOf(arrived, paths);
    if (taken.length) ask({ kind: "taken", arrived, taken });
    else void put(arrived, false);
  };
  const put = (arrived: readonly Arrived[], replace: boolean) =>
    notes.attempt(async (say) => {
      const { text, undo } = await add(files, arrived, paths, replace, say);
      if (undo) notes.tell(text, undo);
      else notes.tell(text);
      if (arrived[0]) select("mine", arrived[0].path);
    });
  /** A text is an address or a note. */
  const takeText = (text: string) => {
    if (isAddress(text)) ask({ kind: "page", url: text.trim() });
    else ask({ kind: "note", text, name: nameOf(freeName("/note.md", paths)) });
  };
  const takeData = async (data: DataTransfer, folder: string): Promise<Arrived[]> => {
    const [text, holdsFiles] = [data.getData("text/uri-list") || data.getData("text/plain"), data.types.includes("Files")];
    const arrived = holdsFiles ? into(folder, await fromDrop(data)) : []; // which has to begin at once
    if (arrived.length) arrive(arrived);
    else if (text.trim()) takeText(text.split("\n").find((line) => isAddress(line)) ?? text);
    return arrived;
  };

  const dropOwn = (home: Home, folder: string, from: Home, item: Item) => {
    const to = under(folder, nameOf(item.path));
    if (from === home) {
      if (to !== item.path && !isWithin(folder, item.path)) void notes.attempt(() => move(home, item.path, to));
    } else if (from === "mine") ask({ kind: "map", item, target: to });
    else void take(item, folder);
  };
  const drop = (home: Home, folder: string, data: DataTransfer) => {
    const own = dragged.current;
    dragged.current = null;
    if (own) return dropOwn(home, folder, own.home, own.item);
    void notes.attempt(async () => {
      const arrived = await takeData(data, home === "mine" ? folder : "/");
      if (home === "workspace" && arrived.length)
        notes.tell("It is in My computer. Nothing has reached the workspace yet: map what is to be there.");
    });
  };

  /** From the workspace to the shelf, all of a folder; never over something that is there. */
  const take = (item: Item, folder = "/") =>
    notes.attempt(async (say) => {
      const all = filesIn(items("workspace"), item);
      const top = freeName(under(folder, nameOf(item.path)), paths);
      if (item.isDir && !all.length) await shelf.makeFolder(top);
      say(`Copying ${nameOf(item.path)} to My computer`);
      const results = await Promise.allSettled(
        all.map(({ path, size }) =>
          transfers.download({ purpose: "copy", source: path, target: top + path.slice(item.path.length), expects: "", size }),
        ),
      );
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
      notes.tell(`${nameOf(top)} is in My computer.`);
      select("mine", top);
    });
  const index = (item: Item) =>
    notes.attempt(async () => {
      for (const { path } of filesIn(items("mine"), item))
        await transfers.upload({ purpose: "index", source: path, target: path, expects: "" });
      notes.tell(`${nameOf(item.path)} is in the agent’s index.`);
    });
  const save = ({ path }: Item) =>
    notes.attempt(async () => {
      const content = await shelf.read(path);
      const url = URL.createObjectURL(content.slice(0, content.size, "application/octet-stream"));
      Object.assign(document.createElement("a"), { href: url, download: nameOf(path) }).click();
      setTimeout(() => URL.revokeObjectURL(url), TO_BE_READ);
    });
  const bringBack = ({ path }: Item) =>
    notes.attempt(async () => {
      await shelf.bringBack(path);
      notes.tell(`${nameOf(path)} is as it was before.`, () => shelf.bringBack(path));
    });
  const openReal = () =>
    notes.attempt(async () => {
      const handle = await pickFolder();
      if (!handle) return;
      const { name } = await shelf.openFolder(handle);
      select("mine", `/${name}`);
      notes.tell(`${name} is open. Its files are read from your disk.`);
    });
  const allowNamed = (name: string) =>
    notes.attempt(async () => {
      if (!(await shelf.allowFolder(name))) throw new Error(`The browser did not open ${name}. Press Open again and allow it.`);
    });
  const allow = ({ path }: Item) => allowNamed(path.slice(1));

  const ours = () => sync.mappings.filter(({ browser }) => browser === shelf.browser);
  const forgotten = () => {
    const real = items("mine").filter((item) => item.real);
    const kept = items("mine").filter((item) => !item.isDir && !real.some(({ path }) => isWithin(item.path, path)));
    return { kept, mapped: ours().length };
  };
  const forget = async () => {
    const mapped = ours();
    for (const { id } of transfers.list) transfers.cancel(id);
    await shelf.forget();
    // Without a kernel they cannot be ended: they then tie a browser that is no more, and do nothing.
    void Promise.allSettled(mapped.map(({ id }) => sync.unmap(id)));
    look(null);
    for (const { id } of notes.list) notes.close(id);
    notes.tell("This browser keeps nothing of this workspace any more.");
  };

  const command = (home: Home, item: Item, name: Command, mapping?: Mapping) => {
    const commands: Record<Command, () => unknown> = {
      open: () => look({ home, path: item.path, byKey: true }),
      map: () => ask({ kind: "map", item, target: `/${nameOf(item.path)}` }),
      unmap: () => notes.attempt(async () => (await sync.unmap(mapping!.id), notes.tell("Unmapped. Both sides keep their files."))),
      sync: () => notes.attempt(() => sync.run(mapping!.id)),
      index: () => ask({ kind: "index", item }),
      rename: () => setRenaming({ home, path: item.path }),
      move: () => ask({ kind: "move", home, item }),
      delete: () => remove(home, item),
      save: () => save(item),
      earlier: () => bringBack(item),
      take: () => take(item),
      folder: () => ask({ kind: "folder", home, parent: item.path }),
      allow: () => allow(item),
      close: () => notes.attempt(() => shelf.closeFolder(item.path.slice(1))),
    };
    void commands[name]();
  };
  const ways: Record<Way, () => unknown> = {
    files: () => pick("files"),
    folder: () => pick("folder"),
    real: openReal,
    new: () => ask({ kind: "folder", home: "mine", parent: "/" }),
    note: () => ask({ kind: "note", text: "", name: nameOf(freeName("/note.md", paths)) }),
    page: () => ask({ kind: "page", url: "" }),
  };
  const rowsOf = (home: Home): Omit<RowDoings, "toggle"> => ({
    open: ({ path }, byKey) => look({ home, path, byKey }),
    menu: (item, anchor) => setMenu({ home, item, anchor }),
    rename: (item, name) => void rename(home, item, name),
    beginRename: (path) => setRenaming(path === null ? null : { home, path }),
    remove: (item) => void remove(home, item),
    allow: (item) => void allow(item),
  });
  return {
    rows: { mine: rowsOf("mine"), workspace: rowsOf("workspace") },
    add: (way: Way) => void ways[way](),
    addPicked: (picked: readonly File[]) => void notes.attempt(async () => arrive(fromInput(picked))),
    paste: (data: DataTransfer): boolean => {
      if (!data.types.includes("Files") && !data.getData("text/plain").trim()) return false;
      void notes.attempt(() => takeData(data, "/"));
      return true;
    },
    drag: (home: Home, item: Item | null) => void (dragged.current = item && { home, item }),
    refresh: () => void notes.attempt(() => workspace.refresh()),
    makeFolder: (home: Home, path: string) => homeOf(home).makeFolder(path),
    fetchPage: async (url: string) => notes.tell(`Saved as ${(await workspace.fetchPage(url)).path.slice(1)} in the workspace.`),
    writeNote: (name: string, text: string) => shelf.write(`/${name}`, new Blob([text]), { expects: "" }),
    tell: notes.tell,
    allowNamed: (name: string) => void allowNamed(name),
    command, drop, forget, forgotten, index, move, put, save,
  };
}

/** Null if the reader has changed their mind. */
async function pickFolder(): Promise<FileSystemDirectoryHandle | null> {
  const { showDirectoryPicker } = globalThis as unknown as { showDirectoryPicker(options: object): Promise<FileSystemDirectoryHandle> };
  try {
    return await showDirectoryPicker({ mode: "read" });
  } catch (problem) {
    if ((problem as Error).name === "AbortError") return null;
    throw new Error(`The browser did not open a folder: ${(problem as Error).message}`);
  }
}
