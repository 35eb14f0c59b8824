"""An answer to what is asked about the documents themselves: what there is, and how it begins.

What they say in sum takes a language model. How each one begins is in most cases the next best, or,
where only one or two are meant, how each of their parts does.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.research.notes import READ
from deepnb.agents.research.offline.choose import commands
from deepnb.agents.research.offline.clashes import asks_for_clashes, clashes, without_clashes
from deepnb.agents.research.offline.excerpts import Excerpts, place_of
from deepnb.agents.research.offline.naming import named, unnamed
from deepnb.agents.research.offline.sentences import sentences
from deepnb.agents.research.offline.steps import make_step, safe
from deepnb.agents.research.plans import MOST_STEPS
from deepnb.keywords import words
from deepnb.models.offline.answer import count
from deepnb.models.offline.vocabulary import concepts, key_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from deepnb.agents.research.offline.sentences import Sentence
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
_COMPARES = re.compile(r"\bcompar\w+|\bdiffer\w*|\bversus\b|\bvs\b", re.IGNORECASE)
_MOST_QUOTED, _MOST_LISTED, _MOST_HEADINGS = 8, 40, 3
_FEW_WORDS = 5
_NO_PROSE = (".csv", ".tsv", ".xlsx", ".xls", ".json", ".bib", ".py", ".r", ".js")
# It ends in a colon, as what leads to something and claims nothing.
_LEAD = "Verbatim quotes, chosen by rule; to sum up what they say takes a language model:"
_NO_CLASH = (
    "**No possible conflict was found, so there is no report.** What was compared are sentences on "
    "the same that differ in a number, or of which one says not, in {}. Other contradictions take "
    "a language model, or a reader."
)


def is_about_documents(question: str, overview: Sequence[Overview]) -> bool:
    """Whether a question is about documents as such: "Which are here?", "Sum up report.md"."""
    asked = unnamed(question, overview)
    if asks_for_clashes(asked) and _WHOLE.issuperset(key_terms(without_clashes(asked))):
        return True
    return not _WHOLE.isdisjoint(concepts(asked)) and _WHOLE.issuperset(key_terms(asked))


def first_looks(
    question: str, overview: Sequence[Overview], tools: Collection[str]
) -> Iterator[PlanStep]:
    """A step for each document that the question names; or for the first ones that can be read."""
    files = [each for each in overview if "://" not in each.location and READ in tools]
    files.sort(key=lambda each: each.location.lower().endswith(_NO_PROSE))
    meant = named(question, files)
    reason = "The question is about the documents as such, so I look how each begins."
    if meant:
        files = [each for each in files if each.location in meant]
        reason = "The question is about this document as such, so I look how its parts begin."
    elif asks_for_clashes(question):
        files = _kindred(files)
        reason = "The question is where documents disagree, so I read what may be on the same."
    for each in files[:MOST_STEPS]:
        name = safe(PurePosixPath(each.location).name)
        title = f"What {name} says" if asks_for_clashes(question) else f"How {name} begins"
        yield make_step(READ, title, each.location, reason)


def written(
    question: str,
    plan: Plan,
    results: Mapping[str, StepResult],
    sources: dict[str, Source],
    overview: Sequence[Overview],
) -> tuple[str, str]:
    """How the documents begin, or where they may disagree, as a report; and which others there are.

    Without a report, the second says why; both are empty if nothing was read.
    """
    read = [list(results.get(step["id"], {}).get("found", [])) for step in plan["steps"]]
    found = [[each for each in some if each[0] in sources] for some in read if some]
    if not any(found):
        return "", ""
    all_ = {(id_, number) for some in found for id_, number in some}
    clash = ""
    if asks_for_clashes(question) or _COMPARES.search(question):
        clash = clashes(sources, all_)
    meant = named(question, overview)
    if asks_for_clashes(question):
        in_ = f"{count(len(all_), 'passage')} of {count(len(found), 'document')}"
        rest = "" if meant else _others({sources[id_]["location"] for id_, _ in all_}, overview)
        return (clash, rest) if clash else ("", _NO_CLASH.format(in_))
    most = max(_MOST_QUOTED // len(found), 1)
    said = [each for some in found for each in _leads(some, sources, most)]
    one = "it begins" if len(found) == 1 else "they begin"
    which = f"{one}, part by part" if meant else "the documents begin"
    quoted = Excerpts(sources, said).items(said)
    begin = f"## How {which}\n\n{_LEAD}\n\n{quoted}" if said else ""
    rest = "" if meant else _others({sources[each.source]["location"] for each in said}, overview)
    return "\n\n".join(filter(None, [clash, begin])), rest


def _kindred(documents: Sequence[Overview]) -> list[Overview]:
    """The documents in prose first of whose titles and headings most is in those of others, too."""
    about = [
        set(concepts(f"{each.title} {PurePosixPath(each.location).stem} {' '.join(each.headings)}"))
        for each in documents
    ]
    shared = [
        len({term for term in own if any(term in other for other in about if other is not own)})
        for own in about
    ]
    prose = [not each.location.lower().endswith(_NO_PROSE) for each in documents]
    order = sorted(range(len(documents)), key=lambda n: (not prose[n], -shared[n]))
    return [documents[number] for number in order]


def _leads(
    found: Sequence[tuple[str, int]], sources: dict[str, Source], most: int
) -> list[Sentence]:
    """The first sentence of each part of a document, as far as it was read; if many, some."""
    in_order = sorted(found, key=lambda each: place_of(sources[each[0]], each[1]))
    parts: dict[object, Sentence] = {}
    seen: set[str] = set()
    for id_, number in in_order:
        for one in sentences(sources[id_], number):
            part = one.heading.strip() or number
            better = part not in parts or (one.ends and not parts[part].ends)
            if better and one.text not in seen and _tells(one):  # passages overlap
                parts[part] = one
            seen.add(one.text)
    every = list(parts.values())
    if len(every) <= most or most == 1:
        return every[:most]
    return [every[round(n * (len(every) - 1) / (most - 1))] for n in range(most)]


def _tells(one: Sentence) -> bool:
    """Whether it is a sentence to a reader: no title, and no line of a program."""
    reads = one.kind in {"prose", "row"} or one.reads_as_prose
    return (
        reads
        and not one.is_a_title
        and len(words(one.text)) >= _FEW_WORDS
        and not commands(one.text)
    )


def _others(read: Collection[str], overview: Sequence[Overview]) -> str:
    """The documents that nothing is told of, under a heading of their own."""
    others = [each for each in overview if each.location not in read]
    lines = [f"- {_described(each)}" for each in others[:_MOST_LISTED]]
    return "\n".join(["## Other documents", "", *lines]) if lines else ""


def _described(each: Overview) -> str:
    """What a document is called, where it is, and its first headings."""
    headings = "; ".join(safe(path.rpartition(" › ")[2]) for path in each.headings[:_MOST_HEADINGS])  # noqa: RUF001  # how headings stand within each other
    about = f": {headings}" if headings else ""
    return f"{safe(each.title)} ({safe(each.location)}){about}"
