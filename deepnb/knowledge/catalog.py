"""What is in an index, as passages and as tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deepnb.chunks import place
from deepnb.knowledge.passages import Overview, Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    from deepnb.knowledge.passages import FoundBy, Kind
    from deepnb.knowledge.search import Hit
    from deepnb.knowledge.store import Store

# fmt: off
_FOUND = {
    "rank": "int64", "score": "float64", "text": "str", "title": "str", "place": "str",
    "page": "Int64", "first": "Int64", "last": "Int64", "location": "str", "kind": "str",
    "found_by": "str",
}
_DOCUMENTS = {
    "location": "str", "title": "str", "kind": "str", "format": "str", "passages": "Int64",
    "embedded": "Int64", "size": "Int64", "read": "datetime64[us, UTC]",
}
_PROBLEMS = {"location": "str", "reason": "str"}
# fmt: on
_PASSAGE = (
    "SELECT chunk.id, text, unit, first, last, within, heading, title, location, kind "
    "FROM chunk JOIN document ON document.id = document "
)


def found(store: Store, hits: Sequence[Hit]) -> list[Passage]:
    """The passages that a search has found; one that has just been removed is left out."""
    rows = store.rows(
        _PASSAGE + "WHERE chunk.id IN (SELECT value FROM json_each(?))",  # noqa: S608  # constants
        json.dumps([hit.chunk for hit in hits]),
    )
    known = {row[0]: row for row in rows}
    return [
        _passage(known[hit.chunk], score=hit.score, found_by=hit.found_by)
        for hit in hits
        if hit.chunk in known
    ]


def chosen(store: Store, among: Callable[[Kind, str], bool]) -> list[int]:
    """The documents that count."""
    rows = store.rows("SELECT id, kind, location FROM document")
    return [row for row, kind, location in rows if among(kind, location)]


def passages(store: Store, location: str) -> list[Passage]:
    """All of a document, in order."""
    rows = store.rows(_PASSAGE + "WHERE location = ? ORDER BY chunk.id", location)
    return [_passage(row) for row in rows]


def _passage(row: tuple[Any, ...], score: float = 0.0, found_by: FoundBy = "") -> Passage:
    _, text, unit, first, last, within, heading, title, location, kind = row
    return Passage(
        text=text,
        place=place(unit, first, last, within),
        title=title,
        location=location,
        kind=kind,
        heading=heading,
        page=first if unit == "page" else None,
        first=first,
        last=last,
        score=score,
        found_by=found_by,
    )


def ranked(passages: Iterable[Passage]) -> pd.DataFrame:
    """What was found, as a table."""
    from deepnb.frames import frame

    return frame(_FOUND, [vars(each) | {"rank": n} for n, each in enumerate(passages, 1)])


def documents(store: Store) -> pd.DataFrame:
    """One row for each document that has text."""
    from deepnb.frames import frame

    rows = store.rows(
        "SELECT location, title, kind, format, count(chunk.id), "
        "count(chunk.id) - coalesce(sum(waiting), 0), size, read FROM document "
        "JOIN chunk ON document.id = document GROUP BY document.id ORDER BY location"
    )
    return frame(_DOCUMENTS, rows)


def problems(store: Store, others: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """What is wrong with documents, and with anything else."""
    from deepnb.frames import frame

    rows = store.rows(
        "SELECT location, problem FROM document WHERE problem <> '' ORDER BY location"
    )
    return frame(_PROBLEMS, [*rows, *others])


def overview(store: Store, most: int, headings: int) -> list[Overview]:
    """The first documents, with the first headings of each."""
    rows = store.rows(
        "SELECT document.id, title, location FROM document "
        "JOIN chunk ON document.id = document GROUP BY document.id ORDER BY location LIMIT ?",
        most,
    )
    return [
        Overview(title, location, _headings(store, document, headings))
        for document, title, location in rows
    ]


def _headings(store: Store, document: int, most: int) -> tuple[str, ...]:
    rows = store.rows(
        "SELECT heading FROM chunk WHERE document = ? AND heading <> '' GROUP BY heading "
        "ORDER BY min(id) LIMIT ?",
        document,
        most,
    )
    return tuple(heading for (heading,) in rows)
