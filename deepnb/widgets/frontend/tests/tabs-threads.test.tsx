// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";

import type { Thread } from "../src/protocol";
import { ForkForm } from "../src/tabs/Fork";
import { Threads } from "../src/tabs/Threads";
import { daysOf, originOf } from "../src/tabs/threadList";
import { Usage } from "../src/tabs/Usage";
import { panel } from "./app";

const NOW = new Date(2026, 10, 15, 14, 30);
const at = (day: number, hour = 12) => new Date(2026, 10, day, hour).getTime() / 1000;
const thread = (name: string, change: Partial<Thread> = {}): Thread => ({
  name,
  title: name,
  status: "done",
  agent: "deep",
  runs: 1,
  updated: at(15),
  forked_from: "",
  can_open: true,
  ...change,
});
const said = (threads: Thread[], search = "") =>
  daysOf(threads, search, NOW).map((day) => [
    day.name,
    day.entries.map((entry) => `${"-".repeat(entry.depth)}${entry.thread.name}`),
  ]);

test("threads are grouped by day", () => {
  const threads = [15, 14, 11, 1].map((day) => thread(`t${day}`, { updated: at(day) }));
  expect(said(threads)).toEqual([
    ["Today", ["t15"]],
    ["Yesterday", ["t14"]],
    ["This week", ["t11"]],
    ["Earlier", ["t1"]],
  ]);
});

test("forks hang under what they left, where the latest of the family is", () => {
  const threads = [
    thread("main-fork-2", { forked_from: "main-fork-1, step 9" }),
    thread("other", { updated: at(14) }),
    thread("main-fork-1", { forked_from: "main, step 5", updated: at(3) }),
    thread("main", { updated: at(1) }),
  ];
  expect(said(threads)).toEqual([
    ["Today", ["main", "-main-fork-1", "--main-fork-2"]],
    ["Yesterday", ["other"]],
  ]);
  expect(said(threads, "fork-2")).toEqual([["Today", ["main-fork-2"]]]);
});

test("origins are read whatever a thread is called", () => {
  expect(originOf(thread("a", { forked_from: "a, step 1, step 12" }))).toEqual({ name: "a, step 1", from: "step 12" });
  expect(originOf(thread("a", { forked_from: "b, its beginning" }))).toEqual({ name: "b", from: "its beginning" });
});

test("threads that are said to have left each other are listed all the same", () => {
  const ring = [thread("a", { forked_from: "b, step 1" }), thread("b", { forked_from: "a, step 1" })];
  expect(said(ring).flatMap(([, names]) => names)).toHaveLength(2);
});

async function listed(threads: Thread[]) {
  const view = panel();
  view.request.mockImplementation(async (type) => (type === "threads" ? { threads } : null));
  view.show(<Threads />);
  await vi.waitFor(() => view.find(".dn-thread"));
  return view;
}

test("a click opens a thread by its name; the current and the unreachable stay shut", async () => {
  const { find, click, request } = await listed([
    thread("main"),
    thread("second", { title: "Speeds" }),
    thread("third", { can_open: false }),
  ]);
  expect(find(".dn-thread", "main").getAttribute("aria-current")).toBe("true");
  expect(find(".dn-thread", "third").textContent).toContain("cannot be opened from here");
  await click(find(".dn-thread", "main"));
  await click(find(".dn-thread", "third"));
  await click(find(".dn-thread", "Speeds"));
  expect(request.mock.calls).toEqual([
    ["threads", {}],
    ["open_thread", { name: "second" }],
  ]);
});

test("threads are walked with the arrow keys, and Escape closes the list", async () => {
  const { find, press, ui } = await listed([thread("main"), thread("second")]);
  find(".dn-thread", "main").focus();
  await press(find(".dn-thread", "main"), "ArrowDown");
  expect(document.activeElement?.textContent).toContain("second");
  ui.history = true;
  await press(document.activeElement as HTMLElement, "Escape");
  expect(ui.history).toBe(false);
});

test("a fork carries the step it was drawn for, and a question if there is one", async () => {
  const { show, find, click, type, request } = panel();
  const onClose = vi.fn();
  show(<ForkForm step={5} onClose={onClose} />);
  expect(find("form").textContent).toContain("Files in the workspace stay as they are now");
  await type(find("textarea"), " Only before 1860 ");
  await click(find("button", "Fork and ask"));
  expect(request).toHaveBeenCalledExactlyOnceWith("fork", { step: 5, text: "Only before 1860" });
  expect(onClose).toHaveBeenCalledOnce();
});

test("a running thread is not forked, and says why", () => {
  const { show, find } = panel({ facts: { status: "running" } });
  show(<ForkForm step={5} onClose={() => {}} />);
  expect((find("button", "Fork") as HTMLButtonElement).disabled).toBe(true);
  expect(find("form").textContent).toContain("cannot be forked while it runs");
});

test("usage shows a meter for each limit, and no cost that nobody knows", () => {
  const { show, find, root } = panel({
    facts: { budget: [{ unit: "tokens", limit: 1000, spent: 250 }] },
    usage: { calls: 2, tokensIn: 27322, tokensOut: 10, cost: null },
    usageRows: [{ agent: "deep", model: "m", calls: 2, tokensIn: 27322, tokensOut: 10, cost: null }],
  });
  show(<Usage />);
  expect(root.textContent).toContain("price not known");
  expect(root.textContent).toContain("27,322");
  expect(root.textContent).not.toContain("$");
  expect(find("[role=meter]").getAttribute("aria-valuetext")).toBe("250 spent of 1,000");
});

test("what a thread, an agent or a refusal is called steers nobody's eye", async () => {
  const { find, click, request, root } = await listed([
    thread("a\u202eb", { title: "", agent: "c\u202ed" }),
    thread("e\u202ef", { title: "g\u202eh", forked_from: "i\u202ej" }),
  ]);
  request.mockRejectedValueOnce(new Error("No k\u202el."));
  await click(find(".dn-thread", "a\\u202eb"));
  expect(find("[role=alert]").textContent).toBe("No k\\u202el.");
  expect(root.innerHTML).not.toContain("\u202e");
  expect(request).toHaveBeenLastCalledWith("open_thread", { name: "a\u202eb" });
});

test("an Enter that ends a composition forks nothing", async () => {
  const { show, find, type, press, request } = panel();
  show(<ForkForm step={5} onClose={() => {}} />);
  await type(find("textarea"), "Why?");
  find("textarea").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true }));
  expect(request).not.toHaveBeenCalled();
  await press(find("textarea"), "Enter");
  expect(request).toHaveBeenCalledExactlyOnceWith("fork", { step: 5, text: "Why?" });
});
