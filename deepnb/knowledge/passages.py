"""What goes into a knowledge base by hand, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["file", "page", "note"]
FoundBy: TypeAlias = Literal["words", "meaning", "both", ""]


@dataclass(frozen=True)
class Note:
    """A text of your own to keep among the documents: `kb.add(Note("…", title="Meeting"))`."""

    text: str
    title: str = ""


@dataclass(frozen=True)
class Passage:
    """A piece of a document, and where it stands.

    Attributes:
        text: As it was read.
        place: Where in the document, for people: "p. 12", "line 4", "Prices, row 12".
        title: The document's.
        location: The document's path (within the knowledge base's folder, if it is there),
            address, or name as a note.
        kind: "file", "page" or "note".
        heading: What it stands under, if anything.
        page: The page it begins on, in documents that have pages.
        first: Number of the first line, page, row, slide, cell or paragraph.
        last: Number of the last one.
        score: How well it fits a query; comparable within one search only.
        found_by: Whether its words, its meaning or both made it fit.
    """

    text: str
    place: str
    title: str
    location: str
    kind: Kind
    heading: str = ""
    page: int | None = None
    first: int | None = None
    last: int | None = None
    score: float = 0.0
    found_by: FoundBy = ""


@dataclass(frozen=True)
class Overview:
    """What a document is about, in short: for whoever plans a search.

    Attributes:
        title: The document's.
        location: Its path, address, or name as a note.
        headings: The first ones in it.
    """

    title: str
    location: str
    headings: tuple[str, ...] = ()
