"""What a reader gives, and what it may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deepnb.errors import UnreadableError
from deepnb.files.text import size_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from deepnb.chunks import Block

_LONGEST_TITLE = 200


@dataclass
class Document:
    """What is in a document: its text comes block by block, once, and is not held in memory.

    Some things show only while the blocks are read: then these raise an UnreadableError, or leave
    a remark on what could not be read of a document that otherwise could.
    """

    title: str
    kind: str
    blocks: Iterator[Block]
    remarks: list[str] = field(default_factory=list)


def tidy(text: str, most: int = _LONGEST_TITLE) -> str:
    """A title or heading on one line, of bounded length."""
    return " ".join(text[: 10 * most].split())[:most]


def measure(file: BinaryIO) -> int:
    """The size of an open file, which is left at its start."""
    size = file.seek(0, 2)
    file.seek(0)
    return size


def refuse_larger(file: BinaryIO, name: str, most: int) -> None:
    """Raise an UnreadableError for a file of more than `most` bytes."""
    if (size := measure(file)) > most:
        raise UnreadableError(
            name,
            f"is too large: {size_in_words(size)}, and at most {size_in_words(most)} of such a "
            "file are read. Split it, or add the part that matters.",
        )


class Headings:
    """The headings above a line, from the outermost in."""

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []

    def enter(self, level: int, text: str) -> str:
        """Begin a section, and give its path."""
        self._above = [(depth, title) for depth, title in self._above if depth < level]
        if title := tidy(text):
            self._above.append((level, title))
        return self.path

    @property
    def path(self) -> str:
        """The section, after those it is in."""
        return tidy(" \u203a ".join(title for _, title in self._above))
