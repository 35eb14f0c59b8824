"""What is kept of everything that was read, and of every claim that was made of it.

All of it is plain JSON: it lives in a graph's state, in the log, and in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

SourceKind = Literal["file", "page", "note", "tool"]
Verdict = Literal[
    "quoted",
    "misattributed",
    "not found",
    "source matched, support not verified",
    "uncited",
]
Settled = Mapping[str, tuple[float | None, str]]
"""By id of a claim, when a person has checked it themselves (None: taken back), and their note."""


class Passage(TypedDict):
    """A piece of text as it was seen, and where; `place` is for people, such as "p. 12"."""

    text: str
    place: str


class Reading(TypedDict):
    """What was read in one place; `location` is a path, an address or the name of a tool."""

    kind: SourceKind
    title: str
    location: str
    passages: list[Passage]


class Source(Reading):
    """A reading under the id that a report cites; `read` is when, in seconds since 1970."""

    id: str
    read: float


class Citation(TypedDict):
    """One claim of a report, and what came of looking for it.

    `passage` is the number of the source's passage that has the quote, from `start` to `end`;
    `found_in` is the source that has it if the cited one has not. `mark` is the number of its mark
    in the report, from 0; a claim that cites nothing has none.
    """

    id: str
    claim: str
    quote: str
    source: str
    place: str
    verdict: Verdict
    found_in: str
    passage: int | None
    start: int | None
    end: int | None
    mark: int | None


class Side(TypedDict):
    """One of two passages that may contradict each other."""

    source: str
    place: str
    text: str
    passage: int


class Conflict(TypedDict):
    """Two passages that speak of the same and may not agree."""

    about: list[str]
    why: Literal["a differing number", "a negation"]
    sides: list[Side]


class Checked(TypedDict):
    """A report after the check.

    `marks` says where in the text each mark begins, in characters; `removed` counts the marks that
    led to no source; `message` is the message that the text is of.
    """

    text: str
    marks: list[int]
    citations: list[Citation]
    conflicts: list[Conflict]
    counts: dict[str, int]
    removed: int
    message: NotRequired[str]
