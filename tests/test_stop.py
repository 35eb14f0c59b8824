"""Stopping: in every state, one subagent alone, by the clock; and going on afterwards."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool, tool

import deepnb
from deepnb.errors import QuestionError, SessionError
from deepnb.middleware import ClarifyMiddleware
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
LONG = "word " * 1000
"""At a twentieth of a second for each word, this takes nearly a minute to say."""


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def last(script):
    """Follow the script, and then say the same to whatever is asked."""
    steps = iter(script)
    return ScriptedModel(lambda messages: next(steps, "still here"))


def stop_soon(session, **options):
    """Stop, and assert that nobody has waited for what takes a minute."""
    began = time.monotonic()
    session.stop(**options)
    assert time.monotonic() - began < 5


def goes_on(session, model):
    """Assert that the conversation can go on, and that the model could read all of it."""
    run = ask(session, "and now?")
    assert (run.status, run.answer) == ("done", "still here")
    check_conversation(model.calls[-1].messages)
    check_conversation(session.state["messages"])
    assert session.questions == []
    assert len(session.pending) == 0
    started = [e.data["id"] for e in kinds(session, "subagent_started")]
    assert sorted(e.data["id"] for e in kinds(session, "subagent_ended")) == sorted(started)


def ended(session):
    return [(e.run, e.data["status"]) for e in kinds(session, "run_ended")]


def results(session):
    return {e.data["id"]: e.data for e in kinds(session, "tool_result") if not e.parent}


# In every state


def test_when_idle_nothing_happens(opened):
    model = last([])
    session = opened("deep", model=model)
    session.stop()
    assert (session.status, session.events()) == ("idle", [])
    goes_on(session, model)


def test_what_is_queued_is_not_started(opened, gate):
    model = last([call("hold")])
    session = opened("deep", model=model, tools=[gate.tool()])
    runs = [session.ask(f"question {n}") for n in range(4)]
    gate.reached.wait(PATIENCE)
    stop_soon(session)
    assert [run.status for run in runs] == ["stopped"] * 4
    assert all(run.reason == "before it began" for run in runs[1:])
    assert len(model.calls) == 1
    assert dict(ended(session)) == {run.id: "stopped" for run in runs}
    for run in runs:
        assert run.answer == ""
        card = run._repr_html_()
        assert run.question in card
        assert "Stopped" in card
    goes_on(session, model)


def test_before_it_has_begun(opened):
    model = last([])
    session = opened("deep", model=model)
    run = session.ask("go")
    session.stop()
    assert run.wait(PATIENCE).status in ("stopped", "done")
    goes_on(session, model)


def test_in_a_model_stream_what_was_said_so_far_is_kept(opened):
    model = ScriptedModel([LONG, "still here"], delay=0.05)
    session = opened("deep", model=model)
    run = session.ask("go")
    until(lambda: len(kinds(session, "token")) > 2)
    stop_soon(session)
    assert run.status == session.status == "stopped"
    assert run.answer.startswith("word word")
    assert len(run.answer) < len(LONG)
    cut_off = kinds(session, "message")[-1].data
    assert cut_off["cut_off"]
    goes_on(session, model)
    assert [m.type for m in model.calls[-1].messages if m.type != "system"] == [
        "human", "ai", "human",
    ]  # fmt: skip
    assert cut_off["text"] in [m.text for m in model.calls[-1].messages]


def test_in_a_model_that_does_not_stream(opened):
    class Slow(ScriptedModel):
        disable_streaming: bool = True

    model = Slow(["never said", "still here"], delay=60)
    session = opened("deep", model=model)
    run = session.ask("go")
    until(lambda: kinds(session, "message"))
    stop_soon(session)
    assert run.status == "stopped"
    model.delay = 0
    run = ask(session, "and now?")
    assert run.status == "done"
    check_conversation(session.state["messages"])


@pytest.mark.parametrize("kind", ["tool", "blocking_tool"])
def test_in_a_tool(opened, gate, kind):
    model = last([call("hold")])
    session = opened("deep", model=model, tools=[getattr(gate, kind)("hold")])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    stop_soon(session)
    assert run.status == session.status == "stopped"
    (result,) = results(session).values()
    assert result["status"] == "error"
    assert "may or may not have taken effect" in result["text"]
    goes_on(session, model)
    (read,) = [m for m in model.calls[-1].messages if m.type == "tool"]
    assert "stopped" in read.text


def test_a_tool_that_runs_on_in_its_thread_changes_nothing_afterwards(opened, gate):
    model = last([call("block")])
    session = opened("deep", model=model, tools=[gate.blocking_tool()])
    session.ask("go")
    gate.reached.wait(PATIENCE)
    stop_soon(session)
    ask(session, "and now?")
    before = [m.text for m in session.state["messages"]]
    gate.opened.set()
    until(lambda: not [t for t in threading.enumerate() if t.name == "deepnb-tool"])
    assert [m.text for m in session.state["messages"]] == before
    goes_on(session, model)


def test_a_tool_that_refuses_to_be_cancelled_is_left_behind(opened, gate):
    async def cling() -> str:
        """Go on whatever happens."""
        gate.reached.set()
        while not gate.opened.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return "clung"

    model = last([call("cling")])
    session = opened("deep", model=model, tools=[cling])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    stop_soon(session)
    assert run.status == "stopped"
    assert "did not stop" in kinds(session, "warning")[-1].data["text"]
    goes_on(session, model)
    before = session.state["messages"]
    gate.opened.set()
    goes_on(session, model)
    assert session.state["messages"][: len(before)] == before
    assert "clung" not in [m.text for m in session.state["messages"]]


def test_of_several_tools_the_finished_ones_keep_their_results(opened, gate):
    calls = [call("ls", path="/workspace/"), call("hold"), call("quick")]

    def quick() -> str:
        """Be quick."""
        return "quick result"

    model = last([calls])
    session = opened("deep", model=model, tools=[gate.tool(), quick])
    session.ask("go")
    gate.reached.wait(PATIENCE)
    until(lambda: [e.name for e in kinds(session, "node")].count("tools") == 2)
    stop_soon(session)
    goes_on(session, model)
    texts = {m.name: m.text for m in model.calls[-1].messages if m.type == "tool"}
    assert texts["quick"] == "quick result"
    assert "not finished" in texts["hold"]
    assert "not finished" not in texts["ls"]


def test_a_result_that_was_told_is_kept(opened, gate):
    model = last([[call("ls", path="/workspace/"), call("hold")]])
    session = opened("deep", model=model, tools=[gate.tool()])

    def stop(event):
        if event.kind == "tool_result" and event.name == "ls":
            session.stop()

    session.subscribe(stop)
    assert ask(session).status == "stopped"
    goes_on(session, model)
    for message in [m for m in model.calls[-1].messages if m.type == "tool"]:
        assert message.text == results(session)[message.tool_call_id]["text"]


@pytest.mark.parametrize("step", ["tool", "stream"])
def test_in_a_subagent(opened, gate, step):
    script = [call("hold"), "found"] if step == "tool" else [LONG]
    helper = subagent("helper", script, tools=[gate.tool()])
    helper["model"].delay = 0.05
    model = last([task("helper")])
    session = opened("deep", model=model, subagents=[helper])
    run = session.ask("go")
    until(lambda: [e for e in kinds(session, "tool_call", "token") if e.agent == "helper"])
    stop_soon(session)
    assert run.status == "stopped"
    goes_on(session, model)
    assert "not finished" in next(m.text for m in model.calls[-1].messages if m.type == "tool")
    started, stopped = kinds(session, "subagent_started", "subagent_ended")
    assert started.data["id"] == stopped.data["id"]
    assert stopped.data["status"] == "stopped"


def test_while_it_waits_for_a_person(opened):
    model = last([WRITE])
    session = opened("deep", model=model)
    run = ask(session)
    (question,) = session.questions
    stop_soon(session)
    assert run.status == session.status == "stopped"
    (closed,) = kinds(session, "interrupt_closed")
    assert (closed.data["id"], closed.data["by"]) == (question.id, "stop")
    with pytest.raises(QuestionError, match="stopped"):
        session.respond(question.id, "approve")
    goes_on(session, model)


def test_what_was_stopped_while_it_waited_is_not_done(opened, tmp_path):
    model = last([WRITE])
    session = opened("deep", model=model)
    ask(session)
    session.stop()
    goes_on(session, model)
    assert not (tmp_path / "a.md").exists()


def test_while_two_subagents_wait(opened):
    helpers = [subagent(name, [WRITE, "written"]) for name in ("one", "two")]
    model = last([[task("one"), task("two")]])
    session = opened("deep", model=model, subagents=helpers)
    run = ask(session)
    assert len(session.questions) == 2
    stop_soon(session)
    assert run.status == "stopped"
    goes_on(session, model)
    assert [e.data["by"] for e in kinds(session, "interrupt_closed")] == ["stop", "stop"]


def test_while_a_subagent_waits_and_another_works(opened, gate):
    waits = subagent("waits", [WRITE, "written"])
    works = subagent("works", [call("hold"), "found"], tools=[gate.tool()])
    model = last([[task("waits"), task("works")]])
    session = opened("deep", model=model, subagents=[waits, works])
    session.ask("go")
    gate.reached.wait(PATIENCE)
    until(lambda: session.questions)
    stop_soon(session)
    assert session.status == "stopped"
    goes_on(session, model)


def test_right_after_an_answer(opened):
    replies = {"go": WRITE, "and now?": "still here"}
    model = ScriptedModel(lambda messages: replies.get(messages[-1].text, LONG), delay=0.01)
    session = opened("deep", model=model)
    run = ask(session)
    session.respond(session.questions[0].id, "approve")
    stop_soon(session)
    assert run.status == "stopped"
    goes_on(session, model)


def test_what_has_ended_stays_as_it_was(opened):
    model = last(["done", RuntimeError("no")])
    session = opened("deep", model=model)
    run = ask(session)
    session.stop()
    assert run.status == session.status == "done"
    failed = ask(session)
    session.stop()
    assert failed.status == session.status == "failed"
    assert [status for _, status in ended(session)] == ["done", "failed"]
    goes_on(session, model)
    session.stop()
    session.stop()
    assert session.status == "done"


def test_twice_is_once(opened, gate):
    model = last([call("hold")])
    session = opened("deep", model=model, tools=[gate.tool()])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    threads = [threading.Thread(target=session.stop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    session.stop()
    assert ended(session) == [(run.id, "stopped")]
    goes_on(session, model)


def test_from_a_subscriber(opened, gate):
    model = last([call("hold")])
    session = opened("deep", model=model, tools=[gate.tool()])

    def stop(event):
        if event.kind == "tool_call":
            session.stop()

    end = session.subscribe(stop)
    run = session.ask("go").wait(PATIENCE)
    assert run.status == "stopped"
    end()
    goes_on(session, model)


def test_what_is_asked_as_soon_as_it_has_stopped_does_not_hold_up_whoever_stopped_it(opened, gate):
    model = last([call("hold"), call("hold")])
    session = opened("deep", model=model, tools=[gate.tool()])
    session.ask("go")
    gate.reached.wait(PATIENCE)
    gate.reached.clear()
    asked = []

    def again(event):
        if event.kind == "run_ended" and not asked:
            asked.append(session.ask("again"))

    session.subscribe(again)
    stop_soon(session)
    gate.reached.wait(PATIENCE)
    assert asked[0].status == "running"
    gate.opened.set()
    assert asked[0].wait(PATIENCE).status == "done"


def test_a_resumed_run_can_be_stopped(opened, gate):
    model = last([RuntimeError("no"), call("hold")])
    session = opened("deep", model=model, tools=[gate.tool()])
    assert ask(session).status == "failed"
    run = session.resume()
    gate.reached.wait(PATIENCE)
    stop_soon(session)
    assert run.status == "stopped"
    assert not session.can_resume
    goes_on(session, model)


def test_a_policy_that_takes_its_time(opened, gate):
    def think(question):
        gate.reached.set()
        gate.opened.wait(PATIENCE)
        return "approve"

    model = last([WRITE])
    session = opened("deep", model=model, respond=think)
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    stop_soon(session)
    assert run.status == "stopped"
    gate.opened.set()
    goes_on(session, model)


def test_a_graph_that_is_not_ours(opened, gate):
    model = last([[call("hold"), call("hold")]])
    session = opened(create_agent(model, [gate.tool()]))
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    stop_soon(session)
    assert run.status == "stopped"
    goes_on(session, model)


@pytest.mark.parametrize("kind", ["tool", "blocking_tool"])
def test_a_tool_can_stop_the_run_it_is_part_of(opened, gate, kind):
    @tool
    def enough() -> str:
        """Stop it all."""
        session.stop()
        return "stopped"

    @tool
    async def enough_async() -> str:
        """Stop it all."""
        session.stop()
        return "stopped"

    tools = {"tool": enough_async, "blocking_tool": enough}
    model = last([[call(tools[kind].name), call("hold")]])
    session = opened("deep", model=model, tools=[tools[kind], gate.tool()])
    run = session.ask("go").wait(PATIENCE)
    assert run.status == "stopped"
    goes_on(session, model)


@pytest.mark.parametrize("where", ["tool", "stream", "question"])
def test_a_stopped_thread_is_still_stopped_when_it_is_opened_again(opened, gate, where):
    first = {"tool": call("hold"), "stream": LONG, "question": WRITE}[where]
    model = ScriptedModel([first, "still here"], delay=0.02)
    session = opened("deep", model=model, tools=[gate.tool()])
    session.ask("go")
    seen = {"tool": "tool_call", "stream": "token", "question": "interrupt_opened"}[where]
    until(lambda: kinds(session, seen))
    session.stop()
    before = session.events()
    session.close()
    again = opened("deep", model=model, tools=[gate.tool()])
    assert again.status == "stopped"
    assert not again.can_resume
    assert again.events() == before
    goes_on(again, model)


def test_over_and_over(opened):
    model = ScriptedModel(
        lambda messages: "still here" if messages[-1].text == "and now?" else LONG, delay=0.002
    )
    session = opened("deep", model=model)
    for pause in (0, 0, 0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05) * 3:
        run = session.ask("go")
        time.sleep(pause)
        stop_soon(session)
        assert run.status == session.status == "stopped"
    assert ended(session) == [(run.id, "stopped") for run in session.runs]
    goes_on(session, model)


async def test_inside_an_event_loop(opened, gate):
    model = last([call("hold")])
    session = opened("deep", model=model, tools=[gate.tool()])
    mine = asyncio.create_task(asyncio.sleep(0.05, "mine"))
    run = session.ask("go")
    while not gate.reached.is_set():  # noqa: ASYNC110  # set by another thread
        await asyncio.sleep(0.005)
    session.stop()
    assert (await run).status == "stopped"
    assert await mine == "mine"  # what else runs in that loop is left alone


# One subagent alone


def two_helpers(opened, gate, names=("one", "two")):
    """Open a session in which two subagents are at work, and one of them is held up."""
    other = Gate()
    held = subagent(names[0], [call("hold"), "first result"], tools=[gate.tool()])
    free = subagent(names[-1], [call("wait"), "second result"], tools=[other.tool("wait")])
    helpers = [held, free] if names[0] != names[-1] else [held]
    model = last([[task(names[0]), task(names[-1])]])
    session = opened("deep", model=model, subagents=helpers)
    run = session.ask("go")
    assert gate.reached.wait(PATIENCE)
    until(lambda: len(kinds(session, "subagent_started")) == 2)
    until(lambda: len(kinds(session, "tool_call")) >= (4 if names[0] != names[-1] else 3))
    return model, session, run, other


@pytest.mark.parametrize("by", ["name", "id"])
def test_one_subagent_is_stopped_and_its_sibling_finishes(opened, gate, by):
    model, session, run, other = two_helpers(opened, gate)
    one, _ = sorted(kinds(session, "subagent_started"), key=lambda e: e.name)
    session.stop(subagent=one.name if by == "name" else one.data["id"])
    assert session.status == "running"
    other.opened.set()
    assert run.wait(PATIENCE).answer == "still here"
    stopped, finished = [m for m in model.calls[-1].messages if m.type == "tool"]
    assert "stopped by the person" in stopped.text
    assert finished.text == "second result"
    ends = {e.agent: e.data["status"] for e in kinds(session, "subagent_ended")}
    assert ends == {"one": "stopped", "two": "ok"}
    check_conversation(session.state["messages"])


def test_a_subagent_that_is_stopped_in_the_middle_of_a_word_ends_once(opened):
    model = last([task("one")])
    helper = subagent("one", [])
    helper["model"] = ScriptedModel(["word " * 10_000], delay=0.01)
    session = opened("deep", model=model, subagents=[helper])
    run = session.ask("go")
    until(lambda: [event for event in kinds(session, "token") if event.agent == "one"])
    session.stop(subagent="one")
    assert run.wait(PATIENCE).answer == "still here"
    assert [event.data["status"] for event in kinds(session, "subagent_ended")] == ["stopped"]


def test_a_name_that_two_have_is_refused_with_their_ids(opened, gate):
    helper = subagent("twin", lambda messages: call("hold") if len(messages) < 3 else "result")
    helper["tools"] = [gate.tool()]
    model = last([[task("twin"), task("twin")]])
    session = opened("deep", model=model, subagents=[helper])
    run = session.ask("go")
    until(lambda: [e.name for e in kinds(session, "tool_call")].count("hold") == 2)
    first, second = [e.data["id"] for e in kinds(session, "subagent_started")]
    with pytest.raises(SessionError, match=f"Several.*{first}.*{second}"):
        session.stop(subagent="twin")
    session.stop(subagent=first)
    gate.opened.set()
    run.wait(PATIENCE)
    texts = {m.tool_call_id: m.text for m in model.calls[-1].messages if m.type == "tool"}
    assert "stopped by the person" in texts[first]
    assert texts[second] == "result"


def test_a_name_that_nobody_has_is_refused_with_those_there_are(opened, gate):
    _, session, run, other = two_helpers(opened, gate)
    with pytest.raises(SessionError, match=r"No subagent.*three.*one \(.*two \("):
        session.stop(subagent="three")
    assert run.status == "running"
    gate.opened.set()
    other.opened.set()
    run.wait(PATIENCE)
    with pytest.raises(SessionError, match=r"'one'.*Running: none"):
        session.stop(subagent="one")
    assert session.status == "done"


def test_a_subagent_that_waits_for_a_person_can_be_stopped_alone(opened):
    helpers = [subagent(name, [WRITE, f"{name} has written"]) for name in ("one", "two")]
    model = last([[task("one"), task("two")]])
    session = opened("deep", model=model, subagents=helpers)
    run = ask(session)
    questions = {question.agent: question for question in session.questions}
    session.stop(subagent="one")
    until(lambda: [question.agent for question in session.questions] == ["two"])
    session.respond(questions["two"].id, "approve")
    assert run.wait(PATIENCE).answer == "still here"
    stopped, finished = [m for m in model.calls[-1].messages if m.type == "tool"]
    assert "stopped by the person" in stopped.text
    assert finished.text == "two has written"


def nested(gate, script):
    """Describe a subagent that has a subagent of its own."""
    inner = subagent("inner", script, tools=[gate.tool()])
    between = ScriptedModel([task("inner"), "between is done"])
    graph = deepnb.create_deep_agent(between, subagents=[inner], name="outer")
    return between, {"name": "outer", "description": "Delegates.", "runnable": graph}


def test_a_subagent_of_a_subagent_is_stopped_and_its_caller_goes_on(opened, gate):
    between, outer = nested(gate, [call("hold"), "never"])
    model = last([task("outer")])
    session = opened("deep", model=model, subagents=[outer])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.stop(subagent="inner")
    assert run.wait(PATIENCE).answer == "still here"
    assert "stopped by the person" in between.calls[-1].messages[-1].text
    assert model.calls[-1].messages[-1].text == "between is done"
    ends = {e.agent: (e.parent, e.data["status"]) for e in kinds(session, "subagent_ended")}
    assert ends == {"inner": ("outer", "stopped"), "outer": ("deep", "ok")}


def test_with_a_subagent_its_own_subagents_end(opened, gate):
    _, outer = nested(gate, [call("hold"), "never"])
    model = last([task("outer")])
    session = opened("deep", model=model, subagents=[outer])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.stop(subagent="outer")
    assert run.wait(PATIENCE).answer == "still here"
    assert "stopped by the person" in model.calls[-1].messages[-1].text
    goes_on(session, model)


def test_all_of_them_is_the_run(opened, gate):
    model, session, run, _ = two_helpers(opened, gate)
    stop_soon(session)
    assert run.status == "stopped"
    goes_on(session, model)
    with pytest.raises(SessionError, match="Running: none"):
        session.stop(subagent="one")


# By the clock


def test_a_tool_that_takes_too_long_is_given_up_and_the_model_told(opened, gate):
    model = last([call("hold")])
    session = opened("deep", model=model, tools=[gate.tool()], tool_timeout=0.1)
    assert ask(session).status == "done"
    (read,) = [m for m in model.calls[-1].messages if m.type == "tool"]
    assert read.status == "error"
    assert "given up after 0.1 seconds" in read.text
    assert results(session)[read.tool_call_id]["status"] == "error"
    goes_on(session, model)


def test_so_is_one_that_blocks(opened, gate):
    model = last([call("block")])
    session = opened("deep", model=model, tools=[gate.blocking_tool()], tool_timeout=0.1)
    assert ask(session).status == "done"
    assert "may still take effect" in model.calls[-1].messages[-1].text
    goes_on(session, model)


def test_a_subagent_that_takes_too_long_is_given_up_and_its_sibling_is_not(opened, gate):
    slow = subagent("slow", [call("hold"), "never"], tools=[gate.tool()])
    quick = subagent("quick", ["found"])
    model = last([[task("slow"), task("quick")]])
    session = opened("deep", model=model, subagents=[slow, quick], subagent_timeout=0.4)
    assert ask(session).status == "done"
    given_up, found = [m for m in model.calls[-1].messages if m.type == "tool"]
    assert "slow was given up after 0.4 seconds" in given_up.text
    assert found.text == "found"
    ends = {e.agent: e.data["status"] for e in kinds(session, "subagent_ended")}
    assert ends == {"slow": "error", "quick": "ok"}


def test_a_subagents_tools_have_the_tools_time(opened, gate):
    helper = subagent("helper", [call("hold"), "gave up"], tools=[gate.tool()])
    session = opened(
        "deep", model=last([task("helper")]), subagents=[helper], tool_timeout=0.1
    )  # fmt: skip
    assert ask(session).status == "done"
    assert "given up" in helper["model"].calls[-1].messages[-1].text


def test_a_persons_time_does_not_count(opened):
    model = last([call("ask_user", question="Where?")])
    session = opened(
        "deep", model=model, middleware=[ClarifyMiddleware()], tool_timeout=0.1
    )  # fmt: skip
    run = ask(session)
    time.sleep(0.3)
    session.respond(session.questions[0].id, "Here")
    assert run.wait(PATIENCE).status == "done"
    assert model.calls[-1].messages[-1].text == "Here"


def test_a_tools_own_time_out_is_an_error_like_any_other(opened):
    async def fetch() -> str:
        raise TimeoutError("the site did not answer")

    tool = StructuredTool.from_function(coroutine=fetch, name="fetch", description="Fetch.")
    model = last([call("fetch")])
    session = opened("deep", model=model, tools=[tool])
    assert ask(session).status == "done"
    assert "the site did not answer" in model.calls[-1].messages[-1].text
    assert "given up" not in model.calls[-1].messages[-1].text
