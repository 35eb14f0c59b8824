"""Documents in the person's files: which one is asked for, and what it holds by rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from deepnb.files.namespace import FILES
from deepnb.tutoring.document import Argument, write
from deepnb.tutoring.gaps import gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.tutoring.document import Kind, Row

_PARTS: dict[Kind, str] = {
    "thesis": "Thesis",
    "clause": "Clause 1",
    "refutation": "Refutation",
    "reply": "Reply",
    "conclusion": "Conclusion",
}
_OPEN, _CLOSE = r"['\"`\u2018\u201c]", r"['\"`\u2019\u201d](?!\w)"
_TITLED = rf"(?:titled|entitled|called|named|as)\s+{_OPEN}(?P<title>.{{1,300}}?){_CLOSE}"
_POLITE = r"(?is)\W*(?:(?:please|now|then|ok|okay|yes)\b[\s,]*|(?:can|could) you\s+)*"
_CREATE = re.compile(
    rf"{_POLITE}(?:create|write|make|start|draft|hold)\s+(?:me\s+)?(?:an?\s+)?(?:new\s+)?"
    rf"(?:seminar\s+)?(?:document|file|note|page|essay|text|draft|paper|seminar)\s+{_TITLED}"
    r"\W*(?:with\s+|about\s+|on\s+)?(?P<rest>.*)"
)
_KEEP = re.compile(
    rf"{_POLITE}(?:write|save|put|store|export|keep)\s+"
    r"(?:it|this|that|all of it|everything|(?:the|my|our)\s+(?:seminar\s+)?"
    r"(?:document|argument|seminar|essay|text))(?:\s+down)?"
    r"(?:\s+(?:in|into|to)\s+(?:my|the)\s+(?:files?|folder|documents?|workspace))?"
    rf"(?:\s+{_TITLED})?\W*"
)
_NOT_IN_A_NAME = re.compile(r"[^\w \-',&()]+")
_LONGEST_NAME, _MOST_WORDS, _LONGEST_WISH = 60, 8, 500


OFFER = "Nothing is missing by the rules, which is no praise. Shall I write it to"


class Wanted(NamedTuple):
    """A document that is asked for by its title."""

    title: str
    wish: str = ""


def to_create(said: str) -> Wanted | None:
    """The new document that a request is for, if it is for one."""
    found = _CREATE.fullmatch(said)
    if found is None:
        return None
    wish = " ".join(found["rest"].split())[:_LONGEST_WISH]
    return Wanted(name_of(found["title"]), wish.rstrip(" ."))


def to_keep(said: str, argument: Argument) -> Wanted | None:
    """The title under which a person wants what was said to be written down, if they do."""
    found = _KEEP.fullmatch(said)
    return Wanted(name_of(found["title"] or title_of(argument))) if found else None


def title_of(argument: Argument) -> str:
    """A title for an argument: how its thesis begins."""
    return " ".join(argument.text("thesis").split()[:_MOST_WORDS])


def name_of(title: str) -> str:
    """A title as it can be a file's name: no folder, and no sign that means something to others."""
    words = " ".join(_NOT_IN_A_NAME.sub(" ", title).split())
    return words[:_LONGEST_NAME].strip(" -',&()") or "Seminar"


def path_of(title: str) -> str:
    """Where the document with a title is."""
    return f"{FILES}{title}.md"


def offer(argument: Argument) -> str:
    """Offer to write an argument down that lacks nothing."""
    return f"{OFFER} `{path_of(name_of(title_of(argument)))}`?"


def how_many(things: int) -> str:
    """1 thing is, 2 things are."""
    return f"{things} {'thing is' if things == 1 else 'things are'}"


def document(title: str, rows: Sequence[Row]) -> str:
    """An argument as a document."""
    return f"# {title}\n\n{write(rows)}"


def skeleton(wanted: Wanted, rows: Sequence[Row] = ()) -> str:
    """A document that holds what was said and nothing else, with a heading for each other part."""
    have = {row.kind for row in rows}
    headings = [f"## {name}" for kind, name in _PARTS.items() if kind not in have]
    wish = [f"*To come: {wanted.wish}.*"] if wanted.wish else []
    parts = [f"# {wanted.title}", *wish, *filter(None, [write(rows).strip()]), *headings]
    return "\n\n".join(parts) + "\n"


def still_missing(argument: Argument) -> str:
    """What an argument lacks, as a section that is no part of it."""
    questions = [f"- {gap.question} *({gap.where}: {gap.kind})*" for gap in gaps(argument)]
    return "\n".join(["## Still missing", "", *questions, ""]) if questions else ""
