/** SHA-256 of files of any size. */

import { sha256 as SHA256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

import { bytesOf } from "../tools/page";
import type { WriteOptions } from "../types";

/** Bytes of a file that are read together. */
export const AT_ONCE = 8 * 1024 * 1024;

/**
 * A copy that depends on no file, and its hash.
 *
 * A blob may stand for a file on disk. Kept as it is, in a private window, it is gone when that file is.
 */
export async function copyOf(blob: Blob, onRead?: WriteOptions["onRead"]): Promise<{ readonly copy: Blob; readonly sha256: string }> {
  const hash = SHA256.create();
  const pieces: Blob[] = []; // which the browser moves to its disk when they become many
  for (let at = 0; at < blob.size; at += AT_ONCE) {
    const bytes = await bytesOf(blob.slice(at, at + AT_ONCE));
    hash.update(bytes);
    pieces.push(new Blob([bytes as BlobPart]));
    await onRead?.(at + bytes.length);
  }
  return { copy: new Blob(pieces), sha256: bytesToHex(hash.digest()) };
}

/** The hash in hex. A large file is read in pieces, which the browser's own function cannot do. */
export async function sha256(blob: Blob): Promise<string> {
  if (blob.size <= AT_ONCE) return sha256Of(await bytesOf(blob));
  const hash = SHA256.create();
  for (let at = 0; at < blob.size; at += AT_ONCE) hash.update(await bytesOf(blob.slice(at, at + AT_ONCE)));
  return bytesToHex(hash.digest());
}

/** The same of bytes that were read already. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle; // which a page without TLS does not have
  return bytesToHex(subtle ? new Uint8Array(await subtle.digest("SHA-256", bytes as BufferSource)) : SHA256(bytes));
}
