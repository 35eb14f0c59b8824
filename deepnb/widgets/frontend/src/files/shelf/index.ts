/** The reader's files: what this browser keeps, and the real folders that were opened, in one tree. */

import { makeId } from "../../wire/wire";
import { Listeners } from "../listeners";
import { cleanPath, safeParts } from "../tools/paths";
import { readEach } from "../tools/walk";
import { FileError, type Answer, type Entry, type RealFolder, type Shelf, type WriteOptions } from "../types";
import { Database } from "./database";
import { sha256 } from "./hash";
import { freeName, safeName } from "./incoming";
import { isTaken, Kept, refuseLoop } from "./kept";
import { pieceOf, putAll } from "./pieces";
import { Real } from "./real";
import { KeptShown } from "./shown";
import { storeOf } from "./stores";
import { MemoryTables, TABLES, type Tables } from "./tables";

const NOTHING_IS_KEPT =
  "This browser keeps no files for this page: it is a private window, or its storage is switched off or full. What you add is gone when the page is closed or loaded again.";

interface Mounted {
  readonly name: string;
  readonly handle: FileSystemDirectoryHandle;
}

/** Opens the store of a workspace; where the browser has none, one that lasts as long as the page. */
export async function openShelf(name: string): Promise<Shelf> {
  const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(storeOf(name));
  try {
    const database = new Database(storeOf(name));
    const browser = await browserOf(database);
    const shelf = new BrowserShelf(database, browser, channel, () => database.trouble);
    await shelf.begin();
    database.onLost = () => shelf.changed();
    return shelf;
  } catch {
    channel?.close();
    const tables = new MemoryTables();
    return new BrowserShelf(tables, await browserOf(tables), null, () => NOTHING_IS_KEPT);
  }
}

/** The store's own name, made when there is none yet. */
async function browserOf(tables: Tables): Promise<string> {
  const known = await tables.transact("readonly", (rows) => rows.get<string>("meta", "browser"));
  if (known) return known; // to write takes longer
  return tables.transact("readwrite", async (rows) => {
    const before = await rows.get<string>("meta", "browser");
    const name = before ?? makeId();
    if (!before) await rows.put("meta", "browser", name);
    return name;
  });
}

class BrowserShelf implements Shelf {
  readonly shown: KeptShown;
  private readonly kept: Kept;
  private readonly listeners = new Listeners();
  private mounted = new Map<string, Real>();
  private isPersisted = false;

  constructor(
    private readonly tables: Tables,
    private name: string,
    private readonly channel: BroadcastChannel | null,
    private readonly problem: () => string,
  ) {
    this.kept = new Kept(tables);
    this.shown = new KeptShown(tables);
    channel?.addEventListener("message", this.onOtherTab);
    globalThis.addEventListener?.("focus", this.onReturn);
  }

  get browser(): string {
    return this.name;
  }

  get trouble(): string {
    return this.problem();
  }

  async begin(): Promise<void> {
    await this.loadFolders();
    void this.kept.tidy().catch(() => undefined); // there will be another time
  }

  async entries(): Promise<readonly Entry[]> {
    const [kept, earlier, ...real] = await Promise.all([
      this.kept.entries(),
      this.kept.earlier(),
      ...[...this.mounted.values()].map((each) => each.entries()),
    ]);
    // A store that was emptied under us is another one.
    if (this.trouble) this.name = await browserOf(this.tables);
    const visible = kept.filter(({ path }) => !this.realAt(path));
    const all = [...visible, ...real.flat()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    return earlier.size ? all.map((entry) => (earlier.has(entry.path) ? { ...entry, hasEarlier: true } : entry)) : all;
  }

  async read(path: string): Promise<Blob> {
    const clean = cleanPath(path);
    return this.homeOf(clean).read(clean);
  }

  async readAll(paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const clean = paths.map(cleanPath);
    const kept = await this.kept.readAll(clean.filter((path) => !this.realAt(path)));
    const real = clean.filter((path) => this.realAt(path));
    return real.length > 0 ? new Map([...kept, ...(await readEach(this, real))]) : kept;
  }

  async write(path: string, content: Blob, options: WriteOptions = {}): Promise<Entry> {
    const clean = cleanPath(path);
    if (clean === "/") throw new FileError("This is a folder, not a file. Choose a file.", "folder");
    const real = this.realAt(clean);
    const entry = real ? await this.writeReal(real, clean, content, options) : await this.kept.write(clean, content, options);
    if (!real) this.askToPersist();
    this.changed();
    return entry;
  }

  async bringBack(path: string): Promise<void> {
    const clean = cleanPath(path);
    await this.write(clean, await this.kept.readEarlier(clean), { keepsEarlier: true });
  }

  async makeFolder(path: string): Promise<void> {
    const clean = cleanPath(path);
    if (clean === "/") throw isTaken();
    await this.homeOf(clean).makeFolder(clean);
    this.changed();
  }

  async move(path: string, to: string): Promise<void> {
    const [from, target] = [cleanPath(path), cleanPath(to)];
    this.refuseWhole(from);
    this.refuseWhole(target);
    refuseLoop(from, target);
    if (this.realAt(from) || this.realAt(target)) await this.carry(from, target);
    else await this.kept.move(from, target);
    this.changed();
  }

  async remove(path: string): Promise<() => Promise<void>> {
    const clean = cleanPath(path);
    this.refuseWhole(clean);
    const real = this.realAt(clean);
    if (!real) {
      const id = await this.kept.remove(clean);
      this.changed();
      return () => this.kept.restore(id).then(() => this.changed());
    }
    const entries = await real.wholeAt(clean);
    const id = await this.kept.discard(entries, (each) => real.read(each));
    try {
      await real.takeAway(entries);
    } catch (error) {
      await this.putBack(real, id);
      throw error;
    } finally {
      this.changed();
    }
    return () => this.restoreReal(real, clean, id);
  }

  async hash(path: string): Promise<string> {
    const clean = cleanPath(path);
    return this.homeOf(clean).hash(clean);
  }

  async folders(): Promise<readonly RealFolder[]> {
    return Promise.all([...this.mounted.values()].map(async (real) => ({ name: real.name, state: await real.state() })));
  }

  async openFolder(handle: FileSystemDirectoryHandle): Promise<RealFolder> {
    const known = await this.find(handle);
    if (known) return { name: known.name, state: await known.state() };
    const taken = new Set([...(await this.kept.entries()).map(({ path }) => path), ...[...this.mounted.keys()].map((name) => `/${name}`)]);
    const name = freeName(`/${safeName(handle.name)}`, taken).slice(1);
    await this.tables.transact("readwrite", (rows) => rows.put("handles", name, { name, handle } satisfies Mounted));
    const real = new Real(name, handle);
    this.mounted.set(name, real);
    this.changed();
    return { name, state: await real.state() };
  }

  async allowFolder(name: string): Promise<boolean> {
    const isAllowed = (await this.mounted.get(name)?.allow()) ?? false;
    this.changed();
    return isAllowed;
  }

  async closeFolder(name: string): Promise<void> {
    await this.tables.transact("readwrite", (rows) => rows.delete("handles", name));
    this.mounted.delete(name);
    this.changed();
  }

  async forget(): Promise<void> {
    const before = this.name;
    this.name = makeId(); // nothing that is under way is to take what is empty for the store that it knew
    try {
      await this.tables.transact("readwrite", async (rows) => {
        for (const table of TABLES) await rows.clear(table);
        await rows.put("meta", "browser", this.name);
      });
    } catch (error) {
      this.name = before;
      throw error;
    }
    await this.reload();
    this.changed();
  }

  async answered(question: string): Promise<Answer | undefined> {
    const found = await this.kept.answered(question);
    if (!found?.pending) return found?.answer;
    // A write to a real folder was begun; whether it was carried out is to be seen there.
    const { path, sha256: wanted } = found.pending;
    const there = await this.hash(path).catch(() => "");
    return there === wanted ? found.answer : undefined;
  }

  subscribe(callback: () => void): () => void {
    return this.listeners.subscribe(callback);
  }

  close(): void {
    globalThis.removeEventListener?.("focus", this.onReturn);
    this.channel?.removeEventListener("message", this.onOtherTab);
    this.channel?.close();
    this.tables.close();
  }

  /** Tells all who want to know, in other tabs too. */
  changed(): void {
    this.channel?.postMessage("changed");
    this.listeners.tell();
  }

  private readonly onOtherTab = () => {
    void this.reload().then(() => this.listeners.tell());
  };

  /** Whoever comes back from another program may have changed files there. */
  private readonly onReturn = () => {
    if (this.mounted.size > 0) this.listeners.tell();
  };

  private realAt(path: string): Real | undefined {
    return this.mounted.size > 0 ? this.mounted.get(safeParts(path)[0] ?? "") : undefined;
  }

  private homeOf(path: string): Real | Kept {
    return this.realAt(path) ?? this.kept;
  }

  /** What is known of the store is read anew: it may have been emptied, and be another one. */
  private async reload(): Promise<void> {
    await this.loadFolders();
    this.name = await browserOf(this.tables);
  }

  private async loadFolders(): Promise<void> {
    const rows = await this.tables.transact("readonly", (tables) => tables.all<Mounted>("handles"));
    this.mounted = new Map(rows.map(({ name, handle }) => [name, this.mounted.get(name) ?? new Real(name, handle)]));
  }

  private async find(handle: FileSystemDirectoryHandle): Promise<Real | undefined> {
    for (const real of this.mounted.values()) if (await real.isSame(handle)) return real;
    return undefined;
  }

  /** A disk knows no transaction: the answer is kept first, with what tells later whether the write has happened. */
  private async writeReal(real: Real, path: string, content: Blob, { answers, keepsEarlier, ...options }: WriteOptions): Promise<Entry> {
    if (answers) {
      const pending = { path, sha256: await sha256(content) };
      await this.kept.keepAnswer(answers.question, { answer: answers.answer, at: Date.now(), pending });
    }
    if (keepsEarlier && (await real.has(path))) await this.kept.keepEarlier(path, await real.read(path));
    const entry = await real.write(path, content, options);
    if (answers) await this.kept.keepAnswer(answers.question, { answer: answers.answer, at: Date.now() });
    return entry;
  }

  /** Moves by a copy, from or to a real folder; what it was copied from goes when all is there. */
  private async carry(from: string, to: string): Promise<void> {
    const entries = await this.wholeAt(from);
    if (await this.has(to)) throw isTaken();
    const pieces = entries.map(({ path, isDir }) => ({ path: to + path.slice(from.length), read: isDir ? null : () => this.read(path) }));
    await putAll(this.homeOf(to), pieces);
    try {
      await this.homeOf(from).takeAway(entries);
    } catch (error) {
      this.changed();
      throw new FileError(`All of it is in the new place, but it could not all be taken from the old one. ${(error as Error).message}`);
    }
  }

  private async restoreReal(real: Real, path: string, id: string): Promise<void> {
    if (await real.has(path)) throw isTaken();
    await putAll(real, (await this.kept.recover(id)).map(pieceOf));
    this.changed();
  }

  /** After a deletion that has stopped half way: what is gone comes back, and what stayed is left as it is. */
  private async putBack(real: Real, id: string): Promise<void> {
    for (const each of await this.kept.recover(id)) await putAll(real, [pieceOf(each)]).catch(() => undefined);
  }

  private async wholeAt(path: string): Promise<readonly Entry[]> {
    const real = this.realAt(path);
    if (real) return real.wholeAt(path);
    const all = (await this.kept.entries()).filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`));
    if (all.length === 0) throw new FileError("It is not here any more: it was moved or deleted. Look at the list again.", "missing");
    return all;
  }

  private async has(path: string): Promise<boolean> {
    const real = this.realAt(path);
    return real ? real.has(path) : (await this.kept.entries()).some((entry) => entry.path === path);
  }

  /** A real folder itself is neither moved nor deleted from here. */
  private refuseWhole(path: string): void {
    if (path === "/") throw new FileError("This is everything, and cannot be moved or deleted. Choose a file or folder.", "path");
    if (this.mounted.has(path.slice(1))) {
      throw new FileError("A folder of your computer is not moved or deleted from here. Close it, and it is not shown any more.", "path");
    }
  }

  /** Asks the browser not to clear the store to make room; it may refuse. */
  private askToPersist(): void {
    if (this.isPersisted) return;
    this.isPersisted = true;
    void globalThis.navigator?.storage?.persist?.().catch(() => undefined);
  }
}
