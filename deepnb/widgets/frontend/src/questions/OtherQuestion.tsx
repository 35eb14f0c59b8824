/** What deepnb has no card for: any graph may ask anything, and is answered in words or in JSON. */

import { isComposing } from "../chat/keys";
import type { QuestionStep } from "../model";
import { asText, legible } from "../parts/legible";
import { useUnique } from "../parts/unique";
import { useAnswer } from "./answer";
import { Button, Card, Status } from "./Card";
import { useDraft } from "./drafts";
import type { OtherQuestion as Question } from "./requests";

export function OtherQuestion({ step, asked }: { step: QuestionStep; asked: Question }) {
  const id = useUnique();
  const answer = useAnswer(step);
  const [typed, setTyped] = useDraft(step, "words", "");
  const [asJson, setAsJson] = useDraft(step, "json", false);
  const { value, problem } = asJson ? readJson(typed) : { value: typed.trim(), problem: "" };
  const locked = answer.locked || !typed.trim() || problem !== "";
  const send = () => !locked && answer.send(value);
  const onKeyDown = (event: KeyboardEvent) => {
    // JSON has lines of its own: there Enter breaks, and Ctrl+Enter answers.
    const answers = asJson ? event.ctrlKey || event.metaKey : !event.shiftKey;
    if (event.key !== "Enter" || !answers || isComposing(event)) return;
    event.preventDefault();
    send();
  };
  return (
    <Card
      step={step}
      icon="ask"
      title={asked.type === "payment_exhausted" ? "Paused for a payment" : "A question before it goes on"}
    >
      <div class="dn-ask-body">
        <p class="dn-ask-q" id={`${id}-q`}>
          {legible(asked.question) || "The graph waits for an answer."}
        </p>
        {asked.rest !== undefined && (
          <pre class="dn-ask-json" tabIndex={0} aria-label="What was asked">
            {asText(asked.rest)}
          </pre>
        )}
        <div>
          <textarea
            class={asJson ? "dn-input dn-mono" : "dn-input"}
            rows={2}
            aria-labelledby={`${id}-q`}
            aria-describedby={`${id}-help`}
            aria-invalid={problem !== ""}
            value={typed}
            spellcheck={!asJson}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
          <p class="dn-help" data-tone={problem ? "bad" : undefined} id={`${id}-help`}>
            {problem}
          </p>
        </div>
      </div>
      <div class="dn-ask-foot">
        <Button look="solid" locked={locked} busy={answer.state === "sending"} onClick={send}>
          {asJson ? "Answer as JSON" : "Answer"}
        </Button>
        <label class="dn-row dn-muted">
          <input
            type="checkbox"
            role="switch"
            class="dn-switch"
            checked={asJson}
            onChange={(event) => setAsJson(event.currentTarget.checked)}
          />
          JSON
        </label>
        <Status answer={answer} />
      </div>
    </Card>
  );
}

function readJson(typed: string): { value: unknown; problem: string } {
  if (!typed.trim()) return { value: null, problem: "" };
  try {
    return { value: JSON.parse(typed), problem: "" };
  } catch (error) {
    return { value: null, problem: `This is no JSON: ${(error as Error).message}` };
  }
}
