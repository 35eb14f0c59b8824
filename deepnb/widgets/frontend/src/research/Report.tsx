/** A report: what came of checking it, its text with chips in place of marks, and who may disagree. */

import { createPortal } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { useApp, useStore } from "../app";
import { Markdown } from "../markdown/Markdown";
import type { Conflict, Report as Checked, Side, TextStep } from "../model";
import { counted } from "../parts/format";
import { Icon } from "../parts/Icon";
import { Opened } from "../parts/Popover";
import { chipMaker, tickChips } from "./chips";
import { CiteCard } from "./CiteCard";
import { claimOf, Claims } from "./Claims";
import { openSource } from "./openSource";
import { ORDER, tally, VERDICTS } from "./verdicts";

export function Report({ step, report }: { step: TextStep; report: Checked }) {
  const element = useRef<HTMLDivElement>(null);
  const live = useRef(report);
  live.current = report;
  // The same for as long as it is the same report: what a person settles draws none of its text again.
  const makeChip = useMemo(() => chipMaker(report.citations, () => live.current.settled), [report.citations]);
  const [opened, setOpened] = useState<HTMLButtonElement | null>(null);
  useLayoutEffect(() => tickChips(element.current!, report), [report]);
  useLayoutEffect(() => {
    if (!opened) return;
    opened.setAttribute("aria-expanded", "true");
    return () => opened.setAttribute("aria-expanded", "false");
  }, [opened]);
  const open = (event: MouseEvent) => {
    const chip = (event.target as Element).closest<HTMLButtonElement>(".dn-cite");
    if (chip) setOpened(chip === opened ? null : chip);
  };
  const citation = opened && report.citations.find(({ mark }) => String(mark) === opened.dataset.mark);
  const close = () => {
    opened?.focus();
    setOpened(null);
  };
  return (
    <>
      <Checks report={report} />
      <div ref={element} onClick={open}><Markdown step={step} marks={report.marks} makeChip={makeChip} /></div>
      <Conflicts conflicts={report.conflicts} />
      {opened && citation && createPortal(
        <Opened key={citation.id} anchor={opened} title={opened.getAttribute("aria-label")!} kind="dialog" align="start" wide onClose={() => setOpened(null)}>
          <CiteCard {...claimOf(report, citation)} onClose={close} />
        </Opened>,
        element.current!.closest(".dn")!,
      )}
    </>
  );
}

/** How many claims were found, in one line that opens. */
function Checks({ report }: { report: Checked }) {
  const [isOpen, setOpen] = useState(false);
  const { citations, removed, settled } = report;
  if (!citations.length) return null;
  const counts = tally(citations);
  const there = ORDER.filter((verdict) => counts[verdict]);
  return (
    <details class="dn-checks" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="dn-verdicts">
          <span class="dn-ratio" aria-hidden="true">
            {there.map((verdict) => <i key={verdict} data-v={verdict} style={{ "--n": counts[verdict] }} />)}
          </span>
          {there.map((verdict) => (
            <span key={verdict}>
              <span class={`dn-${VERDICTS[verdict].tone}`}><Icon name={VERDICTS[verdict].icon} small /></span>
              {counts[verdict]} {VERDICTS[verdict].counted}
            </span>
          ))}
          {settled.size > 0 && <span><Icon name="check" small />{settled.size} checked by you</span>}
        </span>
        <span class="dn-chev"><Icon name="chev" small /></span>
      </summary>
      {isOpen && <Claims claims={citations.map((citation) => claimOf(report, citation))} />}
      {isOpen && removed > 0 && (
        <p class="dn-small dn-muted">{counted(removed, "mark")} led to no source, and {removed === 1 ? "was" : "were"} taken out.</p>
      )}
    </details>
  );
}

const FEW = 3;

function Conflicts({ conflicts }: { conflicts: readonly Conflict[] }) {
  const [all, setAll] = useState(false);
  const more = conflicts.length - FEW;
  return (
    <>
      {(all ? conflicts : conflicts.slice(0, FEW)).map((conflict, index) => <Disagreement key={index} conflict={conflict} />)}
      {!all && more > 0 && (
        <button type="button" class="dn-btn dn-btn-sm dn-btn-bare" onClick={() => setAll(true)}>Show {more} more that may disagree</button>
      )}
    </>
  );
}

function Disagreement({ conflict: { about, why, sides } }: { conflict: Conflict }) {
  return (
    <section class="dn-disagree" aria-label={`Sources may disagree on ${about.join(", ")}`}>
      <div class="dn-panel-head">
        <Icon name="scale" small />
        <b>Sources may disagree</b>
        <span class="dn-cut">{about.length > 0 && `on ${about.join(", ")}`}{why && `: ${why}`}</span>
      </div>
      <div class="dn-two">{sides.map((side, index) => <OneSide key={index} side={side} />)}</div>
    </section>
  );
}

function OneSide({ side }: { side: Side }) {
  const { ui } = useApp();
  const source = useStore((store) => store.sources.get(side.at.source));
  return (
    <div>
      <p class="dn-quote">“{side.text}”</p>
      <p class="dn-small dn-muted">
        <bdi>{source?.title ?? side.at.source}</bdi>{side.place && `, ${side.place}`}{" "}
        <button type="button" class="dn-cite" aria-label={`Open source ${side.at.source} in Sources`} onClick={() => openSource(ui, side.at)}>
          <Icon name="book" />{side.at.source}
        </button>
      </p>
    </div>
  );
}
