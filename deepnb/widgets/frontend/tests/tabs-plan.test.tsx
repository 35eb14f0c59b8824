// @vitest-environment happy-dom
import { act } from "preact/test-utils";
import { expect, test } from "vitest";

import { RefusedError } from "../src/client";
import type { Plan as PlanOf, Todo } from "../src/model";
import { Plan } from "../src/tabs/Plan";
import * as drafts from "../src/tabs/planDraft";
import { panel } from "./app";

const todo = (content: string, status: Todo["status"] = "pending"): Todo => ({
  content,
  status,
  began: status === "pending" ? null : 100,
  ended: status === "completed" ? 144 : null,
});
const PLAN: PlanOf = {
  seq: 7,
  by: "agent",
  todos: [todo("read", "completed"), todo("check", "in_progress"), todo("weigh"), todo("write")],
};
const contents = (draft: drafts.Draft) => draft.items.map((item) => item.content);

async function editing() {
  const view = panel({ plan: PLAN });
  view.show(<Plan />);
  await view.click(view.find("button", "Edit"));
  return view;
}

test("it says how far the agent is", () => {
  const { show, root, find } = panel({ plan: PLAN });
  show(<Plan />);
  expect(root.textContent).toContain("1 of 4 done");
  expect(find("[role=progressbar]").getAttribute("aria-valuenow")).toBe("1");
  expect([...root.querySelectorAll(".dn-todo")].map((row) => row.getAttribute("data-s"))).toEqual([
    "done",
    "now",
    null,
    null,
  ]);
});

test("without a plan it says when one comes, or that none will", () => {
  const { show, root, tell } = panel();
  show(<Plan />);
  expect(root.textContent).toContain("appears here");
  tell({ facts: { has_todos: false } });
  expect(root.textContent).toContain("keeps no plan");
});

test("what is edited, added, removed, moved and skipped is sent with the list it was made for", async () => {
  const { find, click, type, press, request, ui } = await editing();
  await type(find("textarea[aria-label='Step 3']"), "weigh both");
  await click(find("button", "Add a step"));
  await type(find("textarea[aria-label='Step 5']"), "  thank them ");
  await press(find("button", "Move step 5"), "ArrowUp");
  expect(ui.announcement).toBe("Moved to place 4 of 5.");
  expect(document.activeElement?.getAttribute("aria-label")).toContain("Move step 4");
  await click(find("button", "Remove step 5"));
  await click(find("button", "Skip: check"));
  await click(find("button", "Save"));
  expect(request).toHaveBeenCalledExactlyOnceWith("edit_todos", {
    seen: 7,
    todos: [
      { content: "read", status: "completed" },
      { content: "check", status: "completed" },
      { content: "weigh both", status: "pending" },
      { content: "thank them", status: "pending" },
    ],
  });
  expect(find("[role=status]", "Sent.")).toBeTruthy();
});

test("a step that has begun can only be skipped", async () => {
  const { root } = await editing();
  expect(root.querySelectorAll("textarea")).toHaveLength(2);
  expect(root.querySelectorAll(".dn-grip")).toHaveLength(2);
  const draft = drafts.draftOf(PLAN);
  expect(drafts.moved(draft, draft.items[2]!.key, 1)).toBe(draft);
});

test("nothing changed is nothing to save", async () => {
  const { find, type } = await editing();
  expect((find("button", "Save") as HTMLButtonElement).disabled).toBe(true);
  await type(find("textarea[aria-label='Step 3']"), "weigh more");
  expect((find("button", "Save") as HTMLButtonElement).disabled).toBe(false);
});

test("a refusal is shown, and what was written stays", async () => {
  const { find, type, click, request } = await editing();
  request.mockRejectedValue(new RefusedError("SessionError", "The agent has changed it."));
  await type(find("textarea[aria-label='Step 3']"), "mine");
  await click(find("button", "Save"));
  expect(find("[role=alert]").textContent).toBe("The agent has changed it.");
  expect((find("textarea[aria-label='Step 3']") as HTMLTextAreaElement).value).toBe("mine");
});

test("another list of the agent's is shown beside the person's, and does not replace it", async () => {
  const { find, type, click, tell, request } = await editing();
  await type(find("textarea[aria-label='Step 3']"), "mine");
  tell({ plan: { ...PLAN, seq: 9, todos: [todo("read", "completed"), todo("ask Valentia", "in_progress")] } });
  expect(find("[role=alert]").textContent).toContain("ask Valentia, under way");
  expect((find("button", "Save") as HTMLButtonElement).disabled).toBe(true);
  await click(find("button", "Keep mine"));
  await click(find("button", "Save"));
  expect(request).toHaveBeenCalledExactlyOnceWith("edit_todos", {
    seen: 9,
    todos: [
      { content: "read", status: "completed" },
      { content: "ask Valentia", status: "in_progress" },
      { content: "mine", status: "pending" },
      { content: "write", status: "pending" },
    ],
  });
});

test("that the agent gets further interrupts nobody", async () => {
  const { find, type, click, tell, root, request } = await editing();
  await type(find("textarea[aria-label='Step 4']"), "write it down");
  const further = [todo("read", "completed"), todo("check", "completed"), todo("weigh", "in_progress"), todo("write")];
  tell({ plan: { ...PLAN, seq: 8, todos: further } });
  expect(root.querySelector("[role=alert]")).toBeNull();
  await click(find("button", "Save"));
  expect(request.mock.calls[0]![1]).toMatchObject({ seen: 8 });
  expect((request.mock.calls[0]![1] as { todos: unknown[] }).todos.at(-1)).toEqual({
    content: "write it down",
    status: "pending",
  });
});

test("a draft outlives a look at another tab", async () => {
  const { show, find, type } = await editing();
  await type(find("textarea[aria-label='Step 3']"), "mine");
  show(<p>another tab</p>);
  show(<Plan />);
  expect((find("textarea[aria-label='Step 3']") as HTMLTextAreaElement).value).toBe("mine");
});

test("steps with the same text are told apart", () => {
  const twice: PlanOf = { seq: 1, by: "agent", todos: [todo("again"), todo("again")] };
  const next: PlanOf = { seq: 2, by: "agent", todos: [todo("again", "completed"), todo("again")] };
  expect(contents(drafts.onto(drafts.draftOf(twice), next))).toEqual(["again", "again"]);
});

test("a step is dragged by its grip past the middle of another, though never before one that has begun", async () => {
  const { find, root } = await editing();
  const list = find("ol");
  list.setPointerCapture = () => {};
  const steps = () => [...root.querySelectorAll<HTMLTextAreaElement>("textarea")].map((area) => area.value);
  const point = (target: Element, type: string, clientY = 0) =>
    act(async () => void target.dispatchEvent(new PointerEvent(type, { clientY, button: 0, pointerId: 1, bubbles: true })));
  for (const row of list.children)
    row.getBoundingClientRect = () => {
      const top = 100 * [...list.children].indexOf(row);
      return { top, bottom: top + 100 } as DOMRect;
    };
  await point(list, "pointermove", 390);
  await point(find("button", "Move step 3"), "pointerdown");
  await point(list, "pointermove", 340);
  await point(list, "pointermove", 20);
  expect(steps()).toEqual(["weigh", "write"]);
  await point(list, "pointermove", 360);
  expect(steps()).toEqual(["write", "weigh"]);
  await point(list, "pointerup");
  await point(list, "pointermove", 210);
  expect(steps()).toEqual(["write", "weigh"]);
});
