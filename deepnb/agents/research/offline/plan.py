"""A plan from a question and from what the documents are called, with no language model.

Every step has a reason that a reader can check: a part of the question, a file that it names, a
section whose heading fits, a number that it asks for, a claim that could be wrong. A question that
gives no such reason is searched for as it is, which is one step.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.research.notes import FETCH, READ, SEARCH
from deepnb.agents.research.notes import WEB_SEARCH as WEB
from deepnb.agents.research.offline.clashes import without_clashes
from deepnb.agents.research.offline.naming import missing, named, unresolved
from deepnb.agents.research.offline.objections import heed
from deepnb.agents.research.offline.openings import first_looks, is_about_documents
from deepnb.agents.research.offline.steps import (
    DATES,
    DOUBT,
    FIGURES,
    make_step,
    not_so_called,
    safe,
)
from deepnb.agents.research.plans import MOST_STEPS
from deepnb.keywords import coverage, idf
from deepnb.models.offline.rank import asks_for_a_date
from deepnb.models.offline.request import split_questions
from deepnb.models.offline.vocabulary import concepts, key_terms, key_words, relatives, subjects

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from deepnb.interrupts import Plan, PlanStep
    from deepnb.knowledge import Overview

_MOST_PARTS, _MOST_READ = 3, 2
_ASKS = r"(?:how|what|why|when|where|who|whose|which|did|do|does|is|are|was|were|can|has|have|will)"
_SECOND_QUESTION = re.compile(rf"[,;]?\s+(?:and|but|or)\s+(?={_ASKS}\b)", re.IGNORECASE)
_COMPARED = re.compile(
    r"(?:\bcompare|\bdifferences?\s+between|\bcompared)\s+(.+?)\s+(?:and|with|to|vs\.?|versus)\s+"
    r"(.+?)\W*$|^(.+?)\s+(?:vs\.?|versus)\s+(.+?)\W*$",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that)\b", re.IGNORECASE
)
_GOES_ON = re.compile(r"^\W*(?:and|what about|how about)\b", re.IGNORECASE)
# What a question was told to be about, behind it.
_CONTEXT = re.compile(r"\s*\([^()]*\)\W*$")
_NUMBER = re.compile(
    r"\bhow (?:many|much)\b|\b(?:percent\w*|per cent|number|rate|average|trend|total)\b",
    re.IGNORECASE,
)
_TABLES = (".csv", ".tsv", ".xlsx", ".xls")
# What is true or false, or works or does not, may be denied by some other document.
_YES_OR_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must)\b",
    re.IGNORECASE,
)
_JUDGES = re.compile(
    r"\b(?:effect\w*|affect\w*|help\w*|works?|worked|cause\w*|improve\w*|reduc\w+|prevent\w*|limits?|"
    r"success\w*|risks?|safe\w*|evidence|better|best|worse|benefit\w*|healthy|healthier)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]]", re.IGNORECASE)
_NUMBERING = re.compile(r"^[\s#=*]*(?:\d+(?:\.\d+)*[.)]?\s+)?")
_ENOUGH = 0.6
WITHIN = " › "  # noqa: RUF001  # how headings stand within each other


def plan(
    question: str,
    overview: Sequence[Overview],
    tools: Collection[str],
    earlier: Sequence[str] = (),
    objections: Sequence[str] = (),
) -> Plan:
    """Plan how to look for what answers a question.

    Args:
        question: What is asked.
        overview: Title, location and headings of each document.
        tools: Names of the tools there are.
        earlier: What was asked before in this conversation; a question may point back at it.
        objections: Why plans for this question were refused, all of them so far, in order.
    """
    told = _in_context(question, earlier[-1] if earlier else "", overview)
    web: list[PlanStep] = []
    if not (steps := [*_tries(told, overview, tools)] or [*_looks(told, overview, tools)]):
        asked = without_clashes(told)
        steps = [
            *_reads(named(told, overview), tools),
            *_fetches(told, tools),
            *(_searches(asked, overview) if SEARCH in tools else []),
        ]
        web = list(_web(told, tools))
    steps = [*steps[: MOST_STEPS - len(web)], *web]
    _number(steps)
    steps, unused = heed(steps, objections, overview, tools, subjects(told))
    return {"question": told, "steps": _admitting(unused, unresolved(told, overview), steps)}


def _admitting(unused: Sequence[str], lost: Sequence[str], steps: list[PlanStep]) -> list[PlanStep]:
    """The steps, the first of which says which reasons and names nothing could be made of."""
    if not steps:
        return steps
    admitted = list(lost)
    if unused:
        reasons = "; ".join(f"“{safe(reason)}”" for reason in unused)
        admitted.insert(0, f"I could not make use of: {reasons}; edit the plan instead.")
    first: PlanStep = {**steps[0], "rationale": " ".join([*admitted, steps[0]["rationale"]])}
    return [first, *steps[1:]]


def _looks(
    question: str, overview: Sequence[Overview], tools: Collection[str]
) -> Iterator[PlanStep]:
    if is_about_documents(question, overview):
        yield from first_looks(question, overview, tools)


def _tries(
    question: str, overview: Sequence[Overview], tools: Collection[str]
) -> Iterator[PlanStep]:
    """Where a file is named that is no document, that one, and no other in its place."""
    strange = missing(question, overview) if READ in tools else []
    if strange:
        yield from _reads(named(question, overview), tools)
    for path in strange:
        name = safe(path)
        reason = f"{not_so_called(name)} I try it, and take no other for it."
        yield make_step(READ, f"What {name} says", path, reason)


def _number(steps: Sequence[PlanStep]) -> None:
    """Give ids, and let pages be fetched after they were found."""
    for number, step in enumerate(steps, 1):
        step["id"] = str(number)
    found = next((step["id"] for step in steps if step["tool"] == WEB), "")
    for step in steps:
        if step["tool"] == FETCH and not step["input"]:
            step["input"], step["depends_on"] = found, [found]


def _in_context(question: str, before: str, overview: Sequence[Overview]) -> str:
    """The question, and what the one before was about where it points back at that.

    "It" in a question that names something is most often that.
    """
    topic = "" if is_about_documents(question, overview) else " ".join(subjects(before))
    named = any(not word[0].isdigit() for word in subjects(question))
    back = _GOES_ON.search(question) or (_POINTS_BACK.search(question) and not named)
    return f"{question} ({topic})" if topic and back else question


def _reads(paths: Sequence[str], tools: Collection[str]) -> Iterator[PlanStep]:
    for path in paths if READ in tools else ():
        name = safe(PurePosixPath(path).name)
        yield make_step(READ, f"What {name} says", path, f"The question names {name}.")


def _fetches(question: str, tools: Collection[str]) -> Iterator[PlanStep]:
    for match in islice(_ADDRESS.finditer(question), _MOST_READ if FETCH in tools else 0):
        title = f"What {safe(match[0])} says"
        yield make_step(FETCH, title, match[0], "The question names this address.")


def _web(question: str, tools: Collection[str]) -> Iterator[PlanStep]:
    if WEB not in tools:
        return
    reason = "The web may say more, or something else, than the documents do."
    yield make_step(WEB, "What a web search finds", _ADDRESS.sub(" ", question), reason)
    if FETCH in tools:
        reason = "A search shows a line or two of a page; this reads the first pages found."
        yield make_step(FETCH, "What those pages say", "", reason)


def _searches(question: str, overview: Sequence[Overview]) -> list[PlanStep]:
    asked = _ADDRESS.sub(" ", question)
    steps = list(_parts(asked))
    if len(steps) == 1:
        steps += _sections(asked, overview)
    return [*steps, *_numbers(asked, overview), *_against(asked)]


def _parts(question: str) -> Iterator[PlanStep]:
    """The question; or, where it asks for several things, each of them."""
    if compared := _compared(question):
        for number, side in enumerate(compared, 1):
            reason = f"The question compares two things; this is the {_nth(number)}."
            yield make_step(SEARCH, f"About {safe(side)}", side, reason)
        return
    parts = _questions(question)
    if len(parts) == 1:
        reason = "Passages that fit the question best."
        yield make_step(SEARCH, "What the documents say", _widened(question), reason)
        return
    topic = " ".join(dict.fromkeys(subjects(parts[0]) or subjects(question)))
    for number, part in enumerate(parts, 1):
        reason = (
            f"The question asks for {_how_many(len(parts))} things; this is the {_nth(number)}."
        )
        back = _POINTS_BACK.search(part) or _GOES_ON.search(part)
        wanted = _widened(f"{part} ({topic})" if back and _lacks(part, topic) else part)
        yield make_step(SEARCH, _as_title(part), wanted, reason)


def _lacks(part: str, topic: str) -> bool:
    return not set(key_terms(topic)).issubset(key_terms(part))


def _widened(question: str) -> str:
    """The question, and other words for what it asks."""
    others = ", ".join(relatives(question))
    return f"{question} ({others})" if others else question


def _compared(question: str) -> list[str]:
    match = _COMPARED.search(question)
    sides = [side.strip() for side in match.groups() if side] if match else []
    return sides if len(sides) > 1 and all(key_terms(side) for side in sides) else []


def _questions(question: str) -> list[str]:
    whole = split_questions(question)
    if len(whole) > 1:
        return list(whole[:_MOST_PARTS])
    parts = [part.strip() for part in _SECOND_QUESTION.split(question)]
    # "How and why did it fail?" asks for one thing.
    return parts[:_MOST_PARTS] if all(key_terms(part) for part in parts) else [question]


def _sections(question: str, overview: Sequence[Overview]) -> list[PlanStep]:
    """A section whose heading has what is asked for, and words for it that the question lacks."""
    wanted = set(key_terms(question))
    headed = [
        (doc.title, _NUMBERING.sub("", path.rpartition(WITHIN)[2]))
        for doc in overview
        for path in doc.headings
        if WITHIN in path  # what has nothing above it is most often the title
    ]
    weight = idf([concepts(heading) for _, heading in headed])
    scored = [
        (coverage(wanted, concepts(heading), weight), title, heading)
        for title, heading in headed
        if wanted.intersection(concepts(heading)) and set(key_terms(heading)) - wanted
    ]
    share, title, heading = max(scored, key=lambda each: each[0], default=(0.0, "", ""))
    if share < _ENOUGH:
        return []
    section = safe(heading)
    reason = f"{safe(title)} has a section called “{section}”."
    words = " ".join(dict.fromkeys([*key_words(question), *section.lower().split()]))
    return [make_step(SEARCH, f"On “{section}”", words, reason)]


def _numbers(question: str, overview: Sequence[Overview]) -> Iterator[PlanStep]:
    """Where a number or a date is asked for, the tables there are."""
    date, number = asks_for_a_date(question), _NUMBER.search(question)
    tables = [doc.location for doc in overview if doc.location.lower().endswith(_TABLES)]
    topic = key_words(question)
    if not topic or not tables or not (date or number):
        return
    names = [PurePosixPath(path).name for path in tables[:_MOST_READ]]
    stems = [word for name in names for word in re.split(r"[\W_]+", PurePosixPath(name).stem)]
    what = "a number" if number else "a date"
    are = "is a table" if len(names) == 1 else "are tables"
    reason = f"The question asks for {what}, and {' and '.join(map(safe, names))} {are}."
    kind = FIGURES if number else DATES
    yield make_step(
        SEARCH, "Numbers" if number else "Dates", " ".join([*topic, kind, *stems]), reason
    )


def _against(question: str) -> Iterator[PlanStep]:
    """Where something could be otherwise, what says so."""
    topic = " ".join(key_words(question))
    if topic and (_claims(question) or _YES_OR_NO.search(question) or _JUDGES.search(question)):
        reason = "What the question is about may be denied or limited elsewhere."
        yield make_step(SEARCH, "What may speak against it", f"{topic} {DOUBT}", reason)


def _claims(text: str) -> bool:
    """Whether a text says something, and neither asks nor orders: "Dredging restores lakes"."""
    first = text.split(maxsplit=1)[0]
    orders = bool(concepts(first)) and not key_terms(first)
    asks = re.search(rf"\b{_ASKS}\b", text, re.IGNORECASE)
    return not asks and not orders and len(key_terms(text)) > 1


def _as_title(part: str) -> str:
    text = safe(_CONTEXT.sub("", part)).rstrip(" ?.,;")
    mark = "?" if re.match(rf"(?:\w+\s+)?{_ASKS}\b", text, re.IGNORECASE) else ""
    return f"{text[:1].upper()}{text[1:]}{mark}"


def _nth(number: int) -> str:
    return ("first", "second", "third")[number - 1]


def _how_many(number: int) -> str:
    return ("one", "two", "three")[number - 1]
