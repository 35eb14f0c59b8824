/** What a person decides about one action, and what they have typed on the way there. */

import type { Action, JsonObject } from "./requests";
import type { Edits } from "./schema";

export type Decision =
  | { type: "approve"; always?: string }
  | { type: "edit"; edited_action: { name: string; args: JsonObject } }
  | { type: "reject"; message?: string }
  | { type: "respond"; message: string };

export interface ActionDraft {
  /** Null until it is decided; it can be undone until all are. */
  readonly decision: Decision | null;
  readonly open: "" | "edit" | "reject" | "respond";
  readonly edits: Edits;
  readonly reason: string;
  readonly reply: string;
  readonly always: boolean;
  /** Null for the one that is offered. */
  readonly pattern: string | null;
}

export const UNDECIDED: ActionDraft = {
  decision: null,
  open: "",
  edits: {},
  reason: "",
  reply: "",
  always: false,
  pattern: null,
};

export function rejection(reason: string): Decision {
  return reason.trim() ? { type: "reject", message: reason.trim() } : { type: "reject" };
}

/** An approval of the action as it was asked about, or as the person has changed it. */
export function approval(
  action: Action,
  args: JsonObject,
  isChanged: boolean,
  always: string | null,
): Decision {
  if (isChanged) return { type: "edit", edited_action: { name: action.name, args } };
  return always === null ? { type: "approve" } : { type: "approve", always };
}
