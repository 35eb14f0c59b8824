"""What goes wrong in a tool or a subagent is something its caller can read."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import deepnb
from deepnb.testing import ScriptedModel, call

REQUEST = {"messages": [("user", "go")]}


def fail(reason: str) -> str:
    """Fail."""
    raise RuntimeError(reason)


def broken_graph():
    def explode(state):
        raise ConnectionError("the archive is down")

    return StateGraph(MessagesState).add_node("x", explode).add_edge(START, "x").compile()


def heard(model):
    return [m for m in model.calls[-1].messages if m.type == "tool"]


async def test_an_exception_in_a_tool_is_a_tool_error_sync_and_async():
    for use_async in (False, True):
        model = ScriptedModel([call("fail", reason="no paper"), "I see"])
        graph = deepnb.create_deep_agent(model, [fail])
        result = await graph.ainvoke(REQUEST) if use_async else graph.invoke(REQUEST)
        assert result["messages"][-1].text == "I see"
        (message,) = heard(model)
        assert message.status == "error"
        assert "RuntimeError: no paper" in message.text


async def test_one_failing_subagent_leaves_its_siblings_and_its_parent_alive():
    subagents = [
        {"name": "broken", "description": "b", "runnable": broken_graph()},
        {"name": "raising", "description": "r", "model": ScriptedModel([OSError("no model")] * 2)},
        {"name": "good", "description": "g", "model": ScriptedModel(["found it"] * 2)},
    ]
    tasks = [call("task", description="x", subagent_type=s["name"]) for s in subagents]
    for use_async in (False, True):
        model = ScriptedModel([tasks, "one of three"])
        graph = deepnb.create_deep_agent(model, subagents=subagents)
        result = await graph.ainvoke(REQUEST) if use_async else graph.invoke(REQUEST)
        assert result["messages"][-1].text == "one of three"
        broken, raising, good = heard(model)
        assert "Subagent broken failed: ConnectionError: the archive is down" in broken.text
        assert "Subagent raising failed: OSError: no model" in raising.text
        assert (broken.status, raising.status) == ("error", "error")
        assert good.text == "found it"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (call("fail"), "reason"),
        (call("no_such_tool", x=1), "not a valid tool"),
        (call("task", description="x", subagent_type="nobody"), "does not exist"),
        (call("task", prompt="x", subagent_type="general-purpose"), "description"),
        (call("read_file", file_path=7), "file_path"),
        (call("write_todos", todos="everything"), "todos"),
    ],
)
def test_wrong_calls_are_tool_errors_that_name_what_is_wrong(bad, message):
    model = ScriptedModel([bad, "sorry"])
    deepnb.create_deep_agent(model, [fail]).invoke(REQUEST)
    assert message in heard(model)[0].text


def broken(name="fail", args='{"reason": "a'):
    bad = {"name": name, "args": args, "id": "b", "error": "no JSON", "type": "invalid_tool_call"}
    return AIMessage("", invalid_tool_calls=[bad])


async def test_a_reply_of_nothing_but_unreadable_calls_is_asked_for_again():
    for use_async in (False, True):
        model = ScriptedModel([broken(), broken(), "now in words"])
        graph = deepnb.create_deep_agent(model, [fail])
        result = await graph.ainvoke(REQUEST) if use_async else graph.invoke(REQUEST)
        assert result["messages"][-1].text == "now in words"
        assert "Your call of fail could not be read" in model.calls[1].messages[-1].text


def deep_nesting():
    value = []
    for _ in range(5000):
        value = [value]
    return value


@pytest.mark.parametrize("value", [10**30, deep_nesting(), float("nan")])
def test_arguments_that_no_checkpoint_can_hold_do_not_end_the_run(value):
    bad = AIMessage("", tool_calls=[{"name": "fail", "args": {"reason": value}, "id": "x"}])
    model = ScriptedModel([bad, "in words then"])
    graph = deepnb.create_deep_agent(model, [fail], checkpointer=InMemorySaver())
    result = graph.invoke(REQUEST, {"configurable": {"thread_id": "1"}})
    assert result["messages"][-1].text == "in words then"


def test_a_call_without_an_id_gets_one():
    nameless = AIMessage("", tool_calls=[{"name": "fail", "args": {"reason": "x"}, "id": None}])
    model = ScriptedModel([nameless, "I see"])
    result = deepnb.create_deep_agent(model, [fail]).invoke(REQUEST)
    assert result["messages"][-1].text == "I see"
    assert heard(model)[0].tool_call_id


def test_a_model_that_raises_ends_the_run_but_not_the_thread():
    model = ScriptedModel([OSError("overloaded"), "here again"])
    graph = deepnb.create_deep_agent(model, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(OSError, match="overloaded"):
        graph.invoke(REQUEST, config)
    assert graph.invoke(REQUEST, config)["messages"][-1].text == "here again"
