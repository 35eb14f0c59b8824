"""The chat: what is said, how it comes in, and what can be done about it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import say

PACED = """
import asyncio, pathlib, re
import deepnb
from deepnb.testing import ScriptedModel, call
from langchain_core.messages import AIMessage

class Paced(ScriptedModel):
    "Waits at each @name@ in its answer until there is a file of that name."

    async def _astream(self, *args, **kwargs):
        async for chunk in super()._astream(*args, **kwargs):
            if gate := re.fullmatch("@(.+)@", chunk.text.strip()):
                while not pathlib.Path(gate[1]).exists():
                    await asyncio.sleep(0.02)
            else:
                yield chunk

def opened(script, thread="chat", **options):
    return deepnb.Session("deep", workspace=".", thread=thread, model=Paced(script), **options)
"""

ECHO = "session = opened(lambda messages: f'answer to {messages[-1].text}')"

# What the page sends to the kernel waits until it is let go.
HOLD = """() => {
  const send = WebSocket.prototype.send;
  const held = [];
  WebSocket.prototype.send = function (data) { held.push([this, data]); };
  window.letGo = () => {
    WebSocket.prototype.send = send;
    for (const [socket, data] of held) socket.send(data);
  };
}"""


def chat(lab, setup, shown="session", *more):
    """Open a notebook with a session, and show it; gives the panel. More cells are not run."""
    lab.open_notebook([f"{PACED}\n{setup}", shown, *more])
    lab.run_cell(0)
    lab.run_cell(1)
    panel = lab.panel(1)
    expect(panel).to_be_visible()
    return panel


def go(lab, name):
    """Let a model go on that waits for this file."""
    (lab.folder / name).touch()


def message_box(panel):
    return panel.get_by_role("textbox", name="Message", exact=True)


def asked(panel):
    return panel.locator(".dn-user")


def replies(panel):
    return panel.get_by_role("article", name="Reply")


def stop_button(panel):
    return panel.get_by_role("button", name="Stop the run")


def test_enter_sends_and_the_message_is_seen_before_the_kernel_has_heard_it(lab):
    panel = chat(lab, ECHO, "session.panel()")
    send = panel.get_by_role("button", name="Send")
    expect(send).to_be_disabled()
    box = message_box(panel)
    box.fill("   ")
    box.press("Enter")
    expect(asked(panel)).to_have_count(0)
    box.fill("one")
    box.press("Shift+Enter")
    box.press_sequentially("two")
    expect(box).to_have_value("one\ntwo")
    expect(asked(panel)).to_have_count(0)
    lab.page.evaluate(HOLD)
    box.press("Enter")
    expect(box).to_have_value("")
    expect(box).to_be_focused()
    expect(asked(panel)).to_contain_text("one\ntwo")
    expect(replies(panel)).to_contain_text("Sending")
    expect(replies(panel)).to_have_attribute("aria-busy", "true")
    lab.page.evaluate("letGo()")
    expect(replies(panel)).to_contain_text("answer to one two")
    expect(replies(panel)).not_to_have_attribute("aria-busy", "true")
    expect(asked(panel)).to_have_count(1)
    box.fill("three")
    send.click()
    expect(replies(panel).last).to_contain_text("answer to three")
    expect(asked(panel)).to_have_count(2)
    assert lab.errors == []


STREAMED = r'''
TEXT = """## Lakes of the north

- Como
- **Garda**

| lake | depth |
|------|------:|
| Como | 425 m |

Its depth @half@ is **gr @bold@ eat**, as `mu @code@ ch` as $x^2$ says.

```python
print("deep")
```

$$\\int_0^1 x\\,dx$$

""" + "\n\n".join(f"Paragraph {n}. " + "It is said that the water is cold. " * 6 for n in range(8))

MORE = "\n\n".join(f"Remark {n}. " + "The water is said to be cold. " * 6 for n in range(8))
session = opened(lambda messages: f"{TEXT}\n\n@read@ {MORE}\n\nThe end.")
'''

KEEP = """reply => {
  window.kept = [...reply.querySelectorAll("h2, ul, li, table, td, pre, math")];
  return window.kept.length;
}"""
IN_PLACE = "reply => window.kept.filter(node => !reply.contains(node)).map(node => node.outerHTML)"
BLOCKS = """reply => [...reply.querySelectorAll(".dn-block > *")].slice(0, 3).map(
  block => block.getBoundingClientRect().top - reply.getBoundingClientRect().top)"""


def test_an_answer_streams_in_as_markdown_and_nothing_that_is_read_moves(lab):
    panel = chat(lab, STREAMED)
    say(panel, "tell")
    reply = replies(panel)
    expect(reply).to_contain_text("Its depth")
    expect(reply.get_by_role("heading", name="Lakes of the north")).to_be_visible()
    expect(reply.get_by_role("listitem")).to_have_text(["Como", "Garda"])
    expect(reply.locator("li strong")).to_have_text("Garda")
    expect(reply.get_by_role("cell", name="425 m")).to_have_css("text-align", "end")
    expect(reply).to_have_attribute("aria-busy", "true")
    assert reply.evaluate(KEEP) > 5
    tops = reply.evaluate(BLOCKS)

    go(lab, "half")
    expect(reply.locator("p strong")).to_have_text("gr")  # though its other half is to come
    go(lab, "bold")
    expect(reply.locator("p strong")).to_have_text("gr eat")
    expect(reply.locator("p code")).to_have_text("mu")
    go(lab, "code")

    expect(reply).to_contain_text("Paragraph 7.")
    expect(reply.locator("p math msup")).to_have_count(1)
    expect(reply.locator("math[display=block]")).to_have_count(1)
    expect(reply.locator("pre")).to_have_text('print("deep")')
    assert reply.evaluate(IN_PLACE) == []
    assert reply.evaluate(BLOCKS) == tops
    assert reply.evaluate(KEEP) > 8

    log = panel.get_by_role("log", name="Conversation")
    at_end = "log => log.scrollHeight - log.scrollTop - log.clientHeight < 2"
    lab.page.wait_for_function(f"log => ({at_end})(log)", arg=log.element_handle())
    log.hover()
    lab.page.mouse.wheel(0, -500)
    lab.page.wait_for_function(f"log => !({at_end})(log)", arg=log.element_handle())
    read = reply.get_by_text("Paragraph 3.")
    place = read.bounding_box()["y"]
    go(lab, "read")
    expect(reply).to_contain_text("The end.")
    expect(reply).not_to_have_attribute("aria-busy", "true")
    assert read.bounding_box()["y"] == pytest.approx(place, abs=1)
    assert reply.evaluate(IN_PLACE) == []
    panel.get_by_role("button", name="Jump to latest").click()
    lab.page.wait_for_function(f"log => ({at_end})(log)", arg=log.element_handle())
    log.press("PageUp")
    expect(reply.get_by_text("The end.")).not_to_be_in_viewport()
    log.press("End")
    expect(reply.get_by_text("The end.")).to_be_in_viewport()
    expect(panel.get_by_role("button", name="Jump to latest")).to_have_count(0)


def test_code_a_question_and_an_answer_are_copied(lab):
    lab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel = chat(
        lab, r"session = opened(lambda messages: 'Run *this*:\n\n```python\na = 1\nb = 2\n```\n')"
    )
    say(panel, "show me")
    reply = replies(panel)
    expect(reply.locator("pre")).to_contain_text("b = 2")
    for button, text in [
        (reply.get_by_role("button", name="Copy code"), "a = 1\nb = 2"),
        (
            reply.get_by_role("button", name="Copy", exact=True),
            "Run *this*:\n\n```python\na = 1\nb = 2\n```\n",
        ),
        (asked(panel).get_by_role("button", name="Copy"), "show me"),
    ]:
        button.click()
        expect(panel.get_by_role("button", name="Copied").first).to_be_visible()
        lab.page.wait_for_function(
            "t => navigator.clipboard.readText().then(now => now === t)", arg=text
        )


STOPPED = """
def script(messages):
    return "and again" if messages[-1].text == "again" else "half an @never@ answer"
session = opened(script)
"""


def test_a_run_is_stopped_in_the_middle_of_a_word_and_asked_again(lab):
    panel = chat(lab, STOPPED)
    say(panel, "go")
    expect(replies(panel)).to_contain_text("half an")
    stop_button(panel).click()
    expect(replies(panel)).to_contain_text("Stopped by you.")
    expect(replies(panel)).to_contain_text("half an")
    expect(replies(panel)).to_contain_text("Cut off here.")
    expect(replies(panel)).not_to_contain_text("answer")
    expect(stop_button(panel)).to_have_count(0)
    say(panel, "again")
    expect(replies(panel).last).to_contain_text("and again")
    expect(replies(panel).first).to_contain_text("half an")


QUEUED = """
def script(messages):
    last = messages[-1].text
    return f"answer to {last}" + " @first@ whole" * (last == "first")
session = opened(script)
"""


def test_messages_queue_while_it_runs_and_can_be_changed_or_taken_back(lab):
    panel = chat(lab, QUEUED)
    say(panel, "first")
    expect(replies(panel)).to_contain_text("answer to first")
    for text in ("second", "third", "fourth"):
        say(panel, text)
    queue = panel.get_by_role("list", name="Queued messages")
    expect(queue.get_by_role("listitem")).to_have_count(3)
    expect(queue.get_by_role("button", name="Remove queued message").first).to_be_enabled()
    expect(asked(panel)).to_have_count(1)  # they stand in the queue, and only there
    third = queue.get_by_role("listitem").filter(has_text="third")
    third.get_by_role("button", name="Remove queued message").click()
    expect(third).to_have_count(0)
    second = queue.get_by_role("listitem").filter(has_text="second")
    second.get_by_role("button", name="Edit queued message").click()
    expect(second).to_have_count(0)
    expect(message_box(panel)).to_have_value("second")
    expect(message_box(panel)).to_be_focused()
    message_box(panel).press_sequentially(" thoughts")
    panel.get_by_role("button", name="Queue", exact=True).click()
    expect(queue.get_by_role("listitem")).to_contain_text(["fourth", "second thoughts"])
    go(lab, "first")
    expect(replies(panel)).to_contain_text(
        ["answer to first whole", "answer to fourth", "answer to second thoughts"]
    )
    expect(queue).to_have_count(0)
    expect(panel).not_to_contain_text("third")


STEERED = """
def script(messages):
    said = [message.text for message in messages if message.type == "human"]
    if messages[-1].text == "go":
        calls = [{"name": "ls", "args": {"path": "/workspace"}, "id": "one"}]
        return AIMessage("Looking @hold@ around.", tool_calls=calls)
    return "heard " + " and ".join(said)
session = opened(script)
"""


def test_a_run_is_steered_while_it_works(lab):
    panel = chat(lab, STEERED)
    say(panel, "go")
    expect(replies(panel)).to_contain_text("Looking")
    expect(panel.get_by_role("button", name="Steer now")).to_have_count(0)
    message_box(panel).fill("be brief")
    panel.get_by_role("button", name="Steer now").click()
    expect(replies(panel)).to_contain_text("be brief")
    expect(replies(panel)).to_contain_text("not read yet")
    expect(message_box(panel)).to_have_value("")
    go(lab, "hold")
    expect(replies(panel)).to_contain_text("heard go and be brief")
    expect(replies(panel)).not_to_contain_text("not read yet")
    expect(asked(panel)).to_have_count(1)


COUNTED = """
count = 0

def script(messages):
    global count
    count += 1
    return f"answer {count} to {messages[-1].text}"

session = opened(script)
"""
SAID = "print([event.data['text'] for event in session.events() if event.kind == 'message'])"


def test_a_retry_and_an_edit_branch_off_and_leave_the_thread_as_it_was(lab):
    panel = chat(lab, COUNTED, "session", SAID)
    say(panel, "one")
    expect(replies(panel)).to_contain_text("answer 1 to one")
    say(panel, "two")
    expect(replies(panel).last).to_contain_text("answer 2 to two")
    replies(panel).last.get_by_role("button", name="Retry").click()
    expect(replies(panel)).to_contain_text(["answer 1 to one", "answer 3 to two"])
    expect(panel).not_to_contain_text("answer 2")

    last = asked(panel).last
    last.get_by_role("button", name="Edit").click()
    edited = panel.get_by_role("textbox", name="Edit your message")
    expect(edited).to_be_focused()
    edited.fill("never sent")
    edited.press("Escape")
    expect(last).to_contain_text("two")
    last.get_by_role("button", name="Edit").click()
    expect(edited).to_have_value("two")
    edited.fill("zwei")
    edited.press("Enter")
    expect(replies(panel)).to_contain_text(["answer 1 to one", "answer 4 to zwei"])
    expect(asked(panel)).to_contain_text(["one", "zwei"])

    panel.get_by_role("button", name="Thread history").click()
    threads = panel.get_by_role("navigation", name="Threads").get_by_role("button")
    expect(threads).to_have_count(3)
    expect(panel.locator(".dn-thread[data-fork][aria-current=true]")).to_have_count(1)
    panel.locator(".dn-thread:not([data-fork])").click()
    expect(replies(panel)).to_contain_text(["answer 1 to one", "answer 2 to two"])
    lab.run_cell(2)
    expect(lab.outputs(2)).to_have_text("['one', 'answer 1 to one', 'two', 'answer 2 to two']")


FAILING = """
def script(messages):
    if not pathlib.Path("back").exists():
        raise RuntimeError("the provider is away")
    return "all is well"

session = opened(script)
"""


def model_pill(panel):
    return panel.get_by_role("button", name="Change model")


def test_a_run_that_failed_says_why_and_is_tried_again(lab):
    panel = chat(lab, FAILING)
    expect(model_pill(panel)).to_contain_text("ready")
    say(panel, "go")
    expect(replies(panel).locator(".dn-note")).to_contain_text("the provider is away")
    expect(model_pill(panel)).to_contain_text("failed")
    expect(model_pill(panel)).to_contain_text("the provider is away")
    go(lab, "back")
    replies(panel).get_by_role("button", name="Try again").click()
    expect(replies(panel)).to_contain_text("all is well")
    expect(model_pill(panel)).to_contain_text("ready")
    expect(asked(panel)).to_have_count(1)
    expect(panel.get_by_role("button", name="Try again")).to_have_count(0)


def test_the_model_is_named_and_switched_between_messages(lab):
    panel = chat(lab, ECHO)
    expect(model_pill(panel)).to_contain_text("Paced")
    expect(model_pill(panel)).to_contain_text("given as an object")
    model_pill(panel).click()
    choice = panel.get_by_role("dialog", name="Which model answers")
    spec = choice.get_by_role("textbox")
    expect(spec).to_be_focused()
    spec.fill("nobody:nothing")
    spec.press("Enter")
    expect(choice.get_by_role("alert")).to_contain_text("nobody")
    expect(model_pill(panel)).to_contain_text("Paced")
    choice.get_by_role("button", name="offline").click()
    expect(choice).to_have_count(0)
    expect(model_pill(panel)).to_be_focused()
    expect(model_pill(panel)).to_contain_text("Quotes only")
    say(panel, "hello")
    expect(replies(panel).get_by_role("button", name="Retry")).to_be_visible()
    expect(panel).not_to_contain_text("answer to")


SPENDING = """
class Priced(Paced):
    model_name: str = "claude-sonnet-5-5"

USED = {"input_tokens": 100_000, "output_tokens": 10_000, "total_tokens": 110_000}
session = deepnb.Session(
    "deep", workspace=".", thread="chat", budget=deepnb.Budget(tokens=440_000),
    model=Priced(lambda messages: AIMessage("done", usage_metadata=USED)),
)
"""


def test_tokens_cost_and_budget_are_shown(lab):
    panel = chat(lab, SPENDING)
    say(panel, "go")
    expect(replies(panel)).to_contain_text(re.compile(r"110,000 tokens, \$0\.\d\d\d"))
    tab = panel.get_by_role("tab", name="Usage")
    expect(tab).to_contain_text("$0.")
    tab.click()
    usage = panel.get_by_role("group", name="Usage")
    expect(usage).to_contain_text(re.compile(r"\$0\.\d\d\d\s*in this thread"))
    meter = usage.get_by_role("meter", name="Budget: tokens")
    expect(meter).to_have_attribute("aria-valuetext", "110,000 spent of 440,000")
    expect(usage).to_contain_text("25% spent")


STEPS = """
def helper(name, script):
    texts = {"description": f"Knows {name}.", "system_prompt": f"You are {name}."}
    return {"name": name, "model": Paced(script), **texts}

def script(messages):
    if messages[-1].type == "tool":
        return "all done"
    thought = {"type": "reasoning", "reasoning": "Two helpers are enough. One may drown."}
    wanted = [("ls", {"path": "/workspace"}),
              ("task", {"subagent_type": "scout", "description": "find it"}),
              ("task", {"subagent_type": "diver", "description": "dive"})]
    calls = [{"name": n, "args": a, "id": f"call{i}"} for i, (n, a) in enumerate(wanted)]
    return AIMessage([thought], tool_calls=calls)

scout = helper("scout", [call("glob", pattern="*.md"), "found @scout@ it"])
diver = helper("diver", ["diving @never@ deep"])
session = opened(script, subagents=[scout, diver])
"""


def test_steps_are_one_line_each_and_open_and_subagents_nest(lab):
    panel = chat(lab, STEPS)
    say(panel, "go")
    steps = replies(panel).locator("ol.dn-steps").first.locator("> li")
    thought, listed, scout, diver = (
        steps.filter(has=lab.page.locator("summary", has_text=text))
        for text in ("Thought", "Listed", "scout", "diver")
    )
    expect(thought).to_contain_text("Two helpers are enough")
    expect(thought).not_to_contain_text("One may drown")
    thought.locator("summary").click()
    expect(thought).to_contain_text("One may drown")

    row = listed.locator("summary")
    expect(row).to_contain_text("/workspace")
    expect(listed).not_to_contain_text("Called ls")
    row.focus()
    lab.page.keyboard.press("Enter")
    expect(listed).to_contain_text("Called ls")
    expect(listed.locator("dt")).to_have_css("float", "none")  # as JupyterLab would have it
    expect(listed.get_by_label("Result", exact=True)).to_contain_text("test.ipynb")
    expect(row).to_be_focused()
    lab.page.keyboard.press("Enter")
    expect(listed).not_to_contain_text("Called ls")

    expect(scout.locator("li summary")).to_contain_text("Looked for")
    expect(scout).to_contain_text("found")
    expect(diver).to_contain_text("diving")
    diver.get_by_role("button", name="Stop diver").click()
    expect(diver.locator("summary").first).to_contain_text("stopped")
    expect(diver.locator("[data-writing]")).to_have_count(0)
    expect(scout.get_by_role("button", name="Stop scout")).to_be_enabled()
    go(lab, "scout")
    expect(scout).to_contain_text("found it")
    expect(replies(panel)).to_contain_text("all done")
    expect(replies(panel)).not_to_contain_text("deep")


SET_FROM_PYTHON = """session.panel(
    starters={"The weather": "How is the weather?"},
    actions={"Shorter": "Say it in fewer words."},
)"""


def test_starters_and_quick_actions_are_set_from_python(lab):
    changed = "session.panel(actions={'Longer': 'Say it in more words.'});"
    panel = chat(lab, ECHO, SET_FROM_PYTHON, changed)
    cards = panel.locator(".dn-card")
    expect(cards).to_have_text(["The weatherHow is the weather?"])
    cards.click()
    expect(message_box(panel)).to_have_value("How is the weather?")
    expect(message_box(panel)).to_be_focused()
    message_box(panel).press("Enter")
    expect(replies(panel)).to_contain_text("answer to How is the weather?")
    expect(cards).to_have_count(0)
    actions = panel.get_by_role("group", name="Quick actions").get_by_role("button")
    expect(actions).to_have_text(["Shorter"])
    actions.click()
    expect(asked(panel).last).to_contain_text("Say it in fewer words.")
    expect(replies(panel).last).to_contain_text("answer to Say it in fewer words.")
    lab.run_cell(2)
    expect(actions).to_have_text(["Longer"])


GRAPHS = """
from typing import TypedDict
from langgraph.graph import START, MessagesState, StateGraph

def answer(state):
    return {"messages": [AIMessage(f"the graph heard {state['messages'][-1].text}")]}

class Number(TypedDict):
    number: int

def graph_of(state, node):
    return StateGraph(state).add_node("node", node).add_edge(START, "node").compile()

def double(state):
    return {"number": 2 * state["number"]}

talking = deepnb.Session(graph_of(MessagesState, answer), workspace=".", thread="talking")
session = deepnb.Session(graph_of(Number, double), workspace=".", thread="counting")
"""


def test_any_graph_gets_a_panel_and_one_without_messages_says_so(lab):
    panel = chat(lab, GRAPHS, "session", "session.ask({'number': 4}).wait(30);", "talking")
    expect(panel).to_contain_text("This graph takes no messages")
    expect(panel.get_by_role("textbox")).to_have_count(0)
    expect(panel.get_by_role("button", name="Send")).to_have_count(0)
    lab.run_cell(2)
    expect(asked(panel)).to_contain_text("{'number': 4}")
    expect(replies(panel)).not_to_have_attribute("aria-busy", "true")
    expect(panel.get_by_role("button", name="Retry")).to_have_count(0)

    lab.run_cell(3)
    talking = lab.panel(3)
    expect(talking.locator(".dn-card")).to_have_count(0)
    say(talking, "hello")
    expect(replies(talking)).to_contain_text("the graph heard hello")
    expect(model_pill(talking)).to_have_count(0)
