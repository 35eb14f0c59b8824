/** One step of a plan: read, edited in place, or removed and still there to be put back. */

import type { TargetedPointerEvent } from "preact";

import { Icon } from "../parts/Icon";
import { legible } from "../parts/legible";
import { useUnique } from "../parts/unique";
import { mayWaitFor } from "./plan";
import type { PlanStep } from "./requests";

interface PlanStepRowProps {
  step: PlanStep;
  /** Among all steps, the removed ones included. */
  place: number;
  kept: readonly PlanStep[];
  tools: readonly string[];
  isEditing: boolean;
  isDragged: boolean;
  onMove: (to: number) => void;
  onGrip: (event: TargetedPointerEvent<HTMLElement>) => void;
  onChange: (changes: Partial<PlanStep>) => void;
  onEdit: () => void;
  onDone: () => void;
  onRemove: () => void;
  onPutBack: () => void;
}

export function PlanStepRow(props: PlanStepRowProps) {
  const { step, place, kept, isEditing } = props;
  const at = kept.findIndex((each) => each.id === step.id);
  const name = at < 0 ? "removed step" : `step ${at + 1}`;
  const state = at < 0 ? "removed" : isEditing ? "editing" : "";
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    props.onMove(place + by);
  };
  return (
    <li class="dn-pstep" data-state={state} data-dragged={props.isDragged || undefined}>
      <button
        type="button"
        class="dn-grip"
        data-grip={step.id}
        aria-label={`Move ${name}. Use arrow keys`}
        onKeyDown={onKeyDown}
        onPointerDown={props.onGrip}
      >
        <Icon name="grip" small />
      </button>
      <span class="dn-num">{at < 0 ? "–" : at + 1}</span>
      <div class="dn-pstep-main">
        {state === "editing" ? (
          <Fields {...props} number={at + 1} />
        ) : (
          <Said step={step} kept={kept} isRemoved={at < 0} />
        )}
      </div>
      <div class="dn-row dn-pstep-acts">
        {state === "removed" ? (
          <button
            type="button"
            class="dn-btn dn-btn-sm dn-btn-bare"
            data-back={step.id}
            onClick={props.onPutBack}
          >
            Put back
          </button>
        ) : state === "editing" ? (
          <button type="button" class="dn-btn dn-btn-sm" onClick={props.onDone}>
            Done
          </button>
        ) : (
          <>
            <button
              type="button"
              class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon"
              data-edit={step.id}
              aria-label={`Edit ${name}`}
              title="Edit"
              onClick={props.onEdit}
            >
              <Icon name="pencil" small />
            </button>
            <button
              type="button"
              class="dn-btn dn-btn-sm dn-btn-bare dn-btn-icon"
              aria-label={`Remove ${name}`}
              title="Remove"
              onClick={props.onRemove}
            >
              <Icon name="trash" small />
            </button>
          </>
        )}
      </div>
    </li>
  );
}

function Said({ step, kept, isRemoved }: { step: PlanStep; kept: readonly PlanStep[]; isRemoved: boolean }) {
  if (isRemoved)
    return (
      <>
        <b>{legible(step.title)}</b>
        <div class="dn-pstep-sub">Removed by you</div>
      </>
    );
  const numbers = kept.flatMap((each, at) => (step.depends_on.includes(each.id) ? [at + 1] : []));
  return (
    <>
      <b>{legible(step.title) || <span class="dn-faint">No title yet</span>}</b>
      {step.rationale && <p class="dn-small dn-muted">{legible(step.rationale)}</p>}
      <div class="dn-pstep-sub">
        {step.tool && <span class="dn-tag dn-cut">{legible(step.tool.replace(/_/g, " "))}</span>}
        {step.input && <span class="dn-mono dn-pstep-input">{legible(step.input)}</span>}
        <span class="dn-faint">{numbers.length ? `after ${numbers.length > 1 ? "steps" : "step"} ${numbers.join(", ")}` : "starts at once"}</span>
      </div>
    </>
  );
}

function Fields({ step, kept, tools, number, onChange, onDone }: PlanStepRowProps & { number: number }) {
  const id = useUnique();
  const options = mayWaitFor(kept, step.id);
  const toggle = (other: string) =>
    onChange({
      depends_on: step.depends_on.includes(other)
        ? step.depends_on.filter((each) => each !== other)
        : [...step.depends_on, other],
    });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    onDone();
  };
  return (
    <div class="dn-pstep-fields" onKeyDown={onKeyDown}>
      <label class="dn-sr" for={`${id}-title`}>
        Step {number}
      </label>
      <textarea
        id={`${id}-title`}
        class="dn-input"
        rows={2}
        value={step.title}
        placeholder="What is to be done"
        onInput={(event) => onChange({ title: event.currentTarget.value })}
      />
      <div class="dn-pstep-sub">
        <label class="dn-sr" for={`${id}-tool`}>
          Tool of step {number}
        </label>
        <select
          id={`${id}-tool`}
          class="dn-input dn-pstep-tool"
          value={step.tool}
          onChange={(event) => onChange({ tool: event.currentTarget.value })}
        >
          {tools.map((tool) => (
            <option value={tool}>{legible(tool) || "No tool"}</option>
          ))}
        </select>
        <label class="dn-sr" for={`${id}-input`}>
          Input of step {number}
        </label>
        <input
          id={`${id}-input`}
          class="dn-input dn-mono dn-grow"
          value={step.input}
          placeholder="Input"
          onInput={(event) => onChange({ input: event.currentTarget.value })}
        />
      </div>
      {options.length > 0 && (
        <div class="dn-pstep-sub" role="group" aria-label={`What step ${number} waits for`}>
          <span class="dn-faint">Begins after</span>
          {options.map((other) => {
            const at = kept.findIndex((each) => each.id === other.id) + 1;
            return (
              <button
                type="button"
                class="dn-chip dn-pstep-after"
                aria-pressed={step.depends_on.includes(other.id)}
                title={legible(other.title)}
                onClick={() => toggle(other.id)}
              >
                Step {at}
              </button>
            );
          })}
        </div>
      )}
    </div>
  );
}
