/** Where files of a mapping are on its two sides, and how they are called in a sentence. */

import { oneLine } from "../parts/legible";
import type { Mapping } from "../protocol";
import { withMark } from "./shelf/incoming";

/** The path of something below a file or folder, or of that itself. */
export function under(root: string, path: string): string {
  if (!path) return root;
  return root === "/" ? `/${path}` : `${root}/${path}`;
}

/** Where below a file or folder something is; empty for that itself, null for what is elsewhere. */
export function below(root: string, path: string): string | null {
  if (path === root) return "";
  const start = root === "/" ? "/" : `${root}/`;
  return path.startsWith(start) ? path.slice(start.length) : null;
}

export function hereOf(mapping: Mapping, path: string): string {
  return under(mapping.source, path);
}

export function thereOf(mapping: Mapping, path: string): string {
  return under(mapping.target, path);
}

/** "/a/notes.md" and " (theirs)" make "/a/notes (theirs).md"; of a name that is taken, " (theirs 2)". */
export function beside(path: string, word: string, isTaken: (path: string) => boolean): string {
  for (let count = 1; ; count += 1) {
    const made = withMark(path, ` (${word}${count > 1 ? ` ${count}` : ""})`);
    if (!isTaken(made)) return made;
  }
}

/** A path for a sentence that somebody reads. */
export function named(path: string): string {
  return `“${oneLine(path, 120)}”`;
}
