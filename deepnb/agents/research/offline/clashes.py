"""What may contradict each other in what was read, where that is the question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deepnb.agents.research.offline.excerpts import in_quotes
from deepnb.agents.research.offline.steps import safe
from deepnb.citations.conflicts import conflicts
from deepnb.models.offline.answer import listing
from deepnb.models.offline.vocabulary import key_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from deepnb.citations.shapes import Conflict, Source

_ASKS = re.compile(
    r"\b(?:disagree\w*|contradict\w*|inconsisten\w*|discrepanc\w*|at odds|conflicting|"
    r"conflicts? (?:between|among|with each)|(?:possible|any) conflicts?)\b",
    re.IGNORECASE,
)
_TITLE = "Where the documents may disagree"
# It ends in a colon, as what leads to something and claims nothing.
_LEAD = "Verbatim, and possible only: a rule has put side by side what speaks of the same:"


def asks_for_clashes(question: str) -> bool:
    """Whether a question is about where documents disagree."""
    return _ASKS.search(question) is not None


def without_clashes(question: str) -> str:
    """Any question; of such a one only what it is about, to find all that is said of that."""
    if not asks_for_clashes(question):
        return question
    return " ".join(key_words(_ASKS.sub(" ", question)))


def clashes(sources: dict[str, Source], found: Collection[tuple[str, int]]) -> str:
    """What may be contradictions among the passages that were found, as a section; "" if none."""
    among = [
        each
        for each in conflicts(sources)
        if all((side["source"], side["passage"]) in found for side in each["sides"])
    ]
    lines = [_item(each, sources) for each in among]
    return "\n".join([f"## {_TITLE}", "", _LEAD, "", *lines]) if lines else ""


def _item(conflict: Conflict, sources: dict[str, Source]) -> str:
    about = listing([safe(word) for word in conflict["about"]])
    said = [(side["source"], in_quotes(side["text"])) for side in conflict["sides"]]
    sides = [f"  - {safe(sources[id_]['title'])}: {quote} [{id_}]" for id_, quote in said]
    return "\n".join([f"- On {about}, {conflict['why']}:", *sides])
