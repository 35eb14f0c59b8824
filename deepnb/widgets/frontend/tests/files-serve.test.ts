import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { RefusedError } from "../src/client";
import { AgentServing, type RunTool } from "../src/files/serve";
import { runTool } from "../src/files/tools";
import type { Answer } from "../src/files/types";
import type { QuestionStep } from "../src/model";
import { FakeKernel, FakeShelf, hashOf, until, type FakePage } from "./files-kernel";

let kernel: FakeKernel;
let shelf: FakeShelf;
let closing: AgentServing[];

beforeEach(() => {
  kernel = new FakeKernel();
  shelf = new FakeShelf();
  closing = [];
  previews.forget.mockClear();
});
afterEach(() => {
  for (const serving of closing) serving.close();
});

/** Answers with what it was asked; a write is kept with its answer, as the real one does it. */
const echo: RunTool = async (on, tool, args, question) => {
  const known = await on.answered(question!);
  if (known) return known;
  const answer: Answer = { result: { tool, args } };
  if (tool === "write_file") await on.write("/written", new Blob(["x"]), { answers: { question: question!, answer } });
  return answer;
};

const previews = { expected: vi.fn(async (): Promise<string | undefined> => undefined), forget: vi.fn(async () => {}) };

function serve(runTool: RunTool = echo, page: FakePage = kernel.page()) {
  const run = vi.fn(runTool);
  const serving = new AgentServing(page, shelf, run, previews);
  closing.push(serving);
  return { page, run, serving };
}

function question(id: string, tool: string, args: Record<string, string> = {}): QuestionStep {
  const request = { type: "client_tool_execution", tool, tool_call_id: "call", args };
  return { type: "question", id, request, by: "", answer: null, agent: "", closed: null } as unknown as QuestionStep;
}

it("answers each call once, however often it is shown", async () => {
  const { page, run } = serve();
  const open = [question("q1", "read_file", { path: "/a.md" }), question("q2", "list_files")];
  page.ask(open);
  page.ask(open);
  await until(() => kernel.answers.length === 2);
  page.ask([...open]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(kernel.answers.map((each) => each.question).sort()).toEqual(["q1", "q2"]);
  expect(kernel.answers.find((each) => each.question === "q1")!.answer).toEqual({ result: { tool: "read_file", args: { path: "/a.md" } } });
  expect(run).toHaveBeenCalledTimes(2);
});

it("leaves other questions to the person", async () => {
  const { page, run } = serve();
  page.ask([{ ...question("q1", "x"), request: { type: "clarification_request", tool: "ask_user", question: "Which?", options: [] } }]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([run.mock.calls.length, kernel.asked.length]).toEqual([0, 0]);
});

it("is done by one page of two", async () => {
  const pages = [kernel.page("one"), kernel.page("two")];
  const served = pages.map((page) => serve(echo, page));
  for (const page of pages) page.ask([question("q1", "write_file", { path: "/a" })]);
  await until(() => kernel.answers.length === 1);
  expect(served[0]!.run.mock.calls.length + served[1]!.run.mock.calls.length).toBe(1);
});

it("reads at once on the page that got the last call, and writes only with the kernel's word", async () => {
  const { page } = serve();
  page.ask([question("q1", "read_file")]);
  await until(() => kernel.answers.length === 1);
  let grant = () => {};
  const word = new Promise<void>((resolve) => (grant = resolve));
  kernel.before = (type) => (type === "claim" ? word : undefined);
  page.ask([question("q2", "write_file", { path: "/a" }), question("q3", "read_file")]);
  await until(() => kernel.answers.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(kernel.answers.map((each) => each.question)).toEqual(["q1", "q3"]);
  grant();
  await until(() => kernel.answers.length === 3);
});

it("leaves what it may read to the page that got the last call", async () => {
  const pages = [kernel.page("one"), kernel.page("two")];
  const served = pages.map((page) => serve(echo, page));
  const ask = (id: string) => pages.forEach((page) => page.ask([question(id, "read_file")]));
  ask("q1");
  await until(() => kernel.answers.length === 1 && kernel.count("claim") === 2);
  await new Promise((resolve) => setTimeout(resolve, 60));
  for (const page of pages) page.ask([]);
  ask("q2");
  await until(() => kernel.answers.length === 2);
  for (const page of pages) page.ask([]);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(kernel.answers.length).toBe(2);
  expect(served.map(({ run }) => run.mock.calls.length).sort()).toEqual([0, 2]);
});

it("is answered once by each of many calls, also when another page comes up between them", async () => {
  const first = serve(echo, kernel.page("one"));
  first.page.ask([question("q0", "read_file")]);
  await until(() => kernel.answers.length === 1);
  first.page.ask([]);
  const second = serve(echo, kernel.page("two"));
  for (const id of ["q1", "q2", "q3"]) {
    for (const { page } of [first, second]) page.ask([question(id, "read_file")]);
    await until(() => kernel.answers.some((each) => each.question === id));
    for (const { page } of [first, second]) page.ask([]);
  }
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(kernel.count("client_answer")).toBe(4);
  expect(second.run).not.toHaveBeenCalled();
});

it("is done by the other page when the first is gone", async () => {
  kernel.claims.set("q1", "another page");
  const { page } = serve();
  page.ask([question("q1", "read_file")]);
  await until(() => kernel.count("claim") === 1);
  expect(kernel.answers).toEqual([]);
  kernel.claims.clear();
  await until(() => kernel.answers.length === 1);
});

it("is not written twice when the answer was lost on its way", async () => {
  const { page } = serve();
  const write = vi.spyOn(shelf, "write");
  kernel.before = (type) => {
    if (type !== "client_answer") return;
    kernel.before = () => {};
    page.cut();
    setTimeout(() => page.reconnect(), 20);
    throw new RefusedError("ConnectionLost", "cut");
  };
  page.ask([question("q1", "write_file", { path: "/a" })]);
  await until(() => kernel.answers.length === 1);
  expect(write).toHaveBeenCalledTimes(1);
});

it("answers a second call under the same id, as a tool may make two", async () => {
  const { page } = serve();
  page.ask([question("q1", "write_file", { path: "/a" })]);
  await until(() => kernel.answers.length === 1);
  kernel.answers.length = 0;
  page.ask([question("q1", "write_file", { path: "/b" })]);
  await until(() => kernel.answers.length === 1);
  expect(kernel.answers[0]!.answer).toMatchObject({ result: { args: { path: "/b" } } });
});

it("writes one after another, and reads meanwhile", async () => {
  let [writing, most] = [0, 0];
  const letGo: (() => void)[] = [];
  const { page } = serve(async (_, tool) => {
    if (tool === "write_file") {
      most = Math.max(most, (writing += 1));
      await new Promise<void>((resolve) => letGo.push(resolve));
      writing -= 1;
    }
    return { result: {} };
  });
  page.ask([question("w1", "write_file"), question("w2", "write_file"), question("r1", "read_file"), question("r2", "grep_files")]);
  await until(() => kernel.answers.length === 2);
  expect(kernel.answers.map((each) => each.question).sort()).toEqual(["r1", "r2"]);
  letGo[0]!();
  await until(() => letGo.length === 2);
  letGo[1]!();
  await until(() => kernel.answers.length === 4);
  expect(most).toBe(1);
});

it("tells the agent what has gone wrong here", async () => {
  const { page } = serve(() => Promise.reject(new Error("The store was deleted.")));
  page.ask([question("q1", "read_file")]);
  await until(() => kernel.answers.length === 1);
  expect(kernel.answers[0]!.answer).toEqual({ error: "The browser could not do this: The store was deleted." });
});

it("tells the agent when an answer was refused, or is too long to be sent", async () => {
  const { page } = serve(async (_, tool) => ({ result: { content: tool === "read_file" ? "x".repeat(9 * 1024 * 1024) : "odd" } }));
  kernel.before = (type, fields) => {
    if (type === "client_answer" && "result" in (fields["answer"] as object)) throw new RefusedError("AnswerError", "content is odd");
  };
  page.ask([question("q1", "read_file"), question("q2", "list_files")]);
  await until(() => kernel.answers.length === 2);
  const said = Object.fromEntries(kernel.answers.map((each) => [each.question, (each.answer as { error: string }).error]));
  expect(said["q1"]).toMatch(/too long/);
  expect(said["q2"]).toMatch(/content is odd/);
});

it("waits, visibly, for a folder that the reader has to open again", async () => {
  shelf.real = [{ name: "thesis", state: "ask" }];
  const { page, serving } = serve();
  page.ask([question("q1", "read_file", { path: "/thesis/a.md" }), question("q2", "read_file", { path: "/other.md" })]);
  await until(() => serving.waiting.length === 1);
  expect(serving.waiting).toEqual([{ question: "q1", tool: "read_file", folder: "thesis" }]);
  await until(() => kernel.answers.length === 1);
  expect(kernel.answers[0]!.question).toBe("q2");
  await shelf.allowFolder("thesis");
  await until(() => kernel.answers.length === 2);
  expect(serving.waiting).toEqual([]);
});

it("waits for a closed folder also if all is searched, but not to list what is above it", async () => {
  shelf.real = [{ name: "thesis", state: "ask" }];
  const { page, serving } = serve();
  page.ask([question("q1", "grep_files", { path: "/" }), question("q2", "list_files", { path: "/" }), question("q3", "glob_files", { path: "/notes" })]);
  await until(() => kernel.answers.length === 2);
  expect(serving.waiting).toEqual([{ question: "q1", tool: "grep_files", folder: "thesis" }]);
  await shelf.allowFolder("thesis");
  await until(() => kernel.answers.length === 3);
});

it("stops waiting when nobody wants the answer any more", async () => {
  shelf.real = [{ name: "thesis", state: "ask" }];
  const { page, serving, run } = serve();
  page.ask([question("q1", "read_file", { path: "/thesis/a.md" })]);
  await until(() => serving.waiting.length === 1);
  page.ask([]);
  await until(() => serving.waiting.length === 0);
  expect(run).not.toHaveBeenCalled();
});

it("waits for the kernel to be back", async () => {
  const { page } = serve();
  page.cut();
  page.ask([question("q1", "read_file")]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(kernel.asked).toEqual([]);
  page.reconnect();
  await until(() => kernel.answers.length === 1);
});

it("carries out no write that was approved for another content of the file, and remembers what was seen", async () => {
  shelf.put("/a.md", "changed meanwhile");
  previews.expected.mockResolvedValueOnce(hashOf("as it was seen"));
  const { page } = serve(runTool);
  page.ask([question("q1", "write_file", { path: "/a.md", content: "x" })]);
  await until(() => kernel.answers.length === 1);
  expect(kernel.answers[0]!.answer).toEqual({ error: expect.stringContaining("has changed since the person was asked") });
  expect(shelf.text("/a.md")).toBe("changed meanwhile");
  expect(previews.forget).not.toHaveBeenCalled();
});

it("carries out a write to what the reader has seen, and lets go of that", async () => {
  shelf.put("/a.md", "as it was seen");
  previews.expected.mockResolvedValueOnce(hashOf("as it was seen"));
  const { page } = serve(runTool);
  const args = { path: "/a.md", content: "x" };
  page.ask([question("q1", "write_file", args)]);
  await until(() => kernel.answers.length === 1);
  expect(shelf.text("/a.md")).toBe("x");
  expect(previews.forget).toHaveBeenCalledExactlyOnceWith("write_file", args);
});
