/**
 * Paying a token in.
 *
 * Whoever sees a token can spend it. So it is nowhere but in the field, not even in what is drawn from, and the
 * field is empty before the token is on its way.
 */

import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";

import { useApp, useConnection } from "../app";
import { useTask } from "../parts/useTask";

export interface Paying {
  readonly field: RefObject<HTMLInputElement | null>;
  /** What can be seen to be wrong with what is in the field. */
  readonly problem: string;
  readonly busy: boolean;
  /** Whether nothing can be paid now. */
  readonly locked: boolean;
  /** Why the last token was not taken, in the kernel's words. */
  readonly refused: string;
  /** Whether the last one was. */
  readonly paid: boolean;
  look(): void;
  pay(): void;
}

export function usePaying(): Paying {
  const { client } = useApp();
  const field = useRef<HTMLInputElement>(null);
  const { busy, error, run } = useTask();
  const [problem, setProblem] = useState("");
  const [paid, setPaid] = useState(false);
  const locked = useConnection() === "lost" || busy;
  const pay = () => {
    const input = field.current;
    if (locked || !input) return;
    const token = input.value.trim();
    const wrong = token ? problemOf(token) : "Paste a token first.";
    setProblem(wrong);
    if (wrong) return input.focus();
    input.value = "";
    setPaid(false);
    void run(async () => {
      await client.request("fund", { token });
      setPaid(true);
    });
  };
  const look = () => setProblem(problemOf(field.current?.value.trim() ?? ""));
  return { field, problem, busy, locked, refused: error, paid, look, pay };
}

/** What is wrong with a token, as far as its first letters tell. */
export function problemOf(token: string): string {
  if (!token || /^(cashu:)?cashu[AB]/.test(token)) return "";
  return "A Cashu token begins with cashuA or cashuB. Copy all of it from your wallet.";
}
