/** What the room knows of the files, kept up to date. */

import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";

import type { Entry, Files, RealFolder, Shelf } from "../types";
import { sleep } from "../link";
import type { Side } from "./links";
import { kept, ofWorkspace, type Item, type Listing } from "./nodes";
import { messageOf } from "./notes";
import type { Stand } from "./Side";

/** Draws again whenever something has changed. */
export function useChanges(source: { subscribe(callback: () => void): () => void }): number {
  const [count, draw] = useReducer((count: number) => count + 1, 0);
  useLayoutEffect(() => {
    draw(undefined); // it may have changed since it was drawn
    return source.subscribe(() => draw(undefined));
  }, [source]);
  return count;
}

export interface Mine {
  /** Null until they were read. */
  readonly items: readonly Item[] | null;
  /** How many are not shown. */
  readonly left: number;
  readonly paths: ReadonlySet<string>;
  readonly problem: string;
  readonly again: () => void;
}

/** How many times as long as it takes to read all files, until they are read again: thousands may be written one by one. */
const REST = 5;

interface Read {
  readonly entries: readonly Entry[];
  readonly folders: readonly RealFolder[];
}

/** What was read last: whoever comes back from another tab sees it at once, and then what has changed. */
const lastRead = new WeakMap<Shelf, Read>();
const reading = new WeakMap<Shelf, Promise<Read>>();

async function readAll(shelf: Shelf): Promise<Read> {
  const [entries, folders] = await Promise.all([shelf.entries(), shelf.folders()]);
  lastRead.set(shelf, { entries, folders });
  return { entries, folders };
}

/** Reads them before anybody looks at them. */
export function readAhead(shelf: Shelf): void {
  const leave = shelf.subscribe(() => reading.delete(shelf)); // then it is not all, and is read anew
  const work = readAll(shelf).finally(() => (leave(), reading.delete(shelf)));
  work.catch(() => {}); // who looks at them reads them again, and is told
  reading.set(shelf, work);
}

/** The shelf's files. Changes that come while they are read have them read once more, not many times. */
export function useMine(shelf: Shelf): Mine {
  const [read, setRead] = useState(lastRead.get(shelf) ?? null);
  const [problem, setProblem] = useState("");
  const look = useRef(() => {});
  useEffect(() => {
    let [isReading, isStale, isOver] = [false, false, false];
    look.current = async () => {
      isStale = true;
      if (isReading) return;
      isReading = true;
      while (isStale && !isOver) {
        isStale = false;
        const began = performance.now();
        try {
          const read = await (reading.get(shelf) ?? readAll(shelf));
          if (!isOver) (setRead(read), setProblem(""));
        } catch (error) {
          if (!isOver) setProblem(messageOf(error));
        }
        await sleep(REST * (performance.now() - began));
      }
      isReading = false;
    };
    look.current();
    const leave = shelf.subscribe(() => look.current());
    return () => {
      isOver = true;
      leave();
    };
  }, [shelf]);
  const { items, left } = useMemo(() => (read ? kept(read.entries, read.folders) : NOTHING), [read]);
  const paths = useMemo(() => new Set(items?.map((item) => item.path)), [items]);
  return { items, left, paths, problem, again: () => look.current() };
}

const NOTHING = { items: null, left: 0 };

export function useTheirs({ workspace }: Files): Listing | typeof NOTHING {
  useChanges(workspace);
  return useMemo(() => (workspace.files ? ofWorkspace(workspace.files) : NOTHING), [workspace.files]);
}

const FRESH: Stand = { open: new Set(), current: "", filter: null };
const FEW = 40; // of which all folders can be open from the start

/** Outlives the room, which goes when another tab is shown. */
const stands = new WeakMap<Files, Record<Side, Stand>>();

export function useStand(files: Files, side: Side, items: readonly Item[] | null): [Stand, (change: Partial<Stand>) => void] {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const all = stands.get(files) ?? { mine: FRESH, workspace: FRESH };
  stands.set(files, all);
  if (all[side] === FRESH && items) {
    const folders = items.length <= FEW ? items.filter((item) => item.isDir).map((item) => item.path) : [];
    all[side] = { ...FRESH, open: new Set(folders) };
  }
  const change = (part: Partial<Stand>) => {
    all[side] = { ...all[side], ...part };
    draw(undefined);
  };
  return [all[side], change];
}
