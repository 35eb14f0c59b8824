/** Asks the agent: the message is seen at once, and comes back into the input if it was not taken. */

import { useState } from "preact/hooks";

import { useApp } from "../app";

export function useAsk(): { ask(text: string): Promise<void>; error: string } {
  const { client, store, ui } = useApp();
  const [error, setError] = useState("");
  const ask = async (text: string) => {
    setError("");
    const settle = store.expect(text);
    try {
      await client.request("ask", { text });
      settle();
    } catch (problem) {
      settle(true);
      setError(problem instanceof Error ? problem.message : String(problem));
      if (!ui.draft.trim()) ui.set({ draft: text });
    }
  };
  return { ask, error };
}
