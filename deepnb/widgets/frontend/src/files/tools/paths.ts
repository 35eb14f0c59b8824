/**
 * Which strings are paths: the same as for the kernel, in files/paths.py.
 *
 * They come from models, the kernel and file names on disk: from nobody who can be trusted. What passes
 * `safeParts` is plain names below a root, also in the eyes of other systems.
 */

import { FileError } from "../types";
import { ascii, casefold, lengthOf, repr } from "./python";

const LONGEST_PART = 255; // bytes
const LONGEST_PATH = 4096;
const HOME = /^~[\p{L}\p{N}_-]*$/u;
const DRIVE = /^[A-Za-z]:/;
const RECORD = ".deepnb"; // deepnb's own record of a session
const UNUSABLE_MARK = "\ufffd";
const ORDINARY = /^[A-Za-z0-9_-](?:[A-Za-z0-9_. -]*[A-Za-z0-9_-])?$/;
// A backslash; control, format (zero-width, bidirectional) and half characters; line separators; what Unicode
// lets a renderer leave out and does not call a format character; a blank of braille.
const UNUSABLE =
  /[\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\u{e0000}-\u{e0fff}]/u;
const ALL_UNUSABLE = new RegExp(UNUSABLE.source, "gu");
const encoder = new TextEncoder();

/** Splits a path into names that stay under their root; throws for what could be read as anything else. */
export function safeParts(path: string): string[] {
  if (lengthOf(path) > LONGEST_PATH) {
    throw new FileError(`The path is longer than ${LONGEST_PATH} characters. Use a shorter one.`, "path");
  }
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts[0] !== undefined && HOME.test(parts[0])) {
    throw new FileError(`${repr(path)} starts with '~': there is no home folder here. Start with '/'.`, "path");
  }
  for (const part of parts) {
    const problem = ORDINARY.test(part) ? "" : problemOf(part);
    if (problem) throw new FileError(problem, "path");
    if (part.length * 3 > LONGEST_PART && encoder.encode(part).length > LONGEST_PART) {
      throw new FileError(`A name is longer than ${LONGEST_PART} bytes. Use a shorter one.`, "path");
    }
  }
  return parts;
}

/** A path in its one spelling: "/notes/a.md". */
export function cleanPath(path: string): string {
  return join(safeParts(path));
}

export function join(parts: readonly string[]): string {
  return `/${parts.join("/")}`;
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export function nameOf(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? "";
}

/** Whether a path is a folder's own, or of something in it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

// What systems and programs put into folders for themselves.
const LITTER = /(?:^|\/)(?:\.DS_Store|Thumbs\.db|\.ipynb_checkpoints)(?:\/|$)/i;

/** Whether something is of no use to anybody but the program that has left it in a folder. */
export function isLitter(path: string): boolean {
  return LITTER.test(path);
}

/**
 * A name on disk as agents see it, or null where they must not see it at all.
 *
 * What cannot be written in a path is shown as a replacement character: a file with a broken name is then
 * noticed rather than missing, even though it cannot be opened.
 */
export function shown(name: string): string | null {
  if (ORDINARY.test(name)) return name;
  const visible = name.replace(ALL_UNUSABLE, UNUSABLE_MARK);
  try {
    return safeParts(visible).join("/");
  } catch {
    return null;
  }
}

export function isShownBroken(name: string): boolean {
  return name.includes(UNUSABLE_MARK);
}

function problemOf(part: string): string {
  if (UNUSABLE.test(part)) {
    return `${ascii(part)} has a backslash or an invisible character. Use '/' between folders and visible characters in names.`;
  }
  const normal = part.normalize("NFKC");
  if (/[/\\]/.test(normal)) return `${repr(part)} has a character that can be taken for a slash. Use plain '/'.`;
  if (!/[^ .]/.test(normal)) return `${repr(part)} is not a name: paths cannot go up. Write the full path instead.`;
  if (DRIVE.test(normal)) return `${repr(part)} looks like a drive letter. Start the path with '/' instead.`;
  // Windows ignores what follows a colon and trailing dots and spaces; other systems ignore case.
  if (casefold(normal).split(":")[0]!.replace(/[ .]+$/, "") === RECORD) {
    return `${repr(part)} is deepnb's own record and off limits. Choose another path.`;
  }
  return "";
}
