"""PowerPoint: slide by slide, and what the speaker noted."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from deepnb.chunks import Block
from deepnb.errors import UnreadableError
from deepnb.knowledge.readers.document import Document, tidy
from deepnb.knowledge.readers.package import Package

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from deepnb.knowledge.readers.package import Event

_TITLES = frozenset({"title", "ctrTitle"})
_NUMBERS = frozenset({"sldNum", "dt", "ftr", "hdr"})  # what is printed on every slide


def read_slides(file: BinaryIO, name: str) -> Document:
    """Read a .pptx; slides are numbered from 1, hidden ones too."""
    package = Package(file, name)
    blocks = _blocks(package)
    first = next(blocks, None)
    if first is None:
        raise UnreadableError(
            name, "has no text: its slides are empty or pictures. Run OCR on those, if they matter."
        )
    return Document(tidy(package.title()) or name, "PowerPoint", chain((first,), blocks))


def _blocks(package: Package) -> Iterator[Block]:
    main = package.main()
    related = package.related(main)
    listed = (
        attributes.get("id", "")
        for event, tag, attributes in package.events(main)
        if (event, tag) == ("start", "sldId")
    )
    for number, relation in enumerate(listed, 1):
        _, slide = related.get(relation, ("", ""))
        title, text = _text(package.events(slide))
        if text:
            yield Block(text, "slide", number, number, "", title)
        for kind, part in package.related(slide).values():
            if kind == "notesSlide" and part in package:
                _, notes = _text(package.events(part))
                if notes:
                    yield Block(notes, "slide", number, number, "Notes", title)


def _text(events: Iterable[Event]) -> tuple[str, str]:
    """The title and the text of a slide: a line for each paragraph."""
    title = ""
    lines: list[str] = []
    line: list[str] = []
    inside = holder = ""
    for event, value, attributes in events:
        if event == "start":
            inside = value
            if value == "ph":
                holder = attributes.get("type", "")
            elif value == "br":
                line.append(" ")
        elif event == "text":
            if inside == "t" and holder not in _NUMBERS:
                line.append(value)
        else:
            inside = ""
            if value == "p":
                if words := " ".join("".join(line).split()):
                    lines.append(words)
                    title = title or (words if holder in _TITLES else "")
                line = []
            elif value == "sp":
                holder = ""
    return tidy(title), "\n".join(lines)
