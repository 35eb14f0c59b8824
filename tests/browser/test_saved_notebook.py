"""What is on disk when a notebook with a panel is saved: the conversation, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP, showing
from tests.browser.lab import approve_button, replies, say
from tests.browser.test_staying_true import twin

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
KEY = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"
FORGETFUL = f"""
import os
os.environ["OPENAI_API_KEY"] = {KEY!r}
{SETUP}
def careless(messages):
    "Say the key in an error, and read a file."
    last = messages[-1]
    if last.text == "fail":
        raise RuntimeError("401: the key {KEY} is not known")
    if last.text == "read":
        return call("read_file", file_path="/workspace/long.txt", limit=2000)
    return "it is long" if last.type == "tool" else model(messages)

session = deepnb.Session("deep", workspace=".", thread="saved", model=ScriptedModel(careless))
"""
TOGGLE = """async () => {
  const { commands } = window.jupyterapp;
  await commands.execute("@jupyter-widgets/jupyterlab-manager:saveWidgetState");
}"""


@pytest.fixture
def with_widget_state(lab):
    """Have the notebook keep the traits of its widgets, which is a setting of the server's."""

    def toggle():
        lab.page.evaluate(TOGGLE)

    toggled = []
    yield lambda: toggled.append(toggle())
    for _ in toggled:
        toggle()


def transcripts(notebook):
    """Give the static transcripts in a notebook's outputs."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    html = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    return [text for text in html if "data-deepnb-static" in text]


def in_order(text, *parts):
    at = [text.index(part) for part in parts]
    return at == sorted(at)


class Bare(HTMLParser):
    """What is left where tags have no attributes, and styles and drawings are taken out."""

    def __init__(self):
        super().__init__()
        self.text = ""
        self._inside = 0

    def handle_starttag(self, tag, attrs):
        self._inside += tag in ("style", "svg", "script")

    def handle_endtag(self, tag):
        self._inside -= tag in ("style", "svg", "script")

    def handle_data(self, data):
        if not self._inside:
            self.text += data

    @classmethod
    def read(cls, html):
        bare = cls()
        bare.feed(html)
        return bare.text


def test_the_transcript_goes_with_the_conversation_and_survives_conversion(lab):
    lab.open_notebook(showing("kept"))
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(twin(lab, 1)).to_contain_text("answer to hello")
    say(panel, "write")
    expect(approve_button(panel)).to_be_enabled()
    expect(twin(lab, 1)).to_contain_text("new.md")  # a question is in it before it is answered
    approve_button(panel).click()
    expect(twin(lab, 1)).to_contain_text("so Updated file /workspace/new.md")
    expect(twin(lab, 1)).to_be_hidden()
    lab.save()
    (kept,) = transcripts(lab.saved())
    said = ("hello", "answer to hello", "write", "new.md", "so Updated file /workspace/new.md")
    assert in_order(Bare.read(kept), *said)

    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--log-level", "WARN"]
    subprocess.run([*command, str(lab.path)], check=True)
    page = lab.context.new_page()
    page.goto(lab.path.with_suffix(".html").as_uri())
    shown = page.locator(".dnt-saved")
    expect(shown).to_be_visible()
    assert in_order(shown.inner_text(), "hello", "answer to hello", "so Updated file")


def test_no_key_no_token_and_no_file_is_saved(lab, with_widget_state):
    lab.open_notebook([FORGETFUL, "session"])
    lines = [f"line {number} of the long file" for number in range(1500)]
    (lab.folder / "long.txt").write_text("\n".join(lines))
    (lab.folder / "diary.txt").write_text("nobody has read this")
    lab.run_all()
    with_widget_state()
    panel = lab.panel(1)
    for question, answer in (("hello", "answer to hello"), ("read", "it is long"), ("fail", "401")):
        say(panel, question)
        expect(twin(lab, 1)).to_contain_text(answer)
    lab.save()
    notebook = lab.saved()
    (kept,) = transcripts(notebook)
    assert "401" in kept
    notebook.cells[0].source = ""  # has the key because the test says it there
    text = nbformat.writes(notebook)
    for secret in (KEY, lab.server.token, "nobody has read this", lines[-1]):
        assert secret not in text
    states = notebook.metadata.widgets[STATE]["state"].values()
    (state,) = (each["state"] for each in states if "panel" in each["state"])
    own = {name for name in state if not name.startswith("_")}
    assert own == {"panel", "key", "thread", "home", "opens", "layout"}
    assert "answer to" not in json.dumps(notebook.metadata)


def test_where_the_panel_is_dead_the_saved_transcript_is_seen_until_it_lives(
    lab, with_widget_state
):
    lab.open_notebook(showing("dead"))
    lab.run_all()
    with_widget_state()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(twin(lab, 1)).to_contain_text("answer to hello")
    lab.save()
    lab.restart_kernel()
    lab.reload(save=False)
    expect(twin(lab, 1)).to_be_visible()
    expect(panel).to_contain_text("run the cell that made session")
    lab.run_cell(0)
    expect(replies(panel)).to_contain_text("answer to hello")
    expect(twin(lab, 1)).to_be_hidden()


def test_after_a_reload_the_transcript_still_goes_with_the_conversation(lab):
    lab.open_notebook(showing("onward"))
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(twin(lab, 1)).to_contain_text("answer to hello")
    lab.reload()
    expect(replies(panel)).to_contain_text("answer to hello")
    say(panel, "later")
    expect(twin(lab, 1)).to_contain_text("answer to later")
    lab.save()
    assert "later" in transcripts(lab.saved())[0]


def test_a_transcript_that_is_not_wanted_is_not_there(lab):
    lab.open_notebook([showing("off")[0], "session.panel(transcript=False)"])
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    lab.save()
    outputs = lab.saved().cells[1].outputs
    assert [VIEW in output.data for output in outputs] == [True]
    assert "answer to" not in json.dumps(outputs)
