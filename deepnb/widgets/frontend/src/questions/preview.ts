/** What an action would do with the arguments that a person has changed, asked when they pause. */

import { useEffect, useRef, useState } from "preact/hooks";

import { useApp, useObserved } from "../app";
import type { JsonObject } from "./requests";

const PAUSE = 400; // milliseconds

export interface Preview {
  /** Null as long as nothing is known. */
  readonly description: string | null;
  readonly error: string;
  readonly pending: boolean;
}

const NOTHING = { of: "", description: null, error: "" };

/**
 * What an action would change in the reader's own files, which only this browser can tell; null for others.
 *
 * It is followed until the reader has decided (`args` is null then): what they saw last is what may be changed.
 */
export function useLocalPreview(tool: string, args: JsonObject | null): string | null {
  const { explorer } = useApp();
  const files = useObserved(explorer, ({ files }) => files);
  const wanted = args ? JSON.stringify(args) : "";
  const [known, set] = useState<string | null>(null);
  const isFollowed = useRef(false);
  useEffect(() => {
    if (!files || !args) return;
    let wantedStill = true;
    const look = async () => {
      if (document.visibilityState !== "visible") return; // what nobody sees is not what is approved in another tab
      const description = await files.previews.describe(tool, args).catch(() => null);
      if (wantedStill) set(description);
    };
    // The first look is taken at once, and those at what is being typed when it rests.
    const timer = setTimeout(look, isFollowed.current ? PAUSE : 0);
    isFollowed.current = true;
    const leave = files.shelf.subscribe(() => void look());
    document.addEventListener("visibilitychange", look);
    return () => {
      wantedStill = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
      leave();
    };
  }, [files, tool, wanted]);
  return args && known;
}

/** Asks the kernel, unless `args` is null. What is known stays until something newer has come. */
export function usePreview(question: string, action: number, args: JsonObject | null): Preview {
  const { client } = useApp();
  const wanted = args ? JSON.stringify(args) : "";
  const [known, set] = useState<{ of: string; description: string | null; error: string }>(NOTHING);
  useEffect(() => {
    if (!args) {
      set(NOTHING);
      return;
    }
    let wantedStill = true;
    const ask = async () => {
      const found = await client.request("preview", { question, action, args }).then(
        ({ description }) => ({ of: wanted, description: description || null, error: "" }),
        (error: Error) => ({ of: wanted, description: null, error: error.message }),
      );
      if (wantedStill) set(found);
    };
    const timer = setTimeout(ask, PAUSE);
    return () => {
      wantedStill = false;
      clearTimeout(timer);
    };
  }, [client, question, action, wanted]);
  const { description, error } = args ? known : NOTHING;
  return { description, error, pending: args !== null && known.of !== wanted };
}
