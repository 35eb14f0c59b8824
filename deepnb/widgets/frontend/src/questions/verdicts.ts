/** What was decided about a question, by whom, in words that stay. */

import type { QuestionStep } from "../model";
import { sats } from "../money/sats";
import type { JsonValue } from "../protocol";
import { counted } from "../parts/format";
import { textOf } from "../parts/legible";
import { amount } from "./amount";
import {
  listOf,
  objectOf,
  readStep,
  titleOf,
  type Action,
  type Asked,
  type Clarification,
  type ClientTool,
  type JsonObject,
  type PlanQuestion,
  type PlanStep,
} from "./requests";

export interface Verdict {
  readonly tone: "ok" | "bad" | "none";
  /** Who did what, in bold. */
  readonly lead: string;
  /** To what. */
  readonly object: string;
  /** A name of a machine's, after that. */
  readonly name: string;
  /** The person's own words. */
  readonly words: string;
  /** What they were said to. */
  readonly about: string;
  readonly action: Action | null;
  /** Arguments that the person has changed. */
  readonly edited: JsonObject | null;
  readonly steps: readonly PlanStep[];
}

const PLAIN: Verdict = {
  tone: "ok",
  lead: "",
  object: "",
  name: "",
  words: "",
  about: "",
  action: null,
  edited: null,
  steps: [],
};
const HIDDEN = "…"; // what the log has in place of an answer that may hold a secret

/** `payments` has the amounts of what was paid in, by its handle. */
export function verdictsOf(step: QuestionStep, asked: Asked, payments: ReadonlyMap<string, number>): Verdict[] {
  const who = step.by === "policy" ? "Automatically" : "You";
  if (step.by === "stop")
    return [{ ...PLAIN, ...topicOf(asked), tone: "none", lead: "Not answered, the run was stopped:" }];
  const answer = objectOf(step.answer);
  switch (asked.kind) {
    case "approval": {
      // langchain's question about one call takes one decision, and no list of them.
      const decisions = "decisions" in answer ? listOf(answer.decisions).map(objectOf) : [answer];
      return asked.actions.map((action, at) => decided(action, decisions[at] ?? {}, step.by));
    }
    case "clarification":
      return [
        { ...PLAIN, lead: `${who} answered`, words: saidTo(asked, step.answer), about: asked.question },
      ];
    case "plan":
      return [planVerdict(asked, answer, who)];
    case "budget":
      if (answer.stop === true)
        return [{ ...PLAIN, tone: "bad", lead: `${who} stopped`, object: "instead of raising the budget" }];
      return [
        {
          ...PLAIN,
          lead: `${who} raised the budget`,
          object: `to ${amount(Number(answer.raise_to ?? step.answer), asked.unit)}`,
        },
      ];
    case "payment":
      if (answer.stop === true) return [{ ...PLAIN, tone: "bad", lead: "Stopped", object: "instead of paying" }];
      return [{ ...PLAIN, lead: "Paid in", object: paidIn(payments.get(textOf(answer.token))) }];
    case "client":
      if ("error" in answer)
        return [
          {
            ...PLAIN,
            tone: "bad",
            lead: "Could not be run",
            object: "on your files:",
            name: callOf(asked),
          },
        ];
      return [{ ...PLAIN, lead: "Ran", object: "on your files:", name: callOf(asked) }];
    default:
      return [
        {
          ...PLAIN,
          lead: `${who} answered`,
          words: hasOnlyHidden(step.answer) ? "" : textOf(step.answer),
          about: asked.question,
        },
      ];
  }
}

function paidIn(amount: number | undefined): string {
  return amount === undefined ? "" : sats(amount);
}

/** A tool, and what it was about. */
function callOf({ tool, args }: ClientTool): string {
  const about = ["query", "pattern", "path"].map((key) => args[key]).find((each) => typeof each === "string" && each !== "");
  return [tool, textOf(about)].filter(Boolean).join(" ");
}

function topicOf(asked: Asked): Pick<Verdict, "object" | "name" | "action"> {
  if (asked.kind === "approval") {
    const { verb, object } = titleOf(asked.actions[0]!);
    if (asked.actions.length > 1)
      return { object: `approval of ${asked.actions.length} actions`, name: "", action: null };
    return { object: verb.toLowerCase(), name: object, action: asked.actions[0]! };
  }
  if (asked.kind === "plan")
    return { object: `a plan of ${counted(asked.steps.length, "step")}`, name: "", action: null };
  if (asked.kind === "budget") return { object: "whether to raise the budget", name: "", action: null };
  if (asked.kind === "payment") return { object: "whether to pay", name: "", action: null };
  if (asked.kind === "client") return { object: "", name: callOf(asked), action: null };
  return { object: asked.question || asked.kind, name: "", action: null };
}

function decided(action: Action, decision: JsonObject, by: QuestionStep["by"]): Verdict {
  const { verb, object } = titleOf(action);
  const edited =
    decision.type === "edit" ? changesOf(action, objectOf(objectOf(decision.edited_action).args)) : null;
  const count = Object.keys(edited ?? {}).length;
  const did = {
    approve: "approved",
    edit: `approved with ${counted(count, "change")}`,
    reject: "rejected",
    respond: "answered for",
  };
  const what = did[decision.type as keyof typeof did] ?? "answered";
  const lead =
    by === "grant" ? "Approved, as you said for good:" : `${by === "policy" ? "Automatically" : "You"} ${what}`;
  const always = typeof decision.always === "string" ? ` and always for ${decision.always}` : "";
  return {
    ...PLAIN,
    tone: decision.type === "reject" ? "bad" : "ok",
    lead: lead + always,
    object: verb.toLowerCase(),
    name: object,
    words: textOf(decision.message),
    action,
    edited,
  };
}

/** The arguments that differ; long texts are cut in the log, and equal as far as they go. */
function changesOf({ args }: Action, now: JsonObject): JsonObject {
  const names = [...new Set([...Object.keys(args), ...Object.keys(now)])];
  return Object.fromEntries(
    names.filter((name) => !isAlike(args[name], now[name])).map((name) => [name, now[name] ?? null]),
  );
}

function isAlike(before: JsonValue, logged: JsonValue): boolean {
  if (JSON.stringify(before) === JSON.stringify(logged)) return true;
  const cut = typeof logged === "string" && /^([^]*)… \(([\d,]+) characters\)$/.exec(logged);
  if (!cut || typeof before !== "string") return false;
  return before.startsWith(cut[1]!) && [...before].length === Number(cut[2]!.replaceAll(",", ""));
}

function saidTo({ options }: Clarification, given: JsonValue): string {
  const answer = objectOf(given);
  const chosen = listOf(answer.selected).map(
    (id) => options?.find((option) => option.id === id)?.label ?? textOf(id),
  );
  return [...chosen, textOf(answer.response), textOf(answer.freeform)].filter(Boolean).join("; ");
}

function planVerdict(asked: PlanQuestion, answer: JsonObject, who: string): Verdict {
  const isEdited = "plan" in answer;
  const edited = listOf(objectOf(answer.plan).steps).map(objectOf).map(readStep);
  const steps = edited.length ? edited : asked.steps;
  const object = `the plan${isEdited ? ", with edits" : ""}`;
  if (answer.approved === false || "reason" in answer)
    return {
      ...PLAIN,
      tone: "bad",
      lead: `${who} rejected`,
      object,
      words: hasOnlyHidden(answer.reason) ? "" : textOf(answer.reason),
      steps,
    };
  return { ...PLAIN, lead: `${who} ${answer.approved === true ? "approved" : "answered"}`, object, steps };
}

function hasOnlyHidden(value: JsonValue): boolean {
  return (
    value === HIDDEN ||
    (typeof value === "object" && value !== null && Object.values(value).every((each) => each === HIDDEN))
  );
}
