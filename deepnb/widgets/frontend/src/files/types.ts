/** What the rooms of the file explorer know of each other. */

import type { Chunk, JsonValue, Mapping, Stored, WorkspaceFile } from "../protocol";

/** A file or folder on the reader's side. Paths are absolute: "/notes/a.md". */
export interface Entry {
  readonly path: string;
  readonly isDir: boolean;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** Name of the real folder that it is in; empty for what is kept in the browser. */
  readonly folder: string;
  /** It is there, but cannot be read now; of a folder, not all that is in it is known. */
  readonly isUnreadable?: boolean;
  /** It can be had back as it was before it was last written with `keepsEarlier`. */
  readonly hasEarlier?: boolean;
}

/** A real folder, opened in place as "/name"; `ask` if the browser wants a click before it is read again. */
export interface RealFolder {
  readonly name: string;
  readonly state: "open" | "ask" | "gone";
}

/** What a client's tool has come to, as the kernel takes it. */
export type Answer = { result: Record<string, unknown> } | { error: string };

/** Something that cannot be done; the text says what happened and what to do. */
export class FileError extends Error {
  constructor(
    text: string,
    /** `changed`: something else is there than the caller believes, and nothing was overwritten. */
    readonly kind:
      | "missing"
      | "exists"
      | "folder"
      | "no folder"
      | "changed"
      | "path"
      | "full"
      | "blocked"
      | "denied"
      | "other" = "other",
  ) {
    super(text);
  }
}

export interface WriteOptions {
  /** What the caller believes to be there: a hash, or "" for nothing. Left out, whatever is there is replaced. */
  readonly expects?: string;
  /** Kept together with the write, all or nothing, so that no question is carried out twice. */
  readonly answers?: { readonly question: string; readonly answer: Answer };
  /** Whether what is written over is kept, for a day or until the next time. */
  readonly keepsEarlier?: boolean;
  /** Told how many bytes were read so far; if it throws, nothing is written. */
  readonly onRead?: (done: number) => Promise<void>;
}

/** By write, the hash of what was there when the reader was shown it, empty for nothing; other tabs know it too. */
export interface Shown {
  get(write: string): Promise<string | undefined>;
  /** Without a hash, it is let go of. */
  set(write: string, hash?: string): Promise<void>;
}

/** Takes back what was done. */
export type Undo = () => Promise<void>;

/** The reader's files: those that this browser keeps, and real folders that were opened. */
export interface Shelf {
  /** Names this browser's store, for mappings; another browser has other files. */
  readonly browser: string;
  /** Everything, folders too, sorted by path; real folders are read afresh. */
  entries(): Promise<readonly Entry[]>;
  read(path: string): Promise<Blob>;
  /** The bytes of many files at once, which is faster; what cannot be read is left out. */
  readAll?(paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  write(path: string, content: Blob, options?: WriteOptions): Promise<Entry>;
  /** Puts the earlier version of a file in the place of what is there, which is the earlier one then. */
  bringBack(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Moves a file or folder; never overwrites. */
  move(path: string, to: string): Promise<void>;
  /** Deletes; gives what undoes it. Not even a real folder's file is lost before that is let go of. */
  remove(path: string): Promise<() => Promise<void>>;
  /** SHA-256 in hex, remembered as long as size and time stay. */
  hash(path: string): Promise<string>;
  folders(): Promise<readonly RealFolder[]>;
  openFolder(handle: FileSystemDirectoryHandle): Promise<RealFolder>;
  /** Asks the browser for the folder again; only within a click. */
  allowFolder(name: string): Promise<boolean>;
  closeFolder(name: string): Promise<void>;
  /** Throws away all that this browser keeps for the workspace, for good; it is another store from then on. */
  forget(): Promise<void>;
  /** What a question was answered with by this store, also before a reload or in another tab. */
  answered(question: string): Promise<Answer | undefined>;
  /** What was in a file when the reader was shown a write to it. */
  readonly shown: Shown;
  /** Why nothing is kept for later, for example in a private window; empty if it is. */
  readonly trouble: string;
  /** Called after changes, those of other tabs too. */
  subscribe(callback: () => void): () => void;
  close(): void;
}

/** The kernel's side. */
export interface Workspace {
  /** Null until it was listed. */
  readonly files: readonly WorkspaceFile[] | null;
  readonly truncated: boolean;
  readonly problem: string;
  refresh(): Promise<void>;
  makeFolder(path: string): Promise<void>;
  move(path: string, to: string): Promise<void>;
  remove(path: string): Promise<() => Promise<void>>;
  /** The first bytes of a file, for a look at it. */
  head(path: string, most: number): Promise<{ readonly content: Blob; readonly size: number }>;
  chunk(path: string, offset: number, seen: string): Promise<{ readonly about: Chunk; readonly bytes: Uint8Array }>;
  fetchPage(url: string): Promise<Stored>;
  subscribe(callback: () => void): () => void;
}

export interface Transfer {
  readonly id: string;
  /** To the workspace, from it, or from the reader's disk onto the shelf. */
  readonly direction: "up" | "down" | "in";
  /** The reader's path, and the workspace's; for the index and the shelf there is no second. */
  readonly source: string;
  readonly target: string;
  readonly purpose: "copy" | "sync" | "index";
  readonly size: number;
  readonly done: number;
  /** Bytes in a second, lately. */
  readonly speed: number;
  readonly state: "waiting" | "running" | "paused" | "failed" | "done";
  readonly problem: string;
}

export interface UploadJob {
  readonly purpose: "copy" | "sync" | "index";
  readonly source: string;
  readonly target: string;
  /** As the kernel's `expects`. */
  readonly expects: string;
  readonly mapping?: string;
}

export interface DownloadJob {
  readonly purpose: "copy" | "sync";
  /** In the workspace, and where it goes on the shelf. */
  readonly source: string;
  readonly target: string;
  readonly expects: string;
  readonly size: number;
}

export interface KeepJob {
  readonly target: string;
  readonly content: Blob;
  readonly expects: string;
}

export interface Transfers {
  /** Those under way, and those that have failed; what is done goes after a moment. */
  readonly list: readonly Transfer[];
  upload(job: UploadJob): Promise<Stored>;
  download(job: DownloadJob): Promise<{ readonly entry: Entry; readonly sha256: string }>;
  /** Puts a large file onto the shelf. */
  keep(job: KeepJob): Promise<Entry>;
  pause(id: string): void;
  resume(id: string): void;
  cancel(id: string): void;
  subscribe(callback: () => void): () => void;
}

/** Something that only the reader can decide. */
export interface Conflict {
  readonly mapping: Mapping;
  /** Below the mapping; empty for the mapped file itself. */
  readonly path: string;
  readonly kind: "conflict" | "gone_here" | "gone_there";
  /** Hashes; empty where nothing is. */
  readonly here: string;
  readonly there: string;
  readonly agreed: string;
}

/** `mine` and `theirs` also settle a deletion: the side that is kept decides for both. */
export type Choice = "mine" | "theirs" | "both";

export interface Standing {
  /** `elsewhere`: it ties another browser. `waiting`: the kernel, or a real folder, is not there. */
  readonly state: "working" | "in step" | "copied" | "conflict" | "waiting" | "failed" | "elsewhere";
  readonly problem: string;
  /** Milliseconds since 1970, when it was last looked at. */
  readonly at: number;
  readonly files: number;
}

export interface Sync {
  readonly mappings: readonly Mapping[];
  readonly conflicts: readonly Conflict[];
  standing(mapping: string): Standing | undefined;
  map(fields: Pick<Mapping, "source" | "target" | "is_folder" | "mode">): Promise<Mapping>;
  unmap(mapping: string): Promise<void>;
  /** Compares and carries out; all mappings if none is named. */
  run(mapping?: string): Promise<void>;
  /** Gives what undoes it, if something was deleted by it. */
  decide(conflict: Conflict, choice: Choice): Promise<Undo | null>;
  subscribe(callback: () => void): () => void;
}

/** A call of the agent's that waits until the reader has opened a real folder again. */
export interface WaitingCall {
  readonly question: string;
  readonly tool: string;
  readonly folder: string;
}

/** What answers the agent's calls from the shelf. */
export interface Serving {
  readonly waiting: readonly WaitingCall[];
  subscribe(callback: () => void): () => void;
}

/** What a write of the agent's would change. */
export interface WritePreviews {
  /** As the kernel describes an action, with a diff; null for what is no write to the reader's files. */
  describe(tool: string, args: Readonly<Record<string, JsonValue>>): Promise<string | null>;
}

/** Everything that the explorer's room shows, and does. */
export interface Files {
  readonly shelf: Shelf;
  readonly workspace: Workspace;
  readonly transfers: Transfers;
  readonly sync: Sync;
  readonly serving: Serving;
  readonly previews: WritePreviews;
  close(): void;
}
