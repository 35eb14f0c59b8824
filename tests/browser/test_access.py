"""Nobody is shut out: what axe-core has to say, and what it cannot see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.cells import SETUP

FRONTEND = Path(__file__).parents[2] / "deepnb" / "widgets" / "frontend"
AXE = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

EVERYTHING = (
    SETUP
    + '''
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from deepnb.interrupts import PlanAnswer, ask
from deepnb.middleware.clarify import ClarifyMiddleware

USED = {"input_tokens": 1200, "output_tokens": 34, "total_tokens": 1234}
TEXT = """## A heading

Some *words*, `code` and [a link](https://example.org), with $x^2$.

| lake | depth |
|------|------:|
| Como | 425 m |

- one
- two

```python
print("hello")
```

> quoted
"""
TODOS = [
    {"content": "Look", "status": "completed"},
    {"content": "Think", "status": "in_progress"},
    {"content": "Write", "status": "pending"},
]
OPTIONS = [{"id": "a", "label": "An essay"}, {"id": "b", "label": "A table"}]

def turns(messages):
    last = messages[-1]
    if last.text == "plan":
        thought = {"type": "reasoning", "reasoning": "A plan is better than none."}
        calls = [{"name": "write_todos", "args": {"todos": TODOS}, "id": "todos"}]
        return AIMessage([thought], tool_calls=calls, usage_metadata=USED)
    if last.text == "fail":
        raise RuntimeError("the provider is away")
    if last.text == "edit":
        notes, new = "/workspace/notes.md", "/workspace/new.md"
        edit = call("edit_file", file_path=notes, old_string="old", new_string="new")
        return [edit, call("write_file", file_path=new, content="hello")]
    if last.text == "choose":
        return call("ask_choices", question="Which?", options=OPTIONS, allow_multiple=True)
    if last.text == "clarify":
        return call("ask_user", question="About what?")
    if last.text == "ls":
        return call("ls", path="/workspace")
    return AIMessage(TEXT, usage_metadata=USED)

def asked(thread, *questions, **options):
    options = {"middleware": [ClarifyMiddleware()], "model": ScriptedModel(turns), **options}
    session = deepnb.Session("deep", workspace=".", thread=thread, **options)
    for question in questions:
        session.ask(question).wait(30)
    return session

def plan_graph():
    def step(name, *after):
        return {"id": name, "title": f"Step {name}", "tool": "search", "input": "lakes",
                "rationale": "It is needed.", "depends_on": list(after)}
    check = {"name": "tools", "status": "warn", "note": "search costs money"}
    audit = {"passed": False, "summary": "Look.", "policy": "", "remarks": [], "checks": [check]}
    def node(state):
        plan = {"question": "How deep is it?", "steps": [step("a"), step("b", "a"), step("c", "b")]}
        ask({"type": "plan_approval", "plan": plan, "audit": audit}, PlanAnswer)
        return {"messages": [AIMessage("done")]}
    return StateGraph(MessagesState).add_node("plan", node).add_edge(START, "plan").compile()
'''
)

SHOWN = {
    "nothing yet": 'asked("nothing").panel(actions={"Sum up": "Sum it up."})',
    "a conversation": 'talk = asked("talk", "hello", "plan", "ls", "fail", "edit"); talk',
    "choices": 'asked("choices", "choose")',
    "a question": 'asked("question", "clarify")',
    "a plan": 'p = deepnb.Session(plan_graph(), workspace="."); p.ask("go").wait(30); p',
    "a budget": 'asked("budget", "plan", budget=deepnb.Budget(calls=1))',
}

AUDIT = """async element => {
  const found = await axe.run(element, { resultTypes: ["violations"] });
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}"""

# A link in a line of text may be smaller; in the trace, the whole row is pressed.
SMALL = """panel => [...panel.querySelectorAll("button, summary, select, label:has(input)")]
  .filter(each => !each.matches(".dn-link, .dn-trace-step"))
  .filter(each => each.checkVisibility({ visibilityProperty: true }))
  .map(each => [each, each.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.width < 23.9 || box.height < 23.9))
  .map(([each, box]) => `small: ${each.outerHTML.slice(0, 140)}: ${box.width} x ${box.height}`)"""

NARROW = """(panel, width) => { panel.parentElement.style.width = width; }"""


class Audit:
    """Looks at a panel in each theme and width, and keeps what is wrong."""

    def __init__(self, lab):
        self.lab = lab
        self.faults = {}
        self._themes = list(THEMES.items())

    def look(self, panel, what):
        if not self.lab.page.evaluate("() => 'axe' in window"):
            self.lab.page.evaluate(AXE.read_text("utf-8"))
        found = [*panel.evaluate(AUDIT), *panel.evaluate(SMALL)]
        for fault in found:
            self.faults.setdefault(fault, what)

    def in_every_theme_and_width(self, panel, what):
        """Look four times."""
        panel.scroll_into_view_if_needed()
        for theme, name in self._themes:
            self.theme(theme, name)
            for width in ("", "420px"):
                panel.evaluate(NARROW, width)
                self.look(panel, f"{what}, {theme}, {width or 'wide'}")
        panel.evaluate(NARROW, "")
        self._themes.reverse()  # the next begins with the theme that is there: a change takes long

    def __str__(self):
        return "\n".join(f"{what}: {fault}" for fault, what in self.faults.items())

    def theme(self, theme, name):
        change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
        self.lab.page.evaluate(change, name)
        light = str(theme == "light").lower()
        expect(self.lab.page.locator("body")).to_have_attribute("data-jp-theme-light", light)


@pytest.fixture
def audit(lab):
    audit = Audit(lab)
    yield audit
    audit.theme("light", THEMES["light"])  # a setting of the server's


def shown(lab, *names):
    """Open a notebook with some of the states, a cell each; gives their panels."""
    lab.open_notebook([EVERYTHING, *(SHOWN[name] for name in names)])
    (lab.folder / "notes.md").write_text("an old note\n")
    lab.run_all()
    return [lab.panel(index + 1) for index, _ in enumerate(names)]


@pytest.mark.parametrize(
    "names", [("nothing yet", "choices", "a question"), ("a plan", "a budget")]
)
def test_questions_are_accessible(lab, audit, names):
    panels = shown(lab, *names)
    for name, panel in zip(names, panels, strict=True):
        if name != "nothing yet":
            expect(panel.locator(".dn-ask")).to_be_visible()
        audit.in_every_theme_and_width(panel, name)
    assert not audit.faults, str(audit)


def test_a_conversation_and_all_that_can_be_opened_are_accessible(lab, audit):
    (panel,) = shown(lab, "a conversation")
    expect(panel.get_by_role("button", name="Approve", exact=True)).to_have_count(2)
    panel.evaluate("panel => panel.append(document.createElement('button'))")
    audit.look(panel, "a button that says nothing")
    assert any(fault.startswith("button-name") for fault in audit.faults)
    panel.evaluate("panel => panel.lastChild.remove()")
    audit.faults.clear()
    audit.in_every_theme_and_width(panel, "a conversation")
    for name in ("Plan", "Trace", "Usage"):
        panel.get_by_role("tab", name=re.compile(f"^{name}")).click()
        if name == "Trace":
            panel.locator(".dn-trace-step").first.click()
        audit.in_every_theme_and_width(panel, name)
    panel.get_by_role("tab", name=re.compile("^Chat")).click()
    panel.get_by_role("button", name="Thread history").click()
    expect(panel.get_by_role("navigation", name="Threads")).to_be_visible()
    audit.in_every_theme_and_width(panel, "history")
    panel.get_by_role("button", name="Thread history").click()
    panel.get_by_role("button", name="More", exact=True).click()
    expect(panel.get_by_role("menu")).to_be_visible()
    audit.in_every_theme_and_width(panel, "menu")
    lab.page.keyboard.press("Escape")
    panel.get_by_role("button", name="Change model").click()
    audit.in_every_theme_and_width(panel, "models")
    lab.page.keyboard.press("Escape")
    lab.shut_down_kernel()
    expect(panel.get_by_role("alert").first).to_contain_text("The kernel is gone")
    audit.in_every_theme_and_width(panel, "disconnected")
    assert not audit.faults, str(audit)


def test_who_wants_no_motion_or_high_contrast_has_it(lab):
    lab.page.emulate_media(reduced_motion="reduce", forced_colors="active")
    (panel,) = shown(lab, "a conversation")
    button = panel.get_by_role("button", name="Approve", exact=True).first
    button.focus()
    for key in ("Tab", "Shift+Tab"):  # it is for who uses the keyboard
        lab.page.keyboard.press(key)
    expect(button).to_be_focused()
    assert button.evaluate("each => getComputedStyle(each).outlineStyle") != "none"
    panel.get_by_role("tab", name=re.compile("^Plan")).click()
    assert panel.evaluate("panel => panel.getAnimations({ subtree: true }).length") == 0
    lab.page.emulate_media(reduced_motion="null", forced_colors="null")
