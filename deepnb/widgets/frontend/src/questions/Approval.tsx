/** Tool calls that wait for approval: each is decided on its own, and all are sent together. */

import { useMemo } from "preact/hooks";

import type { QuestionStep } from "../model";
import { ActionCard } from "./ActionCard";
import { useAnswer } from "./answer";
import { Card } from "./Card";
import { UNDECIDED, type ActionDraft, type Decision } from "./decisions";
import { useDraft } from "./drafts";
import type { Approval as ApprovalQuestion } from "./requests";

const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

export function Approval({ step, asked }: { step: QuestionStep; asked: ApprovalQuestion }) {
  const { actions } = asked;
  const answer = useAnswer(step);
  const fresh = useMemo(() => actions.map(() => UNDECIDED), [actions]);
  const [drafts, setDrafts] = useDraft<readonly ActionDraft[]>(step, "actions", fresh);
  const change = (at: number, changes: Partial<ActionDraft>) =>
    setDrafts(drafts.map((draft, each) => (each === at ? { ...draft, ...changes } : draft)));

  /** Keeps a decision until the others are made; the last one sends them all, in the actions' order. */
  const decide = (at: number, decision: Decision) => {
    const decisions = drafts.map((draft, each) => (each === at ? decision : draft.decision));
    if (decisions.every((each) => each !== null)) answer.send({ decisions });
    else change(at, { decision, open: "" });
  };

  const decided = drafts.filter((draft) => draft.decision).length;
  const many = actions.length > 1;
  // The last action says itself how the answer stands, beside the button that sends it.
  const note =
    decided < actions.length - 1 && answer.status
      ? answer.status
      : decided && !answer.locked
        ? "Nothing is sent before the last decision."
        : "";
  const count = NUMBERS[actions.length] ?? String(actions.length);
  return (
    <Card
      step={step}
      icon="shield"
      title={many ? `${count} actions need your decision` : "An action needs your decision"}
      {...(many ? { progress: `${decided} of ${actions.length} decided` } : {})}
    >
      {actions.map((action, at) => (
        <ActionCard
          key={at}
          question={step.id}
          action={action}
          index={at}
          count={actions.length}
          draft={drafts[at] ?? UNDECIDED}
          answer={answer}
          isLast={decided === actions.length - 1}
          onChange={(changes) => change(at, changes)}
          onDecide={(decision) => decide(at, decision)}
        />
      ))}
      {note && (
        <div class="dn-ask-foot dn-small dn-muted" role="status">
          {note}
        </div>
      )}
    </Card>
  );
}
