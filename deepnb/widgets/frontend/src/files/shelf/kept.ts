/** The files that this browser keeps. */

import { makeId } from "../../wire/wire";
import { bytesOf } from "../tools/page";
import { isWithin, join, parentOf, safeParts } from "../tools/paths";
import { FileError, type Entry, type WriteOptions } from "../types";
import { copyOf, sha256Of } from "./hash";
import type { Range, Tables, Transaction } from "./tables";

const INLINE = 256 * 1024; // bytes: what is kept beside its entry, since many small blobs are slow to read
const DAY = 24 * 60 * 60 * 1000;
const ANSWERS_KEPT = 30 * DAY;

/** Content is kept under a name of its own, so that to move or delete a file moves no content. */
export interface Row {
  readonly path: string;
  readonly isDir: boolean;
  readonly size: number;
  readonly modified: number;
  /** Files have both; a folder has neither. */
  readonly sha256?: string;
  readonly content?: string;
}

interface Content {
  readonly name: string;
  readonly data: Uint8Array | Blob;
}

interface Discarded {
  readonly id: string;
  readonly at: number;
  readonly rows: readonly Row[];
}

/** An answer, and, for a write to a real folder, what tells whether it was carried out. */
export interface Answered {
  readonly answer: NonNullable<WriteOptions["answers"]>["answer"];
  readonly at: number;
  readonly pending?: { readonly path: string; readonly sha256: string };
}

export class Kept {
  constructor(private readonly tables: Tables) {}

  async entries(): Promise<Entry[]> {
    const rows = await this.tables.transact("readonly", (tables) => tables.all<Row>("entries"));
    return rows.map(asEntry);
  }

  async read(path: string): Promise<Blob> {
    const content = await this.tables.transact("readonly", async (tables) => {
      const row = await fileAt(tables, path);
      return (await tables.get<Content>("contents", row.content!))?.data;
    });
    if (content === undefined) throw new FileError("The browser has lost what was in this file. Add it again.");
    return content instanceof Blob ? content : new Blob([content as BlobPart]);
  }

  async readAll(paths: readonly string[]): Promise<Map<string, Uint8Array>> {
    const contents = await this.tables.transact("readonly", (tables) => contentsAt(tables, paths));
    const found = new Map<string, Uint8Array>();
    for (const [path, content] of contents) found.set(path, content instanceof Blob ? await bytesOf(content) : content);
    return found;
  }

  async write(path: string, blob: Blob, { expects, answers, keepsEarlier, onRead }: WriteOptions): Promise<Entry> {
    // All of it before the transaction, in which nothing else can be waited for.
    const { content, sha256: hash } = await contentOf(blob, onRead);
    const modified = blob instanceof File ? blob.lastModified : Date.now();
    const row: Row = { path, isDir: false, size: blob.size, modified, sha256: hash, content: contentName(path) };
    await this.tables.transact("readwrite", async (tables) => {
      await makeParents(tables, path);
      const before = await tables.get<Row>("entries", path);
      if (before?.isDir) throw isFolder(path);
      if (expects !== undefined && expects !== (before ? before.sha256 : "")) throw isChanged();
      if (before && keepsEarlier && before.sha256 !== hash) await keepEarlier(tables, before);
      else if (before?.content) await tables.delete("contents", before.content);
      await putContent(tables, row.content!, content);
      await tables.put("entries", path, row);
      if (answers) await keepAnswer(tables, answers.question, { answer: answers.answer, at: Date.now() });
    });
    return asEntry(row);
  }

  async makeFolder(path: string): Promise<void> {
    await this.tables.transact("readwrite", async (tables) => {
      await makeParents(tables, path);
      await refuseTaken(tables, path);
      await tables.put("entries", path, folderRow(path));
    });
  }

  async move(path: string, to: string): Promise<void> {
    await this.tables.transact("readwrite", async (tables) => {
      const rows = await rowsAt(tables, path);
      await makeParents(tables, to);
      await refuseTaken(tables, to);
      for (const row of rows) {
        const moved = to + row.path.slice(path.length);
        await tables.put("entries", moved, { ...row, path: moved });
        await tables.delete("entries", row.path);
      }
    });
  }

  /** Deletes, and gives the name under which it can be had back. */
  async remove(path: string): Promise<string> {
    return this.tables.transact("readwrite", async (tables) => {
      const rows = await rowsAt(tables, path);
      for (const row of rows) await tables.delete("entries", row.path);
      return keepDiscarded(tables, rows);
    });
  }

  /** Takes away these and nothing else, for good; throws if one has changed since it was seen, or a folder has more in it. */
  async takeAway(entries: readonly Entry[]): Promise<void> {
    await this.tables.transact("readwrite", async (tables) => {
      for (const { path, isDir, size, modified } of entries.toReversed()) {
        const row = await tables.get<Row>("entries", path);
        if (!row) continue;
        const isSame = isDir ? row.isDir && !(await tables.count("entries", below(path))) : row.size === size && row.modified === modified;
        if (!isSame) throw isChanged();
        await tables.delete("entries", path);
        if (row.content) await tables.delete("contents", row.content);
      }
    });
  }

  /** Keeps what is about to be deleted elsewhere. */
  async discard(entries: readonly Entry[], read: (path: string) => Promise<Blob>): Promise<string> {
    const rows: Row[] = [];
    for (const { path, isDir, size, modified } of entries) {
      const row: Row = { path, isDir, size, modified };
      rows.push(isDir ? row : await this.copied(row, await read(path)));
    }
    return this.tables.transact("readwrite", (tables) => keepDiscarded(tables, rows));
  }

  /** The paths of which an earlier version is kept. */
  async earlier(): Promise<ReadonlySet<string>> {
    const found = await this.tables.transact("readonly", (tables) => tables.all<Discarded>("trash", below(earlierOf(""))));
    return new Set(found.map(({ rows }) => rows[0]!.path));
  }

  async readEarlier(path: string): Promise<Blob> {
    const [found] = await this.recover(earlierOf(path));
    return found!.content!;
  }

  /** Keeps what is about to be written over elsewhere. */
  async keepEarlier(path: string, file: File): Promise<void> {
    const row = await this.copied({ path, isDir: false, size: file.size, modified: file.lastModified }, file);
    await this.tables.transact("readwrite", (tables) => keepEarlier(tables, row));
  }

  private async copied(row: Row, blob: Blob): Promise<Row> {
    const name = contentName(row.path);
    const { content } = await contentOf(blob);
    await this.tables.transact("readwrite", (tables) => putContent(tables, name, content));
    return { ...row, content: name };
  }

  /** Puts back what was deleted here. */
  async restore(id: string): Promise<void> {
    await this.tables.transact("readwrite", async (tables) => {
      const { rows } = await discarded(tables, id);
      await makeParents(tables, rows[0]!.path);
      await refuseTaken(tables, rows[0]!.path);
      for (const row of rows) await tables.put("entries", row.path, row);
      await tables.delete("trash", id);
    });
  }

  /** Gives what was deleted elsewhere, for whoever puts it back there. */
  async recover(id: string): Promise<{ row: Row; content: Blob | null }[]> {
    return this.tables.transact("readonly", async (tables) => {
      const { rows } = await discarded(tables, id);
      return Promise.all(
        rows.map(async (row) => {
          const content = row.content ? (await tables.get<Content>("contents", row.content))?.data : undefined;
          return { row, content: content === undefined || content instanceof Blob ? (content ?? null) : new Blob([content as BlobPart]) };
        }),
      );
    });
  }

  async hash(path: string): Promise<string> {
    const row = await this.tables.transact("readonly", (tables) => fileAt(tables, path));
    return row.sha256!;
  }

  async answered(question: string): Promise<Answered | undefined> {
    return this.tables.transact("readonly", (tables) => tables.get<Answered>("answers", question));
  }

  async keepAnswer(question: string, answered: Answered): Promise<void> {
    await this.tables.transact("readwrite", (tables) => keepAnswer(tables, question, answered));
  }

  /** Lets go of what was deleted a day ago or earlier, and of answers that nobody will ask for again. */
  async tidy(): Promise<void> {
    await this.tables.transact("readwrite", async (tables) => {
      for (const { id, at, rows } of await tables.all<Discarded>("trash")) {
        if (Date.now() - at < DAY) continue;
        for (const { content } of rows) if (content) await tables.delete("contents", content);
        await tables.delete("trash", id);
      }
      for (const { question, at } of await tables.all<Answered & { question: string }>("answers")) {
        if (Date.now() - at > ANSWERS_KEPT) await tables.delete("answers", question);
      }
    });
  }
}

/** A name for content, such that what is read together is kept side by side. */
function contentName(path: string): string {
  return `${path}\0${makeId()}`;
}

function putContent(tables: Transaction, name: string, data: Content["data"]): Promise<void> {
  return tables.put("contents", name, { name, data } satisfies Content);
}

/** The contents of files, with few requests: each one takes its time, and a thousand take too long. */
async function contentsAt(tables: Transaction, paths: readonly string[]): Promise<Map<string, Content["data"]>> {
  if (paths.length === 0) return new Map();
  const rows = new Map((await tables.all<Row>("entries", spanOf(paths))).map((row) => [row.path, row]));
  const names = new Map(paths.flatMap((path) => (rows.get(path)?.content ? [[rows.get(path)!.content!, path]] : [])));
  if (names.size === 0) return new Map();
  const span = spanOf([...names.keys()]);
  const isDense = (await tables.count("contents", span)) <= 2 * names.size;
  const contents = isDense
    ? await tables.all<Content>("contents", span)
    : await Promise.all([...names.keys()].map((name) => tables.get<Content>("contents", name)));
  return new Map(contents.flatMap((each) => (each && names.has(each.name) ? [[names.get(each.name)!, each.data]] : [])));
}

function spanOf(keys: readonly string[]): Range {
  const [first, last] = keys.reduce(([low, high], key) => [key < low! ? key : low!, key > high! ? key : high!], [keys[0]!, keys[0]!]);
  return [first!, `${last!}\0`];
}

/** What is kept of a blob: its bytes if they are few, else a copy. */
async function contentOf(blob: Blob, onRead?: WriteOptions["onRead"]): Promise<{ content: Uint8Array | Blob; sha256: string }> {
  if (blob.size <= INLINE) {
    const bytes = await bytesOf(blob);
    return { content: bytes, sha256: await sha256Of(bytes) };
  }
  const { copy, sha256: hash } = await copyOf(blob, onRead);
  return { content: copy, sha256: hash };
}

function asEntry({ path, isDir, size, modified }: Row): Entry {
  return { path, isDir, size, modified, folder: "" };
}

function folderRow(path: string): Row {
  return { path, isDir: true, size: 0, modified: Date.now() };
}

function below(path: string): Range {
  return [`${path}/`, `${path}0`]; // the sign behind the slash
}

async function fileAt(tables: Transaction, path: string): Promise<Row> {
  const row = await tables.get<Row>("entries", path);
  if (!row && path !== "/") throw await nothingAt(tables, path);
  if (!row || row.isDir) throw isFolder(path);
  return row;
}

/** A file or folder and all that is in it, itself first. */
async function rowsAt(tables: Transaction, path: string): Promise<Row[]> {
  const row = await tables.get<Row>("entries", path);
  if (!row) throw await nothingAt(tables, path);
  return [row, ...(row.isDir ? await tables.all<Row>("entries", below(path)) : [])];
}

async function nothingAt(tables: Transaction, path: string): Promise<FileError> {
  for (let folder = parentOf(path); folder !== "/"; folder = parentOf(folder)) {
    const row = await tables.get<Row>("entries", folder);
    if (row && !row.isDir) return new FileError("This goes through a file as if that were a folder. Choose another place.", "no folder");
  }
  return new FileError("It is not here any more: it was moved or deleted. Look at the list again.", "missing");
}

async function makeParents(tables: Transaction, path: string): Promise<void> {
  const parts = safeParts(path).slice(0, -1);
  for (const [index] of parts.entries()) {
    const folder = join(parts.slice(0, index + 1));
    const row = await tables.get<Row>("entries", folder);
    if (row && !row.isDir) {
      const kind = index === parts.length - 1 ? "exists" : "no folder";
      throw new FileError("There is a file where a folder would have to be. Choose another place or name.", kind);
    }
    if (!row) await tables.put("entries", folder, folderRow(folder));
  }
}

async function refuseTaken(tables: Transaction, path: string): Promise<void> {
  if (await tables.get("entries", path)) throw isTaken();
}

async function keepDiscarded(tables: Transaction, rows: readonly Row[]): Promise<string> {
  const id = makeId();
  await tables.put("trash", id, { id, at: Date.now(), rows } satisfies Discarded);
  return id;
}

/** Keeps what is written over, in the place of what was kept of that file before. */
async function keepEarlier(tables: Transaction, row: Row): Promise<void> {
  const id = earlierOf(row.path);
  const older = await tables.get<Discarded>("trash", id);
  if (older) await tables.delete("contents", older.rows[0]!.content!);
  await tables.put("trash", id, { id, at: Date.now(), rows: [row] } satisfies Discarded);
}

function earlierOf(path: string): string {
  return `earlier${path}`;
}

async function discarded(tables: Transaction, id: string): Promise<Discarded> {
  const found = await tables.get<Discarded>("trash", id);
  if (!found) throw new FileError("This cannot be undone any more.", "missing");
  return found;
}

function keepAnswer(tables: Transaction, question: string, answered: Answered): Promise<void> {
  return tables.put("answers", question, { ...answered, question });
}

export function isTaken(): FileError {
  return new FileError("There is something of that name already, and it was not overwritten. Choose another name.", "exists");
}

export function isChanged(): FileError {
  return new FileError("Something else is there by now, and it was not overwritten. Look at it, and try again.", "changed");
}

export function isFolder(path: string): FileError {
  return new FileError(`${path === "/" ? "This" : "It"} is a folder, not a file. Choose a file.`, "folder");
}

/** Throws for a move that leads into itself. */
export function refuseLoop(path: string, to: string): void {
  if (isWithin(to, path)) throw new FileError("A folder cannot be moved into itself. Choose another place.", "path");
}
