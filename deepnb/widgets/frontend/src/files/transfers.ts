/** Files on their way between the two sides: in parts, checked, and never from the beginning twice. */

import { bytesToHex } from "@noble/hashes/utils.js";
import { sha256 as SHA256 } from "@noble/hashes/sha2.js";

import { RefusedError, type Client } from "../client";
import type { Stored, Upload } from "../protocol";
import { Batch } from "./batch";
import { Job, PAUSED, type Going } from "./job";
import { Lanes } from "./lanes";
import { heard, isLost, isUp, live, sleep } from "./link";
import { Listeners } from "./listeners";
import { named } from "./places";
import { FileError, type DownloadJob, type Entry, type KeepJob, type Shelf, type Transfer, type Transfers, type UploadJob, type Workspace } from "./types";
import { CHUNK } from "./workspace";

/** Parts of a file that are sent without an answer. */
const WINDOW = 3;

/** Bytes of a file that goes whole, as text, with others in one message. */
const SMALL = 64 * 1024;

/** Files at once: a small one waits for the kernel most of the time. */
const AT_ONCE = 64;
const LARGE_AT_ONCE = 2;

/** Milliseconds. */
const SHOWN = 2000; // how long one that is done is still seen
const AGAIN = 500;

const LOST = "The connection to the kernel is cut. This goes on by itself when it is back.";
const BUSY = "The kernel does not answer yet. This goes on by itself when it does.";
const CHANGED = "has changed or vanished while it was sent. Look at it, and send it again.";

/** Why an attempt has ended that has come further: the next one goes on from there. */
const FURTHER = Symbol("further");

export class FileTransfers implements Transfers {
  private jobs: Job[] = [];
  private shown: readonly Transfer[] | null = null;
  private readonly lanes = new Lanes(AT_ONCE);
  private readonly large = new Lanes(LARGE_AT_ONCE);
  private readonly listeners = new Listeners();
  private readonly batch: Batch;

  constructor(
    private readonly client: Client,
    private readonly shelf: Shelf,
    private readonly workspace: Workspace,
  ) {
    this.batch = new Batch(client);
  }

  get list(): readonly Transfer[] {
    this.shown ??= this.jobs.map((job) => job.shown);
    return this.shown;
  }

  upload(fields: UploadJob): Promise<Stored> {
    const { purpose, source, target } = fields;
    const about = { direction: "up", purpose, source, target, size: 0 } as const;
    const job = this.add(new Job(about, () => this.upload(fields), this.changed));
    return this.carry(job, (going) => this.send(job, fields, going));
  }

  download(fields: DownloadJob): Promise<{ entry: Entry; sha256: string }> {
    const { purpose, source, target, size } = fields;
    const about = { direction: "down", purpose, source, target, size } as const;
    const job = this.add(new Job(about, () => this.download(fields), this.changed));
    const got: Got = { parts: [], version: "", hash: SHA256.create() };
    return this.carry(job, (going) => this.take(job, fields, got, going));
  }

  /** Needs no kernel. What becomes of it is told by who asks for it: its line goes at once. */
  async keep(fields: KeepJob): Promise<Entry> {
    const { target, content, expects } = fields;
    const about = { direction: "in", purpose: "copy", source: target, target, size: content.size } as const;
    const job = this.add(new Job(about, () => this.keep(fields), this.changed));
    const going = job.attempt();
    const onRead = async (done: number) => {
      await going(Promise.resolve()); // it may have been cancelled
      job.progress(done);
    };
    job.turn("running");
    try {
      return await this.shelf.write(target, content, { expects, onRead });
    } finally {
      this.drop(job);
    }
  }

  pause(id: string): void {
    const job = this.find(id);
    if (job && job.state !== "failed" && job.state !== "done") job.pause();
  }

  resume(id: string): void {
    const job = this.find(id);
    if (job?.state === "failed") job.again().catch(() => {}); // what becomes of it is in the list
    else job?.resume();
  }

  cancel(id: string): void {
    const job = this.find(id);
    if (!job || job.state === "done") return;
    this.drop(job);
    job.end(`You have cancelled ${named(job.about.source)}.`);
    this.giveUp(job);
  }

  subscribe(callback: () => void): () => void {
    return this.listeners.subscribe(callback);
  }

  /** Leaves what has arrived where it is: whoever comes next goes on from there. */
  close(): void {
    for (const job of this.jobs) job.end("The file explorer was closed.");
  }

  // All of them

  private readonly changed = () => {
    this.shown = null;
    this.listeners.tell();
  };

  private find(id: string): Job | undefined {
    return this.jobs.find((job) => job.id === id);
  }

  /** Adds one, in place of what has failed to do the same. */
  private add(job: Job): Job {
    const { direction, source, target } = job.about;
    const isSame = ({ about, state }: Job) =>
      state === "failed" && about.direction === direction && about.source === source && about.target === target;
    this.jobs = [...this.jobs.filter((other) => !isSame(other)), job];
    this.changed();
    return job;
  }

  private drop(job: Job): void {
    this.jobs = this.jobs.filter((other) => other !== job);
    this.changed();
  }

  /** Tries until it is done, fails for good or is cancelled; neither a pause nor a cut is an end. */
  private async carry<T>(job: Job, attempt: (going: Going) => Promise<T>): Promise<T> {
    for (;;) {
      const going = job.attempt();
      try {
        await going(live(this.client));
        const result = await going(this.lanes.run(() => this.inLane(job, going, attempt)));
        job.turn("done");
        setTimeout(() => this.drop(job), SHOWN);
        return result;
      } catch (error) {
        if (error === PAUSED) await job.resumed;
        else if (job.isOver) throw error;
        else if (isLost(error)) await this.rest(job, going);
        else if (error !== FURTHER) throw this.failed(job, error);
      }
    }
  }

  private async inLane<T>(job: Job, going: Going, attempt: (going: Going) => Promise<T>): Promise<T> {
    await going(Promise.resolve()); // it may have been stopped while it waited
    job.turn("running");
    return attempt(going);
  }

  /** Keeps large files from taking all of the wire. */
  private inTurn<T>(size: number, going: Going, work: () => Promise<T>): Promise<T> {
    if (size <= CHUNK) return work();
    return this.large.run(() => going(Promise.resolve()).then(work));
  }

  private async rest(job: Job, going: Going): Promise<void> {
    job.turn("paused", isUp(this.client.connection) ? BUSY : LOST);
    await going(sleep(AGAIN)).catch(() => {}); // what has stopped it is seen in the next attempt
  }

  private failed(job: Job, error: unknown): FileError {
    const told = explained(job.about.source, error);
    // Who keeps files in step looks again at what has changed, and asks the reader if need be.
    if (told.kind === "changed" && job.about.purpose === "sync") this.drop(job);
    else job.turn("failed", told.message);
    return told;
  }

  private giveUp(job: Job): void {
    if (job.upload) this.client.request("cancel_upload", { upload: job.upload }).catch(() => {});
  }

  // One of them

  private async send(job: Job, fields: UploadJob, going: Going): Promise<Stored> {
    const { purpose, source, target, expects, mapping } = fields;
    const content = await going(this.shelf.read(source));
    // The shelf remembers it. So an upload is found again by what is in it, also after a reload.
    const sha256 = await going(this.shelf.hash(source));
    job.size = content.size;
    const path = purpose === "index" ? source : target;
    const about = { purpose, path, size: content.size, expects, mapping: mapping ?? null, source };
    if (content.size <= SMALL) {
      const data = base64(new Uint8Array(await going(content.arrayBuffer())));
      const stored = await going(this.batch.send({ ...about, sha256, data }));
      job.progress(content.size);
      return stored;
    }
    const all = async () => {
      const begun = await going(heard(this.client.request("begin_upload", { ...about, mark: sha256 })));
      job.upload = begun.upload;
      job.progress(begun.received);
      await this.sendParts(job, content, begun, going);
      return going(heard(this.client.request("end_upload", { upload: begun.upload, sha256 })));
    };
    return this.inTurn(content.size, going, all);
  }

  private async sendParts(job: Job, content: Blob, begun: Upload, going: Going): Promise<void> {
    const unanswered: Promise<void>[] = [];
    try {
      for (let offset = begun.received; offset < content.size; offset += CHUNK) {
        const bytes = await going(content.slice(offset, offset + CHUNK).arrayBuffer());
        if (unanswered.length === WINDOW) await unanswered.shift();
        const answer = going(heard(this.sendPart(begun, offset, bytes)));
        const noted = answer.then(({ received }) => job.progress(received));
        noted.catch(() => {}); // the first that fails is enough
        unanswered.push(noted);
      }
      await Promise.all(unanswered);
    } catch (error) {
      // A part may have been lost on its way: the kernel knows which is next.
      const isRefused = error instanceof RefusedError && !isLost(error);
      throw isRefused && job.done > begun.received ? FURTHER : error;
    }
  }

  private sendPart({ upload, buffers }: Upload, offset: number, bytes: ArrayBuffer) {
    if (buffers) return this.client.request("upload_chunk", { upload, offset }, [bytes]);
    return this.client.request("upload_chunk", { upload, offset, data: base64(new Uint8Array(bytes)) });
  }

  private async take(job: Job, fields: DownloadJob, got: Got, going: Going): Promise<{ entry: Entry; sha256: string }> {
    const all = async () => {
      do {
        const { about, bytes } = await going(heard(this.workspace.chunk(fields.source, job.done, got.version)));
        if (!bytes.length && job.done < about.size) throw new FileError(`${named(fields.source)} could not be read. Try again.`);
        got.parts.push(new Blob([bytes as BlobPart])); // which a browser may keep on disk
        got.hash.update(bytes);
        got.version = about.version;
        job.size = about.size;
        job.progress(job.done + bytes.length);
      } while (job.done < job.size);
      const entry = await this.shelf.write(fields.target, new Blob(got.parts), { expects: fields.expects, keepsEarlier: true });
      return { entry, sha256: bytesToHex(got.hash.digest()) };
    };
    return this.inTurn(fields.size, going, all);
  }
}

/** What has come of a file so far. */
interface Got {
  readonly parts: Blob[];
  version: string;
  readonly hash: ReturnType<typeof SHA256.create>;
}

function explained(source: string, error: unknown): FileError {
  if (error instanceof FileError) return error;
  if (error instanceof RefusedError) return new FileError(error.message, error.kind === "ChangedError" ? "changed" : "other");
  if (error instanceof DOMException) return new FileError(`${named(source)} ${CHANGED}`, "changed");
  return new FileError(`${named(source)} could not be moved: ${(error as Error).message}`);
}

function base64(bytes: Uint8Array): string {
  const STRIDE = 0x8000; // what a call takes as arguments
  let text = "";
  for (let at = 0; at < bytes.length; at += STRIDE) text += String.fromCharCode(...bytes.subarray(at, at + STRIDE));
  return btoa(text);
}
