/** The conversation, made of events; the same events make the same conversation in every view. */

import type { Disclosure, Plan, QuestionStep, Report, Source, Step, TraceRow, Turn, Usage, UsageRow } from "./model";
import { legible } from "./parts/legible";
import type { Facts, News, WireEvent } from "./protocol";
import { readDisclosure } from "./store/disclosures";
import { Draft, NO_USAGE, plus } from "./store/draft";
import { number, raw, text } from "./store/fields";
import { nextPlan } from "./store/plan";
import { readSource, reportsIn } from "./store/research";
import { Trace } from "./store/trace";

export interface Store {
  /** Number of the last event that is in here. */
  readonly last: number;
  /** Null until the first news. */
  readonly facts: Facts | null;
  readonly turns: readonly Turn[];
  /** The open questions, the oldest first. */
  readonly open: readonly QuestionStep[];
  readonly plan: Plan | null;
  /** What was read, by id, in the order in which it was. */
  readonly sources: ReadonlyMap<string, Source>;
  readonly reports: readonly Report[];
  /** What has left the reader's browser, the oldest first. */
  readonly disclosures: readonly Disclosure[];
  /** What was paid in and given back, in sat, by its handle. */
  readonly payments: ReadonlyMap<string, number>;
  readonly trace: readonly TraceRow[];
  readonly usage: Usage;
  readonly usageRows: readonly UsageRow[];

  subscribe(callback: () => void): () => void;
  /** Takes news in, unless some are missing before them. */
  apply(news: News): void;
  /**
   * Shows a message at once that the kernel has not taken yet; call the result when it has, or
   * with true if it never will.
   */
  expect(text: string): (failed?: boolean) => void;
}

/** How long those who look wait for the rest of a long thread: its beginning is seldom looked at. */
const REST = 300;

/** Milliseconds in which a frame or two are drawn. */
const FRAMES = 40;

/** Milliseconds that a call for the reader's files is not drawn: most are answered in that time, if nothing is drawn. */
const FIRST = 50;

/** How long a message that was taken may stand until the news tell it. */
const PATIENCE = 3000;

let made = 0; // messages that were expected
export class Conversation implements Store {
  last = 0;
  facts: Facts | null = null;
  plan: Plan | null = null;
  sources: ReadonlyMap<string, Source> = new Map();
  disclosures: readonly Disclosure[] = [];
  payments: ReadonlyMap<string, number> = new Map();
  usage = NO_USAGE;

  private readonly drafts = new Map<string, Draft>();
  private current = "";
  private queued: Turn[] = [];
  private expected: Turn[] = [];
  private readonly tracing = new Trace();
  private readonly spent = new Map<string, UsageRow>();
  private readonly listeners = new Set<() => void>();
  private madeTurns: readonly Turn[] | null = null;
  private madeOpen: readonly QuestionStep[] = [];
  private madeReports: readonly Report[] = [];
  private madeRows: readonly UsageRow[] | null = null;
  private isTelling = false;
  private told = -Infinity; // when those who look were told last
  private rest: ReturnType<typeof setTimeout> | undefined;

  get turns(): readonly Turn[] {
    this.madeTurns ??= [
      ...Array.from(this.drafts.values(), (draft) => draft.turn()),
      ...this.queued,
      ...this.expected,
    ];
    return this.madeTurns;
  }

  get open(): readonly QuestionStep[] {
    const turn = this.drafts.get(this.current)?.turn();
    const found = turn?.status === "waiting" ? questions(turn.steps) : [];
    if (!same(found, this.madeOpen)) this.madeOpen = found;
    return this.madeOpen;
  }

  get reports(): readonly Report[] {
    const found = reportsIn(this.turns);
    if (!same(found, this.madeReports)) this.madeReports = found;
    return this.madeReports;
  }

  get trace(): readonly TraceRow[] {
    return this.tracing.rows;
  }

  get usageRows(): readonly UsageRow[] {
    this.madeRows ??= [...this.spent.values()];
    return this.madeRows;
  }

  subscribe(callback: () => void): () => void {
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  apply(news: News): void {
    if (news.last < this.last) return; // an answer that was overtaken
    this.facts = news.facts ?? this.facts; // null if they are what they were
    if (news.more) this.rest ||= setTimeout(() => this.changed(), REST);
    else if (news.events.some(isCall)) this.rest ||= setTimeout(() => this.changed(), FIRST);
    else this.changed();
    if (news.after > this.last) return;
    for (const event of news.events) {
      if (event.seq > this.last) this.readSafely(event);
    }
    this.last = news.last;
  }

  expect(text: string): (failed?: boolean) => void {
    const now = Date.now() / 1000;
    const turn: Turn = {
      run: `expected ${++made}`, question: legible(text), time: now, status: "sending",
      why: "", steps: [], usage: NO_USAGE, seconds: null, since: now, ended: null, fork: null,
    };
    this.expected = [...this.expected, turn];
    this.changed();
    const forget = () => {
      this.expected = this.expected.filter((other) => other !== turn);
      this.changed();
    };
    return (failed = false) => {
      if (failed) forget();
      else setTimeout(forget, PATIENCE);
    };
  }

  /** One event that cannot be read costs itself, and not all that come after it. */
  private readSafely(event: WireEvent): void {
    try {
      this.read(event);
    } catch (error) {
      console.error("deepnb: an event could not be shown", event.seq, event.kind, error);
    }
  }

  private read(event: WireEvent): void {
    this.tracing.read(event);
    if (event.kind === "queued") this.queue(event);
    else if (event.kind === "run_started") this.start(event);
    else if (event.kind === "run_ended" && event.data.withdrawn) this.takeBack(event.run ?? "");
    else if (event.kind === "source") this.sources = new Map(this.sources).set(raw(event, "id"), readSource(event));
    else if (event.kind === "disclosed") this.disclosures = [...this.disclosures, readDisclosure(event)];
    else if (event.kind === "payment")
      this.payments = new Map(this.payments).set(raw(event, "handle"), number(event, "amount") ?? 0);
    else if (event.kind === "settled") this.drafts.get(event.run ?? "")?.read(event);
    // What happens between runs stands behind the last of them.
    else this.draft(event.run || this.current, event).read(event);
    if (event.kind === "todos") this.plan = nextPlan(this.plan, event);
    if (event.kind === "usage") this.spend(event);
  }

  private queue(event: WireEvent): void {
    const current = this.drafts.get(this.current);
    if (event.data.steer && current) {
      current.remark(event);
      return;
    }
    const question = text(event, "text");
    this.arrived(question);
    this.queued = [...this.queued, {
      run: event.run ?? "", question, time: event.time, status: "queued",
      why: "", steps: [], usage: NO_USAGE, seconds: null, since: event.time, ended: null, fork: null,
    }];
  }

  private takeBack(run: string): void {
    this.queued = this.queued.filter((turn) => turn.run !== run);
  }

  private start(event: WireEvent): void {
    const run = event.run ?? "";
    this.drafts.get(run)?.resume();
    this.draft(run, event);
    if (this.current !== run) this.drafts.get(this.current)?.supersede();
    this.current = run;
  }

  /** The turn of a run; one that was queued may also end without having begun. */
  private draft(run: string, event: WireEvent): Draft {
    const known = this.drafts.get(run);
    if (known) return known;
    const waited = this.queued.find((turn) => turn.run === run);
    if (waited) this.queued = this.queued.filter((turn) => turn !== waited);
    else {
      this.drafts.get(this.current)?.supersede();
      this.current = run;
    }
    const asked = event.kind === "run_started" ? text(event, "text") : "";
    this.arrived(asked);
    const draft = new Draft(run, event.time, asked || waited?.question || "", event.step ?? null);
    this.drafts.set(run, draft);
    return draft;
  }

  /** A message that was expected is there. */
  private arrived(question: string): void {
    const index = this.expected.findIndex((turn) => turn.question.trim() === question.trim());
    if (index >= 0) this.expected = this.expected.toSpliced(index, 1);
  }

  private spend(event: WireEvent): void {
    this.usage = plus(this.usage, event);
    const agent = legible(event.agent ?? "");
    const model = legible(raw(event, "model") || event.name || "");
    const before = this.spent.get(`${agent} ${model}`) ?? { ...NO_USAGE, agent, model };
    this.spent.set(`${agent} ${model}`, { agent, model, ...plus(before, event) });
    this.madeRows = null;
  }

  /** Tells those who look, at most once per frame of the screen, and not while nobody sees it. */
  private changed(): void {
    this.madeTurns = null;
    clearTimeout(this.rest);
    this.rest = undefined;
    if (this.isTelling) return;
    this.isTelling = true;
    // To wait for a frame first would have what comes seldom be seen a frame later.
    if (document.hidden || performance.now() - this.told < FRAMES) requestAnimationFrame(() => this.tell());
    else queueMicrotask(() => this.tell());
  }

  private tell(): void {
    this.isTelling = false;
    this.told = performance.now();
    for (const listener of this.listeners) listener();
  }
}

function questions(steps: readonly Step[]): QuestionStep[] {
  return steps.flatMap((step) => {
    if (step.type === "subagent") return questions(step.steps);
    return step.type === "question" && !step.by ? [step] : [];
  });
}

function isCall({ kind, data }: WireEvent): boolean {
  return kind === "interrupt_opened" && (data.request as { type?: unknown } | null)?.type === "client_tool_execution";
}

function same(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, place) => each === other[place]);
}
