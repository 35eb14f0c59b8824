/** The steps of a turn while they come in: who did them, and where a later event finds them. */

import type { Step, SubagentStep } from "../model";
import type { WireEvent } from "../protocol";
import { settled } from "./writing";

interface Node {
  step: Step;
  /** Whether there is anything to see of it; looked up no more once there is, as a text grows. */
  says: boolean;
  readonly list: List;
}

/** The steps of one agent; `shown` is what they look like, until one of them changes. */
interface List {
  readonly nodes: Node[];
  readonly owner: Node | null;
  shown: readonly Step[] | null;
}

export class Outline {
  private readonly lists = new Map<string, List>([["", { nodes: [], owner: null, shown: null }]]);
  private readonly places = new Map<string, Node>();
  private readonly calls = new Map<string, string>(); // the last call of a subagent, by its name
  private ended = false;

  get(key: string): Step | undefined {
    return this.places.get(key)?.step;
  }

  /** Replaces the step that has that key. */
  put(key: string, step: Step): void {
    const node = this.places.get(key);
    if (!node) return;
    node.step = step;
    node.says = (node.says && isWriting(step)) || says(step);
    touch(node.list);
  }

  /** Adds a step of the agent whose event it is, or puts it before the step that has a key. */
  add(event: WireEvent, step: Step, key = "", before = ""): void {
    const call = event.call ?? "";
    if (!this.lists.has(call)) this.call(event, call, event.agent ?? ""); // nobody announced it
    const list = this.lists.get(call)!;
    const next = before ? this.places.get(before) : undefined;
    this.insert(list, step, key, next && list.nodes.includes(next) ? next : undefined);
  }

  /** Where a subagent stands: ids of calls are only unique among those of one agent. */
  keyOf(event: WireEvent, call: string): string {
    const caller = event.call !== call ? event.call : this.calls.get(event.parent ?? "");
    return callKey(caller ?? "", call);
  }

  /** Puts a subagent where its tool call is, or else among the steps of its caller. */
  call(event: WireEvent, call: string, name: string, task = ""): void {
    const key = this.keyOf(event, call);
    const known = this.places.get(key);
    if (known?.step.type === "subagent") {
      // It goes on after a pause.
      this.put(key, { ...known.step, state: "running", task: known.step.task || task });
      return;
    }
    const subagent: SubagentStep = {
      type: "subagent", seq: event.seq, time: event.time, fork: event.step ?? null,
      id: call, name, task, state: "running", result: "", seconds: null, steps: [],
    };
    let node = known;
    if (node) {
      this.put(key, { ...subagent, seq: node.step.seq, fork: node.step.fork });
    } else {
      const caller = event.call !== call ? event.call : this.calls.get(event.parent ?? "");
      const list = this.lists.get(caller ?? "") ?? this.lists.get("")!;
      node = this.insert(list, subagent, key);
    }
    this.lists.set(call, { nodes: [], owner: node, shown: null });
    this.calls.set(name, call);
  }

  /** Whether nothing runs or waits any more. */
  end(ended: boolean): void {
    if (this.ended === ended) return;
    this.ended = ended;
    for (const list of this.lists.values()) list.shown = null;
  }

  /** All steps that say something. */
  shown(call = ""): readonly Step[] {
    const list = this.lists.get(call);
    if (!list) return [];
    list.shown ??= list.nodes.filter((node) => node.says).map(({ step }) => this.show(step));
    return list.shown;
  }

  private show(step: Step): Step {
    if (step.type === "subagent") {
      const state = this.ended && step.state === "running" ? "stopped" : step.state;
      return { ...step, state, steps: this.shown(step.id) };
    }
    return this.ended ? atRest(step) : step;
  }

  private insert(list: List, step: Step, key: string, before?: Node): Node {
    const node = { step, list, says: says(step) };
    if (before) list.nodes.splice(list.nodes.indexOf(before), 0, node);
    else list.nodes.push(node);
    if (key) this.places.set(key, node);
    touch(list);
    return node;
  }
}

function isWriting(step: Step): boolean {
  return (step.type === "text" || step.type === "thought") && step.state === "writing";
}

function says(step: Step): boolean {
  return (step.type !== "text" && step.type !== "thought") || step.text.trim() !== "";
}

/** A step of a run that has ended: nothing of it runs or waits any more. */
function atRest(step: Step): Step {
  if (step.type === "text" && step.state === "writing") return settled(step, { state: "cut" });
  if (step.type === "thought" && step.state === "writing") return settled(step, { state: "whole" });
  if (step.type === "question" && !step.by) return { ...step, by: "stop" };
  if (step.type === "tool" && step.state === "running") return { ...step, state: "stopped" };
  return step;
}

export function callKey(caller: string, call: string): string {
  return `call ${caller} ${call}`;
}

/** Notes that a list looks different, and so do those that it is inside of. */
function touch(list: List): void {
  for (let at: List | undefined = list; at?.shown; at = at.owner?.list) at.shown = null;
}
