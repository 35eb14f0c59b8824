/** A run that has spent what it may spend: raise the limit, or end it here. */

import type { QuestionStep } from "../model";
import { useUnique } from "../parts/unique";
import { useAnswer } from "./answer";
import { Button, Card, Status } from "./Card";
import { amount } from "./amount";
import { useDraft } from "./drafts";
import type { BudgetQuestion } from "./requests";

export function Budget({ step, asked }: { step: QuestionStep; asked: BudgetQuestion }) {
  const id = useUnique();
  const answer = useAnswer(step);
  const { unit, limit, spent } = asked;
  const suggestion = 2 * (2 * limit > spent ? limit : spent) || 1;
  const [typed, setTyped] = useDraft(step, "limit", String(Number(suggestion.toPrecision(6))));
  const wanted = typed.trim() ? Number(typed) : NaN;
  const problem = problemOf(wanted, asked);
  const locked = answer.locked || problem !== "";
  const raise = () => !locked && answer.send({ raise_to: wanted });
  return (
    <Card step={step} icon="pause" title="The budget is used up">
      <div class="dn-ask-body">
        <p class="dn-ask-q">
          {amount(spent, unit)} of {amount(limit, unit)} {spent === 1 ? "is" : "are"} spent. Go on?
        </p>
        <div
          class="dn-bar"
          role="meter"
          aria-label="Spent"
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={Math.min(spent, limit)}
          aria-valuetext={`${amount(spent, unit)} of ${amount(limit, unit)}`}
        >
          <i style={{ "--v": `${limit > 0 ? Math.min(100, (100 * spent) / limit) : 100}%` }} />
        </div>
        <div class="dn-row dn-wrap">
          <label for={id}>New limit{unit === "usd" ? ", in dollars" : unit ? `, in ${unit}` : ""}</label>
          <input
            id={id}
            class="dn-input dn-form-number"
            inputMode="decimal"
            value={typed}
            aria-invalid={problem !== ""}
            aria-describedby={`${id}-help`}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Enter" && raise()}
          />
          <span id={`${id}-help`} class="dn-help" data-tone={problem ? "bad" : undefined}>
            {problem || "For this thread, all that was spent included"}
          </span>
        </div>
      </div>
      <div class="dn-ask-foot">
        <Button look="solid" locked={locked} busy={answer.state === "sending"} onClick={raise}>
          {problem ? "Raise" : `Raise to ${amount(wanted, unit)}`}
        </Button>
        <Button icon="stop" locked={answer.locked} onClick={() => answer.send({ stop: true })}>
          Stop here
        </Button>
        <Status answer={answer} />
      </div>
    </Card>
  );
}

function problemOf(wanted: number, { spent, unit }: BudgetQuestion): string {
  if (!Number.isFinite(wanted) || wanted <= 0) return "A number above 0 is needed.";
  return wanted > spent ? "" : `${amount(spent, unit)} ${spent === 1 ? "is" : "are"} spent already.`;
}
