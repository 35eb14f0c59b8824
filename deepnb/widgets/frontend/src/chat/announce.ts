/** Says to screen readers what comes: by the sentence and by the step, not by the token. */

import { useEffect } from "preact/hooks";

import { useApp } from "../app";
import type { Turn } from "../model";
import { spoken } from "./spoken";
import { toolLine } from "./wording";

const PAUSE = 1500; // milliseconds in which more may come

export function useAnnouncements(): void {
  const { store, ui } = useApp();
  useEffect(() => {
    let before = store.turns.at(-1);
    let said = before ? lastText(before).length : 0;
    let timer = 0;
    const look = () => {
      timer = 0;
      const turn = store.turns.at(-1);
      if (!turn || turn === before) return;
      if (turn.run !== before?.run) said = 0;
      const text = lastText(turn);
      const sentences = turn.status === "running" ? (/^[^]*[.!?:](?=\s)/.exec(text.slice(said))?.[0] ?? "") : text.slice(said);
      const heard = [stepsSince(before, turn), spoken(sentences), ending(before, turn)].filter(Boolean).join(" ");
      said += sentences.length;
      before = turn;
      if (heard) ui.set({ announcement: heard });
    };
    const unsubscribe = store.subscribe(() => {
      timer ||= setTimeout(look, PAUSE) as unknown as number;
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, [store]);
}

function lastText(turn: Turn): string {
  const last = turn.steps.findLast((step) => step.type === "text");
  return last?.type === "text" ? last.text : "";
}

/** The steps that have come since, each by its line. */
function stepsSince(before: Turn | undefined, turn: Turn): string {
  const known = before?.run === turn.run ? (before.steps.at(-1)?.seq ?? 0) : 0;
  const lines = turn.steps.flatMap((step) => {
    if (step.seq <= known || step.type !== "tool") return [];
    const { verb, object } = toolLine(step);
    return [`${verb} ${object}${{ error: ", failed", rejected: ", rejected" }[step.state as string] ?? ""}.`];
  });
  return lines.slice(-3).join(" ");
}

function ending(before: Turn | undefined, turn: Turn): string {
  if (before?.run === turn.run && before.status === turn.status) return "";
  return { waiting: "Waits for your answer.", failed: "The run has failed.", stopped: "Stopped.", done: "Done." }[turn.status as string] ?? "";
}
