/** Events and news for tests, as a kernel would tell them. */

import type { Facts, News, WireEvent } from "../src/protocol";
import { FACTS } from "./app";

let seq = 0;

export function event(kind: WireEvent["kind"], data: object = {}, more: Partial<WireEvent> = {}): WireEvent {
  seq += 1;
  return { seq, time: 1000 + seq, kind, run: "r1", agent: "deep", data: { ...data }, ...more };
}

export function restart(): void {
  seq = 0;
}

/** News of events that follow each other without a gap. */
export function news(events: WireEvent[], more: Partial<News> = {}): News {
  const after = events.length ? events[0]!.seq - 1 : seq;
  const facts: Facts = { ...FACTS, thread: "main" };
  return { thread: "main", after, last: events.at(-1)?.seq ?? seq, more: false, events, facts, replies: [], ...more };
}
