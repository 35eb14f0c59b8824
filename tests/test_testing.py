"""The scripted model says what it is told, and nothing else may speak."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage

import deepnb
from deepnb.testing import (
    ForbiddenModelCallError,
    ScriptedModel,
    ScriptError,
    allow_model_calls,
    call,
)


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def test_it_follows_its_script_through_an_agent():
    model = ScriptedModel([[call("add", a=1, b=2), call("add", a=3, b=4)], "3 and 7"])
    result = create_agent(model, [add]).invoke({"messages": [("user", "add")]})
    assert [m.content for m in result["messages"][-3:]] == ["3", "7", "3 and 7"]
    assert model.calls[0].tools == ["add"]
    assert [m.content for m in model.calls[1].messages][-2:] == ["3", "7"]


def test_a_step_may_be_a_message_a_function_or_an_error():
    model = ScriptedModel(
        [AIMessage("m", id="x"), lambda messages: messages[-1].text.upper(), OSError("down")]
    )
    assert model.invoke("one").id == "x"
    assert model.invoke("two").text == "TWO"
    with pytest.raises(OSError, match="down"):
        model.invoke("three")


def test_a_function_in_place_of_the_script_has_no_memory():
    model = ScriptedModel(lambda messages: f"{len(messages)} so far")
    assert [model.invoke([HumanMessage("a")] * n).text for n in (2, 1, 2)] == [
        "2 so far",
        "1 so far",
        "2 so far",
    ]


def ids(result):
    return [each["id"] for m in result["messages"] if m.type == "ai" for each in m.tool_calls]


def test_calls_have_the_same_ids_in_the_same_conversation_and_in_no_other():
    def asked(*messages):
        model = ScriptedModel([[call("add", a=1, b=2), call("add", a=3, b=4)], "done"])
        return create_agent(model, [add]).invoke({"messages": list(messages)})

    once = asked(("user", "add"))
    assert ids(asked(("user", "add"))) == ids(once)
    again = asked(*once["messages"], ("user", "add"))  # as when a cell is run again
    assert len(set(ids(again))) == 4
    assert ids(again)[:2] == ids(once)
    assert not {*ids(asked(("user", "summed up")))} & {*ids(again)}  # of as many messages


def test_calls_of_subagents_that_are_told_the_same_have_ids_of_their_own(tmp_path):
    def script(messages):
        if messages[-1].type == "tool":
            return "done"
        if messages[-1].text == "look":
            return call("ls", path="/")
        return [call("task", description="look", subagent_type="general-purpose")] * 2

    for _ in range(2):
        with deepnb.Session("deep", model=ScriptedModel(script), workspace=tmp_path) as session:
            assert session.ask("go").wait(30).status == "done"
            events = session.events()
    made = [event.data["id"] for event in events if event.kind == "tool_call"]
    assert len(made) == len(set(made)) == 8


def test_a_branch_that_says_the_same_says_it_with_the_same_ids(tmp_path):
    def script(messages):
        return "done" if messages[-1].type == "tool" else call("ls", path="/")

    with deepnb.Session("deep", model=ScriptedModel(script), workspace=tmp_path) as session:
        session.ask("one").wait(30)
        run = session.ask("two").wait(30)
        with session.fork(before=run) as fork:
            fork.ask("two").wait(30)
            assert ids(fork.state) == ids(session.state)


def test_a_script_that_is_too_short_says_so():
    model = ScriptedModel(["only one"])
    model.invoke("hello")
    with pytest.raises(ScriptError, match="1 steps.*call 2.*'hello again'"):
        model.invoke("hello again")


def test_streaming_gives_the_same_message_in_pieces():
    script = [
        AIMessage("to be  or\nnot", tool_calls=[{"name": "add", "args": {"a": 1}, "id": "c"}])
    ]
    chunks = list(ScriptedModel(script).stream("x"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert len(chunks) > 4
    assert whole.text == "to be  or\nnot"
    assert whole.tool_calls == [{"name": "add", "args": {"a": 1}, "id": "c", "type": "tool_call"}]


async def test_streaming_async_gives_it_too():
    chunks = [chunk.text async for chunk in ScriptedModel(["to be or not"]).astream("x")]
    assert "".join(chunks) == "to be or not"


async def test_a_delay_leaves_the_event_loop_free():
    model = ScriptedModel(["late"], delay=0.05)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    await model.ainvoke("x")
    ticking.cancel()
    assert ticks > 1


@pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
@pytest.mark.parametrize(
    "how", ["invoke", "stream", "ainvoke", "astream", "stream_events", "astream_events"]
)
async def test_a_real_model_cannot_be_called(how):
    model = ChatAnthropic(model="claude-sonnet-5-5", api_key="not-a-key")
    with pytest.raises(ForbiddenModelCallError, match="ChatAnthropic"):
        match how:
            case "invoke":
                model.invoke("hi")
            case "stream":
                list(model.stream("hi"))
            case "ainvoke":
                await model.ainvoke("hi")
            case "astream":
                [chunk async for chunk in model.astream("hi")]
            case "stream_events":
                list(model.stream_events("hi", version="v3"))
            case "astream_events":
                [event async for event in await model.astream_events("hi", version="v3")]


@pytest.mark.parametrize("how", ["invoke", "stream", "batch", "ainvoke", "astream", "abatch"])
async def test_a_completion_model_cannot_be_called_either(how):
    model = FakeListLLM(responses=["as real as any other"])
    with pytest.raises(ForbiddenModelCallError, match="FakeListLLM"):
        match how:
            case "invoke":
                model.invoke("hi")
            case "stream":
                list(model.stream("hi"))
            case "batch":
                model.batch(["hi"])
            case "ainvoke":
                await model.ainvoke("hi")
            case "astream":
                [chunk async for chunk in model.astream("hi")]
            case "abatch":
                await model.abatch(["hi"])


def test_a_test_with_a_server_of_its_own_may_allow_it():
    model = ChatAnthropic(
        model="claude-sonnet-5-5", api_key="no", base_url="http://127.0.0.1:9", max_retries=0
    )
    with allow_model_calls(), pytest.raises(Exception, match="Connection"):
        model.invoke("hi")
