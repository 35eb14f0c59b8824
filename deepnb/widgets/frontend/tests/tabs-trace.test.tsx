// @vitest-environment happy-dom
import { expect, test } from "vitest";

import type { TraceRow, Turn } from "../src/model";
import { Trace } from "../src/tabs/Trace";
import { asPandas, EVERYTHING, placesOf, tallyOf } from "../src/tabs/traceFilter";
import { barOf, spansOf } from "../src/tabs/traceSpans";
import { topOf, windowOf } from "../src/tabs/traceWindow";
import { panel } from "./app";

const row = (seq: number, change: Partial<TraceRow> = {}): TraceRow => ({
  seq,
  time: 100 + seq,
  run: "r1",
  agent: "deep",
  depth: 0,
  kind: "tool",
  icon: "search",
  line: `step ${seq}`,
  tokensIn: null,
  tokensOut: null,
  cost: null,
  seconds: 1,
  fork: null,
  detail: "",
  live: false,
  ...change,
});
const TURN = { run: "r1", time: 100, seconds: 12, ended: 120, status: "done" } as Turn;
const ROWS = [
  row(1, { kind: "model", line: "Thinker", tokensIn: 1900, tokensOut: 4, cost: 0.002, detail: "Minutes first." }),
  row(2, { fork: 5, line: "<img src=x onerror=alert(1)>" }),
  row(3, { kind: "person", line: "Approved" }),
  row(4, { kind: "error", line: "fetch_page timed out", agent: "reader" }),
  row(5, { kind: "agent", line: "Subagent" }),
];
const lines = (root: HTMLElement) => [...root.querySelectorAll(".dn-what")].map((each) => each.textContent);

test("rows are filtered by kind, agent and text", async () => {
  const { show, find, click, type, root } = panel({ trace: ROWS, turns: [TURN] });
  show(<Trace />);
  expect(lines(root)).toHaveLength(5);
  await click(find(".dn-chip", "Tools"));
  expect(lines(root)).toEqual([ROWS[1]!.line, "Subagent"]);
  await type(find("input[type=search]"), "SUB");
  expect(lines(root)).toEqual(["Subagent"]);
  await type(find("input[type=search]"), "nowhere");
  expect(root.textContent).toContain("No step fits this filter.");
});

test("what a model or a tool says is text and nothing else", () => {
  const { show, root } = panel({ trace: ROWS, turns: [TURN] });
  show(<Trace />);
  expect(root.querySelector("img")).toBeNull();
});

test("a row opens to its detail, and offers a fork where there can be one", async () => {
  const { show, find, click, root } = panel({ trace: ROWS, turns: [TURN] });
  show(<Trace />);
  await click(find(".dn-trace-step", "Thinker"));
  expect(find(".dn-detail").textContent).toContain("Minutes first.");
  expect(find(".dn-detail").textContent).toContain("1,900 in, 4 out");
  expect(root.querySelector(".dn-detail .dn-fork")).toBeNull();
  await click(find(".dn-trace-step", "onerror"));
  expect(root.querySelectorAll(".dn-detail")).toHaveLength(1);
  expect(root.querySelector(".dn-detail .dn-fork")).not.toBeNull();
});

test("reasoning steers nobody's eye", async () => {
  const { show, find, click } = panel({ trace: [row(1, { kind: "model", detail: "a\u202eb" })], turns: [TURN] });
  show(<Trace />);
  await click(find(".dn-trace-step"));
  expect(find(".dn-detail").textContent).toContain("a\\u202eb");
});

test("a hundred thousand rows put few into the page, and say how many there are", () => {
  const many = Array.from({ length: 100_000 }, (_, seq) => row(seq));
  const { show, find, root } = panel({ trace: many, turns: [TURN] });
  show(<Trace />);
  expect(root.querySelectorAll(".dn-trace-row").length).toBeLessThan(80);
  expect(find("[role=table]").getAttribute("aria-rowcount")).toBe("100001");
});

test("the arrow keys walk the rows, and one of them can be tabbed to", async () => {
  const { show, find, press, root } = panel({ trace: ROWS, turns: [TURN] });
  show(<Trace />);
  await press(find(".dn-trace-step", "Thinker"), "ArrowDown");
  const tabbable = [...root.querySelectorAll(".dn-trace-step[tabindex='0']")];
  expect(tabbable.map((each) => each.textContent)).toEqual([ROWS[1]!.line]);
});

test("a bar lies where its row was in the run", () => {
  const [span] = [...spansOf([TURN]).values()];
  expect(barOf(row(5, { seconds: 10 }), span!)).toEqual({ look: "tool", start: 25, width: 50 });
  expect(barOf(row(15, { live: true, seconds: null }), span!)).toEqual({ look: "live", start: 75, width: 25 });
  expect(barOf(row(5, { kind: "person", live: true }), span!).look).toBe("person");
  expect(barOf(row(90), span!)).toMatchObject({ start: 100, width: 0 });
});

test("counts and agents come from all rows", () => {
  const { counts, agents } = tallyOf(ROWS);
  expect(counts).toEqual({ all: 5, models: 1, tools: 2, people: 1, errors: 1 });
  expect(agents).toEqual(["deep", "reader"]);
  expect(placesOf(ROWS, EVERYTHING)).toBeNull();
  expect(placesOf(ROWS, { ...EVERYTHING, agent: "reader" })).toEqual([3]);
});

test("a filter is an expression for pandas, whatever the names are", () => {
  expect(asPandas(EVERYTHING)).toBe("session.trace");
  expect(asPandas({ ...EVERYTHING, agent: "x" })).toBe(`session.trace.query('agent == "x"')`);
  expect(asPandas({ ...EVERYTHING, agent: `it's "x"` })).toBe(
    String.raw`session.trace.query('agent == "it\'s \\"x\\""')`,
  );
});

test("the rows in sight and the room left for the others make up the list, with a row opened or not", () => {
  const sight = { top: 0, height: 280, rowHeight: 28, detailHeight: 500 };
  for (const opened of [-1, 40])
    for (let top = 0; top < 2800; top += 13) {
      const { first, last, before, after } = windowOf(100, opened, { ...sight, top });
      const detail = opened >= first && opened < last ? 500 : 0;
      expect(before + (last - first) * 28 + detail + after).toBe(2800 + (opened < 0 ? 0 : 500));
      expect(before).toBeLessThanOrEqual(top);
      expect(topOf(last, opened, sight)).toBeGreaterThanOrEqual(Math.min(top + 280, 2800));
    }
});
