"""Files as passages: what is worth quoting as one piece.

A passage is a paragraph, a list item, a table row with its header, a few lines of code. Its text
is always exactly what stands in the file; for a notebook, what stands there once JSON's escapes
are undone.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.models.offline.vocabulary import concepts
from deepnb.sentences import spans as sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deepnb.models.offline.results import Page

LONGEST = 600
_CODE_LINES = 6
_STRIDE = 40
OMITTED = "[…]"

_HEADING = re.compile(r"^#{1,6}\s+\S")
_UNDERLINE = re.compile(r"^([=\-~^*+\"'])\1{2,}\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|@\w+\{)\s*\S")
_TAG = re.compile(r"<[^<>]*>")
_FIRST_TAG = re.compile(r"\s*<[^<>]*>")
_BLOCK_TAG = re.compile(
    r"</?(?:p|div|li|ul|ol|h\d|tr|td|th|table|section|article|nav|footer|header|main|body|html|"
    r"head|title|meta|link|blockquote|pre|figure|figcaption|script|style|a)\b",
    re.IGNORECASE,
)
_UNSEEN = re.compile(r"<(script|style|nav|footer)\b", re.IGNORECASE)
_CODE = frozenset(
    """
    .c .cfg .cpp .go .ini .java .js .json .jsonl .py .r .rs .sh .toml .ts .yaml .yml
    """.split()  # noqa: SIM905  # a line of words is easier to read
)
_TABLES = frozenset({".csv", ".tsv"})


@dataclass(frozen=True)
class Passage:
    """A piece of a file, verbatim, and what stands over it.

    `place` is where it stands in a document that has no lines, such as "p. 12".
    """

    path: str
    first: int
    last: int
    text: str
    kind: str = "prose"
    heading: str = ""
    header: str = ""
    place: str = ""

    def is_part_of(self, other: Passage) -> bool:
        """Whether another passage of the same document has this one in it."""
        longer = len(self.text) < len(other.text)
        return longer and self.path == other.path and self.text in other.text

    @property
    def words(self) -> list[str]:
        """The terms of the text; of a web page, without its markup."""
        text = html.unescape(_TAG.sub(" ", self.text)) if self.kind == "html" else self.text
        return concepts(text)

    @property
    def context(self) -> list[str]:
        """The terms of what stands over it: heading, table header, file name."""
        return concepts(f"{self.heading} {self.header} {PurePosixPath(self.path).stem}")


def passages(page: Page, header: str = "") -> list[Passage]:
    """Cut a stretch of a file into passages.

    Args:
        page: The stretch.
        header: The first line of the file, for tables whose stretch starts further down.
    """
    suffix = PurePosixPath(page.path).suffix.lower()
    numbered = list(enumerate(page.lines, page.first))
    if suffix in _TABLES:
        return list(_rows(page, numbered, header))
    if suffix == ".ipynb":
        return list(_cells(page.path, numbered))
    if suffix in (".html", ".htm", ".xhtml"):
        return list(_tags(page.path, numbered))
    if suffix in _CODE:
        return list(_code(page.path, numbered))
    return list(_prose(page.path, numbered))


def _passage(path: str, lines: list[tuple[int, str]], kind: str, heading: str = "") -> Passage:
    text = "\n".join(text for _, text in lines)
    return Passage(path, lines[0][0], lines[-1][0], text, kind, heading)


def _prose(path: str, numbered: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    heading = ""
    for block in _blocks(numbered):
        if _HEADING.match(block[0][1]) or _UNDERLINE.match(block[-1][1]):
            heading = block[0][1]
        elif _is_table(block[0][1]):
            yield from _table(path, block, heading)
        else:
            yield _passage(path, block, "prose", heading)


def _table(path: str, block: list[tuple[int, str]], heading: str) -> Iterator[Passage]:
    """The rows of a Markdown table; a stretch that starts further down has no header."""
    has_header = len(block) > 1 and not concepts(block[1][1])  # the rule under it has no words
    header = block[0][1] if has_header else ""
    for number, line in block[2:] if has_header else block:
        yield Passage(path, number, number, line, "row", heading, header)


def _blocks(numbered: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Lines that belong together: headings, tables, list items, paragraphs."""
    block: list[tuple[int, str]] = []
    for number, line in numbered:
        parts = not line.strip() or _HEADING.match(line) or _ITEM.match(line)
        if block and (parts or _is_table(line) != _is_table(block[-1][1])):
            yield block
            block = []
        if line.strip():
            block.append((number, line))
        if block and (_HEADING.match(line) or _UNDERLINE.match(line)):
            yield block
            block = []
    if block:
        yield block


def _is_table(line: str) -> bool:
    return line.lstrip().startswith("|")


def _rows(page: Page, numbered: list[tuple[int, str]], header: str) -> Iterator[Passage]:
    if page.first == 1 and numbered:
        header = numbered[0][1]
    for number, line in numbered:
        if number > 1 and line.strip():
            yield Passage(page.path, number, number, line, "row", "", header)


def _code(path: str, numbered: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    block: list[tuple[int, str]] = []
    for number, line in numbered:
        if block and (not line.strip() or len(block) == _CODE_LINES):
            yield _passage(path, block, "code")
            block = []
        if line.strip():
            block.append((number, line))
    if block:
        yield _passage(path, block, "code")


def _cells(path: str, numbered: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """The strings of a notebook's sources and outputs, one per line as Jupyter saves them."""
    run: list[tuple[int, str]] = []
    for number, line in [*numbered, (0, "")]:
        text = _json_string(line)
        if text is not None:
            run += [(number, part) for part in (text.split("\n") if text else [""])]
        elif run:
            yield from (replace(each, kind="cell") for each in _prose(path, run))
            run = []


def _json_string(line: str) -> str | None:
    bare = line.strip().removesuffix(",")
    if not bare.startswith('"'):
        return None
    try:
        value = json.loads(bare)
    except ValueError:
        return None
    return value.removesuffix("\n") if isinstance(value, str) else None


def _tags(path: str, numbered: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """The text of a web page between its block tags, without menus, footers and scripts."""
    unseen, heading = "", ""
    block: list[tuple[int, str]] = []
    for number, line in [*numbered, (0, "<p>")]:
        opens = _UNSEEN.search(line)
        if opens and not unseen:
            unseen = opens[1]
        hidden = bool(unseen)
        if unseen and re.search(rf"</{unseen}\s*>", line, re.IGNORECASE):
            unseen = ""
        if block and (hidden or not line.strip() or _BLOCK_TAG.match(line.lstrip())):
            passage = _inner(path, block, heading)
            if passage and re.match(r"\s*<h\d", block[0][1], re.IGNORECASE):
                heading = passage.text
            elif passage:
                yield passage
            block = []
        if not hidden and line.strip():
            block.append((number, line))


def _inner(path: str, block: list[tuple[int, str]], heading: str) -> Passage | None:
    while block and not _TAG.sub("", block[0][1]).strip():
        block = block[1:]
    while block and not _TAG.sub("", block[-1][1]).strip():
        block = block[:-1]
    if not block:
        return None
    whole = _passage(path, block, "html", heading)
    text = _without_edge_tags(whole.text)
    return replace(whole, text=text.strip()) if text.strip() else None


def shorten(passage: Passage, wanted: frozenset[str]) -> Passage:
    """Cut a long passage down to the run of sentences that says most about the wanted terms."""
    text = passage.text
    if len(text) <= LONGEST:
        return passage
    start, end = _best_run(text, wanted)
    piece = text[start:end].strip()
    start = text.index(piece, start)
    before = f"{OMITTED} " if start else ""
    after = f" {OMITTED}" if start + len(piece) < len(text.rstrip()) else ""
    first, last = passage.first, passage.last
    if passage.kind not in ("cell", "html"):  # whose lines are not those of the file
        first += text.count("\n", 0, start)
        last = first + piece.count("\n")
    return replace(passage, text=f"{before}{piece}{after}", first=first, last=last)


def _best_run(text: str, wanted: frozenset[str]) -> tuple[int, int]:
    """The run of whole sentences, not too long, that has most of the wanted terms."""
    all_spans = spans(text)
    best, most, earliest = (0, LONGEST), -1, 0
    for index, (start, _) in enumerate(all_spans):
        if start < earliest:
            continue
        earliest = start + _STRIDE
        end = max(stop for _, stop in all_spans[index : index + LONGEST] if stop - start <= LONGEST)
        have = len(wanted.intersection(concepts(text[start:end])))
        if have > most:
            best, most = (start, end), have
    return best


def spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence starts and ends; a sentence without end is cut into pieces."""
    found: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        while end - start > LONGEST:
            cut = text.rfind(" ", start, start + LONGEST) + 1 or start + LONGEST
            found.append((start, cut))
            start = cut  # noqa: PLW2901  # what is left of it
        found.append((start, end))
    return found


def _without_edge_tags(text: str) -> str:
    """What is between the tags at both ends, in a time that grows with the text."""
    start = 0
    while match := _FIRST_TAG.match(text, start):
        start = match.end()
    text = text[start:].strip()
    while text.endswith(">") and _TAG.fullmatch(text, begin := text.rfind("<")) and begin >= 0:
        text = text[:begin].rstrip()
    return text
