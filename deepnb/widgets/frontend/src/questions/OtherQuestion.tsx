/** What deepnb has no card for: any graph may ask anything, and is answered in words or in JSON. */

import { isComposing } from "../chat/keys";
import type { QuestionStep } from "../model";
import { asText, legible } from "../parts/legible";
import { useUnique } from "../parts/unique";
import { useAnswer } from "./answer";
import { Args } from "./ArgsForm";
import { Button, Card, Status } from "./Card";
import { useDraft } from "./drafts";
import type { ClientTool as ClientToolQuestion, OtherQuestion as Question } from "./requests";

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

const UNAVAILABLE = "The person's files in the browser are not available here.";

/** A tool that only a client with the person's files can run, which this panel is not. */
export function ClientTool({ step, asked }: { step: QuestionStep; asked: ClientToolQuestion }) {
  const answer = useAnswer(step);
  return (
    <Card step={step} icon="monitor" title="Waits for the files in your browser">
      <div class="dn-ask-body">
        <p>
          <bdi class="dn-mono">{legible(asked.tool)}</bdi> runs where your files are, and no such place is
          connected to this session.
        </p>
        <div class="dn-action-main dn-ask-inset">
          <Args args={asked.args} />
        </div>
      </div>
      <div class="dn-ask-foot">
        <Button
          locked={answer.locked}
          busy={answer.state === "sending"}
          onClick={() => answer.send({ error: UNAVAILABLE })}
        >
          Tell the agent it is not available
        </Button>
        <Status answer={answer} />
      </div>
    </Card>
  );
}
