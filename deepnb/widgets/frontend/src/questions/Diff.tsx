/** A change as a person can check it: side by side where there is room, else one below the other. */

import { useMemo, useState } from "preact/hooks";

import { CopyButton } from "../parts/CopyButton";
import { counted } from "../parts/format";
import { legible } from "../parts/legible";
import { pairs, readDiff, type Changes, type Hunk, type Line } from "./unified";

/** Shows a unified diff, bare or in a Markdown fence; a text that is none is shown as it is. */
export function Diff({ text }: { text: string }) {
  const changes = useMemo(() => readDiff(text), [text]);
  // A file that is new has nothing to stand beside.
  const [unified, setUnified] = useState(changes?.removed === 0);
  if (!changes) return <p class="dn-diff-none">{legible(text)}</p>;
  return (
    <div class="dn-diffs" data-unified={unified || undefined}>
      <div class="dn-panel-head">
        <span>{size(changes)}</span>
        <span class="dn-seg dn-push" role="group" aria-label="Diff view">
          <button type="button" aria-pressed={!unified} onClick={() => setUnified(false)}>
            Side by side
          </button>
          <button type="button" aria-pressed={unified} onClick={() => setUnified(true)}>
            Unified
          </button>
        </span>
        <CopyButton
          class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon"
          label="Copy the diff"
          text={() => changes.text}
        />
      </div>
      {/* Long ones scroll, and what scrolls must be reachable without a mouse. */}
      <div class="dn-diff-scroll" role="region" aria-label="Changes" tabIndex={0}>
        {!unified && <Rows view="split" changes={changes} />}
        <Rows view="unified" changes={changes} />
        {changes.cut && <p class="dn-diff-none">{changes.cut}</p>}
      </div>
    </div>
  );
}

function size({ added, removed, cut }: Changes): string {
  const all = added + removed;
  return `${cut ? "More than " : ""}${counted(all, "line")} ${all === 1 ? "changes" : "change"}`;
}

function Rows({ view, changes }: { view: "split" | "unified"; changes: Changes }) {
  const show = view === "split" ? sideBySide : oneBelowTheOther;
  return (
    <div class="dn-diff" data-view={view}>
      {changes.hunks.map((hunk) => (
        <>
          <span class="h">{hunk.title}</span>
          {show(hunk)}
        </>
      ))}
    </div>
  );
}

function sideBySide(hunk: Hunk) {
  return pairs(hunk.lines).map(([old, now]) => (
    <>
      <LineNumber line={old} side="before" />
      <Text line={old} />
      <LineNumber line={now} side="after" />
      <Text line={now} />
    </>
  ));
}

function oneBelowTheOther(hunk: Hunk) {
  return hunk.lines.map((line) => (
    <>
      <LineNumber line={line} side="before" />
      <LineNumber line={line} side="after" />
      <Text line={line} />
    </>
  ));
}

const TONES = { same: undefined, added: "a", removed: "d" };

function LineNumber({ line, side }: { line: Line | null; side: "before" | "after" }) {
  return <i class={line ? TONES[line.kind] : "e"}>{line?.[side]}</i>;
}

function Text({ line }: { line: Line | null }) {
  if (!line) return <span class="e" />;
  const Mark = line.kind === "added" ? "ins" : "del";
  return (
    <span class={TONES[line.kind]} dir="ltr">
      {line.parts.map(({ text, marked }) => (marked ? <Mark>{legible(text)}</Mark> : legible(text)))}
      {line.note && <small class="dn-faint"> {legible(line.note)}</small>}
    </span>
  );
}
