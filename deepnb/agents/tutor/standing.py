"""How far a dialogue has come, told from the argument as it is kept and from what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deepnb.agents.tutor.prompts import ARGUMENT
from deepnb.agents.tutor.reaching import read
from deepnb.tutoring.document import Argument, parse
from deepnb.tutoring.gaps import Gap, gaps
from deepnb.tutoring.hints import LAST, hint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.models.offline.turn import Turn

_UNASKED = -1


class Standing(NamedTuple):
    """Where a dialogue stands.

    Attributes:
        argument: As far as it has come.
        gap: What it lacks first; None if it lacks nothing by the rules.
        level: How much help with the gap was given, as `deepnb.tutoring.hints` counts it; below 0
            if it was not asked about yet.
    """

    argument: Argument
    gap: Gap | None
    level: int = _UNASKED

    @property
    def is_open(self) -> bool:
        """Whether there is a dialogue at all, so that what is said next belongs to it."""
        return bool(self.argument.rows) or self.level > _UNASKED

    @property
    def question(self) -> str:
        """What the tutor asks now; empty if it has nothing to ask."""
        return self.gap.question if self.gap else ""


def standing(turn: Turn) -> Standing:
    """Tell where the dialogue stands at the beginning of a turn.

    Raises:
        Waiting: The argument has to be read first.
    """
    argument = parse(_kept(turn))
    gap = next(iter(gaps(argument)), None)
    replies = [reply for _, reply in turn.earlier]
    return Standing(argument, gap, _level(gap, replies) if gap else _UNASKED)


def _kept(turn: Turn) -> str:
    """The argument as it was written; before that, there is nothing to read."""
    if not any(ARGUMENT in call["args"].values() for call in turn.earlier_calls):
        return ""
    return read(turn, ARGUMENT)


def _level(gap: Gap, replies: Sequence[str]) -> int:
    """The furthest step of help since the gap was first asked about.

    Not before that: the hints of two gaps of a kind have the same words, their questions have not.
    """
    first = next((n for n, reply in enumerate(replies) if gap.question in reply), len(replies))
    given = "\n".join(replies[first:])
    return max((n for n in range(LAST + 1) if hint(gap, n) in given), default=_UNASKED)
