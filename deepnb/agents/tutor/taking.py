"""What a person has said → a part of their argument, in their own words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deepnb.tutoring.document import Argument, Kind, Row, place_of
from deepnb.tutoring.gaps import FLAWED, LACKING
from deepnb.tutoring.intent import claim
from deepnb.tutoring.key_terms import is_defined

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.tutoring.gaps import Gap

_WITHIN = ("clause", "definition", "evidence")
_CLAUSE = re.compile(r"(?i)\bclause\s+(\d{1,3})\b")


def answered(argument: Argument, gap: Gap, said: str) -> list[Row]:
    """Give the rows of an argument with an answer to what was asked about a gap."""
    text = " ".join(said.split())
    if gap.kind == "new evidence" and (number := _named(text, argument)):
        # The reply may keep what a clause has as well.
        moved = [row._replace(kind="evidence", clause=number) for row in argument.of("reply")]
        return _in_order([*argument.rows, *moved])
    kind = part_of(gap)
    if kind == "thesis":
        text = claim(text)
    elif kind == "definition" and not is_defined(gap.about, [text], []):
        text = f"{gap.about[:1].upper()}{gap.about[1:]}: {text}"
    clause = 1 if kind == "clause" else gap.clause
    return _in_order([*_without({kind}, argument), Row(kind, text, clause=clause)])


def with_parts(argument: Argument, parts: Sequence[Row], said: str) -> list[Row]:
    """Give the rows of an argument with parts that the person has named themselves.

    A thesis, refutation, reply or conclusion takes the place of the one there was, and so does a
    clause that is called by its number; another clause is one more.
    """
    last = max(argument.clauses, default=0)
    numbers = {row.clause for row in parts if row.kind == "clause"}
    is_more = not _CLAUSE.search(said) and not numbers.isdisjoint(argument.clauses)
    added = [row._replace(clause=_clause_of(row, last, is_more=is_more)) for row in parts]
    kept = [
        row
        for row in _without({row.kind for row in parts}, argument)
        if is_more or row.kind != "clause" or row.clause not in numbers
    ]
    return _in_order([*kept, *added])


def _clause_of(row: Row, last: int, *, is_more: bool) -> int | None:
    """The clause that a part belongs to, the last one if it does not say."""
    if row.kind not in _WITHIN:
        return None
    if row.clause is None:
        return last or None
    return row.clause + last if is_more else row.clause


def part_of(gap: Gap) -> Kind:
    """The part that an answer about a gap belongs to."""
    return LACKING[gap.kind] if gap.kind in LACKING else FLAWED[gap.kind]


def _named(text: str, argument: Argument) -> int | None:
    found = _CLAUSE.search(text)
    return int(found[1]) if found and int(found[1]) in argument.clauses else None


def _without(kinds: set[Kind], argument: Argument) -> list[Row]:
    """The rows but those of which there is one part only, and that come anew."""
    return [row for row in argument.rows if row.kind in _WITHIN or row.kind not in kinds]


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: place_of(row.kind, row.clause))
