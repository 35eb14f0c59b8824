"""The seminar: a whole document into the person's files, with what it lacks named."""

from __future__ import annotations

from functools import partial

import pytest

from deepnb.testing import ScriptedModel, call
from deepnb.tutoring.document import parse
from deepnb.tutoring.gaps import gaps
from tests.sessions import ask, opening, settle
from tests.tutor.dialogues import THESIS, say
from tests.tutoring.test_document import SEMINAR


@pytest.fixture
def seminar(essay):
    with opening(essay) as open_session:
        yield partial(open_session, "seminar", model="offline")


def test_a_claim_becomes_a_document_with_its_gaps_named(seminar, essay):
    reply = say(seminar(), f"Write a seminar that {THESIS[0].lower()}{THESIS[1:]}", "approve")
    assert "Written to `/files/Sound money needs a fixed supply.md`" in reply
    assert "without a language model I can write no more" in reply
    text = (essay / "Sound money needs a fixed supply.md").read_text()
    (row,) = parse(text).rows
    assert (row.kind, row.text) == ("thesis", THESIS)
    assert "## Refutation" in text
    assert "- What would the best of those who disagree with you say?" in text


def test_a_topic_is_no_thesis(seminar, essay):
    say(seminar(), "Hold a seminar about paper money", "approve")
    text = (essay / "Paper money.md").read_text()
    assert parse(text).rows == ()
    assert "- What do you claim, in one sentence? *(thesis: no thesis)*" in text


def test_a_short_claim_is_a_thesis_though_it_is_vague(seminar, essay):
    say(seminar(), "Write a seminar that rain is good", "approve")
    text = (essay / "Rain is good.md").read_text()
    assert parse(text).text("thesis") == "Rain is good"
    assert "vague thesis" in text


def test_a_document_is_taken_as_it_is(seminar, essay):
    (essay / "Draft.md").write_text(SEMINAR)
    say(seminar(), "Write a seminar from [[Draft]]", "approve")
    made = parse((essay / "Draft seminar.md").read_text())
    drafted = parse(SEMINAR)
    assert [row[:2] for row in made.rows] == [row[:2] for row in drafted.rows]
    assert gaps(made) == gaps(drafted)


def test_without_a_topic_it_asks_for_one(seminar, essay):
    session = seminar()
    run = ask(session, "Write a seminar")
    assert session.questions[0].request["question"] == "What should the seminar be about?"
    session.respond(session.questions[0].id, THESIS)
    settle(run)
    session.respond(session.questions[0].id, "reject")
    assert "**Not written:** you declined it." in settle(run).answer
    assert not (essay / "Sound money needs a fixed supply.md").exists()


def test_a_model_writes_checks_and_mends(seminar, essay):
    script = [
        call("write_file", file_path="/files/Money.md", content=SEMINAR),
        call("check_seminar", path="/files/Money.md"),
        lambda messages: messages[-1].text,
    ]
    session = seminar(model=ScriptedModel(script))
    reply = say(session, "Write a seminar on money", "approve")
    assert "missing or wrong" in reply
    assert (essay / "Money.md").read_text() == SEMINAR
