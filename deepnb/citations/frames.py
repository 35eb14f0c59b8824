"""What was read and what is claimed, as DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.frames import TIME, frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from deepnb.citations.shapes import Citation, Settled, Source

# fmt: off
_SOURCES = {
    "id": "str", "kind": "str", "title": "str", "location": "str", "passages": "Int64",
    "characters": "Int64", "cited": "Int64", "quoted": "Int64", "read": TIME,
}
_CITATIONS = {
    "id": "str", "claim": "str", "quote": "str", "source": "str", "place": "str", "verdict": "str",
    "found_in": "str", "settled": TIME, "note": "str",
}
# fmt: on


def sources_frame(sources: Mapping[str, Source], rows: Sequence[Citation] = ()) -> pd.DataFrame:
    """List what was read, with how often a report cites it and how often it quotes it."""
    return frame(
        _SOURCES,
        [
            {
                **source,
                "passages": len(source["passages"]),
                "characters": sum(len(passage["text"]) for passage in source["passages"]),
                "cited": sum(row["source"] == key for row in rows),
                "quoted": sum(r["source"] == key and r["verdict"] == "quoted" for r in rows),
            }
            for key, source in sources.items()
        ],
    )


def citations_frame(rows: Iterable[Citation], settled: Settled | None = None) -> pd.DataFrame:
    """List claims and verdicts.

    Args:
        rows: The claims.
        settled: By id of the claim, when a person has checked it themselves, and their note.
    """
    by_person = settled or {}
    return frame(
        _CITATIONS,
        [
            {**row, **dict(zip(("settled", "note"), by_person.get(row["id"], ()), strict=False))}
            for row in rows
        ],
    )
