"""What a session says of itself, and which threads stand beside it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import deepnb
from deepnb import Budget
from deepnb.errors import SessionError, ThreadError
from deepnb.session.listing import thread_list
from tests.sessions import ask, echo, opening, settle, write


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


def listed(workspace):
    return {row["thread"]: row for row in thread_list(workspace)}


# Title and origin


def test_the_title_is_the_first_question_on_one_line(session):
    s = session(echo)
    assert s.title == "New thread"
    ask(s, "What did\n the \x1b[31mpump cost?")
    ask(s, "two")
    assert s.title == "What did the \\u001b[31mpump cost?"
    s.close()
    assert s.title.startswith("What did the")
    long = session(echo, thread="long")
    ask(long, "word " * 100)
    assert len(long.title) == 80
    assert long.title.endswith("…")


def test_a_fork_knows_where_it_is_from(session):
    s = session(echo)
    ask(s, "one")
    assert s.forked_from == ""
    with s.fork(thread="branch") as fork:
        assert fork.forked_from == f"main, step {s.events()[-1].step}"
        origin = fork.forked_from
    again = session(echo, thread="branch")
    assert again.forked_from == origin


def test_a_name_that_is_missing_inside_a_property_is_the_one_that_is_told(session, monkeypatch):
    s = session(echo)

    def broken(self):
        return self.nowhere

    monkeypatch.setattr(deepnb.Session, "state", property(broken))
    with pytest.raises(AttributeError, match="no 'nowhere'"):
        _ = s.state
    with pytest.raises(AttributeError, match="no 'elsewhere'"):
        _ = s.elsewhere


# Limits


def test_limits_and_what_is_spent(session):
    s = session(echo, budget=Budget(calls=2, tokens=1_000_000))
    assert [tuple(limit) for limit in s.limits] == [("calls", 2, 0), ("tokens", 1_000_000, 0)]
    ask(s, "one")
    ask(s, "two")
    run = ask(s, "three")
    s.respond(s.questions[0].id, 10)
    settle(run)
    calls, tokens = s.limits
    assert calls == ("calls", 10, 3)
    assert 0 < tokens.spent < tokens.limit
    s.close()
    assert s.limits == []
    again = session(echo, budget=Budget(calls=2))
    assert again.limits == [("calls", 10, 3)]


def test_a_session_without_a_budget_has_no_limits(session):
    assert session(echo).limits == []


# The threads of a workspace


def test_threads_are_listed_for_whoever_wants_to_open_one(session, tmp_path):
    s = session(echo)
    ask(s, "What is\nthis?")
    fork = s.fork(thread="branch")
    fork.close()
    session(echo, thread="empty")
    rows = listed(tmp_path)
    assert {name: row["title"] for name, row in rows.items()} == {
        "main": "What is this?",
        "branch": "What is this?",
        "empty": "New thread",
    }
    assert rows["branch"]["forked_from"] == fork.forked_from
    assert rows["main"]["forked_from"] == ""
    assert [row["elsewhere"] for row in rows.values()] == [False] * 3
    assert [row["agent"] for row in rows.values()] == ["deep"] * 3


def test_what_another_kernel_has_open_or_nobody_can_read_is_marked(session, tmp_path):
    other = (
        "import sys, deepnb; deepnb.Session(model='offline', workspace=sys.argv[1], thread='other')"
        "; print('open', flush=True); sys.stdin.readline()"
    )
    broken = tmp_path / ".deepnb" / "threads" / "broken"
    broken.mkdir(parents=True)
    (broken / "record.sqlite").write_bytes(b"no database, and longer than a header" * 40)
    command = [sys.executable, "-c", other, str(tmp_path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as kernel:
        assert kernel.stdout.readline() == "open\n"
        rows = listed(tmp_path)
        kernel.stdin.close()
    assert rows["other"]["elsewhere"]
    assert rows["broken"]["status"] == "damaged"
    assert "agent" not in rows["broken"]
    assert rows["broken"]["title"] == "New thread"
    assert not listed(tmp_path)["other"]["elsewhere"]


# Siblings


def test_a_sibling_is_a_new_thread_with_the_same_agent(session, tmp_path):
    s = session(echo, budget=Budget(calls=1))
    ask(s, "one")
    with s.sibling() as second, s.sibling() as third:
        assert (second.thread, third.thread) == ("thread-2", "thread-3")
        assert ask(second, "two").answer == "answer to two"
        assert [limit.spent for limit in third.limits] == [0]
        assert second.forked_from == ""
        assert not s.is_closed
    assert set(listed(tmp_path)) == {"main", "thread-2", "thread-3"}
    with s.sibling() as fourth:
        assert fourth.thread == "thread-4"


def test_a_thread_that_is_open_here_is_given_as_it_is(session):
    s, other = session(echo), session(echo, thread="other")
    assert s.sibling("other") is other
    assert s.sibling("main") is s
    other.close()
    with s.sibling("other") as again:
        assert again is not other
        assert not again.is_closed


def test_a_thread_that_is_closed_is_opened_again(session):
    other = session([write(), "done"], thread="other")
    ask(other)
    other.close()
    s = session(["done"])
    with s.sibling("other") as again:
        assert again.status == "waiting"
        again.respond(again.questions[0].id, "approve")
        assert settle(again.runs[0]).answer == "done"


def test_another_agents_thread_is_refused(session):
    session("simple", model="offline", thread="other").close()
    s = session(echo)
    with pytest.raises(ThreadError, match="simple"):
        s.sibling("other")
    assert ask(s, "one").status == "done"


def test_siblings_in_memory_stay_there(session, tmp_path):
    kept = session(echo, thread="kept")
    s = session(echo, persist=False)
    with s.sibling() as second:
        assert (second.thread, second.is_kept) == ("thread-2", False)
        assert s.sibling("thread-2") is second
        with pytest.raises(SessionError, match="on disk"):
            s.sibling("kept")
    assert set(listed(tmp_path)) == {kept.thread}
