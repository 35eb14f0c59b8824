"""Text with its places, cut into passages of a size that can be searched and quoted.

A reader gives blocks: a page, a paragraph, a row. What is searched are chunks: the same shape, but
of about one size, ending where a section or a sentence ends, and overlapping a little so that what
stands on a border is found too. A chunk knows where it stands as exactly as its blocks did.

The time is linear in the text, whatever the text is, and only one chunk is held at a time.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

from deepnb.sentences import is_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Unit = Literal["page", "line", "slide", "row", "cell", "paragraph", ""]

SIZE = 500
OVERLAP = 80
_NEAR = 3  # blocks further apart than this many lines or rows are not put into one chunk

_NAMES = {
    "page": ("p.", "pp."),
    "line": ("line", "lines"),
    "slide": ("slide", "slides"),
    "row": ("row", "rows"),
    "cell": ("cell", "cells"),
    "paragraph": ("¶", "¶¶"),
}

# Where a sentence may end: behind its full stop, behind a stop of a script without spaces, at a
# blank line, and before the next item of a list. The white space goes with what it follows.
_END = re.compile(
    r"[.!?\u2026][\"'\u2019\u201d)\]]*\s+"
    r"|[\u3002\uff01\uff1f\uff61]+[\u201d\u2019\u300d\u300f\uff09]*\s*"
    r"|\n\s*\n\s*"
    r"|\n(?=[ \t]*(?:[-*+\u2022|]|\d{1,3}[.)])[ \t])"
)
_CLOSED = re.compile(r"[.!?:;\u2026\u3002\uff01\uff1f][\"'\u2019\u201d)\]]*\s*\Z")
_BLANK_START = re.compile(r"(?:[^\S\n]*\n)+")
_BETWEEN_WORDS = " \t\u00a0\u3000\uff0c\u3001\uff1b"


class Block(NamedTuple):
    """A piece of a document and where it stands: from `first` to `last` of its unit.

    `within` is the part of the document that is counted in, such as a sheet; `heading` is the
    section. In a block of lines that has as many lines as it says, each stands on its own line.
    """

    text: str
    unit: Unit = ""
    first: int | None = None
    last: int | None = None
    within: str = ""
    heading: str = ""

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return place(self.unit, self.first, self.last, self.within)


Chunk = Block  # what is cut has the shape of what it was cut from


def place(unit: str, first: int | None, last: int | None = None, within: str = "") -> str:
    """Where something stands, for people: "p. 12", "pp. 12\u201313", "Prices, row 12"."""
    if unit not in _NAMES or first is None:
        return within
    one, many = _NAMES[unit]
    spot = f"{one} {first}" if last in {None, first} else f"{many} {first}\u2013{last}"
    return f"{within}, {spot}" if within else spot


def chunks(blocks: Iterable[Block], size: int = SIZE, overlap: int = OVERLAP) -> Iterator[Chunk]:
    """Cut blocks into chunks of at most about `size` characters.

    A chunk ends where a section, slide or cell does, else at the end of a sentence, else between
    words. The next one begins with the last sentences of it again, if they are short: about
    `overlap` characters. Every character that is not white space is in some chunk.
    """
    if size < 2 or overlap < 0:  # noqa: PLR2004  # half of it must be a character
        raise ValueError("A chunk needs a size of at least 2, and an overlap of at least 0.")
    packer = _Packer(size, overlap)
    for block in blocks:
        yield from packer.begin(block)
        for piece in _pieces(block, size):
            yield from packer.add(piece)
    yield from packer.flush()


class _Piece(NamedTuple):
    """A sentence, or as much of one as fits."""

    text: str
    first: int | None
    last: int | None


class _Packer:
    """Puts pieces together until a chunk is full."""

    def __init__(self, size: int, overlap: int) -> None:
        self.size = size
        self.overlap = overlap
        self.block = Block("")
        self.pieces: list[_Piece] = []
        self.length = 0
        self.fresh = False  # whether there is a piece that is in no chunk yet

    def begin(self, block: Block) -> Iterator[Chunk]:
        """Go on with another block, in the same chunk if its place stays exact."""
        if self.pieces:
            if _goes_on(self.block, self.pieces[-1], block):
                self._join(block)
            else:
                yield from self.flush()
        self.block = block

    def add(self, piece: _Piece) -> Iterator[Chunk]:
        """Take a piece; white space alone is a border that nothing reaches across."""
        if piece.text.isspace():
            yield from self.flush()
            return
        if self.fresh and self.length + len(piece.text.rstrip()) > self.size:
            yield self._chunk()
            self._keep_overlap(self.size - len(piece.text))
        self.pieces.append(piece)
        self.length += len(piece.text)
        self.fresh = True

    def flush(self) -> Iterator[Chunk]:
        """Give what is left; what comes next does not overlap with it."""
        if self.fresh:
            yield self._chunk()
        self.pieces, self.length, self.fresh = [], 0, False

    def _chunk(self) -> Chunk:
        text = "".join(piece.text for piece in self.pieces)
        if blank := _BLANK_START.match(text):
            text = text[blank.end() :]
        first, last = self.pieces[0].first, self.pieces[-1].last
        return self.block._replace(text=text.rstrip(), first=first, last=last)

    def _join(self, block: Block) -> None:
        """End the last line, and have as many empty ones as there are between the blocks."""
        text, first, last = self.pieces[-1]
        gap = block.first - last if block.unit == "line" and block.first and last else 1
        joined = text.rstrip() + "\n" * max(gap, 1)
        self.pieces[-1] = _Piece(joined, first, last)
        self.length += len(joined) - len(text)

    def _keep_overlap(self, room: int) -> None:
        """Begin the next chunk with the last sentences of this one.

        The last one may be twice as long as the overlap: most are longer than a short overlap, and
        half a sentence is of no use.
        """
        kept: list[_Piece] = []
        length = 0
        for piece in reversed(self.pieces):
            most = self.overlap if kept else 2 * self.overlap
            if length + len(piece.text) > min(most, room):
                break
            kept.append(piece)
            length += len(piece.text)
        self.pieces, self.length, self.fresh = kept[::-1], length, False


def _goes_on(before: Block, end: _Piece, block: Block) -> bool:
    """Whether a block belongs into the chunk of the one before it, which ends with `end`."""
    section = (before.unit, before.within, before.heading)
    if section != (block.unit, block.within, block.heading) or block.unit in {"slide", "cell"}:
        return False
    if block.unit == "page" and _CLOSED.search(end.text[-20:]):
        return False  # only a sentence that runs over a page's end is worth two pages
    if block.first is None or end.last is None:
        return block.first is end.last
    return 0 <= block.first - end.last <= _NEAR


def _pieces(block: Block, size: int) -> Iterator[_Piece]:
    text, _, first, last, *_ = block
    if not text or text.isspace():
        return
    counts = block.unit == "line" and first is not None and last is not None
    line = first if counts and text.count("\n") == (last or 0) - (first or 0) else None
    start = 0
    for end in _borders(text, size):
        piece = text[start:end]
        if line is None:
            yield _Piece(piece, first, last)
        else:
            before = len(piece) - len(piece.lstrip())
            begins = line + piece.count("\n", 0, before)
            yield _Piece(piece, begins, line + piece.rstrip().count("\n"))
            line += piece.count("\n")
        start = end


def _borders(text: str, size: int) -> Iterator[int]:
    """Where each piece ends, none of them longer than `size`."""
    start = 0
    for match in chain(_END.finditer(text), (None,)):
        if match and not _ends_sentence(text, match):
            continue
        end = match.end() if match else len(text)
        while end - start > size:
            start = _cut(text, start, start + size)
            yield start
        if end > start:
            yield end
        start = end


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    stop = match.start()
    if text[stop] != "." or match[0].count("\n") > 1:
        return True
    return is_end(text, stop, match.end())


def _cut(text: str, start: int, limit: int) -> int:
    """The best place to cut before `limit`: a line end, a space, or else between characters."""
    low = start + (limit - start) // 2
    if (line_end := text.rfind("\n", low, limit)) >= 0:
        return line_end + 1
    if (space := max(text.rfind(space, low, limit) for space in _BETWEEN_WORDS)) >= 0:
        return space + 1
    cut = limit
    while cut > low and unicodedata.category(text[cut]).startswith("M"):
        cut -= 1  # an accent stays with its letter
    return cut if cut > low else limit
