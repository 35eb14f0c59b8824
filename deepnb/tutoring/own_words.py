"""A text with all blanked that is not its writer's own words; every place stays where it was."""

from __future__ import annotations

import re

from deepnb.citations.marks import CODE_SPAN

# Nothing here is read twice in another way: a hostile text would take for ever.
_FENCED = r"(?m:^)[ ]{0,3}(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n(?s:.*?)(?:\n[ ]{0,3}(?P=fence)|\Z)"
_CODE = re.compile(rf"(?P<block>{_FENCED})|(?P<code>{CODE_SPAN})")
_BLOCK_QUOTE = re.compile(r"(?m)^[ ]{0,3}>[^\n]*")
QUOTATION = re.compile(
    r"\u201c([^\u201c\u201d]{1,2000})\u201d|\u00ab([^\u00ab\u00bb]{1,2000})\u00bb"
    r"|(?<![\w\"])\"(?=\S)([^\"\n]{1,2000})\"(?!\w)"
    r"|(?<!\w)\u2018([^\u2018\u2019\n]{1,2000})\u2019(?!\w)"
    r"|(?<!\w)'(?=\S)([^'\n]{1,2000})'(?!\w)"
)
"""Words in quotation marks; one of the groups has them without the marks."""

NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]{2,}\b")
"""A name: a word with a capital where no sentence begins."""


def without_code(text: str) -> str:
    """Blank the code; what only looks like the beginning of some stays."""
    return _CODE.sub(lambda match: match[0] if match["lone"] is not None else blank(match), text)


def without_quotations(text: str) -> str:
    """Blank what is in quotation marks or in a block quote, and the code."""
    return QUOTATION.sub(blank, _BLOCK_QUOTE.sub(blank, without_code(text)))


def blank(match: re.Match[str]) -> str:
    """Give as many spaces as a match is long, and its line ends."""
    return re.sub(r"[^\n]", " ", match[0])


def quotations(text: str) -> list[tuple[int, int, str]]:
    """What is in quotation marks: from where to where, and the words."""
    return [
        (*match.span(), next(filter(None, match.groups())))
        for match in QUOTATION.finditer(without_code(text))
    ]
