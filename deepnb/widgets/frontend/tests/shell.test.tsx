// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";

import type { QuestionStep, TextStep, Turn } from "../src/model";
import { quoted } from "../src/shell/python";
import { Shell } from "../src/shell/Shell";
import { panel } from "./app";

vi.mock("../src/chat/Chat", () => ({ Chat: () => <p>the chat</p> }));

const layout = (root: HTMLElement) => root.querySelector<HTMLElement>(".dn-body")!.dataset.layout;
const QUESTION = { id: "q1" } as QuestionStep;

test("tabs are walked with the arrow keys, and name what they show", async () => {
  const { show, find, press, root } = panel();
  show(<Shell />);
  await press(find("[role=tab]", "Chat"), "ArrowRight");
  const plan = find("[role=tab]", "Plan");
  expect(plan.ariaSelected ?? plan.getAttribute("aria-selected")).toBe("true");
  expect(document.activeElement).toBe(plan);
  expect(root.querySelectorAll("[role=tab][tabindex='0']")).toHaveLength(1);
  const shown = root.querySelector(`#${plan.getAttribute("aria-controls")}`);
  expect(shown?.getAttribute("aria-labelledby")).toBe(plan.id);
  await press(plan, "End");
  expect(document.activeElement?.textContent).toContain("Usage");
  await press(document.activeElement as HTMLElement, "Home");
  expect(layout(root)).toBe("chat");
});

test("a view is beside the chat or instead of it, and stays as the person wants it", async () => {
  const { show, find, click, root } = panel();
  show(<Shell />);
  await click(find("[role=tab]", "Plan"));
  expect(layout(root)).toBe("split");
  await click(find("button", "Beside the chat"));
  expect(layout(root)).toBe("tab");
  await click(find("[role=tab]", "Chat"));
  await click(find("[role=tab]", "Plan"));
  expect(layout(root)).toBe("tab");
  await click(find("button", "Beside the chat"));
  expect(layout(root)).toBe("split");
});

test("what waits for the person is counted on the chat, and the dock leads to it", async () => {
  const { show, find, click, root } = panel({ open: [QUESTION], facts: { status: "waiting" } });
  show(<Shell />);
  expect(find("[role=tab]", "Chat").textContent).toContain("1 question for you");
  await click(find("[role=tab]", "Trace"));
  expect(layout(root)).toBe("tab");
  await click(find(".dn-dock button", "1 question waits for you"));
  expect(layout(root)).toBe("chat");
});

test("an agent without todos has no plan tab", () => {
  const { show, root } = panel({ facts: { has_todos: false } });
  show(<Shell />);
  expect([...root.querySelectorAll("[role=tab]")].map((tab) => tab.textContent!.trim())).toEqual([
    "Chat",
    "Trace",
    "Usage",
  ]);
});

test("a lost kernel is announced with the cell that brings it back, and a busy one quietly", async () => {
  const { show, find, connect, root } = panel();
  show(<Shell />);
  expect(root.querySelector(".dn-off")).toBeNull();
  connect("busy");
  expect(find("[role=status]", "busy with a cell").className).toContain("dn-note");
  connect("lost");
  expect(find("[role=status]", "does not answer").className).toContain("dn-note");
  connect("live");
  connect("lost", true);
  expect(find("[role=alert]").textContent).toContain("The kernel is gone.");
  expect(find("[role=alert]").textContent).toMatch(/up to \d\d:\d\d is saved/);
  expect(find("button", "Copy the cell")).toBeTruthy();
  expect(root.querySelector<HTMLElement>(".dn-shell")!.dataset.state).toBe("off");
  connect("live");
  expect(root.querySelector(".dn-off")).toBeNull();
});

test("where nobody knows how the session was opened, no cell is offered", async () => {
  const { show, find, click, connect, root } = panel({ facts: { opening: "" } });
  show(<Shell />);
  await click(find("button", "More"));
  expect(root.querySelector(".dn-menu")?.textContent).not.toContain("Python");
  connect("lost", true);
  expect(find("[role=alert]").textContent).not.toContain("Copy");
});

test("a page that the kernel does not want says why", () => {
  const { show, find, connect, refuse } = panel();
  show(<Shell />);
  connect("lost");
  refuse("Made by another version. Reload the page.");
  expect(find("[role=alert]").textContent).toBe("Made by another version. Reload the page.");
});

test("a conversation that is not kept is not said to be saved", () => {
  const { show, find, connect } = panel({ facts: { kept: false } });
  show(<Shell />);
  connect("lost", true);
  expect(find("[role=alert]").textContent).not.toContain("saved");
});

test("a closed session says so", () => {
  const { show, find } = panel({ facts: { status: "closed" } });
  show(<Shell />);
  expect(find("[role=alert]").textContent).toContain("This session was closed.");
});

test("connecting is not mentioned before it takes a while", async () => {
  vi.useFakeTimers();
  try {
    const { show, connect, root } = panel({ facts: null });
    show(<Shell />);
    connect("connecting");
    expect(root.textContent).not.toContain("Connecting");
    await vi.advanceTimersByTimeAsync(1100);
    expect(root.textContent).toContain("Connecting…");
  } finally {
    vi.useRealTimers();
  }
});

test("the menu acts once, and shows why something was refused", async () => {
  const { show, find, click, request } = panel();
  show(<Shell />);
  let refuse: (error: Error) => void = () => {};
  request.mockImplementation(() => new Promise((_, reject) => (refuse = reject)));
  await click(find("button", "More"));
  const item = find("[role=menuitem]", "New thread");
  item.click();
  item.click(); // before anything could be drawn again
  await click(item);
  expect(request.mock.calls).toEqual([["new_thread", {}]]);
  refuse(new Error("Too many threads."));
  await vi.waitFor(() => expect(find("[role=alert]").textContent).toBe("Too many threads."));
});

test("names become Python strings whatever is in them", () => {
  expect(quoted('a "b" \\ c')).toBe('"a \\"b\\" \\\\ c"');
  expect(quoted("über\u202e\u2028")).toBe('"über\\u202e\\u2028"');
});

test("a file that is downloaded is there until the browser has read it", async () => {
  vi.useFakeTimers();
  const made = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  const revoked = vi.spyOn(URL, "revokeObjectURL").mockImplementation(() => {});
  const clicked = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => {});
  try {
    const { show, find, click, request } = panel();
    request.mockResolvedValue({ name: "main.md", text: "# A" });
    show(<Shell />);
    await click(find("button", "More"));
    await click(find("[role=menuitem]", "Download transcript as Markdown"));
    expect([made, clicked, revoked].map((each) => each.mock.calls.length)).toEqual([1, 1, 0]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(revoked).toHaveBeenCalledExactlyOnceWith("blob:x");
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});

test("a report is offered as what it is, in every form, and of the question it answers", async () => {
  const clicked = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => {});
  const made = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  try {
    const step = { type: "text", report: { citations: [] } } as unknown as TextStep;
    const turn = (run: string, steps: TextStep[]) => ({ run, question: `Why ${run}?`, steps, status: "done" }) as unknown as Turn;
    const { show, find, click, request, root } = panel({ turns: [turn("r1", [step]), turn("r2", [])] });
    request.mockResolvedValue({ name: "main-report.docx", content: btoa("PK") });
    show(<Shell />);
    await click(find("button", "More"));
    const group = find("[role=group]", "Report");
    expect(group.querySelector("p")!.textContent).toBe("Report: Why r1?");
    expect([...group.querySelectorAll("[role=menuitem]")].map((item) => item.textContent)).toEqual(
      ["Markdown", "HTML", "Word", "notebook", "BibTeX"].map((form) => `Download report as ${form}`),
    );
    await click(find("[role=menuitem]", "Download report as Word"));
    expect(request).toHaveBeenCalledExactlyOnceWith("export_report", { run: "r1", format: "docx" });
    expect(await (made.mock.calls[0]![0] as Blob).text()).toBe("PK");
    expect(clicked).toHaveBeenCalledOnce();
    expect(root.querySelector(".dn-menu")).toBeNull();
  } finally {
    vi.restoreAllMocks();
  }
});

test("without a report none is offered", async () => {
  const { show, find, click, root } = panel();
  show(<Shell />);
  await click(find("button", "More"));
  expect(root.querySelector(".dn-menu")!.textContent).not.toContain("eport");
});
