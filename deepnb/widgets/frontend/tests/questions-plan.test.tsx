// @vitest-environment happy-dom
import { expect, test } from "vitest";

import type { QuestionStep } from "../src/model";
import {
  addStep,
  countEdits,
  freshPlan,
  keptSteps,
  mayWaitFor,
  moveStep,
  putBack,
  removeStep,
} from "../src/questions/plan";
import { QuestionCard } from "../src/questions/QuestionCard";
import type { PlanStep } from "../src/questions/requests";
import { panel } from "./app";

const step = (id: string, ...depends_on: string[]): PlanStep => ({
  id,
  title: `Do ${id}`,
  tool: "search",
  input: "x",
  rationale: "",
  depends_on,
});
const STEPS = [step("a"), step("b", "a"), step("c", "a", "b")];

test("a removed step is waited for by none, and comes back with all that waited for it", () => {
  const removed = removeStep(freshPlan(STEPS), "a", STEPS);
  expect(keptSteps(removed).map((each) => each.depends_on)).toEqual([[], ["b"]]);
  expect(countEdits(removed, STEPS)).toBe(1);
  expect(keptSteps(putBack(removed, "a"))).toEqual(STEPS);
  expect(countEdits(putBack(removed, "a"), STEPS)).toBe(0);
});

test("nothing waits for a step that never was", () => {
  expect(keptSteps(freshPlan([step("a", "ghost")]))[0]?.depends_on).toEqual([]);
});

test("moving counts once, however often, and not if all is where it was", () => {
  const moved = moveStep(moveStep(freshPlan(STEPS), "a", 2), "b", 1);
  expect(moved.steps.map((each) => each.id)).toEqual(["c", "b", "a"]);
  expect(countEdits(moved, STEPS)).toBe(1);
  expect(countEdits(moveStep(moveStep(freshPlan(STEPS), "a", 2), "a", 0), STEPS)).toBe(0);
  expect(countEdits(moveStep(removeStep(freshPlan(STEPS), "b", STEPS), "a", 1), STEPS)).toBe(1);
  expect(moveStep(freshPlan(STEPS), "a", -1).steps).toBe(STEPS);
});

test("an added step has an id of its own, and leaves nothing behind when it goes", () => {
  const added = addStep(freshPlan([...STEPS, step("added-5")]), "search");
  expect(new Set(added.steps.map((each) => each.id)).size).toBe(5);
  expect(removeStep(added, added.steps[4]!.id, STEPS)).toMatchObject({ removed: [], editing: null });
});

test("no step may wait for one that waits for it", () => {
  expect(mayWaitFor(STEPS, "a")).toEqual([]);
  expect(mayWaitFor(STEPS, "c").map((each) => each.id)).toEqual(["a", "b"]);
});

const AUDIT = {
  passed: true,
  summary: "Fine.",
  policy: "POLICY.md",
  checks: [{ name: "Tools", status: "warn", note: "one" }],
  remarks: ["Careful."],
};

function open(request: object = {}) {
  const shown = panel();
  const question: QuestionStep = {
    type: "question",
    seq: 1,
    time: 0,
    fork: null,
    id: `p${Math.random()}`,
    agent: "deep",
    answer: null,
    by: "",
    closed: null,
    request: { type: "plan_approval", plan: { steps: STEPS }, audit: AUDIT, tools: ["fetch"], ...request },
  };
  shown.show(<QuestionCard step={question} />);
  return {
    ...shown,
    answer: () => (shown.request.mock.calls[0]?.[1] as { answer: unknown } | undefined)?.answer,
  };
}

test("a plan that was not touched is approved without being sent back", async () => {
  const { find, click, answer } = open();
  await click(find(".dn-btn-solid", "Approve"));
  expect(answer()).toEqual({ approved: true });
});

test("steps are edited, removed and moved by keyboard, and the button counts it", async () => {
  const { root, ui, find, click, press, type, answer } = open();
  await click(find("button", "Remove step 2"));
  expect(document.activeElement).toBe(find("button", "Put back"));
  await press(find("button", "Move step 1"), "ArrowDown");
  await press(find("button", "Move step 1"), "ArrowDown");
  expect(ui.announcement).toBe("Moved to place 3 of 3");
  expect(document.activeElement).toBe(root.querySelector("[data-grip=a]"));
  await click(find("button", "Edit step 1"));
  await type(find(".dn-pstep textarea"), "Do it well");
  await type(find(".dn-pstep input"), "y");
  expect(root.querySelectorAll("option")).toHaveLength(2);
  await press(find(".dn-pstep textarea"), "Escape");
  expect(find(".dn-pstep b", "Do it well").closest("li")?.textContent).toContain("after step 2");
  await click(find(".dn-btn-solid", "Approve with 3 edits"));
  const c = { ...STEPS[2], title: "Do it well", input: "y", depends_on: ["a"] };
  expect(answer()).toEqual({ approved: true, plan: { steps: [c, STEPS[0]] } });
});

test("a new step needs a title, and a plan a step", async () => {
  const { root, find, click, type, answer } = open();
  await click(find("button", "Add a step"));
  expect(document.activeElement).toBe(find(".dn-pstep textarea"));
  expect(root.textContent).toContain("Step 4 needs a title.");
  await click(find(".dn-btn-solid", "Approve"));
  expect(answer()).toBeUndefined();
  await type(find(".dn-pstep textarea"), "One more");
  await click(find("button", "Step 3"));
  await click(find("button", "Done"));
  await click(find(".dn-btn-solid", "Approve with 1 edit"));
  expect(answer()).toMatchObject({
    plan: { steps: [...STEPS, { title: "One more", tool: "fetch", depends_on: ["c"] }] },
  });

  const empty = open();
  for (let left = 3; left; left--) await empty.click(empty.find("button", "Remove step 1"));
  expect(empty.root.textContent).toContain("A plan needs a step.");
  await empty.click(empty.find("button", "Reset edits"));
  await empty.click(empty.find(".dn-btn-solid", "Approve"));
  expect(empty.answer()).toEqual({ approved: true });
});

test("a plan is rejected with a reason", async () => {
  const { find, click, type, answer } = open();
  await click(find("button", "Reject…"));
  await type(find(".dn-ask-words textarea"), "Too long");
  await click(find(".dn-btn-solid", "Reject"));
  expect(answer()).toEqual({ approved: false, reason: "Too long" });
});

test("an audit whose verdict cannot be read has not passed", () => {
  expect(open().root.querySelector(".dn-tag")?.textContent).toBe("Audit: passed, 1 remark");
  const { root } = open({ audit: { passed: "yes", checks: [{ name: "Tools", status: "?" }] } });
  expect(root.querySelector(".dn-tag")?.textContent).toBe("Audit: not passed");
  expect(root.querySelector(".dn-audit")?.textContent).toContain("refused");
  expect(open({ audit: null }).root.querySelector(".dn-audit")).toBeNull();
});

test("a plan that the audit has refused says so, why, and how often", async () => {
  const refused = { ...AUDIT, passed: false, summary: "The plan breaks the policy's rules.", remarks: ["Step 3 uses search_web.", "<b>No</b>"] };
  const { root, find, click, answer } = open({ audit: refused, refusals: 5 });
  expect(find(".dn-ask-title").textContent).toBe("Approve this plan against its audit?");
  expect(root.querySelector(".dn-tag")?.textContent).toBe("Audit: not passed, 2 reasons");
  expect(root.textContent).toContain("5 drafts refused, now you decide");
  expect([...find("[aria-label=Reasons]").children].map((each) => each.textContent)).toEqual(refused.remarks);
  await click(find(".dn-btn-solid", "Approve all the same"));
  expect(answer()).toEqual({ approved: true });
  expect(open({ refusals: 1 }).root.textContent).toContain("1 earlier draft refused");
});
