/** A turn that is being read, event by event; what is not in order is put right. */

import type { CallState, Report, RunStatus, Step, TextStep, ThoughtStep, ToolStep, Turn, Usage } from "../model";
import { legible } from "../parts/legible";
import type { WireEvent } from "../protocol";
import { number, object, raw, text } from "./fields";
import { callKey, Outline } from "./outline";
import { readReport } from "./research";
import { grown, settled } from "./writing";

export const NO_USAGE: Usage = { calls: 0, tokensIn: 0, tokensOut: 0, cost: 0 };
const CUT_OFF = "The run was cut off.";

/** A sum that left calls out would be lower than what was paid: then the cost is not known. */
export function plus(usage: Usage, event: WireEvent): Usage {
  const cost = number(event, "cost");
  return {
    calls: usage.calls + 1,
    tokensIn: usage.tokensIn + (number(event, "tokens_in") ?? 0),
    tokensOut: usage.tokensOut + (number(event, "tokens_out") ?? 0),
    cost: cost === null || usage.cost === null ? null : usage.cost + cost,
  };
}

export class Draft {
  private readonly steps = new Outline();
  private readonly reports = new Map<string, Report>(); // by the place of their message
  private readonly open = new Set<string>(); // questions that nobody has answered
  private readonly rejected = new Set<string>(); // tools of which a call was
  private end: RunStatus | null;
  private why = "";
  private seconds: number | null = null;
  private since: number;
  private ended: number | null = null;
  private usage = NO_USAGE;
  private superseded = false;
  private made: Turn | null = null;

  constructor(
    readonly run: string,
    private readonly time: number,
    private question: string,
    private readonly fork: number | null,
  ) {
    this.end = run ? null : "done"; // what is of no run just happened
    this.since = time;
  }

  /** Takes in an event of this run, `queued` and `run_started` apart. */
  read(event: WireEvent): void {
    this.made = null;
    const read = this.readers[event.kind];
    read?.(event);
  }

  /** Goes on: what was being written when the run was cut off stays as it is. */
  resume(): void {
    this.made = null;
    this.end = null;
    this.why = "";
    this.superseded = false;
    for (const key of this.writing) this.cut(key);
    this.writing.clear();
  }

  /** Notes that a later run has begun; one which never ended was cut off before it. */
  supersede(): void {
    if (this.end) return;
    this.made = null;
    this.superseded = true;
  }

  /** Notes what a person has said that the agent has not read yet. */
  remark(event: WireEvent): void {
    this.made = null;
    const said = text(event, "text");
    this.steps.add(
      event,
      { type: "remark", ...base(event), id: event.run || String(event.seq), text: said, heard: false },
      `remark ${said}`,
    );
  }

  turn(): Turn {
    this.made ??= this.make();
    return this.made;
  }

  private make(): Turn {
    const stopped = this.superseded && !this.end;
    const end = stopped ? "stopped" : this.end;
    this.steps.end(end !== null);
    return {
      run: this.run,
      question: this.question,
      time: this.time,
      status: end ?? (this.open.size ? "waiting" : "running"),
      why: stopped ? CUT_OFF : this.why,
      steps: this.steps.shown(),
      usage: this.usage,
      seconds: this.seconds,
      since: this.since,
      ended: this.end && this.ended,
      fork: this.fork,
    };
  }

  private readonly writing = new Set<string>();

  private readonly readers: { [K in WireEvent["kind"]]?: (event: WireEvent) => void } = {
    token: (event) => this.token(event),
    reasoning: (event) => this.reasoning(event),
    message: (event) => this.message(event),
    node: (event) => this.node(event),
    tool_call: (event) => this.toolCall(event),
    tool_result: (event) => this.toolResult(event),
    file: (event) => this.file(event),
    report: (event) => this.report(event),
    settled: (event) => this.settle(event),
    subagent_started: (event) => this.subagentStarted(event),
    subagent_ended: (event) => this.subagentEnded(event),
    interrupt_opened: (event) => this.interruptOpened(event),
    interrupt_closed: (event) => this.interruptClosed(event),
    usage: (event) => { this.usage = plus(this.usage, event); },
    warning: (event) => this.notice(event, "warning"),
    error: (event) => this.notice(event, "error"),
    run_ended: (event) => this.runEnded(event),
  };

  // A graph and a subgraph that share a conversation share its messages too: hence the call.
  private token(event: WireEvent): void {
    const key = `text ${event.call ?? ""} ${raw(event, "id")}`;
    const known = this.steps.get(key);
    if (known?.type === "text") {
      // What comes behind the whole of a message is told by it already.
      if (known.state === "writing") this.steps.put(key, grown(known, raw(event, "text")));
      return;
    }
    this.thoughtEnds(event);
    this.writing.add(key);
    this.steps.add(event, written(event, raw(event, "text"), "writing"), key);
  }

  private reasoning(event: WireEvent): void {
    const key = `thought ${event.call ?? ""} ${raw(event, "id")}`;
    const known = this.steps.get(key);
    if (known?.type === "thought") {
      this.steps.put(key, grown(known, raw(event, "text")));
      return;
    }
    this.writing.add(key);
    this.steps.add(event, thought(event, raw(event, "text"), "writing"), key);
  }

  private thoughtEnds(event: WireEvent): void {
    const key = `thought ${event.call ?? ""} ${raw(event, "id")}`;
    const known = this.steps.get(key);
    if (known?.type !== "thought" || known.state === "whole") return;
    this.writing.delete(key);
    this.steps.put(key, settled(known, { state: "whole", seconds: event.time - known.time }));
  }

  private message(event: WireEvent): void {
    if (event.data.role === "user") {
      this.said(event);
      return;
    }
    const id = `${event.call ?? ""} ${raw(event, "id")}`;
    const key = `text ${id}`;
    this.thoughtEnds(event);
    this.writing.delete(key);
    const said = written(event, raw(event, "text"), event.data.cut_off ? "cut" : "whole");
    const known = this.steps.get(key);
    if (known && raw(event, "id")) this.steps.put(key, { ...said, seq: known.seq, time: known.time });
    else this.steps.add(event, said, key);
    this.attach(key);
    const reasoning = raw(event, "reasoning");
    const thoughts = this.steps.get(`thought ${id}`);
    if (reasoning && thoughts?.type === "thought") this.steps.put(`thought ${id}`, settled(thoughts, { text: reasoning }));
    else if (reasoning) this.steps.add(event, thought(event, reasoning, "whole"), `thought ${id}`, key);
  }

  /** What a node says of its reasoning, in place of what it has drafted. */
  private node(event: WireEvent): void {
    let said = event.data.aside ? "" : text(event, "text");
    for (const draft of Array.isArray(event.data.drafts) ? event.data.drafts : []) {
      const key = `thought ${event.call ?? ""} ${draft}`;
      const known = this.steps.get(key);
      if (known?.type !== "thought") continue;
      this.writing.delete(key);
      this.steps.put(key, settled(known, { text: said, state: "whole", seconds: event.time - known.time }));
      said = "";
    }
    if (said) this.steps.add(event, thought(event, said, "whole"));
  }

  /** A person's message: the question itself, or a remark. */
  private said(event: WireEvent): void {
    if (event.call) return; // what one agent said to another, which is the task
    const said = text(event, "text");
    this.question ||= said;
    const known = this.steps.get(`remark ${said}`);
    if (known?.type === "remark") this.steps.put(`remark ${said}`, { ...known, heard: true });
    else if (raw(event, "id") !== this.run && said !== this.question) {
      const id = raw(event, "id") || String(event.seq);
      this.steps.add(event, { type: "remark", ...base(event), id, text: said, heard: true }, `remark ${said}`);
    }
  }

  private toolCall(event: WireEvent): void {
    const id = raw(event, "id");
    const args = object(event.data.args) ?? (event.data.args ? { args: event.data.args } : {});
    const key = callKey(event.call ?? "", id);
    const known = id ? this.steps.get(key) : undefined;
    if (!known) this.steps.add(event, tool(event, args), key);
    else if (known.type === "tool") this.steps.put(key, { ...known, args, state: "running" });
  }

  private toolResult(event: WireEvent): void {
    const key = callKey(event.call ?? "", raw(event, "id"));
    const result = text(event, "text");
    if (!this.steps.get(key)) this.steps.add(event, tool(event, {}), key);
    const known = this.steps.get(key);
    // How long a subagent took and how it ended, it says itself.
    if (known?.type === "subagent") this.steps.put(key, { ...known, result });
    if (known?.type !== "tool") return;
    const isRejected = this.rejected.has(known.name) && /^User rejected the tool call for /.test(result);
    if (isRejected) this.steps.put(key, { ...known, state: "rejected", result });
    else this.steps.put(key, { ...known, state: state(event), result, seconds: number(event, "seconds") });
  }

  /** What was checked is a message, which may be told before its check or after it. */
  private report(event: WireEvent): void {
    const key = `text ${event.call ?? ""} ${raw(event, "message")}`;
    this.reports.set(key, readReport(event));
    this.attach(key);
  }

  private attach(key: string): void {
    const [report, known] = [this.reports.get(key), this.steps.get(key)];
    if (report && known?.type === "text") this.steps.put(key, settled(known, { report }));
  }

  private settle(event: WireEvent): void {
    const id = raw(event, "citation");
    for (const [key, report] of this.reports) {
      if (!report.citations.some((citation) => citation.id === id)) continue;
      const [all, note] = [new Map(report.settled), text(event, "note")];
      if (event.data.checked === false) all.delete(id);
      else all.set(id, { time: event.time, note });
      this.reports.set(key, { ...report, settled: all, notes: new Map(report.notes).set(id, note) });
      this.attach(key);
    }
  }

  private file(event: WireEvent): void {
    const diff = text(event, "diff");
    const fenced = /^(`{3,})diff\n([^]*)\n\1$/.exec(diff.trim()); // as it was shown for approval
    this.steps.add(event, {
      type: "file", ...base(event), path: text(event, "path") || legible(event.name ?? ""),
      action: text(event, "action"), diff: fenced ? fenced[2]! : diff,
    });
  }

  private subagentStarted(event: WireEvent): void {
    const call = raw(event, "id") || event.call || `event ${event.seq}`;
    // The event is the subagent's own, or its caller's about it.
    const name = event.call === call ? event.agent : event.name || event.agent;
    this.steps.call(event, call, legible(name ?? ""), text(event, "text"));
  }

  private subagentEnded(event: WireEvent): void {
    const key = this.steps.keyOf(event, raw(event, "id"));
    const known = this.steps.get(key);
    if (known?.type !== "subagent") return;
    this.steps.put(key, { ...known, state: state(event), seconds: number(event, "seconds") });
    for (const writing of this.writing) {
      if (writing.split(" ")[1] !== event.call) continue;
      this.cut(writing); // it was stopped, and writes no further
      this.writing.delete(writing);
    }
  }

  private interruptOpened(event: WireEvent): void {
    const id = raw(event, "id");
    // Questions of one node that follow each other have one id.
    if (this.open.has(id)) return;
    this.open.add(id);
    this.steps.add(event, {
      type: "question", ...base(event), id, agent: legible(event.agent ?? ""),
      request: event.data.request ?? null, answer: null, by: "", closed: null,
    }, `ask ${id}`);
  }

  private interruptClosed(event: WireEvent): void {
    const id = raw(event, "id");
    if (!this.steps.get(`ask ${id}`)) this.interruptOpened(event);
    if (this.open.delete(id) && !this.open.size) this.since = event.time;
    const known = this.steps.get(`ask ${id}`);
    if (known?.type !== "question" || known.by) return;
    for (const tool of rejectedTools(known.request, event.data.answer)) this.rejected.add(legible(tool));
    this.steps.put(`ask ${id}`, {
      ...known, answer: event.data.answer ?? null, by: decider(raw(event, "by")), closed: event.time,
    });
  }

  private notice(event: WireEvent, level: "warning" | "error"): void {
    const title = text(event, "type") || (level === "error" ? "Error" : "Warning");
    this.steps.add(event, { type: "notice", ...base(event), level, title, text: text(event, "text") });
  }

  private runEnded(event: WireEvent): void {
    const status = raw(event, "status");
    this.end = status === "done" || status === "failed" ? status : "stopped";
    this.why = text(event, "text");
    this.open.clear();
    this.ended = event.time;
    const seconds = number(event, "seconds");
    // A run that was resumed has ended more than once.
    if (seconds !== null) this.seconds = (this.seconds ?? 0) + seconds;
  }

  private cut(key: string): void {
    const known = this.steps.get(key);
    if (known?.type === "text") this.steps.put(key, settled(known, { state: "cut" }));
    if (known?.type === "thought") this.steps.put(key, settled(known, { state: "whole" }));
  }
}

function base(event: WireEvent): Pick<Step, "seq" | "time" | "fork"> {
  return { seq: event.seq, time: event.time, fork: event.step ?? null };
}

function written(event: WireEvent, said: string, state: TextStep["state"]): TextStep {
  return { type: "text", ...base(event), id: raw(event, "id") || String(event.seq), text: said, state };
}

function thought(event: WireEvent, said: string, state: ThoughtStep["state"]): ThoughtStep {
  return { type: "thought", ...base(event), id: raw(event, "id") || String(event.seq), text: said, state, seconds: null };
}

function tool(event: WireEvent, args: Record<string, unknown>): ToolStep {
  return {
    type: "tool", ...base(event), id: raw(event, "id"), name: legible(event.name ?? ""),
    line: legible(event.line ?? ""), args, state: "running", result: "", seconds: null,
  };
}

function state(event: WireEvent): CallState {
  const status = event.data.status;
  return status === "error" || status === "stopped" ? status : "ok";
}

/** The tools whose calls an answer rejects. */
function rejectedTools(request: unknown, answer: unknown): string[] {
  const [actions, decisions] = [object(request)?.action_requests, object(answer)?.decisions];
  if (!Array.isArray(actions) || !Array.isArray(decisions)) return [];
  return actions.flatMap((action, at) => {
    const name = object(action)?.name;
    return object(decisions[at])?.type === "reject" && typeof name === "string" ? [name] : [];
  });
}

function decider(by: string): "person" | "policy" | "grant" | "stop" {
  return by === "policy" || by === "grant" || by === "stop" ? by : "person";
}
