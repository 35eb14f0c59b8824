/** Small files, many in one message: for each of hundreds, a message takes longer than the file. */

import { RefusedError, type Client } from "../client";
import type { SmallFile, Stored } from "../protocol";
import { heard } from "./link";

/** Files in one message, and characters: a kernel is to be free again soon. */
const MOST = 32;
const LONGEST = 512 * 1024;

/** Milliseconds in which others may come along. */
const PAUSE = 10;

interface Waiting {
  readonly file: SmallFile;
  resolve(stored: Stored): void;
  reject(error: unknown): void;
}

export class Batch {
  private waiting: Waiting[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly client: Client) {}

  /** Sends a file, with others if there are some. */
  send(file: SmallFile): Promise<Stored> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ file, resolve, reject });
      const length = this.waiting.reduce((sum, { file }) => sum + file.data.length, 0);
      if (this.waiting.length >= MOST || length >= LONGEST) void this.go();
      else this.timer ??= setTimeout(() => void this.go(), PAUSE);
    });
  }

  private async go(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const gone = this.waiting;
    this.waiting = [];
    try {
      const { files } = await heard(this.client.request("send_files", { files: gone.map(({ file }) => file) }));
      files.forEach((told, at) => {
        const { resolve, reject } = gone[at]!;
        if ("kind" in told) reject(new RefusedError(told.kind, told.text));
        else resolve(told);
      });
    } catch (error) {
      for (const { reject } of gone) reject(error);
    }
  }
}
