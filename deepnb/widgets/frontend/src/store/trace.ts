/** The rows of the trace: model calls, tool calls, subagents, questions, errors. */

import type { TraceKind, TraceRow } from "../model";
import type { IconName } from "../parts/Icon";
import { legible, oneLine } from "../parts/legible";
import type { WireEvent } from "../protocol";
import { number, raw, text } from "./fields";

/** A row while it is written; `rows` holds finished copies of them. */
type Writable = { -readonly [K in keyof TraceRow]: TraceRow[K] };

export class Trace {
  private readonly drafts: Writable[] = [];
  private readonly places = new Map<string, number>();
  private readonly busy = new Map<string, Set<string>>(); // rows of a node that has not ended
  private readonly depths = new Map<string, number>([["", 0]]);
  private readonly callers = new Map<string, string>(); // the last call of a subagent, by its name
  private readonly running = new Map<string, string>(); // what is live, with its run
  private made: readonly TraceRow[] | null = [];

  get rows(): readonly TraceRow[] {
    this.made ??= [...this.drafts];
    return this.made;
  }

  read(event: WireEvent): void {
    this.readers[event.kind]?.(event);
  }

  private readonly readers: { [K in WireEvent["kind"]]?: (event: WireEvent) => void } = {
    token: (event) => this.model(event),
    reasoning: (event) => this.thinks(event),
    message: (event) => this.thinks(event),
    usage: (event) => this.used(event),
    node: (event) => this.node(event),
    tool_call: (event) => this.begin(event, place(event, "call"), "tool", "list", event.name),
    tool_result: (event) => this.finish(event, place(event, "call"), text(event, "text")),
    subagent_started: (event) => this.subagent(event),
    subagent_ended: (event) => this.finish(event, agentPlace(event, raw(event, "id")), ""),
    interrupt_opened: (event) => this.begin(event, place(event, "ask"), "person", "user", "Asked you"),
    interrupt_closed: (event) => this.decided(event),
    error: (event) => this.moment(event, "error", "warn", text(event, "text") || text(event, "type")),
    payment: (event) => this.moment(event, "other", "coin", "Payment"),
    warning: (event) => this.moment(event, "other", "warn", text(event, "text")),
    run_ended: (event) => this.runEnded(event.run ?? ""),
  };

  private begin(event: WireEvent, key: string, kind: TraceKind, icon: IconName, fallback = ""): void {
    const known = this.places.get(key);
    // An id comes again when a node is run again; questions of one node have one id.
    if (known !== undefined && (this.drafts[known]!.live || kind === "tool" || kind === "agent")) {
      this.change(key, { live: true });
      this.running.set(key, event.run ?? "");
      return;
    }
    this.places.set(key, this.drafts.length);
    this.running.set(key, event.run ?? "");
    this.note(event, key);
    this.drafts.push(row(event, kind, icon, this.depth(event), fallback, true));
    this.made = null;
  }

  private moment(event: WireEvent, kind: TraceKind, icon: IconName, line: string): void {
    this.drafts.push({ ...row(event, kind, icon, this.depth(event), line, false), seconds: null });
    this.made = null;
  }

  private model(event: WireEvent): string {
    const key = place(event, "model");
    if (!this.places.has(key)) this.begin(event, key, "model", "model", "Model call");
    return key;
  }

  private thinks(event: WireEvent): void {
    const key = place(event, "model");
    if (event.kind === "reasoning") {
      this.model(event);
      const detail = this.drafts[this.places.get(key)!]!.detail;
      this.change(key, { detail: detail + raw(event, "text") });
    } else if (raw(event, "reasoning")) {
      this.change(key, { detail: raw(event, "reasoning") });
    }
  }

  private used(event: WireEvent): void {
    const key = this.model(event);
    this.change(key, {
      line: oneLine(text(event, "model") || event.name || "") || "Model call",
      tokensIn: number(event, "tokens_in"),
      tokensOut: number(event, "tokens_out"),
      cost: number(event, "cost"),
    });
  }

  /** A node has ended: it was a model call, or ran tools, or is something that only the graph knows. */
  private node(event: WireEvent): void {
    const seconds = number(event, "seconds");
    const where = `${event.call ?? ""} ${event.node || event.name || ""}`;
    const done = this.busy.get(where);
    this.busy.delete(where);
    for (const key of done ?? []) {
      // The call of a subagent is the subagent's own by now, which says itself when it ends.
      const index = this.places.get(key);
      if (index === undefined || this.drafts[index]!.kind !== "model") continue;
      this.change(key, { live: false, seconds, time: event.time - (seconds ?? 0) });
      this.running.delete(key);
    }
    if (done?.size) return;
    const wrong = text(event, "error");
    const named = { ...event, line: "" }; // how long it took has a column of its own
    const made = row(named, wrong ? "error" : "other", wrong ? "warn" : "right", this.depth(event), event.name ?? "", false);
    this.drafts.push({ ...made, seconds, time: event.time - (seconds ?? 0), detail: wrong || text(event, "text") });
    this.made = null;
  }

  private subagent(event: WireEvent): void {
    const id = raw(event, "id") || event.call || "";
    const caller = event.call !== id ? event.call : this.callers.get(event.parent ?? "");
    const call = `${event.run} call ${caller ?? ""} ${id}`;
    const key = agentPlace(event, id);
    const called = this.places.get(call);
    this.callers.set(event.agent ?? "", id);
    this.depths.set(id, (this.depths.get(caller ?? "") ?? 0) + 1);
    if (called === undefined) {
      this.begin({ ...event, call: caller ?? "" }, key, "agent", "agent", event.name);
    } else {
      // It stands in place of the call that started it.
      this.places.set(key, called);
      this.places.delete(call);
      this.running.delete(call);
      this.running.set(key, event.run ?? "");
      this.change(key, { kind: "agent", icon: "agent", line: legible(event.line || event.name || event.agent || ""), detail: text(event, "text") });
    }
  }

  private finish(event: WireEvent, key: string, detail: string): void {
    const index = this.places.get(key);
    if (index === undefined) return;
    const known = this.drafts[index]!;
    const failed = event.data.status === "error";
    this.running.delete(key);
    this.change(key, {
      live: false,
      seconds: number(event, "seconds") ?? event.time - known.time,
      detail: detail || known.detail,
      ...(failed ? { kind: "error" as const } : {}),
    });
  }

  private decided(event: WireEvent): void {
    const key = place(event, "ask");
    const index = this.places.get(key);
    if (index === undefined || !this.drafts[index]!.live) return;
    this.running.delete(key);
    this.change(key, {
      live: false, seconds: event.time - this.drafts[index]!.time,
      ...(event.line ? { line: legible(event.line) } : {}),
    });
  }

  private runEnded(run: string): void {
    for (const [key, owner] of this.running) {
      if (owner !== run) continue;
      this.running.delete(key);
      this.change(key, { live: false });
    }
    this.busy.clear();
  }

  private note(event: WireEvent, key: string): void {
    if (!event.node) return;
    const where = `${event.call ?? ""} ${event.node}`;
    this.busy.set(where, (this.busy.get(where) ?? new Set()).add(key));
  }

  private change(key: string, fields: Partial<TraceRow>): void {
    const index = this.places.get(key);
    if (index === undefined) return;
    this.drafts[index] = { ...this.drafts[index]!, ...fields };
    this.made = null;
  }

  private depth(event: WireEvent): number {
    return this.depths.get(event.call ?? "") ?? 1;
  }
}

/** Where the row of something is found; ids are only unique among those of one agent and run. */
function place(event: WireEvent, what: string): string {
  return `${event.run} ${what} ${event.call ?? ""} ${raw(event, "id")}`;
}

function agentPlace(event: WireEvent, call: string): string {
  return `${event.run} agent ${call}`;
}

function row(event: WireEvent, kind: TraceKind, icon: IconName, depth: number, fallback: string, live: boolean): Writable {
  return {
    seq: event.seq, time: event.time, run: event.run ?? "", agent: legible(event.agent ?? ""), depth, kind, icon,
    line: legible(event.line || oneLine(fallback)), tokensIn: null, tokensOut: null, cost: null, seconds: null,
    fork: event.step ?? null, detail: "", live,
  };
}
