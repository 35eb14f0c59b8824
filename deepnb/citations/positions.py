"""Where the marks of a report stand.

Whoever shows a report puts something in the place of its marks: by where they stand, and not by
counting them once more, since two readers of Markdown never agree on what is code.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from deepnb.citations.marks import CODE_SPAN, MARK, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MARKS = re.compile(rf"{CODE_SPAN}|(?P<mark>\[S\d{{1,6}}\])")
_TEXTS = {"paragraph_open", "heading_open", "table_open"}


def positions(text: str) -> list[int]:
    """Where each mark begins, in their order; what is in code is none."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = set[int]()
    for token in blocks(text):
        if token.type in _TEXTS and token.map:
            start, end = starts[token.map[0]], starts[token.map[1]]
            found.update(m.start() for m in _MARKS.finditer(text, start, end) if m["mark"])
    return sorted(found)


def replaced(text: str, marks: Sequence[int], instead: Callable[[int], str]) -> str:
    """Put something in the place of each mark, by its number."""
    parts, end = [], 0
    for number, start in enumerate(marks):
        if mark := MARK.match(text, start):
            parts += [text[end:start], instead(number)]
            end = mark.end()
    return "".join([*parts, text[end:]])
