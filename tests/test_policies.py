"""Answers in place of a person: by word, by function, by tool and by type."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

import deepnb
from deepnb.middleware import ClarifyMiddleware
from deepnb.testing import call
from tests.sessions import (
    PATIENCE,
    Gate,
    ask,
    kinds,
    opening,
    scripted,
    settle,
    tool_texts,
)

APPROVE = {"decisions": [{"type": "approve"}]}
CLIENT = {"client": True}
CONTENT = {"content": "draft\n", "start_line": 1, "end_line": 1, "total_lines": 1}
READ = call("read_file", file_path="/files/draft.md")
WHERE = call("ask_user", question="Where?")
WHICH = call(
    "ask_choices",
    question="Which?",
    options=[{"id": "a", "label": "This"}, {"id": "b", "label": "That"}],
)


def write(name="a.md", content="hello\n"):
    return call("write_file", file_path=f"/workspace/{name}", content=content)


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield partial(open_session, "deep", middleware=[ClarifyMiddleware()])


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def approve(question):
    return "approve"


async def approve_later(question):
    await asyncio.sleep(0.01)
    return "approve"


DECIDE = {"type": "approve"}


@pytest.mark.parametrize(
    "respond",
    [
        "approve",
        approve,
        approve_later,
        lambda question: {"decisions": [{"type": "approve"} for _ in question.tools]},
        {"write_file": "approve"},
        {"write_file": DECIDE},
        {"write_file": approve},
        {"write_file": approve_later},
        {"write_file": lambda question: DECIDE},
        {"tool_approval": "approve"},
        {"tool_approval": approve},
        {"tool_approval": approve_later},
        {"tool_approval": APPROVE},
        {"write_file": "approve", "tool_approval": "reject"},
    ],
)
def test_a_policy_approves_in_place_of_a_person(opened, tmp_path, respond):
    _, session = scripted(opened, write(), "done", respond=respond)
    run = ask(session)
    assert (run.status, run.answer) == ("done", "done")
    assert (tmp_path / "a.md").exists()
    (closed,) = kinds(session, "interrupt_closed")
    assert closed.data["by"] == "policy"
    assert not kinds(session, "error", "warning")


@pytest.mark.parametrize(
    "respond",
    [
        "reject",
        lambda question: {"decisions": [{"type": "reject", "message": "no"}]},
        {"write_file": "reject"},
        {"write_file": {"type": "reject", "message": "no"}},
    ],
)
def test_a_policy_rejects_in_place_of_a_person(opened, tmp_path, respond):
    _, session = scripted(opened, write(), "done", respond=respond)
    assert ask(session).status == "done"
    assert not (tmp_path / "a.md").exists()


@pytest.mark.parametrize(
    "respond",
    [
        None,
        {},
        {"edit_file": "approve"},
        {"clarification_request": "Here"},
        lambda question: None,
        {"write_file": None},
        {"write_file": lambda question: None},
        {"tool_approval": lambda question: None},
    ],
)
def test_what_no_policy_answers_is_left_to_the_person(opened, tmp_path, respond):
    _, session = scripted(opened, write(), "done", respond=respond)
    run = ask(session)
    assert run.status == "waiting"
    assert not kinds(session, "error", "warning")
    session.respond(session.questions[0].id, "approve")
    assert settle(run).answer == "done"


def fail(question):
    raise ZeroDivisionError("oops")


async def fail_later(question):
    await asyncio.sleep(0)
    raise ZeroDivisionError("oops")


@pytest.mark.parametrize(
    ("respond", "told"),
    [
        (fail, "ZeroDivisionError: oops"),
        (fail_later, "ZeroDivisionError: oops"),
        ({"write_file": fail}, "ZeroDivisionError: oops"),
        (lambda question: "perhaps", "still open"),
        (lambda question: 42, "still open"),
        (lambda question: object(), "still open"),
        (lambda question: {"decisions": []}, "still open"),
        (lambda: "approve", "still open"),
        ({"write_file": "perhaps"}, "still open"),
        ({"write_file": 3}, "still open"),
    ],
)
def test_a_policy_that_goes_wrong_says_so_and_leaves_it_to_the_person(
    opened, tmp_path, respond, told
):
    _, session = scripted(opened, write(), "done", respond=respond)
    run = ask(session)
    assert run.status == "waiting"
    (error,) = kinds(session, "error")
    assert told in error.data["text"]
    assert "still open" in error.data["text"]
    assert not (tmp_path / "a.md").exists()
    session.respond(session.questions[0].id, "approve")
    assert settle(run).answer == "done"


def test_a_policy_answers_every_kind_of_question(opened, tmp_path):
    seen = []

    def answer(question):
        seen.append(question.type)
        return {
            "ask_user": "Here",
            "ask_choices": {"selected": ["a"], "freeform": "or so"},
            "read_file": {"result": CONTENT},
            "write_file": "approve",
        }[question.tools[0]]

    model, session = scripted(opened, WHERE, WHICH, READ, write(), "done", respond=answer, **CLIENT)
    assert ask(session).answer == "done"
    assert len(seen) == 4
    texts = tool_texts(model.calls[-1])
    assert texts[:2] == ["Here", "This | or so"]


def test_answers_by_tool_and_by_type(opened, tmp_path):
    respond = {
        "ask_user": "Here",
        "clarification_request": ["a"],
        "client_tool_execution": lambda question: {"result": CONTENT},
        "tool_approval": "approve",
    }
    model, session = scripted(
        opened, WHERE, WHICH, READ, [write("a.md"), write("b.md")], "done",
        respond=respond, **CLIENT,
    )  # fmt: skip
    assert ask(session).answer == "done"
    assert tool_texts(model.calls[-1])[:2] == ["Here", "This"]
    assert (tmp_path / "b.md").exists()


def test_a_turn_that_is_not_answered_wholly_is_left_to_the_person(opened):
    calls = [
        write(),
        call("edit_file", file_path="/workspace/b.md", old_string="a", new_string="b"),
    ]
    _, session = scripted(opened, calls, "done", respond={"write_file": "approve"})  # fmt: skip
    assert ask(session).status == "waiting"
    assert session.questions[0].tools == ["write_file", "edit_file"]


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_a_word_for_approvals_does_not_answer_what_only_a_person_can_know(opened, word):
    _, session = scripted(opened, WHERE, "done", respond=word)
    run = ask(session)
    assert (run.status, run.reason) == ("waiting", "an answer to 'Where?'")


def test_a_person_can_be_quicker_than_the_policy(opened, gate, tmp_path):
    def think(question):
        gate.reached.set()
        gate.opened.wait(PATIENCE)
        return "approve"

    _, session = scripted(opened, write(), "done", respond=think)
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    session.respond(session.questions[0].id, "reject")
    gate.opened.set()
    assert settle(run).status == "done"
    assert not (tmp_path / "a.md").exists()
    (closed,) = kinds(session, "interrupt_closed")
    assert closed.data["by"] == "person"


def test_a_policy_may_look_at_the_session(opened, tmp_path):
    found = []

    def look(question):
        found.append((session.status, list(session.pending["id"]), len(session.files)))
        return "approve"

    _, session = scripted(opened, write(), "done", respond=look)
    assert ask(session).status == "done"
    assert found[0][0] == "running"
    assert len(found[0][1]) == 1


def test_a_rejecting_policy_ends_what_has_used_up_its_budget(opened):
    _, session = scripted(
        opened, call("ls", path="/"), "done", budget=deepnb.Budget(calls=1), respond="reject"
    )
    assert "budget is used up" in ask(session).answer


def test_an_approving_policy_does_not_spend_more_than_was_allowed(opened):
    _, session = scripted(
        opened, call("ls", path="/"), "done", budget=deepnb.Budget(calls=1), respond="approve"
    )
    assert ask(session).status == "waiting"
