// @vitest-environment happy-dom
import { act } from "preact/test-utils";
import { afterEach, expect, test, vi } from "vitest";

import { RefusedError } from "../src/client";
import { Listeners } from "../src/files/listeners";
import type { QuestionStep } from "../src/model";
import { choicesFor, covers } from "../src/questions/patterns";
import { openQuestionSummary, QuestionCard } from "../src/questions/QuestionCard";
import { panel } from "./app";

afterEach(() => vi.useRealTimers());

let number = 0;
function question(request: unknown, more: Partial<QuestionStep> = {}): QuestionStep {
  const id = `q${number++}`;
  return {
    type: "question",
    seq: 1,
    time: Date.now() / 1000 - 65,
    fork: null,
    id,
    agent: "deep",
    request,
    answer: null,
    by: "",
    closed: null,
    ...more,
  };
}

const DIFF =
  "Edit /notes/a.md\n\n```diff\n--- /notes/a.md\n+++ /notes/a.md\n@@ -1 +1 @@\n-old word\n+new word\n```\n\nThe agent's reason: &lt;b>better";
const edit = {
  name: "edit_file",
  args: { file_path: "/notes/a.md", old_string: "old", new_string: "new", replace_all: false },
  description: DIFF,
};
const fetch = {
  name: "fetch_page",
  args: { url: "https://a", timeout: 30 },
  description: "Tool execution requires approval\n\nTool: fetch_page\nArgs: {}",
};
const SCHEMA = {
  properties: { url: { type: "string" }, timeout: { type: "integer", maximum: 120 } },
  required: ["url"],
};

function approval(...actions: [action: object, review?: object][]) {
  const review_configs = actions.map(([, review]) => ({
    allowed_decisions: ["approve", "edit", "reject"],
    ...review,
  }));
  return question({
    type: "tool_approval",
    action_requests: actions.map(([action]) => action),
    review_configs,
  });
}

function open(step: QuestionStep) {
  const shown = panel();
  shown.show(<QuestionCard step={step} />);
  const button = (name: string, at = 0) => {
    const found = [...shown.root.querySelectorAll<HTMLElement>("button")].filter(
      (each) => each.textContent === name,
    );
    if (!found[at]) throw new Error(`no button ${name}`);
    return found[at];
  };
  const field = (label: string) => {
    const labels = [...shown.root.querySelectorAll<HTMLLabelElement>("label")];
    const found = labels.find((each) => each.textContent?.startsWith(label))!;
    return document.getElementById(found.htmlFor)!;
  };
  return {
    ...shown,
    button,
    field,
    press: (name: string, at = 0) => shown.click(button(name, at)),
    key: shown.press,
  };
}

const answers = (request: ReturnType<typeof panel>["request"]) =>
  request.mock.calls
    .filter(([type]) => type === "respond")
    .map(([, fields]) => (fields as { answer: unknown }).answer);

test("one action is approved at once, with a real diff and the agent's reason as text", async () => {
  const step = approval([edit]);
  const { root, request, press } = open(step);
  expect(root.querySelector(".dn-action-head")?.textContent).toBe("1Edit/notes/a.md+1 −1");
  expect(root.querySelector(".dn-action-why")?.textContent).toBe("<b>better");
  expect(root.querySelector("ins")?.textContent).toBe("new");
  await press("Approve");
  expect(request).toHaveBeenCalledExactlyOnceWith("respond", {
    question: step.id,
    answer: { decisions: [{ type: "approve" }] },
  });
});

test("a second click finds nothing to do", async () => {
  const { request, press } = open(approval([fetch]));
  request.mockImplementation(() => new Promise(() => {}));
  await press("Approve");
  await press("Approve");
  expect(answers(request)).toHaveLength(1);
});

test("several are decided in any order, undone until the last, and sent together in their order", async () => {
  const { root, request, press, button, field, type } = open(
    approval([edit], [fetch], [{ ...edit, args: {} }]),
  );
  await press("Reject…", 1);
  expect(document.activeElement).toBe(field("Why not?"));
  await type(field("Why not?"), " not now ");
  await press("Reject");
  expect(document.activeElement).toBe(button("Undo"));
  await press("Approve");
  await press("Undo");
  await press("Approve");
  expect(root.querySelector(".dn-meta")?.textContent).toContain("2 of 3 decided");
  expect(request).not.toHaveBeenCalled();
  await press("Approve");
  expect(answers(request)).toEqual([
    { decisions: [{ type: "approve" }, { type: "reject", message: "not now" }, { type: "approve" }] },
  ]);
});

test("Escape closes the reason, keeps what was typed, and decides nothing", async () => {
  const { request, press, button, field, type, key } = open(approval([edit]));
  await press("Reject…");
  await type(field("Why not?"), "because");
  await key(field("Why not?"), "Escape");
  expect(document.activeElement).toBe(button("Reject…"));
  await press("Reject…");
  expect((field("Why not?") as HTMLTextAreaElement).value).toBe("because");
  expect(request).not.toHaveBeenCalled();
});

test("a rejection needs no reason", async () => {
  const { request, press, field } = open(approval([{ ...fetch, args: { tags: ["a", "b"] } }]));
  await press("Reject…");
  expect(document.activeElement).toBe(field("Why not?"));
  await press("Reject");
  expect(answers(request)).toEqual([{ decisions: [{ type: "reject" }] }]);
});

test("only what is allowed is offered; a tool can be answered for", async () => {
  const { root, request, press, field, type, button } = open(
    approval([fetch, { allowed_decisions: ["reject", "respond"] }]),
  );
  expect([...root.querySelectorAll(".dn-action-foot button")].map((each) => each.textContent)).toEqual([
    "Reject…",
    "Answer for it…",
  ]);
  expect(root.querySelector(".dn-form")).toBeNull();
  await press("Answer for it…");
  expect(button("Answer for the tool").getAttribute("aria-disabled")).toBe("true");
  await type(field("What should"), "404");
  await press("Answer for the tool");
  expect(answers(request)).toEqual([{ decisions: [{ type: "respond", message: "404" }] }]);
});

test("arguments are edited in a form; what is invalid blocks approval and says why", async () => {
  const { root, request, press, field, type, button } = open(
    approval([fetch, { args_schema: SCHEMA, always: "*" }]),
  );
  await type(field("Timeout"), "400");
  expect(button("Approve with 1 change").getAttribute("aria-disabled")).toBe("true");
  expect(root.querySelector(".dn-action-foot")?.textContent).toContain("timeout: 120 is the most.");
  await press("Approve with 1 change");
  expect(request).not.toHaveBeenCalled();
  await type(field("Timeout"), "60");
  await type(field("Url"), "https://b");
  expect(root.querySelector(".dn-form")?.textContent).toContain("Changed by you, was https://a");
  expect(root.querySelector(".dn-always")).toBeNull();
  await press("Undo", 0);
  await press("Approve with 1 change");
  const args = { url: "https://a", timeout: 60 };
  expect(answers(request)).toEqual([
    { decisions: [{ type: "edit", edited_action: { name: "fetch_page", args } }] },
  ]);
});

test("an edited write gets a fresh diff, asked for when the person pauses", async () => {
  vi.useFakeTimers();
  const step = approval([edit]);
  const { root, request, press, field, type, show } = open(step);
  request.mockResolvedValue({
    description: DIFF.replace("+new word", "+other word\n+and more").replace("+1 @@", "+1,2 @@"),
  });
  await press("Edit");
  await type(field("New string"), "oth");
  await type(field("New string"), "other");
  expect(root.textContent).toContain("Working out what your edit changes");
  await vi.advanceTimersByTimeAsync(500);
  show(<QuestionCard step={step} />);
  expect(request).toHaveBeenCalledExactlyOnceWith("preview", {
    question: step.id,
    action: 0,
    args: { ...edit.args, new_string: "other" },
  });
  expect(root.querySelector(".dn-action-size")?.textContent).toBe("+2 −1");
  expect(root.textContent).not.toContain("Working out");
});

test("what a write changes in the reader's files is followed until it is decided, and asked for when typing rests", async () => {
  vi.useFakeTimers();
  const told = new Listeners();
  const describe = vi.fn(async (_tool: string, args: object) => `Edit /files/a.md\n\n\`\`\`diff\n@@ -1 +1 @@\n-old\n+${"new_string" in args ? args.new_string : ""} here\n\`\`\``);
  const mine = { ...edit, args: { ...edit.args, file_path: "/files/a.md" } };
  const { root, request, explorer, press, field, type } = open(approval([mine], [fetch]));
  request.mockResolvedValue({ description: "" });
  Object.assign(explorer, { files: { previews: { describe }, shelf: told, serving: { waiting: [] } } });
  const rest = (time = 500) => act(async () => void (await vi.advanceTimersByTimeAsync(time)));
  await act(() => (explorer as unknown as { tell(): void }).tell());
  await rest();
  expect(describe).toHaveBeenCalledTimes(1);
  expect(root.textContent).toContain("new here");
  await press("Edit");
  await type(field("New string"), "oth");
  await rest(100);
  await type(field("New string"), "other");
  await rest();
  expect(describe).toHaveBeenCalledTimes(2);
  expect(root.textContent).toContain("other here");
  told.tell();
  await rest();
  expect(describe).toHaveBeenCalledTimes(3);
  const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
  told.tell();
  await rest();
  expect(describe).toHaveBeenCalledTimes(3);
  visibility.mockRestore();
  document.dispatchEvent(new Event("visibilitychange"));
  await rest();
  expect(describe).toHaveBeenCalledTimes(4);
  await press("Approve with 1 change");
  told.tell();
  await rest();
  expect(describe).toHaveBeenCalledTimes(4);
});

test("always goes with the pattern that was chosen, and with nothing that was changed", async () => {
  const step = approval([edit, { always: "/notes/a.md" }]);
  const { root, request, press, click } = open(step);
  expect(root.querySelector(".dn-always")?.textContent).toContain("/notes/*.md");
  await click(root.querySelector<HTMLElement>(".dn-always input")!);
  await press("Approve");
  expect(answers(request)).toEqual([{ decisions: [{ type: "approve", always: "/notes/*.md" }] }]);
});

test("patterns cover what they are offered for", () => {
  for (const target of ["/notes/a.md", "/a", "/x/.env", "/we[i]rd (1)/*.t?t", "/a/b/c.tar.gz"]) {
    const patterns = choicesFor(target).map((choice) => choice.pattern);
    expect(patterns).toContain(target);
    expect(patterns).toContain("**");
  }
  expect(choicesFor("*").map((choice) => choice.pattern)).toEqual(["*"]);
  expect(covers("/a/*", "/a/b/c")).toBe(false);
  expect(covers("/a/**", "/a/b/c")).toBe(true);
  expect(covers("/a/**/c", "/a/c")).toBe(true);
  expect(covers("*", "/a")).toBe(false);
  expect(covers("/[ab]", "/a")).toBe(false);
  expect(covers("**", "*")).toBe(false);
});

test("a refusal is shown beside the button, which can be pressed again", async () => {
  const { root, request, press } = open(approval([edit]));
  request.mockRejectedValueOnce(new RefusedError("AnswerError", "The answer was refused."));
  await press("Approve");
  expect(root.querySelector("[role=alert]")?.textContent).toBe("The answer was refused.");
  await press("Approve");
  expect(answers(request)).toHaveLength(2);
});

test("what another view has answered is said, with the kernel's reason, and nothing can be pressed", async () => {
  const step = approval([edit]);
  const { root, request, press, show } = open(step);
  request.mockRejectedValueOnce(new RefusedError("QuestionError", "It was answered already."));
  await press("Approve");
  show(
    <QuestionCard
      step={{ ...step, by: "person", answer: { decisions: [{ type: "reject", message: "no" }] }, closed: 5 }}
    />,
  );
  expect(root.querySelector(".dn-note")?.textContent).toBe(
    "Answered in another view. It was answered already.",
  );
  expect(root.querySelector(".dn-decided")?.textContent).toContain("You rejected edit /notes/a.md: “no”");
  expect(root.querySelector("[data-act]")).toBeNull();
});

test("an answer that may have arrived when the kernel was lost is not said to be another's", async () => {
  const step = approval([edit]);
  const { root, request, press, show } = open(step);
  request.mockRejectedValueOnce(new RefusedError("ConnectionLost", "Whether it was taken is not known."));
  await press("Approve");
  expect(root.querySelector("[role=alert]")?.textContent).toBe("Whether it was taken is not known.");
  show(<QuestionCard step={{ ...step, by: "person", answer: { decisions: [{ type: "approve" }] } }} />);
  expect(root.textContent).not.toContain("another view");
});

test.each([
  ["in another thread, as in a fork", { facts: { thread: "main-fork" } }, {}],
  ["put again, since the graph has refused the answer", {}, { seq: 7 }],
])("a question with the id of one that was answered is a new one: %s", async (_, told, changed) => {
  const step = approval([edit], [fetch]);
  const { root, request, press, button, show, tell } = open(step);
  vi.useFakeTimers();
  await press("Approve");
  await press("Approve");
  await act(() => void vi.advanceTimersByTime(50));
  expect(root.textContent).toContain("Sent");
  tell(told);
  show(<QuestionCard step={{ ...step, ...changed }} />);
  expect(root.querySelector(".dn-meta")?.textContent).toContain("0 of 2 decided");
  expect(button("Approve").getAttribute("aria-disabled")).toBeNull();
  await press("Reject…");
  await press("Reject");
  await press("Approve");
  expect(answers(request)).toHaveLength(2);
});

test("what was entered is let go with the line of a decided question, and not before", async () => {
  const step = approval([fetch]);
  const { field, type, show, ui } = open(step);
  await type(field("Url"), "https://mine");
  show(null);
  expect(ui.drafts.size).toBe(1);
  show(<QuestionCard step={{ ...step, by: "person", answer: { decisions: [{ type: "approve" }] } }} />);
  expect(ui.drafts.size).toBe(1);
  show(null);
  expect(ui.drafts.size).toBe(0);
});

test("what was typed and overtaken is said to be unsent; what was sent from here is not", async () => {
  const step = approval([fetch]);
  const closed = { by: "person", answer: { decisions: [{ type: "approve" }] }, closed: 5 } as const;
  const typed = open(step);
  await typed.type(typed.field("Url"), "https://mine");
  typed.show(<QuestionCard step={{ ...step, ...closed }} />);
  expect(typed.root.textContent).toContain(
    "Answered in another view. What you had entered here was not sent.",
  );

  const own = open(step);
  await own.type(own.field("Url"), "https://mine");
  await own.press("Approve with 1 change");
  own.show(<QuestionCard step={{ ...step, ...closed }} />);
  expect(own.root.textContent).not.toContain("another view");

  const idle = open(step);
  idle.show(<QuestionCard step={{ ...step, ...closed }} />);
  expect(idle.root.textContent).not.toContain("another view");
});

test("what was typed is there again after a look at another tab", async () => {
  const step = approval([fetch]);
  const { field, type, show } = open(step);
  await type(field("Url"), "https://mine");
  show(null);
  show(<QuestionCard step={step} />);
  expect((field("Url") as HTMLInputElement).value).toBe("https://mine");
});

test("another question takes none of what was typed into the one before", async () => {
  const { field, type, show } = open(approval([fetch]));
  await type(field("Url"), "https://mine");
  show(<QuestionCard step={approval([fetch])} />);
  expect((field("Url") as HTMLInputElement).value).toBe("https://a");
});

test("several actions say once that they wait for the kernel", () => {
  const { root, connect } = open(approval([edit], [fetch]));
  connect("lost");
  expect(root.textContent?.match(/once reconnected/g)).toHaveLength(1);
});

test("nothing can be sent while disconnected, and a busy kernel is named", async () => {
  const { root, request, press, button, connect } = open(approval([fetch]));
  connect("lost");
  expect(button("Approve").getAttribute("aria-disabled")).toBe("true");
  expect(root.textContent).toContain("Can be answered once reconnected");
  await press("Approve");
  expect(request).not.toHaveBeenCalled();
  connect("busy");
  request.mockImplementation(() => new Promise(() => {}));
  vi.useFakeTimers();
  await press("Approve");
  await act(() => void vi.advanceTimersByTime(50));
  expect(root.textContent).toContain("Sent; the kernel takes it when your cell has ended");
});

test("an answer goes before its card is drawn anew, and a second click finds nothing to send", async () => {
  const { root, request, press, button } = open(approval([fetch]));
  request.mockImplementation(() => new Promise(() => {}));
  vi.useFakeTimers();
  await press("Approve");
  expect(request).toHaveBeenCalledOnce();
  expect(root.textContent).not.toContain("Sending…");
  await press("Approve");
  expect(request).toHaveBeenCalledOnce();
  await act(() => void vi.advanceTimersByTime(50));
  expect(root.textContent).toContain("Sending…");
  expect(button("Approve").getAttribute("aria-disabled")).toBe("true");
});

const choices = {
  type: "clarification_request",
  tool: "ask_choices",
  question: "Which?",
  options: [
    { id: "a", label: "Ay" },
    { id: "b", label: "Bee" },
  ],
  allow_multiple: false,
  allow_freeform: true,
};

test("digits pick, Enter answers, Escape decides nothing", async () => {
  const { root, request, key } = open(question(choices));
  const [first] = root.querySelectorAll<HTMLInputElement>("input");
  await key(first!, "Enter");
  await key(first!, "1");
  await key(first!, "2");
  await key(first!, "7");
  await key(first!, "Escape");
  expect(request).not.toHaveBeenCalled();
  expect([...root.querySelectorAll<HTMLInputElement>("input")].map((each) => each.checked)).toEqual([
    false,
    true,
  ]);
  await key(first!, "Enter");
  expect(answers(request)).toEqual([{ selected: ["b"] }]);
});

test("several can be chosen, in the order of the options, and words added", async () => {
  const { root, request, key, type } = open(question({ ...choices, allow_multiple: true }));
  const [first] = root.querySelectorAll("input");
  for (const digit of ["2", "1"]) await key(first!, digit);
  const words = root.querySelector("textarea")!;
  await type(words, "1 thing more");
  await key(words, "2");
  await key(words, "Enter");
  expect(answers(request)).toEqual([{ selected: ["a", "b"], freeform: "1 thing more" }]);
});

test("words are taken only where they are allowed", () => {
  expect(open(question({ ...choices, allow_freeform: false })).root.querySelector("textarea")).toBeNull();
});

test("a question is answered in words; Shift+Enter is a new line, and so is an Enter of an input method", async () => {
  const { root, request, key, type } = open(question({ ...choices, tool: "ask_user", options: [] }));
  const words = root.querySelector("textarea")!;
  await key(words, "Enter");
  await type(words, " Me ");
  words.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", shiftKey: true, bubbles: true }));
  words.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true }));
  words.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true }));
  expect(request).not.toHaveBeenCalled();
  await key(words, "Enter");
  expect(answers(request)).toEqual([{ response: "Me" }]);
});

test("a budget is raised, by default to the double, or the run ended", async () => {
  const request = { type: "budget_exhausted", unit: "usd", limit: 2, spent: 2.05 };
  const raised = open(question(request));
  expect(raised.root.textContent).toContain("$2.05 of $2.00 are spent");
  await raised.press("Raise to $4.00");
  expect(answers(raised.request)).toEqual([{ raise_to: 4 }]);

  const wrong = open(question(request));
  await wrong.type(wrong.field("New limit"), "2");
  expect(wrong.root.textContent).toContain("$2.05 are spent already.");
  await wrong.press("Raise");
  expect(wrong.request).not.toHaveBeenCalled();
  await wrong.press("Stop here");
  expect(answers(wrong.request)).toEqual([{ stop: true }]);
});

test("a tool of the client's says that it runs here, and can be refused", async () => {
  const { root, request, press } = open(
    question({ type: "client_tool_execution", tool: "local_read", tool_call_id: "c", args: { path: "/a" } }),
  );
  expect(root.textContent).toContain("local_read runs here, and only its result goes to the kernel");
  await press("Refuse");
  expect(answers(request)).toEqual([{ error: expect.stringContaining("does not want") }]);
});

test("anything else is shown as it is, and answered in words or in JSON", async () => {
  const step = question({ message: "Deploy <img src=x onerror=alert(1)>?", to: ["prod"] });
  const { root, request, press, type, click, button } = open(step);
  expect(root.querySelector(".dn-ask-q")?.textContent).toBe("Deploy <img src=x onerror=alert(1)>?");
  expect(root.querySelector("img")).toBeNull();
  expect(root.querySelector("pre")?.textContent).toBe(JSON.stringify({ to: ["prod"] }, null, 2));
  await type(root.querySelector("textarea")!, '{"ok": tru');
  await click(root.querySelector<HTMLElement>("[role=switch]")!);
  expect(button("Answer as JSON").getAttribute("aria-disabled")).toBe("true");
  await type(root.querySelector("textarea")!, '{"ok": true}');
  await press("Answer as JSON");
  expect(answers(request)).toEqual([{ ok: true }]);

  const words = open(question("Go on?"));
  await words.type(words.root.querySelector("textarea")!, "yes");
  await words.press("Answer");
  expect(answers(words.request)).toEqual(["yes"]);
});

test.each([
  [null],
  [7],
  [[1, 2]],
  [{}],
  [{ type: "constructor" }],
  [{ type: "tool_approval" }],
  [{ type: "tool_approval", action_requests: [{}], review_configs: [] }],
  [{ type: "plan_approval", plan: 3 }],
  [{ type: "clarification_request", question: {} }],
])("%j can be asked and answered", async (request) => {
  const step = question(request);
  const shown = open(step);
  await shown.type(shown.root.querySelector("textarea")!, "well");
  await shown.press("Answer");
  expect(answers(shown.request)).toEqual(["well"]);
  expect(openQuestionSummary(step)).not.toBe("");
});

test("who asks is said if it is not the session's own agent, and how long it has waited", () => {
  const { root } = open(question(choices, { agent: "table\u202ereader" }));
  expect(root.querySelector(".dn-ask-head")?.textContent).toMatch(/from table\\u202ereader.*waiting 1:0\d/);
  expect(open(question(choices)).root.querySelector(".dn-ask-from")).toBeNull();
});

test("a summary is one plain line", () => {
  expect(openQuestionSummary(approval([edit]))).toBe("Approve: Edit /notes/a.md?");
  expect(openQuestionSummary(approval([edit], [fetch]))).toBe("2 actions need your decision");
  expect(openQuestionSummary(question({ ...choices, question: "One\n\u202etwo" }))).toBe("One \\u202etwo");
});
