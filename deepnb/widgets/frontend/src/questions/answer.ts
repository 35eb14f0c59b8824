/** Sending an answer: once, for the question it was given to, and with what the kernel says to it. */

import { useLayoutEffect, useState } from "preact/hooks";

import { useApp, useConnection } from "../app";
import { RefusedError, type Client } from "../client";
import type { QuestionStep } from "../model";
import type { JsonValue } from "../protocol";
import { usePlace } from "./drafts";

/**
 * Milliseconds until a card says that it sends, or has sent: to draw that first would keep the
 * answer waiting, and the run behind it. The news of what was decided mostly come before.
 */
const LULL = 50;

/** How an answer of this view stands. `refused` says why the kernel has not taken it, if it has not. */
class Answering {
  state: "open" | "sending" | "sent" = "open";
  refused = "";
  /** Whether nobody knows if it has arrived. */
  unknown = false;
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  subscribe(callback: () => void): () => void {
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  /** Sends, unless an answer is under way already: a second click finds nothing to do. */
  async send(client: Client, question: string, answer: JsonValue): Promise<void> {
    if (this.state !== "open") return;
    this.state = "sending";
    this.refused = "";
    this.tellSoon();
    try {
      await client.request("respond", { question, answer });
      this.state = "sent";
      this.tellSoon();
    } catch (error) {
      this.unknown = error instanceof RefusedError && error.kind === "ConnectionLost";
      this.state = "open";
      this.refused = (error as Error).message;
      this.tell();
    }
  }

  private tellSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), LULL);
  }

  private tell(): void {
    clearTimeout(this.timer);
    for (const listener of this.listeners) listener();
  }
}

/** Of each view, by place; held by the wire, since a new wire knows nothing of old answers. */
const answers = new WeakMap<Client, Map<string, Answering>>();

function answering(client: Client, place: string): Answering {
  const known = answers.get(client) ?? new Map<string, Answering>();
  answers.set(client, known);
  const one = known.get(place) ?? new Answering();
  known.set(place, one);
  return one;
}

/** Lets go of an answer that is of no use any more. */
export function forgetAnswer(client: Client, place: string): void {
  answers.get(client)?.delete(place);
}

export interface Answer {
  readonly state: "open" | "sending" | "sent";
  readonly refused: string;
  /** Whether nobody knows if it has arrived. */
  readonly unknown: boolean;
  /** Whether nothing can be sent now. */
  readonly locked: boolean;
  /** What to say about it beside the buttons; empty if there is nothing to say. */
  readonly status: string;
  send(answer: JsonValue): void;
}

export function useAnswer(step: QuestionStep): Answer {
  const { client } = useApp();
  const connection = useConnection();
  const one = answering(client, usePlace(step));
  const [, draw] = useState({});
  useLayoutEffect(() => one.subscribe(() => draw({})), [one]);
  const { state, refused, unknown } = one;
  const lost = connection === "lost";
  return {
    state,
    refused,
    unknown,
    locked: state !== "open" || lost,
    status: statusOf(state, lost, connection === "busy"),
    send: (answer) => void (!lost && one.send(client, step.id, answer)),
  };
}

function statusOf(state: Answer["state"], lost: boolean, busy: boolean): string {
  if (lost) return "Can be answered once reconnected";
  if (state === "open") return "";
  if (state === "sending" && busy) return "Sent; the kernel takes it when your cell has ended";
  return state === "sending" ? "Sending…" : "Sent";
}
