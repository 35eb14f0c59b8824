/** A real folder of the reader's computer, opened in place. Nothing of it is remembered: it is read afresh. */

import { oneLine } from "../../parts/legible";
import { safeParts, shown } from "../tools/paths";
import { FileError, type Entry, type RealFolder, type WriteOptions } from "../types";
import { AT_ONCE, sha256 } from "./hash";
import { isChanged, isFolder, isTaken } from "./kept";

/** What Chromium has, and no standard yet. */
interface Permitted {
  queryPermission?(wanted: { mode: "read" | "readwrite" }): Promise<PermissionState>;
  requestPermission?(wanted: { mode: "read" | "readwrite" }): Promise<PermissionState>;
}
type Folder = FileSystemDirectoryHandle & Permitted & {
  entries(): AsyncIterableIterator<[string, FileSystemDirectoryHandle | FileSystemFileHandle]>;
};

export class Real {
  private readonly handle: Folder;
  private readonly hashes = new Map<string, { readonly size: number; readonly modified: number; readonly sha256: string }>();

  constructor(
    readonly name: string,
    handle: FileSystemDirectoryHandle,
  ) {
    this.handle = handle as Folder;
  }

  async state(): Promise<RealFolder["state"]> {
    const permission = (await this.handle.queryPermission?.({ mode: "read" })) ?? "granted";
    if (permission !== "granted") return "ask";
    try {
      await this.handle.entries().next();
      return "open";
    } catch (error) {
      return isNamed(error, "NotAllowedError") ? "ask" : "gone";
    }
  }

  /** Asks for the folder, within a click. */
  async allow(): Promise<boolean> {
    const answer = (await this.handle.requestPermission?.({ mode: "readwrite" })) ?? "granted";
    return answer === "granted" || (await this.state()) === "open";
  }

  /** Itself and all that is in it; itself alone if it cannot be read now. */
  async entries(): Promise<Entry[]> {
    const self: Entry = { path: `/${this.name}`, isDir: true, size: 0, modified: 0, folder: this.name };
    return (await this.state()) === "open" ? this.within(this.handle, self.path, []) : [self];
  }

  /** A file or folder and all that is in it, itself first; throws if something in it cannot be seen or read here. */
  async wholeAt(path: string): Promise<Entry[]> {
    const unseen: string[] = [];
    const entries = await this.entriesAt(path, unseen);
    const first = unseen[0] ?? entries.find(({ isUnreadable }) => isUnreadable)?.path;
    if (first === undefined) return entries;
    const name = first.slice(path.length + 1);
    const what = name ? `“${oneLine(name, 120)}” in it` : "It";
    throw new FileError(`${what} cannot be seen or read from here, and would be lost. Nothing was changed. Use your computer’s own file manager for this one.`, "denied");
  }

  private async entriesAt(path: string, unseen: string[]): Promise<Entry[]> {
    const [name, ...folders] = this.parts(path).toReversed();
    const parent = await this.folder(folders.toReversed());
    const file = await parent.getFileHandle(name!).catch((error: unknown) => {
      if (isNamed(error, "TypeMismatchError")) return null;
      throw asFileError(error, "missing");
    });
    if (!file) return this.within(await this.folder(this.parts(path)), path, unseen);
    const found = await this.found(file, path, unseen);
    if (found.length === 0) throw isGone();
    return found;
  }

  async read(path: string): Promise<File> {
    const [name, ...folders] = this.parts(path).toReversed();
    if (name === undefined) throw isFolder(path);
    const parent = await this.folder(folders.toReversed());
    try {
      return await (await parent.getFileHandle(name)).getFile();
    } catch (error) {
      throw asFileError(error, "folder");
    }
  }

  async hash(path: string): Promise<string> {
    const file = await this.read(path);
    const known = this.hashes.get(path);
    if (known?.size === file.size && known.modified === file.lastModified) return known.sha256;
    const hash = await sha256(file);
    this.hashes.set(path, { size: file.size, modified: file.lastModified, sha256: hash });
    return hash;
  }

  async write(path: string, content: Blob, { expects, onRead }: WriteOptions): Promise<Entry> {
    await this.needWriting();
    const [name, ...folders] = this.parts(path).toReversed();
    if (name === undefined) throw isFolder(path);
    const before = (await this.has(path)) ? await this.read(path) : null;
    try {
      if (expects !== undefined && expects !== (before ? await sha256(before) : "")) throw isChanged();
      const parent = await this.folder(folders.toReversed(), true);
      const file = await parent.getFileHandle(name, { create: true });
      const old = before ?? (await file.getFile());
      if (!before && old.size > 0) throw isChanged(); // somebody else has just made it
      await fill(file, content, old, onRead).catch(async (error: unknown) => {
        if (!before && (await isStill(file, old))) await parent.removeEntry(name).catch(() => undefined);
        throw error;
      });
      return await this.entryOf(file, path);
    } catch (error) {
      throw asFileError(error, "folder");
    }
  }

  async makeFolder(path: string): Promise<void> {
    await this.needWriting();
    if (await this.has(path)) throw isTaken();
    await this.folder(this.parts(path), true);
  }

  /** Takes away these and nothing else, as they were seen; a folder that has something else in it stays, with an error. */
  async takeAway(entries: readonly Entry[]): Promise<void> {
    await this.needWriting();
    for (const entry of entries.toReversed()) {
      try {
        await this.takeAwayOne(entry);
      } catch (error) {
        const known = asFileError(error, "other");
        if (!(known instanceof FileError && known.kind === "missing")) throw known; // else it has gone by itself
      }
    }
  }

  private async takeAwayOne({ path, isDir, size, modified }: Entry): Promise<void> {
    const [name, ...folders] = this.parts(path).toReversed();
    const parent = await this.folder(folders.toReversed());
    const isSame = isDir || (await isStill(await parent.getFileHandle(name!), { size, lastModified: modified }));
    if (!isSame) throw isNew();
    await parent.removeEntry(name!).catch((error: unknown) => {
      throw isDir && isNamed(error, "InvalidModificationError") ? isNew() : error;
    });
  }

  /** Whether there is a file or folder. */
  async has(path: string): Promise<boolean> {
    const [name, ...folders] = this.parts(path).toReversed();
    if (name === undefined) return true;
    try {
      await (await this.folder(folders.toReversed())).getFileHandle(name);
      return true;
    } catch (error) {
      const known = asFileError(error, "folder");
      if (!(known instanceof FileError)) throw known;
      if (known.kind === "missing" || known.kind === "no folder") return false;
      if (known.kind === "folder") return true;
      throw known;
    }
  }

  isSame(handle: FileSystemDirectoryHandle): Promise<boolean> {
    return this.handle.isSameEntry(handle);
  }

  private parts(path: string): string[] {
    return safeParts(path).slice(1);
  }

  /** A folder and all that is in it, itself first. The real names that cannot be used in a path go into `unseen`. */
  private async within(folder: Folder, path: string, unseen: string[]): Promise<Entry[]> {
    const self: Entry = { path, isDir: true, size: 0, modified: 0, folder: this.name };
    const found: Promise<Entry[]>[] = [];
    let isUnreadable = false;
    try {
      for await (const [name, handle] of folder.entries()) {
        const visible = shown(name);
        if (visible !== name) unseen.push(`${path}/${name}`);
        if (visible !== null) found.push(this.found(handle, `${path}/${visible}`, unseen));
      }
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      isUnreadable = !hasVanished(error);
    }
    return [isUnreadable ? { ...self, isUnreadable } : self, ...(await Promise.all(found)).flat()];
  }

  /** What cannot be read is there all the same: else it would look as if it were deleted. */
  private async found(handle: FileSystemDirectoryHandle | FileSystemFileHandle, path: string, unseen: string[]): Promise<Entry[]> {
    if (handle.kind === "directory") return this.within(handle as Folder, path, unseen);
    try {
      return [await this.entryOf(handle, path)];
    } catch (error) {
      if (hasVanished(error)) return [];
      return [{ path, isDir: false, size: 0, modified: 0, folder: this.name, isUnreadable: true }];
    }
  }

  private async entryOf(handle: FileSystemFileHandle, path: string): Promise<Entry> {
    const { size, lastModified } = await handle.getFile();
    return { path, isDir: false, size, modified: lastModified, folder: this.name };
  }

  private async folder(parts: readonly string[], create = false): Promise<Folder> {
    let folder: FileSystemDirectoryHandle = this.handle;
    for (const [index, part] of parts.entries()) {
      try {
        folder = await folder.getDirectoryHandle(part, { create });
      } catch (error) {
        throw asFileError(error, create && index === parts.length - 1 ? "exists" : "no folder");
      }
    }
    return folder as Folder;
  }

  private async needWriting(): Promise<void> {
    const wanted = { mode: "readwrite" } as const;
    if (((await this.handle.queryPermission?.(wanted)) ?? "granted") === "granted") return;
    const answer = await this.handle.requestPermission?.(wanted).catch(() => "denied"); // fails without a click
    if (answer !== "granted") throw new FileError(`The browser lets this page only read ${this.name}. Allow changes to the folder, and try again.`, "denied");
  }
}

type Seen = Pick<File, "size" | "lastModified">;

/** Writes all or nothing: a browser puts the new content in the old one's place when it is complete, and here only if that is still `old`. */
async function fill(file: FileSystemFileHandle, content: Blob, old: Seen, onRead?: WriteOptions["onRead"]): Promise<void> {
  const writable = await file.createWritable();
  try {
    for (let at = 0; at < content.size; at += AT_ONCE) {
      const piece = content.slice(at, at + AT_ONCE);
      await writable.write(piece);
      await onRead?.(at + piece.size);
    }
    if (!(await isStill(file, old))) throw isChanged();
  } catch (error) {
    await writable.abort().catch(() => undefined);
    throw error;
  }
  await writable.close();
}

/** Whether a file is as it was seen; not if it has gone, or cannot be read any more. */
async function isStill(file: FileSystemFileHandle, { size, lastModified }: Seen): Promise<boolean> {
  const now = await file.getFile().catch(() => null);
  return now?.size === size && now.lastModified === lastModified;
}

function isGone(): FileError {
  return new FileError("It is not there any more: it was moved or deleted. Look at the list again.", "missing");
}

function isNew(): FileError {
  return new FileError("Something has changed there meanwhile, and it was not deleted. Look at it, and try again.", "changed");
}

function hasVanished(error: unknown): boolean {
  return isNamed(error, "NotFoundError");
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof DOMException && error.name === name;
}

/** `mismatch` is what it means here that there is a file where a folder was expected, or the other way round. */
function asFileError(error: unknown, mismatch: FileError["kind"]): unknown {
  if (error instanceof TypeError) return new FileError("The computer takes no such name in that folder. Choose another one.", "path");
  if (!(error instanceof DOMException)) return error;
  switch (error.name) {
    case "NotFoundError":
      return isGone();
    case "TypeMismatchError":
      return new FileError("There is a folder where a file would have to be, or the other way round. Choose another place.", mismatch);
    case "NotAllowedError":
    case "SecurityError":
      return new FileError("The browser does not let this page use the folder. Allow it again, and try once more.", "denied");
    case "NoModificationAllowedError":
    case "InvalidModificationError":
      return new FileError("Another program or tab is using the file. Close it there, and try again.", "denied");
    case "QuotaExceededError":
      return new FileError("The disk is full. Nothing was changed. Make room, and try again.", "full");
    default:
      return new FileError(`The computer could not do this (${error.name}). Try again.`, "other");
  }
}
