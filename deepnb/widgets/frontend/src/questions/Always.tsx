/** "Always for …": an approval that also holds for later calls that fit a pattern. */

import { legible } from "../parts/legible";
import { Popover } from "../parts/Popover";
import { useUnique } from "../parts/unique";
import type { Choice } from "./patterns";

interface AlwaysProps {
  choices: readonly Choice[];
  pattern: string;
  checked: boolean;
  onCheck: (checked: boolean) => void;
  onChoose: (pattern: string) => void;
}

export function Always({ choices, pattern, checked, onCheck, onChoose }: AlwaysProps) {
  const name = useUnique();
  return (
    <div class="dn-row dn-push dn-muted dn-always">
      <label class="dn-row">
        <input
          type="checkbox"
          class="dn-check"
          checked={checked}
          onChange={(event) => onCheck(event.currentTarget.checked)}
        />
        <span class="dn-cut">
          Always for <Pattern pattern={pattern} />
        </span>
      </label>
      {choices.length > 1 && (
        <Popover
          title="Do not ask again for"
          class="dn-btn dn-btn-sm dn-btn-bare"
          button="Change"
          align="end"
        >
          {() => (
            <div class="dn-always-choices" role="radiogroup" aria-label="Do not ask again for">
              <p class="dn-strong">Do not ask again for</p>
              {choices.map((choice) => (
                <label class="dn-row">
                  <input
                    type="radio"
                    class="dn-check"
                    name={name}
                    data-first={choice.pattern === pattern || undefined}
                    checked={choice.pattern === pattern}
                    onChange={() => onChoose(choice.pattern)}
                  />
                  <span>
                    {choice.label}{" "}
                    {!isEvery(choice.pattern) && (
                      <bdi class="dn-mono dn-faint">{legible(choice.pattern)}</bdi>
                    )}
                  </span>
                </label>
              ))}
            </div>
          )}
        </Popover>
      )}
    </div>
  );
}

function isEvery(pattern: string): boolean {
  return pattern === "*" || pattern === "**";
}

function Pattern({ pattern }: { pattern: string }) {
  return isEvery(pattern) ? <>every call</> : <bdi class="dn-mono">{legible(pattern)}</bdi>;
}
