/** The kernel's side: its folder, as it was listed last, and what can be done there. */

import type { Session } from "../explorer";
import type { Chunk, Stored, WorkspaceFile } from "../protocol";
import { Listeners } from "./listeners";
import { heard, isUp, onBack } from "./link";
import type { Workspace } from "./types";

/** Bytes in one message. */
export const CHUNK = 1024 * 1024;

/** Milliseconds between listings that nobody has asked for: five hundred files that arrive are as many changes. */
const PAUSE = 2_000;

export class KernelWorkspace implements Workspace {
  files: readonly WorkspaceFile[] | null = null;
  truncated = false;
  problem = "";

  private readonly listeners = new Listeners();
  private listed = -1; // the version of the workspace that `files` is, or is about to be
  private refreshing: Promise<void> | null = null;
  private lately = -Infinity; // when it was listed
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asText = false; // whether this host loses bytes beside messages
  private readonly leave: (() => void)[];

  constructor(private readonly session: Session) {
    const { store, client } = session;
    this.leave = [store.subscribe(() => this.look()), onBack(client, () => this.look(true))];
  }

  private get version(): number {
    return this.session.store.facts?.files?.version ?? this.listed;
  }

  /** Lists it anew; who asks while that is done gets what is true afterwards. */
  async refresh(): Promise<void> {
    await this.refreshing;
    this.refreshing ??= this.list().finally(() => (this.refreshing = null));
    await this.refreshing;
  }

  async makeFolder(path: string): Promise<void> {
    await this.session.client.request("make_folder", { path });
    await this.refresh();
  }

  async move(path: string, to: string): Promise<void> {
    await this.session.client.request("move_file", { path, to });
    await this.refresh();
  }

  async remove(path: string): Promise<() => Promise<void>> {
    const { deleted } = await this.session.client.request("delete_file", { path });
    await this.refresh();
    return async () => {
      await this.session.client.request("restore_file", { deleted });
      await this.refresh();
    };
  }

  async head(path: string, most: number): Promise<{ content: Blob; size: number }> {
    const { about, bytes } = await this.part(path, 0, Math.min(most, CHUNK), "");
    return { content: new Blob([bytes as BlobPart]), size: about.size };
  }

  chunk(path: string, offset: number, seen: string): Promise<{ about: Chunk; bytes: Uint8Array }> {
    return this.part(path, offset, CHUNK, seen);
  }

  async fetchPage(url: string): Promise<Stored> {
    const stored = await this.session.client.request("fetch_page", { url });
    await this.refresh();
    return stored;
  }

  subscribe(callback: () => void): () => void {
    const leave = this.listeners.subscribe(callback);
    this.look();
    return leave;
  }

  close(): void {
    clearTimeout(this.timer);
    for (const leave of this.leave) leave();
  }

  /** Keeps the listing true as long as somebody looks at it. */
  private look(isDue = false): void {
    if (this.listeners.isEmpty || !isUp(this.session.client.connection)) return;
    if (!isDue && this.version === this.listed) return;
    clearTimeout(this.timer);
    const pause = isDue ? 0 : this.lately + PAUSE - performance.now();
    if (pause <= 0) void this.refresh();
    else this.timer = setTimeout(() => this.look(), pause);
  }

  private async list(): Promise<void> {
    this.listed = this.version;
    this.lately = performance.now();
    try {
      const { files, truncated } = await heard(this.session.client.request("list_workspace", {}));
      Object.assign(this, { files, truncated, problem: "" });
    } catch (error) {
      this.problem = (error as Error).message;
    }
    this.listeners.tell();
  }

  private async part(path: string, offset: number, length: number, seen: string): Promise<{ about: Chunk; bytes: Uint8Array }> {
    const ask = () => this.session.client.request("download_chunk", { path, offset, length, seen, as_text: this.asText });
    let { bytes, ...about } = await ask();
    if (!bytes.length && offset < about.size && !this.asText) {
      this.asText = true;
      ({ bytes, ...about } = await ask());
    }
    return { about, bytes };
  }
}
