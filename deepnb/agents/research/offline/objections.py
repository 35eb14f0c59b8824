"""Another plan, after one was refused: without what the reasons name, with what they ask for.

Only simple wishes are understood: step 2, the web, only lake.md, not lake.md, lake.md too, read the
contract, section Guarantee, skip the numbers, also look for copper, fewer steps. Of what is beyond
that nothing is guessed; it is handed back.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.research.notes import FETCH, READ, SEARCH
from deepnb.agents.research.notes import WEB_SEARCH as WEB
from deepnb.agents.research.offline.naming import spelled_out
from deepnb.agents.research.offline.reasons import STEPS, named_in, sought, understood
from deepnb.agents.research.offline.steps import ASKED_FOR, make_step, safe
from deepnb.agents.research.plans import MOST_STEPS
from deepnb.models.offline.vocabulary import key_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from deepnb.agents.research.offline.reasons import Said
    from deepnb.interrupts import PlanStep
    from deepnb.knowledge import Overview

_AUDITED = re.compile(r"Step (\d+): ")
_WEB = re.compile(r"\b(?:web|internet|online|search engines?)\b", re.IGNORECASE)
_LEAVES = (WEB, FETCH)
_SKIPS = re.compile(
    r"^\W*(?:please\s+)?(?:skip|drop|remove|omit|ignore|forget|avoid|without|leave out|no|"
    r"not (?:the|any)|(?:do not|don['\u2019]?t) (?:want|need|use|include|look (?:for|at)))\b",
    re.IGNORECASE,
)
_FEWER = re.compile(
    r"\b(?:fewer|less) (?:steps|searches|work)\b|\btoo (?:many|long)\b|\b(?:shorter|simpler)\b",
    re.IGNORECASE,
)
_ONE_BY_ONE = "A search could find what you want left out, so the others are read one by one."
_STILL = (
    " It may still find what you want left out, for a search looks through all documents. "
    "A POLICY.md can deny one; or edit the plan."
)


def heed(
    steps: Sequence[PlanStep],
    objections: Sequence[str],
    documents: Sequence[Overview],
    tools: Collection[str],
    topic: Sequence[str],
) -> tuple[list[PlanStep], list[str]]:
    """Drop the steps that a reason names, and add one for what a reason asks for instead.

    Args:
        steps: The plan as it was first made.
        objections: Why it, and then what became of it, was refused.
        documents: What they are called, and where they are.
        tools: Names of the tools there are.
        topic: What the question is about, to go with the words that are asked for.

    Returns:
        The steps, and the reasons since the last audit of which nothing came.
    """
    left, unused = list(steps), list[str]()
    files = [each.location for each in documents]
    unwanted: set[str] = set()
    for reasons in _by_plan(objections):
        if _AUDITED.match(reasons[0]):  # what else it says is how to change the policy
            left = _renumbered(_with_what_they_need(_dropped(left, reasons, files)))
            unused.clear()
            continue
        said = understood(spelled_out(reasons[0], documents), files)
        asked = partial(_as_asked, reasons[0])
        reads = [_read(path, asked(clause)) for path, clause in said.only if READ in tools]
        if len(reads) > MOST_STEPS:
            reads = []  # a part of them would be something else than was asked for
        added = [*reads, *_asked_for(said.wishes, files, tools, topic, asked)][:MOST_STEPS]
        inputs = {step["input"] for step in added}
        unwanted = (unwanted | said.unwanted) - inputs
        kept = _dropped(_beside(left, said) if reads else left, said.against, files)
        kept = _fewer(kept) if _FEWER.search(reasons[0]) else kept
        kept = [step for step in kept if step["input"] not in inputs]
        new = _without(unwanted, [*kept[: MOST_STEPS - len(added)], *added], files, tools)
        new = _renumbered(_with_what_they_need(new))
        if new == left:
            unused.append(reasons[0])
        left = new
    return left, unused


def _fewer(steps: list[PlanStep]) -> list[PlanStep]:
    """The first half: what a plan looks for at the end is what it could do without."""
    return steps[: max(len(steps) // 2, 1)]


def _dropped(
    steps: Sequence[PlanStep], clauses: Iterable[str], files: Sequence[str]
) -> list[PlanStep]:
    gone = {identity for clause in clauses for identity in _meant(steps, clause, files)}
    return [step for step in steps if step["id"] not in gone]


def _meant(steps: Sequence[PlanStep], clause: str, files: Sequence[str]) -> Iterator[str]:
    """The ids of the steps that are meant: by number, tool, file, address or title."""
    numbers = {number for match in STEPS.findall(clause) for number in re.findall(r"\d+", match)}
    if numbers:  # whatever else the reason names is why
        yield from numbers
        return
    named = named_in(clause, files)
    skips = _SKIPS.match(clause)
    skipped = set(key_terms(clause[skips.end() :])) if skips else set()
    for step in steps:
        web = step["tool"] in _LEAVES and _WEB.search(clause)
        tool = re.search(rf"\b{re.escape(step['tool'])}\b", clause)
        title = skipped and skipped.issubset(key_terms(step["title"]))
        if web or tool or title or step["input"] in named or _host(step) in clause.split():
            yield step["id"]


def _host(step: PlanStep) -> str:
    match = re.match(r"https?://([^/:]+)", step["input"])
    return match[1] if match else "\0"


def _beside(steps: Sequence[PlanStep], said: Said) -> list[PlanStep]:
    """What stays where only some files are to be read: the web, if it is named with them."""
    web = any(_WEB.search(clause) for _, clause in said.only)
    return [step for step in steps if web and step["tool"] in _LEAVES]


def _without(
    unwanted: Collection[str],
    steps: list[PlanStep],
    files: Sequence[str],
    tools: Collection[str],
) -> list[PlanStep]:
    """The steps, with no search that could find what is not wanted if there is another way.

    A search looks through all documents. If the others are few, they are read one by one instead.
    """
    first = next((step for step in steps if step["tool"] == SEARCH), None)
    if not unwanted or not first:
        return steps
    rest = [step for step in steps if step["tool"] != SEARCH]
    read = {step["input"] for step in rest}
    others = [path for path in files if path not in unwanted]
    new = [_read(path, _ONE_BY_ONE) for path in others if path not in read]
    can_be_read = READ in tools and others and not any("://" in path for path in others)
    if can_be_read and len(rest) + len(new) <= MOST_STEPS:
        return [*new, *rest]
    warned: PlanStep = {**first, "rationale": f"{first['rationale'].removesuffix(_STILL)}{_STILL}"}
    return [warned if step is first else step for step in steps]


def _asked_for(
    wishes: Sequence[str],
    files: Sequence[str],
    tools: Collection[str],
    topic: Sequence[str],
    asked: Callable[[str], str],
) -> Iterator[PlanStep]:
    for clause in wishes:
        named = named_in(clause, files) if READ in tools else []
        yield from (_read(path, asked(clause)) for path in named)
        if SEARCH in tools and (words := sought(clause, files if named else ())):
            wanted = f"{words} {' '.join(topic)}"
            yield make_step(SEARCH, ASKED_FOR, wanted, asked(clause))


def _as_asked(reason: str, clause: str) -> str:
    """Quote a wish; all of the reason if the wish is not in the person's own words."""
    return f"You asked for it: “{safe(clause if clause in reason else reason)}”."


def _read(path: str, rationale: str) -> PlanStep:
    return make_step(READ, f"What {safe(PurePosixPath(path).name)} says", path, rationale)


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


def _with_what_they_need(steps: list[PlanStep]) -> list[PlanStep]:
    """The steps without those that waited for one that is gone."""
    ids = {step["id"] for step in steps}
    left = [step for step in steps if ids.issuperset(step["depends_on"])]
    return left if len(left) == len(steps) else _with_what_they_need(left)
