"""Word documents, read as a stream: tracked changes as if accepted, tables row by row, notes last.

python-docx would hold the whole file with its pictures, and leaves out footnotes, text boxes,
content controls and whatever was inserted with changes tracked.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from deepnb.chunks import Block
from deepnb.errors import UnreadableError
from deepnb.knowledge.readers.document import Document, Headings, tidy
from deepnb.knowledge.readers.package import Package

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from deepnb.knowledge.readers.package import Event

_GONE = frozenset({"moveFrom", "Fallback"})  # moved away; and a second copy for old programs
_NOTES = {"footnotes": "Footnotes", "endnotes": "Endnotes"}
_LEVEL = re.compile(r"heading (\d)", re.IGNORECASE)
_TITLE = 0
_NO_LEVEL = 9
_LONGEST = 16 * 1024  # a paragraph longer than this is given in pieces


def read_word(file: BinaryIO, name: str) -> Document:
    """Read a .docx; its paragraphs that have text are numbered from 1."""
    package = Package(file, name)
    main = package.main()
    blocks = _blocks(package, main)
    first = next(blocks, None)
    if first is None:
        raise UnreadableError(
            name, "has no text: it is empty or has only pictures. Run OCR on those, if they matter."
        )
    return Document(tidy(package.title()) or name, "Word", chain((first,), blocks))


def _blocks(package: Package, main: str) -> Iterator[Block]:
    related = package.related(main)
    levels: dict[str, int] = {}
    for kind, part in related.values():
        if kind == "styles" and part in package:
            levels = _levels(package.events(part))
    yield from _Body(levels, "").blocks(package.events(main))
    for kind, part in related.values():
        if kind in _NOTES and part in package:
            yield from _Body({}, _NOTES[kind]).blocks(package.events(part))


def _levels(events: Iterable[Event]) -> dict[str, int]:
    """Which styles are headings: their ids differ by language, their names do not."""
    levels: dict[str, int] = {}
    style = ""
    for event, tag, attributes in events:
        if event != "start":
            continue
        if tag == "style":
            style = attributes.get("styleId", "")
        elif tag == "name":
            name = attributes.get("val", "")
            if found := _LEVEL.fullmatch(name):
                levels[style] = int(found[1])
            elif name.lower() == "title":
                levels[style] = _TITLE
    return levels


class _Body:
    """The paragraphs and rows of one part."""

    def __init__(self, levels: dict[str, int], within: str) -> None:
        self._levels = levels
        self._within = within
        self._headings = Headings()
        self._held: list[str] = []
        self._length = 0
        self._number = 0  # of the last paragraph that had text
        self._first = 1
        self._depth = {"p": 0, "tr": 0, "t": 0, "gone": 0}
        self._level = _NO_LEVEL
        self._has_text = False

    def blocks(self, events: Iterable[Event]) -> Iterator[Block]:
        """One block for each paragraph, and one for each row of a table."""
        for event, value, attributes in events:
            if event == "text":
                if self._depth["t"] and not self._depth["gone"]:
                    self._hold(value)
                    self._has_text |= not value.isspace()
            elif event == "start":
                self._enter(value, attributes)
            elif self._leave(value) or self._length > _LONGEST:
                yield from self._flush()

    def _enter(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _GONE:
            self._depth["gone"] += 1
        elif tag in self._depth:
            self._depth[tag] += 1
        if tag == "pStyle":
            self._level = self._levels.get(attributes.get("val", ""), _NO_LEVEL)
        elif tag == "outlineLvl" and attributes.get("val", "") in set("012345678"):
            self._level = int(attributes["val"]) + 1
        elif tag in {"tab", "br", "cr"} and self._held:
            self._hold(" ")
        elif tag == "noBreakHyphen":
            self._hold("-")

    def _leave(self, tag: str) -> bool:
        """Close an element; whether a block ends with it."""
        if tag in _GONE:
            self._depth["gone"] -= 1
        elif tag in self._depth:
            self._depth[tag] -= 1
        if tag == "p":
            self._number += self._has_text
            self._has_text = False
            if self._depth["p"] or self._depth["tr"]:  # in a text box, or in a table
                self._hold(" ")
        elif tag == "tc" and self._held:
            self._hold(" | ")
        return tag in {"p", "tr"} and not self._depth["p"] and not self._depth["tr"]

    def _hold(self, text: str) -> None:
        self._held.append(text)
        self._length += len(text)

    def _flush(self) -> Iterator[Block]:
        text = " ".join("".join(self._held).split()).strip("| ")
        level, self._level = self._level, _NO_LEVEL
        self._held, self._length = [], 0
        if not text:
            return
        if level < _NO_LEVEL:
            self._headings.enter(level, text)
        last = max(self._number + self._has_text, self._first)
        yield Block(text, "paragraph", self._first, last, self._within, self._headings.path)
        self._first = self._number + 1
