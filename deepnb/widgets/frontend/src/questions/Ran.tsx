/** Calls of the agent that have run on the reader's files: one line, however many they were. */

import type { QuestionStep } from "../model";
import { timeOfDay } from "../parts/format";
import { Icon } from "../parts/Icon";
import { oneLine } from "../parts/legible";
import { Decided } from "./Decided";
import { objectOf, readRequest, type ClientTool } from "./requests";

/** Whether it was such a call, and has run. */
export function isRun(step: QuestionStep): boolean {
  const isAnswered = step.by !== "" && step.by !== "stop" && !("error" in objectOf(step.answer));
  return isAnswered && readRequest(step.request).kind === "client";
}

export function Ran({ steps }: { steps: readonly QuestionStep[] }) {
  const last = steps.at(-1)!;
  if (steps.length === 1) return <div class="dn-question"><Decided step={last} note="" /></div>;
  return (
    <details class="dn-question dn-decided-more">
      <summary class="dn-decided">
        <span class="dn-ok"><Icon name="check" /></span>
        <span class="dn-cut"><b>Ran</b> on your files: <bdi class="dn-mono">{oneLine(toolsOf(steps), 200)}</bdi></span>
        <span class="dn-meta">{timeOfDay(last.closed ?? last.time)}</span>
        <span class="dn-chev"><Icon name="chev" small /></span>
      </summary>
      <div class="dn-decided-body">{steps.map((step) => <Decided key={step.seq} step={step} note="" />)}</div>
    </details>
  );
}

/** "search_files, read_file ×3" */
function toolsOf(steps: readonly QuestionStep[]): string {
  const counts = new Map<string, number>();
  for (const { request } of steps) {
    const { tool } = readRequest(request) as ClientTool;
    counts.set(tool, (counts.get(tool) ?? 0) + 1);
  }
  return [...counts].map(([tool, count]) => (count > 1 ? `${tool} ×${count}` : tool)).join(", ");
}
