"""The plan, the trace, the usage and the threads, and what can be done from there."""

from __future__ import annotations

import json
import re

from playwright.sync_api import expect

from tests.browser.cells import SETUP, showing
from tests.browser.lab import replies, say

PLANNING = f"""
{SETUP}
from langchain_core.messages import AIMessage

USED = {{"input_tokens": 1200, "output_tokens": 34, "total_tokens": 1234}}
TODOS = [
    {{"content": "Look", "status": "completed"}},
    {{"content": "Think", "status": "in_progress"}},
    {{"content": "Write", "status": "pending"}},
]

def planning(messages):
    "Make a plan, thinking; or say what the plan is."
    last = messages[-1]
    if last.text == "plan":
        calls = [{{"name": "write_todos", "args": {{"todos": TODOS}}, "id": "todos"}}]
        thought = {{"type": "reasoning", "reasoning": "A plan is better than none."}}
        return AIMessage([thought], tool_calls=calls, usage_metadata=USED)
    return AIMessage(f"planned", usage_metadata=USED)

session = deepnb.Session("deep", workspace=".", thread="plans", model=ScriptedModel(planning))
"""


def tab(panel, name):
    return panel.get_by_role("tab", name=re.compile(f"^{name}"))


def test_plan_trace_and_usage_say_what_the_session_says(lab):
    todos = 'list(zip(session.todos["content"], session.todos["status"]))'
    sums = 'print(*(int(session.usage[c].sum()) for c in ("calls", "tokens_in", "tokens_out")))'
    look = f"import json; print(json.dumps({todos}))"
    lab.open_notebook([PLANNING, "session", look, sums])
    for index in (0, 1):
        lab.run_cell(index)
    panel = lab.panel(1)
    say(panel, "plan")
    expect(replies(panel)).to_contain_text("planned")

    tab(panel, "Plan").click()
    plan = panel.get_by_role("tabpanel", name=re.compile("^Plan"))
    expect(plan).to_contain_text("1 of 3 done")
    plan.get_by_role("button", name="Edit").click()
    plan.get_by_role("textbox").last.fill("Write well")
    plan.get_by_role("button", name="Add a step").click()
    plan.get_by_role("textbox").last.fill("Rest")
    plan.get_by_role("button", name="Save").click()
    expect(plan).to_contain_text("1 of 4 done")
    expect(plan.get_by_role("listitem")).to_contain_text(["Look", "Think", "Write well", "Rest"])
    lab.run_cell(2)
    assert json.loads(lab.outputs(2).inner_text()) == [
        ["Look", "completed"],
        ["Think", "in_progress"],
        ["Write well", "pending"],
        ["Rest", "pending"],
    ]

    tab(panel, "Trace").click()
    trace = panel.get_by_role("tabpanel", name="Trace")
    rows = trace.locator(".dn-trace-row")
    expect(rows.first).to_be_visible()
    everything = rows.count()
    trace.get_by_role("button", name=re.compile("^Tools")).click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("write_todos")
    trace.get_by_role("button", name=re.compile("^(All|Everything)")).click()
    expect(rows).to_have_count(everything)
    trace.get_by_role("searchbox", name="Filter steps").fill("no step is called this")
    expect(rows).to_have_count(0)
    trace.get_by_role("searchbox", name="Filter steps").fill("")
    trace.get_by_role("button", name=re.compile("^Models")).click()
    rows.first.click()
    expect(trace).to_contain_text("A plan is better than none.")
    expect(trace.get_by_role("switch", name="Follow")).to_be_visible()

    tab(panel, "Usage").click()
    usage = panel.get_by_role("group", name="Usage")
    lab.run_cell(3)
    calls, *_ = lab.outputs(3).inner_text().split()
    expect(usage.locator("dl")).to_contain_text(
        re.compile(rf"Tokens in\s*2,400\s*Tokens out\s*68\s*Model calls\s*{calls}")
    )
    assert lab.outputs(3).inner_text().split() == ["2", "2400", "68"]


def test_threads_are_left_and_found_again(lab):
    lab.open_notebook(showing("first"))
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    history = panel.get_by_role("complementary", name="Thread history")
    panel.get_by_role("button", name="Thread history").click()
    entries = history.get_by_role("navigation", name="Threads").get_by_role("button")
    expect(entries).to_have_count(1)
    history.get_by_role("button", name="New", exact=True).click()
    expect(replies(panel)).to_have_count(0)
    say(panel, "something else")
    expect(replies(panel)).to_contain_text("answer to something else")
    expect(entries).to_have_count(2)
    entries.filter(has_text="hello").click()
    expect(replies(panel)).to_contain_text("answer to hello")
    expect(panel).not_to_contain_text("answer to something else")
    history.get_by_role("searchbox", name="Search threads").fill("something")
    expect(entries).to_have_count(1)
    history.get_by_role("searchbox", name="Search threads").press("Escape")
    expect(history).to_have_count(0)
    lab.reload()  # the thread that was shown last
    expect(replies(panel)).to_contain_text("answer to hello")


def test_a_fork_is_a_thread_of_its_own(lab):
    lab.open_notebook(showing("stem"))
    lab.run_all()
    panel = lab.panel(1)
    for question in ("one", "two"):
        say(panel, question)
        expect(replies(panel).last).to_contain_text(f"answer to {question}")
    replies(panel).first.get_by_role("button", name="Fork from here").click()
    dialog = panel.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Ask something else there").fill("otherwise")
    dialog.get_by_role("button", name="Fork and ask").click()
    expect(replies(panel).last).to_contain_text("answer to otherwise")
    expect(replies(panel)).to_have_count(2)
    expect(panel).not_to_contain_text("answer to two")
    panel.get_by_role("button", name="Thread history").click()
    entries = panel.get_by_role("navigation", name="Threads").get_by_role("button")
    expect(entries).to_have_count(2)
    expect(entries.filter(has_text="from step")).to_have_count(1)
    panel.locator(".dn-thread:not([data-fork])").click()
    expect(replies(panel).last).to_contain_text("answer to two")
