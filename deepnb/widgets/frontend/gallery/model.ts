/** A widget model whose kernel has a recorded session, and answers what it is asked. */

import type { Request, WidgetModel } from "../src/client";
import type { Listed, News, WireEvent } from "../src/protocol";
import { moneyAnswer } from "./money";

type Listener = (...args: never[]) => void;

const ANSWER = "This is the gallery: **nobody** thinks here, but words still come one by one, with $e^{i\\pi} = -1$, `code` and a list:\n\n- one\n- two\n";

export class FakeModel implements WidgetModel {
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(
    private readonly news: News,
    private readonly listed: Listed,
  ) {}

  get(name: string): unknown {
    return { thread: this.news.thread, panel: "gallery", key: "gallery" }[name];
  }

  on(event: string, callback: Listener): void {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(callback));
  }

  off(event: string, callback?: Listener | null): void {
    if (callback) this.listeners.get(event)?.delete(callback);
  }

  emit(event: string, ...args: unknown[]): void {
    for (const listener of this.listeners.get(event) ?? []) (listener as (...args: unknown[]) => void)(...args);
  }

  send(content: unknown): void {
    const request = content as Request;
    setTimeout(() => {
      const reply = { type: "reply", id: request.id, view: request.view, later: false, number: 0, error: null };
      this.emit("msg:custom", { ...reply, result: this.answer(request) });
      if (request.type === "hello") this.push([]);
      if (request.type === "ask") void this.talk(request.text);
      if (request.type === "respond") this.close(request.question, request.answer);
      if (request.type === "settle") this.push([this.event("settled", request.run, { citation: request.citation, by: "person", note: request.note })]);
    }, 30);
  }

  private answer(request: Request): unknown {
    switch (request.type) {
      case "hello":
        return this.news;
      case "pull":
        return { ...this.news, after: this.news.last, events: [] };
      case "threads":
        return this.listed;
      case "export":
        return { name: "thread.md", text: "# A thread\n" };
      case "load_files":
        return { code: "export default () => globalThis.galleryFiles" };
      case "preview":
        return { description: "```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n```" };
      default:
        return moneyAnswer(request.type) ?? null;
    }
  }

  private async talk(text: string): Promise<void> {
    const run = `run-${this.news.last}`;
    const tell = (kind: WireEvent["kind"], data: object) => this.push([this.event(kind, run, data)]);
    this.news.facts!.status = "running";
    tell("run_started", { text, resumed: false });
    for (const word of ANSWER.split(/(?<= )/)) {
      tell("token", { id: run, text: word });
      await new Promise((done) => setTimeout(done, 40));
    }
    tell("message", { id: run, role: "assistant", text: ANSWER });
    this.news.facts!.status = "done";
    tell("run_ended", { status: "done", text: "", seconds: 2 });
  }

  private close(id: string, answer: unknown): void {
    const opened = this.news.events.findLast((event) => event.data.id === id);
    this.push([this.event("interrupt_closed", opened?.run ?? "", { id, answer, by: "person" })]);
  }

  private event(kind: WireEvent["kind"], run: string, data: object): WireEvent {
    return { seq: this.news.last + 1, time: Date.now() / 1000, kind, run, data: { ...data } };
  }

  private push(events: WireEvent[]): void {
    const after = this.news.last;
    this.news.last += events.length;
    this.news.events.push(...events);
    this.emit("msg:custom", { type: "push", news: { ...this.news, after, events, replies: [] } });
  }
}
