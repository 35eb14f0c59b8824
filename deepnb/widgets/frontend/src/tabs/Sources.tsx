/** What was read, as it was read: a list, and beside it the passages with every quote marked. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { useApp, useStore, useUi } from "../app";
import type { Citation, Place, Source } from "../model";
import { counted, timeOfDay } from "../parts/format";
import { Icon } from "../parts/Icon";
import { memo } from "../parts/memo";
import { step } from "../parts/Popover";
import { claimOf, Claims, type Claim } from "../research/Claims";
import { KindIcon } from "../research/KindIcon";
import { openSource } from "../research/openSource";
import { ORDER, tally, VERDICTS } from "../research/verdicts";
import { ReadPassage, type Spans } from "./ReadPassage";

export function Sources() {
  const sources = useStore((store) => store.sources);
  const reports = useStore((store) => store.reports);
  const wanted = useUi((ui) => ui.source);
  const claims = useMemo(
    () => reports.flatMap((report) => report.citations.map((citation) => claimOf(report, citation))),
    [reports],
  );
  const all = useMemo(() => [...sources.values()].sort((one, other) => numberOf(one) - numberOf(other)), [sources]);
  const source = sources.get(wanted?.source ?? "") ?? all[0];
  if (!source) return <p class="dn-pane-empty">What the agent reads appears here.</p>;
  return (
    <div class="dn-pane dn-pane-flush">
      <div class="dn-master">
        <List sources={all} selected={source} claims={claims} />
        <Reading key={source.id} source={source} claims={claims} wanted={wanted?.source === source.id ? wanted : null} />
      </div>
    </div>
  );
}

/** S10 comes behind S9. */
function numberOf({ id }: Source): number {
  return Number(id.slice(1));
}

interface ListProps {
  sources: readonly Source[];
  selected: Source;
  claims: readonly Claim[];
}

function List({ sources, selected, claims }: ListProps) {
  const { ui } = useApp();
  const list = useRef<HTMLDivElement>(null);
  const citing = useMemo(() => bySource(claims), [claims]);
  const select = (source: Source) => ui.set({ source: { source: source.id, passage: 0, span: null } });
  const move = (event: KeyboardEvent) => {
    const next = step(event.key, sources.indexOf(selected), sources.length);
    if (next === null) return;
    event.preventDefault();
    select(sources[next]!);
    list.current?.querySelectorAll<HTMLElement>("[role=option]")[next]?.focus();
  };
  return (
    <div ref={list} class="dn-srcs" role="listbox" aria-label="Sources" onKeyDown={move}>
      {sources.map((source) => (
        <div
          key={source.id}
          class="dn-src"
          role="option"
          aria-selected={source === selected}
          tabIndex={source === selected ? 0 : -1}
          onClick={() => select(source)}
        >
          <span class="dn-id">{source.id}</span>
          <b class="dn-cut"><bdi>{source.title}</bdi></b>
          <KindIcon source={source} />
          <small class="dn-cut">
            <Cited citations={citing.get(source.id) ?? []} />
            {source.location !== source.title && <>, <bdi>{source.location}</bdi></>}
          </small>
        </div>
      ))}
    </div>
  );
}

function bySource(claims: readonly Claim[]): Map<string, Citation[]> {
  const found = new Map<string, Citation[]>();
  for (const { citation } of claims) found.set(citation.source, [...(found.get(citation.source) ?? []), citation]);
  return found;
}

/** "3 quoted, 1 paraphrased" */
function Cited({ citations }: { citations: readonly Citation[] }) {
  const counts = tally(citations);
  if (!citations.length) return <>Read, not cited</>;
  return (
    <>
      {ORDER.filter((verdict) => counts[verdict]).map((verdict, index) => (
        <span key={verdict}>
          {index > 0 && ", "}
          <span class={`dn-${VERDICTS[verdict].tone}`}>{counts[verdict]} {VERDICTS[verdict].counted.split(",")[0]}</span>
        </span>
      ))}
    </>
  );
}

interface ReadingProps {
  source: Source;
  claims: readonly Claim[];
  /** Where somebody was led to, or went. */
  wanted: Place | null;
}

const Reading = memo(function Reading({ source, claims, wanted }: ReadingProps) {
  const pane = useRef<HTMLDivElement>(null);
  const own = useMemo(() => claims.filter(({ citation }) => isAbout(citation, source)), [claims, source]);
  const spans = useMemo(() => spansIn(source, own), [source, own]);
  const current = wanted && keyOf(wanted);
  useLayoutEffect(() => {
    if (!wanted) return;
    const found = pane.current!.querySelector<HTMLElement>(`[data-at="${current}"]`);
    if (wanted.span || wanted.passage) found?.scrollIntoView({ block: "center" });
    // Who was led here from a report reads on from here; who has pressed a tab stays there.
    const from = (pane.current!.getRootNode() as Document | ShadowRoot).activeElement;
    if (from?.closest(".dn-chat")) found?.focus({ preventScroll: true });
  }, [wanted]);
  return (
    <div ref={pane} class="dn-read" role="region" aria-label={`Source ${source.id}`} tabIndex={0}>
      <div class="dn-row dn-wrap">
        <h3><bdi>{source.title}</bdi></h3>
        <Where source={source} />
        <Walk spans={spans} source={source} current={current} />
      </div>
      {own.length > 0 && <Claims claims={own} />}
      {source.passages.map((passage, index) => (
        <ReadPassage key={index} passage={passage} index={index} spans={spans.get(index)} current={current} />
      ))}
      {source.read !== null && <p class="dn-small dn-muted">Read {timeOfDay(source.read)}, {counted(source.passages.length, "passage")}</p>}
    </div>
  );
});

function isAbout({ source, foundIn, at }: Citation, { id }: Source): boolean {
  return source === id || foundIn === id || at?.source === id;
}

/** Where it was read: an address can be looked up, as the kernel has been there and no model has made it up. */
function Where({ source: { kind, location, title } }: { source: Source }) {
  if (location === title) return null;
  if (kind === "page" && /^https?:\/\//i.test(location))
    return <a class="dn-small dn-where" href={location} target="_blank" rel="noopener noreferrer"><bdi>{location}</bdi></a>;
  return <span class="dn-small dn-muted dn-where"><bdi>{location}</bdi></span>;
}

interface WalkProps {
  spans: Spans;
  source: Source;
  current: string | null;
}

/** From quote to quote. */
function Walk({ spans, source, current }: WalkProps) {
  const { ui } = useApp();
  const quotes = [...spans].flatMap(([passage, all]) => all.map((span): Place => ({ source: source.id, passage, span })));
  const at = quotes.findIndex((quote) => keyOf(quote) === current);
  const go = (by: number) => openSource(ui, quotes[(Math.max(at, by < 0 ? 0 : -1) + by + quotes.length) % quotes.length]!);
  if (!quotes.length) return null;
  return (
    <span class="dn-push dn-row dn-walk">
      <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Previous quote" onClick={() => go(-1)}>
        <Icon name="chev" small />
      </button>
      <span class="dn-small dn-muted" role="status">{at < 0 ? counted(quotes.length, "quote") : `Quote ${at + 1} of ${quotes.length}`}</span>
      <button type="button" class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon" aria-label="Next quote" onClick={() => go(1)}>
        <Icon name="chev" small />
      </button>
    </span>
  );
}

/** What is quoted of each passage, from front to back. */
function spansIn(source: Source, claims: readonly Claim[]): Spans {
  const spans = new Map<number, (readonly [number, number])[]>();
  for (const { citation: { at } } of claims) {
    if (at?.source !== source.id || !at.span || !source.passages[at.passage]) continue;
    const known = spans.get(at.passage) ?? [];
    if (!known.some(([start]) => start === at.span![0])) known.push(at.span);
    spans.set(at.passage, known.sort(([one], [other]) => one - other));
  }
  return new Map([...spans].sort(([one], [other]) => one - other));
}

/** What a place is found by in the page. */
function keyOf({ passage, span }: Place): string {
  return span ? `${passage} ${span[0]}` : String(passage);
}
