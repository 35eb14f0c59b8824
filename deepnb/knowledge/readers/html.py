"""Web pages: what a person reads of them, and on which lines of the file it stands."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from deepnb.chunks import Block
from deepnb.errors import MissingExtraError, UnreadableError
from deepnb.knowledge.readers.document import Document, Headings, refuse_larger, tidy
from deepnb.knowledge.readers.text import encoding_by_mark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

LARGEST = 32 * 1000 * 1000
_LINES_KNOWN = 65535  # the parser counts no further
_START = 4096
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNREAD = _words(
    "script style noscript template svg title meta link base nav aside button select textarea "
    "iframe object canvas dialog menu audio video map"
)
_OUTSIDE = frozenset({"header", "footer"})  # these count inside an article, and not around it
_UNREAD_ROLES = _words("navigation search menu menubar banner contentinfo complementary")
_BLOCKS = _words(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary "
    "table tbody tfoot thead tr ul"
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol"})
_SEPARATORS = {"td": " | ", "th": " | ", "br": " "}
_LEAST_LINKS, _LINKS_SEEN, _LONGEST_LINK = 4, 200, 40
_LEAST_MAIN = 250  # characters; a main part with fewer is filled by scripts, or is none


def read_html_file(file: BinaryIO, name: str) -> Document:
    """Read a file of HTML."""
    refuse_larger(file, name, LARGEST)
    return read_html(file.read(), name)


def read_html(data: bytes, address: str, charset: str | None = None) -> Document:
    """Read a page as it was sent.

    Args:
        data: The bytes.
        address: Its name or address, for errors and for a page without a title.
        charset: The encoding that the server told.
    """
    if len(data) > LARGEST:
        raise UnreadableError(address, "is too large a page to be read. Save the part you need.")
    tree = _parse(_decode(data, charset), address)
    blocks = iter(()) if tree is None else _Walk(tree).blocks()
    if (first := next(blocks, None)) is None:
        raise UnreadableError(
            address,
            "has no text to read. If its text is put there by scripts, open it in a browser, "
            "save or print it, and add that.",
        )
    title = tidy(tree.findtext(".//title") or tree.findtext(".//h1") or "")
    return Document(title or address, "HTML", chain((first,), blocks))


def _decode(data: bytes, charset: str | None) -> str:
    declared = _CHARSET.search(data[:_START])
    told = [encoding_by_mark(data), charset, declared[1].decode() if declared else None]
    for encoding in [*told, "utf-8"]:
        if encoding:
            try:
                return data.decode(encoding)
            except (LookupError, UnicodeError, ValueError):
                continue
    return data.decode("cp1252", errors="replace")


def _parse(text: str, address: str) -> Any:
    try:
        from lxml import etree  # type: ignore[import-untyped]  # it ships no types
    except ImportError:
        raise MissingExtraError("lxml", "lxml") from None
    clean = text.replace("\0", " ").replace("\r\n", "\n").replace("\r", "\n")
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    try:
        tree = etree.fromstring(clean.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        tree = None
    if parser.error_log.filter_from_fatals():  # then what comes after it would be missing
        raise UnreadableError(
            address,
            "cannot be read whole: its elements are nested thousands deep. Open it in a browser, "
            "print it to a PDF, and add that.",
        )
    return tree


class _Walk:
    """One way through a page, in reading order, that knows on which line it is."""

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._main = _main_part(tree)
        self._line = 1
        self._first = 1  # the line on which what is held begins
        self._held: list[str] = []
        self._headings = Headings()
        self._open: Counter[str] = Counter()  # how many elements of each kind are around here
        # Whether each of them is left out; around a main part, everything is.
        self._unread = [self._main is not None]

    def blocks(self) -> Iterator[Block]:
        """The text of each paragraph, list item, row of a table and so on."""
        from lxml import etree

        for event, node in etree.iterwalk(self._tree, events=("start", "end", "comment", "pi")):
            if event == "start":
                yield from self._enter(node)
            elif event == "end":
                yield from self._leave(node)
            else:
                self._line += (node.text or "").count("\n")
                self._hold(node.tail)
        yield from self._flush()

    def _enter(self, node: Any) -> Iterator[Block]:
        if node.tag in _BLOCKS:
            yield from self._flush()
        known = node.sourceline or 0
        if self._line < known < _LINES_KNOWN:  # a tag can have several lines
            if self._held:
                self._held.append("\n" * (known - self._line))
            self._line = known
        self._unread.append(node is not self._main and (self._unread[-1] or self._skips(node)))
        self._open[node.tag] += 1
        if self._held and not self._unread[-1]:
            self._held.append(_SEPARATORS.get(node.tag, ""))
        self._hold(node.text)

    def _leave(self, node: Any) -> Iterator[Block]:
        if node.tag in _LEVELS and self._held:
            self._headings.enter(_LEVELS[node.tag], "".join(self._held))
        if node.tag in _BLOCKS:
            yield from self._flush()
        self._unread.pop()
        self._open[node.tag] -= 1
        self._hold(node.tail)

    def _hold(self, text: str | None) -> None:
        if not text:
            return
        if not self._unread[-1]:
            if not self._held:
                self._first = self._line
            self._held.append(text)
        self._line += text.count("\n")

    def _flush(self) -> Iterator[Block]:
        text = "".join(self._held)
        self._held = []
        if not text or text.isspace():
            return
        first = self._first + text.count("\n", 0, len(text) - len(text.lstrip()))
        lines = text.strip().split("\n")
        if not self._open["pre"]:
            lines = [" ".join(line.split()) for line in lines]
        last = first + len(lines) - 1
        block = Block("\n".join(lines), heading=self._headings.path)
        if last < _LINES_KNOWN:
            block = block._replace(unit="line", first=first, last=last)
        yield block

    def _skips(self, node: Any) -> bool:
        tag, get = node.tag, node.get
        around = self._main is None and not self._open["article"]
        nested = self._open["ul"] or self._open["ol"]
        return (
            tag in _UNREAD
            or get("role") in _UNREAD_ROLES
            or get("aria-hidden") == "true"
            or get("hidden") is not None
            or bool(_HIDDEN.search(get("style") or ""))
            or (around and tag in _OUTSIDE)
            or (around and tag in _LISTS and not nested and _is_menu(node))
        )


def _main_part(tree: Any) -> Any:
    """The element that says it is what the page is about, if it has the text for it."""
    found = tree.xpath("(//main | //*[@role='main'])[1]") or tree.xpath("//article")
    return found[0] if len(found) == 1 and _length(found[0]) >= _LEAST_MAIN else None


def _is_menu(node: Any) -> bool:
    """Whether a list is nothing but short links: at least four, and hardly a word beside them."""
    links = list(islice(node.iter("a"), _LINKS_SEEN))
    inside = sum(_length(link) for link in links)
    if len(links) < _LEAST_LINKS or inside > _LONGEST_LINK * len(links):
        return False
    return len(links) == _LINKS_SEEN or inside > 0.9 * _length(node)


def _length(node: Any) -> int:
    return sum(len(text.strip()) for text in node.itertext())
