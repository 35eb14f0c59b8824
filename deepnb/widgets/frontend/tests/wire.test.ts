import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { RefusedError, type Connection, type WidgetModel } from "../src/client";
import type { News } from "../src/protocol";
import { register } from "../src/wire/registry";
import { WireClient } from "../src/wire/wire";
import { FACTS } from "./app";
import { event, news, restart } from "./events";

type Sent = { type: string; id: string; view: string; thread: string; since?: number; replies_since?: number };

/** A model whose kernel answers hello and pull, if it is told to. */
class Kernel implements WidgetModel {
  readonly sent: Sent[] = [];
  readonly traits: Record<string, string>;
  answers = true;
  pushes = true;
  news: News = news([]);
  widget_manager: { kernel: { status: string; connectionStatus?: string } | null } | undefined;
  private readonly listeners = new Map<string, Set<(...args: unknown[]) => void>>();

  constructor(panel = "p1") {
    this.traits = { thread: "main", panel, key: "k" };
  }

  get(name: string) {
    return this.traits[name];
  }
  on(name: string, callback: (...args: never[]) => void) {
    this.listeners.set(name, (this.listeners.get(name) ?? new Set()).add(callback as () => void));
  }
  off(name: string, callback?: ((...args: never[]) => void) | null) {
    this.listeners.get(name)?.delete(callback as () => void);
  }
  emit(name: string, ...args: unknown[]) {
    for (const listener of [...(this.listeners.get(name) ?? [])]) listener(...args);
  }
  send(content: unknown) {
    const request = content as Sent;
    this.sent.push(request);
    if (!this.answers || (request.type !== "hello" && request.type !== "pull")) return;
    setTimeout(() => {
      this.reply(request, { result: { ...this.news, after: request.since ?? 0 } });
      if (this.pushes && request.type === "hello") this.push({ ...this.news, after: this.news.last, events: [] });
    }, 5);
  }
  reply(to: Sent, more: object = {}) {
    const reply = { type: "reply", id: to.id, view: to.view, later: false, number: 0, result: null, error: null };
    this.emit("msg:custom", { ...reply, ...more });
  }
  push(told: News) {
    this.emit("msg:custom", { type: "push", news: told });
  }
  asked(type: string): Sent[] {
    return this.sent.filter((request) => request.type === type);
  }
}

let kernel: Kernel;
let client: WireClient;
let states: Connection[];
let told: [News, boolean][];

function connect(): void {
  client = new WireClient(kernel);
  states = [];
  told = [];
  client.onConnection((connection) => states.push(connection));
  client.onNews((news, fresh) => told.push([news, fresh]));
  client.start();
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const running = (status: "running" | "idle") => ({ ...FACTS, thread: "main", status });

beforeEach(() => {
  vi.useFakeTimers();
  restart();
  Reflect.deleteProperty(globalThis, Symbol.for("deepnb"));
  kernel = new Kernel();
});
afterEach(() => {
  client.close();
  vi.useRealTimers();
});

test("says hello, is told everything, says once that it was, and then leaves an idle kernel alone", async () => {
  connect();
  await pass(50);
  expect(states).toEqual(["live"]);
  expect(told[0]![1]).toBe(true);
  await pass(60_000);
  expect(kernel.sent.map(({ type }) => type)).toEqual(["hello", "pull"]);
  expect(kernel.asked("pull")).toMatchObject([{ push: true }]);
});

test("says hello again until it is answered", async () => {
  kernel.answers = false;
  connect();
  await pass(5_000);
  expect(kernel.asked("hello").length).toBeGreaterThan(1);
  kernel.answers = true;
  await pass(10_000);
  expect(client.connection).toBe("live");
});

test("does not pile hellos up before a kernel that is busy", async () => {
  kernel.answers = false;
  kernel.widget_manager = { kernel: { status: "busy" } };
  connect();
  await pass(120_000);
  expect(kernel.asked("hello")).toHaveLength(1);
  expect(client.connection).toBe("busy");
});

test("takes what a busy kernel tells before it can hear", async () => {
  kernel.answers = false;
  kernel.widget_manager = { kernel: { status: "busy" } };
  connect();
  kernel.push(news([event("run_started", { text: "Hi" })]));
  expect(told).toMatchObject([[{ last: 1 }, true]]);
});

test("where nothing is pushed it asks: often during a run, seldom else", async () => {
  kernel.pushes = false;
  kernel.news = news([], { facts: running("running") });
  connect();
  await pass(6_500);
  expect(kernel.asked("pull").length).toBeGreaterThan(7);
  kernel.news = news([], { facts: running("idle") });
  await pass(1_000);
  const before = kernel.asked("pull").length;
  await pass(9_000);
  expect(kernel.asked("pull").length - before).toBeLessThanOrEqual(3);
  expect(kernel.asked("pull").length - before).toBeGreaterThan(0);
});

test("a gap is filled by a pull, at once", async () => {
  connect();
  await pass(50);
  kernel.sent.length = 0;
  kernel.push(news([], { after: 7, last: 9 }));
  expect(kernel.asked("pull")).toMatchObject([{ since: 0 }]);
});

test("more that is there is pulled", async () => {
  kernel.news = news([], { more: true, last: 4 });
  connect();
  await pass(8);
  kernel.news = news([], { last: 4 });
  expect(kernel.asked("pull")).toMatchObject([{ since: 4 }]);
});

test("a request is answered by its own reply, and refused with a reason", async () => {
  connect();
  await pass(50);
  const first = client.request("stop", { run: null });
  const second = client.request("ask", { text: "x" });
  kernel.reply(kernel.asked("ask")[0]!, { error: { kind: "SessionError", text: "No." } });
  kernel.reply({ ...kernel.asked("stop")[0]!, view: "other" }, { error: { kind: "X", text: "not mine" } });
  kernel.reply(kernel.asked("stop")[0]!);
  await expect(first).resolves.toBeNull();
  await expect(second).rejects.toThrow(new RefusedError("SessionError", "No."));
});

test("a late reply may come with news, once, and is not asked for again", async () => {
  connect();
  await pass(50);
  const threads = client.request("threads", {});
  const asked = kernel.asked("threads")[0]!;
  kernel.reply(asked, { later: true });
  await pass(20_000);
  expect(client.connection).toBe("live");
  const late = { type: "reply" as const, id: asked.id, view: asked.view, later: false, number: 3, result: { threads: [] }, error: null };
  kernel.push(news([], { replies: [late] }));
  kernel.push(news([], { replies: [late] }));
  await expect(threads).resolves.toEqual({ threads: [] });
  kernel.push(news([], { after: 50, last: 51 }));
  expect(kernel.asked("pull").at(-1)).toMatchObject({ replies_since: 3 });
});

test("says that a kernel is busy, and that it is not any more", async () => {
  kernel.widget_manager = { kernel: { status: "idle" } };
  connect();
  await pass(50);
  kernel.widget_manager.kernel!.status = "busy";
  client.request("ask", { text: "x" }).catch(() => null);
  await pass(1_000);
  expect(client.connection).toBe("busy");
  await pass(60_000);
  expect(client.connection).toBe("busy");
  kernel.reply(kernel.asked("ask")[0]!);
  expect(client.connection).toBe("live");
});

test("a kernel that was busy when the connection was cut is lost, and not busy for ever", async () => {
  kernel.widget_manager = { kernel: { status: "busy" } };
  connect();
  await pass(50);
  kernel.answers = false;
  const asked = expect(client.request("ask", { text: "x" })).rejects.toThrow("does not answer");
  kernel.widget_manager.kernel!.connectionStatus = "connecting";
  await pass(11_000);
  await asked;
  expect(client.connection).toBe("lost");
});

test("a kernel that is silent is lost, what was asked is not sent again, and it may come back", async () => {
  connect();
  await pass(50);
  kernel.answers = false;
  const asked = client.request("respond", { question: "q", answer: null });
  const refused = expect(asked).rejects.toThrow("does not answer");
  await pass(11_000);
  await refused;
  expect(client.connection).toBe("lost");
  await expect(client.request("stop", { run: null })).rejects.toThrow("not connected");
  kernel.answers = true;
  await pass(11_000);
  expect(client.connection).toBe("live");
  expect(told.filter(([, fresh]) => fresh)).toHaveLength(2);
  expect(kernel.asked("respond")).toHaveLength(1);
});

test.each(["comm:close", "comm_live_update"])("%s: the kernel is gone, and nothing is sent any more", async (sign) => {
  connect();
  await pass(50);
  kernel.emit(sign);
  expect(client.connection).toBe("lost");
  const count = kernel.sent.length;
  await pass(60_000);
  expect(kernel.sent).toHaveLength(count);
});

test.each(["dead", "starting", "restarting"])("a kernel that is %s knows nothing of the model any more", async (status) => {
  kernel.widget_manager = { kernel: { status: "idle" } };
  connect();
  await pass(50);
  kernel.widget_manager.kernel!.status = status;
  await pass(1_100);
  kernel.widget_manager.kernel!.status = "idle";
  await pass(1_100);
  expect(client.connection).toBe("lost");
});

test("a view whose kernel is gone goes on through a new model of its session", async () => {
  register(kernel);
  connect();
  await pass(50);
  kernel.emit("comm:close");
  const next = new Kernel("p2");
  register(next);
  await pass(50);
  expect(client.connection).toBe("live");
  client.request("stop", { run: null }).catch(() => null);
  expect(next.sent.map(({ type }) => type)).toEqual(["hello", "stop"]);
});

test("a view that showed another thread goes on with the one that its panel was made for", async () => {
  Object.assign(kernel.traits, { key: "fork", home: "k" });
  register(kernel);
  connect();
  await pass(50);
  kernel.emit("comm:close");
  register(new Kernel("p2"));
  await pass(50);
  expect(client.connection).toBe("live");
});

test("a thread that was made anew under its name is begun anew", async () => {
  connect();
  await pass(50);
  kernel.traits.key = "another";
  kernel.emit("change:key");
  expect(kernel.asked("hello")).toHaveLength(2);
});

test("another thread is begun anew, whether the trait tells it or a refusal", async () => {
  connect();
  await pass(50);
  Object.assign(kernel.traits, { thread: "other", key: "o" });
  kernel.news = news([], { thread: "other" });
  kernel.emit("change:thread");
  await pass(50);
  expect(client.thread).toBe("other");
  kernel.answers = false;
  kernel.push(news([], { thread: "other", after: 9, last: 9 }));
  kernel.answers = true;
  kernel.news = news([], { thread: "third" });
  kernel.reply(kernel.asked("pull").at(-1)!, { error: { kind: "OtherThreadError", text: "x" } });
  await pass(50);
  expect(client.thread).toBe("third");
});

test("an idle page asks what it has missed when it is seen again or back on the net, and else leaves the kernel alone", async () => {
  connect();
  await pass(2_000);
  kernel.sent.length = 0;
  document.dispatchEvent(new Event("visibilitychange"));
  expect(kernel.asked("pull")).toHaveLength(0);
  await pass(10_000);
  document.dispatchEvent(new Event("visibilitychange"));
  await pass(50);
  expect(kernel.asked("pull")).toHaveLength(1);
  dispatchEvent(new Event("online"));
  await pass(600_000);
  expect(kernel.asked("pull")).toHaveLength(2);
  client.close();
  dispatchEvent(new Event("online"));
  expect(kernel.asked("pull")).toHaveLength(2);
});

test("a kernel of another version says so once, and is left alone", async () => {
  kernel.answers = false;
  connect();
  kernel.reply(kernel.asked("hello")[0]!, { error: { kind: "VersionError", text: "Reload the page." } });
  await pass(60_000);
  kernel.push(news([event("run_started")]));
  kernel.emit("change:thread", (kernel.traits.thread = "other"));
  await pass(60_000);
  expect(kernel.sent).toHaveLength(1);
  expect([client.connection, client.refusal, told]).toEqual(["lost", "Reload the page.", []]);
});

test("a refusal for another reason is told too, also where nothing was heard before it, and may pass", async () => {
  kernel.answers = false;
  connect();
  await pass(30_000);
  expect(states).toEqual(["lost"]);
  kernel.reply(kernel.asked("hello").at(-1)!, { error: { kind: "SessionError", text: "Not now." } });
  await pass(0);
  expect([states, client.refusal]).toEqual([["lost", "lost"], "Not now."]);
  kernel.answers = true;
  await pass(10_000);
  expect([client.connection, client.refusal]).toEqual(["live", ""]);
});

test("news of another thread change nothing", async () => {
  connect();
  await pass(50);
  const count = told.length;
  kernel.push(news([event("run_started")], { thread: "other" }));
  expect(told).toHaveLength(count);
});
