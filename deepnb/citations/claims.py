"""What a report claims, and by which marks and quotes.

A claim is a sentence, a row of a table or a block quote. If a sentence has marks in several
places, each of them stands for the words before it (or behind it, where the sentence begins with
a mark). Marks may stand before the full stop or behind it; marks in a line of their own belong to
what is before them.

What has a mark is a claim whatever it is. Without one, these claim nothing: headings, questions,
lead-ins that end in a colon, code, the head of a table, and what has fewer than two words that
mean something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deepnb.citations.marks import CODE_SPAN, MARK, blocks
from deepnb.keywords import terms
from deepnb.sentences import spans
from deepnb.transcript.prose import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LEAST_TERMS = 2
_QUOTES = re.compile(
    r"\u201c([^\u201c\u201d]{1,4000})\u201d|\u201e([^\u201c\u201d\u201e]{1,4000})[\u201c\u201d]"
    r"|\u00ab([^\u00ab\u00bb]{1,4000})\u00bb|\u00bb([^\u00ab\u00bb]{1,4000})\u00ab"
    r"|(?<![\w\"])\"(?=\S)([^\"]{1,4000})(?<=\S)\"(?!\w)"
    r"|(?<!\w)\u2018((?:[^\u2018\u2019]|\u2019(?=\w)){1,4000})\u2019(?!\w)"
)
_CODE = re.compile(CODE_SPAN)
_MARKS = re.compile(rf"(?P<code>{CODE_SPAN})|(?P<marks>(?:\[S\d{{1,6}}\][ \t]*)+)")
_FOOTNOTE = re.compile(rf"(?P<code>{CODE_SPAN})|\\?\[\^[\w-]{{1,20}}\](?!`)")
_GONE = re.compile(r"(?<![ \t])[ \t]*+\0 (?=[.,;:!?)\s]|$)|\0(?= )| ?\0")  # where a mark was
_ATTRIBUTION = re.compile(r"\s*(?:[-\u2013\u2014\u2015]|--)")
_ATTRIBUTION_LINE = re.compile(r"\n\s*[\u2013\u2014\u2015-][^\n]*$")


@dataclass
class Claim:
    """Something that a report says.

    Attributes:
        text: In its own words, without marks.
        quotes: What it says in somebody else's.
        marks: Number and id of each mark, in their order.
        asserts: Whether it should have a mark if it has none.
    """

    text: str
    quotes: list[str] = field(default_factory=list)
    marks: list[tuple[int, str]] = field(default_factory=list)
    asserts: bool = True


def claims(text: str) -> list[Claim]:
    """The claims of a report whose marks are all of the form `[S1]`."""
    found: list[Claim] = []
    number = 0
    for kind, content in _contents(text):
        for claim in _claims_of(kind, _FOOTNOTE.sub(lambda match: match["code"] or "", content)):
            claim.marks = [(number + n, key) for n, (_, key) in enumerate(claim.marks)]
            number += len(claim.marks)
            if found and claim.marks and _belongs_before(claim, found[-1]):
                found[-1].marks += claim.marks
            elif claim.text.strip() or claim.marks:
                found.append(claim)
    return [claim for claim in found if claim.marks or claim.asserts]


def _belongs_before(claim: Claim, before: Claim) -> bool:
    is_attribution = _ATTRIBUTION.match(claim.text) is not None and not before.marks
    return not claim.quotes and (not terms(claim.text) or is_attribution)


def _contents(text: str) -> Iterator[tuple[str, str]]:
    """What stands in each block, and in what kind of block."""
    within: list[str] = []
    gathered: list[str] = []
    kinds = {"blockquote": "quote", "tr": "row", "heading": "heading", "thead": "head"}
    for token in blocks(text):
        name = token.type.rpartition("_")[0]
        if token.nesting > 0 and name in kinds:
            within.append(kinds[name])
        elif token.nesting < 0 and name in kinds:
            kind = within.pop()
            if kind in {"quote", "row"} and not {"quote", "row"} & set(within):
                in_head = "head" in within
                joined = ("\n" if kind == "quote" else " | ").join(gathered)
                yield ("heading" if in_head else kind), joined
                gathered = []
        elif token.type == "inline":
            if {"quote", "row"} & set(within):
                gathered.append(token.content)
            elif "heading" in within:
                yield "heading", token.content
            else:
                yield "prose", token.content


def _claims_of(kind: str, content: str) -> Iterator[Claim]:
    groups = _groups(content)
    if kind == "quote" and len(groups) <= 1:
        quoted = _ATTRIBUTION_LINE.sub("", _without_marks(content)).strip()
        yield Claim(words(_without_marks(content)).strip(), [quoted], _ids(groups))
    elif kind == "row":
        yield from _segments(content, kind)
    else:
        whole = [match.span() for form in (_QUOTES, _CODE) for match in form.finditer(content)]
        for start, end in spans(content, sorted(whole)):
            yield from _segments(content[start:end], kind)


def _segments(sentence: str, kind: str) -> Iterator[Claim]:
    """One claim for each group of marks that has words of its own."""
    groups = _groups(sentence)
    pieces = list(_cut(sentence, groups))
    if len(pieces) > 1 and all(len(terms(piece)) >= _LEAST_TERMS for piece in pieces):
        for piece, group in zip(pieces, groups, strict=True):
            yield _claim(piece, kind, [group])
    else:
        yield _claim(sentence, kind, groups)


def _cut(sentence: str, groups: Sequence[re.Match[str]]) -> Iterator[str]:
    """The words that belong to each group of marks."""
    if not groups:
        return
    begins_with_mark = not sentence[: groups[0].start()].strip()
    borders = (
        [g.start() for g in groups[1:]] if begins_with_mark else [g.end() for g in groups[:-1]]
    )
    for start, end in zip([0, *borders], [*borders, len(sentence)], strict=True):
        yield sentence[start:end]


def _claim(text: str, kind: str, groups: Sequence[re.Match[str]]) -> Claim:
    bare = _without_marks(text)
    said = words(bare).strip(" \t\n,;").lstrip(": ")
    quotes = [next(filter(None, match.groups())) for match in _QUOTES.finditer(bare)]
    if kind == "quote" and not quotes:
        quotes = [bare.strip()]
    asserts = (
        kind in {"prose", "quote", "row"}
        and not said.rstrip("\"\u201d')*_ ").endswith(("?", ":"))
        and len(set(terms(said))) >= _LEAST_TERMS
    )
    return Claim(said, quotes, _ids(groups), asserts)


def _groups(text: str) -> list[re.Match[str]]:
    return [match for match in _MARKS.finditer(text) if match["marks"]]


def _ids(groups: Sequence[re.Match[str]]) -> list[tuple[int, str]]:
    return [(0, key) for group in groups for key in MARK.findall(group["marks"])]


def _without_marks(text: str) -> str:
    bare = _MARKS.sub(lambda match: match["code"] or "\0 ", text)
    return _GONE.sub("", bare).strip()
