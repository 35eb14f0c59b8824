/** Sending an answer: once, for the question it was given to, and with what the kernel says to it. */

import { useEffect, useState } from "preact/hooks";

import { useApp, useConnection } from "../app";
import type { Client } from "../client";
import type { JsonValue } from "../protocol";

/** How an answer of this view stands. `refused` says why the kernel has not taken it. */
class Answering {
  state: "open" | "sending" | "sent" = "open";
  refused = "";
  private readonly listeners = new Set<() => void>();

  subscribe(callback: () => void): () => void {
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  /** Sends, unless an answer is under way already: a second click finds nothing to do. */
  async send(client: Client, question: string, answer: JsonValue): Promise<void> {
    if (this.state !== "open") return;
    this.set("sending", "");
    try {
      await client.request("respond", { question, answer });
      this.set("sent", "");
    } catch (error) {
      this.set("open", (error as Error).message);
    }
  }

  private set(state: Answering["state"], refused: string): void {
    this.state = state;
    this.refused = refused;
    for (const listener of this.listeners) listener();
  }
}

/** Of each view, by question; held by the wire, since a new wire knows nothing of old answers. */
const answers = new WeakMap<Client, Map<string, Answering>>();

function answering(client: Client, question: string): Answering {
  const known = answers.get(client) ?? new Map<string, Answering>();
  answers.set(client, known);
  const one = known.get(question) ?? new Answering();
  known.set(question, one);
  return one;
}

export interface Answer {
  readonly state: "open" | "sending" | "sent";
  readonly refused: string;
  /** Whether nothing can be sent now. */
  readonly locked: boolean;
  /** What to say about it beside the buttons; empty if there is nothing to say. */
  readonly status: string;
  send(answer: JsonValue): void;
}

export function useAnswer(question: string): Answer {
  const { client } = useApp();
  const connection = useConnection();
  const one = answering(client, question);
  const [, draw] = useState({});
  useEffect(() => one.subscribe(() => draw({})), [one]);
  const { state, refused } = one;
  const lost = connection === "lost";
  return {
    state,
    refused,
    locked: state !== "open" || lost,
    status: statusOf(state, lost, connection === "busy"),
    send: (answer) => void (!lost && one.send(client, question, answer)),
  };
}

function statusOf(state: Answer["state"], lost: boolean, busy: boolean): string {
  if (lost) return "Can be answered once reconnected";
  if (state === "open") return "";
  if (state === "sending" && busy) return "Sent; the kernel takes it when your cell has ended";
  return state === "sending" ? "Sending…" : "Sent";
}
