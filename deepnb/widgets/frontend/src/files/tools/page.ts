/** One page of a text at a time, at the cost of a page: the same as for the kernel, in files/text.py. */

import { FileError } from "../types";
import { lengthOf } from "./python";
import { decode } from "./text";

const PAGE = 256 * 1024; // characters
const LINE = 64 * 1024; // bytes
const BLOCK = 1024 * 1024;
const COUNTED = 8 * 1024 * 1024; // what is left of a file is counted to its end only up to here
const FEED = 0x0a;

export interface Page {
  readonly text: string;
  readonly first: number;
  readonly last: number;
  /** Undefined where counting to the end would cost too much. */
  readonly total: number | undefined;
  readonly more: boolean;
}

/** Reads `limit` lines after the first `offset`, or as many as fit; a number if the file ends before: how many it has. */
export async function readPage(file: Blob, offset: number, limit: number): Promise<Page | number> {
  const reader = new Reader(file);
  if (await reader.startsWith(0xef, 0xbb, 0xbf)) reader.position = 3;
  const skipped = await reader.skipLines(offset);
  const lines: string[] = [];
  let used = 0;
  while (skipped === offset && lines.length < limit && used < PAGE) {
    const line = await readLine(reader);
    if (line === null) break;
    lines.push(line);
    used += lengthOf(line);
  }
  if (lines.length === 0) return skipped;
  const last = offset + lines.length;
  const rest = file.size - reader.position;
  let total: number | undefined = last;
  if (rest > 0) total = rest <= COUNTED ? last + (await reader.skipLines(rest)) : undefined;
  return { text: lines.join(""), first: offset + 1, last, total, more: rest > 0 };
}

async function readLine(reader: Reader): Promise<string | null> {
  const line = await reader.line(LINE);
  if (line.length === 0) return null;
  if (line.length < LINE || line.at(-1) === FEED) {
    const text = decode(line);
    return text.endsWith("\r\n") ? `${text.slice(0, -2)}\n` : text;
  }
  let cut = 0;
  let rest = await reader.line(BLOCK);
  while (rest.length > 0 && rest.at(-1) !== FEED) {
    cut += rest.length;
    rest = await reader.line(BLOCK);
  }
  let end = rest.length;
  while (end > 0 && (rest[end - 1] === FEED || rest[end - 1] === 0x0d)) end--;
  cut += end;
  // The cut may fall inside a character, whose bytes are left out.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(line, { stream: true });
  const note = cut ? ` ... [${cut.toLocaleString("en-US")} more bytes of this line are not shown]` : "";
  return text + note + (rest.at(-1) === FEED ? "\n" : "");
}

/** Reads a blob in blocks, so that a file of any size costs the memory of one. */
class Reader {
  position = 0;
  private block: Uint8Array = new Uint8Array();
  private start = 0;

  constructor(private readonly file: Blob) {}

  async startsWith(...bytes: number[]): Promise<boolean> {
    const here = await this.here();
    return bytes.every((byte, at) => here[at] === byte);
  }

  /** The bytes up to a line end, at most so many; none at the end of the file. */
  async line(most: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    while (length < most) {
      const here = (await this.here()).subarray(0, most - length);
      const end = here.indexOf(FEED);
      const piece = end < 0 ? here : here.subarray(0, end + 1);
      if (piece.length === 0) break;
      pieces.push(piece);
      length += piece.length;
      this.position += piece.length;
      if (end >= 0) break;
    }
    return pieces.length === 1 ? pieces[0]! : joined(pieces, length);
  }

  /** Moves behind so many lines; gives how many there were. */
  async skipLines(count: number): Promise<number> {
    let seen = 0;
    let ended = true; // whether the last byte seen closed a line
    while (seen < count) {
      const here = await this.here();
      if (here.length === 0) return ended ? seen : seen + 1;
      let end = -1;
      while (seen < count) {
        const next = here.indexOf(FEED, end + 1);
        if (next < 0) break;
        end = next;
        seen++;
      }
      const used = seen < count ? here.length : end + 1;
      ended = here[used - 1] === FEED;
      this.position += used;
    }
    return seen;
  }

  /** What has been read and not yet used, read on if that is nothing. */
  private async here(): Promise<Uint8Array> {
    if (this.position < this.start || this.position >= this.start + this.block.length) {
      this.start = this.position;
      this.block = await bytesOf(this.file.slice(this.start, this.start + BLOCK));
    }
    return this.block.subarray(this.position - this.start);
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** The bytes of a blob; a file on disk that has changed since it was opened cannot be read any more. */
export async function bytesOf(blob: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch {
    throw new FileError("The file has changed or gone while it was read. Try again.", "changed");
  }
}
