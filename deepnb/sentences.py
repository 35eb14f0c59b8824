"""Where sentences begin and end.

A full stop ends one, but not behind an abbreviation, an initial or an ordinal; an empty line does,
and so does the next item of a list. Documents are cut here into passages and quotes, and reports
into claims: what is one sentence to one of them is one to all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_STOPS = r"[.!?\u2026]"
_END = re.compile(
    rf"(?<!{_STOPS}){_STOPS}++[\"\u201d\u2019'\u00bb)\]*_]*"
    r"(?:(?:\s*\[S\d+\])*(?=\s|$)"  # the marks of a report come behind, too
    # Where the space was lost, as it is in many a PDF, before a word that begins sentences.
    r"|(?<=\w\w\.)(?=(?:The|This|These|That|It|They|We|He|She|In|On|At|As|An?|For|But|However)\s))"
    r"|[\u3002\uff01\uff1f\uff61]+[\u201d\u2019\u300d\u300f\uff09]*"
    r"|\n[ \t]*(?=\n)"  # an empty line
    r"|\n(?=[ \t]*(?:[-*+\u2022|#]|\d{1,3}[.)])[ \t])"  # an item, a row, a heading
)
_ABBREVIATIONS = frozenset(
    """
    abb al approx bd bzw ca cf d.h dr drs e.g ed eds eq eqs evtl fig figs ggf i.e incl inkl mr mrs
    ms nr pp prof resp sp spp st u.a usw vgl viz vol vols vs z.b
    """.split()  # noqa: SIM905  # a line of words is easier to read
)
# These are words, or end sentences, unless a number follows.
_BEFORE_A_NUMBER = frozenset(
    """
    abs apr art aug ch chap dec feb jan jul jun max min no nos nov oct p ref refs sec sep sept tab
    """.split()  # noqa: SIM905  # the same
)
_OPENING = "([{\"'\u201c\u2018\u201e\u00ab*_\u2013\u2014-"
# Behind these, in German, a number with a full stop is an ordinal: "am 3. Mai".
_BEFORE_AN_ORDINAL = frozenset(
    "ab am bis das dem den der des die im seit vom zum zur".split()  # noqa: SIM905  # the same
)
_MONTH = re.compile(r"\s(?:Jan|J\u00e4n|Feb|M\u00e4r|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
_LONGEST_ORDINAL, _LONGEST_ITEM = 2, 3  # digits
_NEXT = re.compile(r"\s*([^\w\s]*)(\w?)")
_BEFORE = 24  # characters: abbreviations are short


def spans(text: str, whole: Iterable[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Where each sentence begins and ends, without the space around it.

    Args:
        text: Any text.
        whole: Stretches in which no sentence ends, in their order, such as quotes.
    """
    found: list[tuple[int, int]] = []
    kept = iter([*whole, (len(text), len(text))])
    first, last = next(kept)
    begin = 0
    for match in _END.finditer(text):
        while last <= match.start():
            first, last = next(kept, (len(text) + 1, len(text) + 1))
        is_inside = first < match.end() < last
        if not is_inside and _is_end(text, match):
            found.append((begin, match.end()))
            begin = match.end()
    found.append((begin, len(text)))
    return [trimmed for span in found if (trimmed := _trimmed(text, *span))]


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end in spans(text)]


def is_end(text: str, stop: int, behind: int) -> bool:
    """Whether a full stop is the end of a sentence.

    Args:
        text: What it stands in.
        stop: Where it stands.
        behind: Where what may belong to it ends: quotation marks, brackets.
    """
    following = _next(text, behind)
    if following.islower():
        return False
    before, _, last = text[max(0, stop - _BEFORE) : stop].replace("\n", " \n ").rpartition(" ")
    word = last.lstrip(_OPENING)
    if word.isdigit():
        return not _is_ordinal(word, before.rstrip(" "), text, behind)
    if len(word) == 1 and word.isupper():
        return before[-1:].isdigit()  # then it is a unit, 30 C, and else an initial
    short = word.lower()
    return short not in _ABBREVIATIONS and not (following.isdigit() and short in _BEFORE_A_NUMBER)


def _is_ordinal(number: str, before: str, text: str, behind: int) -> bool:
    """Whether a number with a full stop is that of an item, of a day, of a century."""
    if not before or before.endswith("\n"):
        return len(number) <= _LONGEST_ITEM
    if len(number) > _LONGEST_ORDINAL:
        return False
    introduced = before.rpartition(" ")[2].lower() in _BEFORE_AN_ORDINAL
    return introduced or _MONTH.match(text, behind) is not None


def _is_end(text: str, match: re.Match[str]) -> bool:
    sign = match[0][:1]
    if sign == ".":
        return is_end(text, match.start(), match.end())
    return sign not in "!?\u2026" or not _next(text, match.end()).islower()


def _next(text: str, position: int) -> str:
    """The first letter or digit behind a place, if only signs are between."""
    following = _NEXT.match(text, position)
    return following[2] if following else ""


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int] | None:
    piece = text[begin:end]
    start = begin + len(piece) - len(piece.lstrip())
    stop = end - len(piece) + len(piece.rstrip())
    return (start, stop) if start < stop else None
