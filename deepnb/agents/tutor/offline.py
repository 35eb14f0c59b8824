"""The tutor where no language model is configured: it asks by rule, and says so.

Like `OfflineModel` it has no memory: what it says next is a function of the conversation and of
what the tools answer. The argument is in a file of the agent's own memory, and the question that
is open is always the first that the argument calls for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.agents.tutor.dialogue import go_on, take_parts
from deepnb.agents.tutor.documents import to_create, to_keep
from deepnb.agents.tutor.opening import go_through, open_with, wants_to_go_through
from deepnb.agents.tutor.standing import standing
from deepnb.agents.tutor.writing import accepted, create, keep
from deepnb.models.offline import OfflineModel
from deepnb.tutoring.document import parse
from deepnb.tutoring.english import is_foreign

if TYPE_CHECKING:
    from deepnb.models.offline.turn import Turn

NOTICE = (
    "*No language model is configured, so I ask by rule: I see words and signs, and no meaning.*"
)


ENGLISH_ONLY = (
    "I have not taken that down: my rules know English only. A part that begins with its name, as "
    "in \u201cThesis: \u2026\u201d, I take as it is."
)


class OfflineTutor(OfflineModel):
    """Asks what an argument still needs, one question at a time, by the rules of a seminar."""

    def _say(self, turn: Turn) -> str:
        return introduced(turn, _answer(turn))


def introduced(turn: Turn, text: str) -> str:
    """A reply; the first one says what it comes from."""
    is_known = any(NOTICE in reply for _, reply in turn.earlier)
    return text if is_known else f"{NOTICE}\n\n{text}"


def _answer(turn: Turn) -> str:
    now, said = standing(turn), turn.request
    if wanted := to_create(said):
        return create(turn, now, wanted)
    if wanted := to_keep(said, now.argument) or accepted(turn, now):
        return keep(turn, now, wanted)
    if wants_to_go_through(said):
        return go_through(turn, now, said)
    if parts := parse(said).rows:
        return take_parts(turn, now, parts)
    if is_foreign(said):
        return f"{ENGLISH_ONLY}\n\n{now.question}"
    return go_on(turn, now) if now.is_open else open_with(turn, now)
