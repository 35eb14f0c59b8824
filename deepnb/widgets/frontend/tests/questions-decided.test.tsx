// @vitest-environment happy-dom
import { expect, test } from "vitest";

import type { QuestionStep } from "../src/model";
import { QuestionCard } from "../src/questions/QuestionCard";
import { panel } from "./app";

const action = (name: string, args: object, description = "") => ({ name, args, description });
const approval = (...actions: object[]) => ({
  type: "tool_approval",
  action_requests: actions,
  review_configs: actions.map(() => ({ allowed_decisions: ["approve"] })),
});
const WRITE = action("write_file", { file_path: "/a.md", content: "x".repeat(400) });
const CHOICES = {
  type: "clarification_request",
  tool: "ask_choices",
  question: "Which?",
  options: [{ id: "a", label: "Ay" }],
  allow_multiple: false,
  allow_freeform: true,
};
const PLAN = { type: "plan_approval", plan: { steps: [{ id: "a", title: "Look" }] }, audit: null };

function decided(request: unknown, answer: unknown, by: QuestionStep["by"] = "person") {
  const { root, show } = panel();
  show(
    <QuestionCard
      step={{
        type: "question",
        seq: 1,
        time: 0,
        fork: null,
        id: "q",
        agent: "",
        request,
        answer,
        by,
        closed: 60,
      }}
    />,
  );
  expect(root.querySelector("[data-act], .dn-ask")).toBeNull();
  return [...root.querySelectorAll(".dn-decided > .dn-cut")].map((line) => line.textContent);
}

const long = `${"x".repeat(300)}… (400 characters)`;

test.each([
  [
    approval(WRITE),
    { decisions: [{ type: "approve", always: "/**" }] },
    "person",
    ["You approved and always for /** write /a.md"],
  ],
  [approval(WRITE), { decisions: [{ type: "approve" }] }, "policy", ["Automatically approved write /a.md"]],
  [
    approval(WRITE),
    { decisions: [{ type: "approve" }] },
    "grant",
    ["Approved, as you said for good: write /a.md"],
  ],
  [approval(WRITE), { type: "respond", message: "done" }, "person", ["You answered for write /a.md: “done”"]],
  [
    approval(WRITE),
    {
      decisions: [
        { type: "edit", edited_action: { name: "write_file", args: { file_path: "/b.md", content: long } } },
      ],
    },
    "person",
    ["You approved with 1 change write /a.md"],
  ],
  [
    approval(WRITE, action("fetch_page", {})),
    { decisions: [{ type: "approve" }, { type: "reject", message: "<b>no" }] },
    "person",
    ["You approved write /a.md", "You rejected fetch page: “<b>no”"],
  ],
  [approval(WRITE), null, "stop", ["Not answered, the run was stopped: write /a.md"]],
  [CHOICES, { selected: ["a"], freeform: "and more" }, "person", ["You answered “Ay; and more” to “Which?”"]],
  [{ ...CHOICES, tool: "ask_user" }, { response: "Me" }, "person", ["You answered “Me” to “Which?”"]],
  [
    { type: "budget_exhausted", unit: "tokens", limit: 5, spent: 6 },
    { raise_to: 20000 },
    "person",
    ["You raised the budget to 20,000 tokens"],
  ],
  [
    { type: "budget_exhausted", unit: "usd", limit: 5, spent: 6 },
    { stop: true },
    "person",
    ["You stopped instead of raising the budget"],
  ],
  [PLAN, { approved: true }, "person", ["You approved the plan"]],
  [PLAN, { approved: true, plan: { steps: [] } }, "policy", ["Automatically approved the plan, with edits"]],
  [PLAN, { approved: false, reason: "No" }, "person", ["You rejected the plan: “No”"]],
  [PLAN, { approved: "…" }, "person", ["You answered the plan"]],
  [
    { type: "client_tool_execution", tool: "read", args: {} },
    { error: "…" },
    "person",
    ["Could not be run on your files: read"],
  ],
  ["Go on?", "…", "person", ["You answered  to “Go on?”"]],
  [{ question: "Go on?" }, null, "stop", ["Not answered, the run was stopped: Go on?"]],
] as const)("%j answered with %j by %s", (request, answer, by, lines) => {
  expect(decided(request, answer, by).map((line) => line?.trim())).toEqual(lines);
});

test("a line opens to what was asked and what was changed", () => {
  decided(approval(WRITE), {
    decisions: [
      { type: "edit", edited_action: { name: "write_file", args: { file_path: "/b.md", content: long } } },
    ],
  });
  expect([...document.querySelectorAll("dl")[0]!.children].map((each) => each.textContent)).toEqual([
    "file_path",
    "/b.md",
  ]);
  expect(document.querySelectorAll("dl")[1]?.textContent).toContain("/a.md");
});
