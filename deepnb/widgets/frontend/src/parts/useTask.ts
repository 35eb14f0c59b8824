/** Work that a button has begun: under way, done, or refused with a reason to show beside it. */

import { useRef, useState } from "preact/hooks";

import { legible } from "./legible";

export interface Task {
  readonly busy: boolean;
  /** Why the last one was not carried out, fit to be looked at; empty if it was. */
  readonly error: string;
  /** Does the work, unless some is under way: a button never acts twice. */
  run(work: () => Promise<unknown>): Promise<void>;
}

export function useTask(): Task {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const underWay = useRef(false);
  const run = async (work: () => Promise<unknown>) => {
    if (underWay.current) return;
    underWay.current = true;
    setBusy(true);
    setError("");
    try {
      await work();
    } catch (problem) {
      setError(legible(problem instanceof Error ? problem.message : String(problem)));
    } finally {
      underWay.current = false;
      setBusy(false);
    }
  };
  return { busy, error, run };
}
