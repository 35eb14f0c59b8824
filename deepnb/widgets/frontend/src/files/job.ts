/** One transfer: how far it is, how fast, and what stops it. */

import { makeId } from "../wire/wire";
import { FileError, type Transfer } from "./types";

/** Milliseconds over which the speed is measured. */
const LATELY = 4000;

/** Why work on a job has ended early: the reader wants it so. */
export const PAUSED = Symbol("paused");

/** What comes of some work, unless the reader pauses or cancels before that. */
export type Going = <T>(work: Promise<T>) => Promise<T>;

type About = Pick<Transfer, "direction" | "source" | "target" | "purpose" | "size">;

export class Job {
  readonly id = makeId();
  state: Transfer["state"] = "waiting";
  problem = "";
  size: number;
  done = 0;
  /** What the kernel calls it, if it is an upload that was begun. */
  upload = "";
  /** Whether it was cancelled. */
  isOver = false;
  /** Resolves when it may go on. */
  resumed = Promise.resolve();

  private isPaused = false;
  private samples: { time: number; done: number }[] = [];
  private stop!: (why: unknown) => void;
  private stopped!: Promise<never>;
  private goOn = () => {};

  constructor(
    readonly about: About,
    /** Does the same again, from the beginning. */
    readonly again: () => Promise<unknown>,
    private readonly changed: () => void,
  ) {
    this.size = about.size;
    this.arm();
  }

  /** As it is now, for whoever looks. */
  get shown(): Transfer {
    const { id, size, done, speed, state, problem } = this;
    return { ...this.about, id, size, done, speed, state, problem };
  }

  /** Begins an attempt: what stops it does not stop the next one. */
  attempt(): Going {
    const { stopped } = this;
    return (work) => Promise.race([stopped, work]);
  }

  turn(state: Transfer["state"], problem = ""): void {
    if (state !== "running") this.samples = [];
    this.state = state;
    this.problem = problem;
    this.changed();
  }

  progress(done: number): void {
    const time = performance.now();
    this.done = done;
    this.samples.push({ time, done });
    while (this.samples.length > 2 && this.samples[0]!.time < time - LATELY) this.samples.shift();
    this.changed();
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.resumed = new Promise((resolve) => (this.goOn = resolve));
    this.turn("paused");
    this.stop(PAUSED);
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.arm();
    this.turn("waiting");
    this.goOn();
  }

  /** Ends it for good. */
  end(why: string): void {
    this.isOver = true;
    if (this.isPaused) this.resume();
    this.stop(new FileError(why));
  }

  private get speed(): number {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    if (!first || !last || first === last) return 0;
    return ((last.done - first.done) / Math.max(last.time - first.time, 1)) * 1000;
  }

  private arm(): void {
    this.stopped = new Promise((_, reject) => (this.stop = reject));
    this.stopped.catch(() => {}); // nobody may be waiting
  }
}
