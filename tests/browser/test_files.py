"""The agent and the reader's files in their browser, and what of them reaches the kernel."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import shelf
from tests.browser.lab import approve_button, replies, say
from tests.browser.shelf import add, item, my_computer, show

SETUP = """
import deepnb
from deepnb.testing import ScriptedModel, call

NOTES = "/files/notes.md"
CALLS = {
    "grep": call("grep", pattern="pump", path="/files/", output_mode="content"),
    "read": call("read_file", file_path=NOTES),
    "read some": call("read_file", file_path="/files/papers/7.txt", offset=1, limit=2),
    "list": call("ls", path="/files/"),
    "glob": call("glob", pattern="*1.txt", path="/files/papers"),
    "search": call("search_files", query="turbidity of the lake", top_k=2),
    "write": call("write_file", file_path=NOTES, content="# Notes\\n\\nAll is new.\\n"),
    "edit": [
        call("edit_file", file_path=f"/files/{name}.py", old_string="n = 1", new_string="n = 1 + 1")
        for name in "abcd"
    ],
}

def model(messages):
    last = messages[-1]
    return f"so {last.text}" if last.type == "tool" else CALLS[last.text]

session = deepnb.Session("deep", workspace=".", client=True, model=ScriptedModel(model))
"""
NOTES = b"# Notes\n\nThe pump cost 15 pounds.\nNobody said why.\n"
FILES = 200
# Papers of 10 KB, all of whose lines hold a secret but the few that are asked for.
PAPERS = """async (place, count) => {
  const line = number => `${number}: the secret of paper ${number} is told nowhere else\\n`;
  const data = new DataTransfer();
  for (let number = 0; number < count; number++) {
    const lines = Array(190).fill(line(number));
    if (number === 7) lines.splice(1, 2, "the second line\\n", "the third line\\n");
    if (number % 50 === 3) lines[90] = `paper ${number} has a pump in it\\n`;
    if (number === 60) lines.fill("turbidity of lake water, measured\\n", 60, 120);
    data.items.add(new File(lines, `${number}.txt`));
  }
  const row = place.querySelector("[data-path='/papers']");
  row.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
  return [...data.files].reduce((sum, file) => sum + file.size, 0);
}"""


CLEAR_OUTPUT = """index => {
  const { widgets } = window.jupyterapp.shell.currentWidget.content;
  widgets[index].model.clearExecution();
  widgets[index].outputArea.model.clear();
}"""


class Wire:
    """What a page has sent to its kernel, by websocket."""

    def __init__(self, page):
        self._frames = []
        page.on("websocket", lambda socket: socket.on("framesent", self._note))

    def _note(self, frame):
        self._frames.append(frame if isinstance(frame, bytes) else frame.encode())

    def take(self):
        """Give all that was sent since the last time."""
        sent, self._frames = b"\n".join(self._frames), []
        return sent


def answer(panel, question, words):
    """Have the agent do something, and wait until it says what came of it."""
    count = replies(panel).count()
    say(panel, question)
    expect(replies(panel)).to_have_count(count + 1)
    expect(replies(panel).last).to_contain_text(words)
    return replies(panel).last


DISCLOSED = """
told = session.disclosures[["time", "tool", "files", "bytes", "detail"]]
print(told.to_json(orient="records", date_format="iso"))
"""


def moment(row, form):
    """Give when something has left, by the reader's clock."""
    return datetime.fromisoformat(row["time"]).astimezone().strftime(form)


def amount(size):
    """Give a number of bytes as the panel says it."""
    return f"{size} bytes" if size < 1000 else f"{int(size / 1000 + 0.5)} KB"


@pytest.mark.essentials("7.4", "6.31")
def test_only_what_the_agent_asked_for_leaves_the_browser(lab):
    wire = Wire(lab.page)
    panel = show(lab, SETUP, DISCLOSED)
    add(panel, ("notes.md", NOTES))
    my_computer(panel).get_by_role("button", name="Add").click()
    panel.get_by_role("menuitem", name="New folder").click()
    panel.get_by_role("dialog").get_by_label("Name").fill("papers")
    lab.page.keyboard.press("Enter")
    expect(item(panel, "papers")).to_be_visible()
    size = my_computer(panel).evaluate(PAPERS, FILES)
    expect(panel.locator(".dn-files-notes")).to_contain_text(f"Added {FILES} files.")
    panel.get_by_role("tab", name="Chat").click()
    assert b"secret" not in wire.take()

    said = answer(panel, "grep", "paper 103 has a pump in it")
    expect(said).to_contain_text("The pump cost 15 pounds.")
    sent = wire.take()
    assert b"paper 153 has a pump in it" in sent
    assert b"secret" not in sent
    assert b"Nobody said why" not in sent
    assert len(sent) < size / 100

    answer(panel, "search", "turbidity of lake water")
    sent = wire.take()
    assert b"secret" not in sent.replace(b"the secret of paper 60 ", b"")  # what stands beside it
    assert len(sent) < size / 100

    said = answer(panel, "read some", "the third line")
    sent = wire.take()
    assert b"the second line" in sent
    assert b"secret" not in sent
    answer(panel, "list", "/files/papers/")
    answer(panel, "glob", "/files/papers/101.txt")
    sent = wire.take()
    assert b"secret" not in sent
    assert len(sent) < size / 100

    lab.run_cell(2)
    rows = json.loads(lab.outputs(2).inner_text())
    assert [(row["tool"], row["files"], row["detail"]) for row in rows] == [
        ("grep_files", 5, "5 matching lines"),
        ("search_files", 1, "2 passages"),
        ("read_file", 1, "lines 2 to 3"),
        ("list_files", 2, "2 names"),
        ("glob_files", 20, "20 names"),
    ]
    panel.get_by_role("tab", name="Files").click()
    line = panel.locator(".dn-private")
    told = "5 matching lines, 2 passages, 2 lines and 22 names from 28 files"
    size = amount(sum(row["bytes"] for row in rows))
    last = moment(rows[-1], "%H:%M")
    expect(line).to_contain_text(f"Left this browser today: {told}, {size}. Last at {last}.")
    line.get_by_role("button", name="Show all").click()
    log = panel.get_by_role("dialog", name="What has left this browser").get_by_role("row")
    expect(log).to_have_count(1 + len(rows))
    for row, shown in zip(reversed(rows), log.all()[1:], strict=True):
        expect(shown.get_by_role("cell").first).to_contain_text(moment(row, "%b, %H:%M"))
        expect(shown).to_contain_text(f"{row['detail']}, for {row['tool']}")
        expect(shown.get_by_role("cell").last).to_have_text(amount(row["bytes"]))
    assert lab.errors == []


@pytest.mark.essentials("7.4", "6.31")
def test_a_call_waits_until_a_browser_comes_and_pulls(lab):
    ask = 'run = session.ask("read")\nrun.wait(20)\nprint(run)'
    panel = show(lab, SETUP, ask, "session.panel(push=False)", "print(run.wait(20).answer)")
    add(panel, ("notes.md", NOTES))
    expect(item(panel, "notes.md")).to_be_visible()
    lab.page.evaluate(CLEAR_OUTPUT, 1)
    expect(panel).to_have_count(0)
    lab.run_cell(2)
    expect(lab.outputs(2)).to_contain_text("waiting (your browser to run read_file)")
    lab.run_cell(3)
    panel = lab.panel(3)
    expect(replies(panel).last).to_contain_text("The pump cost 15 pounds.")
    lab.run_cell(4)
    expect(lab.outputs(4)).to_contain_text("The pump cost 15 pounds.")
    panel.get_by_role("tab", name="Files").click()
    expect(item(panel, "notes.md")).to_be_visible()
    expect(panel.locator(".dn-private")).to_contain_text("from 1 file")
    assert lab.errors == []


@pytest.mark.essentials("7.4", "6.31")
def test_a_write_is_shown_as_a_diff_and_carried_out_once_in_two_tabs(lab):
    panel = show(lab, SETUP, "print(len(session.disclosures))")
    add(panel, ("notes.md", NOTES))
    expect(item(panel, "notes.md")).to_be_visible()
    other = lab.second_view().panel(1)
    expect(item(other, "notes.md")).to_be_visible()
    add(other, *[(f"{name}.py", b"# a number\nn = 1\n") for name in "abcd"])
    expect(item(panel, "d.py")).to_be_visible()

    def change(view):
        """Give what the reader is asked to allow."""
        return view.locator(".dn-ask").get_by_role("region", name="Changes")

    for view in (panel, other):
        view.get_by_role("tab", name="Chat").click()
    say(panel, "edit")
    for view in (panel, other):
        expect(change(view)).to_have_count(4)
        expect(change(view).first).to_contain_text("# a number")  # which only a browser knows
        expect(change(view).first).to_contain_text("n = 1 + 1")
    assert shelf(lab)["/a.py"] == "# a number\nn = 1\n"
    for _ in range(4):
        approve_button(other).first.click()
    for view in (panel, other):
        expect(replies(view).last).to_contain_text("so Successfully replaced 1")

    say(other, "write")
    for view in (panel, other):
        expect(change(view)).to_contain_text("The pump cost 15 pounds.")
        expect(change(view)).to_contain_text("All is new.")
    edited = {f"/{name}.py": "# a number\nn = 1 + 1\n" for name in "abcd"}  # each once
    assert shelf(lab) == {"/notes.md": NOTES.decode(), **edited}
    panel.get_by_role("tab", name="Files").click()
    expect(item(panel, "notes.md")).to_be_visible()
    add(panel, ("notes.md", b"changed by the reader\n"))
    panel.get_by_role("dialog").get_by_role("button", name="Replace").click()
    expect(change(other)).to_contain_text("changed by the reader")
    lab.reload()  # in the middle of it
    expect(item(panel, "notes.md")).to_be_visible()
    panel.get_by_role("tab", name="Chat").click()
    expect(change(panel)).to_contain_text("changed by the reader")
    approve_button(panel).click()
    expect(replies(panel).last).to_contain_text("so Updated file /files/notes.md")
    assert shelf(lab) == {"/notes.md": "# Notes\n\nAll is new.\n", **edited}
    lab.run_cell(2)
    expect(lab.outputs(2)).to_have_text("5")  # that it was done, each time
    assert lab.errors == []
