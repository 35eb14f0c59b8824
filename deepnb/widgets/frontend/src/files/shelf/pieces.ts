/** Files and folders that are put somewhere together. */

import type { Entry } from "../types";
import type { Kept, Row } from "./kept";
import type { Real } from "./real";

/** A file that is to be somewhere, or a folder: that has nothing to be read. */
export interface Piece {
  readonly path: string;
  readonly read: (() => Promise<Blob>) | null;
}

export function pieceOf({ row, content }: { row: Row; content: Blob | null }): Piece {
  return { path: row.path, read: content && (() => Promise.resolve(content)) };
}

/** Puts all of it there or nothing; what it takes back is only what it has made. */
export async function putAll(home: Real | Kept, pieces: readonly Piece[]): Promise<void> {
  const made: Entry[] = [];
  try {
    for (const { path, read } of pieces) {
      if (read) made.push(await home.write(path, await read(), { expects: "" }));
      else {
        await home.makeFolder(path);
        made.push({ path, isDir: true, size: 0, modified: 0, folder: "" });
      }
    }
  } catch (error) {
    for (const each of made.toReversed()) await home.takeAway([each]).catch(() => undefined);
    throw error;
  }
}
