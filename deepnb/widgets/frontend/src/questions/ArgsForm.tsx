/** A tool's arguments, to be read and changed in a form that follows its schema. */

import { Icon } from "../parts/Icon";
import { asText, legible, oneLine, textOf } from "../parts/legible";
import { useUnique } from "../parts/unique";
import { shown, typedIn, type Edits, type Field, type Filled } from "./schema";

interface ArgsFormProps {
  fields: readonly Field[];
  edits: Edits;
  state: Filled;
  onEdit: (edits: Edits) => void;
}

export function ArgsForm({ fields, edits, state, onEdit }: ArgsFormProps) {
  const id = useUnique();
  if (!fields.length) return <p class="dn-diff-none">It takes no arguments.</p>;
  const set = (name: string, value: string | boolean) => onEdit({ ...edits, [name]: value });
  const undo = (name: string) => {
    const { [name]: _undone, ...rest } = edits;
    onEdit(rest);
  };
  return (
    <div class="dn-form">
      {fields.map((field, at) => {
        const problem = state.problems.get(field.name);
        const changed = state.changed.includes(field.name);
        const value = typedIn(field, edits);
        const hidden = typeof value === "string" && field.kind !== "choice" ? unseen(value) : "";
        const inputId = `${id}-${at}`;
        return (
          <>
            <label for={inputId} title={field.name}>
              {legible(field.label)}
              <small>{field.hint}</small>
            </label>
            <div>
              <Input
                field={field}
                value={value}
                onInput={(typed) => set(field.name, typed)}
                aria={{
                  id: inputId,
                  "aria-describedby": `${inputId}-help`,
                  "aria-invalid": Boolean(problem),
                }}
              />
              <div id={`${inputId}-help`}>
                {problem && (
                  <p class="dn-help" data-tone="bad">
                    <Icon name="warn" small />
                    {problem}
                  </p>
                )}
                {changed && (
                  <p class="dn-help" data-tone="changed">
                    <Icon name="pencil" small />
                    Changed by you, was <s class="dn-mono">{before(field)}</s>
                    <button
                      type="button"
                      class="dn-btn dn-btn-sm dn-btn-bare"
                      aria-label={`Undo the change of ${field.label}`}
                      onClick={() => undo(field.name)}
                    >
                      Undo
                    </button>
                  </p>
                )}
                {hidden && (
                  <p class="dn-help" data-tone="bad">
                    Holds characters that cannot be seen: <span class="dn-mono">{oneLine(hidden)}</span>
                  </p>
                )}
                {field.help && !changed && !problem && <p class="dn-help">{oneLine(field.help, 200)}</p>}
              </div>
            </div>
          </>
        );
      })}
    </div>
  );
}

/** The characters of a text that nobody would see, spelled out; empty if there are none. */
function unseen(text: string): string {
  const spelled = legible(text);
  return spelled === text ? "" : [...new Set(spelled.match(/\\u[0-9a-f]{4,6}/g))].join(" ");
}

function before({ value }: Field): string {
  return value === undefined ? "not given" : oneLine(textOf(value) || '""', 60);
}

interface InputProps {
  field: Field;
  value: string | boolean;
  onInput: (value: string | boolean) => void;
  aria: { id: string; "aria-describedby": string; "aria-invalid": boolean };
}

const LONG = 60; // characters, beyond which one line shows too little

function Input({ field, value, onInput, aria }: InputProps) {
  if (typeof value === "boolean")
    return (
      <input
        {...aria}
        type="checkbox"
        role="switch"
        class="dn-switch"
        checked={value}
        onChange={(event) => onInput(event.currentTarget.checked)}
      />
    );
  const typed = (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value);
  if (field.kind === "choice")
    return (
      <select {...aria} class="dn-input" value={value} onChange={typed}>
        {value === "-1" && <option value="-1">Not given</option>}
        {field.options.map((option, at) => (
          <option value={String(at)}>
            {option === null
              ? "Not set"
              : option === true
                ? "Yes"
                : option === false
                  ? "No"
                  : oneLine(textOf(option))}
          </option>
        ))}
      </select>
    );
  if (field.kind === "number")
    // A text box: a number's own would hide what was typed wrongly, and change with the wheel.
    return (
      <input
        {...aria}
        type="text"
        inputMode="decimal"
        class="dn-input dn-form-number"
        value={value}
        onInput={typed}
      />
    );
  const given = shown(field);
  if (field.kind === "text" && typeof given === "string" && given.length <= LONG && !given.includes("\n"))
    return (
      <input
        {...aria}
        type="text"
        class="dn-input dn-mono"
        value={value}
        onInput={typed}
        spellcheck={false}
      />
    );
  return (
    <textarea
      {...aria}
      class="dn-input dn-mono dn-form-long"
      rows={field.kind === "text" ? 3 : 2}
      value={value}
      onInput={typed}
      spellcheck={field.kind === "text"}
    />
  );
}

/** Arguments that can only be read. */
export function Args({ args }: { args: Record<string, unknown> }) {
  const entries = Object.entries(args);
  if (!entries.length) return <p class="dn-diff-none">It takes no arguments.</p>;
  return (
    <dl class="dn-args dn-ask-args">
      {entries.map(([name, value]) => (
        <>
          <dt>{legible(name)}</dt>
          <dd dir="auto">{asText(value) || '""'}</dd>
        </>
      ))}
    </dl>
  );
}
