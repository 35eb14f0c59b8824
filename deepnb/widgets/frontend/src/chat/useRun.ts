/** The run under way, for what is meant for that one and for none that comes after it. */

import { useStore } from "../app";

export function useRun(): string | null {
  return useStore(({ turns }) => turns.findLast(({ status }) => status === "running" || status === "waiting")?.run ?? null);
}
