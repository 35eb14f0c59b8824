"""A folder with an essay's sources, and a person who talks with the tutor about it."""

from __future__ import annotations

from typing import Any

from deepnb import Session
from deepnb.agents.tutor.offline import NOTICE
from deepnb.tutoring import rules
from tests.sessions import ask, settle

SOURCES = {
    "Gold.md": "# Gold\n\nThe supply of gold grew by 2 percent a year. Inflation was low.\n",
    "History of paper.md": "# Paper\n\nWhat can be printed is printed, and inflation followed.\n",
}
THESIS = "Sound money needs a fixed supply."
DIALOGUE = {
    "Money": "What do you say about it that somebody could deny?",
    "I don't know": "To which word would they say no?",
    "A hint, please": "What comes there?",
    f"I think that {THESIS[0].lower()}{THESIS[1:]}": "What makes you hold",
    "A fixed supply keeps money scarce.": "What do you mean by \u201cfixed supply\u201d?",
    "One that nobody can raise.": "Which of your files shows",
    "It says so in [[Silver]].": "No file has this title. There are: [[Gold]], [[Hi",
    "In [[Gold]] it says that the supply grew by 2 percent.": "the best of those who disagree",
    "That is wrong.": "How would somebody whom you respect put it",
    "Prices fall when trade grows, so that debts weigh more each year.": "What do you say to",
    "In 1873 they fell by half.": "Which clause could this stand in",
    "Scarce money is what the thesis asks for.": "What do we know now",
    "So a fixed supply is worth its price.": "Shall I write it to `/files/Sound money needs",
}
"""What the person says once they were asked for a claim, and what is in the reply."""


def say(session: Session, text: str, *answers: Any) -> str:
    """Say something, answer what comes back, and give the reply; it may ask one thing only."""
    run = ask(session, text)
    for answer in answers:
        assert run.status == "waiting", run.answer
        given = answer(session) if callable(answer) else answer
        session.respond(session.pending.id.iloc[0], given)
        settle(run)
    assert run.status == "done", f"{run.status}: {run.reason}"
    assert rules.one_question(run.answer) == []
    return run.answer


def choose(label: str) -> Any:
    """Answer a choice by what is written on it."""

    def answer(session: Session) -> Any:
        (question,) = session.questions
        options = question.request["options"]
        return {"selected": [one["id"] for one in options if one["label"] == label]}

    return answer


def body(reply: str) -> str:
    """A reply without what the first one says of itself."""
    return reply.removeprefix(NOTICE).strip()
