"""The person's files, as the tools show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.files.namespace import FILES
from deepnb.models.offline import results
from deepnb.models.offline.reach import reach

if TYPE_CHECKING:
    from deepnb.models.offline.turn import Turn

_MOST_LINES = 2_000


def titles(turn: Turn) -> list[str]:
    """The person's files, by their paths below their folder."""
    there = reach(turn)
    paths = sorted([*there.files, *there.others])
    return [path.removeprefix(FILES) for path in paths if path.startswith(FILES)]


def read(turn: Turn, path: str) -> str:
    """A text; a path that is not whole is below the person's folder."""
    place = path if path.startswith("/") else FILES + path
    found = turn.do(turn.call("read", path=place, offset=0, limit=_MOST_LINES), note=False)
    page = results.page(found[0], place) if found else None
    return "\n".join(page.lines) if page else ""
