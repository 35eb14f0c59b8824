/** What only the reader can decide: both sides changed, or one side was deleted. */

import { createTwoFilesPatch } from "diff";
import { useEffect, useState } from "preact/hooks";

import { counted } from "../../parts/format";
import { Icon } from "../../parts/Icon";
import { legible } from "../../parts/legible";
import { useTask, type Task } from "../../parts/useTask";
import { Diff } from "../../questions/Diff";
import { beside } from "../places";
import { nameOf } from "../tools/paths";
import type { Choice, Conflict, Files, Undo } from "../types";
import { undoAll } from "./adding";
import { bytes } from "./kinds";
import { placeOf } from "./links";
import { MOST, textOf } from "./looks";
import type { Item } from "./nodes";
import { messageOf, type Notes } from "./notes";

const SHOWN = 20; // at once; the others come when these are decided

interface ConflictsProps {
  files: Files;
  /** Where to say what could not be done: a conflict that has changed is drawn anew. */
  notes: Notes;
  conflicts: readonly Conflict[];
  /** By path, for sizes and times. */
  mine: ReadonlyMap<string, Item>;
  theirs: ReadonlyMap<string, Item>;
}

/** That there are some, where something else is looked at. */
export function ConflictsLine({ count, onDecide }: { count: number; onDecide: () => void }) {
  return (
    <div class="dn-off" role="status">
      <Icon name="warn" />
      <span class="dn-grow">{counted(count, "file")} {count === 1 ? "waits" : "wait"} for your decision.</span>
      <button type="button" class="dn-btn dn-btn-sm" onClick={onDecide}>Decide</button>
    </div>
  );
}

export function Conflicts({ files, notes, conflicts, mine, theirs }: ConflictsProps) {
  const changed = conflicts.filter((conflict) => !isOnlyGone(conflict));
  const gone = new Map<string, Conflict[]>();
  for (const conflict of conflicts.filter(isOnlyGone)) {
    const key = `${conflict.kind} ${conflict.mapping.id}`;
    gone.set(key, [...(gone.get(key) ?? []), conflict]);
  }
  return (
    <>
      {changed.slice(0, SHOWN).map((conflict, index) => (
        <Changed
          key={keyOf(conflict)}
          files={files}
          notes={notes}
          conflict={conflict}
          mine={mine.get(placeOf(conflict, "mine"))}
          theirs={theirs.get(placeOf(conflict, "workspace"))}
          isFirst={index === 0}
        />
      ))}
      {changed.length > SHOWN && <p class="dn-upload-more dn-small dn-faint">and {counted(changed.length - SHOWN, "more conflict")} after these</p>}
      {[...gone].map(([key, group]) => <Gone key={key} files={files} notes={notes} group={group} />)}
    </>
  );
}

/** Whether a file was deleted on one side, and on the other is what both had: if that has changed, it is looked at by itself. */
function isOnlyGone({ kind, here, there, agreed }: Conflict): boolean {
  return kind !== "conflict" && (here || there) === agreed;
}

/** Decides all in the same way; what is deleted by it can be had back, also if not all could be decided. */
async function decideAll({ sync }: Files, notes: Notes, conflicts: readonly Conflict[], choice: Choice): Promise<void> {
  const deleted: { conflict: Conflict; undo: Undo }[] = [];
  try {
    for (const conflict of conflicts) {
      const undo = await sync.decide(conflict, choice);
      if (undo) deleted.push({ conflict, undo });
    }
  } finally {
    const [first] = deleted;
    const what = first && deleted.length === 1 ? nameOf(placeOf(first.conflict, "mine")) : counted(deleted.length, "file");
    if (first) notes.tell(`Deleted ${what}.`, () => undoAll(deleted.map(({ undo }) => undo)));
  }
}

/** A conflict that has changed is another one: its buttons decide what was looked at, and nothing else. */
function keyOf({ mapping, path, here, there, kind }: Conflict): string {
  return [mapping.id, path, here, there, kind].join(" ");
}

interface ChangedProps {
  files: Files;
  notes: Notes;
  conflict: Conflict;
  mine: Item | undefined;
  theirs: Item | undefined;
  isFirst: boolean;
}

function Changed({ files, notes, conflict, mine, theirs, isFirst }: ChangedProps) {
  const [open, setOpen] = useState(isFirst);
  const task = useTask();
  const path = placeOf(conflict, "mine");
  const name = legible(path.slice(1));
  const decide = (choice: Choice) => task.run(() => notes.attempt(() => decideAll(files, notes, [conflict], choice)));
  return (
    <div class="dn-sect dn-clash" role="group" aria-label={`Conflict in ${name}`}>
      <div class="dn-row dn-wrap dn-clash-head">
        <span class="dn-warn dn-clash-icon"><Icon name="warn" /></span>
        <span class="dn-strong">{titleOf(conflict)}</span>
        <span class="dn-mono dn-muted dn-cut"><bdi>{name}</bdi></span>
        <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-push" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide" : "Compare"}
        </button>
      </div>
      <div class="dn-row dn-wrap dn-conflict">
        <Decide task={task} onClick={() => decide("mine")}>{conflict.here ? "Keep mine" : "Delete theirs too"}</Decide>
        <Decide task={task} onClick={() => decide("theirs")}>{conflict.there ? "Keep theirs" : "Delete mine too"}</Decide>
        {conflict.here && conflict.there && (
          <>
            <Decide task={task} onClick={() => decide("both")}>Keep both</Decide>
            <span class="dn-small dn-faint dn-push">Keep both adds <span class="dn-mono"><bdi>{legible(beside(nameOf(path), "theirs", () => false))}</bdi></span></span>
          </>
        )}
      </div>
      {open && <Compared files={files} conflict={conflict} mine={mine} theirs={theirs} />}
    </div>
  );
}

function titleOf({ here, there }: Conflict): string {
  if (!there) return "You changed it; in the workspace it was deleted";
  return here ? "Both sides changed" : "You deleted it; in the workspace it was changed";
}

function Decide({ task, onClick, children }: { task: Task; onClick: () => void; children: string }) {
  return <button type="button" class="dn-btn" disabled={task.busy} onClick={onClick}>{children}</button>;
}

function Compared({ files, conflict, mine, theirs }: Omit<ChangedProps, "isFirst" | "notes">) {
  const [result, setResult] = useState<string | null>(null);
  useEffect(() => {
    let wanted = true;
    compare(files, conflict).then(
      (result) => wanted && setResult(result),
      (problem) => wanted && setResult(messageOf(problem)),
    );
    return () => void (wanted = false);
  }, []);
  return (
    <div class="dn-action-main dn-compared">
      <div class="dn-two dn-sides">
        <div class="dn-panel-head"><Icon name="monitor" small /><b>Mine</b><span>{aboutOf(mine, conflict.here)}</span></div>
        <div class="dn-panel-head"><Icon name="server" small /><b>Theirs</b><span>{aboutOf(theirs, conflict.there)}</span></div>
      </div>
      {result === null ? <p class="dn-diff-none">Reading both…</p> : <Diff text={result} />}
    </div>
  );
}

function aboutOf(item: Item | undefined, hash: string): string {
  if (!hash) return "deleted";
  return item ? `${bytes(item.size)}, ${whenOf(item.modified)}` : "";
}

function whenOf(modified: number): string {
  const date = new Date(modified);
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

/** A diff from mine to theirs, or a sentence on why there is none. */
async function compare({ shelf, workspace }: Files, conflict: Conflict): Promise<string> {
  const mine = conflict.here ? await shelf.read(placeOf(conflict, "mine")) : new Blob();
  const theirs = conflict.there ? await workspace.head(placeOf(conflict, "workspace"), MOST) : { content: new Blob(), size: 0 };
  if (mine.size > MOST || theirs.size > MOST) return "They are too large to be compared here. Their sizes and times are above.";
  const [here, there] = [await textIn(mine), await textIn(theirs.content)];
  if (here === null || there === null) return "They are no texts, so they cannot be compared here. Their sizes and times are above.";
  const patch = createTwoFilesPatch("mine", "theirs", here, there, "", "", { context: 2, timeout: 500 });
  return patch ?? "They have too little in common to be compared here.";
}

async function textIn(blob: Blob): Promise<string | null> {
  return textOf(new Uint8Array(await blob.arrayBuffer()));
}

/** Deletions are proposed, never done; all of one kind in a mapping are decided together, if nothing else has changed. */
function Gone({ files, notes, group }: { files: Files; notes: Notes; group: readonly Conflict[] }) {
  const task = useTask();
  const [drawn] = useState(group.length);
  const isMine = group[0]!.kind === "gone_here";
  const decide = (choice: Choice) => task.run(() => notes.attempt(() => decideAll(files, notes, group, choice)));
  const what = counted(group.length, "file");
  const them = group.length === 1 ? "it" : "them";
  const was = group.length === 1 ? "was" : "were";
  return (
    <div class="dn-sect dn-clash" role="group" aria-label={isMine ? "Deleted in My computer" : "Deleted in the workspace"}>
      <div class="dn-row dn-wrap dn-clash-head">
        <Icon name="trash" />
        <span class="dn-strong">{isMine ? `${what} ${was} deleted in My computer` : `${what} ${was} deleted in the workspace`}</span>
        <span class="dn-small dn-faint">the other side still has {them}</span>
      </div>
      <ul class="dn-small dn-mono dn-names">
        {group.slice(0, 6).map((conflict) => <li key={conflict.path} class="dn-cut"><bdi>{legible(placeOf(conflict, isMine ? "workspace" : "mine").slice(1))}</bdi></li>)}
        {group.length > 6 && <li>and {group.length - 6} more</li>}
      </ul>
      <div class="dn-row dn-wrap dn-conflict">
        <Decide task={task} onClick={() => decide(isMine ? "theirs" : "mine")}>{isMine ? `Take ${them} back` : `Send ${them} again`}</Decide>
        <Decide task={task} onClick={() => decide(isMine ? "mine" : "theirs")}>{isMine ? `Delete ${them} in the workspace too` : `Delete ${them} here too`}</Decide>
        {task.busy && drawn > 1 && <span class="dn-small dn-faint" role="status">{group.length} left</span>}
      </div>
    </div>
  );
}
