/** A text while it is written: kept in pieces, and put together only for those who ask for it. */

import type { Pieces, TextStep, ThoughtStep } from "../model";

export type Said = TextStep | ThoughtStep;

/** All of a step but its text, which is made of the pieces when somebody asks for it. */
class Growing {
  private made: string | null = null;

  constructor(
    readonly step: Said,
    readonly pieces: Pieces,
  ) {}

  get type() { return this.step.type; }
  get seq() { return this.step.seq; }
  get time() { return this.step.time; }
  get fork() { return this.step.fork; }
  get id() { return this.step.id; }
  get state() { return this.step.state; }
  get seconds() { return this.step.type === "thought" ? this.step.seconds : null; }

  get text(): string {
    this.made ??= this.pieces.all.slice(0, this.pieces.count).join("");
    return this.made;
  }
}

/** A text with one more piece. */
export function grown<Step extends Said>(step: Step, piece: string): Step {
  const growing: unknown = step;
  if (!(growing instanceof Growing)) return new Growing(step, { all: [step.text, piece], count: 2 }) as unknown as Step;
  const all = growing.pieces.all as string[];
  all.push(piece);
  return new Growing(growing.step, { all, count: all.length }) as unknown as Step;
}

/** The same text, in another state or with other words; it grows no more. */
export function settled<Step extends Said>(step: Step, change: Partial<Step>): Step {
  const growing: unknown = step;
  const plain = growing instanceof Growing ? { ...growing.step, text: growing.text } : step;
  return { ...plain, ...change } as Step;
}
