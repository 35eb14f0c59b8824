/** Lines about what was just done, each with what undoes it, and about what could not be done. */

import { useEffect, useState } from "preact/hooks";

import { Icon } from "../../parts/Icon";
import { legible } from "../../parts/legible";
import { useTask } from "../../parts/useTask";
import type { Files } from "../types";

const STAYS = 10_000; // ms
const MOST_UNDONE = 3; // what can be undone stays, but not all of it

interface Note {
  readonly id: number;
  readonly text: string;
  readonly tone?: "bad";
  readonly undo?: () => Promise<unknown>;
  /** While it is under way it stays. */
  readonly busy?: boolean;
}

export interface Notes {
  readonly list: readonly Note[];
  tell(text: string, undo?: () => Promise<unknown>): void;
  /** Does something, and says so if it cannot be done. While it takes, `text` can be shown. */
  attempt<T>(work: (say: (text: string) => void) => Promise<T>): Promise<T | undefined>;
  close(id: number): void;
}

/** What can be undone outlives the room, which goes when another tab is shown, also while something is under way. */
const undoable = new WeakMap<Files, readonly Note[]>();
let made = 0; // notes

export function useNotes(files: Files): Notes {
  const [list, set] = useState(undoable.get(files) ?? []);
  const change = (how: (list: readonly Note[]) => readonly Note[]) => {
    undoable.set(files, how(undoable.get(files) ?? []).filter(({ undo }) => undo));
    set(how);
  };
  const close = (id: number) => change((list) => list.filter((note) => note.id !== id));
  const put = (note: Note) => change((list) => fewOf([...list.filter((each) => each.id !== note.id && !(isPlain(each) && isPlain(note))), note]));
  return {
    list,
    close,
    tell: (text, undo) => put(undo ? { id: ++made, text, undo } : { id: ++made, text }),
    attempt: async (work) => {
      const id = ++made;
      try {
        return await work((text) => put({ id, text, busy: true }));
      } catch (problem) {
        const undo = problem instanceof HalfDoneError ? { undo: problem.undo } : {};
        put({ id: ++made, text: messageOf(problem), tone: "bad", ...undo });
        return undefined;
      } finally {
        close(id);
      }
    },
  };
}

/** Without the oldest of those that can be undone, if they are many. */
function fewOf(list: readonly Note[]): readonly Note[] {
  const last = list.filter(({ undo }) => undo).slice(-MOST_UNDONE);
  return list.filter((note) => !note.undo || last.includes(note));
}

/** Whether it only says that something was done: the next one takes its place. */
function isPlain({ tone, undo, busy }: Note): boolean {
  return !tone && !undo && !busy;
}

/** Something that could not be done to its end; what was done can be undone. */
export class HalfDoneError extends Error {
  constructor(text: string, readonly undo: () => Promise<unknown>) {
    super(text);
  }
}

export function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

/** Always in the page, so that what comes into it is said by a screen reader. */
export function NoteList({ notes }: { notes: Notes }) {
  return (
    <div class="dn-files-notes" role="status" aria-live="polite">
      {notes.list.map((note) => <NoteLine key={note.id} note={note} onClose={() => notes.close(note.id)} />)}
    </div>
  );
}

function NoteLine({ note: { text, tone, undo, busy }, onClose }: { note: Note; onClose: () => void }) {
  const [held, hold] = useState(false); // who reads it, or is about to press, has time
  const undoing = useTask();
  useEffect(() => {
    if (tone || busy || held || undo) return; // what can be undone stays until the reader closes it
    const timer = setTimeout(onClose, STAYS);
    return () => clearTimeout(timer);
  }, [held, busy]);
  const takeBack = () => undoing.run(async () => (await undo!(), onClose()));
  return (
    <div
      class="dn-note"
      data-tone={tone ?? (undoing.error ? "bad" : undefined)}
      role={tone ? "alert" : undefined}
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      {busy ? <span class="dn-spin" aria-hidden="true" /> : <Icon name={tone ? "warn" : "check"} />}
      <span class="dn-grow"><bdi>{legible(undoing.error || text)}</bdi></span>
      {undo && !undoing.error && (
        <button type="button" class="dn-btn dn-btn-sm" disabled={undoing.busy} onClick={takeBack}>
          Undo
        </button>
      )}
      {!busy && (
        <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Close" onClick={onClose}>
          <Icon name="x" small />
        </button>
      )}
    </div>
  );
}
