/** What was typed and not sent. It outlives the card, which goes when another tab is looked at. */

import { useState } from "preact/hooks";

import { useApp, useStore } from "../app";
import type { QuestionStep } from "../model";

/**
 * Under what a view keeps its answer to a question, and what was typed into it.
 *
 * An id alone would not do: the question of a fork has that of the original, and one that is put
 * again, since the graph has refused its answer, has the one that it had.
 */
export function usePlace(step: QuestionStep): string {
  const thread = useStore((store) => store.facts?.thread) ?? "";
  return `${thread} ${step.seq} ${step.id}`;
}

/** As `useState`, kept in the view with the question. */
export function useDraft<T>(step: QuestionStep, field: string, initial: T): [T, (value: T) => void] {
  const { drafts } = useApp().ui;
  const place = usePlace(step);
  const [, draw] = useState({});
  const typed = () => drafts.get(place) as Record<string, T> | undefined;
  const set = (value: T) => {
    drafts.set(place, { ...typed(), [field]: value });
    draw({});
  };
  return [typed()?.[field] ?? initial, set];
}
