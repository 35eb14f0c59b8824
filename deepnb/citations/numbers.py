"""The numbers of a text, so that two texts can be asked whether they have the same ones."""

from __future__ import annotations

import re
import unicodedata

# Not CO2 or N3, which are names; but 2.2kW and 38%.
_NUMBER = re.compile(
    r"(?<![\w.])[-\u2212]?\d+(?:[.,'\u2019\u202f]\d+)*|(?<=\d[-\u2010-\u2015])\d+(?:[.,]\d+)*"
)
_GROUPED = re.compile(r"-?\d{1,3}(?:([,'\u2019\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve"
SPELLED = {word: number for number, word in enumerate(_SMALL.split())}
SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
NUMBER_WORD = (
    rf"(?:{'|'.join(SPELLED)}|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    rf"(?:twen|thir|for|fif|six|seven|eigh|nine)ty|dozen|{'|'.join(SCALES)})"
)
"""A regular expression for a word of which spelled numbers are made."""
_SPELLED_WORD = re.compile(rf"(?i)\b(?:{'|'.join(SPELLED)})\b")


def numbers(text: str, *, spelled: bool = False) -> frozenset[str]:
    """Every number of a text, with its decimals and its sign, and without separators of thousands.

    Args:
        text: Any text.
        spelled: Whether "seven" counts as 7; for a text that is to have the numbers of another.
    """
    found = {_plain(match[0]) for match in _NUMBER.finditer(text)}
    if spelled:
        found |= {str(SPELLED[match[0].lower()]) for match in _SPELLED_WORD.finditer(text)}
    return frozenset(found)


def _plain(number: str) -> str:
    number = unicodedata.normalize("NFKC", number).replace("\u2212", "-")
    grouped = _GROUPED.fullmatch(number)
    return number.replace(grouped[1], "") if grouped else number
