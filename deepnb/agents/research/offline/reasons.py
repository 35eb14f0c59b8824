"""What a reason for refusing a plan wants, as far as its words tell."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from deepnb.models.offline.vocabulary import key_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

# A file that a reason names is one character while the words around it are looked at.
_FIRST = 0xE000
_FILE = "[\ue000-\uf8ff]"
_FILES = rf"{_FILE}(?:[\s,&]*(?:(?:and|or)\s+)?(?:the\s+)?{_FILE})*"
_CLAUSES = re.compile(
    r"(?:[;\n]+|[.!?]\s+"
    rf"|(?<!{_FILE}),\s+(?!(?:and\s+|or\s+)?\d)"
    rf"|(?<={_FILE}),\s+(?!(?:and\s+|or\s+)?(?:the\s+)?{_FILE}"
    r"(?!\s+(?!(?:and|or|only|alone|please)\b)\w))"
    r"|(?<!thing)(?<!\ball)\s+(?=but\b)|\s+(?=and not\b))(?:\s*(?:but|and|instead)\s+)?",
    re.IGNORECASE,
)
_IN_PLACE_OF = re.compile(r"\s*\b(?:instead of|rather than)\b", re.IGNORECASE)
STEPS = re.compile(r"\bsteps?\s+(\d+(?:(?:\s*(?:,|and|or|&)\s*)+\d+)*)", re.IGNORECASE)
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
_LEADS = re.compile(
    r"^\W*(?:(?:please|also|look|search|for|at|into|and|on|about|the|section|chapter|part|page|"
    r"under|s|see|in)\b\W*)*",
    re.IGNORECASE,
)
_MANNERS = re.compile(
    r"\b(?:please|instead|rather|first|again|well|section|chapter|part|page|carefully|thanks)\b",
    re.IGNORECASE,
)
_LONGEST = 300


class Said(NamedTuple):
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


def understood(reason: str, files: Sequence[str]) -> Said:
    """What a reason wants, clause by clause."""
    said = Said([], [], [], set())
    for clause in _clauses(_IN_PLACE_OF.sub("; not", _marked(reason, files))):
        named, words = _named_in(clause, files), _unmarked(clause, files)
        if match := _ONLY.search(clause):
            if not _NEGATES.search(clause[: match.start()]):  # "not only" leaves all open
                said.only.extend((path, words) for path in _named_in(match[0], files))
        elif _is_wish(clause):
            said.wishes.append(words)
        elif words.strip():
            said.against.append(words)
            if _FORBIDS.search(clause) and not STEPS.search(clause):
                said.unwanted.update(named)
    return said


def _clauses(marked: str) -> list[str]:
    """The clauses of a reason; what goes on with a wish is a part of it: "copper, zinc and tin"."""
    found: list[str] = []
    for clause in _CLAUSES.split(marked):
        says = _FORBIDS.search(clause) or STEPS.search(clause) or re.search(_FILE, clause)
        goes_on = bool(clause.strip()) and not says and not _is_wish(clause)
        if goes_on and found and _is_wish(found[-1]):
            found[-1] += f", {clause.strip()}"
        else:
            found.append(clause)
    return found


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
    return bool(asks and not _FORBIDS.search(clause) and not STEPS.search(clause))


def named_in(text: str, files: Sequence[str]) -> list[str]:
    """The files that a text names, by path or by name."""
    return _named_in(_marked(text, files), files)


def sought(clause: str, files: Sequence[str]) -> str:
    """The words that a wish asks to look for; of a file that it names, what comes behind that."""
    words = " ".join(re.split(_FILE, _marked(clause, files))[-1].split())[:_LONGEST]
    wanted = key_terms(_WISHES.sub(" ", _MANNERS.sub(" ", words)))
    return _LEADS.sub("", words) if wanted else ""
