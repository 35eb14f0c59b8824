"""What is asked while another run is under way, waits or has failed."""

from __future__ import annotations

import pytest

import deepnb
from deepnb.testing import ScriptedModel, call

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
