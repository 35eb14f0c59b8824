/** A number that grows with the conversation, though only a few times a second. */

import { useEffect, useState } from "preact/hooks";

import { useApp } from "../app";

const PAUSE = 200; // ms: a trace is read by people, and may be long to go through

export function useVersion(): number {
  const { store } = useApp();
  const [version, set] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        set((version) => version + 1);
      }, PAUSE);
    };
    set((version) => version + 1);
    const stop = store.subscribe(look);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store]);
  return version;
}
