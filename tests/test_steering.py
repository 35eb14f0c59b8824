"""Telling a run something while it works: words, and another todo list."""

from __future__ import annotations

import asyncio

import pandas as pd
import pytest
from langchain.agents import create_agent
from langgraph.graph import START, MessagesState, StateGraph

import deepnb
from deepnb.errors import DeepnbError, SessionError
from deepnb.testing import ScriptedModel, call
from tests.sessions import (
    PATIENCE,
    Gate,
    ask,
    check_conversation,
    kinds,
    opening,
    subagent,
    task,
    until,
)

WRITE = call("write_file", file_path="/workspace/a.md", content="hello\n")
TODOS = [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]
PLAN = call("write_todos", todos=TODOS)


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def heard(seen):
    return [(m.type, m.text) for m in seen.messages if m.type != "system"]


def remarks(session):
    return [event for event in kinds(session, "queued") if event.data["steer"]]


def held(opened, gate, *script, **options):
    """Open a session whose run is inside a tool."""
    model = ScriptedModel([call("hold"), *script])
    session = opened("deep", model=model, tools=[gate.tool()], **options)
    run = session.ask("go")
    assert gate.reached.wait(PATIENCE)
    return model, session, run


def listed(**statuses):
    return pd.DataFrame({"content": list(statuses), "status": list(statuses.values())})


def test_the_run_hears_it_at_its_next_step(opened, gate):
    model, session, run = held(opened, gate, "Those after 2020.")
    session.steer("only after 2020")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "Those after 2020."
    assert heard(model.calls[1])[1:] == [
        ("ai", ""),
        ("tool", "hold is over"),
        ("human", "only after 2020"),
    ]
    check_conversation(session.state["messages"])


def test_it_is_visible_before_and_after_it_is_heard(opened, gate):
    _, session, run = held(opened, gate, "yes")
    session.steer("only after 2020")
    (queued,) = remarks(session)
    assert (queued.run, queued.data) == (run.id, {"text": "only after 2020", "steer": True})
    assert [e.data["text"] for e in kinds(session, "message")] == ["go"]
    gate.opened.set()
    run.wait(PATIENCE)
    messages = kinds(session, "message")
    assert [e.data["text"] for e in messages] == ["go", "only after 2020", "yes"]
    assert {e.run for e in messages} == {run.id}
    assert len(session.runs) == 1


def test_several_are_heard_in_their_order_and_once_each(opened, gate):
    model, session, run = held(opened, gate, "yes")
    for text in ("one", "two", "three"):
        session.steer(text)
    gate.opened.set()
    run.wait(PATIENCE)
    assert [text for kind, text in heard(model.calls[1]) if kind == "human"] == [
        "go", "one", "two", "three",
    ]  # fmt: skip
    assert len(model.calls) == 2


def test_what_is_said_during_the_last_reply_is_still_answered(opened):
    replies = ScriptedModel(["a reply that is long enough to be interrupted", "noted"], delay=0.05)
    session = opened("deep", model=replies)
    run = session.ask("go")
    until(lambda: kinds(session, "token"))
    session.steer("and be brief")
    assert run.wait(PATIENCE).answer == "noted"
    assert [text for kind, text in heard(replies.calls[-1])] == [
        "go", "a reply that is long enough to be interrupted", "and be brief",
    ]  # fmt: skip


def test_a_run_can_be_steered_as_soon_as_it_was_asked(opened):
    session = opened(lambda messages: " ".join(m.text for m in messages[-2:]))
    for number in range(15):
        run = session.ask(f"question {number}")
        session.steer(f"remark {number}")
        run.wait(PATIENCE)
        until(lambda: session.status == "done")
        assert session.messages["text"].tolist().count(f"remark {number}") == 1
    check_conversation(session.state["messages"])


def test_a_run_that_waits_hears_it_when_it_goes_on(opened):
    model = ScriptedModel([WRITE, "written"])
    session = opened("deep", model=model)
    run = ask(session)
    session.steer("in English")
    assert session.status == "waiting"
    session.respond(session.questions[0].id, "approve")
    assert run.wait(PATIENCE).answer == "written"
    assert heard(model.calls[1])[-1] == ("human", "in English")
    check_conversation(session.state["messages"])


def test_while_a_subagent_works_it_is_for_the_agent_that_called_it(opened, gate):
    helper = subagent("helper", [call("hold"), "found"], tools=[gate.tool()])
    model = ScriptedModel([task("helper"), "so it is"])
    session = opened("deep", model=model, subagents=[helper])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.steer("only after 2020")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "so it is"
    assert heard(model.calls[1])[-2:] == [("tool", "found"), ("human", "only after 2020")]
    assert all("2020" not in text for seen in helper["model"].calls for _, text in heard(seen))
    check_conversation(session.state["messages"])


def test_calls_of_one_turn_are_all_answered_before_it_is_heard(opened, gate):
    model = ScriptedModel([[call("hold"), call("ls", path="/"), call("hold")], "done"])
    session = opened("deep", model=model, tools=[gate.tool()])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.steer("quickly")
    gate.opened.set()
    assert run.wait(PATIENCE).status == "done"
    assert [kind for kind, _ in heard(model.calls[1])][-4:] == ["tool", "tool", "tool", "human"]
    check_conversation(model.calls[1].messages)


def test_a_tool_is_not_called_twice_because_of_it(opened, gate):
    effects = []

    def send(text: str) -> str:
        """Send a text."""
        effects.append(text)
        return "sent"

    model = ScriptedModel([[call("hold"), call("send", text="a")], call("send", text="b"), "done"])
    session = opened("deep", model=model, tools=[gate.tool(), send])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.steer("quickly")
    gate.opened.set()
    run.wait(PATIENCE)
    assert effects == ["a", "b"]


def test_what_nobody_heard_before_a_stop_is_not_heard_later(opened, gate):
    model, session, _ = held(opened, gate, "again")
    session.steer("only after 2020")
    session.stop()
    ask(session, "something else")
    assert [text for kind, text in heard(model.calls[-1]) if kind == "human"] == [
        "go", "something else",
    ]  # fmt: skip


@pytest.mark.parametrize("made", ["create_agent", "graph"])
def test_other_graphs_hear_it_too(opened, gate, made):
    model = ScriptedModel([call("hold"), "yes"])
    if made == "create_agent":
        graph = create_agent(model, [gate.tool()])
    else:

        async def first(state):
            gate.reached.set()
            while not gate.opened.is_set():  # noqa: ASYNC110  # set by another thread
                await asyncio.sleep(0.005)

        async def second(state):
            return {"messages": [f"heard {state['messages'][-1].text}"]}

        builder = StateGraph(MessagesState).add_node("first", first).add_node("second", second)
        graph = builder.add_edge(START, "first").add_edge("first", "second").compile()
    session = opened(graph)
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.steer("quickly")
    gate.opened.set()
    run.wait(PATIENCE)
    assert "quickly" in [m.text for m in session.state["messages"]][1:-1]
    check_conversation(session.state["messages"])


@pytest.mark.parametrize("text", ["", "  \n"])
def test_it_needs_something_to_say(opened, gate, text):
    _, session, _ = held(opened, gate, "yes")
    with pytest.raises(SessionError, match="text"):
        session.steer(text)
    assert not remarks(session)


def test_it_needs_a_run(opened):
    session = opened(["yes"])
    with pytest.raises(SessionError, match=r"ask\(\.\.\.\)"):
        session.steer("only after 2020")
    ask(session)
    with pytest.raises(SessionError, match=r"ask\(\.\.\.\)"):
        session.steer("only after 2020")


# The todo list


def test_an_edited_list_is_what_the_agent_has_and_reads(opened, gate):
    model = ScriptedModel([PLAN, call("hold"), "done"])
    session = opened("deep", model=model, tools=[gate.tool()])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    todos = session.todos
    assert todos["content"].tolist() == ["read", "write"]
    todos.loc[1, "content"] = "write less"
    session.edit_todos(todos)
    assert session.todos["content"].tolist() == ["read", "write less"]  # at once
    gate.opened.set()
    run.wait(PATIENCE)
    kind, text = heard(model.calls[-1])[-1]
    assert kind == "human"
    assert "- [completed] read\n- [pending] write less" in text
    assert session.state["todos"] == [TODOS[0], {"content": "write less", "status": "pending"}]
    assert [e.data["by"] for e in kinds(session, "todos")] == ["deep", "person"]


def test_between_runs_it_is_there_for_the_next_one(opened):
    model = ScriptedModel([PLAN, "planned", "as you wish"])
    session = opened("deep", model=model)
    ask(session)
    session.edit_todos(listed(rest="in_progress"))
    assert session.state["todos"] == [{"content": "rest", "status": "in_progress"}]
    assert len(session.runs) == 1
    assert len(model.calls) == 2  # nothing was set off by it
    ask(session, "go on")
    assert "- [in_progress] rest" in heard(model.calls[-1])[-2][1]
    assert session.todos["content"].tolist() == ["rest"]
    check_conversation(session.state["messages"])


def test_while_it_waits_the_list_can_be_edited_too(opened):
    model = ScriptedModel([PLAN, WRITE, "written"])
    session = opened("deep", model=model)
    run = ask(session)
    session.edit_todos(listed())
    session.respond(session.questions[0].id, "approve")
    assert run.wait(PATIENCE).answer == "written"
    assert "(empty)" in heard(model.calls[-1])[-1][1]
    assert session.state["todos"] == []
    assert len(session.todos) == 0


def test_after_a_stop_and_a_failure_it_can_be_edited(opened):
    model = ScriptedModel([PLAN, RuntimeError("no"), "fine"])
    session = opened("deep", model=model)
    assert ask(session).status == "failed"
    session.edit_todos(listed(other="pending"))
    assert session.status == "failed"  # nothing was set off by it
    assert len(model.calls) == 2
    assert ask(session, "again").answer == "fine"
    assert session.state["todos"] == [{"content": "other", "status": "pending"}]
    check_conversation(model.calls[-1].messages)


@pytest.mark.parametrize(
    "todos",
    [
        pd.DataFrame({"content": ["a"]}),
        pd.DataFrame({"content": ["a"], "status": ["perhaps"]}),
        pd.DataFrame({"content": [""], "status": ["pending"]}),
        pd.DataFrame({"content": [None], "status": ["pending"]}),
        [{"content": "a", "status": "nonsense"}],
        "write",
        None,
    ],
    ids=["no status", "unknown status", "no content", "no text", "list", "text", "nothing"],
)
def test_a_list_that_is_none_is_refused_and_changes_nothing(opened, todos):
    session = opened([PLAN, "planned"])
    ask(session)
    before = session.events()
    with pytest.raises(DeepnbError, match="status|content|todo"):
        session.edit_todos(todos)
    assert session.events() == before
    assert session.state["todos"] == TODOS


def test_a_list_before_the_first_question_is_refused(opened):
    session = opened(["yes"])
    with pytest.raises(SessionError, match="Ask something first"):
        session.edit_todos(listed(read="pending"))
    assert session.events() == []
    assert ask(session).answer == "yes"


def test_a_graph_without_todos_says_so(opened):
    session = opened(create_agent(ScriptedModel(["yes", "still"])))
    ask(session)
    before = session.events()
    with pytest.raises(SessionError, match="todo"):
        session.edit_todos(listed(read="pending"))
    assert session.events() == before
    assert ask(session).answer == "still"


def test_the_registered_simple_agent_can_be_steered(opened, gate):
    model = ScriptedModel([call("hold"), "yes"])
    session = opened("simple", model=model, tools=[gate.tool()])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.steer("briefly")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "yes"
    assert heard(model.calls[-1])[-1] == ("human", "briefly")
    assert session.agent == "simple" in deepnb.agents.names()
