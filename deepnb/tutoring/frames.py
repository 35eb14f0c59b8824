"""An argument as a DataFrame, with what is still missing in the place where it would be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb.frames import frame
from deepnb.tutoring.document import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from deepnb.tutoring.document import Argument
    from deepnb.tutoring.gaps import Gap, GapKind

_ARGUMENT = {"kind": "str", "clause": "Int64", "text": "str", "citations": "str", "missing": "str"}
_LACKING: dict[GapKind, Kind] = {
    "no thesis": "thesis",
    "no clause": "clause",
    "undefined term": "definition",
    "no evidence": "evidence",
    "no refutation": "refutation",
    "no reply": "reply",
    "no conclusion": "conclusion",
}
"""The part that a gap leaves empty; the other gaps are of a part that is there."""
_FLAWED: dict[GapKind, Kind] = {
    "vague thesis": "thesis",
    "straw man": "refutation",
    "new evidence": "reply",
}


def argument_frame(argument: Argument, gaps: Iterable[Gap]) -> pd.DataFrame:
    """List the rows of an argument in the order of a seminar.

    What is wrong with a part stands in `missing`, in its first row; a part that is not there is a
    row without a text.
    """
    found = list(gaps)
    flaws = {_FLAWED[gap.kind]: gap for gap in reversed(found) if gap.kind in _FLAWED}
    rows: list[dict[str, Any]] = []
    for row in argument.rows:
        flaw = flaws.pop(row.kind, None)
        rows.append(
            {
                "kind": row.kind,
                "clause": row.clause,
                "text": row.text,
                "citations": "; ".join(row.citations),
                "missing": f"{flaw.kind}: {flaw.why}" if flaw else "",
            }
        )
    for gap in found:
        if gap.kind in _LACKING:
            what = f"{gap.kind}: {gap.about}" if gap.kind == "undefined term" else gap.kind
            kind = _LACKING[gap.kind]
            rows.append({"kind": kind, "clause": gap.clause, "citations": "", "missing": what})
    rows.sort(key=_order)
    return frame(_ARGUMENT, rows)


def _order(row: dict[str, Any]) -> tuple[int, int, int]:
    place = KINDS.index(row["kind"])
    within = row["kind"] in ("clause", "definition", "evidence")
    return (1 if within else place, row["clause"] or 0 if within else 0, place)
