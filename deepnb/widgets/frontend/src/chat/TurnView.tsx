/** A question and what was done about it. */

import { useState } from "preact/hooks";

import { Markdown } from "../markdown/Markdown";
import type { QuestionStep, Step, TextStep, Turn } from "../model";
import { counted, took } from "../parts/format";
import { Icon } from "../parts/Icon";
import { memo } from "../parts/memo";
import { isRun, Ran } from "../questions/Ran";
import { QuestionCard } from "../questions/QuestionCard";
import { Report } from "../research/Report";
import { Asked } from "./Asked";
import { Ending } from "./Ending";
import { Notice } from "./Notice";
import { Steps } from "./Steps";

interface TurnViewProps {
  turn: Turn;
  isLast: boolean;
}

export const TurnView = memo(function TurnView({ turn, isLast }: TurnViewProps) {
  const busy = turn.status === "running" || turn.status === "sending";
  // What was seen as it happened stays unfolded until it has scrolled away.
  const [wasLive] = useState(turn.status !== "done");
  const folded = turn.status === "done" && !(wasLive && isLast);
  return (
    <div class="dn-exchange">
      {turn.question && <Asked turn={turn} />}
      <article class="dn-reply dn-turn" aria-busy={busy} aria-label="Reply">
        {parts(turn.steps).map((part) => <PartView key={part.key} part={part} folded={folded} seconds={turn.seconds} />)}
        {busy && !isVisiblyBusy(turn.steps) && <Placeholder sending={turn.status === "sending"} />}
        <Ending turn={turn} isLast={isLast} />
      </article>
    </div>
  );
});

/** What stands together: lines of steps, a text, a question, a notice. */
type Part =
  | { key: number; type: "steps"; steps: Step[] }
  | { key: number; type: "text"; step: TextStep }
  | { key: number; type: "question"; step: QuestionStep }
  | { key: number; type: "ran"; steps: QuestionStep[] }
  | { key: number; type: "notice"; step: Step & { type: "notice" } };

function parts(steps: readonly Step[]): Part[] {
  const found: Part[] = [];
  const ask = (step: QuestionStep) => {
    const last = found.at(-1);
    if (!isRun(step)) found.push({ key: step.seq, type: "question", step });
    else if (last?.type === "ran") last.steps.push(step);
    else found.push({ key: step.seq, type: "ran", steps: [step] });
  };
  for (const step of steps) {
    if (step.type === "text") found.push({ key: step.seq, type: "text", step });
    else if (step.type === "question") ask(step);
    else if (step.type === "notice") found.push({ key: step.seq, type: "notice", step });
    else {
      // Calls on the reader's files gather in one line, behind those of the steps that have made them.
      const last = found.findLast(({ type }) => type !== "ran");
      if (last?.type === "steps") last.steps.push(step);
      else found.push({ key: step.seq, type: "steps", steps: [step] });
      // A subagent's questions stand by themselves, behind the lines.
      inner(step).forEach(ask);
    }
  }
  return found;
}

function inner(step: Step): QuestionStep[] {
  if (step.type === "question") return [step];
  return step.type === "subagent" ? step.steps.flatMap(inner) : [];
}

interface PartViewProps {
  part: Part;
  folded: boolean;
  seconds: number | null;
}

function PartView({ part, folded, seconds }: PartViewProps) {
  switch (part.type) {
    case "text":
      return (
        <>
          {part.step.report ? <Report step={part.step} report={part.step.report} /> : <Markdown step={part.step} />}
          {part.step.state === "cut" && <p class="dn-small dn-faint">Cut off here.</p>}
        </>
      );
    case "question":
      return <QuestionCard step={part.step} />;
    case "ran":
      return <Ran steps={part.steps} />;
    case "notice":
      return <Notice step={part.step} />;
    default:
      return folded ? <Folded steps={part.steps} seconds={seconds} /> : <Steps steps={part.steps} />;
  }
}

const FEW = 2;

function Folded({ steps, seconds }: { steps: Step[]; seconds: number | null }) {
  const [opened, setOpened] = useState(false);
  if (steps.length <= FEW) return <Steps steps={steps} />;
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary class="dn-done">
        <span class="dn-ok"><Icon name="check" /></span>
        <span>{counted(steps.length, "step")}{seconds !== null && ` in ${took(seconds)}`}</span>
        <span class="dn-chev"><Icon name="chev" small /></span>
      </summary>
      {opened && <Steps steps={steps} />}
    </details>
  );
}

/** Whether something is seen to be under way, so that nothing needs to say it. */
function isVisiblyBusy(steps: readonly Step[]): boolean {
  return steps.some((step) => {
    if (step.type === "text" || step.type === "thought") return step.state === "writing";
    return (step.type === "tool" || step.type === "subagent") && step.state === "running";
  });
}

function Placeholder({ sending }: { sending: boolean }) {
  return (
    <div class="dn-step-row dn-placeholder">
      <span class="dn-node"><span class="dn-spin" /></span>
      <span>{sending ? "Sending" : "Working"}</span>
    </div>
  );
}
