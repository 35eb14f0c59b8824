/** A question to the person: a card while it is open, then a line that says what was decided. */

import { useEffect, useMemo, useRef } from "preact/hooks";

import { useApp } from "../app";
import type { QuestionStep } from "../model";
import { Approval } from "./Approval";
import { forgetAnswer, useAnswer, type Answer } from "./answer";
import { Budget } from "./Budget";
import { Clarification } from "./Clarification";
import { ClientTool } from "./ClientTool";
import { Decided } from "./Decided";
import { usePlace } from "./drafts";
import { OtherQuestion } from "./OtherQuestion";
import { Payment } from "./Payment";
import { PlanApproval } from "./PlanApproval";
import { readRequest } from "./requests";

export { openQuestionSummary } from "./requests";

/** Keyed by its place: whatever else comes to stand here is another card, with buttons of its own. */
export function QuestionCard({ step }: { step: QuestionStep }) {
  const place = usePlace(step);
  return <OneQuestion key={place} step={step} place={place} />;
}

function OneQuestion({ step, place }: { step: QuestionStep; place: string }) {
  const { drafts } = useApp().ui;
  const answer = useAnswer(step);
  useForgetting(place, step.by !== "");
  return (
    <div class="dn-question">
      {step.by === "" ? (
        <Open step={step} />
      ) : (
        <Decided step={step} note={noteOf(step, answer, drafts.has(place))} />
      )}
    </div>
  );
}

/** What to tell a person whose answer came too late; empty if it was theirs, or they had none. */
function noteOf(step: QuestionStep, answer: Answer, hadInput: boolean): string {
  if (step.by !== "person" || answer.state !== "open" || answer.unknown) return "";
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
    case "payment":
      return <Payment step={step} asked={asked} />;
    case "client":
      return <ClientTool step={step} asked={asked} />;
    default:
      return <OtherQuestion step={step} asked={asked} />;
  }
}

/** Lets go of what was entered when the line of a decided question is not looked at any more. */
function useForgetting(place: string, isDecided: boolean): void {
  const { client, ui } = useApp();
  const isUseless = useRef(false);
  isUseless.current = isDecided;
  useEffect(
    () => () => {
      if (!isUseless.current) return;
      forgetAnswer(client, place);
      ui.drafts.delete(place);
    },
    [],
  );
}
