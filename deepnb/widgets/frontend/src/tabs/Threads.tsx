/** The threads of the workspace: what was asked before, to be opened again. */

import { useEffect, useRef, useState } from "preact/hooks";

import { useApp, useConnection, useStore } from "../app";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import { step } from "../parts/Popover";
import { useTask } from "../parts/useTask";
import type { Thread } from "../protocol";
import { daysOf, noteOf, whenOf, type Entry } from "./threadList";

export function Threads() {
  const { client, ui } = useApp();
  const connection = useConnection();
  const status = useStore((store) => store.facts?.status);
  const current = useStore((store) => store.facts?.thread) ?? "";
  const [threads, setThreads] = useState<readonly Thread[] | null>(null);
  const [search, setSearch] = useState("");
  const pane = useRef<HTMLDivElement>(null);
  const listing = useTask();
  const opening = useTask();

  useEffect(() => {
    if (connection === "lost") return;
    void listing.run(async () => setThreads((await client.request("threads", {})).threads));
  }, [client, current, status, connection === "lost"]);

  const close = () => {
    ui.set({ history: false });
    pane.current?.closest(".dn-shell")?.querySelector<HTMLElement>(".dn-title")?.focus();
  };
  const show = (ask: () => Promise<unknown>) =>
    opening.run(async () => {
      await ask();
      // In a narrow panel the list hides what was just opened.
      if ((pane.current?.closest(".dn")?.clientWidth ?? 0) <= 640) close();
    });
  const error = opening.error || listing.error;
  return (
    <div
      ref={pane}
      class="dn-pane"
      onKeyDown={(event) => event.key === "Escape" && !event.defaultPrevented && close()}
    >
      <div class="dn-row dn-threads-head">
        <div class="dn-search dn-grow">
          <Icon name="search" small />
          <input
            class="dn-input"
            type="search"
            aria-label="Search threads"
            placeholder="Search threads"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </div>
        <button
          type="button"
          class="dn-btn"
          disabled={opening.busy || connection === "lost"}
          onClick={() => show(() => client.request("new_thread", {}))}
        >
          <Icon name="plus" small />
          New
        </button>
      </div>
      {error && (
        <p class="dn-note dn-gap" data-tone="bad" role="alert">
          <Icon name="warn" />
          <span>{error}</span>
        </p>
      )}
      {threads && (
        <List
          threads={threads}
          search={search}
          current={current}
          busy={opening.busy || connection === "lost"}
          onOpen={(name) => show(() => client.request("open_thread", { name }))}
        />
      )}
      {!threads && listing.busy && <p class="dn-pane-empty">Looking for threads…</p>}
    </div>
  );
}

interface ListProps {
  threads: readonly Thread[];
  search: string;
  current: string;
  busy: boolean;
  onOpen: (name: string) => void;
}

function List({ threads, search, current, busy, onOpen }: ListProps) {
  const days = daysOf(threads, search);
  const names = days.flatMap((day) => day.entries.map((entry) => entry.thread.name));
  const first = names.includes(current) ? current : names[0];
  const walk = (event: KeyboardEvent) => {
    const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".dn-thread")];
    const next = step(event.key, rows.indexOf(event.target as HTMLElement), rows.length);
    if (next === null) return;
    event.preventDefault();
    rows[next]?.focus();
  };
  if (!days.length)
    return <p class="dn-pane-empty">{search ? "No thread fits this search." : "No threads yet."}</p>;
  return (
    <nav class="dn-threads" aria-label="Threads" onKeyDown={walk}>
      {days.map((day) => (
        <section key={day.name} aria-label={day.name}>
          <p class="dn-head">{day.name}</p>
          {day.entries.map((entry) => (
            <Row
              key={entry.thread.name}
              entry={entry}
              current={entry.thread.name === current}
              tabbable={entry.thread.name === first}
              busy={busy}
              onOpen={onOpen}
            />
          ))}
        </section>
      ))}
    </nav>
  );
}

interface RowProps {
  entry: Entry;
  current: boolean;
  tabbable: boolean;
  busy: boolean;
  onOpen: (name: string) => void;
}

function Row({ entry, current, tabbable, busy, onOpen }: RowProps) {
  const { thread, depth } = entry;
  const off = busy || current || !thread.can_open;
  return (
    <button
      type="button"
      class="dn-thread"
      data-fork={depth > 0 ? "" : undefined}
      style={{ "--depth": Math.min(depth, 4) }}
      aria-current={current ? "true" : undefined}
      aria-disabled={off}
      tabIndex={tabbable ? 0 : -1}
      title={legible(thread.name)}
      onClick={() => !off && onOpen(thread.name)}
    >
      <Icon name={thread.forked_from ? "fork" : "ask"} />
      <b class="dn-cut">{legible(thread.title || thread.name)}</b>
      <span class="dn-small dn-faint">{thread.updated !== null && whenOf(thread.updated)}</span>
      <small>{legible(noteOf(entry))}</small>
    </button>
  );
}
