/** A plan under a person's hands: steps changed, removed, moved and added, and what that comes to. */

import type { PlanStep } from "./requests";

export interface PlanDraft {
  /** In their new order, removed ones included, so that they can be put back where they were. */
  readonly steps: readonly PlanStep[];
  readonly removed: readonly string[];
  /** The step whose fields are open. */
  readonly editing: string | null;
}

export function freshPlan(steps: readonly PlanStep[]): PlanDraft {
  return { steps, removed: [], editing: null };
}

/** The steps as they would be carried out; none waits for one that is gone. */
export function keptSteps({ steps, removed }: PlanDraft): PlanStep[] {
  const kept = steps.filter((step) => !removed.includes(step.id));
  const ids = new Set(kept.map((step) => step.id));
  return kept.map((step) => ({ ...step, depends_on: step.depends_on.filter((each) => ids.has(each)) }));
}

export function changeStep(draft: PlanDraft, id: string, changes: Partial<PlanStep>): PlanDraft {
  return { ...draft, steps: draft.steps.map((step) => (step.id === id ? { ...step, ...changes } : step)) };
}

/** Takes a step out; one that the person has just added goes for good. */
export function removeStep(draft: PlanDraft, id: string, original: readonly PlanStep[]): PlanDraft {
  const editing = draft.editing === id ? null : draft.editing;
  if (original.some((step) => step.id === id)) return { ...draft, editing, removed: [...draft.removed, id] };
  const steps = draft.steps
    .filter((step) => step.id !== id)
    .map((step) => ({ ...step, depends_on: step.depends_on.filter((each) => each !== id) }));
  return { ...draft, editing, steps };
}

export function putBack(draft: PlanDraft, id: string): PlanDraft {
  return { ...draft, removed: draft.removed.filter((each) => each !== id) };
}

/** Moves a step to the place of another one. */
export function moveStep(draft: PlanDraft, id: string, to: number): PlanDraft {
  const from = draft.steps.findIndex((step) => step.id === id);
  if (from < 0 || to < 0 || to >= draft.steps.length || from === to) return draft;
  const steps = draft.steps.filter((step) => step.id !== id);
  steps.splice(to, 0, draft.steps[from]!);
  return { ...draft, steps };
}

export function addStep(draft: PlanDraft, tool: string): PlanDraft {
  const ids = new Set(draft.steps.map((step) => step.id));
  let number = draft.steps.length + 1;
  while (ids.has(`added-${number}`)) number++;
  const step = { id: `added-${number}`, title: "", tool, input: "", rationale: "", depends_on: [] };
  return { ...draft, steps: [...draft.steps, step], editing: step.id };
}

/** How many edits a person has made: steps that are changed, new or gone, and one for the order. */
export function countEdits(draft: PlanDraft, original: readonly PlanStep[]): number {
  const isKept = (step: PlanStep) => !draft.removed.includes(step.id);
  const kept = draft.steps.filter(isKept);
  const differs = kept.filter(
    (step) =>
      !same(
        step,
        original.find((each) => each.id === step.id),
      ),
  );
  const known = original.filter(isKept).map((step) => step.id);
  const isMoved = !same(
    kept.map((step) => step.id).filter((id) => known.includes(id)),
    known,
  );
  return differs.length + draft.removed.length + (isMoved ? 1 : 0);
}

/** The steps that one may wait for: all but those that wait for it themselves. */
export function mayWaitFor(steps: readonly PlanStep[], id: string): PlanStep[] {
  const waiting = new Set([id]);
  for (let before = 0; before < waiting.size;) {
    before = waiting.size;
    for (const step of steps) if (step.depends_on.some((each) => waiting.has(each))) waiting.add(step.id);
  }
  return steps.filter((step) => !waiting.has(step.id));
}

const MOST_STEPS = 20; // as `EditedPlan` of `deepnb.interrupts` has it

/** Why a plan cannot be sent; empty if it can. */
export function planProblem(draft: PlanDraft): string {
  const kept = keptSteps(draft);
  if (!kept.length) return "A plan needs a step. Put one back, or reject the plan.";
  if (kept.length > MOST_STEPS) return `${MOST_STEPS} steps are the most.`;
  const nameless = kept.findIndex((step) => !step.title.trim());
  return nameless < 0 ? "" : `Step ${nameless + 1} needs a title.`;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
