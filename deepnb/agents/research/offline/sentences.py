"""Passages as sentences, table rows and lines of code: each one exactly as it was read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.keywords import words
from deepnb.models.offline.passages import Passage as Piece
from deepnb.models.offline.passages import passages, spans
from deepnb.models.offline.results import Page
from deepnb.models.offline.vocabulary import concepts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.citations.shapes import Source

# Where one record ends and the next begins. A row of a table has the names of its columns in it.
_RECORDS = dict.fromkeys((".csv", ".tsv", ".xlsx", ".xls"), re.compile(r"\n"))
_NAMES_OF_COLUMNS = re.compile(r"(?!.*: )[^\n]*;[^\n]*\n(?=.*: )")
_RECORDS[".bib"] = re.compile(r"\n\s*\n")
# An object of JSON with its name, if it is a short one; what is cut off has one end only.
_OBJECT = re.compile(
    r"[ \t]*(?:\"[^\"\n]{0,60}\"\s*:\s*)?\{[^{}]{1,300}(?:\},?|\Z)|\A[^{}]{1,300}\},?|[^\n]+"
)
_CODE = (".py", ".json", ".r", ".js", ".ts", ".c", ".cpp", ".java", ".toml", ".yaml", ".yml")
_FEW_WORDS = 4
_PROSE = ("prose", "cell", "html")
# Lines such as those over an e-mail: From, To, Date, Subject.
_FIELDS = re.compile(r"(?:[A-Z][\w -]{0,20}:[^\n]*(?:\n|$)){2,}")
_SPEAKER = re.compile(r"[A-Z][\w. ]{0,24}:\s")
_LETTER = re.compile(r"[^\W_]")
_SIGN = re.compile(r"[^\w\s.,;'\u2019-]")
_FEW_SIGNS = 0.06
_LINE = re.compile(r"[^\n]+")
_BULLET = re.compile(r"\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
# A title on a line of its own, right above the paragraph it belongs to.
_TITLE_LINE = re.compile(r"\s*(?:\d{1,3}[.)]\s+)?[A-Z][^\n.!?]{0,59}\n(?=[A-Z])")
# It tells nothing that stands not below it, as far as it names no number and no second thing.
_HEADLINE = re.compile(r"\s*[A-Z\u00c0-\u00de][^\n.!?\d,:;|]{0,79}\s*")
_FULL_STOP = re.compile(r"[.!?](?:\s|$)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_DATE = re.compile(
    rf"(?:[a-z]+day,?\s+)?(?:{_DAY}\s+{_MONTH}|{_MONTH}\s+{_DAY}|\d{{4}}-\d\d-\d\d)"
    r"(?:,?\s+\d{4})?[.:]",
    re.IGNORECASE,
)
_EMPHASIS = r"\*{1,3}|_{1,3}"
_OPENS, _CLOSES = re.compile(rf"({_EMPHASIS})(?=\S)"), re.compile(rf"(?<=\S)({_EMPHASIS})$")


@dataclass(frozen=True)
class Sentence:
    """A piece of a passage that can be quoted by itself.

    Attributes:
        source: Id of its source.
        number: Number of its passage in that source.
        start: Where it begins in the passage's text.
        end: Where it ends.
        text: What stands there.
        kind: "prose", "row", "code" or "data".
        around: Start and end of the paragraph that it is part of.
        heading: What stands above it.
        header: Of a table's row, the names of the columns.
        before: The sentence before it, which may say what "it" is.
        about: Title of the source, or the name of its file.
        asked: The question that it answers, where a document asks one.
    """

    source: str
    number: int
    start: int
    end: int
    text: str
    kind: str
    around: tuple[int, int]
    heading: str = ""
    header: str = ""
    before: str = ""
    about: str = ""
    asked: str = ""

    @property
    def says_something(self) -> bool:
        """Whether it is more than a date, a name or a title that was left over."""
        return self.kind != "prose" or len(words(self.text)) >= _FEW_WORDS

    @property
    def ends(self) -> bool:
        """Whether it ends as sentences do."""
        return self.text.rstrip("\"'\u201d\u2019)*_").endswith((".", "!", "?", "\u2026"))

    @property
    def is_a_title(self) -> bool:
        """Whether it looks like a title: it names something, and does not end as sentences do."""
        return self.kind == "prose" and _HEADLINE.fullmatch(self.text) is not None

    @property
    def reads_as_prose(self) -> bool:
        """Whether it is made of words, as prose is and as the comments of a program are."""
        return len(_SIGN.findall(self.text)) <= _FEW_SIGNS * len(self.text)

    def overlaps(self, other: Sentence) -> bool:
        """Whether two stretches of one passage have something in common."""
        same = (self.source, self.number) == (other.source, other.number)
        return same and self.start < other.end and other.start < self.end

    @cached_property
    def words(self) -> list[str]:
        """The terms of the text, and of the question that it answers."""
        return concepts(f"{self.text} {self.asked}")

    @cached_property
    def near(self) -> list[str]:
        """And of what stands over it and before it."""
        return [*self.words, *concepts(f"{self.heading} {self.header} {self.before}")]

    @cached_property
    def wide(self) -> list[str]:
        """And of what its source is called."""
        return [*self.near, *concepts(self.about)]


def sentences(source: Source, number: int) -> list[Sentence]:
    """The sentences of a passage, in order; a number that is none has none."""
    if not 0 <= number < len(source["passages"]):
        return []
    text = source["passages"][number]["text"]
    about = f"{source['title']} {PurePosixPath(source['location']).stem}"
    found: list[Sentence] = []
    for paragraph in _paragraphs(source["location"], text):
        before = ""
        for first, last in paragraph.spans:
            said = text[first:last]
            if _LETTER.search(said):
                above = (paragraph.heading, paragraph.header, before, about, paragraph.asked)
                where = (source["id"], number, first, last)
                found.append(Sentence(*where, said, paragraph.kind, paragraph.around, *above))
            before = said
    return found


@dataclass(frozen=True)
class _Paragraph:
    """Sentences that belong together, what stands over them, and where they begin and end."""

    kind: str
    heading: str
    header: str
    spans: list[tuple[int, int]]
    around: tuple[int, int]
    asked: str = ""


def _paragraphs(location: str, text: str) -> list[_Paragraph]:
    """The paragraphs, rows and bits of code of a passage; an answer goes with its question."""
    found: list[_Paragraph] = []
    at = 0
    for piece in _titled(_pieces(location, text)):
        at = text.index(piece.text, at)
        for new in _parts(piece, at):
            found.append(_introduced(found[-1], new, text) if found else new)
            if found[-1].around[0] < new.around[0]:
                found[-2] = replace(found[-2], around=found[-1].around)
        at += len(piece.text)
    return [each for each in found if not _FIELDS.fullmatch(text[slice(*each.around)])]


def _titled(pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces without those that are only the title of what is below, which goes over that."""
    over = title = ""
    for number, piece in enumerate(pieces):
        below = pieces[number + 1].text if number + 1 < len(pieces) else ""
        over, title = piece.heading, title if piece.heading == over else ""
        if piece.kind in _PROSE and _is_headline(piece.text, below):
            title = piece.text
        else:
            yield replace(piece, heading=f"{piece.heading} {title}") if title else piece


def _is_headline(line: str, below: str) -> bool:
    """Whether a line is no more than the title of what is below it.

    A line that ends only because it was full is the beginning of a sentence.
    """
    widest = max(map(len, below.splitlines()), default=0)
    first = next(iter(below.split()), "")
    return (
        _HEADLINE.fullmatch(line) is not None
        and not _BULLET.match(line)
        and _FULL_STOP.search(below) is not None
        and len(line.strip()) + 1 + len(first) <= widest
    )


def _parts(piece: Piece, start: int) -> Iterator[_Paragraph]:
    """A paragraph without its bullet or number; a title right above it is one of its own."""
    if piece.kind not in _PROSE:
        yield from _paragraph(piece, start, (start, start + len(piece.text)))
        return
    title = _TITLE_LINE.match(piece.text)
    bullet = _BULLET.match(piece.text)
    begin = start + (bullet.end() if bullet else 0)
    if title:
        # One with a number is no more than that.
        if not bullet and not _is_headline(title[0], piece.text[title.end() :]):
            yield from _paragraph(piece, start, (begin, start + title.end()))
        begin = start + title.end()
        piece = replace(piece, heading=f"{piece.heading} {title[0]}")
    yield from _paragraph(piece, start, (begin, start + len(piece.text)))


def _paragraph(piece: Piece, start: int, within: tuple[int, int]) -> Iterator[_Paragraph]:
    first, last = within
    all_ = [(max(a, first), min(b, last)) for a, b in _spans(piece, start)]
    whole = [(a, b) for a, b in all_ if a < b]
    if whole:
        kind = "prose" if piece.kind in _PROSE else piece.kind
        around = (whole[0][0], whole[-1][1])
        yield _Paragraph(kind, piece.heading, piece.header, whole, around)


def _pieces(location: str, text: str) -> list[Piece]:
    suffix = PurePosixPath(location).suffix.lower()
    if border := _RECORDS.get(suffix):
        records = [each for each in border.split(text) if each.strip()]
        if _NAMES_OF_COLUMNS.match(text):
            del records[0]
        return [Piece(location, n, n, each, "row") for n, each in enumerate(records)]
    if suffix == ".json":
        objects = [match[0] for match in _OBJECT.finditer(text) if match[0].strip()]
        return [Piece(location, n, n, each, "data") for n, each in enumerate(objects)]
    # Of all other kinds of files, a passage is what they say and not how they say it.
    pieces = passages(Page("x.py" if suffix in _CODE else "x.md", 1, text.split("\n")))
    # Cells whose columns have no names, since the table begins in another passage, say nothing.
    return [each for each in pieces if each.kind != "row" or each.header]


def _introduced(before: _Paragraph, new: _Paragraph, text: str) -> _Paragraph:
    """A paragraph, and what the one before it says that it is: an answer, a list, an e-mail."""
    lead = text[before.spans[0][0] : before.spans[-1][1]]
    if before.kind != "prose" or new.kind != "prose":
        return new
    if _FIELDS.fullmatch(lead):
        return replace(new, heading=f"{new.heading} {lead}")
    spoken = _speaks(text, before.around[0]) and _speaks(text, new.around[0])
    if lead.endswith(("?", ":")) or spoken:
        around = (before.around[0], new.around[1])
        asked = lead if lead.endswith("?") else ""
        return replace(new, around=around, heading=f"{new.heading} {lead}", asked=asked)
    return new


def _speaks(text: str, at: int) -> bool:
    """Whether somebody begins to speak there: a name and a colon, and not in a list."""
    is_item = text[text.rfind("\n", 0, at) + 1 : at].strip()
    return not is_item and _SPEAKER.match(text, at) is not None


def _spans(piece: Piece, start: int) -> Iterator[tuple[int, int]]:
    """Where the sentences of a paragraph, or its lines of code, begin and end; a row is one."""
    text = piece.text
    if piece.kind in {"row", "data"}:
        whole = [(0, len(text))]
    elif piece.kind == "code":
        whole = [match.span() for match in _LINE.finditer(text)]
    else:
        whole = _dated(text, spans(text))
    for first, last in whole:
        part = text[first:last]
        stripped = _whole(part.strip()) if piece.kind in _PROSE else part.strip()
        if stripped:
            offset = start + first + part.index(stripped)
            yield offset, offset + len(stripped)


def _dated(text: str, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The sentences of a paragraph; a date that is one of its own goes with the next."""
    found: list[tuple[int, int]] = []
    for first, last in sentences:
        begin = first
        if found:
            before, end = found[-1]
            line = before + text[before:end].rstrip().rfind("\n") + 1  # a title may be above it
            if _DATE.fullmatch(text[line:end].strip()):
                found[-1:] = [(before, line)] if before < line else []
                begin = line
        found.append((begin, last))
    return found


def _whole(text: str) -> str:
    """A sentence without a sign of emphasis whose other end is in another one."""
    if (sign := _OPENS.match(text)) and sign[1] not in text[sign.end() :]:
        text = text[sign.end() :]
    if (sign := _CLOSES.search(text)) and sign[1] not in text[: sign.start()]:
        text = text[: sign.start()]
    return text
