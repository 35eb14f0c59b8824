"""What to ask back about a request that leaves too much open, with answers to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.interrupts import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

Question = tuple[str, tuple[Option, ...]]

SIDES = ("Its style", "Its clarity", "Its argument", "Its evidence")
DRAFT = "Go through a draft of mine"
CURRENT = "The document we are working on"
PASTE = "A text that I will paste here"
COLLECT = "Collect what my files say about "

_MOST_FILES = 4
_LONGEST_NAME, _MOST_WORDS = 60, 5
BETTER = frozenset(
    "improve make fix edit rewrite rephrase revise strengthen finish change complete work".split()  # noqa: SIM905  # a line of words is easier to read
)
_WITH_A_TEXT = frozenset(
    """
    add check compare copy count cut delete expand extract highlight insert look move open outline
    proofread quote read remove rename replace save shorten show summarise summarize tidy translate
    turn
    """.split()  # noqa: SIM905  # the same
)


def ask_back(verb: str, titles: Sequence[str]) -> Question:
    """Ask about an order that does not say what it is about.

    Args:
        verb: What is to be done.
        titles: Of the files there are.
    """
    if verb in BETTER:
        return "What should be better about it?", _options(SIDES)
    if verb in _WITH_A_TEXT:
        files = [f"[[{title[:_LONGEST_NAME]}]]" for title in titles[:_MOST_FILES]]
        return "Which text should that be?", _options([*files, CURRENT, PASTE])
    choices = [
        "Find a thesis",
        "Support a thesis I have",
        "Meet an objection",
        DRAFT,
    ]
    return "What would you like to do with your argument?", _options(choices)


def ask_about(topic: str) -> Question:
    """Ask which side of a topic; a text that is no name of one is not repeated."""
    is_name = len(topic.split()) <= _MOST_WORDS and len(topic) <= _LONGEST_NAME
    shown = topic if is_name and topic else "it"
    choices = [
        f"Argue for a claim about {shown}",
        f"Find a question about {shown} to answer",
        f"{COLLECT}{shown}",
    ]
    return f"What about {shown} would you like to work on?", _options(choices)


def _options(labels: Sequence[str]) -> tuple[Option, ...]:
    return tuple(Option(id=f"choice_{n}", label=label) for n, label in enumerate(labels, 1))
