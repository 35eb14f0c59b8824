"""The panel without a mouse; whatever is pressed in it, the notebook around it is left alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

SETUP = """
import deepnb
from deepnb.middleware.clarify import ClarifyMiddleware
from deepnb.testing import ScriptedModel, call

TODOS = [{"content": "Read", "status": "completed"}, {"content": "Write", "status": "pending"}]
OPTIONS = [{"id": name, "label": name} for name in ("Essay", "Talk", "Poem")]

def write(name):
    return call("write_file", file_path=f"/workspace/{name}", content="hello")

def heard(messages):
    return " / ".join(m.text.splitlines()[-1] for m in messages if m.type == "tool")

SCRIPTS = {
    "plan": [call("write_todos", todos=TODOS), "Planned.", "Forked."],
    "ask": [
        [write("a.md"), write("b.md")],
        call("ask_choices", question="Which form?", options=OPTIONS),
        call("ask_choices", question="Which ones?", options=OPTIONS, allow_multiple=True),
        call("ask_user", question="For whom?"),
        call("ls", path="/workspace"),
        heard,
    ],
}

def opened(script, **more):
    return deepnb.Session("deep", workspace=".", model=ScriptedModel(SCRIPTS[script]),
                          middleware=[ClarifyMiddleware()], **more)
"""
NOTEBOOK = """() => {
  const { content } = window.jupyterapp.shell.currentWidget;
  const said = ({ model }) => [model.sharedModel.getSource(), model.executionCount];
  return content.widgets.map(said);
}"""
TO_NOTEBOOK = """() => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = 1;
  content.mode = "command";
  content.activate();
}"""
WHERE = """() => {
  const at = document.activeElement;
  return at?.closest(".dn") ? "panel" : at?.outerHTML.slice(0, 200);
}"""


class Person:
    """Somebody who has only a keyboard."""

    def __init__(self, lab, script, **more):
        options = "".join(f", {name}={value!r}" for name, value in more.items())
        lab.open_notebook([f"{SETUP}\nsession = opened({script!r}{options})", "session"])
        lab.run_all()
        self.lab, self.page, self.panel = lab, lab.page, lab.panel(1)
        expect(self.panel.get_by_role("textbox", name="Message")).to_be_visible()
        self.page.evaluate(TO_NOTEBOOK)
        self.notebook = self.page.evaluate(NOTEBOOK)
        for _ in range(40):
            if self.page.evaluate(WHERE) == "panel":
                break
            self.page.keyboard.press("Tab")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        self.is_in_the_panel()

    def type(self, text):
        self.page.keyboard.type(text)

    def go(self, name, role="button", back=False, within=".dn-shell, .dn-pop"):
        """Press Tab until something has the focus."""
        place = self.panel.locator(within)
        self.reach(place.get_by_role(role, name=name, exact=isinstance(name, str)).first, back)

    def reach(self, wanted, back=False):
        wanted.wait_for()
        for _ in range(60):
            if wanted.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
        pytest.fail(f"The Tab key never comes to {wanted}; it is at {self.page.evaluate(WHERE)}.")

    def is_in_the_panel(self):
        assert self.page.evaluate(WHERE) == "panel"

    def done(self):
        """The notebook is what it was."""
        self.is_in_the_panel()
        assert self.page.evaluate(NOTEBOOK) == self.notebook
        assert self.lab.errors == []


def test_asking_and_answering(lab):
    person = Person(lab, "ask")
    panel = person.panel
    person.go("Message", "textbox")
    person.type("go")
    person.press("Enter")
    expect(panel.get_by_text("Two actions need your decision")).to_be_visible()
    person.is_in_the_panel()

    person.go(re.compile("^Conversation"), "log", back=True)
    person.go("Reject…")
    person.press("Enter")
    why = panel.get_by_label("Why not?")
    expect(why).to_be_focused()
    person.press("Escape")  # closes the box, and decides nothing
    expect(panel.locator("[data-act=reject]").first).to_be_focused()
    person.press("Enter")
    person.type("not this")
    person.press("Control+Enter")
    expect(panel.get_by_text("Rejected /workspace/a.md: “not this”")).to_be_visible()
    person.is_in_the_panel()
    person.go("Edit", within=".dn-action")
    person.press("Enter")
    person.go(re.compile("^Content"), "textbox", back=True)
    person.press("Control+a")
    person.type("typed")
    expect(panel.locator(".dn-diff[data-view=unified]")).to_contain_text("typed")
    person.go("Approve with 1 change")
    person.press("Enter")

    expect(panel.locator(".dn-ask-q", has_text="Which form?")).to_be_visible()
    person.is_in_the_panel()
    person.go("Essay", "radio")
    person.press("3", "ArrowUp")
    expect(panel.get_by_role("radio", name="Talk")).to_be_checked()
    person.press("Enter")
    expect(panel.locator(".dn-ask-q", has_text="Which ones?")).to_be_visible()
    person.is_in_the_panel()
    person.go("Essay", "checkbox")
    person.press("Space", "3")
    person.go("Answer")
    person.press("Space")
    expect(panel.get_by_role("textbox", name="For whom?")).to_be_visible()
    person.is_in_the_panel()
    person.go("For whom?", "textbox")
    person.type("me")
    person.press("Enter")
    expect(panel.get_by_role("article")).to_contain_text("Talk / Essay; Poem / me")
    assert (lab.folder / "b.md").read_text() == "typed"

    person.reach(panel.locator("summary.dn-step-row").last)
    person.press("Enter")
    expect(panel.locator("details[open] .dn-step-body")).to_contain_text("ls")
    person.done()


def asked(lab):
    """Somebody who has asked, and got an answer and a plan."""
    person = Person(lab, "plan")
    person.go("Message", "textbox")
    person.type("go")
    person.press("Enter")
    expect(person.panel.get_by_role("article")).to_contain_text("Planned.")
    return person


def test_what_is_beside_the_chat(lab):
    person = asked(lab)
    panel = person.panel
    person.go(re.compile("^Chat"), "tab", back=True)
    person.press("ArrowRight")
    expect(panel.get_by_role("tab", name="Plan")).to_be_focused()
    plan = panel.get_by_role("tabpanel", name="Plan")
    person.go("Edit", within=".dn-side")
    person.press("Enter")
    person.go("Step 2", "textbox")
    person.type(" it all")
    person.go("Add a step")
    person.press("Enter")
    expect(panel.get_by_role("textbox", name="Step 3")).to_be_focused()
    person.type("Rest")
    person.go("Remove step 2")
    person.press("Shift+Tab")
    person.go("Save", back=True)
    person.press("Enter")
    expect(plan).to_contain_text("Rest")
    expect(plan).to_contain_text("Write it all")
    person.is_in_the_panel()

    person.go(re.compile("^Plan"), "tab", back=True)
    person.press("ArrowRight")
    expect(panel.get_by_role("tab", name="Files")).to_be_focused()
    person.press("ArrowRight")
    expect(panel.get_by_role("tab", name="Trace")).to_be_focused()
    person.go("Filter steps", "searchbox")
    person.type("todos")
    rows = panel.get_by_role("table", name="Trace").locator(".dn-trace-row")
    expect(rows).to_have_count(1)
    person.press("Control+a", "Delete")
    person.go(re.compile("^Tools"))
    person.press("Space")
    expect(rows).to_have_count(1)
    person.reach(rows.locator(".dn-trace-step[tabindex='0']"))
    person.press("Enter")
    expect(panel.locator(".dn-detail")).to_be_visible()
    person.go("Fork from here")
    person.press("Enter")
    fork = panel.get_by_role("dialog", name="Fork from here")
    expect(fork.get_by_role("textbox")).to_be_focused()
    person.press("Escape")
    expect(fork).to_be_hidden()
    person.done()


def test_menus_history_and_a_fork(lab):
    person = asked(lab)
    panel = person.panel
    person.go("More", back=True)
    person.press("Enter")
    expect(panel.get_by_role("menuitem").first).to_be_focused()
    person.press("ArrowDown")
    expect(panel.get_by_role("menuitem").nth(1)).to_be_focused()
    person.press("Escape")
    expect(panel.get_by_role("menu")).to_be_hidden()
    expect(panel.get_by_role("button", name="More")).to_be_focused()
    person.go("Thread history", back=True)
    person.press("Enter")
    person.go("Search threads", "searchbox")
    person.press("Escape")
    expect(panel.get_by_role("searchbox", name="Search threads")).to_be_hidden()
    person.is_in_the_panel()
    person.go("Fork from here")
    person.press("Enter")
    person.type("elsewhere")
    person.press("Enter")
    expect(panel.get_by_role("article").last).to_contain_text("Forked.")
    person.done()


DIRTY = "() => jupyterapp.shell.currentWidget.context.model.dirty === {}"
KEYS = ["d", "d", "a", "b", "0", "0", "x", "z", "m", "y", "c", "v", "h", "l", "1", "Shift+m", "s"]


def test_of_the_notebooks_own_keys_the_panel_takes_all_but_to_save(lab):
    person = Person(lab, "plan")
    panel = person.panel
    kernel = lab.page.evaluate(
        "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
    )
    for name, role in [("Message", "textbox"), (re.compile("^Chat"), "tab"), ("More", "button")]:
        person.go(name, role, back=role != "textbox")
        person.press(*KEYS, "Escape", "Escape", *KEYS)
        person.done()
    person.go("Message", "textbox")
    person.press("Control+a", "Delete", "Shift+Enter", "Control+Enter", "Alt+Enter", "ArrowUp")
    person.press("Control+z", "Escape", "d", "d")
    expect(panel.get_by_role("textbox", name="Message")).to_be_focused()
    person.done()
    assert lab.page.locator(".jp-Dialog").count() == 0
    now = lab.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.id")
    assert now == kernel

    lab.page.wait_for_function(DIRTY.format("true"))  # a cell was run, and nobody has saved it
    person.press("Control+s")
    lab.page.wait_for_function(DIRTY.format("false"))
    assert lab.saved().cells[1].execution_count
    expect(panel.get_by_role("textbox", name="Message")).to_be_focused()
    person.press("d", "d")
    person.done()
