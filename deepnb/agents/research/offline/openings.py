"""An answer to what is asked about the documents themselves: what there is, and how it begins.

What they say in sum takes a language model. How each one begins is in most cases the next best.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.research.notes import READ
from deepnb.agents.research.offline.choose import commands
from deepnb.agents.research.offline.excerpts import BY_RULE, Excerpts
from deepnb.agents.research.offline.sentences import Sentence, sentences
from deepnb.agents.research.offline.steps import make_step, safe
from deepnb.agents.research.plans import MOST_STEPS
from deepnb.keywords import words
from deepnb.models.offline.answer import count
from deepnb.models.offline.vocabulary import concepts, key_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from deepnb.agents.research.state import StepResult
    from deepnb.citations.shapes import Source
    from deepnb.interrupts import Plan, PlanStep
    from deepnb.knowledge import Overview

# Words for documents as a whole. A question that has some, and no other, is about these.
_WHOLE = frozenset(
    concepts(
        "collection conclusion content document file finding folder gist important key main "
        "overview paper point result source sum summarise summarize summary topic"
    )
)
_MOST_LISTED, _MOST_HEADINGS = 40, 3
_FEW_WORDS = 5
_NUMBER = re.compile(r"\d+")
_NEEDS_A_MODEL = "- To sum up what they say takes a language model; by rule, only this can be told."


def is_about_documents(question: str) -> bool:
    """Whether a question is about the documents as such: "Which are here?", "Sum it up"."""
    return not _WHOLE.isdisjoint(concepts(question)) and _WHOLE.issuperset(key_terms(question))


def first_looks(overview: Sequence[Overview], tools: Collection[str]) -> Iterator[PlanStep]:
    """A step for each of the first documents that can be read."""
    files = [each for each in overview if "://" not in each.location and READ in tools]
    for each in files[:MOST_STEPS]:
        name = safe(PurePosixPath(each.location).name)
        reason = "The question is about the documents as such, so I look how each begins."
        yield make_step(READ, f"How {name} begins", each.location, reason)


def openings(
    plan: Plan, results: Mapping[str, StepResult], sources: dict[str, Source]
) -> list[Sentence]:
    """The first sentence of each document that was read."""
    found = [results.get(step["id"], {}).get("found", []) for step in plan["steps"]]
    firsts = (_first(list(each), sources) for each in found)
    return [each for each in firsts if each]


def listed(
    said: Sequence[Sentence], sources: dict[str, Source], overview: Sequence[Overview]
) -> tuple[str, str]:
    """How the documents begin, as a report, and which others there are."""
    excerpts = Excerpts(sources, said)
    lines = "\n".join(excerpts.line(each) for each in said)
    read = {sources[each.source]["location"] for each in said}
    others = [each for each in overview if each.location not in read]
    rest = [_NEEDS_A_MODEL]
    if others:
        rest.append(f"- {count(len(others), 'other document')} that I have not opened:")
        rest += [f"  - {_described(each)}" for each in others[:_MOST_LISTED]]
    return f"## How the documents begin\n\n{BY_RULE}\n\n{lines}", "\n".join(rest)


def _first(found: Sequence[tuple[str, int]], sources: dict[str, Source]) -> Sentence | None:
    """The first sentence of what was read of a document; what fits a question best comes before."""
    known = [each for each in found if each[0] in sources]
    in_order = sorted(known, key=lambda each: _place(sources[each[0]], each[1]))
    said = (one for id_, number in in_order for one in sentences(sources[id_], number))
    telling = (one for one in said if len(words(one.text)) >= _FEW_WORDS)
    return next((one for one in telling if not commands(one.text)), None)


def _place(source: Source, number: int) -> int:
    passages = source["passages"]
    match = _NUMBER.search(passages[number]["place"]) if 0 <= number < len(passages) else None
    return int(match[0]) if match else 0


def _described(each: Overview) -> str:
    """What a document is called, where it is, and its first headings."""
    headings = "; ".join(safe(path.rpartition(" › ")[2]) for path in each.headings[:_MOST_HEADINGS])  # noqa: RUF001  # how headings stand within each other
    about = f": {headings}" if headings else ""
    return f"{safe(each.title)} ({safe(each.location)}){about}"
