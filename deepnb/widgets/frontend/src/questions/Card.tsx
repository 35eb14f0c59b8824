/** What all questions have in common: the card, its head and foot, and a box for a reason. */

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { useStore } from "../app";
import type { QuestionStep } from "../model";
import { Elapsed } from "../parts/Elapsed";
import { Icon, type IconName } from "../parts/Icon";
import { legible } from "../parts/legible";
import { useUnique } from "../parts/unique";
import type { Answer } from "./answer";

interface CardProps {
  step: QuestionStep;
  icon: IconName;
  title: string;
  /** Said before how long it has waited. */
  progress?: string;
  onKeyDown?: (event: KeyboardEvent) => void;
  children: ComponentChildren;
}

export function Card({ step, icon, title, progress, onKeyDown, children }: CardProps) {
  const id = useUnique();
  const own = useStore((store) => store.facts?.agent ?? "");
  return (
    <section class="dn-ask" role="group" aria-labelledby={id} data-question={step.id} onKeyDown={onKeyDown}>
      <div class="dn-ask-head">
        <Icon name={icon} />
        <span id={id} class="dn-ask-title">
          {title}
          {step.agent && step.agent !== own && (
            <span class="dn-ask-from">
              {" "}
              from <bdi>{legible(step.agent)}</bdi>
            </span>
          )}
        </span>
        <span class="dn-meta">
          {progress}
          {/* A timer is not announced by the log around it. */}
          <span role="timer" class={progress ? "dn-ask-waits dn-hide-narrow" : undefined}>
            waiting <Elapsed since={step.time} />
          </span>
        </span>
      </div>
      {children}
    </section>
  );
}

interface ButtonProps {
  children: ComponentChildren;
  onClick: () => void;
  icon?: IconName;
  look?: "solid" | "bare" | "small";
  /** It stays where it is and keeps the focus, which would else fall out of the panel. */
  locked?: boolean;
  busy?: boolean;
  /** What the code looks for to put the focus on it. */
  name?: string;
  label?: string;
  push?: boolean;
}

const LOOKS = { solid: " dn-btn-solid", bare: " dn-btn-bare", small: " dn-btn-sm dn-btn-bare" };

export function Button({
  children,
  onClick,
  icon,
  look,
  locked = false,
  busy = false,
  name,
  label,
  push,
}: ButtonProps) {
  return (
    <button
      type="button"
      class={`dn-btn${look ? LOOKS[look] : ""}${push ? " dn-push" : ""}`}
      data-act={name}
      aria-label={label}
      aria-disabled={locked || undefined}
      aria-busy={busy || undefined}
      onClick={() => !locked && onClick()}
    >
      {busy ? <span class="dn-spin" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** How the answer stands, and what the kernel had against it. */
export function Status({ answer, problem = "" }: { answer: Answer; problem?: string }) {
  return (
    <>
      {answer.status && (
        <span class="dn-push dn-small dn-muted dn-ask-status" role="status">
          {answer.status}
        </span>
      )}
      {answer.refused && (
        <p class="dn-ask-refused" role="alert">
          {legible(answer.refused)}
        </p>
      )}
      {problem && <p class="dn-ask-refused">{problem}</p>}
    </>
  );
}

interface WordsProps {
  label: string;
  hint?: string;
  verb: string;
  value: string;
  /** Whether it cannot be sent without words. */
  needed?: boolean;
  answer: Answer;
  onInput: (value: string) => void;
  onSend: () => void;
  onCancel: () => void;
}

/** A box for words that go with a decision. Escape closes it and decides nothing. */
export function Words({ label, hint, verb, value, needed, answer, onInput, onSend, onCancel }: WordsProps) {
  const id = useUnique();
  const locked = answer.locked || (needed === true && !value.trim());
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !locked) onSend();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="dn-ask-words" onKeyDown={onKeyDown}>
      <label class="dn-strong" for={id}>
        {label}
      </label>
      <textarea
        id={id}
        class="dn-input"
        rows={2}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <div class="dn-row dn-wrap">
        <Button look="solid" locked={locked} busy={answer.state === "sending"} onClick={onSend}>
          {verb}
        </Button>
        <Button look="bare" onClick={onCancel}>
          Cancel
        </Button>
        {hint && !answer.status && <span class="dn-push dn-small dn-faint">{hint}</span>}
        <Status answer={answer} />
      </div>
    </div>
  );
}

/** Gives a function that puts the focus on what `selector` finds in `root`, after the next drawing. */
export function useFocusNext(root: RefObject<HTMLElement | null>): (selector: string) => void {
  const next = useRef("");
  useLayoutEffect(() => {
    if (!next.current) return;
    root.current?.querySelector<HTMLElement>(next.current)?.focus();
    next.current = "";
  });
  return (selector) => {
    next.current = selector;
  };
}
