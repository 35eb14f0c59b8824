"""Another plan, after one was refused: without what the reasons name, with what they ask for."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.models.offline.request import named_files
from deepnb.models.offline.vocabulary import key_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from deepnb.interrupts import PlanStep

_CLAUSES = re.compile(
    r"(?:[;\n]+|[.!?]\s+|,\s+(?!(?:and\s+|or\s+)?\d)|\s+(?=but\b))(?:\s*(?:but|and|instead)\s+)?",
    re.IGNORECASE,
)
_STEPS = re.compile(r"\bsteps?\s+(\d+(?:(?:\s*(?:,|and|or|&)\s*)+\d+)*)", re.IGNORECASE)
_WEB = re.compile(r"\b(?:web|internet|online|search engines?)\b", re.IGNORECASE)
_LEAVES = ("web_search", "fetch_page")
_FORBIDS = re.compile(
    r"\b(?:no|not|never|without|don['\u2019]?t|mustn['\u2019]?t|den\w+|forb\w+|refus\w+|reject\w+|"
    r"drop|remove|skip|leave|avoid|stop|only|private|unknown|more than|too)\b",
    re.IGNORECASE,
)
_WISHES = re.compile(
    r"\b(?:also|as well|too|add|include|look|search|read|see|use|check|focus|ask|find|consider)\b",
    re.IGNORECASE,
)
_LONGEST = 300


def heed(
    steps: Sequence[PlanStep],
    objections: Sequence[str],
    files: Sequence[str],
    tools: Collection[str],
    topic: Sequence[str],
) -> list[PlanStep]:
    """Drop the steps that a reason names, and add one for what a reason asks for instead.

    Args:
        steps: The plan as it was first made.
        objections: Why it, or what became of it, was refused.
        files: Where the documents are.
        tools: Names of the tools there are.
        topic: What the question is about, to go with the words that are asked for.
    """
    left = list(steps)
    added: list[PlanStep] = []
    for clause in (part for text in objections for part in _CLAUSES.split(text) if part.strip()):
        named = list(_named(steps, clause, files))
        if _is_wish(clause):
            number = len(steps) + len(added) + 1
            added += [step for step in [_asked_for(clause, files, tools, topic, number)] if step]
        else:
            left = [step for step in left if step["id"] not in named]
    return _with_what_they_need([*left, *added])


def _is_wish(clause: str) -> bool:
    return bool(
        _WISHES.search(clause) and not _FORBIDS.search(clause) and not _STEPS.search(clause)
    )


def _named(steps: Sequence[PlanStep], clause: str, files: Sequence[str]) -> Iterator[str]:
    """The ids of the steps that are meant: by number, tool, file or address."""
    numbers = {number for match in _STEPS.findall(clause) for number in re.findall(r"\d+", match)}
    if numbers:  # whatever else the reason names is why
        yield from numbers
        return
    meant, _ = named_files(clause, files)
    for step in steps:
        web = step["tool"] in _LEAVES and _WEB.search(clause)
        tool = re.search(rf"\b{re.escape(step['tool'])}\b", clause)
        if web or tool or step["input"] in meant or _host(step) in clause.split():
            yield step["id"]


def _host(step: PlanStep) -> str:
    match = re.match(r"https?://([^/:]+)", step["input"])
    return match[1] if match else "\0"


def _asked_for(
    clause: str, files: Sequence[str], tools: Collection[str], topic: Sequence[str], number: int
) -> PlanStep | None:
    meant = [path for path in named_files(clause, files)[0] if path in files]
    words = " ".join(clause.split())[:_LONGEST]
    if meant and "read_file" in tools:
        tool, title, wanted = "read_file", f"What {PurePosixPath(meant[0]).name} says", meant[0]
    elif "search_knowledge" in tools and key_terms(_WISHES.sub(" ", words)):
        sought = re.sub(r"^\W*(?:please|also|look|search|for|at|into|and)\s+", "", words)
        tool, title, wanted = (
            "search_knowledge",
            "What was asked for",
            f"{sought} {' '.join(topic)}",
        )
    else:
        return None
    return {
        "id": str(number),
        "title": title,
        "tool": tool,
        "input": wanted,
        "rationale": f"You asked for it: “{words}”.",
        "depends_on": [],
    }


def _with_what_they_need(steps: list[PlanStep]) -> list[PlanStep]:
    """The steps without those that waited for one that is gone."""
    ids = {step["id"] for step in steps}
    left = [step for step in steps if ids.issuperset(step["depends_on"])]
    return left if len(left) == len(steps) else _with_what_they_need(left)
