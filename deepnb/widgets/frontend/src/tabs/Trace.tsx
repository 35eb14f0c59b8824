/** The trace: everything that took time, live, with what it cost and when in its run it was. */

import { useMemo, useState } from "preact/hooks";

import { useApp } from "../app";
import { CopyButton } from "../parts/CopyButton";
import { Icon } from "../parts/Icon";
import { asPandas, EVERYTHING, GROUPS, placesOf, tallyOf, type Filter, type Tally } from "./traceFilter";
import { TraceTable } from "./TraceTable";
import { spansOf } from "./traceSpans";
import { useVersion } from "./useVersion";

export function Trace() {
  const { store } = useApp();
  const version = useVersion();
  const [filter, setFilter] = useState(EVERYTHING);
  const [follow, setFollow] = useState(true);
  const rows = store.trace;
  const tally = useMemo(() => tallyOf(rows), [rows, version]);
  const spans = useMemo(() => spansOf(store.turns), [store, version]);
  const places = useMemo(() => placesOf(rows, filter), [rows, version, filter]);
  return (
    <div class="dn-pane dn-pane-flush dn-trace-pane">
      <Tools
        filter={filter}
        tally={tally}
        follow={follow}
        onFilter={(change) => setFilter({ ...filter, ...change })}
        onFollow={setFollow}
      />
      {rows.length ? (
        <TraceTable
          rows={rows}
          places={places}
          spans={spans}
          follow={follow}
          onFollow={setFollow}
        />
      ) : (
        <p class="dn-pane-empty">Every step of the agent appears here as it happens.</p>
      )}
    </div>
  );
}

interface ToolsProps {
  filter: Filter;
  tally: Tally;
  follow: boolean;
  onFilter: (change: Partial<Filter>) => void;
  onFollow: (follow: boolean) => void;
}

function Tools({ filter, tally, follow, onFilter, onFollow }: ToolsProps) {
  return (
    <div class="dn-tools">
      <div class="dn-search">
        <Icon name="search" small />
        <input
          class="dn-input"
          type="search"
          aria-label="Filter steps"
          placeholder="Filter steps"
          value={filter.text}
          onInput={(event) => onFilter({ text: event.currentTarget.value })}
        />
      </div>
      {GROUPS.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          class="dn-chip"
          aria-pressed={filter.group === id}
          onClick={() => onFilter({ group: id })}
        >
          {name} <span class="dn-count">{tally.counts[id]}</span>
        </button>
      ))}
      {(tally.agents.length > 1 || filter.agent) && (
        <select
          class="dn-chip dn-select"
          aria-label="Agent"
          value={filter.agent}
          onChange={(event) => onFilter({ agent: event.currentTarget.value })}
        >
          <option value="">All agents</option>
          {tally.agents.map((agent) => (
            <option key={agent} value={agent}>
              {agent}
            </option>
          ))}
        </select>
      )}
      <label class="dn-row dn-small dn-muted dn-push">
        <input
          type="checkbox"
          role="switch"
          class="dn-switch"
          checked={follow}
          onChange={(event) => onFollow(event.currentTarget.checked)}
        />
        Follow
      </label>
      <CopyButton
        class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon"
        label="Copy this filter as pandas"
        text={() => asPandas(filter)}
      />
    </div>
  );
}
