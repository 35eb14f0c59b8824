/** A question that is answered in words, or by choosing. Digits pick, Enter answers. */

import { isComposing } from "../chat/keys";
import type { QuestionStep } from "../model";
import { legible } from "../parts/legible";
import { useUnique } from "../parts/unique";
import { useAnswer } from "./answer";
import { Button, Card, Status } from "./Card";
import { useDraft } from "./drafts";
import type { Clarification as ClarificationQuestion, Option } from "./requests";

export function Clarification({ step, asked }: { step: QuestionStep; asked: ClarificationQuestion }) {
  const id = useUnique();
  const answer = useAnswer(step);
  const [selected, select] = useDraft<readonly string[]>(step, "selected", []);
  const [words, setWords] = useDraft(step, "words", "");
  const { options, multiple } = asked;
  const takesWords = options === null || asked.freeform;
  const said = takesWords ? words.trim() : "";
  const locked = answer.locked || (!said && !selected.length);

  const pick = (option: Option) => {
    const isPicked = selected.includes(option.id);
    if (!multiple) select([option.id]);
    else select(isPicked ? selected.filter((each) => each !== option.id) : [...selected, option.id]);
  };
  const send = () => {
    if (locked) return;
    if (options === null) answer.send({ response: said });
    else {
      const chosen = options.map((option) => option.id).filter((each) => selected.includes(each));
      answer.send(said ? { selected: chosen, freeform: said } : { selected: chosen });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const isTyping = target.localName === "textarea";
    if (isComposing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && !event.shiftKey && target.localName !== "button") send();
    else if (!isTyping && /^[1-9]$/.test(event.key) && options?.[Number(event.key) - 1]) {
      const card = event.currentTarget as HTMLElement;
      pick(options[Number(event.key) - 1]!);
      // The arrow keys go on from there.
      card.querySelectorAll<HTMLElement>(".dn-choice input")[Number(event.key) - 1]?.focus();
    } else return;
    event.preventDefault();
  };

  return (
    <Card step={step} icon="ask" title="A question before it goes on" onKeyDown={onKeyDown}>
      <div class="dn-ask-body">
        <p class="dn-ask-q" id={`${id}-q`}>
          {legible(asked.question)}
          {multiple && <span class="dn-muted dn-ask-any"> Choose any.</span>}
        </p>
        {options && (
          <div class="dn-choices" role={multiple ? "group" : "radiogroup"} aria-labelledby={`${id}-q`}>
            {options.map((option, at) => (
              <label class="dn-choice">
                <input
                  type={multiple ? "checkbox" : "radio"}
                  name={id}
                  class="dn-check"
                  checked={selected.includes(option.id)}
                  onChange={() => pick(option)}
                />
                <span dir="auto">{legible(option.label)}</span>
                {at < 9 && (
                  <kbd class="dn-kbd" aria-hidden="true">
                    {at + 1}
                  </kbd>
                )}
              </label>
            ))}
          </div>
        )}
        {takesWords && (
          <div>
            {options && (
              <label for={`${id}-w`} class="dn-muted">
                Anything to add? <span class="dn-faint">Optional</span>
              </label>
            )}
            <textarea
              id={`${id}-w`}
              class="dn-input"
              rows={options ? 1 : 2}
              dir="auto"
              aria-labelledby={options ? undefined : `${id}-q`}
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </div>
        )}
      </div>
      <div class="dn-ask-foot">
        <Button look="solid" locked={locked} busy={answer.state === "sending"} onClick={send}>
          Answer{" "}
          <kbd class="dn-kbd" aria-hidden="true">
            ↵
          </kbd>
        </Button>
        <Status answer={answer} />
      </div>
    </Card>
  );
}
