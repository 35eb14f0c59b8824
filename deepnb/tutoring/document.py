"""A seminar document: Markdown → rows of an argument, and back.

    ## Thesis          ## Clause 1                ## Refutation    ## Reply    ## Conclusion
    A claim.           A reason.                  …                …           …
                       **Definition:** A term is …
                       **Evidence:** … [[File title]]

Headings may be of any level and wording that says which part it is ("First premise", "Objections"),
and a paragraph may say it itself ("Thesis: …", "**Reply.** …"). What stands under no such heading
belongs to no part and is left out; so is code. Whatever the text is, it is read up to a bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from deepnb.citations.marks import blocks
from deepnb.events import plain
from deepnb.tutoring.citing import cited
from deepnb.tutoring.key_terms import is_definition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["thesis", "clause", "definition", "evidence", "refutation", "reply", "conclusion"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_LONGEST, _MOST_ROWS = 100_000, 500
_PARAGRAPH = 7  # deeper than any heading
_NAMES: dict[Kind, str] = {
    "thesis": r"thesis|claim|position|proposition",
    "clause": r"clauses?|premis\w{1,2}s?|reasons?|points?|arguments?|grounds|claims",
    "definition": r"definitions?|terms?|glossary|terminology",
    "evidence": r"evidence|support|sources?|examples?|data|citations?|references?|quotes?",
    "refutation": r"refutations?|objections?|counter-?\s?arguments?|counter-?\s?claims?|"
    r"counter-?\s?points?|opposing views?|antithesis|other side|steel-?\s?man",
    "reply": r"reply|replies|responses?|rebuttals?|answers?|rejoinders?",
    "conclusion": r"conclusions?|closing|synthesis",
}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()  # noqa: SIM905  # easier to read
_ROMAN = "i ii iii iv v vi vii viii ix x".split()  # noqa: SIM905  # the same
_NAME = "|".join(f"(?P<{kind}>{names})" for kind, names in _NAMES.items())
_LABEL = re.compile(
    rf"(?i)(?:(?:\d{{1,2}}|[ivx]{{1,4}})[.)]\s+)?(?:(?:the|my|our|main|central|key|working|supporting|strongest|"
    rf"steel-?manned|(?P<ordinal>{'|'.join(_ORDINALS)}))\s+){{0,3}}(?:{_NAME})"
    rf"(?:\s+(?P<number>\d{{1,3}}|{'|'.join(_ROMAN)})\b)?"
)
_WORDY: dict[Kind, re.Pattern[str]] = {
    "refutation": re.compile(rf"(?i)\b(?:{_NAMES['refutation']}|against)\b"),
    "reply": re.compile(rf"(?i)\b(?:{_NAMES['reply']})\b"),
    "conclusion": re.compile(rf"(?i)\b(?:{_NAMES['conclusion']})\b"),
    "evidence": re.compile(rf"(?i)\b(?:{_NAMES['evidence']})\b"),
}
_MOST_WORDS = 8  # of a heading that names a part among other words
_BOLD = re.compile(
    r"(?P<sign>\*{1,3}|_{1,3})(?P<inner>[^*_\n]{1,60})(?P=sign)(?P<rest>.*)", re.DOTALL
)
_HARMLESS = re.compile(r"[^\W\d_][\w'\u2019]*(?:[ ,][^\n]*)?\Z|\[\[")
"""A text that begins no block of Markdown but a paragraph, and has no label."""


class Row(NamedTuple):
    """A paragraph of an argument.

    Attributes:
        kind: Which part it is of.
        text: As it is written, in one line.
        citations: The titles it cites.
        line: Where it begins in the document, from 1; 0 if it is from none.
        clause: Which clause it belongs to, from 1; None outside of clauses.
    """

    kind: Kind
    text: str
    citations: tuple[str, ...] = ()
    line: int = 0
    clause: int | None = None


@dataclass(frozen=True)
class Argument:
    """What a document argues; `is_whole` is false if it was too long to be read to its end."""

    rows: tuple[Row, ...] = ()
    is_whole: bool = True

    def of(self, *kinds: Kind, clause: int | None = None) -> list[Row]:
        """The rows of some parts, of one clause or of all."""
        return [r for r in self.rows if r.kind in kinds and clause in (None, r.clause)]

    def text(self, *kinds: Kind) -> str:
        """What some parts say."""
        return "\n".join(row.text for row in self.of(*kinds))

    @property
    def clauses(self) -> list[int]:
        """The numbers of the clauses, in their order."""
        return list(dict.fromkeys(row.clause for row in self.rows if row.clause is not None))


@dataclass(frozen=True)
class _Part:
    """Where in the document we are.

    Attributes:
        kind: Of the rows to come; None outside of all parts.
        level: Of its heading.
        clause: The number of the clause.
        each: Whether it holds several clauses: items, paragraphs or headings below its own.
        headed: Whether the clause has a heading, so that a paragraph begins no other.
        begun: Whether the clause has a row.
    """

    kind: Kind | None = None
    level: int = 0
    clause: int | None = None
    each: bool = False
    headed: bool = False
    begun: bool = False


class _Block(NamedTuple):
    text: str
    line: int
    level: int
    is_quote: bool


class _Label(NamedTuple):
    kind: Kind
    number: int | None
    is_plural: bool = False
    rest: str = ""


def parse(text: str) -> Argument:
    """Read a document; what cannot be understood is left out."""
    whole = plain(text).replace("\0", "\ufffd")
    reader = _Reader()
    for block in _blocks(whole[:_LONGEST]):
        reader.take(block)
    rows = tuple(reader.rows[:_MOST_ROWS])
    return Argument(rows, len(whole) <= _LONGEST and len(reader.rows) <= _MOST_ROWS)


def write(rows: Iterable[Row]) -> str:
    """Write rows as a document that `parse` reads as the same rows.

    A citation that a row has and its text has not is added to the text.
    """
    parts: list[str] = []
    for (kind, clause), some in groupby(rows, _place):
        title = f"Clause {clause}" if kind == "clause" and clause else _TITLES[kind]
        parts.append(f"## {title}")
        for number, row in enumerate(some):
            text = _with_citations(row)
            is_first = number == 0 and row.kind == kind
            named = f"{row.kind.capitalize()} {row.clause}" if row.kind == "clause" else ""
            bare = is_first and _HARMLESS.match(text) and _label(text) is None
            parts.append(text if bare else f"**{named or row.kind.capitalize()}:** {text}")
    return "\n\n".join(parts) + "\n" if parts else ""


_TITLES = {kind: kind.capitalize() for kind in KINDS} | {
    "definition": "Definitions",
    "evidence": "Sources",
}
"""Of parts; these two in the plural, by which they belong to no clause."""


def place_of(kind: Kind, clause: int | None) -> tuple[int, int, int]:
    """Where a part stands in a seminar, to sort by."""
    within = kind in ("clause", "definition", "evidence")
    place = KINDS.index(kind)
    return (1 if within else place, (clause or 0) if within else 0, place)


def _place(row: Row) -> tuple[Kind, int | None]:
    is_within = row.kind in ("clause", "definition", "evidence") and row.clause is not None
    return ("clause", row.clause) if is_within else (row.kind, None)


def _with_citations(row: Row) -> str:
    text = _one_line(plain(row.text))
    have = {each.title for each in cited(text)}
    lacking = [f"[[{title}]]" for title in row.citations if title not in have]
    return " ".join([text, *lacking])


def _one_line(text: str) -> str:
    return " ".join(text.replace("\0", "\ufffd").split())


def _blocks(text: str) -> Iterator[_Block]:
    level, quotes = 0, 0
    for token in blocks(text):
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "heading_close":
            level = 0
        elif token.type.startswith("blockquote"):
            quotes += token.nesting
        elif token.type == "inline" and token.content.strip():
            line = token.map[0] + 1 if token.map else 0
            yield _Block(_one_line(token.content), line, level, quotes > 0)


class _Reader:
    """Goes through the blocks of a document, and knows in which part it is."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._part = _Part()
        self._clauses = 0

    def take(self, block: _Block) -> None:
        label = _label(block.text) or (_wordy(block.text) if block.level else None)
        if block.level:
            self._head(block, label)
        elif label is None:
            self._add(block)
        elif not label.rest:
            self._open(label, _PARAGRAPH)
        elif label.kind in ("definition", "evidence"):
            self._row(label.kind, label.rest, block)
        else:
            self._open(label, _PARAGRAPH)
            self._add(block._replace(text=label.rest))

    def _head(self, block: _Block, label: _Label | None) -> None:
        if label:
            self._open(label, block.level)
            if label.rest:
                self._add(block._replace(text=label.rest))
        elif block.level > self._part.level and self._part.kind:
            if self._part.each:  # "Clauses", and a heading below it for each
                self._begin_clause(None)
                self._part = replace(self._part, kind="clause", headed=True, begun=True)
                self._row("clause", block.text, block)
        else:
            self._part = _Part()

    def _open(self, label: _Label, level: int) -> None:
        before = self._part
        if label.kind in ("definition", "evidence"):
            if before.clause and (level > before.level or not label.is_plural):
                # All else stays that of the clause, so that the next part is within it as well.
                self._part = replace(before, kind=label.kind, clause=label.number or before.clause)
            else:
                self._part = _Part(label.kind, level, label.number)
        elif label.kind != "clause":
            self._part = _Part(label.kind, level)
        elif label.is_plural:
            self._part = _Part("clause", level, each=True)
        else:
            self._part = _Part("clause", level)
            self._begin_clause(label.number)

    def _begin_clause(self, number: int | None) -> None:
        self._clauses = number or self._clauses + 1
        self._part = replace(self._part, clause=self._clauses, begun=False)

    def _add(self, block: _Block) -> None:
        kind = self._part.kind
        if kind is None:
            return
        if kind == "clause":
            kind = self._kind_within(block)
            if kind == "clause" and self._part.each and not self._part.headed:
                self._begin_clause(None)
            self._part = replace(self._part, begun=True)
        self._row(kind, block.text, block)

    def _kind_within(self, block: _Block) -> Kind:
        """What a paragraph of a clause is: its first one is what it says."""
        if block.is_quote:
            return "evidence"
        if not self._part.begun:
            return "clause"
        if is_definition(block.text):
            return "definition"
        return "evidence" if cited(block.text) and not self._part.each else "clause"

    def _row(self, kind: Kind, text: str, block: _Block) -> None:
        within = kind in ("clause", "definition", "evidence")
        titles = dict.fromkeys(each.title for each in cited(text))
        clause = self._part.clause if within else None
        if len(self.rows) <= _MOST_ROWS:
            self.rows.append(Row(kind, text, tuple(titles), block.line, clause))


def _label(text: str) -> _Label | None:
    """The part that a heading or a paragraph says it is, with what comes behind."""
    if bold := _BOLD.match(text):
        inner, rest = bold["inner"].strip(), bold["rest"].strip()
        match = _LABEL.fullmatch(inner.rstrip(" .:"))
        is_label = inner.endswith((".", ":")) or rest[:1] in (":", "", "\u2013", "\u2014")
        return _made(match, rest.lstrip(" :\u2013\u2014")) if match and is_label else None
    match = _LABEL.match(text)
    if match is None:
        return None
    behind = re.match(
        r"\s*(?::|\Z|\s[\u2013\u2014-]\s|\.(?=\s*\Z))\s*|\s+of\s+(?=[^:]{1,60}:)",
        text[match.end() :],
    )
    return _made(match, text[match.end() + behind.end() :].strip()) if behind else None


def _made(match: re.Match[str], rest: str) -> _Label:
    kind = next(kind for kind in KINDS if match[kind])
    number = _number(match["number"], match["ordinal"])
    name = match[kind].lower()
    is_plural = number is None and (name.endswith("s") or name in ("glossary", "terminology"))
    if kind == "thesis" and number:  # "Claim 2" is one of several
        kind = "clause"
    return _Label(kind, number, is_plural, rest)


def _number(written: str | None, ordinal: str | None) -> int | None:
    if ordinal:
        return _ORDINALS.index(ordinal.lower()) + 1
    if written is None:
        return None
    return int(written) or None if written.isdigit() else _ROMAN.index(written.lower()) + 1


def _wordy(heading: str) -> _Label | None:
    """The part that a heading names among other words: "What speaks against it"."""
    if len(heading.split()) > _MOST_WORDS:
        return None
    found = {
        kind: match.start() for kind, form in _WORDY.items() if (match := form.search(heading))
    }
    if not found:
        return None
    number = re.search(r"(?i)\bclause\s+(\d{1,3})\b", heading)
    first = min(found, key=lambda kind: found[kind])
    return _Label(first, int(number[1]) if number else None)
