/** How long something has gone on, ticking without anything else being drawn again. */

import { useEffect, useState } from "preact/hooks";

import { clock } from "./format";

/** Gives the time, in seconds since 1970, every second while `running`. */
export function useNow(running: boolean): number {
  const [now, set] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (!running) return;
    const tick = () => set(Date.now() / 1000);
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

/** Counts from `since`, to `until` if it has ended. */
export function Elapsed({ since, until = null }: { since: number; until?: number | null }) {
  const now = useNow(until === null);
  return <>{clock((until ?? now) - since)}</>;
}
