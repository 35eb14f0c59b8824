import { act } from "preact/test-utils";
import { beforeAll, expect, test, vi } from "vitest";

import { Chat } from "../src/chat/Chat";
import { spoken } from "../src/chat/spoken";
import type { Step, Turn } from "../src/model";
import { NO_USAGE } from "../src/store/draft";
import { panel, type Shown } from "./app";

beforeAll(() => {
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
});

const base = { seq: 1, time: 1, fork: null };
const turn = (more: Partial<Turn> = {}): Turn => ({
  run: "r1", question: "Why?", time: 1, status: "done", why: "", steps: [], usage: NO_USAGE, seconds: 1, since: 1, ended: 2, fork: null, ...more,
});
const said = (text: string, state: "whole" | "writing" = "whole"): Step => ({ type: "text", ...base, id: "m", text, state });

async function chat(shown: Shown) {
  const expect = vi.fn(() => vi.fn());
  const made = panel({ expect, ...shown });
  await made.show(<Chat />);
  return { ...made, expect };
}

const input = (root: Element) => root.querySelector<HTMLTextAreaElement>("textarea[aria-label=Message]")!;

async function type(root: Element, text: string): Promise<void> {
  await act(async () => {
    input(root).value = text;
    input(root).dispatchEvent(new Event("input", { bubbles: true }));
  });
}

const press = (target: Element, key: string, more: KeyboardEventInit = {}) =>
  act(async () => void target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more })));

const button = (root: Element, name: string) =>
  [...root.querySelectorAll("button")].find((each) => (each.getAttribute("aria-label") ?? each.textContent?.trim()) === name);

test("Enter sends, and the message is seen at once; Shift+Enter and an input method do not", async () => {
  const { root, request, expect: expected, ui } = await chat({});
  await type(root, "  Why?  ");
  await press(input(root), "Enter", { shiftKey: true });
  await press(input(root), "Enter", { isComposing: true });
  expect(request).not.toHaveBeenCalled();
  await press(input(root), "Enter");
  expect(request).toHaveBeenCalledExactlyOnceWith("ask", { text: "Why?" });
  expect(expected).toHaveBeenCalledWith("Why?");
  expect(ui.draft).toBe("");
});

test("an Enter that comes before what was typed is drawn sends it too", async () => {
  const { root, request } = await chat({});
  await act(async () => {
    input(root).value = "Why?";
    input(root).dispatchEvent(new Event("input", { bubbles: true }));
    input(root).dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });
  expect(request).toHaveBeenCalledExactlyOnceWith("ask", { text: "Why?" });
});

test("calls that have run on the reader's files are one line, and what waits or has failed stands by itself", async () => {
  const ran = (seq: number, tool: string, more = {}): Step => ({
    type: "question", ...base, seq, id: `q${seq}`, agent: "deep", closed: 2, answer: { result: "…" }, by: "person",
    request: { type: "client_tool_execution", tool, args: { path: `/${seq}.md` } }, ...more,
  });
  const tool = (seq: number): Step => ({ type: "tool", ...base, seq, id: `c${seq}`, name: "read_file", args: {}, state: "ok", result: "", seconds: 1, line: "" });
  const steps = [tool(1), ran(2, "search_files"), tool(3), ran(4, "read_file"), ran(5, "read_file"), ran(6, "read_file", { answer: { error: "…" } }), tool(7), ran(8, "read_file")];
  const { root } = await chat({ turns: [turn({ status: "running", steps })] });
  expect(root.querySelectorAll(".dn-steps")).toHaveLength(2);
  const lines = [...root.querySelectorAll(".dn-question")].map((each) => each.querySelector(".dn-cut")!.textContent);
  expect(lines).toEqual(["Ran on your files: search_files, read_file ×2", "Could not be run on your files: read_file /6.md", "Ran on your files: read_file /8.md"]);
  expect(root.querySelectorAll(".dn-question")[0]!.textContent).toContain("read_file /5.md");
});

test("a message that was refused comes back into the input, with the reason", async () => {
  const { root, request, ui } = await chat({});
  request.mockRejectedValueOnce(new Error("Closed."));
  await type(root, "Why?");
  await press(input(root), "Enter");
  expect(ui.draft).toBe("Why?");
  expect(root.querySelector("[role=alert]")?.textContent).toBe("Closed.");
});

test("while it runs: stop, queue, steer", async () => {
  const { root, request } = await chat({ facts: { status: "running" }, turns: [turn({ status: "running" })] });
  expect(button(root, "Send")).toBeUndefined();
  await act(async () => button(root, "Stop the run")!.click());
  expect(request).toHaveBeenLastCalledWith("stop", { run: "r1" });
  await type(root, "Shorter");
  await act(async () => button(root, "Steer now")!.click());
  expect(request).toHaveBeenLastCalledWith("steer", { text: "Shorter", run: "r1" });
});

test("what is queued stands on the input's back, and can be taken back", async () => {
  const { root, request, ui } = await chat({
    facts: { status: "running" },
    turns: [turn({ status: "running" }), turn({ run: "r2", question: "And?", status: "queued" })],
  });
  expect(root.querySelector(".dn-log")?.textContent).not.toContain("And?");
  expect(root.querySelector(".dn-queue")?.textContent).toContain("And?");
  await act(async () => button(root, "Edit queued message")!.click());
  expect(request).toHaveBeenCalledWith("unqueue", { run: "r2" });
  expect(ui.draft).toBe("And?");
});

test("a starter goes into the input, a quick action is asked", async () => {
  const { root, request, ui } = await chat({
    turns: [],
    facts: { starters: [{ title: "Trace", text: "Who said it?" }, { title: "Find", text: "Where is it said that " }], actions: [{ label: "Sum up", text: "Sum it up." }] },
  });
  await act(async () => root.querySelector<HTMLElement>(".dn-card")!.click());
  expect(ui.draft).toBe("Who said it?");
  const begun = root.querySelectorAll<HTMLElement>(".dn-card")[1]!;
  expect(begun.textContent).toBe("FindWhere is it said that…"); // for the person to complete
  await act(async () => begun.click());
  expect(ui.draft).toBe("Where is it said that ");
  await act(async () => button(root, "Sum up")!.click());
  expect(request).toHaveBeenCalledExactlyOnceWith("ask", { text: "Sum it up." });
});

test("a quick action that is clicked twice is asked once", async () => {
  const turns: Turn[] = [];
  const { root, request, tell } = await chat({
    turns,
    facts: { actions: [{ label: "Sum up", text: "Sum it up." }] },
    expect: () => (turns.push(turn({ status: "sending" })), () => {}),
  });
  const chip = button(root, "Sum up")!;
  await act(async () => (chip.click(), chip.click()));
  await act(async () => chip.click()); // the kernel has taken it, and told nothing yet
  expect(request).toHaveBeenCalledTimes(1);
  tell({});
  expect(button(root, "Sum up")).toBeUndefined();
  tell({ turns: [turn()] });
  expect(button(root, "Sum up")).toBeDefined();
});

test("a question is not edited while another is at work", async () => {
  const { root, tell, connect } = await chat({ turns: [turn()], facts: { status: "running" } });
  expect(button(root, "Edit")!.disabled).toBe(true);
  tell({ facts: { status: "idle" } });
  expect(button(root, "Edit")!.disabled).toBe(false);
  connect("lost");
  expect(button(root, "Edit")!.disabled).toBe(true);
});

test("a failed run can be tried again, an old one cannot", async () => {
  const failed = turn({ status: "failed", why: "No network." });
  const { root, request } = await chat({ facts: { status: "failed", can_resume: true }, turns: [turn({ ...failed, run: "r0" }), failed] });
  expect([...root.querySelectorAll("button")].filter((each) => each.textContent === "Try again")).toHaveLength(1);
  expect(root.textContent).toContain("No network.");
  await act(async () => button(root, "Try again")!.click());
  expect(request).toHaveBeenCalledExactlyOnceWith("resume", {});
});

test("an edited question is asked again, for the run it was drawn for", async () => {
  const { root, request } = await chat({ turns: [turn({ run: "r7", steps: [said("Because.")] })] });
  await act(async () => button(root, "Edit")!.click());
  const area = root.querySelector<HTMLTextAreaElement>("textarea[aria-label='Edit your message']")!;
  await act(async () => {
    area.value = "Why not?";
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await press(area, "Enter");
  expect(request).toHaveBeenCalledExactlyOnceWith("resend", { run: "r7", text: "Why not?" });
});

test("a tool call is one line that opens, and what is in it is only text", async () => {
  const tool: Step = {
    type: "tool", ...base, id: "c", name: "read_file", line: "", args: { file_path: "<img src=x>" }, state: "ok", result: "<b>x</b>", seconds: 1,
  };
  const { root } = await chat({ turns: [turn({ steps: [tool] })] });
  const row = root.querySelector("summary.dn-step-row")!;
  expect(row.textContent).toContain("Read");
  await act(async () => {
    const details = row.closest("details")!;
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
  });
  expect(root.querySelector(".dn-result pre")?.textContent).toBe("<b>x</b>");
  expect(root.querySelector(".dn-log img, .dn-log pre b")).toBeNull();
});

test("a subagent can be stopped alone, by its call", async () => {
  const step: Step = {
    type: "subagent", ...base, id: "call-9", name: "reader", task: "Read", state: "running", result: "", seconds: null, steps: [],
  };
  const { root, request } = await chat({ facts: { status: "running" }, turns: [turn({ status: "running", steps: [step] })] });
  await act(async () => button(root, "Stop reader")!.click());
  expect(request).toHaveBeenCalledExactlyOnceWith("stop", { run: "r1", subagent: "call-9" });
});

test("only the last turns are drawn, until one asks for more", async () => {
  const turns = Array.from({ length: 100 }, (_, n) => turn({ run: `r${n}`, question: `Question ${n}` }));
  const { root } = await chat({ turns });
  expect(root.querySelectorAll(".dn-user")).toHaveLength(12);
  await act(async () => button(root, "Show earlier messages")!.click());
  expect(root.querySelectorAll(".dn-user")).toHaveLength(24);
});

test("another model can be chosen by its name", async () => {
  const model = { name: "offline", rule: "", state: "offline" as const, detail: "", progress: null, can_switch: true };
  const { root, request } = await chat({ turns: [], facts: { model, models: [{ spec: "openai:x", rule: "from KEY" }] } });
  expect(root.textContent).toContain("Answers will be verbatim quotes");
  await act(async () => root.querySelector<HTMLElement>(".dn-pill")!.click());
  const option = [...document.querySelectorAll<HTMLElement>(".dn-models button")].find((each) => each.textContent?.includes("openai:x"))!;
  await act(async () => option.click());
  expect(request).toHaveBeenCalledExactlyOnceWith("set_model", { spec: "openai:x" });
});

test("images are loaded for the message that the reader has allowed it for, and for no other of its id", async () => {
  const { root, tell, ui } = await chat({ turns: [turn({ steps: [said("![a](https://a.test/x.png)")] })] });
  const loaded = () => root.querySelectorAll(".dn-prose img").length;
  expect(loaded()).toBe(0);
  await act(async () => root.querySelector<HTMLElement>("[data-load]")!.click());
  expect(loaded()).toBe(1);
  const again = { ...said("![b](https://b.test/x.png)"), seq: 2 };
  await tell({ turns: [turn({ steps: [said("![a](https://a.test/x.png)"), again] })] });
  expect(loaded()).toBe(1);
  await tell({ facts: { thread: "other" }, turns: [turn({ steps: [said("![c](https://c.test/x.png)")] })] });
  expect(loaded()).toBe(0);
  expect(ui.imagesAllowed.size).toBe(1);
});

test("what is done to the documents is shown while it goes on", async () => {
  const { root, tell } = await chat({ turns: [], facts: { knowledge: { phase: "reading", done: 3, total: 12 } } });
  const shown = () => root.querySelector<HTMLElement>(".dn-reading");
  expect(shown()!.textContent).toBe("Reading documents3 of 12");
  expect(shown()!.querySelector("[role=progressbar]")!.getAttribute("aria-valuenow")).toBe("3");
  await tell({ facts: { knowledge: { phase: "loading", done: 0, total: 0 } } });
  expect(shown()!.textContent).toBe("Loading the embedding model");
  await tell({ facts: { knowledge: null } });
  expect(shown()).toBeNull();
});

test("what is announced has words, and no signs of Markdown", () => {
  expect(spoken("**Nothing was found** that answers this. I looked for *council* in `a_b.md`.")).toBe(
    "Nothing was found that answers this. I looked for council in a_b.md.",
  );
  expect(spoken("## In short\n\n- It cost 15 pounds [S1][S2].\n- [Minutes](https://a.test/)\n")).toBe(
    "In short. It cost 15 pounds (source S1) (source S2). Minutes.",
  );
  expect(spoken("| a | b |\n|---|:-:|\n| 1 | 2 |\n\n```py\nx = 1\n```")).toBe("a, b 1, 2 x = 1");
  expect(spoken("cut** off, and 2 \\* 3")).toBe("cut off, and 2 * 3");
  expect(spoken("[".repeat(100_000)).length).toBeLessThanOrEqual(600);
});
