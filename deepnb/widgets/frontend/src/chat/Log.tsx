/** The turns. Only the last of them are drawn until somebody scrolls up. */

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { useApp, useStore } from "../app";
import type { Turn } from "../model";
import { Icon } from "../parts/Icon";
import { memo } from "../parts/memo";
import { useDrawn } from "../parts/useDrawn";
import { useAnnouncements } from "./announce";
import { TurnView } from "./TurnView";

const CHAPTER = 4; // turns that are drawn at once: more would be felt
const FEW = 3; // chapters, of which the last may be short
const NEAR = 40; // pixels from an end that count as being there

export function Log() {
  const turns = useStore((store) => store.turns);
  const shown = useMemo(() => turns.filter((turn, index) => isInLog(turn, turns, index)), [turns]);
  const log = useRef<HTMLDivElement>(null);
  const { atEnd, isBehind, onScroll, jump } = useStickiness(log);
  const number = Math.ceil(shown.length / CHAPTER);
  const { hidden, more } = useBeginning(log, number, atEnd);
  useAnnouncements();

  const scrolled = () => {
    onScroll();
    if (hidden && log.current!.scrollTop < NEAR) more(1);
  };
  const earlier = () => {
    more(FEW);
    log.current!.focus({ preventScroll: true });
  };
  return (
    <div class="dn-log-box">
      <div ref={log} class="dn-log" role="log" aria-label="Conversation" aria-live="off" tabIndex={0} onScroll={scrolled}>
        <div class="dn-turns">
          {hidden > 0 && <button type="button" class="dn-btn dn-btn-bare" onClick={earlier}>Show earlier messages</button>}
          {Array.from({ length: number - hidden }, (_, index) => (
            <Chapter key={hidden + index} turns={shown} number={hidden + index} />
          ))}
        </div>
      </div>
      {isBehind && (
        <button type="button" class="dn-btn dn-jump" onClick={jump}><Icon name="down" small />Jump to latest</button>
      )}
    </div>
  );
}

/** How many chapters are not drawn yet. None is taken away from under somebody who reads it. */
function useBeginning(log: { current: HTMLDivElement | null }, number: number, atEnd: { current: boolean }) {
  const [limit, setLimit] = useState(FEW);
  const hidden = useRef(0);
  const fromEnd = useRef<number | null>(null); // where the reader was when more was asked for
  const wanted = Math.max(0, number - limit);
  if (atEnd.current || wanted < hidden.current) hidden.current = wanted;
  const more = (chapters: number) => {
    fromEnd.current = log.current!.scrollHeight - log.current!.scrollTop;
    setLimit(number - hidden.current + chapters);
  };
  useLayoutEffect(() => {
    if (fromEnd.current !== null) log.current!.scrollTop = log.current!.scrollHeight - fromEnd.current;
    fromEnd.current = null;
  }, [limit]);
  return { hidden: hidden.current, more };
}

/** A few turns: those that are far from being seen cost the browser next to nothing together. */
const Chapter = memo(function Chapter({ turns, number }: { turns: readonly Turn[]; number: number }) {
  return (
    <div class="dn-chapter" data-far={useDrawn()}>
      {turns.slice(number * CHAPTER, (number + 1) * CHAPTER).map((turn) => (
        <TurnView key={turn.run} turn={turn} isLast={turn === turns.at(-1)} />
      ))}
    </div>
  );
});

/** What waits for its turn stands on the input's back, also while it is being sent. */
function isInLog(turn: Turn, turns: readonly Turn[], index: number): boolean {
  if (turn.status === "queued") return false;
  if (turn.status !== "sending") return true;
  const before = turns[index - 1];
  return !before || (before.status !== "running" && before.status !== "waiting" && before.status !== "queued");
}

/** Stays at the end while it grows, but only for a reader who is there. */
function useStickiness(log: { current: HTMLDivElement | null }) {
  const { store } = useApp();
  const atEnd = useRef(true);
  const before = useRef(0);
  const [isBehind, setBehind] = useState(false);
  const toEnd = () => {
    atEnd.current = true;
    log.current!.scrollTop = log.current!.scrollHeight;
  };
  useLayoutEffect(() => {
    toEnd();
    const observer = new ResizeObserver(() => {
      if (atEnd.current && log.current!.clientHeight) toEnd();
    });
    observer.observe(log.current!);
    observer.observe(log.current!.firstElementChild!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    let last = store.turns.at(-1);
    return store.subscribe(() => {
      const earlier = last;
      last = store.turns.at(-1);
      if (last === earlier) return;
      // Who sends something wants to see it.
      if (last?.status === "sending" && earlier?.run !== last.run) toEnd();
      else if (!atEnd.current) setBehind(true);
    });
  }, [store]);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = log.current!;
    if (!clientHeight) return; // in a tab that is not seen
    const rest = scrollHeight - scrollTop - clientHeight;
    // Who leaves the end is let go at once, before they are far from it.
    atEnd.current = rest < 2 || (rest < NEAR && scrollTop >= before.current);
    before.current = scrollTop;
    if (atEnd.current) setBehind(false);
  };
  const jump = () => {
    toEnd();
    setBehind(false);
    log.current!.focus({ preventScroll: true });
  };
  return { atEnd, isBehind, onScroll, jump };
}
