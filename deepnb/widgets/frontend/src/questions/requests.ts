/** What was asked, in a form that can be shown: the shapes of `deepnb.interrupts`, or anything else. */

import type { QuestionStep } from "../model";
import { sats } from "../money/sats";
import type { JsonValue } from "../protocol";
import { oneLine, textOf } from "../parts/legible";
import { object } from "../store/fields";
import { findDiff } from "./unified";

export type JsonObject = Record<string, JsonValue>;
export type DecisionType = "approve" | "edit" | "reject" | "respond";

export interface Action {
  readonly name: string;
  readonly args: JsonObject;
  readonly description: string;
  readonly allowed: readonly DecisionType[];
  /** What a pattern must cover for an approval for good; null if there can be none. */
  readonly always: string | null;
  readonly schema: JsonObject | null;
}

export interface Option {
  readonly id: string;
  readonly label: string;
}

export interface PlanStep {
  readonly id: string;
  readonly title: string;
  readonly tool: string;
  readonly input: string;
  readonly rationale: string;
  readonly depends_on: readonly string[];
}

export interface Audit {
  readonly passed: boolean;
  readonly summary: string;
  readonly policy: string;
  readonly checks: readonly { name: string; status: "ok" | "warn" | "bad"; note: string }[];
  readonly remarks: readonly string[];
}

export interface Approval {
  readonly kind: "approval";
  readonly actions: readonly Action[];
}
export interface Clarification {
  readonly kind: "clarification";
  readonly question: string;
  /** Null if it is to be answered in words. */
  readonly options: readonly Option[] | null;
  readonly multiple: boolean;
  readonly freeform: boolean;
}
export interface PlanQuestion {
  readonly kind: "plan";
  readonly question: string;
  readonly steps: readonly PlanStep[];
  readonly tools: readonly string[];
  readonly audit: Audit | null;
  /** How many drafts the audit has refused. */
  readonly refusals: number;
}
export interface BudgetQuestion {
  readonly kind: "budget";
  readonly unit: string;
  readonly limit: number;
  readonly spent: number;
}
export interface PaymentQuestion {
  readonly kind: "payment";
  /** In sat, of one call. */
  readonly price: number;
  readonly balance: number;
  readonly mints: readonly string[];
}
export interface ClientTool {
  readonly kind: "client";
  readonly tool: string;
  readonly args: JsonObject;
}
export interface OtherQuestion {
  readonly kind: "other";
  readonly type: string;
  readonly question: string;
  /** What else was in it, for the person to read; undefined if nothing. */
  readonly rest: JsonValue | undefined;
}
export type Asked =
  | Approval
  | Clarification
  | PlanQuestion
  | BudgetQuestion
  | PaymentQuestion
  | ClientTool
  | OtherQuestion;

/** Reads a request; any graph may ask anything, so only what has the shape is taken for one of ours. */
export function readRequest(request: JsonValue): Asked {
  const asked = objectOf(request);
  const type = "action_requests" in asked ? "tool_approval" : asked.type;
  const read = typeof type === "string" && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  return read?.(asked) ?? other(request);
}

/** One plain line about an open question, for where the card is not in sight. */
export function openQuestionSummary(step: QuestionStep): string {
  const asked = readRequest(step.request);
  switch (asked.kind) {
    case "approval": {
      const [first, ...others] = asked.actions;
      if (others.length) return `${asked.actions.length} actions need your decision`;
      const { verb, object } = titleOf(first!);
      return oneLine(`Approve: ${verb}${object ? ` ${object}` : ""}?`);
    }
    case "plan":
      return `Approve the plan of ${asked.steps.length} steps?`;
    case "budget":
      return "The budget is used up. Raise it?";
    case "payment":
      return `A call costs ${sats(asked.price)}. Pay to go on?`;
    case "client":
      return oneLine(`${asked.tool} waits for the files in your browser`);
    default:
      return oneLine(asked.question) || "The agent waits for an answer";
  }
}

const WRITES: Record<string, { verb: string; path: string }> = {
  write_file: { verb: "Write", path: "file_path" },
  edit_file: { verb: "Edit", path: "file_path" },
  patch_file: { verb: "Edit", path: "file_id" },
};

export function isWrite(name: string): boolean {
  return Object.hasOwn(WRITES, name);
}

/** What an action does, in a word, and to what. */
export function titleOf(action: Pick<Action, "name" | "args" | "description">): {
  verb: string;
  object: string;
} {
  const write = isWrite(action.name) ? WRITES[action.name] : undefined;
  if (!write) {
    const words = action.name.replace(/_+/g, " ").trim();
    return { verb: words.charAt(0).toUpperCase() + words.slice(1), object: "" };
  }
  const path = action.args[write.path];
  const said = /^(Write|Replace|Create|Edit) (.*)/.exec(action.description);
  return { verb: said?.[1] ?? write.verb, object: typeof path === "string" ? path : (said?.[2] ?? "") };
}

/** What is said about an action beside what its head and its arguments show. */
export function proseOf(action: Action, description = action.description): string {
  const found = findDiff(description);
  const text = found ? `${found.before}\n\n${found.after}` : description;
  return text
    .replace(/^Tool execution requires approval\s+Tool: [^]*$/, "")
    .replace(isWrite(action.name) ? /^(Write|Replace|Create|Edit) .*\n*/ : "", "")
    .replace(/^The agent's reason: /m, "")
    .replaceAll("&lt;", "<") // written so for Markdown; here it is text
    .trim();
}

const READERS: Record<string, (asked: JsonObject) => Asked | null> = {
  tool_approval: (asked) => {
    const [actions, reviews] = [listOf(asked.action_requests), listOf(asked.review_configs)];
    if (!actions.length || actions.length !== reviews.length) return null;
    return {
      kind: "approval",
      actions: actions.map((action, at) => readAction(action, objectOf(reviews[at]))),
    };
  },
  clarification_request: (asked) => {
    if (typeof asked.question !== "string" || !Array.isArray(asked.options)) return null;
    const options = asked.options
      .map(objectOf)
      .map(({ id, label }) => ({ id: textOf(id), label: textOf(label) || textOf(id) }));
    return {
      kind: "clarification",
      question: asked.question,
      options: asked.tool === "ask_choices" ? options : null,
      multiple: asked.allow_multiple === true,
      freeform: asked.allow_freeform === true,
    };
  },
  plan_approval: (asked) => {
    const plan = objectOf(asked.plan);
    if (!Array.isArray(plan.steps)) return null;
    const steps = plan.steps.map(objectOf).map(readStep);
    const tools = [...listOf(asked.tools).map(textOf), ...steps.map((step) => step.tool)];
    return {
      kind: "plan",
      question: textOf(plan.question),
      steps,
      tools: [...new Set(tools)],
      audit: asked.audit ? readAudit(objectOf(asked.audit)) : null,
      refusals: Number(asked.refusals) || 0,
    };
  },
  budget_exhausted: (asked) => {
    if (typeof asked.spent !== "number") return null;
    return { kind: "budget", unit: textOf(asked.unit), spent: asked.spent, limit: Number(asked.limit) || 0 };
  },
  payment_exhausted: (asked) => {
    const { price, balance, mints } = asked;
    if (typeof price !== "number" || typeof balance !== "number" || !Array.isArray(mints)) return null;
    return { kind: "payment", price, balance, mints: mints.map(textOf) };
  },
  client_tool_execution: (asked) => {
    if (typeof asked.tool !== "string") return null;
    return { kind: "client", tool: asked.tool, args: objectOf(asked.args) };
  },
};

function readAction(asked: JsonValue, review: JsonObject): Action {
  const action = objectOf(asked);
  return {
    name: textOf(action.name),
    args: objectOf(action.args),
    description: textOf(action.description),
    allowed: listOf(review.allowed_decisions) as DecisionType[],
    always: typeof review.always === "string" ? review.always : null,
    schema: review.args_schema ? objectOf(review.args_schema) : null,
  };
}

export function readStep(step: JsonObject): PlanStep {
  return {
    id: textOf(step.id),
    title: textOf(step.title),
    tool: textOf(step.tool),
    input: textOf(step.input),
    rationale: textOf(step.rationale),
    depends_on: listOf(step.depends_on).map(textOf),
  };
}

function readAudit(audit: JsonObject): Audit {
  return {
    passed: audit.passed === true, // a verdict that cannot be read is a refusal, never a pass
    summary: textOf(audit.summary),
    policy: textOf(audit.policy),
    remarks: listOf(audit.remarks).map(textOf),
    checks: listOf(audit.checks)
      .map(objectOf)
      .map(({ name, status, note }) => ({
        name: textOf(name),
        status: status === "ok" || status === "warn" ? status : "bad",
        note: textOf(note),
      })),
  };
}

function other(request: JsonValue): OtherQuestion {
  const { type, ...rest } = objectOf(request);
  const key = ["question", "message", "description", "text"].find(
    (each) => rest[each] && typeof rest[each] === "string",
  );
  if (!key) {
    const isText = typeof request === "string";
    return {
      kind: "other",
      type: textOf(type),
      question: isText ? request : "",
      rest: isText ? undefined : request,
    };
  }
  const { [key]: question, ...more } = rest;
  return {
    kind: "other",
    type: textOf(type),
    question: textOf(question),
    rest: Object.keys(more).length ? more : undefined,
  };
}

export function objectOf(value: JsonValue): JsonObject {
  return (object(value) ?? {}) as JsonObject;
}

export function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
