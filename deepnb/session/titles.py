"""What a thread is called where a person chooses one."""

from __future__ import annotations

from deepnb.transcript.legible import one_line

_LONGEST = 80


def title_of(question: str | None) -> str:
    """Make the first question of a thread its title."""
    return one_line(question, _LONGEST) or "New thread"
