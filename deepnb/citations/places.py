"""Where in a passage something stands: it has several lines, and a quote is on one of them."""

from __future__ import annotations

import re

from deepnb.chunks import place

_COUNTED = re.compile(r"(?:(?P<within>.*), )?(?P<unit>line|row)s (?P<first>\d+)\u2013(?P<last>\d+)")


def narrowed(where: str, text: str, start: int, end: int) -> str:
    """The place of a stretch of a passage, from the place of the passage.

    It is that of the passage where it is not counted in lines or rows, and where the text has
    other lines than the document, as that of a web page may have.

    Args:
        where: The place of the passage, such as "lines 4\u20139".
        text: The passage.
        start: Where the stretch begins in it.
        end: Where it ends.
    """
    match = _COUNTED.fullmatch(where)
    if not match or text.count("\n") != int(match["last"]) - int(match["first"]):
        return where
    first = int(match["first"]) + text.count("\n", 0, start)
    last = first + text[start:end].rstrip().count("\n")
    return place(match["unit"], first, last, match["within"] or "")
