"""Citations of files by their title: `[[Title]]`, also `[[Title|shown]]` and `[[Title#section]]`.

A title may be written in another case, with other spaces, quotation marks and dashes, without the
folder it is in, and without its extension. Nothing is nearly right: `[[Tram]]` is not `Trams`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from deepnb.keywords import words
from deepnb.tutoring.own_words import without_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CITATION = re.compile(r"(?<![\w\\\[])\[\[((?:[^\[\]]|\[[^\[\]]{0,300}\]){1,300})\]\]")
# Nothing, a blank to fill in, a matrix, a test of bash.
_NO_TITLE = re.compile(r"[\s_\u2026]*|[\s\d.,;-]*,[\s\d.,;-]*|\s*-\w\s.*", re.DOTALL)
_EXTENSION = re.compile(r"\.[a-z][a-z0-9]{0,4}\Z")
_SHAPES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    }
)


class Cited(NamedTuple):
    """A citation, and where it stands."""

    title: str
    start: int
    end: int


def cited(text: str) -> list[Cited]:
    """The citations of a text; what is in code is none."""
    return [
        Cited(" ".join(match[1].split()), *match.span())
        for match in CITATION.finditer(without_code(text))
        if not _NO_TITLE.fullmatch(match[1])
    ]


def same_title(title: str) -> str:
    """A title as it is compared with others."""
    drawn = unicodedata.normalize("NFKC", title).translate(_SHAPES)
    return " ".join(drawn.casefold().split())


def resolve(title: str, titles: Sequence[str]) -> list[str]:
    """Which files a citation may mean: one, if all is well.

    What is written exactly as a title is that one, however many others are alike.
    """
    for written in _readings(title):
        for fits in (_exactly, _in_other_letters, _without_extension):
            if found := [each for each in titles if fits(written, each)]:
                return found
    return []


def mentioned(text: str, titles: Sequence[str]) -> bool:
    """Whether a text has the words of a file's title in it, with or without brackets."""
    said = f" {' '.join(words(text))} "
    names = (words(_EXTENSION.sub("", same_title(title).rpartition("/")[2])) for title in titles)
    return any(name and f" {' '.join(name)} " in said for name in names)


def _readings(title: str) -> Iterator[str]:
    """As it is, and without the part that is shown or that names a section."""
    yield title
    for sign in "|#":
        if sign in title:
            yield title.partition(sign)[0].strip()


def _exactly(written: str, title: str) -> bool:
    return written == title


def _in_other_letters(written: str, title: str) -> bool:
    return same_title(written) == same_title(title)


def _without_extension(written: str, title: str) -> bool:
    mine, full = same_title(written), same_title(title)
    names = {full, full.rpartition("/")[2]}
    # From one of the two only: Prices.csv is not Prices.xlsx.
    return mine in names | {_EXTENSION.sub("", name) for name in names} or (
        _EXTENSION.sub("", mine) in names
    )
