/** A kernel for tests that keeps files in a map, and a shelf that does; both refuse what the real ones refuse. */

import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { sha256 } from "@noble/hashes/sha2.js";

import { RefusedError, type Client, type Connection } from "../src/client";
import type { Session } from "../src/explorer";
import { Listeners } from "../src/files/listeners";
import { KeptShown } from "../src/files/shelf/shown";
import { MemoryTables } from "../src/files/shelf/tables";
import { FileError, type Answer, type Entry, type RealFolder, type Shelf, type WriteOptions } from "../src/files/types";
import type { QuestionStep } from "../src/model";
import type { Facts, FileFacts, Mapping, SeenFile, Step } from "../src/protocol";
import type { Store } from "../src/store";
import { FACTS } from "./app";

export const MB = 1024 * 1024;

const hashes = new WeakMap<Uint8Array, string>(); // no test changes content in its place

export function hashOf(content: Uint8Array | string): string {
  const data = typeof content === "string" ? utf8ToBytes(content) : content;
  const hash = hashes.get(data) ?? bytesToHex(sha256(data));
  hashes.set(data, hash);
  return hash;
}

/** Waits until something is so; a test that waits in vain ends by its time-out. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

interface Part {
  readonly path: string;
  readonly size: number;
  expects: string;
  mapping: string | null;
  data: Uint8Array;
}

type Fields = Record<string, unknown>;

export class FakeKernel {
  readonly files = new Map<string, Uint8Array>();
  readonly trash = new Map<string, [string, Uint8Array]>();
  readonly agreed = new Map<string, string>();
  readonly uploads = new Map<string, Part>();
  readonly claims = new Map<string, string>();
  readonly answers: { question: string; answer: unknown; view: string }[] = [];
  mappings: Mapping[] = [];
  buffers = true;
  version = 1;
  /** What was asked for, by type. */
  readonly asked: { type: string; fields: Fields; view: string }[] = [];
  /** Chunks that wait for an answer; the most of one upload there have been. */
  readonly unanswered = new Map<string, number>();
  most = 0;
  /** Called before a request is answered; what it throws is the answer. */
  before: (type: string, fields: Fields) => void | Promise<void> = () => {};
  readonly pages: FakePage[] = [];

  page(view = "view"): FakePage {
    const page = new FakePage(this, view);
    this.pages.push(page);
    return page;
  }

  put(path: string, text: string): void {
    this.files.set(path, utf8ToBytes(text));
    this.changed();
  }

  text(path: string): string | undefined {
    const data = this.files.get(path);
    return data && new TextDecoder().decode(data);
  }

  changed(): void {
    this.version += 1;
    for (const page of this.pages) page.told.tell();
  }

  count(type: string): number {
    return this.asked.filter((each) => each.type === type).length;
  }

  async answer(type: string, fields: Fields, view: string, buffers?: ArrayBuffer[]): Promise<unknown> {
    this.asked.push({ type, fields, view });
    if (type === "upload_chunk") this.noteChunk(String(fields["upload"]), 1);
    try {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await this.before(type, fields);
      const does = this.does[type];
      if (!does) throw new RefusedError("ProtocolError", `no ${type}`);
      return does(fields, view, buffers);
    } finally {
      if (type === "upload_chunk") this.noteChunk(String(fields["upload"]), -1);
    }
  }

  private noteChunk(upload: string, change: number): void {
    const count = (this.unanswered.get(upload) ?? 0) + change;
    this.unanswered.set(upload, count);
    this.most = Math.max(this.most, count);
  }

  private hash(path: string): string {
    const data = this.files.get(path);
    return data ? hashOf(data) : "";
  }

  private readonly does: Record<string, (fields: any, view: string, buffers?: ArrayBuffer[]) => unknown> = {
    claim: ({ what }, view) => {
      const holder = this.claims.get(what) ?? view;
      this.claims.set(what, holder);
      return { granted: holder === view };
    },
    client_answer: ({ question, answer }, view) => {
      if (this.answers.some((each) => each.question === question)) throw new RefusedError("QuestionError", "answered already");
      this.answers.push({ question, answer, view });
      return null;
    },
    list_workspace: () => ({
      files: [...this.files].map(([path, data]) => ({ path, is_dir: false, size: data.length, modified: 1 })),
      truncated: false,
    }),
    delete_file: ({ path, expects }) => {
      if (expects && this.hash(path) !== expects) throw new RefusedError("ChangedError", "It has changed meanwhile.");
      const deleted = `trash ${this.trash.size}`;
      this.trash.set(deleted, [path, this.files.get(path)!]);
      this.files.delete(path);
      this.changed();
      return { deleted };
    },
    restore_file: ({ deleted }) => {
      this.files.set(...this.trash.get(deleted)!);
      this.changed();
      return null;
    },
    begin_upload: ({ path, size, mark, expects, mapping }) => {
      const upload = hashOf(`${path} ${size} ${mark}`).slice(0, 32);
      const part = this.uploads.get(upload) ?? { path, size, expects, mapping, data: new Uint8Array() };
      this.uploads.set(upload, Object.assign(part, { expects, mapping }));
      return { upload, received: part.data.length, buffers: this.buffers };
    },
    send_files: ({ files }, view) => ({
      files: files.map((fields: Record<string, string>) => {
        try {
          this.before?.("send_file", fields);
          const { upload } = this.does["begin_upload"]!({ ...fields, mark: fields.sha256 }, view) as { upload: string };
          this.does["upload_chunk"]!({ upload, offset: 0, data: fields.data }, view);
          return this.does["end_upload"]!({ upload, sha256: fields.sha256 }, view);
        } catch (error) {
          return { kind: (error as RefusedError).kind, text: (error as Error).message };
        }
      }),
    }),
    upload_chunk: ({ upload, offset, data }, _view, buffers) => {
      const part = this.uploads.get(upload);
      if (!part || offset > part.data.length) throw new RefusedError("DeepnbError", "Something is missing.");
      const bytes = buffers?.[0] ? new Uint8Array(buffers[0]) : Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
      if (offset === part.data.length) part.data = concatBytes(part.data, bytes);
      return { received: part.data.length };
    },
    end_upload: ({ upload, sha256 }) => {
      const { path, size, expects, mapping, data } = this.uploads.get(upload)!;
      if (data.length !== size || hashOf(data) !== sha256) {
        this.uploads.delete(upload);
        throw new RefusedError("ChangedError", "It has not arrived as it was sent. Send it again.");
      }
      if (this.hash(path) !== expects) throw new RefusedError("ChangedError", "Something else is there by now.");
      this.files.set(path, data);
      this.uploads.delete(upload);
      const tie = this.mappings.find(({ id }) => id === mapping);
      if (tie) this.agreed.set(`${tie.id} ${path.slice(tie.target.length + 1)}`, sha256);
      this.changed();
      return { path, size, sha256 };
    },
    cancel_upload: ({ upload }) => (this.uploads.delete(upload), null),
    download_chunk: ({ path, offset, length, seen, as_text }) => {
      const data = this.files.get(path);
      if (!data) throw new RefusedError("PathError", "It is not there any more.");
      const version = hashOf(data).slice(0, 8);
      if (seen && seen !== version) throw new RefusedError("ChangedError", "It has changed while it was read.");
      const bytes = this.buffers || as_text ? data.subarray(offset, offset + length) : new Uint8Array();
      return { size: data.length, modified: 1, version, bytes };
    },
    map_files: ({ browser, source, target, is_folder, mode }) => {
      const mapping: Mapping = { id: `m${this.mappings.length}`, browser, source, target, is_folder, mode, done: false };
      this.mappings = [...this.mappings, mapping];
      this.changed();
      return mapping;
    },
    unmap_files: ({ mapping }) => {
      this.mappings = this.mappings.filter(({ id }) => id !== mapping);
      this.changed();
      return null;
    },
    finish_copy: ({ mapping }) => {
      this.mappings = this.mappings.map((each) => (each.id === mapping ? { ...each, done: true } : each));
      this.changed();
      return null;
    },
    agree_file: ({ mapping, path, sha256 }) => {
      if (sha256) this.agreed.set(`${mapping} ${path}`, sha256);
      else this.agreed.delete(`${mapping} ${path}`);
      return null;
    },
    compare_files: ({ mapping, files }) => this.compare(this.mappings.find(({ id }) => id === mapping)!, files),
  };

  private compare({ id, target, mode, done }: Mapping, seen: SeenFile[]) {
    if (done) return { steps: [], same: 0, unusable: [] };
    const here = new Map(seen.map((file) => [file.path, file]));
    const there = new Map([...this.files].flatMap(([path, data]) => {
      if (path !== target && !path.startsWith(`${target}/`)) return [];
      return [[path.slice(target.length + 1), data] as const];
    }));
    const steps: Step[] = [];
    let same = 0;
    for (const path of new Set([...here.keys(), ...there.keys()])) {
      const [mine, data] = [here.get(path), there.get(path)];
      const hashes = { here: mine?.sha256 ?? "", there: data ? hashOf(data) : "", agreed: this.agreed.get(`${id} ${path}`) ?? "" };
      const todo = mode === "copy" ? toCopy(hashes) : judged(hashes);
      if (todo === "nothing") continue;
      if (todo === "same") this.agreed.set(`${id} ${path}`, hashes.here), (same += 1);
      else steps.push({ path, do: todo, ...hashes, size: data?.length ?? mine!.size });
    }
    return { steps, same, unusable: [] };
  }
}

function toCopy({ here, there, agreed }: Pick<Step, "here" | "there" | "agreed">): Step["do"] | "same" | "nothing" {
  if (here === there) return "same";
  if (agreed || !here) return "nothing";
  return there ? "conflict" : "send";
}

function judged({ here, there, agreed }: Pick<Step, "here" | "there" | "agreed">): Step["do"] | "same" {
  if (here === there) return "same";
  if (!here) return agreed ? "gone_here" : "take";
  if (!there) return agreed ? "gone_there" : "send";
  if (here === agreed) return "take";
  return there === agreed ? "send" : "conflict";
}

/** One page of a browser that shows the session. */
export class FakePage implements Session {
  readonly told = new Listeners();
  open: readonly QuestionStep[] = [];
  private connection: Connection = "live";
  private readonly links = new Set<(connection: Connection) => void>();
  private cuts = 0;

  constructor(private readonly kernel: FakeKernel, private readonly view: string) {}

  readonly store = this.makeStore();
  readonly client = this.makeClient();

  /** Cuts the connection: nothing that was asked is answered any more. */
  cut(): void {
    this.cuts += 1;
    this.set("lost");
  }

  reconnect(): void {
    this.set("live");
  }

  ask(open: readonly QuestionStep[]): void {
    this.open = open;
    this.told.tell();
  }

  private set(connection: Connection): void {
    this.connection = connection;
    for (const link of [...this.links]) link(connection);
  }

  private makeStore(): Pick<Store, "facts" | "open" | "subscribe"> {
    const page = this;
    return {
      get facts(): Facts {
        const { version, mappings } = page.kernel;
        const files: FileFacts = { shelf: "shelf", version, mappings, agent_reads: true, can_index: true };
        return { ...FACTS, files };
      },
      get open() {
        return page.open;
      },
      subscribe: (callback) => page.told.subscribe(callback),
    };
  }

  private makeClient(): Client {
    const page = this;
    const lost = () => new RefusedError("ConnectionLost", "gone");
    return {
      get connection() {
        return page.connection;
      },
      async request(type: string, fields: Fields, buffers?: ArrayBuffer[]) {
        if (page.connection === "lost") throw lost();
        const before = page.cuts;
        const answer = await page.kernel.answer(type, fields, page.view, buffers);
        if (page.cuts !== before) throw lost();
        return answer;
      },
      onConnection: (callback: (connection: Connection) => void) => (page.links.add(callback), () => page.links.delete(callback)),
    } as unknown as Client;
  }
}

/** A shelf in memory. */
export class FakeShelf implements Shelf {
  readonly trouble = "";
  readonly kept = new Map<string, Uint8Array>();
  readonly unreadable = new Set<string>();
  readonly ledger = new Map<string, Answer>();
  readonly shown = new KeptShown(new MemoryTables());
  real: RealFolder[] = [];
  readonly told = new Listeners();

  constructor(readonly browser = "browser") {}

  put(path: string, text: string): void {
    this.kept.set(path, utf8ToBytes(text));
    this.told.tell();
  }

  text(path: string): string | undefined {
    const data = this.kept.get(path);
    return data && new TextDecoder().decode(data);
  }

  async entries(): Promise<readonly Entry[]> {
    return [...this.kept.keys()].sort().map((path) => this.entry(path));
  }

  async read(path: string): Promise<Blob> {
    return new Blob([this.find(path) as BlobPart]);
  }

  async write(path: string, content: Blob, { expects, answers }: WriteOptions = {}): Promise<Entry> {
    const there = this.kept.has(path) ? hashOf(this.kept.get(path)!) : "";
    if (expects !== undefined && there !== expects) throw new FileError("Something else is here by now.", "changed");
    this.kept.set(path, new Uint8Array(await content.arrayBuffer()));
    if (answers) this.ledger.set(answers.question, answers.answer);
    this.told.tell();
    return this.entry(path);
  }

  async bringBack(): Promise<void> {}

  async remove(path: string): Promise<() => Promise<void>> {
    const data = this.find(path);
    this.kept.delete(path);
    this.told.tell();
    return async () => void this.kept.set(path, data);
  }

  async hash(path: string): Promise<string> {
    if (this.unreadable.has(path)) throw new FileError("The disk says no.", "denied");
    return hashOf(this.find(path));
  }

  async folders(): Promise<readonly RealFolder[]> {
    return this.real;
  }

  async answered(question: string): Promise<Answer | undefined> {
    return this.ledger.get(question);
  }

  subscribe(callback: () => void): () => void {
    return this.told.subscribe(callback);
  }

  close(): void {}
  async forget(): Promise<void> {}
  async makeFolder(): Promise<void> {}
  async move(): Promise<void> {}
  async closeFolder(): Promise<void> {}

  async allowFolder(name: string): Promise<boolean> {
    this.real = this.real.map((folder) => (folder.name === name ? { name, state: "open" } : folder));
    this.told.tell();
    return true;
  }

  async openFolder({ name }: FileSystemDirectoryHandle): Promise<RealFolder> {
    return { name, state: "open" };
  }

  private entry(path: string): Entry {
    return { path, isDir: false, size: this.find(path).length, modified: 1, folder: "" };
  }

  private find(path: string): Uint8Array {
    const data = this.kept.get(path);
    if (!data) throw new FileError(`${path} is not there.`, "missing");
    return data;
  }
}
