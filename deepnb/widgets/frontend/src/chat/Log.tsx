/** The turns. Only the last of them are drawn until somebody scrolls up. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { useApp, useStore } from "../app";
import type { Turn } from "../model";
import { Icon } from "../parts/Icon";
import { useAnnouncements } from "./announce";
import { TurnView } from "./TurnView";

const CHAPTER = 4; // turns that are drawn at once: more would be felt
const FEW = 3; // chapters, of which the last may be short
const NEAR = 40; // pixels from an end that count as being there

export function Log() {
  const turns = useStore((store) => store.turns);
  const shown = turns.filter((turn, index) => isInLog(turn, turns, index));
  const [limit, setLimit] = useState(FEW);
  const log = useRef<HTMLDivElement>(null);
  const { isBehind, look, jump } = usePlace(log);
  const number = Math.ceil(shown.length / CHAPTER);
  const hidden = Math.max(0, number - limit);
  useAnnouncements();

  const more = (chapters: number) => setLimit((limit) => limit + chapters);
  const scrolled = () => {
    look();
    const { scrollTop, scrollHeight, clientHeight } = log.current!;
    if (hidden && scrollHeight - clientHeight + scrollTop < NEAR) more(1);
  };
  return (
    <div class="dn-log-box">
      <div ref={log} class="dn-log" role="log" aria-label="Conversation" aria-live="off" tabIndex={0} onScroll={scrolled}>
        <div class="dn-turns">
          {hidden > 0 && <button type="button" class="dn-btn dn-btn-bare" onClick={() => more(FEW)}>Show earlier messages</button>}
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

/** A few turns: those that are far from being seen cost the browser next to nothing together. */
function Chapter({ turns, number }: { turns: readonly Turn[]; number: number }) {
  return (
    <div class="dn-chapter">
      {turns.slice(number * CHAPTER, (number + 1) * CHAPTER).map((turn) => (
        <TurnView key={turn.run} turn={turn} isLast={turn === turns.at(-1)} />
      ))}
    </div>
  );
}

/** What waits for its turn stands on the input's back, also while it is being sent. */
function isInLog(turn: Turn, turns: readonly Turn[], index: number): boolean {
  if (turn.status === "queued") return false;
  if (turn.status !== "sending") return true;
  const before = turns[index - 1];
  return !before || (before.status !== "running" && before.status !== "waiting" && before.status !== "queued");
}

/**
 * Keeps the place of who reads.
 *
 * At the end that is the browser's doing, without a line of script while a text grows: the log is a
 * reversed column, which scrolls from its end. Further up, the turn that is read stays where it is.
 */
function usePlace(log: { current: HTMLDivElement | null }) {
  const { store } = useApp();
  const read = useRef<Place | null>(null); // null at the end
  const [isBehind, setBehind] = useState(false);
  const look = () => {
    const isAtEnd = log.current!.scrollTop > -NEAR;
    read.current = isAtEnd ? null : firstSeen(log.current!);
    if (isAtEnd) setBehind(false);
  };
  const toEnd = () => {
    log.current!.scrollTop = 0;
    look();
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      const place = read.current;
      if (place?.scrollTop === log.current!.scrollTop) {
        log.current!.scrollTop += place.turn.getBoundingClientRect().top - place.top;
      }
      look();
    });
    observer.observe(log.current!.firstElementChild!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    let last = store.turns.at(-1);
    return store.subscribe(() => {
      const before = last;
      last = store.turns.at(-1);
      if (last === before) return;
      // Who sends something wants to see it.
      if (last?.status === "sending" && before?.run !== last.run) toEnd();
      else if (read.current) setBehind(true);
    });
  }, [store]);
  const jump = () => {
    toEnd();
    log.current!.focus({ preventScroll: true });
  };
  return { isBehind, look, jump };
}

interface Place {
  turn: Element;
  top: number;
  scrollTop: number;
}

/** The topmost turn that is seen, and where it is. */
function firstSeen(log: HTMLElement): Place | null {
  const { top } = log.getBoundingClientRect();
  const find = (elements: Iterable<Element>) => [...elements].find((element) => element.getBoundingClientRect().bottom > top);
  const turn = find(find(log.querySelectorAll(".dn-chapter"))?.children ?? []);
  return turn ? { turn, top: turn.getBoundingClientRect().top, scrollTop: log.scrollTop } : null;
}
