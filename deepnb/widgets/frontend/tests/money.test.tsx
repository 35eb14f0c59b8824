// @vitest-environment happy-dom
import jsQR from "jsqr";
import { afterEach, expect, test, vi } from "vitest";

import { RefusedError } from "../src/client";
import type { QuestionStep } from "../src/model";
import { Balance } from "../src/money/Balance";
import { problemOf } from "../src/money/paying";
import type { PaymentFacts } from "../src/protocol";
import { openQuestionSummary, QuestionCard } from "../src/questions/QuestionCard";
import { Bar } from "../src/shell/Bar";
import { Conversation } from "../src/store";
import { panel } from "./app";
import { event, news } from "./events";

// Code that has come as a text can only be run in a browser.
vi.mock("../src/later", async (original) => ({
  ...(await original<typeof import("../src/later")>()),
  moduleOf: () => import("../src/money/qr"),
}));

const TOKEN = "cashuBpGF0gaJhaUgArSaMTR9YJmFwgaNhYQFhc3hAOWE2ZGJiODQ3YmQyMzJiYTc2ZGIwZGYxOTcyMTZiMjlk";
const HANDLE = "cashu:0123456789abcdef0123456789abcdef";
const PAYMENT: PaymentFacts = {
  price: 2,
  balance: 12,
  spent: 8,
  mints: ["https://mint.example"],
  pubkey: "02a9acc1e48c25eeeb9289b5031cc57da9fe72f3fe2861d264bdc074209b107ba2",
  status: "active",
  refund: null,
};
const SETTLED: PaymentFacts = {
  ...PAYMENT,
  balance: 0,
  status: "settled",
  refund: { handle: HANDLE, amount: 11, kept: 8, fee: 1, lost: 0, waiting: 0, claimed: false },
};
const ASKED = { type: "payment_exhausted", price: 2, balance: 1, mints: ["https://mint.example"] };

function question(more: Partial<QuestionStep> = {}): QuestionStep {
  const asked = { id: "q1", agent: "deep", request: ASKED, answer: null, by: "", closed: null } as const;
  return { type: "question", seq: 1, time: Date.now() / 1000, fork: null, ...asked, ...more };
}

function open(part: "card" | "account", payment = PAYMENT) {
  const shown = panel({ facts: { payment } });
  shown.show(part === "card" ? <QuestionCard step={question()} /> : <Balance />);
  const field = () => shown.find("input.dn-secret") as HTMLInputElement;
  const press = (name: string) => shown.click(shown.find("button", name));
  return { ...shown, field, press, key: shown.press };
}

async function openAccount(payment = PAYMENT) {
  const shown = open("account", payment);
  await shown.press("Balance: ");
  return shown;
}

/** All that the page and this view hold. */
function held({ ui, request }: ReturnType<typeof open>): string {
  const fields = [...document.querySelectorAll<HTMLInputElement>("input, textarea")].map(({ value }) => value);
  const { drafts, draft, announcement } = ui;
  return JSON.stringify([
    document.documentElement.outerHTML,
    document.title,
    location.href,
    fields,
    { ...localStorage },
    { ...sessionStorage },
    [...drafts],
    draft,
    announcement,
    request.mock.calls.filter(([type]) => type !== "fund"),
  ]);
}

afterEach(() => vi.restoreAllMocks());

test("a session that nobody pays for shows nothing of money", () => {
  const { show, root } = panel();
  show(<Bar id="b" selected="chat" />);
  expect(root.textContent).not.toMatch(/sat|call/);
  expect(root.querySelector(".dn-balance")).toBeNull();
});

test("the bar says what is left and what a call costs, and opens to the rest", async () => {
  const { show, find, click, root } = panel({ facts: { payment: PAYMENT } });
  show(<Bar id="b" selected="chat" />);
  const button = find("button", "Balance: 12 sat");
  expect(button.textContent).toBe("12 sat · 2 a call");
  await click(button);
  const account = find("[role=dialog]");
  for (const words of ["for 6 calls", "8 sat spent", "https://mint.example", PAYMENT.pubkey, "Add money", "Settle"])
    expect(account.textContent).toContain(words);
  expect(root.querySelector("[aria-label='Copy the key']")).not.toBeNull();
  expect(root.querySelector("[aria-label=Refund]")).toBeNull();
});

test("what was said of one thread's money is not said of another's", async () => {
  const { press, request, find, tell, root } = await openAccount();
  request.mockRejectedValueOnce(new RefusedError("MintError", "The mint refuses."));
  await press("Settle");
  await vi.waitFor(() => find("[role=alert]"));
  await tell({ facts: { thread: "other", payment: PAYMENT } });
  expect(root.querySelector("[role=alert]")).toBeNull();
  await press("Balance: ");
  expect(root.querySelector("[role=alert]")).toBeNull();
});

test("a question for money says what it costs, what is left and whose tokens are taken", () => {
  const { root, find } = open("card");
  const card = find("[role=group]", "This needs money");
  expect(card.textContent).toContain("A call costs 2 sat, and 1 sat is left.");
  expect(card.textContent).toContain("https://mint.example");
  expect(root.querySelector("button, input")).toBe(root.querySelector("input.dn-secret")); // who is led here is led there
  expect(openQuestionSummary(question())).toBe("A call costs 2 sat. Pay to go on?");
});

test.each(["card", "account"] as const)("a token is paid in from the %s, and is nowhere afterwards", async (part) => {
  const logged = (["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name));
  const shown = part === "card" ? open("card") : await openAccount();
  const { field, type, press, request } = shown;
  let taken = (_: unknown) => {};
  request.mockImplementation(() => new Promise((resolve) => (taken = resolve)));
  await type(field(), ` ${TOKEN} `);
  expect(held(shown)).toContain(TOKEN); // or what follows would say nothing
  await press(part === "card" ? "Pay and go on" : "Add money");
  expect(request.mock.calls).toEqual([["fund", { token: TOKEN }]]);
  expect(field().value).toBe("");
  expect(held(shown)).not.toContain("cashuB");
  await press(part === "card" ? "Pay and go on" : "Add money");
  expect(request).toHaveBeenCalledOnce(); // while one is under way
  taken(null);
  await vi.waitFor(() => expect(shown.find("[role=status]").textContent).toBe("Paid in"));
  expect(held(shown)).not.toContain("cashuB");
  expect(logged.flatMap((spy) => spy.mock.calls)).toEqual([]);
});

test("Enter pays", async () => {
  const { field, type, key, request } = open("card");
  await type(field(), TOKEN);
  await key(field(), "Enter");
  expect(request.mock.calls).toEqual([["fund", { token: TOKEN }]]);
});

test("what is no token is seen before it is sent, and the field has the focus", async () => {
  const { field, type, press, request, root } = open("card");
  await press("Pay and go on");
  expect(root.textContent).toContain("Paste a token first.");
  await type(field(), "lnbc20u1p3");
  expect(root.textContent).toContain("begins with cashuA or cashuB");
  expect(field().getAttribute("aria-invalid")).toBe("true");
  await press("Pay and go on");
  expect(document.activeElement).toBe(field());
  expect(request).not.toHaveBeenCalled();
  for (const good of ["", "cashuAey", "cashuBo2", "cashu:cashuBo2"]) expect(problemOf(good)).toBe("");
  for (const bad of ["cashu", "creqAo2", "Cashubo2", HANDLE]) expect(problemOf(bad)).not.toBe("");
});

test("why a token was not taken is said in the kernel's words, and another one can be paid in", async () => {
  const { field, type, press, request, find } = open("card");
  request.mockRejectedValueOnce(new RefusedError("SpentTokenError", "This token was spent already."));
  await type(field(), TOKEN);
  await press("Pay and go on");
  await vi.waitFor(() => expect(find("[role=alert]").textContent).toBe("This token was spent already."));
  await type(field(), `${TOKEN}2`);
  await press("Pay and go on");
  expect(request.mock.lastCall).toEqual(["fund", { token: `${TOKEN}2` }]);
});

test("nothing is paid while the kernel is gone, and the token stays where it is", async () => {
  const { field, type, press, request, connect } = open("card");
  await type(field(), TOKEN);
  connect("lost");
  await press("Pay and go on");
  expect(request).not.toHaveBeenCalled();
  expect(field().value).toBe(TOKEN);
});

test("who does not want to pay stops", async () => {
  const { press, request } = open("card");
  await press("Stop");
  expect(request.mock.calls).toEqual([["respond", { question: "q1", answer: { stop: true } }]]);
});

test.each([
  [{ token: HANDLE }, "person", "Paid in 20 sat"],
  [{ token: "cashu:unknown" }, "person", "Paid in"],
  [{ stop: true }, "person", "Stopped instead of paying"],
  [null, "stop", "Not answered, the run was stopped: whether to pay"],
] as const)("of the answer %o by %s stays: %s", (answer, by, words) => {
  const { show, root } = panel({ payments: new Map([[HANDLE, 20]]) });
  show(<QuestionCard step={question({ answer, by, closed: 1 })} />);
  expect(root.querySelector(".dn-decided .dn-cut")!.textContent!.trim()).toBe(words);
  expect(root.outerHTML).not.toContain("cashu:");
});

test("what is paid in is told by its handle, and begins no turn", () => {
  const store = new Conversation();
  store.apply(news([event("payment", { what: "deposit", handle: HANDLE, amount: 20, fee: 0 }, { run: "", line: "paid in 20 sat" })]));
  expect(store.turns).toEqual([]);
  expect([...store.payments]).toEqual([[HANDLE, 20]]);
  expect(store.trace.map((row) => row.line)).toEqual(["paid in 20 sat"]);
});

test("what looks like no question of deepnb's for money is answered in words", () => {
  const { show, root } = panel();
  show(<QuestionCard step={question({ request: { type: "payment_exhausted", question: "Pay me" } })} />);
  expect(root.textContent).toContain("Paused for a payment");
  expect(root.querySelector("textarea")).not.toBeNull();
});

test("settling asks the kernel, and says why it could not be done", async () => {
  const { press, request, find } = await openAccount();
  request.mockRejectedValueOnce(new RefusedError("MintUnreachableError", "The mint does not answer."));
  await press("Settle");
  expect(request.mock.calls).toEqual([["settle_payment", {}]]);
  await vi.waitFor(() => expect(find("[role=alert]").textContent).toBe("The mint does not answer."));
});

test.each(["unfunded", "settled"] as const)("there is nothing to settle in an account that is %s", async (status) => {
  const { root } = await openAccount({ ...PAYMENT, balance: 0, status });
  expect([...root.querySelectorAll("button")].map((each) => each.textContent)).not.toContain("Settle");
});

test("a refund is shown to whoever asks, can be hidden again, and goes with the popover", async () => {
  const shown = await openAccount(SETTLED);
  const { press, request, find, root, tell } = shown;
  request.mockImplementation(async (type) => (type === "reveal_refund" ? { tokens: [TOKEN] } : { code: "" }));
  const refund = find("[aria-label=Refund]");
  for (const words of ["11 sat for you", "8 sat kept", "1 sat taken by the mint"]) expect(refund.textContent).toContain(words);
  expect(request).not.toHaveBeenCalled();
  await press("Show the token");
  expect(find(".dn-token").textContent).toBe(TOKEN);
  await press("Hide the token");
  expect(held(shown)).not.toContain(TOKEN);
  await press("Show the token");
  await tell({ facts: { payment: { ...SETTLED, refund: { ...SETTLED.refund!, handle: "cashu:another" } } } });
  expect(root.querySelector(".dn-token")).toBeNull();
});

test("a refund can be copied without being shown", async () => {
  const { press, request, find, root } = await openAccount(SETTLED);
  const written = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  request.mockResolvedValue({ tokens: [TOKEN, `${TOKEN}2`] });
  await press("Copy the token");
  await vi.waitFor(() => expect(find("[role=status]").textContent).toBe("Copied"));
  expect(written.mock.calls).toEqual([[`${TOKEN}\n${TOKEN}2`]]);
  expect(root.querySelector(".dn-token")).toBeNull();
});

test("nothing is offered where nothing was left", async () => {
  const { root } = await openAccount({ ...SETTLED, refund: { ...SETTLED.refund!, amount: 0 } });
  expect(root.textContent).toContain("Nothing was left to give back");
  expect(root.textContent).not.toContain("Show the token");
});

test("what a mint was not there for, and what was spent elsewhere, is said", async () => {
  const refund = { ...SETTLED.refund!, amount: 0, lost: 4, waiting: 20 };
  const { find, root } = await openAccount({ ...SETTLED, status: "exhausted", refund });
  const said = find("[aria-label=Refund]").textContent;
  for (const words of ["Not settled yet", "4 sat lost", "20 sat wait for the mint"]) expect(said).toContain(words);
  expect(said).not.toContain("Nothing was left");
  expect([...root.querySelectorAll("button")].map((each) => each.textContent)).toContain("Settle");
});

test("a refund that was taken is not offered again", async () => {
  const { find } = await openAccount({ ...SETTLED, refund: { ...SETTLED.refund!, claimed: true } });
  expect(find("[aria-label=Refund]").textContent).toContain("11 sat taken back");
  expect(find("[aria-label=Refund]").textContent).not.toContain("Show the token");
});

test.each([TOKEN.length, 700, 2_953])("a refund of %i characters can be scanned", async (length) => {
  const token = TOKEN.padEnd(length, TOKEN.slice(6));
  const { press, request, find } = await openAccount(SETTLED);
  request.mockImplementation(async (type) => (type === "reveal_refund" ? { tokens: [token] } : { code: "" }));
  await press("Show the token");
  const code = await vi.waitFor(() => find("svg[role=img]", "Refund as a QR code"));
  expect(scanned(code)).toBe(token);
});

test("a refund that is too long for a QR code says so, and several tokens have one each", async () => {
  const { press, request, find, root } = await openAccount(SETTLED);
  const tokens = [TOKEN, TOKEN.padEnd(2_954, "x")];
  request.mockImplementation(async (type) => (type === "reveal_refund" ? { tokens } : { code: "" }));
  await press("Show the token");
  await vi.waitFor(() => find("svg[role=img]", "Refund as a QR code, 1 of 2"));
  expect(root.querySelectorAll("svg[role=img]")).toHaveLength(1);
  expect(root.textContent).toContain("too long for a QR code");
  expect([...root.querySelectorAll(".dn-token")].map((each) => each.textContent)).toEqual(tokens);
});

/** Paints a code as a browser would, and reads it as a camera would. */
function scanned(code: Element): string | undefined {
  const scale = 3;
  const [left, top, modules] = code.getAttribute("viewBox")!.split(" ").map(Number) as [number, number, number];
  const size = modules * scale;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  const runs = code.querySelector("path")!.getAttribute("d")!.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g);
  for (const [, x, y, width] of runs)
    for (let row = 0; row < scale; row += 1) {
      const start = ((Number(y) - top) * scale + row) * size + (Number(x) - left) * scale;
      for (let at = start; at < start + Number(width) * scale; at += 1) pixels.fill(0, at * 4, at * 4 + 3);
    }
  return jsQR(pixels, size, size)?.data;
}
