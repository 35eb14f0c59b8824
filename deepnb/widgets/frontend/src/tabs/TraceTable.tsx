/** The rows of the trace. Only those in sight are in the page: there may be a hundred thousand. */

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { TraceRow } from "../model";
import { clock, cost, took, tokens } from "../parts/format";
import { Icon, isIconName, type IconName } from "../parts/Icon";
import { legible } from "../parts/legible";
import { ForkButton } from "./Fork";
import { barOf, spanOf, type Span, type Spans } from "./traceSpans";
import { topOf, windowOf, type Sight } from "./traceWindow";

const UNSEEN: Sight = { top: 0, height: 600, rowHeight: 28, detailHeight: 0 };

interface TableProps {
  rows: readonly TraceRow[];
  /** Of the rows to show; null for all. */
  places: readonly number[] | null;
  spans: Spans;
  follow: boolean;
  onFollow: (follow: boolean) => void;
}

export function TraceTable({ rows, places, spans, follow, onFollow }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState(UNSEEN);
  const [openedSeq, setOpened] = useState<number | null>(null);
  const [current, setCurrent] = useState(0); // the row that the Tab key leads to
  const held = useRef(false); // whether the focus is to follow it
  const count = places ? places.length : rows.length;
  const placeOf = (index: number) => (places ? places[index]! : index);
  const chosen = Math.min(current, count - 1);
  const opened = useMemo(() => {
    if (openedSeq === null) return -1;
    const place = rows.findIndex((row) => row.seq === openedSeq);
    return places ? places.indexOf(place) : place;
  }, [openedSeq, rows, places]);

  const look = () => setSight((before) => seen(scroller.current!, before));
  const scrolled = () => {
    const { scrollHeight, scrollTop, clientHeight } = scroller.current!;
    if (follow && scrollHeight - scrollTop - clientHeight > sight.rowHeight) onFollow(false);
    look();
  };
  useLayoutEffect(look, [openedSeq]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follow) scroller.current!.scrollTop = scroller.current!.scrollHeight;
  }, [follow, count]);
  useLayoutEffect(() => {
    if (!held.current) return;
    held.current = false;
    reveal(scroller.current!, topOf(chosen, opened, sight), sight.rowHeight);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(".dn-trace-step[tabindex='0']")?.focus({ preventScroll: true }),
    );
  }, [chosen]);

  const toggle = (row: TraceRow, index: number) => {
    onFollow(false); // what is read must not move away
    setCurrent(index);
    setOpened(openedSeq === row.seq ? null : row.seq);
  };
  const move = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).matches(".dn-trace-step")) return;
    if (event.key === "Escape" && openedSeq !== null) return setOpened(null);
    const next = target(event.key, chosen, count, Math.floor(sight.height / sight.rowHeight));
    if (next === null) return;
    event.preventDefault();
    held.current = next !== chosen;
    onFollow(false);
    setCurrent(next);
  };
  const { first, last, before, after } = windowOf(count, opened, sight);
  const inSight = Array.from({ length: last - first }, (_, index) => first + index);
  const uppermost = rows[placeOf(Math.min(Math.floor(sight.top / sight.rowHeight), count - 1))];
  return (
    <div class="dn-trace" role="table" aria-label="Trace" aria-rowcount={count + 1}>
      <Head span={uppermost && spanOf(uppermost, spans)} />
      <div ref={scroller} class="dn-trace-rows" role="rowgroup" onScroll={scrolled} onKeyDown={move}>
        <div role="presentation" class="dn-trace-pad" style={{ "--h": `${before}px` }} />
        {inSight.map((index) => {
          const place = placeOf(index);
          const row = rows[place]!;
          return (
            <Row
              key={index % (last - first)} // a row that leaves lends its elements to one that comes
              row={row}
              number={place + 1}
              index={index}
              span={spanOf(row, spans)}
              open={openedSeq === row.seq}
              current={index === chosen}
              onToggle={() => toggle(row, index)}
            />
          );
        })}
        <div role="presentation" class="dn-trace-pad" style={{ "--h": `${after}px` }} />
        {count === 0 && <p class="dn-pane-empty">No step fits this filter.</p>}
      </div>
    </div>
  );
}

function Head({ span }: { span: Span | undefined }) {
  return (
    <div role="row" class="dn-trace-head" aria-rowindex={1}>
      <span role="columnheader" class="r">
        #
      </span>
      <span role="columnheader" class="r opt">
        At
      </span>
      <span role="columnheader" class="opt">
        Agent
      </span>
      <span role="columnheader">Step</span>
      <span role="columnheader" class="r opt">
        Tokens
      </span>
      <span role="columnheader" class="r opt">
        Cost
      </span>
      <span role="columnheader" class="r opt">
        Took
      </span>
      <span role="columnheader">
        <span class="dn-sr">When in its run</span>
        <span class="dn-row dn-ends" aria-hidden="true">
          <span>0</span>
          <span>{span && took(span.end - span.start)}</span>
        </span>
      </span>
    </div>
  );
}

interface RowProps {
  row: TraceRow;
  number: number;
  index: number;
  span: Span;
  open: boolean;
  current: boolean;
  onToggle: () => void;
}

function Row({ row, number, index, span, open, current, onToggle }: RowProps) {
  const bar = barOf(row, span);
  const used = (row.tokensIn ?? 0) + (row.tokensOut ?? 0);
  return (
    <>
      <div
        role="row"
        class="dn-trace-row"
        aria-rowindex={index + 2}
        data-open={open}
        data-tone={row.kind === "error" ? "bad" : undefined}
        onClick={onToggle}
      >
        <span role="cell" class="r">
          {number}
        </span>
        <span role="cell" class="r opt">
          {clock(row.time - span.start)}
        </span>
        <span role="cell" class="dn-muted opt" title={row.agent}>
          {row.kind === "person" ? "you" : row.agent}
        </span>
        <span role="cell">
          <button
            type="button"
            class="dn-trace-step"
            aria-expanded={open}
            tabIndex={current ? 0 : -1}
            style={{ "--depth": Math.min(row.depth, 6) }}
          >
            {row.live ? <span class="dn-spin" aria-label="Under way" role="img" /> : <Icon name={iconOf(row)} />}
            <span class="dn-cut dn-what">{row.line}</span>
          </button>
        </span>
        <span role="cell" class="r opt">
          {used > 0 && tokens(used)}
        </span>
        <span role="cell" class="r opt">
          {row.cost !== null && cost(row.cost)}
        </span>
        <span role="cell" class="r opt">
          {row.seconds !== null && took(row.seconds)}
        </span>
        <span role="cell">
          <span
            class="dn-fall"
            data-k={bar.look}
            style={{ "--s": `${bar.start}%`, "--w": `${bar.width}%` }}
          >
            <i />
          </span>
        </span>
      </div>
      {open && <Detail row={row} />}
    </>
  );
}

const DETAILS: Partial<Record<TraceRow["kind"], string>> = {
  model: "Reasoning summary.",
  tool: "Result.",
  agent: "Result.",
  person: "Answer.",
};

function Detail({ row }: { row: TraceRow }) {
  const facts = [
    row.tokensIn !== null && `${tokens(row.tokensIn)} in`,
    row.tokensOut !== null && `${tokens(row.tokensOut)} out`,
    row.cost !== null && cost(row.cost),
    row.seconds !== null && took(row.seconds),
  ].filter(Boolean);
  return (
    <div role="row" class="dn-detail">
      <div role="cell" aria-colspan={8}>
        <p class="dn-strong">{row.line}</p>
        {row.detail && (
          <p class="dn-detail-text" tabIndex={0} role="group" aria-label="Detail">
            <b>{DETAILS[row.kind]}</b> {legible(row.detail)}
          </p>
        )}
        <div class="dn-row dn-wrap">
          <span>{facts.join(", ")}</span>
          <span class="dn-push" />
          {row.fork !== null && <ForkButton step={row.fork} />}
        </div>
      </div>
    </div>
  );
}

const ICONS: Record<TraceRow["kind"], IconName> = {
  model: "model",
  tool: "right",
  agent: "agent",
  person: "user",
  error: "warn",
  other: "info",
};

function iconOf(row: TraceRow): IconName {
  return isIconName(row.icon) ? row.icon : ICONS[row.kind];
}

/** What can be seen of the rows; those are higher under a finger than under a mouse. */
function seen(scroller: HTMLElement, before: Sight): Sight {
  const now: Sight = {
    top: scroller.scrollTop,
    height: scroller.clientHeight,
    rowHeight: heightOf(scroller, ".dn-trace-row") || before.rowHeight,
    detailHeight: heightOf(scroller, ".dn-detail") || before.detailHeight,
  };
  const same = (Object.keys(now) as (keyof Sight)[]).every((key) => now[key] === before[key]);
  return same ? before : now;
}

function heightOf(scroller: HTMLElement, selector: string): number {
  return scroller.querySelector<HTMLElement>(selector)?.offsetHeight ?? 0;
}

function reveal(scroller: HTMLElement, y: number, height: number): void {
  if (y < scroller.scrollTop) scroller.scrollTop = y;
  const under = y + height - scroller.clientHeight;
  if (under > scroller.scrollTop) scroller.scrollTop = under;
}

/** Where a key leads in the rows; null for a key that leads nowhere. */
function target(key: string, from: number, count: number, page: number): number | null {
  const ways: Record<string, number> = {
    ArrowUp: from - 1,
    ArrowDown: from + 1,
    PageUp: from - page,
    PageDown: from + page,
    Home: 0,
    End: count - 1,
  };
  const to = ways[key];
  return to === undefined ? null : Math.max(0, Math.min(count - 1, to));
}
