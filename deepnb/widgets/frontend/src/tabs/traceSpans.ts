/** When in its run something happened. */

import type { TraceRow, Turn } from "../model";

/** From when to when a run went on, in seconds since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type Spans = ReadonlyMap<string, Span>;

export function spansOf(turns: readonly Turn[], now = Date.now() / 1000): Spans {
  const end = ({ time, ended, status }: Turn) =>
    ended ?? (status === "running" || status === "waiting" ? now : time);
  return new Map(turns.map((turn) => [turn.run, { start: turn.time, end: end(turn) }]));
}

/** Of a row whose run nobody knows, the row itself. */
export function spanOf(row: TraceRow, spans: Spans): Span {
  return spans.get(row.run) ?? { start: row.time, end: row.time + (row.seconds ?? 0) };
}

export interface Bar {
  readonly look: "model" | "tool" | "person" | "error" | "live";
  /** In per cent of the run. */
  readonly start: number;
  readonly width: number;
}

export function barOf(row: TraceRow, { start, end }: Span): Bar {
  const share = (time: number) =>
    end > start ? Math.min(100, Math.max(0, (100 * (time - start)) / (end - start))) : 0;
  const from = share(row.time);
  const to = row.live ? 100 : share(row.time + (row.seconds ?? 0));
  return { look: lookOf(row), start: from, width: to - from };
}

function lookOf({ kind, live }: TraceRow): Bar["look"] {
  if (kind === "person" || kind === "error") return kind;
  if (live) return "live";
  return kind === "model" ? "model" : "tool";
}
