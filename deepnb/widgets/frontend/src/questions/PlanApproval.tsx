/** A plan that waits for approval: what the audit says, and steps to change, remove, move and add. */

import { useMemo, useRef } from "preact/hooks";

import { useApp } from "../app";
import type { QuestionStep } from "../model";
import { useDragging } from "../parts/dragging";
import { counted } from "../parts/format";
import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import { useAnswer } from "./answer";
import { AuditStrip } from "./AuditStrip";
import { Button, Card, Status, useFocusNext, Words } from "./Card";
import { useDraft } from "./drafts";
import {
  addStep,
  changeStep,
  countEdits,
  freshPlan,
  keptSteps,
  moveStep,
  planProblem,
  putBack,
  removeStep,
  type PlanDraft,
} from "./plan";
import { PlanStepRow } from "./PlanStepRow";
import type { PlanQuestion } from "./requests";

export function PlanApproval({ step, asked }: { step: QuestionStep; asked: PlanQuestion }) {
  const { ui } = useApp();
  const answer = useAnswer(step);
  const fresh = useMemo(() => freshPlan(asked.steps), [asked]);
  const [draft, setDraft] = useDraft(step, "plan", fresh);
  const [reason, setReason] = useDraft(step, "reason", "");
  const [rejecting, setRejecting] = useDraft(step, "rejecting", false);
  const root = useRef<HTMLDivElement>(null);
  const focusNext = useFocusNext(root);
  const edits = countEdits(draft, asked.steps);
  const problem = planProblem(draft);
  const kept = keptSteps(draft);
  const isRefused = asked.audit?.passed === false;

  const move = (id: string, to: number) => {
    const next = moveStep(draft, id, to);
    if (next === draft) return;
    focusNext(`[data-grip="${CSS.escape(id)}"]`); // what moves in the page loses the focus
    setDraft(next);
    ui.set({ announcement: `Moved to place ${to + 1} of ${next.steps.length}` });
  };
  const change = (next: PlanDraft, focus = "") => {
    focusNext(focus);
    setDraft(next);
  };
  const dragging = useDragging(
    draft.steps.map((each) => each.id),
    move,
  );
  const openRejecting = (isOpen: boolean) => {
    focusNext(isOpen ? ".dn-ask-words textarea" : "[data-act=reject]");
    setRejecting(isOpen);
  };
  const approve = () => answer.send(edits ? { approved: true, plan: { steps: kept } } : { approved: true });
  const reject = () =>
    answer.send(reason.trim() ? { approved: false, reason: reason.trim() } : { approved: false });

  return (
    <Card step={step} icon="list" title={isRefused ? "Approve this plan against its audit?" : "Approve this plan?"}>
      <div ref={root}>
        <div class="dn-ask-body">
          {asked.question && <p class="dn-ask-q">{legible(asked.question)}</p>}
          {asked.audit && <AuditStrip audit={asked.audit} refusals={asked.refusals} />}
          <ol class="dn-plan" aria-label="Steps of the plan" {...dragging.list}>
            {draft.steps.map((each, at) => (
              <PlanStepRow
                key={each.id}
                step={each}
                place={at}
                kept={kept}
                tools={asked.tools}
                isEditing={draft.editing === each.id}
                isDragged={dragging.id === each.id}
                onMove={(to) => move(each.id, to)}
                onGrip={(event) => dragging.start(each.id, event)}
                onChange={(changes) => setDraft(changeStep(draft, each.id, changes))}
                onEdit={() =>
                  change({ ...draft, editing: each.id }, ".dn-pstep[data-state=editing] textarea")
                }
                onDone={() => change({ ...draft, editing: null }, `[data-edit="${CSS.escape(each.id)}"]`)}
                onRemove={() =>
                  change(
                    removeStep(draft, each.id, asked.steps),
                    `[data-back="${CSS.escape(each.id)}"], [data-act=add]`,
                  )
                }
                onPutBack={() => change(putBack(draft, each.id), `[data-grip="${CSS.escape(each.id)}"]`)}
              />
            ))}
          </ol>
          <div class="dn-row">
            <button
              type="button"
              class="dn-btn dn-btn-sm dn-btn-bare dn-plan-add"
              data-act="add"
              onClick={() =>
                change(addStep(draft, asked.tools[0] ?? ""), ".dn-pstep[data-state=editing] textarea")
              }
            >
              <Icon name="plus" small />
              Add a step
            </button>
          </div>
        </div>
        {rejecting ? (
          <Words
            label="Why not? The agent reads this."
            hint="A reason is optional"
            verb="Reject"
            value={reason}
            answer={answer}
            onInput={setReason}
            onSend={reject}
            onCancel={() => openRejecting(false)}
          />
        ) : (
          <div class="dn-ask-foot">
            <Button
              look="solid"
              icon="check"
              locked={answer.locked || problem !== ""}
              busy={answer.state === "sending"}
              onClick={approve}
            >
              {edits ? `Approve with ${counted(edits, "edit")}` : isRefused ? "Approve all the same" : "Approve"}
            </Button>
            <Button name="reject" icon="x" locked={answer.locked} onClick={() => openRejecting(true)}>
              Reject…
            </Button>
            {edits > 0 && (
              <Button
                look="bare"
                push
                locked={answer.locked}
                onClick={() => change(fresh, "[data-act=reject]")}
              >
                Reset edits
              </Button>
            )}
            <Status answer={answer} problem={problem} />
          </div>
        )}
      </div>
    </Card>
  );
}
