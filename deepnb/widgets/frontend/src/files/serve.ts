/** Answers the agent: its calls for files are carried out here, each by one page, and each once. */

import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { sha256 } from "@noble/hashes/sha2.js";

import { RefusedError } from "../client";
import type { Session } from "../explorer";
import type { QuestionStep } from "../model";
import type { JsonValue } from "../protocol";
import { isWrite, readRequest, type ClientTool } from "../questions/requests";
import { Lanes } from "./lanes";
import { claim, heard, isLost, live, LONGEST_MESSAGE, sleep, whileClaimed } from "./link";
import { Listeners } from "./listeners";
import { below } from "./places";
import type { Previews } from "./previews";
import type { Answer, Serving, Shelf, WaitingCall } from "./types";

/** Milliseconds. */
const LATER = 2_000; // until a page looks again that has left a call to another
const AGAIN = 500; // until it tries again what it could not do
const PRECEDENCE = 300; // that a page leaves to the one which got the last call
const SOON = 100; // within which that page has mostly answered, and need not claim the call first

/** Runs a tool on the shelf; a call that this store has answered before gets the same answer, and nothing is done. */
export type RunTool = (shelf: Shelf, tool: string, args: unknown, question?: string, expects?: string) => Promise<Answer>;

interface Call extends ClientTool {
  readonly question: string;
  /** Of one question, only: an agent may ask twice under one id. */
  readonly key: string;
}

export class AgentServing implements Serving {
  private readonly under = new Set<string>(); // calls that are being served
  private readonly settled = new Set<string>(); // answered ones that are open until the kernel tells
  private readonly held = new Map<string, WaitingCall>();
  private shown: readonly WaitingCall[] = [];
  private readonly writes = new Lanes(1);
  private readonly listeners = new Listeners();
  private isClosed = false;
  /** Whether this page got the last call. One that has just come up did not, and leaves calls to the one that did. */
  private isFirst = false;
  private readonly leave: () => void;

  constructor(
    private readonly session: Session,
    private readonly shelf: Shelf,
    private readonly runTool: RunTool,
    private readonly previews: Pick<Previews, "expected" | "forget">,
  ) {
    this.leave = session.store.subscribe(() => this.look());
    this.look();
  }

  get waiting(): readonly WaitingCall[] {
    return this.shown;
  }

  subscribe(callback: () => void): () => void {
    return this.listeners.subscribe(callback);
  }

  close(): void {
    this.isClosed = true;
    this.leave();
  }

  private look(): void {
    if (this.isClosed) return;
    const calls = this.calls;
    for (const key of this.settled) if (!calls.some((call) => call.key === key)) this.settled.delete(key);
    for (const call of calls) {
      if (this.under.has(call.key) || this.settled.has(call.key)) continue;
      this.under.add(call.key);
      void this.serve(call).finally(() => {
        this.under.delete(call.key);
        this.look(); // it may have been put again meanwhile
      });
    }
  }

  private get calls(): readonly Call[] {
    return this.session.store.open.flatMap(readCall);
  }

  private isWanted({ key }: Call): boolean {
    return !this.isClosed && !this.settled.has(key) && this.calls.some((call) => call.key === key);
  }

  /** Until it is answered, here or elsewhere, or nobody waits for it any more. */
  private async serve(call: Call): Promise<void> {
    while (this.isWanted(call)) {
      try {
        await live(this.session.client);
        await this.folderOpen(call);
        if (!this.isWanted(call)) return;
        if (await this.claims(call)) {
          await whileClaimed(this.session.client, call.question, async () => this.send(call, await this.answer(call)), SOON);
          this.settled.add(call.key);
        } else await sleep(LATER);
      } catch (error) {
        if (!isLost(error)) console.error("deepnb: a call of the agent could not be answered", error);
        await sleep(AGAIN);
      }
    }
  }

  /**
   * Whether this page is to answer. The one that got the last call reads without asking for the kernel's word,
   * which takes longer than to read: the others let it go first.
   */
  private async claims(call: Call): Promise<boolean> {
    if (this.isFirst && !isWrite(call.tool)) return true;
    if (!this.isFirst) await sleep(PRECEDENCE);
    if (!this.isWanted(call)) return false;
    return (this.isFirst = await claim(this.session.client, call.question));
  }

  private async answer(call: Call): Promise<Answer> {
    try {
      const answer = await (isWrite(call.tool) ? this.writes.run(() => this.write(call)) : this.runTool(this.shelf, call.tool, call.args));
      if (new Blob([JSON.stringify(answer)]).size <= LONGEST_MESSAGE) return answer;
      return { error: "The answer is too long for one message. Ask for less: a smaller folder, or fewer lines." };
    } catch (error) {
      return { error: `The browser could not do this: ${(error as Error).message}` };
    }
  }

  private async write({ tool, args, key }: Call): Promise<Answer> {
    const answer = await this.runTool(this.shelf, tool, args, key, await this.previews.expected(tool, args));
    if ("result" in answer) await this.previews.forget(tool, args).catch(() => {}); // it is done, whatever is remembered of it
    return answer;
  }

  private async send({ question }: Call, answer: Answer): Promise<void> {
    const give = (each: Answer) => heard(this.session.client.request("client_answer", { question, answer: { ...each } as Record<string, JsonValue> }));
    try {
      await give(answer);
    } catch (error) {
      if (!(error instanceof RefusedError) || isLost(error)) throw error;
      if (error.kind === "QuestionError") return void (this.isFirst = false); // another page was faster, or the run was stopped
      await give({ error: `The browser's answer was refused: ${error.message}` });
    }
  }

  /** Resolves when the real folder that a call is about can be read, or nobody waits for that any more. */
  private async folderOpen(call: Call): Promise<void> {
    const path = typeof call.args.path === "string" ? call.args.path : "/";
    try {
      for (;;) {
        const folders = await this.shelf.folders();
        const folder = folders.find(({ name, state }) => state === "ask" && concerns(call.tool, path, `/${name}`));
        if (!folder || !this.isWanted(call)) return;
        this.hold(call, { question: call.question, tool: call.tool, folder: folder.name });
        await this.change();
      }
    } finally {
      this.hold(call, null);
    }
  }

  private hold({ key }: Call, waiting: WaitingCall | null): void {
    if (waiting) this.held.set(key, waiting);
    else if (!this.held.delete(key)) return;
    this.shown = [...this.held.values()];
    this.listeners.tell();
  }

  /** Resolves when the shelf or the conversation has changed. */
  private change(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        for (const leave of leaves) leave();
        resolve();
      };
      const leaves = [this.shelf.subscribe(done), this.session.store.subscribe(done)];
    });
  }
}

/** Whether what is asked for may be in a folder; to list what is above it, none has to be read. */
function concerns(tool: string, path: string, folder: string): boolean {
  return below(folder, path) !== null || (FINDS.has(tool) && below(path, folder) !== null);
}

const FINDS: ReadonlySet<string> = new Set(["glob_files", "grep_files", "search_files"]);

const read = new WeakMap<QuestionStep, readonly Call[]>(); // they are looked at often

function readCall(step: QuestionStep): readonly Call[] {
  const known = read.get(step);
  if (known) return known;
  const asked = readRequest(step.request);
  const key = () => `${step.id} ${bytesToHex(sha256(utf8ToBytes(JSON.stringify(step.request))))}`;
  const calls = asked.kind === "client" ? [{ ...asked, question: step.id, key: key() }] : [];
  read.set(step, calls);
  return calls;
}
