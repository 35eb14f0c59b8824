/** What became of a question: one line for each decision, which opens, and stays for ever. */

import { useMemo } from "preact/hooks";

import { useStore } from "../app";
import type { QuestionStep } from "../model";
import { timeOfDay } from "../parts/format";
import { Icon } from "../parts/Icon";
import { legible, oneLine } from "../parts/legible";
import { Args } from "./ArgsForm";
import { findDiff } from "./unified";
import { Diff } from "./Diff";
import { readRequest } from "./requests";
import { verdictsOf, type Verdict } from "./verdicts";

/** `note` says what happened to what this view had to say. */
export function Decided({ step, note }: { step: QuestionStep; note: string }) {
  const payments = useStore((store) => store.payments);
  const verdicts = useMemo(() => verdictsOf(step, readRequest(step.request), payments), [step, payments]);
  const time = step.closed ?? step.time;
  return (
    <div class="dn-decisions">
      {verdicts.map((verdict) => (
        <Row verdict={verdict} time={time} />
      ))}
      {note && (
        <p class="dn-note" data-tone="warn" role="status">
          <Icon name="warn" />
          <span>
            <b>Answered in another view.</b> {legible(note)}
          </span>
        </p>
      )}
    </div>
  );
}

const ICONS = { ok: "check", bad: "x", none: "pause" } as const;

function Row({ verdict, time }: { verdict: Verdict; time: number }) {
  const { tone, lead, object, name, words, about } = verdict;
  const said = (
    <>
      <span class={tone === "none" ? "dn-faint" : `dn-${tone}`}>
        <Icon name={ICONS[tone]} />
      </span>
      <span class="dn-cut">
        <b>{oneLine(lead, 120)}</b> {oneLine(object, 200)}
        {name && (
          <>
            {" "}
            <bdi class="dn-mono">{legible(name)}</bdi>
          </>
        )}
        {words && (
          <>
            {object ? ": " : ""}“<bdi>{oneLine(words, 200)}</bdi>”
          </>
        )}
        {about && (
          <span class="dn-faint">
            {" "}
            to “<bdi>{oneLine(about, 200)}</bdi>”
          </span>
        )}
      </span>
      <span class="dn-meta">{timeOfDay(time)}</span>
    </>
  );
  if (!hasMore(verdict)) return <div class="dn-decided">{said}</div>;
  return (
    <details class="dn-decided-more">
      <summary class="dn-decided">
        {said}
        <span class="dn-chev">
          <Icon name="chev" small />
        </span>
      </summary>
      <More verdict={verdict} />
    </details>
  );
}

const LONG = 60; // characters, of which a line may not show the end

function hasMore({ action, steps, words, about }: Verdict): boolean {
  return action !== null || steps.length > 0 || words.length + about.length > LONG;
}

function More({ verdict }: { verdict: Verdict }) {
  const { action, edited, steps, about, words } = verdict;
  const diff = action && findDiff(action.description);
  return (
    <div class="dn-decided-body">
      {about && <p class="dn-muted dn-decided-words">{legible(about)}</p>}
      {words && <p class="dn-decided-words">{legible(words)}</p>}
      {edited && Object.keys(edited).length > 0 && (
        <>
          <p class="dn-muted">Changed by you to</p>
          <div class="dn-action-main">
            <Args args={edited} />
          </div>
        </>
      )}
      {edited && action && <p class="dn-muted">Asked for</p>}
      {action && (
        <div class="dn-action-main">{diff ? <Diff text={diff.text} /> : <Args args={action.args} />}</div>
      )}
      {steps.length > 0 && (
        <ol class="dn-decided-steps">
          {steps.map((step) => (
            <li>{legible(step.title)}</li>
          ))}
        </ol>
      )}
    </div>
  );
}
