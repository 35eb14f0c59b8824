import { beforeEach, expect, test, vi } from "vitest";

import type { SubagentStep, Turn } from "../src/model";
import { Conversation } from "../src/store";
import { event, news, restart } from "./events";

beforeEach(restart);

const started = (run = "r1", text = "Why?") => event("run_started", { text, resumed: false }, { run });
const ended = (status = "done", run = "r1") => event("run_ended", { status, text: "", seconds: 2 }, { run });

function told(...events: ReturnType<typeof event>[]): Conversation {
  const store = new Conversation();
  store.apply(news(events));
  return store;
}

function only(store: Conversation): Turn {
  expect(store.turns).toHaveLength(1);
  return store.turns[0]!;
}

test("tokens grow into a text, and the message replaces it", () => {
  const store = told(started(), event("token", { id: "m", text: "Be" }), event("token", { id: "m", text: "cause" }));
  expect(only(store).steps).toMatchObject([{ type: "text", text: "Because", state: "writing" }]);
  store.apply(news([event("message", { id: "m", role: "assistant", text: "Because." })]));
  expect(only(store).steps).toMatchObject([{ type: "text", text: "Because.", state: "whole" }]);
});

test("reasoning stands before the text, with how long it took", () => {
  const store = told(
    started(),
    event("reasoning", { id: "m", text: "Hm. " }),
    event("reasoning", { id: "m", text: "Yes." }),
    event("token", { id: "m", text: "It" }),
  );
  expect(only(store).steps).toMatchObject([
    { type: "thought", text: "Hm. Yes.", state: "whole", seconds: 2 },
    { type: "text", text: "It" },
  ]);
});

test("a message told whole brings its reasoning, before it", () => {
  const store = told(started(), event("message", { id: "m", role: "assistant", text: "It.", reasoning: "Hm." }));
  expect(only(store).steps.map((step) => step.type)).toEqual(["thought", "text"]);
});

test("a call and its result are one step; a result without a call is one too", () => {
  const store = told(
    started(),
    event("tool_call", { id: "c", args: { path: "/a" } }, { name: "ls" }),
    event("tool_result", { id: "c", status: "ok", text: "none", seconds: 0.5 }, { name: "ls" }),
    event("tool_result", { id: "d", status: "error", text: "no" }, { name: "cat" }),
  );
  expect(only(store).steps).toMatchObject([
    { type: "tool", name: "ls", state: "ok", result: "none", seconds: 0.5, args: { path: "/a" } },
    { type: "tool", name: "cat", state: "error" },
  ]);
});

test("a subagent that was stopped writes no further, though the run goes on", () => {
  const inside = { call: "c", agent: "reader", parent: "deep" };
  const store = told(
    started(),
    event("tool_call", { id: "c", args: {} }, { name: "task" }),
    event("subagent_started", { id: "c", text: "Read" }, { ...inside, name: "reader" }),
    event("token", { id: "m", text: "It is " }, inside),
    event("subagent_ended", { id: "c", status: "stopped", seconds: 3 }, inside),
  );
  const [step] = only(store).steps as [SubagentStep];
  expect(step.steps).toMatchObject([{ type: "text", text: "It is ", state: "cut" }]);
});

test("a subagent stands in place of its call, with its own steps, though ids repeat in it", () => {
  const inside = { call: "c", agent: "reader", parent: "deep" };
  const store = told(
    started(),
    event("tool_call", { id: "c", args: {} }, { name: "task" }),
    event("subagent_started", { id: "c", text: "Read" }, { ...inside, name: "reader" }),
    event("tool_call", { id: "c", args: {} }, { ...inside, name: "ls" }),
    event("tool_result", { id: "c", status: "ok", text: "a" }, { ...inside, name: "ls" }),
    event("subagent_ended", { id: "c", status: "ok", seconds: 3 }, inside),
    event("tool_result", { id: "c", status: "ok", text: "It is read." }, { name: "task" }),
  );
  const [step] = only(store).steps as [SubagentStep];
  expect(step).toMatchObject({ type: "subagent", name: "reader", task: "Read", state: "ok", result: "It is read.", seconds: 3 });
  expect(step.steps).toMatchObject([{ type: "tool", name: "ls", result: "a" }]);
});

test("a run that was resumed goes on, and what was cut off stays", () => {
  const store = told(started(), event("token", { id: "m", text: "Half" }), ended("failed"));
  expect(only(store)).toMatchObject({ status: "failed", steps: [{ state: "cut" }] });
  store.apply(news([started(), event("token", { id: "n", text: "Again" })]));
  expect(only(store)).toMatchObject({ status: "running", steps: [{ text: "Half", state: "cut" }, { text: "Again", state: "writing" }] });
});

test("a run that never ended was cut off before the next", () => {
  const store = told(started(), event("tool_call", { id: "c" }, { name: "ls" }), started("r2", "And?"));
  expect(store.turns).toMatchObject([{ status: "stopped", why: "The run was cut off.", steps: [{ state: "stopped" }] }, { status: "running" }]);
});

test("a question waits, is open, and is closed by its answer", () => {
  const store = told(started(), event("interrupt_opened", { id: "q", request: { type: "x" } }));
  expect(only(store).status).toBe("waiting");
  const open = store.open;
  expect(open).toMatchObject([{ id: "q", by: "" }]);
  store.apply(news([event("node", { seconds: 1 }, { name: "n" })]));
  expect(store.open).toBe(open);
  store.apply(news([event("interrupt_closed", { id: "q", answer: { a: 1 }, by: "person" })]));
  expect(store.open).toHaveLength(0);
  expect(only(store).steps).toMatchObject([{ by: "person", answer: { a: 1 } }]);
  expect(only(store).since).toBeGreaterThan(only(store).time); // it works on from the answer
  store.apply(news([ended()]));
  expect(only(store).ended).toBeGreaterThan(only(store).since);
});

test("an open question ends with its run", () => {
  const store = told(started(), event("interrupt_opened", { id: "q" }), ended("stopped"));
  expect(store.open).toHaveLength(0);
  expect(only(store).steps).toMatchObject([{ by: "stop" }]);
});

test("a remark is heard when it is in the conversation", () => {
  const store = told(started(), event("queued", { text: "Shorter", steer: true }));
  expect(only(store).steps).toMatchObject([{ type: "remark", text: "Shorter", heard: false }]);
  store.apply(news([event("message", { id: "x", role: "user", text: "Shorter" })]));
  expect(only(store).steps).toMatchObject([{ type: "remark", heard: true }]);
});

test("turns that have not changed stay the same objects", () => {
  const store = told(started(), event("message", { id: "m", role: "assistant", text: "A" }), ended(), started("r2", "B"));
  const [first, second] = store.turns;
  store.apply(news([event("token", { id: "n", text: "x" }, { run: "r2" })]));
  expect(store.turns[0]).toBe(first);
  expect(store.turns[1]).not.toBe(second);
});

test("a gap is refused, what was told before is not told twice", () => {
  const store = told(started(), event("token", { id: "m", text: "a" }));
  const again = news([event("token", { id: "m", text: "b" })]);
  store.apply({ ...again, after: again.after + 5, last: again.last + 5 });
  expect(store.last).toBe(again.after);
  store.apply(again);
  store.apply(again);
  expect(only(store).steps).toMatchObject([{ text: "ab" }]);
});

test("facts that are null stay what they were", () => {
  const store = told(started());
  const facts = store.facts;
  store.apply(news([ended()], { facts: null }));
  expect(store.facts).toBe(facts);
});

test("a message is seen before the kernel has it, once", () => {
  const store = told(started(), ended());
  const settle = store.expect("And?");
  expect(store.turns.at(-1)).toMatchObject({ question: "And?", status: "sending" });
  store.apply(news([event("queued", { text: "And?", steer: false }, { run: "r2" })]));
  settle();
  expect(store.turns.map((turn) => turn.status)).toEqual(["done", "queued"]);
});

test("a queued message that was taken back is gone, one that was not begun for another reason stays", () => {
  const queued = (run: string) => event("queued", { text: run, steer: false }, { run });
  const end = (run: string, more: object) => event("run_ended", { status: "stopped", text: "Why.", seconds: 0, ...more }, { run });
  const store = told(started(), queued("r2"), queued("r3"), end("r2", { withdrawn: true }), end("r3", {}));
  expect(store.turns.map((turn) => turn.run)).toEqual(["r1", "r3"]);
});

test("a message that was refused is gone at once", () => {
  const store = new Conversation();
  store.expect("What?")(true);
  expect(store.turns).toHaveLength(0);
});

test("the trace has one row for each model call, tool, agent and question", () => {
  const store = told(
    started(),
    event("usage", { id: "m", model: "big", tokens_in: 5, tokens_out: 7, cost: 0.5 }, { node: "model" }),
    event("node", { seconds: 1 }, { node: "model", name: "model" }),
    event("message", { id: "m", role: "assistant", text: "", reasoning: "Hm." }, { node: "model" }),
    event("tool_call", { id: "c" }, { name: "ls", node: "tools" }),
    event("tool_result", { id: "c", status: "ok", text: "x", seconds: 1 }, { name: "ls", node: "tools" }),
    event("node", { seconds: 1 }, { node: "tools", name: "tools" }),
    event("node", { seconds: 1 }, { node: "mine", name: "mine" }),
    event("interrupt_opened", { id: "q" }),
  );
  expect(store.trace).toMatchObject([
    { kind: "model", line: "big", tokensIn: 5, cost: 0.5, seconds: 1, detail: "Hm.", live: false },
    { kind: "tool", seconds: 1, detail: "x", live: false },
    { kind: "other", line: "mine", seconds: 1 },
    { kind: "person", live: true },
  ]);
  expect(store.usageRows).toMatchObject([{ agent: "deep", model: "big", calls: 1, tokensIn: 5 }]);
});

test("the plan knows when its todos were begun and done", () => {
  const todos = (status: string) => event("todos", { todos: [{ content: "A", status }], by: "deep" });
  const store = told(started(), todos("pending"), todos("in_progress"), todos("completed"));
  expect(store.plan?.todos).toEqual([{ content: "A", status: "completed", began: 1003, ended: 1004 }]);
});

test("marks that turn text around are spelled out in names and results", () => {
  const store = told(started(), event("tool_result", { id: "c", text: "a\u202eb" }, { name: "x\u2066" }));
  expect(only(store).steps).toMatchObject([{ name: "x\\u2066", result: "a\\u202eb" }]);
});

test("those who look are told at once, and then once per frame, however much comes", async () => {
  const frames: FrameRequestCallback[] = [];
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => frames.push(callback));
  const store = new Conversation();
  const seen = vi.fn(() => void store.turns[0]!.question);
  store.subscribe(seen);
  store.apply(news([started()]));
  expect(seen).not.toHaveBeenCalled(); // before all of it is read
  await null;
  expect(seen).toHaveBeenCalledOnce();
  store.apply(news([event("token", { id: "m", text: "a" })]));
  store.apply(news([event("token", { id: "m", text: "b" })]));
  await null;
  expect(seen).toHaveBeenCalledOnce();
  frames.forEach((frame) => frame(0));
  expect(seen).toHaveBeenCalledTimes(2);
  vi.unstubAllGlobals();
});

test("a node whose tool call has become a subagent ends without a row of its own", () => {
  const inside = { agent: "reader", parent: "deep", call: "c" };
  const store = told(
    started(),
    event("tool_call", { id: "c", args: {} }, { agent: "deep", node: "tools", name: "task" }),
    event("subagent_started", { id: "c", text: "Read" }, { ...inside, node: "tools", name: "reader" }),
    event("node", { seconds: 1 }, { agent: "deep", node: "tools", name: "tools" }),
    event("message", { id: "m", role: "assistant", text: "Read." }, { agent: "deep" }),
  );
  expect(store.trace).toHaveLength(1);
  expect(only(store).steps.at(-1)).toMatchObject({ type: "text", text: "Read." });
});

test("an event that cannot be read costs itself, and none that come after it", () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const broken = () => ({ ...event("tool_call", {}, { name: "ls" }), data: null }) as never;
  const store = told(started(), broken(), event("token", { id: "m", text: "Still here" }));
  expect(only(store).steps.at(-1)).toMatchObject({ text: "Still here" });
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
});

test("a call that a person has rejected has not failed, and no tool can say so by itself", () => {
  const text = "User rejected the tool call for `ls` with reason: no";
  const call = () => [event("tool_call", { id: "c", args: {} }, { name: "ls" }), event("tool_result", { id: "c", status: "error", text }, { name: "ls" })];
  const asked = () => event("interrupt_opened", { id: "q", request: { action_requests: [{ name: "ls" }] } });
  const answered = () => event("interrupt_closed", { id: "q", answer: { decisions: [{ type: "reject" }] }, by: "person" });
  expect(only(told(started(), asked(), answered(), ...call())).steps).toMatchObject([{}, { type: "tool", state: "rejected", seconds: null }]);
  restart();
  expect(only(told(started(), ...call())).steps).toMatchObject([{ type: "tool", state: "error" }]);
});

test("a call for the reader's files is known at once, and drawn when it was not answered soon", async () => {
  const store = told(started());
  await Promise.resolve();
  const drawn = vi.fn();
  store.subscribe(drawn);
  vi.useFakeTimers();
  try {
    const request = { type: "client_tool_execution", tool: "read_file", tool_call_id: "c", args: { path: "/a.md" } };
    store.apply(news([event("interrupt_opened", { id: "q", request })]));
    expect(store.open).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(20);
    expect(drawn).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    expect(drawn).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});
