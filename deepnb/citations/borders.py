"""Where words and numbers begin and end, so that a quote cuts none of them in two."""

from __future__ import annotations

import re

from deepnb.citations.numbers import NUMBER_WORD, SCALES
from deepnb.keywords import unspaced

_WORD_BEFORE = re.compile(r"[^\W_][-']?\Z")
_WORD_BEHIND = re.compile(r"[-']?[^\W_]|[\u0300-\u036f]")
# What would be part of the same number, before its first digit and behind its last.
_SIGN = r"[$\u00a2-\u00a5\u20a0-\u20cf<>~^+\\\u00b1\u00d7\u00f7\u2190-\u22ff]"
_NUMBER_BEFORE = re.compile(
    rf"(?i)(?:[-.,/#\u00a7\u2116]|{_SIGN}\s?|\d\s?[/*x\u00b7]\s?|\d(\s?):\1|\bminus\s)\Z"
)
_NUMBER_BEHIND = re.compile(
    rf"(?i)[.,]\d|/|\s?(?:[%\u2030\u00b0\u2032\u2103\u2109]|{_SIGN})|\s?-\d|\s?[/*x\u00b7]\s?\d|(\s?):\1\d"
    r"|[\u00b2\u00b3\u00b9\u2070-\u209c\u00bc-\u00be\u2150-\u215f\u5341\u767e\u5343\u4e07\u842c\u4ebf"
    rf"\u5104]|\s?(?:per ?cent|mio|mrd|bn|k(?!\w)|{NUMBER_WORD}s?\b)"
)
# The same in words: "seventy five", "two thirds", "3 to 5".
_FIRST = re.compile(rf"(?i)\d+|{NUMBER_WORD}\b")
_LAST = re.compile(rf"(?i)(?:\d+|\b{NUMBER_WORD})\Z")
_SCALE = re.compile(rf"(?i)(?:{'|'.join(SCALES)}|dozen)\b")
_WORDS_BEFORE = re.compile(rf"(?i)\b{NUMBER_WORD}(?:\sand)?\s\Z")
_WORDS_BEHIND = re.compile(
    rf"(?i)\s(?:and\s)?{NUMBER_WORD}\b|"
    r"\s(?:and\sa\s)?(?:half|halves|quarters?|thirds?|(?:four|fif|six|seven|eigh|nin|ten)ths?)\b"
)
_TO_BEFORE = re.compile(rf"(?i)(\d+|\b{NUMBER_WORD})\s(?:to|or)\s\Z")
_TO_BEHIND = re.compile(rf"(?i)\s(?:to|or)\s(\d+|{NUMBER_WORD}\b)")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
_GROUP, _GROUP_BEFORE = re.compile(r"\d{3}(?!\d)"), re.compile(r"(?<![\d.,])\d{1,3}\s\Z")
_GROUP_BEHIND, _GROUPED = re.compile(r"\s\d{3}(?!\d)"), re.compile(r"(?<![\d.,])\d{1,3}\Z")
# In the source as it is: a dash that begins a line is that of an item in a list.
_DASH = r"[-\u2010-\u2015\u2212]\s*"
_RANGE_BEFORE = re.compile(rf"\d[^\S\n]*{_DASH}\Z")
_RANGE_BEHIND = re.compile(rf"[^\S\n]*{_DASH}\d")
_WINDOW = 40


def has_borders(text: str, start: int, end: int) -> bool:
    """Whether a match begins and ends where words and numbers do."""
    before, behind = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    match = text[start:end]
    return not (
        (_is_letter(match[0]) and _WORD_BEFORE.search(before) and not unspaced(before[-1]))
        or (_is_letter(match[-1]) and _WORD_BEHIND.match(behind) and not unspaced(behind[0]))
        or (match[0].isdigit() and _goes_on_before(match, before))
        or (match[-1].isdigit() and _goes_on_behind(match, behind))
        or _goes_on_in_words(match, before, behind)
    )


def _is_letter(character: str) -> bool:
    return character.isalnum() and not unspaced(character)


def _goes_on_before(match: str, before: str) -> bool:
    is_group = _GROUP.match(match) and _GROUP_BEFORE.search(before)
    return bool(is_group or _NUMBER_BEFORE.search(before))


def _goes_on_behind(match: str, behind: str) -> bool:
    is_group = _GROUPED.search(match[-_WINDOW:]) and _GROUP_BEHIND.match(behind)
    return bool(is_group or _NUMBER_BEHIND.match(behind))


def _goes_on_in_words(match: str, before: str, behind: str) -> bool:
    first, last = _FIRST.match(match), _LAST.search(match[-_WINDOW:])
    return bool(
        (_SCALE.match(match) and before[-2:-1].isdigit())
        or (
            first and (_WORDS_BEFORE.search(before) or _are_alike(_TO_BEFORE.search(before), first))
        )
        or (last and (_WORDS_BEHIND.match(behind) or _are_alike(_TO_BEHIND.match(behind), last)))
    )


def _are_alike(other: re.Match[str] | None, one: re.Match[str]) -> bool:
    """Whether there are two numbers, both of a year or neither: not "84 in 2019 to 52"."""
    return other is not None and bool(_YEAR.fullmatch(other[1])) == bool(_YEAR.fullmatch(one[0]))


def is_of_a_range(text: str, start: int, end: int) -> bool:
    """Whether a match begins or ends with one of two numbers between which there is a dash."""
    before, behind = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    return bool(
        (text[start].isdigit() and _RANGE_BEFORE.search(before))
        or (text[end - 1].isdigit() and _RANGE_BEHIND.match(behind))
    )
