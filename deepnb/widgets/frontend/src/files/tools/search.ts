/** Passages that share the most telling words with a question. */

import type { Shelf } from "../types";
import { bm25, terms } from "./keywords";
import { passages } from "./passages";
import type { Arguments } from "./requests";
import { decode, kindOfContent, kindOfName } from "./text";
import { contents, Deadline, walk } from "./walk";

const LARGEST_RANKED = 4 * 1024 * 1024; // of one file
const ALL_RANKED = 16 * 1024 * 1024; // of all files

export interface Ranked {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly score: number;
}

export async function search(shelf: Shelf, { query, path, top_k }: Arguments["search_files"]): Promise<{ matches: Ranked[] }> {
  const deadline = new Deadline();
  const found: { path: string; line: number; text: string }[] = [];
  const documents: string[][] = [];
  let left = ALL_RANKED;
  const files = (await walk(shelf, path, false)).filter(({ below }) => !kindOfName(below));
  for await (const [{ entry }, bytes] of contents(shelf, files, () => Math.min(left, LARGEST_RANKED))) {
    if (deadline.isOver) break;
    if (!bytes?.length || bytes.length > left || kindOfContent(bytes)) continue;
    left -= bytes.length;
    for (const passage of passages(decode(withoutMark(bytes)))) {
      found.push({ path: entry.path, ...passage });
      documents.push(terms(passage.text));
    }
  }
  const best = bm25(terms(query), documents).slice(0, top_k);
  return { matches: best.map(({ index, score }) => ({ ...found[index]!, score: Number(score.toFixed(4)) })) };
}

function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
