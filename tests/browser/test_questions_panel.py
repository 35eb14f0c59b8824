"""What the agent can ask in the panel: every kind, by mouse, and what reaches the graph."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.server import KERNELS

TOOLS = """
import json, pathlib, time
from typing import Literal
import deepnb
from deepnb.interrupts import PlanAnswer, ask
from deepnb.middleware.clarify import ClarifyMiddleware
from deepnb.testing import ScriptedModel, call
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

def note(*facts):
    with open("notes.jsonl", "a") as notes:
        print(json.dumps(facts), file=notes)

def heard(messages):
    "Say what the tools said."
    note("heard", *[m.text for m in messages if m.type == "tool"])
    return "All is said."

def send(text: str, times: int = 1, urgent: bool = False, tone: Literal["dry", "warm"] = "dry"):
    "Send a text."
    note("sent", text, times, urgent, tone)
    return "sent"

def write(name, content="hello\\n"):
    return call("write_file", file_path=f"/workspace/{name}", content=content)

def opened(*script, thread="main", **more):
    return deepnb.Session(
        "deep", workspace=".", thread=thread, model=ScriptedModel(list(script)),
        **{"tools": [send], "interrupt_on": {"send": True}, **more},
    )

def asking(question, answer_type=None):
    "A graph that asks one thing and notes the answer."
    def node(state):
        if answer_type:
            answer = json.loads(ask(question, answer_type).model_dump_json(exclude_unset=True))
        else:
            answer = interrupt(question)
        note("told", answer)
        return {"messages": [AIMessage("All is said.")]}
    return StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").compile()
"""
HOLD = """
while not pathlib.Path("go").exists(): time.sleep(0.05)
note("the cell has ended")
"""
DONE = "All is said."


def start(lab, code, *cells, kernel=None):
    """Open a session, ask it to go on, and give its panel; it is shown in the second cell."""
    lab.open_notebook(
        [f"{TOOLS}\n{code}", 'run = session.ask("go")\nsession', *cells], kernel=kernel
    )
    lab.run_cell(0)
    lab.run_cell(1)
    return lab.panel(1)


def notes(lab):
    """Give what the graph has recorded."""
    path = lab.folder / "notes.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def card(panel, title):
    return panel.get_by_role("group", name=title)


def action(panel, number):
    return panel.locator(".dn-action").nth(number - 1)


def button(place, name):
    return place.get_by_role("button", name=name, exact=True)


def done(panel, said=DONE):
    expect(panel.get_by_role("article").last).to_contain_text(said)
    expect(panel.locator(".dn-ask")).to_have_count(0)


def test_questions_are_answered_in_words_and_by_choosing(lab):
    panel = start(
        lab,
        """
options = [{"id": str(n), "label": label} for n, label in enumerate(["Essay", "Talk", "Poem"])]
session = opened(
    call("ask_user", question="About what?"),
    call("ask_choices", question="Which form?", options=options),
    call("ask_choices", question="For whom?", options=options, allow_multiple=True),
    heard, middleware=[ClarifyMiddleware()],
)""",
    )
    question = card(panel, "A question before it goes on")
    expect(question).to_contain_text("About what?")
    expect(button(question, "Answer")).to_be_disabled()
    question.get_by_role("textbox", name="About what?").fill("Lakes")
    button(question, "Answer").click()
    expect(panel).to_contain_text("You answered “Lakes” to “About what?”")

    expect(question).to_contain_text("Which form?")
    question.get_by_role("radio", name="Essay").check()
    question.get_by_text("Talk", exact=True).click()
    expect(question.get_by_role("radio", name="Essay")).not_to_be_checked()
    button(question, "Answer").click()
    expect(panel).to_contain_text("You answered “Talk” to “Which form?”")

    expect(question).to_contain_text("For whom?")
    for name in ("Poem", "Essay", "Talk"):
        question.get_by_role("checkbox", name=name).check()
    question.get_by_role("checkbox", name="Talk").uncheck()
    question.get_by_role("textbox").fill("and a song")
    button(question, "Answer").click()
    done(panel)
    assert notes(lab) == [["heard", "Lakes", "Talk", "Essay; Poem | and a song"]]

    lab.reload()
    expect(panel).to_contain_text("You answered “Essay; Poem; and a song” to “For whom?”")
    expect(panel.locator(".dn-ask")).to_have_count(0)
    assert lab.errors == []


def row_of(panel, step):
    """Unfold what was done, and give the row of a step."""
    panel.locator("summary.dn-done").last.click()
    return panel.locator(".dn-step-row", has_text=re.compile(step.replace(" ", r"\s*"))).last


def test_each_action_of_a_request_is_decided_on_its_own_in_any_order(lab):
    (lab.folder / "old.md").write_text("# Lakes\n\nThe lake is clean.\n")
    panel = start(
        lab,
        """
edit = call("edit_file", file_path="/workspace/old.md", old_string="clean", new_string="murky")
session = opened([write("new.md"), edit, call("send", text="hi"), write("no.md")], heard)""",
    )
    expect(card(panel, "Four actions need your decision")).to_contain_text("0 of 4 decided")
    third = action(panel, 3)  # the form of a tool's own
    third.get_by_role("textbox", name="Times").fill("two")
    expect(third).to_contain_text("This is no number.")
    expect(third.locator("[data-act=approve]")).to_be_disabled()
    third.get_by_role("textbox", name="Times").fill("3")
    third.get_by_role("switch", name="Urgent").check()
    third.get_by_role("combobox", name="Tone").select_option("warm")
    button(third, "Approve with 3 changes").click()
    expect(third).to_contain_text("Approved with changes send")

    fourth = action(panel, 4)
    button(fourth, "Reject…").click()
    fourth.get_by_label("Why not?").fill("I need no such file")
    button(fourth, "Reject").click()
    expect(fourth).to_contain_text("Rejected /workspace/no.md: “I need no such file”")

    first = action(panel, 1)
    button(first, "Approve").click()
    button(first, "Undo").click()
    expect(card(panel, "Four actions")).to_contain_text("2 of 4 decided")
    expect(first.locator(".dn-diff[data-view=unified]")).to_contain_text("hello")
    button(first, "Edit").click()
    first.get_by_role("textbox", name="Content").fill("good morning\nworld\n")
    expect(first.locator(".dn-diff[data-view=unified]")).to_contain_text("good morning")
    expect(first.locator(".dn-diff[data-view=unified]")).not_to_contain_text("hello")
    button(first, "Approve with 1 change").click()

    second = action(panel, 2)
    expect(second.locator(".dn-diff[data-view=split]")).to_contain_text("The lake is murky.")
    assert notes(lab) == []
    assert not (lab.folder / "new.md").exists()
    button(second, "Edit").click()
    second.get_by_role("textbox", name="New string").fill("blue")
    expect(second.locator(".dn-diff[data-view=split]")).to_contain_text("The lake is blue.")
    button(second, "Approve with 1 change").click()
    done(panel)

    sent, told = notes(lab)
    assert sent == ["sent", "hi", 3, True, "warm"]
    assert sum("I need no such file" in text for text in told) == 1
    assert (lab.folder / "new.md").read_text() == "good morning\nworld\n"
    assert (lab.folder / "old.md").read_text() == "# Lakes\n\nThe lake is blue.\n"
    assert not (lab.folder / "no.md").exists()
    lab.reload()
    decided = panel.locator(".dn-decisions")
    for words in (
        "You approved with 1 change create /workspace/new.md",
        "You approved with 3 changes send",
        "You rejected create /workspace/no.md: “I need no such file”",
    ):
        expect(decided).to_contain_text(words)
    expect(row_of(panel, "Writing /workspace/no.md")).to_have_text(re.compile("rejected$"))
    decided.get_by_text("You approved with 3 changes").click()
    expect(decided.locator("details[open]")).to_contain_text("warm")
    assert lab.errors == []


def test_subagents_that_wait_at_once_are_answered_out_of_order(lab):
    panel = start(
        lab,
        """
def helper(name):
    script = [write(f"{name}.md", f"from {name}"), heard]
    about = {"name": name, "description": name, "system_prompt": name}
    return {**about, "model": ScriptedModel(script)}

names = ["one", "two", "three"]
tasks = [call("task", subagent_type=name, description="work") for name in names]
session = opened(tasks, "All three are back.", subagents=[helper(name) for name in names])""",
    )
    cards = panel.locator(".dn-ask")
    expect(cards).to_have_count(3)
    expect(panel.get_by_role("tab", name="Chat")).to_contain_text("3 questions for you")

    def of(name):
        return card(panel, f"An action needs your decision from {name}")

    expect(of("two")).to_contain_text("/workspace/two.md")
    button(of("two"), "Reject…").click()
    of("two").get_by_label("Why not?").fill("not two")
    button(of("two"), "Reject").click()
    expect(cards).to_have_count(2)
    button(of("three"), "Approve").click()
    expect(cards).to_have_count(1)
    expect(of("one")).to_be_visible()
    button(of("one"), "Approve").click()
    done(panel, "All three are back.")
    written = {path.name: path.read_text() for path in lab.folder.glob("*.md")}
    assert written == {"one.md": "from one", "three.md": "from three"}
    told = sorted(text for _, text in notes(lab))
    assert len(told) == 3
    assert sum("not two" in text for text in told) == 1


def test_what_is_always_approved_is_not_asked_about_again(lab):
    panel = start(
        lab,
        """
session = opened(write("a.md"), write("b.md"), write("c.txt"), call("send", text="1"),
                 call("send", text="2"), heard)""",
    )
    question = card(panel, "An action needs your decision")
    always = question.get_by_role("checkbox", name="Always for")
    expect(question.get_by_text("Always for /workspace/*.md")).to_be_visible()
    button(question, "Change").click()
    choices = panel.get_by_role("dialog", name="Do not ask again for")
    choices.get_by_role("radio", name="this file").check()
    expect(question.get_by_text("Always for /workspace/a.md")).to_be_visible()
    choices.get_by_role("radio", name=".md files in this folder").check()
    choices.press("Escape")
    expect(always).to_be_checked()
    button(question, "Approve").click()
    expect(panel).to_contain_text("You approved and always for /workspace/*.md")
    expect(panel).to_contain_text("Approved, as you said for good: create /workspace/b.md")

    expect(question).to_contain_text("/workspace/c.txt")
    expect(always).not_to_be_checked()
    button(question, "Approve").click()
    expect(question).to_contain_text("Send")
    question.get_by_role("checkbox", name="Always for every call").check()
    button(question, "Approve").click()
    done(panel)
    assert [each[:2] for each in notes(lab)[:2]] == [["sent", "1"], ["sent", "2"]]
    assert (lab.folder / "b.md").exists()


PLAN = """
steps = [
    {"id": name, "title": f"Step {name}", "tool": "search", "input": "lakes", "rationale": "",
     "depends_on": list(after)}
    for name, after in [("a", ""), ("b", "a"), ("c", "b"), ("d", "")]
]
plan = {"type": "plan_approval", "audit": None, "tools": ["search", "read"],
        "plan": {"question": "How deep is it?", "steps": steps}}
session = deepnb.Session(asking(plan, PlanAnswer), workspace=".")
"""


def test_a_plan_is_changed_and_approved_and_another_rejected(lab):
    panel = start(lab, PLAN)
    question = card(panel, "Approve this plan?")
    expect(question).to_contain_text("How deep is it?")
    button(question, "Remove step 3").click()
    expect(question).to_contain_text("Removed by you")
    button(question, "Edit step 1").click()
    question.get_by_label("Step 1", exact=True).fill("Look it up")
    question.get_by_label("Tool of step 1").select_option("read")
    button(question, "Done").click()
    button(question, "Add a step").click()
    expect(question.get_by_text("Step 4 needs a title.")).to_be_visible()
    expect(button(question, "Approve with 3 edits")).to_be_disabled()
    question.get_by_label("Step 4", exact=True).fill("Write it down")
    button(question, "Step 1").click()
    button(question, "Done").click()
    grip = question.get_by_role("button", name=re.compile("^Move step 4"))
    grip.focus()
    for _ in range(4):
        lab.page.keyboard.press("ArrowUp")
    expect(question.get_by_role("button", name=re.compile("^Move step 1"))).to_be_focused()
    lab.page.keyboard.press("ArrowDown")
    expect(question.get_by_role("button", name=re.compile("^Move step 2"))).to_be_focused()
    button(question, "Approve with 3 edits").click()
    done(panel)
    ((_, told),) = notes(lab)
    assert told["approved"]
    kept = [(s["id"], s["title"], s["tool"], s["depends_on"]) for s in told["plan"]["steps"]]
    assert kept == [
        ("a", "Look it up", "read", []),
        ("added-5", "Write it down", "search", ["a"]),
        ("b", "Step b", "search", ["a"]),
        ("d", "Step d", "search", []),
    ]
    expect(panel).to_contain_text("You approved the plan, with edits")

    panel.get_by_role("textbox", name="Message").fill("again")
    panel.get_by_role("textbox", name="Message").press("Enter")
    button(question, "Reject…").click()
    question.get_by_label("Why not?").fill("too long")
    button(question, "Reject").click()
    expect(panel).to_contain_text("You rejected the plan: “too long”")
    done(panel)
    assert notes(lab)[1] == ["told", {"approved": False, "reason": "too long"}]


def test_a_budget_is_raised_and_then_not(lab):
    panel = start(
        lab,
        """
session = opened(call("ls", path="/"), call("ls", path="/"), call("ls", path="/"), heard,
                 budget=deepnb.Budget(calls=1))""",
    )
    question = card(panel, "The budget is used up")
    expect(question).to_contain_text("1 model call of 1 model call")
    limit = question.get_by_label("New limit, in calls")
    limit.fill("1")
    expect(question).to_contain_text("1 model call is spent already")
    expect(button(question, "Raise")).to_be_disabled()
    limit.fill("3")
    button(question, "Raise to 3 model calls").click()
    expect(panel).to_contain_text("You raised the budget to 3 model calls")
    expect(question).to_contain_text("3 model calls of 3 model calls")
    button(question, "Stop here").click()
    expect(panel).to_contain_text("You stopped instead of raising the budget")
    expect(panel.get_by_role("article")).to_contain_text("budget is used up")
    assert notes(lab) == []


def test_whatever_another_graph_asks_is_answered_in_words_or_json(lab):
    panel = start(
        lab,
        """
strange = {"message": "How many <b>lakes</b>?", "unit": "km²", "deep": [1, {"er": None}]}
session = deepnb.Session(asking(strange), workspace=".")""",
    )
    question = card(panel, "A question before it goes on")
    expect(question).to_contain_text("How many <b>lakes</b>?")
    expect(question).to_contain_text("km²")
    question.get_by_role("textbox").fill("a few")
    button(question, "Answer").click()
    done(panel)
    panel.get_by_role("textbox", name="Message").fill("again")
    panel.get_by_role("textbox", name="Message").press("Enter")
    question.get_by_role("switch", name="JSON").check()
    question.get_by_role("textbox").fill('{"count": ')
    expect(question).to_contain_text("This is no JSON")
    expect(button(question, "Answer as JSON")).to_be_disabled()
    question.get_by_role("textbox").fill('{"count": 7}')
    button(question, "Answer as JSON").click()
    expect(panel.get_by_text("You answered")).to_have_count(2)
    done(panel)
    assert notes(lab) == [["told", "a few"], ["told", {"count": 7}]]


def test_a_click_in_a_view_that_is_behind_decides_nothing(lab):
    """Both views are clicked while the kernel is busy, so that the second comes too late."""
    panel = start(
        lab,
        'session = opened([write("a.md"), write("b.md")], write("c.md"), heard)',
        "session",
        HOLD,
        kernel=KERNELS["6.31"],  # hears nothing before the cell has ended
    )
    lab.run_cell(2)
    other = lab.panel(2)
    expect(card(other, "Two actions need your decision")).to_be_visible()
    lab.run_cell(3, wait=False)
    button(action(panel, 2), "Approve").click()
    button(action(panel, 1), "Approve").dblclick()
    button(action(other, 1), "Reject…").click()
    action(other, 1).get_by_label("Why not?").fill("no")
    button(action(other, 1), "Reject").click()
    button(action(other, 2), "Approve").click()
    for view in (panel, other):
        expect(view.get_by_text("The kernel is busy with a cell")).to_be_visible()
        expect(
            view.get_by_text("Sent; the kernel takes it when your cell has ended")
        ).to_be_visible()
    assert not (lab.folder / "a.md").exists()
    (lab.folder / "go").touch()
    lab.wait_for_prompt(3)
    expect(panel.locator(".dn-decisions")).to_contain_text("You approved create /workspace/a.md")
    expect(other.locator(".dn-decisions")).to_contain_text("You approved create /workspace/a.md")
    expect(other).to_contain_text("Answered in another view.")
    expect(panel).not_to_contain_text("Answered in another view.")
    for view in (panel, other):  # the next question is nobody's answer yet
        expect(card(view, "An action needs your decision")).to_contain_text("/workspace/c.md")
        expect(button(view, "Approve")).to_be_enabled()
    assert sorted(path.name for path in lab.folder.glob("*.md")) == ["a.md", "b.md"]

    other.get_by_role("checkbox", name="Always for").check()  # what is entered and overtaken
    button(panel, "Approve").click()
    expect(other).to_contain_text("What you had entered here was not sent.")
    done(panel)
    done(other)
    lab.reload()
    for view in (panel, other):
        expect(view).to_contain_text("You approved create /workspace/c.md")


@pytest.mark.essentials("7.4", "6.31")
def test_a_click_is_taken_while_a_cell_waits_for_the_run(lab):
    panel = start(
        lab,
        """
def hold() -> str:
    "Wait."
    while not pathlib.Path("go").exists(): time.sleep(0.05)
    return "over"

def helper(name, *script, **more):
    about = {"name": name, "description": name, "system_prompt": name}
    return {**about, "model": ScriptedModel(list(script)), **more}

waits = helper("waits", write("a.md"), "written")
works = helper("works", call("hold"), "held", tools=[hold])
tasks = [call("task", subagent_type=name, description="work") for name in ("waits", "works")]
session = opened(tasks, "All is said.", subagents=[waits, works])""",
        'run.wait(60)\nnote("the cell has ended", run.status)',
    )
    question = card(panel, "An action needs your decision from waits")
    expect(question).to_be_visible()
    lab.run_cell(2, wait=False)
    expect(lab.cell(2).locator(".jp-InputPrompt")).to_have_text("[*]:")
    button(question, "Approve").click()
    expect(panel).to_contain_text("You approved create /workspace/a.md")
    assert notes(lab) == []  # the cell waits still
    (lab.folder / "go").touch()
    lab.wait_for_prompt(2)
    assert notes(lab) == [["the cell has ended", "done"]]
    assert (lab.folder / "a.md").exists()
    done(panel)
