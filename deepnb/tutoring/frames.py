"""An argument as a DataFrame, with what is still missing in the place where it would be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb.frames import frame
from deepnb.tutoring.document import place_of
from deepnb.tutoring.gaps import FLAWED, LACKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from deepnb.tutoring.document import Argument
    from deepnb.tutoring.gaps import Gap

_ARGUMENT = {"kind": "str", "clause": "Int64", "text": "str", "citations": "str", "missing": "str"}


def argument_frame(argument: Argument, gaps: Iterable[Gap]) -> pd.DataFrame:
    """List the rows of an argument in the order of a seminar.

    What is wrong with a part stands in `missing`, in its first row; a part that is not there is a
    row without a text.
    """
    found = list(gaps)
    flaws = {FLAWED[gap.kind]: gap for gap in reversed(found) if gap.kind in FLAWED}
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
        if gap.kind in LACKING:
            what = f"{gap.kind}: {gap.about}" if gap.kind == "undefined term" else gap.kind
            kind = LACKING[gap.kind]
            rows.append({"kind": kind, "clause": gap.clause, "citations": "", "missing": what})
    rows.sort(key=lambda row: place_of(row["kind"], row["clause"]))
    return frame(_ARGUMENT, rows)
