/** Puts what was dropped, picked or pasted onto the shelf; nothing that is there is lost. */

import { counted } from "../../parts/format";
import { under } from "../places";
import { copyOf } from "../shelf/hash";
import { freeName } from "../shelf/incoming";
import { isWithin, nameOf } from "../tools/paths";
import type { Entry, Files } from "../types";
import { HalfDoneError, messageOf } from "./notes";

/** Bytes of a file that takes a while to be read, and can be given up meanwhile. */
const LARGE = 32 * 1024 * 1024;

type Home = Pick<Files, "shelf" | "transfers">;

/** Something new, and where it is to be. */
export interface Arrived {
  readonly path: string;
  readonly blob: Blob;
  readonly isRenamed: boolean;
  /** It is not added, and the reader is told how many are not. */
  readonly isLitter: boolean;
}

export interface Added {
  readonly text: string;
  /** Null where all that came was new: then a deletion undoes it. */
  readonly undo: (() => Promise<unknown>) | null;
}

/** The same below a folder. */
export function into(folder: string, arrived: readonly Arrived[]): Arrived[] {
  return arrived.map((each) => ({ ...each, path: under(folder, each.path.slice(1)) }));
}

export function takenOf(arrived: readonly Arrived[], paths: ReadonlySet<string>): string[] {
  return arrived.filter(({ path, isLitter }) => !isLitter && paths.has(path)).map(({ path }) => path);
}

/** Adds all; says how far it has come, and how far it came if it has to stop. */
export async function add(
  home: Home,
  all: readonly Arrived[],
  paths: ReadonlySet<string>,
  replace: boolean,
  say: (text: string) => void,
): Promise<Added> {
  const arrived = all.filter(({ isLitter }) => !isLitter);
  const taken = new Set(paths);
  const undos: (() => Promise<unknown>)[] = [];
  for (const [index, { path, blob }] of arrived.entries()) {
    if (index % 25 === 0 && arrived.length > 25) say(`Adding ${index + 1} of ${arrived.length}`);
    try {
      const isReplaced = replace && paths.has(path);
      const free = isReplaced ? path : freeName(path, taken);
      taken.add(free);
      if (isReplaced) undos.push(await replaced(home, path, blob));
      else await write(home, free, blob, "");
    } catch (problem) {
      const before = index ? ` ${counted(index, "file")} of ${arrived.length} ${index === 1 ? "was" : "were"} added before.` : "";
      const told = `${nameOf(path)} was not added. ${messageOf(problem)}${before}`;
      throw undos.length ? new HalfDoneError(told, () => undoAll(undos)) : new Error(told);
    }
  }
  const text = (arrived.length === 1 ? nameOf(arrived[0]!.path) : counted(arrived.length, "file")) + `.${notesOn(arrived, all.length - arrived.length)}`;
  return undos.length ? { text: `Replaced ${text}`, undo: () => undoAll(undos) } : { text: `Added ${text}`, undo: null };
}

function notesOn(arrived: readonly Arrived[], left: number): string {
  const renamed = arrived.filter(({ isRenamed }) => isRenamed).length;
  const changed = renamed ? ` ${counted(renamed, "name")} cannot be used here and ${renamed === 1 ? "was" : "were"} changed.` : "";
  return left ? `${changed} ${counted(left, "system file")} (.DS_Store and the like) ${left === 1 ? "was" : "were"} left out.` : changed;
}

/** Takes back each; one that cannot be does not keep the others. */
export async function undoAll(undos: readonly (() => Promise<unknown>)[]): Promise<void> {
  const problems: unknown[] = [];
  for (const back of undos.toReversed()) await back().catch((problem: unknown) => problems.push(problem));
  if (problems.length) throw problems[0];
}

function write({ shelf, transfers }: Home, path: string, blob: Blob, expects: string): Promise<Entry> {
  return blob.size > LARGE ? transfers.keep({ target: path, content: blob, expects }) : shelf.write(path, blob, { expects });
}

/** Takes the place of something, and gives what puts it back. */
async function replaced(home: Home, path: string, blob: Blob): Promise<() => Promise<unknown>> {
  const { shelf } = home;
  const isOnDisk = (await shelf.folders()).some(({ name }) => isWithin(path, `/${name}`));
  const expects = await shelf.hash(path);
  const old = await shelf.read(path); // the browser keeps its own as long as somebody holds it
  const before = isOnDisk ? (await copyOf(old)).copy : old; // a disk keeps nothing that is written over
  await write(home, path, blob, expects);
  const after = await shelf.hash(path);
  return () => shelf.write(path, before, { expects: after });
}
