// @vitest-environment happy-dom
import { act } from "preact/test-utils";
import { expect, test } from "vitest";

import { TurnView } from "../src/chat/TurnView";
import { masked } from "../src/markdown/marks";
import { unmasked } from "../src/markdown/mask";
import { render } from "../src/markdown/render";
import type { Report, Source, TextStep } from "../src/model";
import { withCitation } from "../src/research/CiteCard";
import { pieces } from "../src/research/Passage";
import { VIEWS } from "../src/shell/views";
import { Conversation } from "../src/store";
import { Sources } from "../src/tabs/Sources";
import { panel } from "./app";
import { event, news, restart } from "./events";

const SOURCE = {
  id: "S1",
  kind: "file",
  title: "Minutes",
  location: "minutes.pdf",
  read: 1_800_000_000,
  passages: [
    { text: "It began.", place: "p. 1" },
    { text: "𝒳 The core was weak. It was red.", place: "p. 2" },
  ],
};
const OTHER = { ...SOURCE, id: "S2", kind: "page", title: "<b>Letters</b>", location: "https://example.org/a" };
const ROW = { quote: "", place: "", found_in: "", passage: null, start: null, end: null, mark: null };
const CITATIONS = [
  { ...ROW, id: "C1", claim: "It was weak.", quote: "The core was weak", source: "S1", place: "p. 2", verdict: "quoted", passage: 1, start: 2, end: 19, mark: 0 },
  { ...ROW, id: "C2", claim: "It was red.", source: "S2", verdict: "misattributed", found_in: "S1", passage: 1, mark: 1 },
  { ...ROW, id: "C3", claim: "It was blue.", quote: "blue", source: "S2", verdict: "not found", mark: 2 },
  { ...ROW, id: "C4", claim: "It was old.", source: "S1", verdict: "source matched, support not verified", passage: 0, mark: 3 },
  { ...ROW, id: "C5", claim: "Nobody knew.", source: "", verdict: "uncited" },
];
const SIDES = [
  { source: "S1", place: "p. 2", passage: 1, text: "It was red." },
  { source: "S2", place: "p. 1", passage: 0, text: "It was <i>blue</i>." },
];
const TEXT = "It was weak [S1]. Red [S2][S2].\n\n`[S1]` is code.\n\n```\n[S1]\n```\n\n| a |\n|---|\n| old [S1] |\n\nNobody knew.";
/** Where marks begin, in characters: each behind the one before. */
function places(text: string, ...marks: string[]): number[] {
  let end = 0;
  return marks.map((mark) => {
    const at = text.indexOf(mark, end);
    end = at + mark.length;
    return Array.from(text.slice(0, at)).length;
  });
}

const MARKS = [...places(TEXT, "[S1]", "[S2]", "[S2]"), ...places(TEXT, "old [S1]").map((at) => at + 4)];
const CHECKED = { message: "m", text: TEXT, marks: MARKS, citations: CITATIONS, conflicts: [{ about: ["red"], why: "a differing number", sides: SIDES }], counts: {}, removed: 1 };

/** A conversation with a report, whose check is told before the message as kernels do. */
function conversation(text = TEXT, checked: object = CHECKED): Conversation {
  restart();
  const store = new Conversation();
  store.apply(news([
    event("run_started", { text: "Why?" }),
    event("source", SOURCE),
    event("source", OTHER),
    event("report", checked),
    event("message", { id: "m", role: "assistant", text }),
    event("run_ended", { status: "done", seconds: 1 }),
  ]));
  return store;
}

function shown(text?: string, checked?: object) {
  const store = conversation(text, checked);
  const { turns, sources, reports } = store;
  const made = panel({ turns, sources, reports });
  made.show(<TurnView turn={turns[0]!} isLast />);
  return { ...made, store, chips: () => [...made.root.querySelectorAll<HTMLElement>(".dn-prose .dn-cite")] };
}

test("a mark is masked where the check has found it, and comes back as it was", () => {
  const text = "𝒳 a [S1] `[S2]` ``x ` [S3]`` [S12]\n\n    [S4]\n\n[S5](https://evil.test) [x]";
  const made = masked(text, places(text, "[S1]", "[S12]", "[S5]"));
  expect(made).not.toContain("[S1]");
  expect(made).toContain("`[S2]` ``x ` [S3]``");
  expect(made).toContain("    [S4]");
  expect(unmasked(made)).toBe(text);
  const seen: unknown[] = [];
  const chip = (...mark: [string, number]) => (seen.push(mark), document.createElement("button"));
  const box = document.createElement("div");
  box.append(render(made, { images: false, whole: true, makeChip: chip }));
  expect(seen).toEqual([["S1", 0], ["S12", 1], ["S5", 2]]);
  expect(masked(text, [0, 5, 5_000, -1])).toBe(text);
  expect(box.querySelector("a[href='https://evil.test']")?.textContent).toBe("https://evil.test");
});

test("a mark in a link, an address or a formula stays text, and takes nothing with it", () => {
  const box = document.createElement("div");
  const text = "[see [S1] here](https://a.test/) https://b.test/[S2] $x_{[S3]}$ ![alt [S4]](x) **“bold.”**[S5]";
  box.append(render(masked(text, places(text, "[S1]", "[S2]", "[S3]", "[S4]", "[S5]")), { images: false, whole: true, makeChip: () => document.createElement("button") }));
  expect(box.querySelector("a")?.textContent).toBe("see [S1] here");
  expect(box.innerHTML).not.toMatch(/,[a-z]{8}S\d/);
  expect(box.querySelector("strong")?.textContent).toBe("“bold.”");
  expect(box.querySelectorAll(".dn-nb > button")).toHaveLength(1);
});

test("every mark of a report is a chip that says its verdict, in code it is text", () => {
  const { root, chips } = shown();
  expect(chips().map((chip) => chip.getAttribute("aria-label"))).toEqual([
    "Source S1: quoted, word for word",
    "Source S2: misattributed, found in source S1",
    "Source S2: not found, in this or any other source",
    "Source S1: paraphrase, source matched, support not verified",
  ]);
  expect(chips()[1]!.querySelector("i")?.dataset.n).toBe("S1");
  expect([...root.querySelectorAll("code, pre")].map((code) => code.textContent!.trim())).toEqual(["[S1]", "[S1]"]);
  expect(root.querySelector(".dn-nb")?.textContent).toBe("weak S1.");
});

test("marks stay text without a check, and where the check tells of another source", () => {
  const plain = shown(TEXT, { ...CHECKED, message: "another" });
  expect(plain.chips()).toEqual([]);
  expect(plain.root.textContent).toContain("It was weak [S1].");
  const moved = shown("It was weak [S2]. Red [S2].", { ...CHECKED, marks: places("It was weak [S2]. Red [S2].", "[S2]", "[S2]") });
  expect(moved.chips()).toHaveLength(1);
  expect(moved.root.textContent).toContain("weak [S2].");
});

test("the verdict line counts all, and lists claims that have no mark", async () => {
  const { root, find, click } = shown();
  expect(find(".dn-checks summary").textContent).toBe(
    "1 quoted1 paraphrased, support not verified1 misattributed1 not found1 uncited",
  );
  const details = root.querySelector("details.dn-checks") as HTMLDetailsElement;
  await act(async () => {
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
  });
  expect(root.querySelectorAll(".dn-claim")).toHaveLength(5);
  expect(details.textContent).toContain("1 mark led to no source, and was taken out.");
  await click(find(".dn-claim", "Nobody knew."));
  expect(find("[role=dialog]").textContent).toContain("no source is named");
  expect(find("[role=dialog]").textContent).not.toContain("Open in Sources");
});

test("a chip opens the passage with its quote, and a person can settle the claim and take it back", async () => {
  const { root, find, click, type, request, chips, store, show } = shown();
  await click(chips()[0]!);
  const dialog = find("[role=dialog]");
  expect(chips()[0]!.getAttribute("aria-expanded")).toBe("true");
  expect(dialog.querySelector("mark")?.textContent).toBe("The core was weak");
  expect(dialog.textContent).toContain("S1 Minutes, p. 2");
  await type(find("[role=dialog] input"), " p. 3 too ");
  await click(find("[role=dialog] button", "I have checked it"));
  expect(request.mock.calls).toEqual([["settle", { run: "r1", citation: "C1", note: "p. 3 too", checked: true }]]);
  const [before, text] = [chips()[0], root.querySelector(".dn-prose p")];
  store.apply(news([event("settled", { citation: "C1", by: "person", note: "p. 3 too" })]));
  await show(<TurnView turn={store.turns[0]!} isLast />);
  expect(find("[role=dialog]").textContent).toMatch(/You have checked this, \d\d:\d\d: p\. 3 too/);
  expect(chips()[0]).toBe(before); // nothing of the text was drawn again
  expect(root.querySelector(".dn-prose p")).toBe(text);
  expect(before!.getAttribute("aria-label")).toContain("checked by you");
  expect(find(".dn-checks summary").textContent).toContain("1 checked by you");
  const button = find("[role=dialog] button", "Take it back");
  await click(button);
  expect(request.mock.calls[1]).toEqual(["settle", { run: "r1", citation: "C1", note: "", checked: false }]);
  store.apply(news([event("settled", { citation: "C1", by: "person", note: "p. 3 too", checked: false })]));
  await show(<TurnView turn={store.turns[0]!} isLast />);
  expect(find("[role=dialog] button", "I have checked it")).toBe(button); // who has pressed it is still there
  expect((find("[role=dialog] input") as HTMLInputElement).value).toBe(" p. 3 too ");
  expect(before!.getAttribute("aria-label")).not.toContain("checked by you");
  expect(before!.hasAttribute("data-settled")).toBe(false);
  expect(find(".dn-checks summary").textContent).not.toContain("checked by you");
});

test("what the kernel refuses stands beside the button", async () => {
  const { find, click, request, chips } = shown();
  request.mockRejectedValueOnce(new Error("There is no such claim."));
  await click(chips()[2]!);
  expect(find("[role=dialog] s").textContent).toBe("“blue”");
  await click(find("[role=dialog] button", "I have checked it"));
  expect(find("[role=alert]").textContent).toBe("There is no such claim.");
});

test("sources that may disagree stand side by side, as text", () => {
  const { root, find } = shown();
  expect(find(".dn-disagree").textContent).toContain("Sources may disagree");
  expect([...root.querySelectorAll(".dn-disagree .dn-quote")].map((side) => side.textContent)).toEqual(["“It was red.”", "“It was <i>blue</i>.”"]);
});

test("a passage leads to its source, which marks every quote and can be walked", async () => {
  const { ui, find, click, press, chips, show, root } = shown();
  await click(chips()[1]!);
  await click(find("[role=dialog] button", "Open in Sources"));
  expect(ui).toMatchObject({ tab: "sources", source: { source: "S1", passage: 1, span: null } });
  await show(<Sources />);
  expect(find("[role=option][aria-selected=true]").textContent).toContain("Minutes");
  expect(root.querySelectorAll(".dn-seen")).toHaveLength(2);
  expect(root.querySelector(".dn-seen mark")?.textContent).toBe("The core was weak");
  expect(find(".dn-walk").textContent).toBe("1 quote");
  await click(find("button", "Next quote"));
  expect(find(".dn-walk").textContent).toBe("Quote 1 of 1");
  expect(root.querySelector("mark")?.getAttribute("aria-current")).toBe("true");
  await press(find("[role=option][aria-selected=true]"), "ArrowDown");
  expect(find("[role=option][aria-selected=true]").textContent).toContain("<b>Letters</b>");
  expect(find("a.dn-where").getAttribute("href")).toBe("https://example.org/a");
});

test("the list says how often a source was cited, and how", async () => {
  const { show, root } = shown();
  await show(<Sources />);
  expect([...root.querySelectorAll(".dn-src small")].map((each) => each.textContent)).toEqual([
    "1 quoted, 1 paraphrased, minutes.pdf",
    "1 misattributed, 1 not found, https://example.org/a",
  ]);
});

test("the tab is there when something was read", () => {
  const view = VIEWS.find(({ id }) => id === "sources")!;
  expect(view.isThere(new Conversation())).toBe(false);
  expect(view.isThere(conversation())).toBe(true);
  expect(view.count(conversation())).toBe("2");
});

test("a source that has grown is told anew, and what cannot be read is no support", () => {
  const store = conversation(TEXT, { ...CHECKED, citations: [{ ...CITATIONS[0], verdict: "verified" }, 7, null], conflicts: [{ sides: [] }] });
  store.apply(news([event("source", { ...SOURCE, passages: [...SOURCE.passages, { text: "More." }] })]));
  expect(store.sources.get("S1")?.passages).toHaveLength(3);
  expect([...store.sources.keys()]).toEqual(["S1", "S2"]);
  const report = store.reports[0] as Report;
  expect(report.citations.map(({ verdict }) => verdict)).toEqual(["missing"]);
  expect(report.conflicts).toEqual([]);
  expect((store.turns[0]!.steps[0] as TextStep).report).toBe(report);
});

test("spans count characters as Python does, may overlap, and hide nothing", () => {
  expect(pieces("𝒳ab\u202ec", [[1, 2], [1, 3]])).toEqual([
    { text: "𝒳", start: null },
    { text: "a", start: 1 },
    { text: "b", start: 1 },
    { text: "\\u202ec", start: null },
  ]);
  expect(pieces("abc", [[2, 99]]).map(({ text }) => text)).toEqual(["ab", "c"]);
});

test("a copy names its source", () => {
  const [quoted] = conversation().reports[0]!.citations;
  expect(withCitation(quoted!, conversation().sources.get("S1") as Source)).toBe("“The core was weak” (Minutes, p. 2, minutes.pdf)");
  expect(withCitation({ ...quoted!, quote: "" }, undefined)).toBe("It was weak.");
});
