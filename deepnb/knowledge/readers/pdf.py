"""PDF, page by page."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

from deepnb.chunks import Block
from deepnb.errors import MissingExtraError, UnreadableError
from deepnb.knowledge.readers.document import Document, measure, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

# PDFium may be used by one thread at a time, in the whole process. A generator can be closed by
# the garbage collector in the middle of anything, hence a lock that its holder may take again.
_PDFIUM = threading.RLock()

_HELD = 32 * 1024 * 1024  # bytes of a file that is read at once: asked piece by piece it is slower
_MOST_BOOKMARKS = 10_000
_NO_TITLE = re.compile(r"(?i)untitled|microsoft word - .*|.*\.(?:docx?|dvi|tex|indd|pdf|pptx?)|\W*")
# PDFium marks a hyphen at a line's end with a character that is none.
_HYPHEN = re.compile(r"[\ufffe\x02]|[-\u00ad]\n")
_WORD_BEFORE = re.compile(r"[^\W\d_]+\Z")
_WORD_AFTER = re.compile(r"[^\W\d_]+")
_LONGEST_WORD = 40


def read_pdf(file: BinaryIO, name: str) -> Document:
    """Read a PDF; its pages are numbered from 1."""
    if not measure(file):
        raise UnreadableError(name, "is empty: the file has no bytes. Get it again.")
    with _PDFIUM, closing(_open(file, name)) as pdf:
        found = pdf.get_metadata_value("Title")
        title = tidy(found.replace("\0", ""))
    remarks: list[str] = []
    blocks = _pages(file, name, remarks)
    return Document(name if _NO_TITLE.fullmatch(title) else title, "PDF", blocks, remarks)


def _open(file: BinaryIO, name: str) -> Any:
    try:
        from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped]  # no types
    except ImportError:
        raise MissingExtraError("pypdfium2", "'deepnb[documents]'") from None
    try:
        return PdfDocument(file.read() if measure(file) <= _HELD else file)
    except PdfiumError as error:
        if "assword" in str(error) or "ecurity" in str(error):
            reason = "is encrypted: open it, save a copy without its password, and add the copy."
        else:
            reason = "is broken: it cannot be opened as a PDF. Get it again, or print it to a PDF."
        raise UnreadableError(name, reason) from None


def _pages(file: BinaryIO, name: str, remarks: list[str]) -> Iterator[Block]:
    with _PDFIUM:
        pdf = _open(file, name)
        sections = _bookmarks(pdf)
        total = len(pdf)
    heading = ""
    empty: list[int] = []
    running = _RunningLines()
    try:
        for number in range(1, total + 1):
            with _PDFIUM:
                text = _text(pdf, number - 1)
            heading = sections.get(number, heading)
            if lines := running.without(_mended(text).split("\n")):
                yield Block("\n".join(lines), "page", number, number, "", heading)
            else:
                empty.append(number)
    finally:
        with _PDFIUM:
            pdf.close()
    if len(empty) == total:
        raise UnreadableError(
            name,
            "has no text: its pages are empty, broken or pictures, as if scanned. Run OCR "
            "(text recognition) on it, and add what that gives.",
        )
    if empty:
        pages = ", ".join(map(str, empty[:10])) + (", \u2026" if len(empty) > 10 else "")  # noqa: PLR2004
        remarks.append(f"{len(empty)} of {total} pages have no text (empty or scanned): {pages}")


def _text(pdf: Any, index: int) -> str:
    from pypdfium2 import PdfiumError

    try:
        with closing(pdf[index]) as page, closing(page.get_textpage()) as text:
            return str(text.get_text_bounded())
    except PdfiumError:  # a page that is broken does not sink the others
        return ""


def _bookmarks(pdf: Any) -> dict[int, str]:
    """The first heading of each page that has one in the table of contents."""
    found: dict[int, str] = {}
    for bookmark in islice(pdf.get_toc(), _MOST_BOOKMARKS):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None:
            found.setdefault(index + 1, tidy(bookmark.get_title()))
    return found


def _mended(text: str) -> str:
    """Plain line ends, and words that were broken at one put together again."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _HYPHEN.sub(_joint, plain).strip()


def _joint(hyphen: re.Match[str]) -> str:
    """What stands between the parts of a broken word: nothing, unless the hyphen belongs there.

    It does before a capital, and where the page has the same word with it in the middle of a line.
    """
    text, start, end = hyphen.string, hyphen.start(), hyphen.end()
    before = _WORD_BEFORE.search(text[max(0, start - _LONGEST_WORD) : start])
    after = _WORD_AFTER.match(text[end : end + _LONGEST_WORD])
    if not before or not after:
        return hyphen[0] if hyphen[0].endswith("\n") else "-"
    stays = not after[0][0].islower() or f"{before[0]}-{after[0]}" in text
    return "-" if stays else ""


class _RunningLines:
    """Leaves out what is printed at the top or bottom of one page after the other.

    Only a line that is exactly that of one of the last two pages, or the next page number, and
    only where there is more on the page: rather a running line too many than a lost one.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[str, str]] = [("", "")] * 2

    def without(self, lines: list[str]) -> list[str]:
        """The lines of the next page without those, or nothing if there is no text."""
        lines = lines if any(lines) else []
        if not lines:
            return []
        top, bottom = lines[0].strip(), lines[-1].strip()
        repeats = [_repeats(top, [page[0] for page in self._seen])]
        repeats += [_repeats(bottom, [page[1] for page in self._seen])]
        self._seen = [self._seen[1], (top, bottom)]
        kept = lines[repeats[0] : len(lines) - repeats[1]]
        return kept if any(kept) else lines


def _repeats(line: str, before: list[str]) -> bool:
    if line.isdecimal() and before[1].isdecimal():
        return int(line[:9]) == int(before[1][:9]) + 1
    return bool(line) and line in before and not line.isdecimal()
