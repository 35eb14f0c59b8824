/** What an action would do with the arguments that a person has changed, asked when they pause. */

import { useEffect, useState } from "preact/hooks";

import { useApp } from "../app";
import type { JsonObject } from "./requests";

const PAUSE = 400; // milliseconds

export interface Preview {
  /** Null as long as nothing is known. */
  readonly description: string | null;
  readonly error: string;
  readonly pending: boolean;
}

const NOTHING = { of: "", description: null, error: "" };

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
