"""Everything that was read, each under the id that a report cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.citations.shapes import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deepnb.citations.shapes import Passage, Reading


def register(
    sources: dict[str, Source], readings: Iterable[Reading], now: float
) -> dict[str, Source]:
    """Take in what was read; what was read before in the same place grows and keeps its id.

    Texts are kept exactly as they were seen: a quote is compared with them later.

    Args:
        sources: By id, as they stand; they are left as they are.
        readings: What was read, in that order.
        now: When, in seconds since 1970.

    Returns:
        The sources by id: S1, S2, …
    """
    known = dict(sources)
    ids = {(source["kind"], source["location"]): key for key, source in known.items()}
    number = max((int(key[1:]) for key in known), default=0)
    for reading in readings:
        place = (reading["kind"], reading["location"])
        if place not in ids:
            number += 1
            ids[place] = f"S{number}"
        key = ids[place]
        old = known.get(key)
        known[key] = Source(
            id=key,
            kind=reading["kind"],
            title=old["title"] if old else reading["title"],
            location=reading["location"],
            passages=_together(old["passages"] if old else [], reading["passages"]),
            read=old["read"] if old else now,
        )
    return known


def _together(old: Iterable[Passage], new: Iterable[Passage]) -> list[Passage]:
    """Both, each passage once, the old ones first: citations know them by their number."""
    return list({(passage["text"], passage["place"]): passage for passage in (*old, *new)}.values())
