"""Steps of a plan, and what may stand in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deepnb.interrupts import PlanStep

DOUBT = "however although despite no not without failed limited"
FIGURES, DATES = "numbers total", "date year"
"""What is added to the words of a question, to find what denies it, or counts, or dates it."""

ASKED_FOR = "What was asked for"
"""The title of a step that a person wanted: what it finds is wanted, whatever the question is."""

_LONGEST_INPUT, _LONGEST_TITLE = 500, 90
# What could be taken for Markdown, or for a mark, in a title that a document chose.
_UNSAFE = re.compile(r"[\[\]【】<>`*|\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")


def make_step(tool: str, title: str, wanted: str, rationale: str) -> PlanStep:
    """Make a step that waits for no other; its number is given later."""
    return {
        "id": "",
        "title": title,
        "tool": tool,
        "input": " ".join(wanted.split())[:_LONGEST_INPUT],
        "rationale": rationale,
        "depends_on": [],
    }


def safe(text: str) -> str:
    """A name as words for a title: one line, not long, nothing that Markdown would obey."""
    line = " ".join(_UNSAFE.sub(" ", text).split())
    return line if len(line) <= _LONGEST_TITLE else f"{line[:_LONGEST_TITLE].rstrip()}…"


def not_so_called(name: str) -> str:
    """Say that there is no such document, or that it may not be read, and not which."""
    return f"No document that may be read is called “{safe(name)}”."
