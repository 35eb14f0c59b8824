"""Each claim of a report, and what came of looking for it in what was read.

    quoted              the cited source has the quote, word for word and digit for digit; so has
                        it a claim that is verbatim without quotation marks
    misattributed       the cited source has it not, another one has; `found_in` says which
    not found           no source has the quote, or the cited one has too little of the claim
    source matched, support not verified
                        a paraphrase that has the words, and every number, of the cited source.
                        That tells a source about something else from a right one. It does not
                        tell whether a source about the same says it, so nothing is called verified
    uncited             a claim with no mark

`quoted` is about the words between the quotation marks. A number beside them that the source has
not makes it `not found`. One or two words in quotation marks are no evidence, so that such a claim
is judged as a paraphrase; but the source has to have them. Words in square brackets are those of
the writer: with them, a quote is a paraphrase, too.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

from deepnb.citations.claims import claims
from deepnb.citations.conflicts import conflicts
from deepnb.citations.library import Library
from deepnb.citations.marks import blocks, tidy
from deepnb.citations.numbers import numbers
from deepnb.citations.positions import positions
from deepnb.citations.quotes import is_evidence
from deepnb.citations.shapes import Checked, Citation, Verdict
from deepnb.citations.wording import endings
from deepnb.keywords import terms

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from deepnb.citations.claims import Claim
    from deepnb.citations.quotes import Span
    from deepnb.citations.shapes import Source

# Shares of the weight of a claim's words, chosen on SciFact (benchmarks/paraphrases.py): a third
# is in 66 % of the abstracts that are evidence, in 37 % of others about the same, in 1 % of any.
_ENOUGH, _CLEARLY = 0.33, 0.6
_VERBATIM_WORDS = 5
_PARAPHRASED: Verdict = "source matched, support not verified"


NOT_FOUND = "What was not found"


def check(
    text: str,
    sources: Mapping[str, Source],
    gaps: str = "",
    compared: Container[tuple[str, int]] | None = None,
) -> Checked:
    """Check a report against what was read.

    Args:
        text: Markdown with marks, as a model or a program wrote it.
        sources: By id; all that was read.
        gaps: What is to be said of the search itself, below the report; no model may write it.
        compared: The passages to look for conflicts in, by id of the source and number; left out,
            all of them.

    Returns:
        The report with its marks put right and its sources and counts at the end, a row for every
        mark and for every claim without one, and possible conflicts between the sources.
    """
    body, removed = tidy(text, sources.keys(), {s["location"] for s in sources.values()})
    library = Library(sources)
    rows = [row for claim in claims(body) for row in _rows(claim, library)]
    rows = [{**row, "id": f"C{number}"} for number, row in enumerate(rows, 1)]
    counts = Counter(row["verdict"] for row in rows)
    every = {verdict: counts[verdict] for verdict in get_args(Verdict)}
    # What has a heading of its own, such as which documents there are, is nothing missing.
    missing = gaps if not gaps or gaps.startswith("## ") else f"## {NOT_FOUND}\n\n{gaps}"
    parts = [_closed(body), missing, endings(sources, rows, every, removed)]
    whole = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    return Checked(
        text=whole,
        marks=_places(whole, rows),
        citations=rows,
        conflicts=conflicts(sources, compared),
        counts=every,
        removed=removed,
    )


def _closed(text: str) -> str:
    """Close a block of code that was left open: what follows is none."""
    last = next(reversed(blocks(text)), None)
    is_open = last and last.type == "fence" and text.rstrip().rpartition("\n")[2] != last.markup
    return f"{text}\n{last.markup}" if last and is_open else text


def _places(text: str, rows: Sequence[Citation]) -> list[int]:
    """Where the marks stand; none if the rows say otherwise: no claim has another's verdict."""
    found = positions(text)
    cited = {row["mark"]: row["source"] for row in rows if row["mark"] is not None}
    agree = {n: text[at + 1 : text.find("]", at)] for n, at in enumerate(found)} == cited
    return found if agree else []


def _rows(claim: Claim, library: Library) -> Iterable[Citation]:
    if not claim.marks:
        yield _row(claim, "", "uncited")
        return
    judged = {key: _judged(claim, key, library) for key in {key for _, key in claim.marks}}
    for mark, key in claim.marks:
        yield {**judged[key], "mark": mark}


def _judged(claim: Claim, key: str, library: Library) -> Citation:
    """Judge a claim for one of its marks."""
    beside = {other for _, other in claim.marks}
    missing = [quote for quote in claim.quotes if not library.has_words(quote, key)]
    lost = [q for q in missing if not any(library.has_words(q, other) for other in beside)]
    if lost:
        return _lost(claim, max(lost, key=is_evidence), key, library)
    mine = [quote for quote in claim.quotes if library.locate(quote, key)]
    longest = max(mine, key=len, default="")
    span = library.locate(longest, key) if is_evidence(longest) else None
    # Another quote may be for a mark beside this one; but words of the writer make it no quote.
    rest = set(claim.quotes) - set(mine)
    if not span or not all(any(library.locate(q, other) for other in beside) for q in rest):
        return _paraphrased(claim, key, library)
    around = library.without_labels(_outside(claim.text, claim.quotes), key)
    verdict: Verdict = "quoted" if library.has_numbers(numbers(around), key) else "not found"
    return _led(claim, key, verdict, library, longest, span=span)


def _lost(claim: Claim, quote: str, key: str, library: Library) -> Citation:
    for other in library.others({key}) if is_evidence(quote) else ():
        if span := library.locate(quote, other):
            return _led(claim, key, "misattributed", library, quote, span=span, found_in=other)
    return _row(claim, key, "not found", quote)


def _paraphrased(claim: Claim, key: str, library: Library) -> Citation:
    text = library.without_labels(claim.text, key)
    if len(text.split()) >= _VERBATIM_WORDS and (span := library.locate(text, key)):
        return _led(claim, key, "quoted", library, text, span=span)
    said, wanted = dict.fromkeys(terms(text)), numbers(text)
    share, passage = library.overlap(said, key)
    if share >= _ENOUGH and library.has_numbers(wanted, key):
        return _led(claim, key, _PARAPHRASED, library, passage=passage)
    beside = {other for _, other in claim.marks}
    others = [key for key in library.others(beside) if library.has_numbers(wanted, key)]
    shares = {other: library.overlap(said, other) for other in others}
    nearest = max(others, key=lambda other: shares[other][0], default="")
    if nearest and shares[nearest][0] >= _CLEARLY:
        passage = shares[nearest][1]
        return _led(claim, key, "misattributed", library, passage=passage, found_in=nearest)
    return _row(claim, key, "not found")


def _outside(text: str, quotes: Iterable[str]) -> str:
    for quote in quotes:
        text = text.replace(quote, " ")
    return text


def _row(claim: Claim, key: str, verdict: Verdict, quote: str = "") -> Citation:
    return Citation(
        id="",
        claim=claim.text,
        quote=quote,
        source=key,
        place="",
        verdict=verdict,
        found_in="",
        passage=None,
        start=None,
        end=None,
        mark=None,
    )


def _led(
    claim: Claim,
    key: str,
    verdict: Verdict,
    library: Library,
    quote: str = "",
    *,
    span: Span | None = None,
    passage: int | None = None,
    found_in: str = "",
) -> Citation:
    """Make a row that leads to a passage: of the source that was cited, or of `found_in`."""
    row = _row(claim, key, verdict, quote)
    row["found_in"] = found_in
    row["passage"] = passage
    if span is not None:
        row["passage"], row["start"], row["end"] = span
    if row["passage"] is not None:
        row["place"] = library.place(found_in or key, row["passage"], span)
    return row
