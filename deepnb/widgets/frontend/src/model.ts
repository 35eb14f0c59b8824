/** A conversation as the panel shows it. The store makes it from events; nothing else does. */

import type { JsonValue } from "./protocol";

export type RunStatus = "queued" | "running" | "waiting" | "stopped" | "failed" | "done";

/** How a call stands; stopped means that it never came back, rejected that somebody did not want it. */
export type CallState = "running" | "ok" | "error" | "stopped" | "rejected";

/** What every step has: its number, when it began, and the graph's step that a fork would take. */
interface Base {
  readonly seq: number;
  readonly time: number;
  readonly fork: number | null;
}

/** A text that is being written: the first `count` of `all`, which only ever grows. */
export interface Pieces {
  readonly all: readonly string[];
  readonly count: number;
}

/** What an agent wrote. `writing` while more of it comes, `cut` if somebody stopped it. */
export interface TextStep extends Base {
  readonly type: "text";
  readonly id: string;
  readonly text: string;
  readonly state: "whole" | "writing" | "cut";
  /** While it is written: to ask for `text` each time would cost more and more. */
  readonly pieces?: Pieces;
  /** What came of checking it, if it is a report. */
  readonly report?: Report;
}

/** What a model thought aloud before it wrote `id`; folded. */
export interface ThoughtStep extends Base {
  readonly type: "thought";
  readonly id: string;
  readonly text: string;
  readonly state: "whole" | "writing";
  readonly pieces?: Pieces;
  readonly seconds: number | null;
}

/** What the person said while the run was under way. */
export interface RemarkStep extends Base {
  readonly type: "remark";
  readonly id: string;
  readonly text: string;
  readonly heard: boolean;
}

export interface ToolStep extends Base {
  readonly type: "tool";
  readonly id: string;
  readonly name: string;
  readonly line: string;
  readonly args: Record<string, JsonValue>;
  readonly state: CallState;
  readonly result: string;
  readonly seconds: number | null;
}

export interface FileStep extends Base {
  readonly type: "file";
  readonly path: string;
  readonly action: string;
  readonly diff: string;
}

/** A question to the person; `by` is empty while it is open. */
export interface QuestionStep extends Base {
  readonly type: "question";
  readonly id: string;
  readonly agent: string;
  readonly request: JsonValue;
  readonly answer: JsonValue;
  readonly by: "" | "person" | "policy" | "grant" | "stop";
  readonly closed: number | null;
}

export interface NoticeStep extends Base {
  readonly type: "notice";
  readonly level: "warning" | "error";
  readonly title: string;
  readonly text: string;
}

/** An agent that another one called, in place of the tool call that started it. */
export interface SubagentStep extends Base {
  readonly type: "subagent";
  readonly id: string;
  readonly name: string;
  readonly task: string;
  readonly state: CallState;
  readonly result: string;
  readonly seconds: number | null;
  readonly steps: readonly Step[];
}

export type Step =
  | TextStep
  | ThoughtStep
  | RemarkStep
  | ToolStep
  | FileStep
  | QuestionStep
  | NoticeStep
  | SubagentStep;

export interface Usage {
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Null if the price of any call is not known. */
  readonly cost: number | null;
}

/** A question and what was done about it. `sending` until the kernel has taken it. */
export interface Turn {
  readonly run: string;
  readonly question: string;
  readonly time: number;
  readonly status: RunStatus | "sending";
  readonly why: string;
  readonly steps: readonly Step[];
  readonly usage: Usage;
  /** Without those in which it waited for an answer. */
  readonly seconds: number | null;
  /** Since when it works: from its beginning, or from the last answer that it had waited for. */
  readonly since: number;
  readonly ended: number | null;
  /** The graph's step before it was asked, where a fork would begin; null if there was none. */
  readonly fork: number | null;
}

export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  /** Seconds since 1970, if known. */
  readonly began: number | null;
  readonly ended: number | null;
}

export interface Plan {
  readonly seq: number;
  readonly by: string;
  readonly todos: readonly Todo[];
}

export type TraceKind = "model" | "tool" | "person" | "error" | "agent" | "other";

/** A row of the trace: something that took time, or a moment. */
export interface TraceRow {
  readonly seq: number;
  readonly time: number;
  readonly run: string;
  readonly agent: string;
  readonly depth: number;
  readonly kind: TraceKind;
  readonly icon: string;
  readonly line: string;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly cost: number | null;
  readonly seconds: number | null;
  readonly fork: number | null;
  /** What a model thought, or what a call gave, for the opened row. */
  readonly detail: string;
  readonly live: boolean;
}

export interface UsageRow extends Usage {
  readonly agent: string;
  readonly model: string;
}

export interface Passage {
  /** As it was read: offsets count its characters, so nothing may be spelled out in it yet. */
  readonly text: string;
  readonly place: string;
}

/** Something that was read, under the id that a report cites. */
export interface Source {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly location: string;
  readonly read: number | null;
  readonly passages: readonly Passage[];
}

export type Verdict = "quoted" | "paraphrase" | "misattributed" | "missing" | "uncited";

/** One claim of a report. `at` is where its words, or the nearest ones, were found. */
export interface Citation {
  readonly id: string;
  readonly run: string;
  readonly claim: string;
  readonly quote: string;
  readonly source: string;
  readonly place: string;
  readonly verdict: Verdict;
  readonly foundIn: string;
  readonly at: Place | null;
  /** Number of its mark in the report, from 0; null if it has none. */
  readonly mark: number | null;
}

/** A passage of a source, and if they are known the characters in it. */
export interface Place {
  readonly source: string;
  readonly passage: number;
  readonly span: readonly [start: number, end: number] | null;
}

export interface Side {
  readonly at: Place;
  readonly place: string;
  readonly text: string;
}

/** Two passages that may not agree. */
export interface Conflict {
  readonly about: readonly string[];
  readonly why: string;
  readonly sides: readonly Side[];
}

/** A claim that a person has checked: when, and what they have noted. */
export interface Settled {
  readonly time: number;
  readonly note: string;
}

/** A report after its check; `removed` counts the marks that led to no source. */
export interface Report {
  /** Where the marks begin in the text, in characters. */
  readonly marks: readonly number[];
  readonly citations: readonly Citation[];
  readonly conflicts: readonly Conflict[];
  readonly removed: number;
  readonly settled: ReadonlyMap<string, Settled>;
  /** What a person has noted of claims, also of those that they have taken back. */
  readonly notes: ReadonlyMap<string, string>;
}

/** Something of the reader's that has left their browser. */
export interface Disclosure {
  readonly seq: number;
  readonly time: number;
  /** A `tool` of the agent has asked for it, or the reader has sent it. */
  readonly kind: "tool" | "copy" | "sync" | "index";
  readonly tool: string;
  /** Some of the files it was of; `files` says how many there were. */
  readonly paths: readonly string[];
  readonly files: number;
  readonly bytes: number;
  /** What it was, in a few words: "12 lines". */
  readonly detail: string;
}
