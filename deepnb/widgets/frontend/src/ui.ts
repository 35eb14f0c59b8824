/** How one view stands: what is open beside the chat, and what was typed. Never leaves the page. */

import type { Place } from "./model";

export type Tab = "chat" | "plan" | "files" | "trace" | "sources" | "usage";

export class Ui {
  tab: Tab = "chat";
  /** Whether the threads are listed beside the chat. */
  history = false;
  /** Whether a tab is shown beside the chat rather than instead of it. */
  split = true;
  /** What is shown of the sources, once somebody has chosen. */
  source: Place | null = null;
  /** What is in the input. */
  draft = "";
  /** Grows when a click has led to the input, which then takes the focus. */
  focus = 0;
  /** Remote images are loaded only in messages for which the reader has said so, by their place in a thread. */
  readonly imagesAllowed = new Set<string>();
  /** What was typed into questions and plans and not sent, by their place. */
  readonly drafts = new Map<string, unknown>();
  /** A line for screen readers, said when it changes. */
  announcement = "";

  private readonly listeners = new Set<() => void>();

  subscribe(callback: () => void): () => void {
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  set(change: Partial<Pick<Ui, "tab" | "history" | "split" | "source" | "draft" | "focus" | "announcement">>): void {
    Object.assign(this, change);
    for (const listener of this.listeners) listener();
  }
}
