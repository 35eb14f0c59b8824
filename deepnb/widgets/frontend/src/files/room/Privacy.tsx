/** The last line, always: what has left this browser, how much, and when. */

import { useState } from "preact/hooks";

import { useStore } from "../../app";
import type { Disclosure } from "../../model";
import { timeOfDay } from "../../parts/format";
import { Icon } from "../../parts/Icon";
import { legible } from "../../parts/legible";
import { Dialog } from "./Dialog";
import { bytes } from "./kinds";
import { dayOf, privacyOf, rowOf, rowsOf } from "./disclosed";

export function PrivacyLine() {
  const all = useStore((store) => store.disclosures);
  const [open, setOpen] = useState(false);
  const { strong, rest } = privacyOf(all);
  return (
    <div class="dn-private">
      <Icon name="shield" />
      <span class="dn-grow">{strong && <b>{strong}</b>} {rest}</span>
      {all.length > 0 && <button type="button" class="dn-btn dn-btn-sm" onClick={() => setOpen(true)}>Show all</button>}
      {open && <PrivacyLog all={all} onClose={() => setOpen(false)} />}
    </div>
  );
}

const PAGE = 200;

function PrivacyLog({ all, onClose }: { all: readonly Disclosure[]; onClose: () => void }) {
  const [shown, setShown] = useState(PAGE);
  const rows = rowsOf(all);
  return (
    <Dialog title="What has left this browser" wide onClose={onClose}>
      <p class="dn-small dn-muted">The same as <code>session.disclosures</code>. The latest is first.</p>
      <div class="dn-log-table" tabIndex={0} role="region" aria-label="What has left this browser">
        <table class="dn-table">
          <thead>
            <tr><th scope="col" class="dn-when">When</th><th scope="col">What</th><th scope="col">Files</th><th scope="col" class="r dn-amount">Amount</th></tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row) => <LogRow key={row[0].seq} row={row} />)}
          </tbody>
        </table>
      </div>
      {rows.length > shown && (
        <button type="button" class="dn-btn dn-btn-sm" onClick={() => setShown(shown + PAGE)}>Show more</button>
      )}
    </Dialog>
  );
}

function LogRow({ row }: { row: ReturnType<typeof rowsOf>[number] }) {
  const { words, isEmpty } = rowOf(row);
  const [{ time, paths }] = row;
  return (
    <tr class={isEmpty ? "dn-faint" : undefined}>
      <td>{dayOf(time)}, {timeOfDay(time)}</td>
      <td title={legible(words)}>{legible(words)}</td>
      <td class="dn-mono" title={legible(paths.join("\n"))}><bdi>{pathsOf(row[0])}</bdi></td>
      <td class="r">{bytes(row.reduce((sum, each) => sum + each.bytes, 0))}</td>
    </tr>
  );
}

/** "notes/a.md and 3 more" */
function pathsOf({ paths, files }: Disclosure): string {
  const [first] = paths;
  if (!first) return "";
  return `${legible(first.replace(/^\//, ""))}${files > 1 ? ` and ${files - 1} more` : ""}`;
}
