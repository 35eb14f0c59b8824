/** What a reader drops, picks or pastes: files and folders, with names that can be paths. */

import { isLitter, join, nameOf, safeParts } from "../tools/paths";
import { FileError } from "../types";

export interface Incoming {
  readonly path: string;
  readonly blob: Blob;
  /** Its own name cannot be in a path, or was that of another one. */
  readonly isRenamed: boolean;
  /** It only came with the folder that it is in, in which a program has left it. */
  readonly isLitter: boolean;
}

const LONGEST = 255; // bytes
const LONGEST_ENDING = 32; // what is longer is a part of the name
const UNNAMED = "unnamed";

/** The files of a drop, with those in folders. What a drop holds is gone after the event: call it at once. */
export async function fromDrop(transfer: DataTransfer): Promise<Incoming[]> {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => ({ entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() }));
  const found: { path: string; file: File }[] = [];
  for (const { entry, file } of entries) {
    if (entry) found.push(...(await within(entry, "")));
    else if (file) found.push({ path: file.name, file });
  }
  if (items.length === 0) for (const file of transfer.files) found.push({ path: file.name, file });
  return named(found);
}

/** The files of an input, also of one that picks a folder. */
export function fromInput(files: Iterable<File>): Incoming[] {
  return named([...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

/** The same path with a number, such that it is not taken: "/a.md" becomes "/a 2.md". */
export function freeName(path: string, taken: { has(path: string): boolean }): string {
  let free = path;
  for (let number = 2; taken.has(free); number++) free = withMark(path, ` ${number}`);
  return free;
}

/** The same path with a mark behind the name and before its ending; as much of the name goes as there is no room for. */
export function withMark(path: string, mark: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  const hasEnding = dot > 0 && name.length - dot <= LONGEST_ENDING;
  const [stem, ending] = hasEnding ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  return path.slice(0, path.length - name.length) + fitting(stem, mark + ending);
}

/** A name that can be in a path: what cannot is replaced, so that the reader sees that something was there. */
export function safeName(name: string): string {
  const tidy = [...name].map((sign) => (sign === "/" || !isUsable(`x${sign}x`) ? "_" : sign)).join("").trim();
  const short = fitting(tidy || UNNAMED, "");
  if (isUsable(short)) return short;
  return [`_${short}`, `${UNNAMED} ${short.replace(/[^\p{L}\p{N}]/gu, "_")}`].find(isUsable) ?? UNNAMED;
}

function isUsable(name: string): boolean {
  try {
    return safeParts(name).length === 1;
  } catch {
    return false;
  }
}

/** As much of a name as fits before an ending. */
function fitting(stem: string, ending: string): string {
  const encoder = new TextEncoder();
  const signs = [...stem];
  while (signs.length > 1 && encoder.encode(signs.join("") + ending).length > LONGEST) signs.pop();
  return signs.join("") + ending;
}

async function within(entry: FileSystemEntry, folder: string): Promise<{ path: string; file: File }[]> {
  const path = `${folder}/${entry.name}`;
  if (entry.isFile) {
    return [{ path, file: await given((entry as FileSystemFileEntry).file.bind(entry), path) }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: { path: string; file: File }[] = [];
  for (;;) {
    // A reader gives a hundred at a time, and none when there are no more.
    const some = await given(reader.readEntries.bind(reader), path);
    if (some.length === 0) return found;
    for (const each of some) found.push(...(await within(each, path)));
  }
}

function given<T>(ask: (give: (value: T) => void, fail: (error: unknown) => void) => void, path: string): Promise<T> {
  return new Promise((resolve, reject) => {
    ask(resolve, () => reject(new FileError(`${path.slice(1)} could not be read, so nothing was added. Drop it again, or pick it.`)));
  });
}

/** Gives each a safe path of its own: two that became the same by it get numbers. */
function named(files: readonly { path: string; file: File }[]): Incoming[] {
  const taken = new Set<string>();
  return files.map(({ path, file }) => {
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    const safe = join(parts.map((part) => (isUsable(part) ? part : safeName(part))));
    const free = freeName(safe === "/" ? `/${UNNAMED}` : safe, taken);
    taken.add(free);
    return { path: free, blob: file, isRenamed: free !== join(parts), isLitter: isLitter(parts.slice(1).join("/")) };
  });
}
