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
_AUDITED = re.compile(r"Step (\d+): ")
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
        objections: Why it, and then what became of it, was refused.
        files: Where the documents are.
        tools: Names of the tools there are.
        topic: What the question is about, to go with the words that are asked for.
    """
    left = list(steps)
    for reasons in _by_plan(objections):
        clauses = [part for text in reasons for part in _CLAUSES.split(text) if part.strip()]
        wishes = [clause for clause in clauses if _is_wish(clause)]
        if _AUDITED.match(reasons[0]):  # what else it says is how to change the policy
            clauses, wishes = reasons, []
        gone = {
            identity
            for clause in clauses
            if clause not in wishes
            for identity in _named(left, clause, files)
        }
        added = [_asked_for(clause, files, tools, topic) for clause in wishes]
        left = [step for step in left if step["id"] not in gone]
        left = _renumbered(_with_what_they_need([*left, *filter(None, added)]))
    return left


def _by_plan(objections: Sequence[str]) -> list[list[str]]:
    """The reasons for each refusal: an audit gives one for each step, in their order."""
    found: list[list[str]] = []
    last = 0
    for text in objections:
        audited = _AUDITED.match(text)
        number = int(audited[1]) if audited else 0
        if found and audited and 0 < last <= number:
            found[-1].append(text)
        else:
            found.append([text])
        last = number
    return found


def _renumbered(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """The steps with the numbers that they are shown with."""
    now = {step["id"]: str(number) for number, step in enumerate(steps, 1) if step["id"]}
    return [
        {
            **step,
            "id": str(number),
            "input": now[step["input"]] if step["input"] in step["depends_on"] else step["input"],
            "depends_on": [now[identity] for identity in step["depends_on"]],
        }
        for number, step in enumerate(steps, 1)
    ]


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
    clause: str, files: Sequence[str], tools: Collection[str], topic: Sequence[str]
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
        "id": "",
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
