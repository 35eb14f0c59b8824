"""Text for a terminal: in colour where there is one, and never such that it steers it."""

from __future__ import annotations

import os
import re
import shutil
import textwrap
import unicodedata
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TextIO

from deepnb.middleware.diffs import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NARROWEST, _WIDEST = 20, 100
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_STEERS = re.compile(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
_FENCED_DIFF = re.compile(
    r"^(?P<fence>`{3,})diff\n(?P<lines>.*?)\n(?P=fence)$", re.DOTALL | re.MULTILINE
)


class Paint:
    """Markdown and changes for what a stream is connected to.

    Args:
        stream: Where it will be printed.
    """

    def __init__(self, stream: TextIO) -> None:
        self.is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._colour = self.is_terminal and "NO_COLOR" not in os.environ
        self._stream = stream

    @property
    def columns(self) -> int:
        """How wide the terminal is now."""
        try:
            # Not that of standard output, which may be a file while the terminal is elsewhere.
            here = os.get_terminal_size(self._stream.fileno()).columns
        except OSError:  # it is no terminal
            here = 0
        asked = os.environ.get("COLUMNS", "")
        return (
            (int(asked) if asked.isdecimal() else 0) or here or shutil.get_terminal_size().columns
        )

    @property
    def _width(self) -> int:
        return max(_NARROWEST, min(self.columns, _WIDEST))

    def _code(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def bold(self, text: str) -> str:
        """Emphasise."""
        return self._code("1", text)

    def dim(self, text: str) -> str:
        """Put into the background."""
        return self._code("2", text)

    def wrapped(self, text: str) -> str:
        """Break into lines that fit the terminal."""
        return textwrap.fill(text, self._width, break_long_words=False, break_on_hyphens=False)

    def markdown(self, text: str) -> str:
        """Wrap an answer; quotes stay quotes, and what would steer the terminal is left out."""
        lines: list[str] = []
        for kind, rows in groupby(_by_kind(harmless(text).split("\n")), key=itemgetter(0)):
            show = {"code": self._code_block, "quote": self._quote, "text": self._rows}[kind]
            lines += show([row for _, row in rows])
        return "\n".join(lines)

    def changes(self, text: str) -> str:
        """Show what an approval is about: its diff in colour, and nothing that cannot be seen."""
        shown: list[str] = []
        end = 0
        for match in _FENCED_DIFF.finditer(text):
            lines = match["lines"].split("\n")
            shown += [*_visible_lines(text[end : match.start()])]
            shown += [self.dim(visible(line)) for line in lines[:2]]  # the header
            shown += [self._change(visible(line)) for line in lines[2:]]
            end = match.end()
        return "\n".join([*shown, *_visible_lines(text[end:])])

    def _change(self, line: str) -> str:
        code = {"+": "32", "-": "31", "@": "2"}.get(line[:1])
        return self._code(code, line) if code else line

    def _code_block(self, rows: list[str]) -> list[str]:
        return [self._code("36", row) for row in rows]

    def _quote(self, rows: list[str]) -> list[str]:
        lines = [row[1:].removeprefix(" ") for row in rows]
        if lines[0].startswith("```"):  # a fence is for renderers; its lines stay as they are
            lines = [line for line in lines if not line.startswith("```")]
        else:
            lines = self._rewrapped([line.strip() for line in lines])
        return [f"  {self._code('36', '>')} {line}" for line in lines]

    def _rewrapped(self, lines: list[str]) -> list[str]:
        """Fit the lines of a paragraph; a short first line is a heading, and stays one."""
        is_heading = len(lines) > 1 and len(lines[0]) < len(lines[1]) / 2
        head, body = (lines[:1], lines[1:]) if is_heading else ([], lines)
        width = self._width - 4
        return [*textwrap.wrap(" ".join(head), width), *textwrap.wrap(" ".join(body), width)]

    def _rows(self, rows: list[str]) -> Iterator[str]:
        for row in rows:
            if row.startswith("— "):
                yield from (self.dim(f"    {line}") for line in self._wrapped(_plain(row)))
            elif row.startswith("#") or (row.startswith("**") and len(row) <= self._width):
                yield from map(self.bold, self._wrapped(_plain(row.lstrip("#").lstrip())))
            elif row.lstrip().startswith("|"):
                yield row  # a table's columns would not survive being wrapped
            else:
                yield from self._wrapped(_plain(row))

    def _wrapped(self, row: str) -> list[str]:
        """Fit a line; what follows an item's mark stays behind it."""
        mark = _ITEM.match(row)
        indent = len(mark[0]) if mark else 0
        first = mark[0] if mark else ""
        rest = row[indent:].strip()
        return textwrap.wrap(
            rest, self._width, initial_indent=first, subsequent_indent=" " * indent
        ) or [""]


def _visible_lines(text: str) -> Iterator[str]:
    """The lines between two blocks."""
    return map(visible, text.removeprefix("\n").removesuffix("\n").split("\n") if text else ())


def _by_kind(rows: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Tell code and quotes from the rest; the fences round code are for renderers."""
    fence = ""
    for row in rows:
        mark = _FENCE.match(row)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            else:
                yield "code", row
        elif mark:
            fence = mark[1]
        else:
            yield "quote" if row.startswith(">") else "text", row


def _plain(row: str) -> str:
    """Leave out the marks of emphasis and code, but no sign of multiplication."""
    bare = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"\1", row)
    return re.sub(r"\*(?=\S)([^*]+)(?<=\S)\*", r"\1", bare).replace("`", "")


def harmless(text: str) -> str:
    """Leave out what would steer a terminal, or turn the order of what it shows."""
    return _STEERS.sub("", text)


def width(text: str) -> int:
    """How many columns of a terminal a line takes: some characters take two, accents none."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def fitted(line: str, columns: int) -> str:
    """Cut a line to `columns`."""
    if width(line) <= columns:
        return line
    while width(line) >= columns:
        line = line[:-1]
    return f"{line}…"
