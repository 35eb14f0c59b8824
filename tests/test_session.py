"""One conversation: asking, waiting, queueing, statuses, answers, and what a person is told."""

from __future__ import annotations

import asyncio
import gc
import re
import threading

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

import deepnb
from deepnb import Session
from deepnb.errors import (
    AnswerError,
    DeepnbError,
    PathError,
    RunError,
    SessionError,
    ThreadInUseError,
)
from deepnb.testing import ScriptedModel, call
from tests.sessions import PATIENCE, Gate, ask, check_conversation, kinds, opening, until

WRITE = call("write_file", file_path="/workspace/a.md", content="hello\n")


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()  # whatever a test does, nothing is held up for ever


def said(session, role="assistant"):
    return [e.data["text"] for e in kinds(session, "message") if e.data["role"] == role]


def heard(seen):
    """What a model call was given, without what the agent is told each time."""
    return [(m.type, m.text) for m in seen.messages if m.type != "system"]


# Asking and waiting


def test_ask_returns_at_once_and_wait_returns_when_it_is_done(opened, gate):
    session = opened([call("hold"), "It is so."], tools=[gate.tool()])
    run = session.ask("Is it so?")
    assert run.status in ("queued", "running")
    assert run.wait(0) is run  # not done, and said to be so
    gate.reached.wait(PATIENCE)
    assert run.status == session.status == "running"
    gate.opened.set()
    assert run.wait(PATIENCE).status == session.status == "done"
    assert run.answer == "It is so."
    assert session.runs == [run]


def test_a_session_is_idle_until_it_is_asked(opened):
    session = opened(["yes"])
    assert session.status == "idle"
    assert session.runs == session.questions == session.events() == []
    assert session.waiting_for == ""


def test_the_agent_remembers_the_conversation(opened):
    model = ScriptedModel(["one", "two"])
    session = opened("deep", model=model)
    ask(session, "first")
    ask(session, "second")
    assert heard(model.calls[-1]) == [("human", "first"), ("ai", "one"), ("human", "second")]


def test_each_run_has_its_own_answer(opened):
    session = opened(["one", "two"])
    first, second = ask(session, "first"), ask(session, "second")
    assert (first.answer, second.answer) == ("one", "two")


def test_wait_returns_when_something_is_pending_and_says_what(opened):
    session = opened([WRITE, "written"])
    run = ask(session)
    assert run.status == session.status == "waiting"
    assert run.reason == session.waiting_for == "approval of write_file"
    assert list(session.pending["id"]) == [question.id for question in session.questions]
    with pytest.raises(RunError, match=r"approval of write_file.*session\.respond"):
        _ = run.answer


def test_a_run_that_was_answered_can_be_waited_for_at_once(opened):
    session = opened([WRITE, "written"])
    run = ask(session)
    session.respond(session.questions[0].id, "approve")
    assert run.wait(PATIENCE).status == "done"  # and not still "waiting"
    assert run.answer == "written"


def test_many_threads_can_wait_for_one_run(opened, gate):
    session = opened([call("hold"), "over"], tools=[gate.tool()])
    run = session.ask("go")
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(run.wait(PATIENCE).answer)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    gate.opened.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert answers == ["over"] * 8


@pytest.mark.parametrize(
    "reply",
    [
        AIMessage("It is so."),
        ("ai", "It is so."),
        {"role": "assistant", "content": "It is so."},
        {"role": "assistant", "content": [{"type": "text", "text": "It is so."}]},
    ],
)
def test_a_graph_may_answer_in_any_form_that_langgraph_takes(opened, reply):
    builder = StateGraph(MessagesState).add_node("answer", lambda state: {"messages": [reply]})
    session = opened(builder.add_edge(START, "answer").compile())
    run = ask(session)
    assert run.answer == "It is so."
    assert said(session) == [m.text for m in session.state["messages"] if m.type == "ai"]


# The queue


def test_what_is_asked_meanwhile_is_queued_and_says_so(opened, gate):
    session = opened([call("hold"), "one", "two"], tools=[gate.tool()])
    first = session.ask("first")
    gate.reached.wait(PATIENCE)
    second = session.ask("second")
    assert (first.status, second.status) == ("running", "queued")
    event = kinds(session, "queued")[-1]
    assert (event.run, event.data) == (second.id, {"text": "second", "steer": False})
    gate.opened.set()
    assert second.wait(PATIENCE).answer == "two"
    assert first.answer == "one"
    check_conversation(session.state["messages"])


def test_a_queued_run_says_so_however_quickly_it_was_asked(opened):
    session = opened(lambda messages: "yes")
    for _ in range(10):
        session.ask("first")
        second = session.ask("second")  # the first one may not even have begun
        assert second.id in [event.run for event in kinds(session, "queued")]
        second.wait(PATIENCE)


def test_what_is_queued_behind_a_question_waits_for_it(opened):
    session = opened([WRITE, "one", "two"])
    ask(session, "first")
    second = session.ask("second")
    assert second.wait(0.05).status == "queued"
    assert session.status == "waiting"
    session.respond(session.questions[0].id, "approve")
    assert second.wait(PATIENCE).answer == "two"


def test_nothing_is_lost_when_many_threads_ask_at_once(opened):
    session = opened(lambda messages: f"reply to {messages[-1].text}")
    runs = []
    threads = [
        threading.Thread(target=lambda n=n: runs.append(session.ask(f"question {n}")))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run in runs:
        assert run.wait(PATIENCE).answer == f"reply to {run.question}"
    starts = [e.kind for e in kinds(session, "run_started", "run_ended")]
    assert starts == ["run_started", "run_ended"] * 12  # one after the other
    for run in runs:
        told = [e.kind for e in kinds(session, "queued", "run_started") if e.run == run.id]
        assert told == ["queued", "run_started"]
    check_conversation(session.state["messages"])


def test_two_sessions_run_side_by_side(opened, gate):
    held = opened([call("hold"), "slow"], tools=[gate.tool()], thread="one")
    slow = held.ask("go")
    gate.reached.wait(PATIENCE)
    quick = opened(["quick"], thread="two")
    assert ask(quick).answer == "quick"
    assert slow.status == "running"
    assert [e for e in quick.events() if e.run == slow.id] == []


# In an event loop, as in a kernel


async def test_ask_does_not_block_a_running_loop(opened, gate):
    session = opened([call("hold"), "over"], tools=[gate.tool()])
    run = session.ask("go")
    while not gate.reached.is_set():  # noqa: ASYNC110  # set by another thread
        await asyncio.sleep(0.005)  # this loop goes on, and so does the run
    assert run.status == "running"
    gate.opened.set()
    assert (await run) is run
    assert run.answer == "over"


async def test_awaiting_returns_when_something_is_pending(opened):
    session = opened([WRITE, "written"])
    run = await session.ask("go")
    assert run.status == "waiting"
    session.respond(session.questions[0].id, "approve")
    assert (await run).answer == "written"
    assert (await run).answer == "written"  # also when it has ended


async def test_several_tasks_can_await_one_run(opened, gate):
    session = opened([call("hold"), "over"], tools=[gate.tool()])
    run = session.ask("go")

    async def answer():
        return (await run).answer

    tasks = [asyncio.create_task(answer()) for _ in range(5)]
    await asyncio.sleep(0)
    gate.opened.set()
    assert await asyncio.gather(*tasks) == ["over"] * 5


async def test_giving_up_on_a_run_does_not_stop_it(opened, gate):
    session = opened([call("hold"), "over"], tools=[gate.tool()])
    run = session.ask("go")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(run, 0.02)
    assert run.status in ("queued", "running")
    gate.opened.set()
    assert (await run).answer == "over"


async def test_everything_else_works_inside_a_loop_too(opened, gate):
    session = opened([call("hold"), "never", "again"], tools=[gate.tool()])
    run = session.ask("go")
    while not gate.reached.is_set():  # noqa: ASYNC110  # set by another thread
        await asyncio.sleep(0.005)
    session.steer("quickly")
    session.stop()
    assert (await run).status == "stopped"
    assert (await session.ask("again")).status == "done"
    assert session.state["messages"][-1].text == "never"
    assert session.fork().runs[-1].question == "again"


def test_a_loop_that_was_closed_in_mid_wait_does_no_harm(opened, gate):
    session = opened([call("hold"), "over", "still here"], tools=[gate.tool()])
    run = session.ask("go")
    loop = asyncio.new_event_loop()

    async def wait_for_it():
        await run

    task = loop.create_task(wait_for_it())
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "over"
    assert ask(session).answer == "still here"
    assert [e.data["status"] for e in kinds(session, "run_ended")] == ["done", "done"]
    assert not task.done()
    task._log_destroy_pending = False  # that it is pending is the point


# Subscribers


def test_events_are_numbered_and_can_be_asked_for_from_any_place(opened):
    session = opened([call("ls", path="/workspace/"), "done"])
    ask(session)
    events = session.events()
    numbers = [event.seq for event in events]
    assert numbers == sorted(set(numbers))
    for since in (0, numbers[3], numbers[-1], numbers[-1] + 100, -5):
        assert session.events(since) == [event for event in events if event.seq > since]


def test_a_subscriber_hears_everything_once_and_in_order(opened):
    session = opened(["one", "two"])
    told = []
    end = session.subscribe(told.append)
    ask(session)
    until(lambda: told and told[-1].kind == "run_ended")
    assert told == session.events()
    end()
    ask(session)
    assert told != session.events()


def test_a_subscriber_that_raises_is_left_out_and_harms_nobody(opened):
    session = opened(["one"])
    calls = []

    def careless(event):
        calls.append(event)
        raise ZeroDivisionError("oops")

    session.subscribe(careless)
    assert ask(session).answer == "one"
    assert len(calls) == 1
    (warning,) = kinds(session, "warning")
    assert "ZeroDivisionError" in warning.data["text"]


def test_a_subscriber_can_ask_answer_and_stop(opened, gate):
    session = opened([WRITE, "one", call("hold"), "two"], tools=[gate.tool()])
    follow_ups = []

    def act(event):
        if event.kind == "interrupt_opened":
            session.respond(event.data["id"], "approve")
        elif event.kind == "run_ended" and not follow_ups:
            follow_ups.append(session.ask("and now?"))
        elif event.kind == "tool_call" and event.name == "hold":
            session.stop()

    session.subscribe(act)
    first = session.ask("go")
    until(lambda: first.status == "done" and follow_ups)  # it may be done before it is told
    assert follow_ups[0].wait(PATIENCE).status == "stopped"
    assert not kinds(session, "warning")


def test_a_subscriber_can_answer_the_next_question_when_one_is_closed(opened):
    calls = [call("ask_user", question="Where?"), call("ask_user", question="When?")]
    session = opened([calls, "done"], middleware=[deepnb.middleware.ClarifyMiddleware()])
    run = ask(session)
    where, when = session.questions

    def go_on(event):
        if event.kind == "interrupt_closed" and event.data["id"] == where.id:
            session.respond(when.id, "now")

    session.subscribe(go_on)
    threading.Thread(target=session.respond, args=(where.id, "here"), daemon=True).start()
    assert until(lambda: run.status == "done")
    assert sorted(m.text for m in session.state["messages"] if m.type == "tool") == ["here", "now"]


def test_a_subscriber_finds_the_session_as_the_event_says(opened):
    session = opened(["one"])
    found = []

    def look(event):
        if event.kind == "run_ended":
            found.append((event.data["status"], session.status, session.runs[-1].status))

    session.subscribe(look)
    ask(session)
    assert found == [("done", "done", "done")]


@pytest.mark.parametrize("end", ["failed", "stopped"])
def test_what_a_subscriber_asks_when_a_run_has_ended_badly_is_asked(opened, gate, end):
    first = RuntimeError("no") if end == "failed" else call("hold")
    session = opened([first, "better"], tools=[gate.tool()])
    asked = []

    def again(event):
        if event.kind == "run_ended" and not asked:
            asked.append(session.ask("again"))

    session.subscribe(again)
    run = session.ask("go")
    if end == "stopped":
        gate.reached.wait(PATIENCE)
        session.stop()
    assert run.wait(PATIENCE).status == end
    assert asked[0].wait(PATIENCE).answer == "better"


# A session that nobody holds


def test_a_run_goes_on_though_nobody_holds_its_session(tmp_path, gate):
    model = ScriptedModel([call("hold"), "over"])
    run = Session("deep", model=model, workspace=tmp_path, tools=[gate.tool()]).ask("go")
    gc.collect()
    gate.reached.wait(PATIENCE)
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "over"
    with Session("deep", model=ScriptedModel(["more"]), workspace=tmp_path) as session:
        assert [run.question for run in session.runs] == ["go"]
        assert ask(session).answer == "more"


def test_a_thread_is_not_driven_twice_because_nobody_holds_its_session(tmp_path, gate):
    model = ScriptedModel([call("hold"), "over"])
    run = Session("deep", model=model, workspace=tmp_path, tools=[gate.tool()]).ask("go")
    gate.reached.wait(PATIENCE)
    gc.collect()
    with pytest.raises(ThreadInUseError):
        Session("deep", model=ScriptedModel(["twice"]), workspace=tmp_path).close()
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "over"


def test_a_closed_session_leaves_no_thread_behind(opened):
    before = set(threading.enumerate())
    for _ in range(3):
        session = opened([call("ls", path="/"), "yes"])
        ask(session)
        session.close()
    until(lambda: not [t for t in threading.enumerate() if t not in before])


# What does not work says so


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_an_empty_question_is_refused(opened, question):
    session = opened(["yes"])
    with pytest.raises(SessionError, match="Ask something"):
        session.ask(question)
    assert (session.status, session.runs) == ("idle", [])


@pytest.mark.parametrize("question", [None, 3, b"bytes", ["a", "b"], object()])
def test_what_is_no_question_is_refused(opened, question):
    session = opened(["yes"])
    with pytest.raises(SessionError):
        session.ask(question)
    assert (session.status, session.runs) == ("idle", [])
    assert ask(session).answer == "yes"


def test_an_answer_needs_a_run_that_has_ended(opened, gate):
    session = opened([call("hold"), "over"], tools=[gate.tool()])
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    with pytest.raises(RunError, match=r"running.*run\.wait\(\)"):
        _ = run.answer
    behind = session.ask("then")
    with pytest.raises(RunError, match="queued"):
        _ = behind.answer
    assert run.error is behind.error is None


def test_there_is_nothing_to_resume_unless_something_was_cut_off(opened, gate):
    session = opened([call("hold"), "over", WRITE], tools=[gate.tool()])
    with pytest.raises(SessionError, match="ask something"):
        session.resume()
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    with pytest.raises(SessionError, match="running"):
        session.resume()
    gate.opened.set()
    run.wait(PATIENCE)
    assert not session.can_resume
    with pytest.raises(SessionError, match="ask something"):
        session.resume()
    ask(session)
    with pytest.raises(SessionError, match="waiting"):
        session.resume()


def test_a_closed_session_says_what_to_do(opened):
    session = opened([WRITE, "done"])
    ask(session)
    question = session.questions[0]
    events = session.events()
    session.close()
    session.close()
    refused = [
        lambda: session.ask("more"),
        lambda: session.steer("more"),
        session.stop,
        session.resume,
        lambda: session.respond(question.id, "approve"),
        lambda: session.edit_todos(session.todos),
        session.fork,
        lambda: session.state,
        lambda: session.files,
    ]
    for act in refused:
        with pytest.raises(SessionError, match=r"closed.*deepnb\.Session\('deep', thread='main'\)"):
            act()
    assert session.events() == events  # what was said can still be read
    assert len(session.trace) > 0
    assert "closed" in repr(session)


def test_closing_stops_the_run_and_what_is_queued(opened, gate):
    session = opened([call("hold"), "over"], tools=[gate.tool()])
    run, behind = session.ask("go"), session.ask("then")
    gate.reached.wait(PATIENCE)
    session.close()
    assert (run.status, behind.status) == ("stopped", "stopped")


def test_a_session_that_is_closed_by_a_subscriber_is_closed_or_open_but_not_half(opened, tmp_path):
    session = opened(["one"])
    tried = []

    def close(event):
        if event.kind == "run_ended":
            try:
                session.close()
            except SessionError as error:
                tried.append(str(error))

    session.subscribe(close)
    session.ask("go").wait(PATIENCE)
    until(lambda: tried or session.is_closed)
    if not session.is_closed:
        assert session.status == "done"  # it was told that it cannot, and nothing was changed
        session.close()
    opened(["two"]).close()  # the thread is free again


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        ({"agent": "depe"}, deepnb.errors.UnknownAgentError, "deep"),
        ({"workspace": "no/such/folder"}, PathError, "not a folder"),
        ({"respond": "maybe"}, AnswerError, "approve"),
        ({"respond": 3}, AnswerError, "approve"),
        ({"colour": "red"}, deepnb.errors.AgentError, "colour"),
        ({"model": "nobody:knows"}, deepnb.errors.ModelError, "nobody"),
        ({"agent": object()}, SessionError, "compiled LangGraph graph"),
        ({"thread": ""}, deepnb.errors.ThreadError, "name"),
    ],
)
def test_a_session_that_cannot_be_opened_says_why_and_leaves_nothing(
    tmp_path, options, error, hint
):
    given = {"model": "offline", "workspace": tmp_path, **options}
    if not isinstance(given.get("agent", ""), str):
        given.pop("model")
    with pytest.raises(error, match=hint) as caught:
        Session(given.pop("agent", "deep"), **given)
    assert isinstance(caught.value, DeepnbError)
    assert list(tmp_path.iterdir()) == []


# How it looks


def test_reprs_are_stable_and_say_how_it_stands(opened, gate):
    session = opened([call("hold"), WRITE, "written"], tools=[gate.tool()], thread="thesis")
    assert repr(session) == "Session('deep', thread='thesis', idle)"
    run = session.ask("Write it down")
    gate.reached.wait(PATIENCE)
    assert repr(session) == "Session('deep', thread='thesis', running)"
    assert repr(run) == "Run('Write it down', running)"
    gate.opened.set()
    run.wait(PATIENCE)
    assert repr(session) == "Session('deep', thread='thesis', waiting for approval of write_file)"
    assert repr(run) == "Run('Write it down', waiting (approval of write_file))"
    session.respond(session.questions[0].id, "approve")
    run.wait(PATIENCE)
    until(lambda: session.status == "done")
    assert repr(session) == "Session('deep', thread='thesis', done)"
    assert repr(run) == "Run('Write it down', done)"


def test_cards_can_be_shown_at_any_moment(opened, gate):
    session = opened([call("hold"), WRITE, "It is written."], tools=[gate.tool()])
    assert "Ready" in session._repr_html_()
    run = session.ask("Write <b>it</b> down")
    assert "Write &lt;b&gt;it&lt;/b&gt; down" in run._repr_html_()  # as when a cell ends with ask
    behind = session.ask("And then?")
    assert "And then?" in behind._repr_html_()
    gate.opened.set()
    run.wait(PATIENCE)
    assert session.questions[0].id in run._repr_html_()
    assert session.questions[0].id in session._repr_html_()
    session.respond(session.questions[0].id, "approve")
    run.wait(PATIENCE)
    assert "It is written." in run._repr_html_()


def test_nothing_in_a_repr_depends_on_the_clock_or_on_chance(opened):
    session = opened(["yes"])
    run = ask(session)
    assert not re.search(r"0x[0-9a-f]+|[0-9a-f]{12}|\d\d:\d\d", repr(session) + repr(run))


def test_what_can_be_done_with_a_session_is_what_dir_shows(opened):
    session = opened(["yes"])
    shown = dir(session)
    assert {"ask", "steer", "stop", "respond", "pending", "trace", "fork", "export"} <= set(shown)
    assert not [name for name in shown if name.startswith("_")]
    with pytest.raises(AttributeError, match="citations"):
        _ = session.citations
