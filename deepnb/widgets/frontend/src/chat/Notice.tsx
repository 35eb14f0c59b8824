/** A warning or an error, in a line or two. */

import type { ComponentChildren } from "preact";

import type { NoticeStep } from "../model";
import { Icon } from "../parts/Icon";
import { legible, oneLine } from "../parts/legible";

export function Notice({ step, children }: { step: Pick<NoticeStep, "level" | "title" | "text">; children?: ComponentChildren }) {
  return (
    <div class="dn-note" data-tone={step.level === "error" ? "bad" : "warn"}>
      <Icon name="warn" />
      <span class="dn-grow dn-note-text" dir="auto"><b>{oneLine(step.title, 80)}.</b> {legible(step.text)}</span>
      {children}
    </div>
  );
}
