/** What is done to the files of a mapping: compared, sent, taken, and settled as the reader decides. */

import type { Client } from "../client";
import type { Mapping, SeenFile, Step } from "../protocol";
import { Lanes } from "./lanes";
import { heard, LONGEST_MESSAGE } from "./link";
import { below, beside, hereOf, named, thereOf } from "./places";
import { isLitter, isShownBroken } from "./tools/paths";
import { FileError, type Choice, type Entry, type Shelf, type Transfers, type Undo } from "./types";

/** Files of one mapping, as the kernel takes them. */
const MOST = 50_000;

/** Milliseconds: the first time, the kernel reads all of its side. */
const PATIENCE = 600_000;

/** How many files are hashed at once. */
const HASHED_AT_ONCE = 8;

export interface Compared {
  readonly steps: readonly Step[];
  /** How many files the mapping has, on both sides. */
  readonly files: number;
  /** What is wrong with some of them, in words. */
  readonly problems: readonly string[];
}

/** Nothing can be compared as long as a real folder is not open: it would look as if all were deleted. */
export class FolderClosedError extends FileError {}

export class Carrier {
  constructor(
    private readonly client: Client,
    private readonly shelf: Shelf,
    private readonly transfers: Transfers,
  ) {}

  async compare(mapping: Mapping): Promise<Compared> {
    const all = await this.shelf.entries();
    const entries = seenIn(mapping, all);
    const closed = closedIn(mapping, all);
    const { seen, unreadable } = await this.hashed(mapping, entries);
    await this.checkFolders(mapping);
    if (entries.length > MOST || new Blob([JSON.stringify(seen)]).size > LONGEST_MESSAGE)
      throw new FileError(`${named(mapping.source)} holds too many files for one mapping. Map smaller folders of it.`);
    const asked = { mapping: mapping.id, browser: this.shelf.browser, files: seen };
    const { steps, same, unusable } = await heard(this.client.request("compare_files", asked), PATIENCE);
    const files = steps.filter(({ path }) => !isLitter(path));
    return {
      // What cannot be read is still there, whatever the kernel makes of it.
      steps: files.filter(({ path }) => !unreadable.has(path) && !closed.some((folder) => below(folder, hereOf(mapping, path)) !== null)),
      files: same + files.length,
      problems: [...unreadable.values(), ...closed.map(isClosed), ...unusable],
    };
  }

  /** Sends a file, over what is believed to be there; the kernel notes that both sides agree. */
  async send(mapping: Mapping, path: string, there: string): Promise<void> {
    const [source, target] = [hereOf(mapping, path), thereOf(mapping, path)];
    await this.transfers.upload({ purpose: mapping.mode, source, target, expects: there, mapping: mapping.id });
  }

  /** Takes a file, over what is believed to be here. */
  async take(mapping: Mapping, { path, here, size }: Pick<Step, "path" | "here" | "size">): Promise<void> {
    const [source, target] = [thereOf(mapping, path), hereOf(mapping, path)];
    const { sha256 } = await this.transfers.download({ purpose: "sync", source, target, expects: here, size });
    await this.agree(mapping, path, sha256);
  }

  /** Does what the reader has chosen; gives what undoes it, if it deletes something. */
  async settle(mapping: Mapping, step: Step, choice: Choice): Promise<Undo | null> {
    const { path, do: kind, there } = step;
    if (choice === "mine" && kind === "gone_here") return this.deleted(mapping, step, await this.deleteThere(mapping, step));
    if (choice === "theirs" && kind === "gone_there") return this.deleted(mapping, step, await this.shelf.remove(hereOf(mapping, path)));
    if (kind === "conflict" && choice === "both") await this.keepBoth(mapping, step);
    else if (kind === "gone_here" || (kind === "conflict" && choice === "theirs")) await this.take(mapping, step);
    else await this.send(mapping, path, there);
    return null;
  }

  /** Says that all of a copy is there: what is added to its source later is not sent. */
  async finish(mapping: Mapping): Promise<void> {
    await heard(this.client.request("finish_copy", { mapping: mapping.id }));
  }

  /** Deletes in the workspace what the reader has seen there, and nothing newer. */
  private async deleteThere(mapping: Mapping, { path, there }: Step): Promise<Undo> {
    const { deleted } = await heard(this.client.request("delete_file", { path: thereOf(mapping, path), expects: there }));
    return async () => void (await heard(this.client.request("restore_file", { deleted })));
  }

  /** Notes that a file is on neither side. Who undoes that is asked again; if the kernel misses a note, nothing is lost. */
  private async deleted(mapping: Mapping, { path, agreed }: Step, restore: Undo): Promise<Undo> {
    await this.agree(mapping, path, "").catch(() => {});
    return async () => {
      await restore();
      await this.agree(mapping, path, agreed).catch(() => {});
    };
  }

  /** Puts theirs beside mine here, and then mine in its place there; of a synced folder, the next look sends the other. */
  private async keepBoth(mapping: Mapping, { path, there, size }: Step): Promise<void> {
    const taken = new Set((await this.shelf.entries()).map((entry) => entry.path));
    const mine = hereOf(mapping, path);
    const theirs = beside(mine, "theirs", (each) => taken.has(each));
    const source = thereOf(mapping, path);
    await this.transfers.download({ purpose: "sync", source, target: theirs, expects: "", size });
    await this.send(mapping, path, there);
    if (mapping.is_folder && mapping.mode === "sync") return;
    const target = `${source.slice(0, source.lastIndexOf("/"))}${theirs.slice(theirs.lastIndexOf("/"))}`;
    await this.transfers.upload({ purpose: "copy", source: theirs, target, expects: "" });
  }

  private async agree(mapping: Mapping, path: string, sha256: string): Promise<void> {
    await heard(this.client.request("agree_file", { mapping: mapping.id, path, sha256 }));
  }

  private async hashed(mapping: Mapping, entries: readonly Entry[]) {
    const seen: SeenFile[] = [];
    const unreadable = new Map<string, string>();
    const lanes = new Lanes(HASHED_AT_ONCE);
    const hash = async ({ path: whole, size }: Entry) => {
      const path = below(mapping.source, whole)!;
      try {
        seen.push({ path, size, sha256: await this.shelf.hash(whole) });
      } catch (error) {
        const isMissing = error instanceof FileError && error.kind === "missing";
        if (isShownBroken(whole)) unreadable.set(path, `${named(whole)} has a name that cannot be used here. Rename it on your computer.`);
        else if (!isMissing) unreadable.set(path, `${named(whole)} cannot be read: ${(error as Error).message}`); // else deleted meanwhile
      }
    };
    await Promise.all(entries.map((entry) => lanes.run(() => hash(entry))));
    return { seen, unreadable };
  }

  private async checkFolders({ source }: Mapping): Promise<void> {
    for (const { name, state } of await this.shelf.folders()) {
      const isPart = below(`/${name}`, source) !== null || below(source, `/${name}`) !== null;
      if (!isPart || state === "open") continue;
      throw new FolderClosedError(
        state === "ask"
          ? `The browser has to be asked for the folder ${named(name)} again: choose “Open again” beside it.`
          : `The folder ${named(name)} is not where it was. Bring it back and open it again, or unmap it.`,
      );
    }
  }
}

/** The files that a mapping is about. */
export function seenIn({ source, is_folder }: Mapping, entries: readonly Entry[]): readonly Entry[] {
  const isIn = (rest: string | null) => Boolean(rest && !isLitter(rest));
  return entries.filter(({ path, isDir }) => !isDir && (is_folder ? isIn(below(source, path)) : path === source));
}

/** The folders that a mapping is about, or is in, of which it is not known what they hold. */
function closedIn({ source }: Mapping, entries: readonly Entry[]): readonly string[] {
  const isPart = (path: string) => below(source, path) !== null || below(path, source) !== null;
  return entries.filter(({ path, isDir, isUnreadable }) => isDir && isUnreadable && isPart(path)).map(({ path }) => path);
}

function isClosed(folder: string): string {
  return `The folder ${named(folder)} cannot be read, so nothing in it is kept in step. Allow it to be read on your computer.`;
}
