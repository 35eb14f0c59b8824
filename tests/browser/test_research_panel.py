"""A report in the panel: what its chips say, what a person can settle, and what was read."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest
from playwright.sync_api import expect

from tests.browser.lab import approve_button, say
from tests.browser.payloads import payloads
from tests.browser.test_hostile import DANGERS, OPEN, PROVOKE, Evil

RESEARCH = """
import pathlib, deepnb
pathlib.Path("papers").mkdir()
pathlib.Path("papers/minutes.md").write_text(
    "# Minutes\\n\\nThe pump cost 15 pounds in the year 1858. It stood in the yard for years.\\n"
)
pathlib.Path("papers/letters.md").write_text(
    "# Letters\\n\\nThe pump cost 17 pounds in the year 1858. Nobody wrote to the yard.\\n"
)
session = deepnb.Session("research", workspace="papers", thread="pump")
"""
SETTLED = """
for event in session.events():
    if event.kind == "settled": print(*event.data.values())
"""


def chips(panel):
    return panel.locator(".dn-prose .dn-cite")


def test_a_report_leads_to_the_passages_behind_it(lab):
    lab.open_notebook([RESEARCH, "session", SETTLED])
    for index in (0, 1):
        lab.run_cell(index)
    panel = lab.panel(1)
    say(panel, "What did the pump cost?")
    approve_button(panel).click()

    chip = chips(panel).first
    expect(chip).to_have_attribute("aria-label", "Source S1: quoted, word for word")
    expect(panel.locator(".dn-checks summary")).to_contain_text("quoted")
    chip.focus()
    chip.press("Enter")
    card = panel.get_by_role("dialog", name="Source S1: quoted")
    expect(card.locator("mark")).to_contain_text("The pump cost")
    expect(chip).to_have_attribute("aria-expanded", "true")
    lab.page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(chip).to_be_focused()

    chip.click()
    card.get_by_role("textbox", name="Note").fill("p. 3 too")
    lab.page.keyboard.press("Enter")
    expect(card).to_contain_text(re.compile(r"You have checked this, \d\d:\d\d: p. 3 too"))
    expect(chip).to_have_attribute("aria-label", re.compile("checked by you$"))
    expect(card.get_by_role("button", name="Take it back")).to_be_focused()
    lab.page.keyboard.press("Enter")
    expect(card.get_by_role("button", name="I have checked it")).to_be_focused()
    expect(card.get_by_role("textbox", name="Note")).to_have_value("p. 3 too")
    expect(chip).not_to_have_attribute("aria-label", re.compile("checked by you$"))
    lab.run_cell(2)
    expect(lab.outputs(2)).to_have_text(
        re.compile(r"C1 person p. 3 too True\s+C1 person p. 3 too False")
    )

    card.get_by_role("button", name="Open in Sources").click()
    sources = panel.get_by_role("tabpanel", name=re.compile("^Sources"))
    expect(panel.get_by_role("tab", name="Sources 2")).to_have_attribute("aria-selected", "true")
    expect(sources.locator("mark[aria-current]")).to_be_focused()
    expect(sources.locator("mark[aria-current]")).to_contain_text("The pump cost")
    sources.get_by_role("option").first.press("ArrowDown")
    expect(sources.get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")
    expect(sources.get_by_role("option").nth(1)).to_be_focused()
    expect(sources.get_by_role("region", name="Source S2")).to_contain_text("The pump cost")

    panel.get_by_role("tab", name="Chat").click()
    for form, begins in (("Word", b"PK"), ("Markdown", b"# What did the pump cost?")):
        panel.get_by_role("button", name="More", exact=True).click()
        report = panel.get_by_role("group", name="Report")
        expect(report).to_contain_text("Report: What did the pump cost?")
        with lab.page.expect_download() as download:
            report.get_by_role("menuitem", name=f"Download report as {form}").click()
        assert download.value.suggested_filename.startswith("pump-report.")
        assert download.value.path().read_bytes().startswith(begins)
    assert lab.errors == []


EMBEDDING = """
import pathlib, threading, deepnb
from langchain_core.embeddings import Embeddings

gate = threading.Event()

class Slow(Embeddings):
    def embed_documents(self, texts):
        gate.wait(60)
        return [[1.0, 0.0]] * len(texts)
    def embed_query(self, text):
        return [1.0, 0.0]

pathlib.Path("papers").mkdir()
pathlib.Path("papers/minutes.md").write_text("The pump cost 15 pounds in the year 1858.")
knowledge = deepnb.Knowledge("papers", embeddings=Slow())
session = deepnb.Session("research", workspace="papers", knowledge=knowledge)
"""


def test_what_is_done_to_the_documents_is_shown_until_it_is_done(lab):
    lab.open_notebook([EMBEDDING, "session", "gate.set()"])
    for index in (0, 1):
        lab.run_cell(index)
    panel = lab.panel(1)
    expect(panel.locator(".dn-reading")).to_contain_text("Embedding passages")
    bar = panel.get_by_role("progressbar", name="Embedding passages")
    expect(bar).to_have_attribute("aria-valuemax", "1")
    say(panel, "What did the pump cost?")  # words are searched meanwhile
    approve_button(panel).click()
    expect(chips(panel).first).to_be_visible()
    expect(bar).to_be_visible()
    lab.run_cell(2)
    expect(panel.locator(".dn-reading")).to_have_count(0)
    assert lab.errors == []


HOSTILE = """
import json, pathlib, deepnb
from typing import Any
from deepnb.citations.positions import positions
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

TEXTS = json.loads(pathlib.Path("texts.json").read_text())
MATCHED = "source matched, support not verified"
VERDICTS = ["quoted", "misattributed", "not found", MATCHED, TEXTS[0]]
KINDS = ["file", "page", "note", "tool", "__proto__"]

class State(MessagesState):
    sources: dict[str, Any]
    report: dict[str, Any]

def source(n, text):
    passages = [{"text": text, "place": text}, {"text": text * 2, "place": ""}]
    about = {"id": f"S{n}", "kind": KINDS[n % 5], "title": text, "location": text, "read": n}
    return {**about, "passages": passages}

def citation(n, text):
    about = {"id": f"C{n}", "claim": text, "quote": text, "source": f"S{n}", "place": text}
    place = {"passage": n % 2, "start": 0, "end": len(text) - n % 3, "mark": n}
    return {**about, "verdict": VERDICTS[n % 5], "found_in": f"S{(n + 1) % 9}", **place}

def write(state):
    rows = [citation(n, text) for n, text in enumerate(TEXTS)]
    sides = [{"source": f"S{n}", "place": t, "text": t, "passage": 0} for n, t in enumerate(TEXTS)]
    conflicts = [
        {"about": [t], "why": t, "sides": sides[n : n + 2]} for n, t in enumerate(TEXTS[:-1])
    ]
    said = "\\n\\n".join(f"[S{n}]" for n in range(len(TEXTS)))
    checked = {"citations": rows, "conflicts": conflicts, "counts": {}, "removed": 1}
    return {
        "sources": {f"S{n}": source(n, text) for n, text in enumerate(TEXTS)},
        "report": {**checked, "message": "m", "text": said, "marks": positions(said)},
        "messages": [AIMessage(said, id="m")],
    }

graph = StateGraph(State).add_node("write", write).add_edge(START, "write").compile()
session = deepnb.Session(graph, workspace=".", thread="hostile", persist=False)
session.ask("write").wait(30)
"""


@pytest.fixture
def evil(lab):
    with closing(Evil(lab)) as evil:
        yield evil


def test_nothing_that_was_read_is_obeyed(lab, evil):
    texts = payloads(evil.host)
    (lab.folder / "texts.json").write_text(json.dumps(texts))
    lab.open_notebook([HOSTILE, "session"])
    address = lab.page.url
    lab.run_all()
    panel = lab.panel(1)
    expect(chips(panel)).to_have_count(len(texts))
    panel.evaluate(OPEN)
    panel.get_by_role("button", name=re.compile("^Show .* more")).click()
    expect(panel.locator(".dn-claim")).to_have_count(len(texts))

    def look():
        panel.evaluate(PROVOKE)
        assert panel.evaluate(DANGERS) == []

    look()
    for number in range(0, len(texts), 29):
        chips(panel).nth(number).click()
        expect(panel.get_by_role("dialog")).to_be_visible()
        assert panel.get_by_role("dialog").evaluate(DANGERS) == []
        lab.page.keyboard.press("Escape")
    panel.get_by_role("tab", name=re.compile("^Sources")).click()
    expect(panel.get_by_role("option")).to_have_count(len(texts))
    look()
    for number in range(0, len(texts), 61):
        panel.get_by_role("option").nth(number).click()
        expect(panel.get_by_role("option").nth(number)).to_have_attribute("aria-selected", "true")
        look()
    evil.check_nothing_happened(address)
    evil.check_trap()
