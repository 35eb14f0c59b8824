"""Where sentences begin and end, in reports and in what they cite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_END = re.compile(
    r"[.!?\u2026]+[\"\u201d\u2019'\u00bb)\]*_]*(?:\s*\[S\d+\])*(?=\s|$)"  # marks come behind, too
    r"|[\u3002\uff01\uff1f]+"
    r"|\n[ \t]*(?=\n)"  # an empty line
    r"|\n(?=[ \t]*(?:[-*+\u2022|>#]|\d{1,3}[.)])[ \t])"  # an item, a row, a heading
)
_ABBREVIATION = re.compile(
    r"(?i)(?<!\w)(?:dr|mr|mrs|ms|prof|st|vs|e\.g|i\.e|al|cf|ca|approx|resp|viz|incl|spp?|z\.b|bzw)$"
)
_BEFORE_NUMBER = re.compile(
    r"(?i)(?<!\w)(?:no|nos|nr|figs?|eqs?|sec|ch|vol|pp?|art|tab|ref|max|min)$"
)
_INITIAL = re.compile(r"(?<![\d\u00b0]\s)(?<![\w\u00b0])[A-Z]$|(?:^|\n)[ \t]*\d{1,3}$")
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


def _is_end(text: str, match: re.Match[str]) -> bool:
    sign = match[0][:1]
    if sign != ".":
        return sign in "\n\u3002\uff01\uff1f" or not _goes_on(text, match.end())
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    if _goes_on(text, match.end()) or _ABBREVIATION.search(before) or _INITIAL.search(before):
        return False
    following = _NEXT.match(text, match.end())
    is_number = following is not None and following[2].isdigit()
    return not (is_number and _BEFORE_NUMBER.search(before))


def _goes_on(text: str, position: int) -> bool:
    following = _NEXT.match(text, position)
    return following is not None and following[2].islower()


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int] | None:
    piece = text[begin:end]
    start = begin + len(piece) - len(piece.lstrip())
    stop = end - len(piece) + len(piece.rstrip())
    return (start, stop) if start < stop else None
