"""Documents that the tutor writes to the person's files, by rule and when it is asked to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deepnb.agents.tutor.dialogue import back
from deepnb.agents.tutor.documents import (
    OFFER,
    Wanted,
    document,
    how_many,
    name_of,
    path_of,
    skeleton,
    title_of,
)
from deepnb.agents.tutor.reaching import titles
from deepnb.files.namespace import FILES
from deepnb.models.offline.save import put
from deepnb.tutoring.gaps import gaps

if TYPE_CHECKING:
    from deepnb.agents.tutor.standing import Standing
    from deepnb.models.offline.turn import Turn

_YES = re.compile(r"(?i)\W*(?:yes|yeah|yep|sure|ok|okay|please|do|go ahead)\b[^?]{0,30}")


def create(turn: Turn, now: Standing, wanted: Wanted) -> str:
    """Write a new document that holds only what was asked for."""
    path = path_of(wanted.title)
    if path.removeprefix(FILES) in titles(turn):
        return back(now, f"**Not written:** `{path}` exists already. Give it another title.")
    place, problem = put(turn, path, skeleton(wanted))
    if problem:
        return back(now, f"**Not written:** {problem}")
    holds = "It holds its title, what you asked for, and a heading for each part of an argument."
    text = f"Written to `{place}`. {holds} The rest is yours to find."
    return back(now, text) if now.is_open else f"{text}\n\n{now.question}"


def accepted(turn: Turn, now: Standing) -> Wanted | None:
    """The document that was offered, if the person has said yes to it."""
    is_offered = bool(turn.earlier) and OFFER in turn.earlier[-1][1]
    if not is_offered or not _YES.fullmatch(turn.request):
        return None
    return Wanted(name_of(title_of(now.argument)))


def keep(turn: Turn, now: Standing, wanted: Wanted) -> str:
    """Write the argument as far as it has come."""
    if not now.argument.rows:
        return f"There is no argument to write down yet.\n\n{now.question}"
    content = document(wanted.title, now.argument.rows)
    place, problem = put(turn, path_of(wanted.title), content)
    if problem:
        return back(now, f"**Not written:** {problem}")
    missing = len(gaps(now.argument))
    lacks = f" By the rules, {how_many(missing)} still missing." if missing else ""
    return back(now, f"Written to `{place}`.{lacks}")
