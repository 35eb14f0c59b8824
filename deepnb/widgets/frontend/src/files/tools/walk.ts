/** The files below a folder, in the order in which the kernel goes through its own. */

import { FileError, type Entry, type Shelf } from "../types";
import { bytesOf } from "./page";
import { isWithin, nameOf, parentOf } from "./paths";
import { compare } from "./python";

const MILLISECONDS = 8000;
const BATCH_FILES = 500;
const BATCH_BYTES = 16 * 1024 * 1024;

export const MOST_FOUND = 10_000;
export const LARGEST = 64 * 1024 * 1024; // the most of one file that is held in memory

/** A file, and its path below the folder that is searched. */
export interface Found {
  readonly entry: Entry;
  readonly below: string;
}

/** What there is time for. */
export class Deadline {
  private readonly end = performance.now() + MILLISECONDS;

  get isOver(): boolean {
    return performance.now() > this.end;
  }
}

/** All files at or below `path`; `hidden` ones too, or only those whose names have no dot before them. */
export async function walk(shelf: Shelf, path: string, hidden: boolean): Promise<Found[]> {
  const entries = await shelf.entries();
  const self = entries.find((entry) => entry.path === path);
  if (self && !self.isDir) return [{ entry: self, below: nameOf(path) }];
  if (!self && path !== "/") throw missing(entries, path);
  const inside = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (!isWithin(entry.path, path)) continue;
    const folder = parentOf(entry.path);
    const others = inside.get(folder);
    if (others) others.push(entry);
    else inside.set(folder, [entry]);
  }
  const start = path === "/" ? 1 : path.length + 1;
  const found: Found[] = [];
  const waiting = [path];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const children = (inside.get(folder) ?? []).map((entry) => ({ entry, name: nameOf(entry.path) }));
    for (const { entry, name } of children.sort((a, b) => compare(a.name, b.name))) {
      if (!hidden && name.startsWith(".")) continue;
      if (entry.isDir) waiting.push(entry.path);
      else found.push({ entry, below: entry.path.slice(start) });
    }
  }
  return found;
}

/** What to say of a path where nothing is. */
export function missing(entries: readonly Entry[], path: string): FileError {
  const isThrough = entries.some((entry) => !entry.isDir && isWithin(path, entry.path));
  return new FileError("", isThrough ? "no folder" : "missing");
}

/**
 * The bytes of files, as many at once as is fast and fits; null for what cannot be read or is larger than `most` says.
 *
 * A file that changes or vanishes meanwhile is that file's misfortune, and not that of those who look at all.
 */
export async function* contents(shelf: Shelf, files: readonly Found[], most: (file: Found) => number): AsyncGenerator<[Found, Uint8Array | null]> {
  for (let at = 0; at < files.length; ) {
    const batch: Found[] = [];
    let bytes = 0;
    while (at < files.length && batch.length < BATCH_FILES && bytes < BATCH_BYTES) {
      const file = files[at++]!;
      batch.push(file);
      bytes += file.entry.size;
    }
    const wanted = batch.filter((file) => file.entry.size <= most(file)).map((file) => file.entry.path);
    const found = await (shelf.readAll?.(wanted) ?? readEach(shelf, wanted));
    for (const file of batch) yield [file, found.get(file.entry.path) ?? null];
  }
}

/** Reads files, each for itself; those that cannot be read are left out. */
export async function readEach(shelf: Pick<Shelf, "read">, paths: readonly string[]): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  const read = async (path: string) => {
    try {
      found.set(path, await bytesOf(await shelf.read(path)));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
    }
  };
  await Promise.all(paths.map(read));
  return found;
}
