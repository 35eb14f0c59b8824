"""Plain text, Markdown, reStructuredText, LaTeX, source code: whatever has lines."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from deepnb.chunks import Block
from deepnb.errors import UnreadableError
from deepnb.files.text import decode, kind_of_content
from deepnb.knowledge.readers.document import Document, Headings, refuse_larger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

LARGEST = 200 * 1000 * 1000
_START = 8192
_LONGEST_LINE = 64 * 1024  # what is longer is given in pieces, all with the same number
_LONGEST_BLOCK = 16 * 1024

# The longer marks first: that of UTF-32 begins like that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_HASHES = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+:.<>_])\1{2,}[ \t]*")
_MARKDOWN_LINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*\Z")
_IS_ITEM = re.compile(r"\s*(?:[-*+>|]|\d+[.)])")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_LATEX = re.compile(r"\s*\\(chapter|section|subsection|subsubsection)\*?\{([^{}]{1,200})\}")
_LATEX_LEVELS = {"chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}

Line = tuple[int, str]
Heading = tuple[int, str]
Rule = Callable[[str, str], Heading | None]
"""Given a line and the one after it: the level and text of the heading that it is."""


def read_text(file: BinaryIO, name: str, kind: str = "Text") -> Document:
    """Read lines; `kind` decides what a heading looks like."""
    rule = _RULES[kind]() if kind in _RULES else _no_heading
    blocks = sections(lines(file, name), rule)
    first = next(blocks, None)
    if first is None:
        raise UnreadableError(name, "has no text: there are only spaces and empty lines in it.")
    return Document(first.heading or name, kind, chain((first,), blocks))


def sections(numbered: Iterable[Line], heading: Rule) -> Iterator[Block]:
    """Put lines together as long as none is empty and no heading comes."""
    headings = Headings()
    held: list[str] = []
    length = 0
    number = 0
    for (here, line), (_, following) in pairwise(chain(numbered, ((0, ""),))):
        found = heading(line, following)
        if held and (found or not line.strip() or here == number or length > _LONGEST_BLOCK):
            yield _block(held, number, headings)
            held, length = [], 0
        if found:
            headings.enter(*found)
        if line.strip():
            held.append(line)
            length += len(line)
        number = here
    if held:
        yield _block(held, number, headings)


def _block(held: list[str], last: int, headings: Headings) -> Block:
    first = last - len(held) + 1
    return Block("\n".join(held), "line", first, last, "", headings.path)


def lines(file: BinaryIO, name: str) -> Iterator[Line]:
    """The lines of a file with their numbers, decoded, in bounded memory.

    Raises:
        UnreadableError: If it is too large, empty or not text; at once, before the first line.
    """
    refuse_larger(file, name, LARGEST)
    start = file.read(_START)
    file.seek(0)
    encoding = encoding_by_mark(start)
    if not start:
        raise UnreadableError(name, "is empty: there is nothing to read in it.")
    if not encoding and (kind := kind_of_content(start)):
        raise UnreadableError(
            name,
            f"is not text, whatever its name says: it looks like this: {kind}. Give it the ending "
            "of what it is, or leave it out.",
        )
    return _numbered(file, encoding)


def encoding_by_mark(start: bytes) -> str | None:
    """The encoding that a byte order mark tells, if there is one."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def _numbered(file: BinaryIO, encoding: str | None) -> Iterator[Line]:
    number = 1
    for line in _decoded(file, encoding):
        yield number, line.rstrip("\r\n").replace("\0", " ")
        number += line.endswith("\n")


def _decoded(file: BinaryIO, encoding: str | None) -> Iterator[str]:
    if encoding:
        with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as text:
            while line := text.readline(_LONGEST_LINE):
                yield line
        return
    rest = b""
    while raw := rest + file.readline(_LONGEST_LINE):
        rest = b"" if raw.endswith(b"\n") else _unfinished(raw)
        yield decode(raw[: len(raw) - len(rest)])
        if len(raw) == len(rest):  # nothing but the beginning of a character: the file ends here
            yield decode(rest)
            return


def _unfinished(raw: bytes) -> bytes:
    """The bytes at the end that begin a character whose other bytes were not read yet."""
    for back in range(1, min(4, len(raw)) + 1):
        byte = raw[-back]
        if byte < 0x80:  # noqa: PLR2004  # ASCII
            return b""
        if byte >= 0xC0:  # noqa: PLR2004  # the first byte of several
            length = 2 + (byte >= 0xE0) + (byte >= 0xF0)  # noqa: PLR2004
            return raw[-back:] if length > back else b""
    return b""


def _no_heading(line: str, following: str) -> None:
    """Plain text and source code have none that could be told from other lines."""


def markdown_rule() -> Rule:
    """Headings as Markdown has them, but not inside code or before the text begins."""
    fence = ""
    begun = False

    def heading(line: str, following: str) -> Heading | None:
        nonlocal fence, begun
        before, begun = begun, True
        mark = "---" if line.rstrip() == "---" and (fence == "---" or not before) else ""
        if found := _FENCE.match(line):
            mark = found[1]
        if mark and fence in {"", mark}:
            fence = "" if fence else mark
        if mark or fence:
            return None
        if hashes := _HASHES.fullmatch(line):
            return len(hashes[1]), hashes[2].rstrip("# \t")
        if line.strip() and not _IS_ITEM.match(line) and (under := _MARKDOWN_LINE.match(following)):
            return (1 if under[0][0] == "=" else 2), line
        return None

    return heading


def _underline_rule() -> Rule:
    """Headings as reStructuredText has them: the first kind of line under one is the outermost."""
    known: list[str] = []

    def heading(line: str, following: str) -> Heading | None:
        under = _UNDERLINE.fullmatch(following)
        if not under or not line.strip() or len(following.rstrip()) < len(line.strip()):
            return None
        if _UNDERLINE.fullmatch(line):
            return None
        if under[1] not in known:
            known.append(under[1])
        return known.index(under[1]) + 1, line

    return heading


def _latex_rule() -> Rule:
    def heading(line: str, following: str) -> Heading | None:
        found = _LATEX.match(line)
        return (_LATEX_LEVELS[found[1]], found[2]) if found else None

    return heading


_RULES: dict[str, Callable[[], Rule]] = {
    "Markdown": markdown_rule,
    "reStructuredText": _underline_rule,
    "LaTeX": _latex_rule,
}
