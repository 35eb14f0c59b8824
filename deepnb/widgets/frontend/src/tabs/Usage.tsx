/** What the session has used: one number, a bar for each limit, one table. */

import { useApp, useStore } from "../app";
import type { Usage as Sums, UsageRow } from "../model";
import { useNow } from "../parts/Elapsed";
import { clock, cost, tokens } from "../parts/format";
import type { Limit } from "../protocol";

export function Usage() {
  const { store } = useApp();
  useStore((store) => store.usage);
  const budget = useStore((store) => store.facts?.budget) ?? [];
  const turns = useStore((store) => store.turns);
  const running = turns.find((turn) => turn.status === "running" && turn.seconds === null);
  const now = useNow(running !== undefined);
  const seconds = turns.reduce((sum, turn) => sum + (turn.seconds ?? 0), running ? now - running.since : 0);
  const dollars = budget.find((limit) => limit.unit === "usd");
  const { usage, usageRows: rows } = store;
  return (
    <div class="dn-pane dn-pane-flush" tabIndex={0} role="group" aria-label="Usage">
      <div class="dn-sect">
        <div class="dn-row dn-figure">
          <b>{usage.cost === null ? "—" : cost(usage.cost)}</b>
          <span class="dn-muted">
            {usage.cost === null && "price not known"}
            {usage.cost !== null && dollars && `of ${cost(dollars.limit)} `}
            {usage.cost !== null && "in this thread"}
          </span>
        </div>
        {budget.map((limit) => (
          <Budget key={limit.unit} limit={limit} />
        ))}
      </div>
      <dl class="dn-figures">
        <Figure name="Tokens in" value={tokens(usage.tokensIn)} />
        <Figure name="Tokens out" value={tokens(usage.tokensOut)} />
        <Figure name="Model calls" value={tokens(usage.calls)} />
        <Figure name="Time" value={clock(seconds)} />
      </dl>
      {rows.length ? (
        <Table rows={rows} all={usage} />
      ) : (
        <p class="dn-pane-empty">Nothing has been used yet.</p>
      )}
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const UNITS = { usd: "Cost", tokens: "Tokens", calls: "Model calls" } as const;

function Budget({ limit: { unit, limit, spent } }: { limit: Limit }) {
  const written = unit === "usd" ? cost : tokens;
  const share = percent(spent, limit);
  return (
    <div class="dn-limit">
      <div
        class="dn-budget"
        role="meter"
        aria-label={`Budget: ${UNITS[unit].toLowerCase()}`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(spent, limit)}
        aria-valuetext={`${written(spent)} spent of ${written(limit)}`}
      >
        <i data-full={spent >= limit} style={{ "--v": `${Math.min(share, 100)}%` }} />
      </div>
      <div class="dn-row dn-small dn-muted">
        <span>
          {UNITS[unit]}: {share.toFixed(0)}% spent
        </span>
        <span class="dn-push">
          {written(spent)} of {written(limit)}
        </span>
      </div>
    </div>
  );
}

function Table({ rows, all }: { rows: readonly UsageRow[]; all: Sums }) {
  // By cost where every price is known, else by tokens: a share of half the costs would be believed.
  const weight = (sums: Sums) => (all.cost ? (sums.cost ?? 0) : sums.tokensIn + sums.tokensOut);
  return (
    <table class="dn-table dn-usage" aria-label="Usage by agent and model">
      <thead>
        <tr>
          <th scope="col">Agent</th>
          <th scope="col">Model</th>
          <th scope="col" class="r opt">
            Calls
          </th>
          <th scope="col" class="r opt">
            In
          </th>
          <th scope="col" class="r opt">
            Out
          </th>
          <th scope="col" class="r">
            Cost
          </th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.agent} ${row.model}`}>
            <td title={row.agent}>{row.agent}</td>
            <td class="dn-muted" title={row.model}>
              {row.model}
            </td>
            <td class="r opt">{tokens(row.calls)}</td>
            <td class="r opt">{tokens(row.tokensIn)}</td>
            <td class="r opt">{tokens(row.tokensOut)}</td>
            <td class="r">{row.cost === null ? "—" : cost(row.cost)}</td>
            <td>
              <Share share={percent(weight(row), weight(all))} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Share({ share }: { share: number }) {
  return (
    <div class="dn-bar" role="img" aria-label={`${share.toFixed(0)}%`}>
      <i style={{ "--v": `${share}%` }} />
    </div>
  );
}

function percent(part: number, whole: number): number {
  return whole > 0 ? (100 * part) / whole : 0;
}
