"""What is asked while another run is under way, waits or has failed."""

from __future__ import annotations

import pytest

import deepnb
from deepnb.errors import SessionError
from deepnb.testing import ScriptedModel, call
from tests.sessions import Gate, subagent, task

WRITE = call("write_file", file_path="/workspace/a.md", content="A")


@pytest.fixture
def opened(tmp_path):
    sessions = []

    def open_with(*script):
        session = deepnb.Session("deep", model=ScriptedModel(list(script)), workspace=tmp_path)
        sessions.append(session)
        return session

    yield open_with
    for session in sessions:
        session.close()


def test_waiting_for_what_is_queued_behind_a_question_does_not_hang(opened):
    session = opened(WRITE, "written", "then this")
    first = session.ask("write it").wait(30)
    second = session.ask("and then?").wait(30)
    assert (first.status, second.status) == ("waiting", "queued")
    assert second.reason == "behind a run that waits for approval of write_file"
    session.respond(session.questions[0].id, "approve")
    assert second.wait(30).answer == "then this"
    assert first.answer == "written"


async def test_nor_does_awaiting_it(opened):
    session = opened(WRITE, "written", "then this")
    await session.ask("write it")
    second = await session.ask("and then?")
    assert second.status == "queued"
    session.respond(session.questions[0].id, "approve")
    assert (await second).answer == "then this"


def test_resume_is_for_the_run_that_failed_and_not_for_the_one_behind_it(opened):
    session = opened(WRITE, ConnectionError("the line is down"), "it is up again")
    first = session.ask("write it").wait(30)
    second = session.ask("and then?")
    session.respond(session.questions[0].id, "approve")
    assert first.wait(30).status == "failed"
    assert second.wait(30).status == "stopped"
    assert session.status == "failed"
    assert session.resume() is first
    assert first.wait(30).answer == "it is up again"


def test_a_mistake_in_opening_a_thread_does_not_close_the_session_that_has_it(opened, tmp_path):
    session = opened("still here")
    with pytest.raises(deepnb.errors.UnknownAgentError):
        deepnb.Session("deeep", workspace=tmp_path)
    assert session.ask("are you there?").wait(30).answer == "still here"


def test_subscribers_hear_of_a_question_before_its_answer(opened):
    session = opened(WRITE, "written")
    heard = []

    def answer(event):
        if event.kind == "interrupt_opened":
            session.respond(event.data["id"], "approve")

    session.subscribe(answer)
    session.subscribe(lambda event: heard.append(event.seq))
    assert session.ask("write it").wait(30).status in ("done", "waiting")
    session.runs[-1].wait(30)
    assert heard == sorted(heard)


# Taking back


def test_what_is_queued_can_be_taken_back(opened):
    session = opened(WRITE, "written", "and this")
    first = session.ask("write it").wait(30)
    second, third = session.ask("never mind"), session.ask("and then?")
    session.withdraw(second.id)
    assert (second.status, second.reason) == ("stopped", "taken back by the person")
    assert session.status == "waiting"
    assert dict(zip(*listing(session), strict=True)) == {"main": "waiting"}
    session.respond(session.questions[0].id, "approve")
    assert third.wait(30).answer == "and this"
    assert first.answer == "written"
    told = [event for event in session.events() if event.run == second.id]
    assert [event.kind for event in told] == ["queued", "run_ended"]
    assert told[1].data["text"] == "taken back by the person"
    said = [m.text for m in session.state["messages"] if m.type == "human"]
    assert said == ["write it", "and then?"]


def listing(session):
    frame = deepnb.threads(session.workspace)
    return list(frame.thread), list(frame.status)


def test_what_was_taken_back_is_not_asked_after_a_restart(opened):
    session = opened(WRITE, "written")
    session.ask("write it").wait(30)
    session.withdraw(session.ask("never mind"))
    session.close()
    again = opened("written")
    assert [(run.question, run.status) for run in again.runs] == [
        ("write it", "waiting"),
        ("never mind", "stopped"),
    ]
    again.respond(again.questions[0].id, "approve")
    assert again.runs[0].wait(30).answer == "written"
    assert again.runs[1].reason == "taken back by the person"


def test_what_has_begun_or_is_unknown_cannot_be_taken_back(opened):
    session = opened(WRITE, "written", RuntimeError("the line is down"))
    first = session.ask("write it").wait(30)
    with pytest.raises(SessionError, match="too late.*waiting"):
        session.withdraw(first)
    session.respond(session.questions[0].id, "approve")
    first.wait(30)
    with pytest.raises(SessionError, match="too late.*done"):
        session.withdraw(first)
    with pytest.raises(SessionError, match="no run 'nobody'"):
        session.withdraw("nobody")
    assert first.answer == "written"


def test_each_run_is_either_taken_back_or_answered(tmp_path):
    """Whichever comes first, the worker or the person."""
    model = ScriptedModel(lambda messages: f"answer to {messages[-1].text}")
    with deepnb.Session("deep", model=model, workspace=tmp_path, persist=False) as session:
        runs, taken = [], set()
        for number in range(30):
            runs.append(session.ask(f"question {number}"))
            try:
                session.withdraw(runs[-1])
                taken.add(runs[-1].id)
            except SessionError:
                pass
            if number % 3 == 0:
                runs[-1].wait(30)
        runs[-1].wait(30)
        for run in runs:
            assert run.wait(30).status == ("stopped" if run.id in taken else "done"), run
        asked = [m.text for m in session.state.get("messages", []) if m.type == "human"]
        assert asked == [run.question for run in runs if run.id not in taken]


def test_what_is_queued_is_not_behind_a_question_that_was_withdrawn(tmp_path):
    gate = Gate()
    helper = subagent("writer", [WRITE])
    model = ScriptedModel([task("writer"), call("hold"), "done", "then this"])
    options = {"workspace": tmp_path, "subagents": [helper], "tools": [gate.tool()]}
    with deepnb.Session("deep", model=model, **options) as session:
        first = session.ask("write it").wait(30)
        second = session.ask("and then?")
        assert second.reason.startswith("behind a run that waits")
        session.stop("writer")
        assert gate.reached.wait(30)
        assert (first.status, second.status, second.reason) == ("running", "queued", "")
        gate.opened.set()
        assert second.wait(30).answer == "then this"
