/** What was typed and not sent. It outlives the card, which goes when another tab is looked at. */

import { useState } from "preact/hooks";

import { useApp } from "../app";

/** As `useState`, kept in the view under the question's id. */
export function useDraft<T>(question: string, field: string, initial: T): [T, (value: T) => void] {
  const { drafts } = useApp().ui;
  const key = `${question}/${field}`;
  const [, draw] = useState({});
  const set = (value: T) => {
    drafts.set(key, value);
    draw({});
  };
  return [drafts.has(key) ? (drafts.get(key) as T) : initial, set];
}

/** Whether anything was typed into a question. */
export function hasDraft(drafts: ReadonlyMap<string, unknown>, question: string): boolean {
  return [...drafts.keys()].some((key) => key.startsWith(`${question}/`));
}
