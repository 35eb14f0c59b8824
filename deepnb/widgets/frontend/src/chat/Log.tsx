/** The turns. Only the last of them are drawn until somebody scrolls up. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { useApp, useStore } from "../app";
import type { Turn } from "../model";
import { Icon } from "../parts/Icon";
import { useAnnouncements } from "./announce";
import { TurnView } from "./TurnView";

const MANY = 12; // turns that are drawn at once: more would be felt
const NEAR = 40; // pixels from an end that count as being there

export function Log() {
  const turns = useStore((store) => store.turns);
  const shown = turns.filter((turn, index) => isInLog(turn, turns, index));
  const [limit, setLimit] = useState(MANY);
  const log = useRef<HTMLDivElement>(null);
  const { isBehind, onScroll, jump } = useStickiness(log);
  const hidden = Math.max(0, shown.length - limit);
  useAnnouncements();

  const more = () => {
    const before = log.current!.scrollHeight - log.current!.scrollTop;
    setLimit((limit) => limit + MANY);
    // What was seen stays where it was.
    requestAnimationFrame(() => {
      if (log.current) log.current.scrollTop = log.current.scrollHeight - before;
    });
  };
  const scrolled = () => {
    onScroll();
    if (hidden && log.current!.scrollTop < NEAR) more();
  };
  return (
    <div class="dn-log-box">
      <div ref={log} class="dn-log" role="log" aria-label="Conversation" aria-live="off" tabIndex={0} onScroll={scrolled}>
        {hidden > 0 && <button type="button" class="dn-btn dn-btn-bare" onClick={more}>Show earlier messages</button>}
        {shown.slice(hidden).map((turn, index, all) => (
          <TurnView key={turn.run} turn={turn} isLast={index === all.length - 1} />
        ))}
      </div>
      {isBehind && (
        <button type="button" class="dn-btn dn-jump" onClick={jump}><Icon name="down" small />Jump to latest</button>
      )}
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

/** Stays at the end while it grows, but only for a reader who is there. */
function useStickiness(log: { current: HTMLDivElement | null }) {
  const { store } = useApp();
  const atEnd = useRef(true);
  const [isBehind, setBehind] = useState(false);
  const toEnd = () => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  };
  useLayoutEffect(() => {
    const content = new ResizeObserver(() => {
      if (atEnd.current) toEnd();
    });
    const watch = () => {
      content.disconnect();
      if (!log.current) return;
      content.observe(log.current);
      for (const child of log.current.children) content.observe(child);
    };
    watch();
    const children = new MutationObserver(watch);
    children.observe(log.current!, { childList: true });
    return () => {
      content.disconnect();
      children.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
    let last = store.turns.at(-1);
    return store.subscribe(() => {
      const before = last;
      last = store.turns.at(-1);
      if (last === before) return;
      // Who sends something wants to see it.
      if (last?.status === "sending" && before?.run !== last.run) atEnd.current = true;
      if (atEnd.current) requestAnimationFrame(toEnd);
      else setBehind(true);
    });
  }, [store]);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = log.current!;
    atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
    if (atEnd.current) setBehind(false);
  };
  const jump = () => {
    atEnd.current = true;
    setBehind(false);
    toEnd();
    log.current?.focus({ preventScroll: true });
  };
  return { isBehind, onScroll, jump };
}
