"""What an argument still lacks, in the order in which a seminar asks for it.

First a thesis that is a claim; then clauses, each with its terms defined and its evidence; then
what speaks against it, as strong as can be; then a reply that brings nothing new; a conclusion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from deepnb.tutoring import rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.tutoring.document import Argument, Kind, Row
    from deepnb.tutoring.rules import Finding

GapKind = Literal[
    "no thesis",
    "vague thesis",
    "no clause",
    "undefined term",
    "no evidence",
    "no refutation",
    "straw man",
    "no reply",
    "new evidence",
    "no conclusion",
]
LACKING: dict[GapKind, Kind] = {
    "no thesis": "thesis",
    "no clause": "clause",
    "undefined term": "definition",
    "no evidence": "evidence",
    "no refutation": "refutation",
    "no reply": "reply",
    "no conclusion": "conclusion",
}
"""The part that a gap leaves empty; the other gaps are of a part that is there."""
FLAWED: dict[GapKind, Kind] = {
    "vague thesis": "thesis",
    "straw man": "refutation",
    "new evidence": "reply",
}
DONE = "Nothing is missing by the rules. Which part would you still find easy to attack?"

_LONGEST = 120  # characters of the person's own text in a question
_MARKS = str.maketrans(dict.fromkeys('"\u201c\u201d\u201e\u00ab\u00bb*_`[]', ""))


class Gap(NamedTuple):
    """Something that an argument lacks.

    Attributes:
        kind: What.
        where: In which part: "thesis", "clause 2".
        why: Why it is thought to be lacking.
        question: What a tutor would ask next.
        about: The words of the person that it is about, shortened; empty if there are none.
        clause: The number of the clause, if it is in one.
    """

    kind: GapKind
    where: str
    why: str
    question: str
    about: str = ""
    clause: int | None = None


def gaps(argument: Argument) -> list[Gap]:
    """List what is missing, the first thing to ask for first.

    Of a document that was not read to its end, nobody knows what is not in it: then only what is
    wrong with the parts that are there.
    """
    found = [*_of_thesis(argument), *_of_clauses(argument), *_of_the_other_side(argument)]
    return [gap for gap in found if argument.is_whole or not gap.kind.startswith("no ")]


def next_question(argument: Argument) -> str:
    """Give the one question that a tutor would ask now."""
    return next((gap.question for gap in gaps(argument)), DONE)


def _of_thesis(argument: Argument) -> Iterator[Gap]:
    if not argument.of("thesis"):
        why = "The document has no part that says it is the thesis."
        yield Gap("no thesis", "thesis", why, "What do you claim, in one sentence?")
    for found in rules.vague_thesis(argument):
        question = "What do you say about it that somebody could deny?"
        yield Gap("vague thesis", "thesis", found.why, question, _shown(found.text))


def _of_clauses(argument: Argument) -> Iterator[Gap]:
    thesis = _shown(argument.text("thesis"))
    if not argument.of("clause"):
        why = "No clause gives a reason for the thesis."
        asked = (
            f"What makes you hold that \u201c{thesis}\u201d?"
            if thesis
            else "What is your first reason?"
        )
        yield Gap("no clause", "clauses", why, asked, thesis)
    undefined = [
        (_clause_with(found, argument), found) for found in rules.undefined_terms(argument)
    ]
    for number in [None, *argument.clauses]:
        for clause, found in undefined:
            if clause == number:
                term = _shown(found.text)
                asked = f"What do you mean by \u201c{term}\u201d?"
                yield Gap("undefined term", _name(number), found.why, asked, term, number)
        if number is not None and not _has_evidence(argument, number):
            said = _shown(" ".join(row.text for row in argument.of("clause", clause=number)))
            why = "It cites no file and has no evidence of its own."
            asked = f"Which of your files shows that \u201c{said}\u201d?"
            yield Gap("no evidence", _name(number), why, asked, said, number)


def _of_the_other_side(argument: Argument) -> Iterator[Gap]:
    thesis = _shown(argument.text("thesis"))
    against = _shown(argument.text("refutation"))
    if not against:
        why = "Nothing is said against the thesis."
        asked = "What would the best of those who disagree with you say?"
        yield Gap("no refutation", "refutation", why, asked, thesis)
    for found in rules.straw_man(argument):
        asked = "How would somebody whom you respect put it, if they believed it?"
        yield Gap("straw man", "refutation", found.why, asked, against)
    if not argument.of("reply"):
        why = "Nothing is said to the refutation."
        asked = (
            f"What do you say to \u201c{against}\u201d?"
            if against
            else "What would you say to an objection?"
        )
        yield Gap("no reply", "reply", why, asked, against)
    for found in rules.new_evidence(argument)[:1]:
        asked = "Which clause could this stand in, so that the reply need not bring it?"
        yield Gap("new evidence", "reply", found.why, asked, _shown(found.text))
    if not argument.of("conclusion"):
        why = "The document has no part that says it is the conclusion."
        asked = "What do we know now that we did not know when we had only the thesis?"
        yield Gap("no conclusion", "conclusion", why, asked, thesis)


def _name(clause: int | None) -> str:
    return "thesis" if clause is None else f"clause {clause}"


def _clause_with(found: Finding, argument: Argument) -> int | None:
    """The first clause that uses a term."""

    def uses(row: Row) -> bool:
        return found.text.lower() in row.text.lower()

    return next((row.clause for row in argument.of("clause") if uses(row)), None)


def _has_evidence(argument: Argument, clause: int) -> bool:
    rows = argument.of("clause", "definition", "evidence", clause=clause)
    return any(row.kind == "evidence" or row.citations for row in rows)


def _shown(text: str) -> str:
    """Words of the person as they can stand in quotation marks, in one line."""
    line = " ".join(text.translate(_MARKS).split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 2].rstrip()} \u2026"
