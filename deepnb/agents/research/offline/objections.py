"""Another plan, after one was refused: without what the reasons name, with what they ask for.

Only simple wishes are understood: step 2, the web, only lake.md, not lake.md, lake.md too, skip the
numbers, also look for copper. Of what is beyond that nothing is guessed; it is handed back.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from deepnb.agents.research.notes import FETCH, READ, SEARCH
from deepnb.agents.research.notes import WEB_SEARCH as WEB
from deepnb.agents.research.offline.steps import make_step, safe
from deepnb.agents.research.plans import MOST_STEPS
from deepnb.models.offline.vocabulary import key_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from deepnb.interrupts import PlanStep

# A file that a reason names is one character while the words around it are looked at.
_FIRST = 0xE000
_FILE = "[\ue000-\uf8ff]"
_FILES = rf"{_FILE}(?:[\s,&]*(?:(?:and|or)\s+)?{_FILE})*"
_CLAUSES = re.compile(
    r"(?:[;\n]+|[.!?]\s+"
    rf"|(?<!{_FILE}),\s+(?!(?:and\s+|or\s+)?\d)"
    rf"|(?<={_FILE}),\s+(?!(?:and\s+|or\s+)?{_FILE}(?!\s+(?!(?:and|or|only|alone|please)\b)\w))"
    r"|(?<!thing)(?<!\ball)\s+(?=but\b)|\s+(?=and not\b))(?:\s*(?:but|and|instead)\s+)?",
    re.IGNORECASE,
)
_IN_PLACE_OF = re.compile(r"\s*\b(?:instead of|rather than)\b", re.IGNORECASE)
_STEPS = re.compile(r"\bsteps?\s+(\d+(?:(?:\s*(?:,|and|or|&)\s*)+\d+)*)", re.IGNORECASE)
_AUDITED = re.compile(r"Step (\d+): ")
_WEB = re.compile(r"\b(?:web|internet|online|search engines?)\b", re.IGNORECASE)
_LEAVES = (WEB, FETCH)
_FORBIDS = re.compile(
    r"\b(?:no|not|never|without|don['\u2019]?t|mustn['\u2019]?t|den\w+|forb\w+|refus\w+|reject\w+|"
    r"drop|remove|skip|omit|ignore|forget|leave|avoid|stop|except|exclud\w+|(?:all|\w+thing) but|"
    r"only|private|unknown|more than|too\s+(?!please\b)\w+)\b",
    re.IGNORECASE,
)
_WISHES = re.compile(
    r"\b(?:also|as well|too|add|include|look|search|read|see|use|check|focus|ask|find|consider)\b",
    re.IGNORECASE,
)
_SKIPS = re.compile(
    r"^\W*(?:please\s+)?(?:skip|drop|remove|omit|ignore|forget|avoid|without|leave out|no|"
    r"not (?:the|any)|(?:do not|don['\u2019]?t) (?:want|need|use|include|look (?:for|at)))\b",
    re.IGNORECASE,
)
# What may stand between such a wish and a file.
_AROUND = (
    r"(?:use|using|read|reading|look|looking|search|check|see|consider|want|need|take|at|in|into|on|"
    r"from|with|to|the|files?|documents?|please)"
)
_ONLY = re.compile(
    r"\b(?:only|just|solely|nothing (?:but|except)|(?:limit|restrict)(?: \w+)? to|stick to)"
    rf"\s+(?:{_AROUND}\s+)*({_FILES})|({_FILES})\s+(?:only|alone)\W*(?:please\W*)?$",
    re.IGNORECASE,
)
_NEGATES = re.compile(r"\b(?:not|never)\b|n['\u2019]t\b", re.IGNORECASE)
_BARE = re.compile(
    rf"\s*(?:(?:and|plus|try|what about|how about|{_AROUND})\s+)*{_FILES}"
    r"(?:\s+(?:please|instead|rather|first))*[\s.!?]*",
    re.IGNORECASE,
)
_LONGEST = 300
_ONE_BY_ONE = "A search could find what you want left out, so the others are read one by one."
_STILL = (
    " It may still find what you want left out, for a search looks through all documents. "
    "A POLICY.md can deny one; or edit the plan."
)


class _Said(NamedTuple):
    """A reason, understood.

    Attributes:
        only: Files beside which nothing is to be read, and the clauses that say so.
        wishes: Clauses that ask for something.
        against: Clauses that speak against something.
        unwanted: Files that are not to be read.
    """

    only: list[tuple[str, str]]
    wishes: list[str]
    against: list[str]
    unwanted: set[str]


def heed(
    steps: Sequence[PlanStep],
    objections: Sequence[str],
    files: Sequence[str],
    tools: Collection[str],
    topic: Sequence[str],
) -> tuple[list[PlanStep], list[str]]:
    """Drop the steps that a reason names, and add one for what a reason asks for instead.

    Args:
        steps: The plan as it was first made.
        objections: Why it, and then what became of it, was refused.
        files: Where the documents are.
        tools: Names of the tools there are.
        topic: What the question is about, to go with the words that are asked for.

    Returns:
        The steps, and the reasons since the last audit of which nothing came.
    """
    left, unused = list(steps), list[str]()
    unwanted: set[str] = set()
    for reasons in _by_plan(objections):
        if _AUDITED.match(reasons[0]):  # what else it says is how to change the policy
            left = _renumbered(_with_what_they_need(_dropped(left, reasons, files)))
            unused.clear()
            continue
        said = _understood(reasons[0], files)
        reads = [_read(path, _as_asked(clause)) for path, clause in said.only if READ in tools]
        if len(reads) > MOST_STEPS:
            reads = []  # a part of them would be something else than was asked for
        added = [*reads, *_asked_for(said.wishes, files, tools, topic)][:MOST_STEPS]
        inputs = {step["input"] for step in added}
        unwanted = (unwanted | said.unwanted) - inputs
        kept = _dropped(_beside(left, said) if reads else left, said.against, files)
        kept = [step for step in kept if step["input"] not in inputs]
        new = _without(unwanted, [*kept[: MOST_STEPS - len(added)], *added], files, tools)
        new = _renumbered(_with_what_they_need(new))
        if new == left:
            unused.append(reasons[0])
        left = new
    return left, unused


def _understood(reason: str, files: Sequence[str]) -> _Said:
    said = _Said([], [], [], set())
    for clause in _CLAUSES.split(_IN_PLACE_OF.sub("; not", _marked(reason, files))):
        named, words = _named_in(clause, files), _unmarked(clause, files)
        if match := _ONLY.search(clause):
            if not _NEGATES.search(clause[: match.start()]):  # "not only" leaves all open
                said.only.extend((path, words) for path in _named_in(match[0], files))
        elif _is_wish(clause):
            said.wishes.append(words)
        elif words.strip():
            said.against.append(words)
            if _FORBIDS.search(clause) and not _STEPS.search(clause):
                said.unwanted.update(named)
    return said


def _marked(text: str, files: Sequence[str]) -> str:
    """A text with one character for each file that it names, by path or by name."""
    text = re.sub(_FILE, " ", text)
    for names in (files, [PurePosixPath(path).name for path in files]):
        marks: dict[str, str] = {}
        for number, name in enumerate(names):
            if "." in name or names is files:  # the end of an address may be any word
                marks[name] = marks.get(name, "") + chr(_FIRST + number)
        for name in sorted(marks, key=len, reverse=True):
            whole = rf"(?<![\w.-])(?:[\w.~-]*/)*{re.escape(name)}(?!\w)"
            quoted = rf"[\"'`“]?{whole}(?:[\"'`”](?!\w))?"
            text = re.sub(quoted, marks[name], text, flags=re.IGNORECASE)
    return text


def _named_in(marked: str, files: Sequence[str]) -> list[str]:
    return [files[ord(mark) - _FIRST] for mark in re.findall(_FILE, marked)]


def _unmarked(marked: str, files: Sequence[str]) -> str:
    return re.sub(_FILE, lambda mark: files[ord(mark[0]) - _FIRST], marked)


def _is_wish(clause: str) -> bool:
    asks = _WISHES.search(clause) or _BARE.fullmatch(clause)
    return bool(asks and not _FORBIDS.search(clause) and not _STEPS.search(clause))


def _dropped(
    steps: Sequence[PlanStep], clauses: Iterable[str], files: Sequence[str]
) -> list[PlanStep]:
    gone = {identity for clause in clauses for identity in _meant(steps, clause, files)}
    return [step for step in steps if step["id"] not in gone]


def _meant(steps: Sequence[PlanStep], clause: str, files: Sequence[str]) -> Iterator[str]:
    """The ids of the steps that are meant: by number, tool, file, address or title."""
    numbers = {number for match in _STEPS.findall(clause) for number in re.findall(r"\d+", match)}
    if numbers:  # whatever else the reason names is why
        yield from numbers
        return
    named = _named_in(_marked(clause, files), files)
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


def _beside(steps: Sequence[PlanStep], said: _Said) -> list[PlanStep]:
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
    wishes: Sequence[str], files: Sequence[str], tools: Collection[str], topic: Sequence[str]
) -> Iterator[PlanStep]:
    for clause in wishes:
        named = _named_in(_marked(clause, files), files) if READ in tools else []
        yield from (_read(path, _as_asked(clause)) for path in named)
        words = " ".join(clause.split())[:_LONGEST]
        if not named and SEARCH in tools and key_terms(_WISHES.sub(" ", words)):
            sought = re.sub(r"^\W*(?:please|also|look|search|for|at|into|and)\s+", "", words)
            wanted = f"{sought} {' '.join(topic)}"
            yield make_step(SEARCH, "What was asked for", wanted, _as_asked(clause))


def _as_asked(clause: str) -> str:
    return f"You asked for it: “{safe(clause)}”."


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
