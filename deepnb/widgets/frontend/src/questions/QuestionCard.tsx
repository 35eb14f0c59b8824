/** A question to the person: a card while it is open, then a line that says what was decided. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { useApp } from "../app";
import type { QuestionStep } from "../model";
import { Approval } from "./Approval";
import { useAnswer, type Answer } from "./answer";
import { Budget } from "./Budget";
import { Clarification } from "./Clarification";
import { Decided } from "./Decided";
import { hasDraft } from "./drafts";
import { ClientTool, OtherQuestion } from "./OtherQuestion";
import { PlanApproval } from "./PlanApproval";
import { readRequest } from "./requests";

export { openQuestionSummary } from "./requests";

/** Keyed by the question: whatever takes its place is another card, with buttons of its own. */
export function QuestionCard({ step }: { step: QuestionStep }) {
  return <OneQuestion key={step.id} step={step} />;
}

function OneQuestion({ step }: { step: QuestionStep }) {
  const { drafts } = useApp().ui;
  const answer = useAnswer(step.id);
  const root = useRef<HTMLDivElement>(null);
  const isOpen = step.by === "";
  useKeptFocus(root, isOpen);
  return (
    <div ref={root} class="dn-question" tabIndex={-1}>
      {isOpen ? (
        <Open step={step} />
      ) : (
        <Decided step={step} note={noteOf(step, answer, hasDraft(drafts, step.id))} />
      )}
    </div>
  );
}

/** What to tell a person whose answer came too late; empty if it was theirs, or they had none. */
function noteOf(step: QuestionStep, answer: Answer, hadInput: boolean): string {
  if (step.by !== "person" || answer.state !== "open") return "";
  if (answer.refused) return answer.refused;
  return hadInput ? "What you had entered here was not sent." : "";
}

function Open({ step }: { step: QuestionStep }) {
  const asked = useMemo(() => readRequest(step.request), [step.request]);
  switch (asked.kind) {
    case "approval":
      return <Approval step={step} asked={asked} />;
    case "clarification":
      return <Clarification step={step} asked={asked} />;
    case "plan":
      return <PlanApproval step={step} asked={asked} />;
    case "budget":
      return <Budget step={step} asked={asked} />;
    case "client":
      return <ClientTool step={step} asked={asked} />;
    default:
      return <OtherQuestion step={step} asked={asked} />;
  }
}

/**
 * Keeps the focus where the card was, if it was in it.
 *
 * Else it would fall to the page, where a notebook takes the next keys for its own.
 */
function useKeptFocus(root: { current: HTMLElement | null }, isOpen: boolean): void {
  const wasOpen = useRef(isOpen);
  // Looked up while the old card is still there; a host may have put the panel into a shadow root.
  const page = root.current?.getRootNode() as Document | ShadowRoot | undefined;
  const hadFocus = wasOpen.current && !isOpen && root.current?.contains(page?.activeElement ?? null);
  useLayoutEffect(() => {
    if (hadFocus) root.current?.focus({ preventScroll: true });
    wasOpen.current = isOpen;
  });
}
