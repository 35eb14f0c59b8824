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
from functools import cached_property
from typing import TYPE_CHECKING, get_args

from deepnb.citations.claims import claims
from deepnb.citations.conflicts import conflicts
from deepnb.citations.marks import blocks, tidy
from deepnb.citations.numbers import numbers
from deepnb.citations.positions import positions
from deepnb.citations.quotes import Span, Texts, is_evidence, without_insertions
from deepnb.citations.shapes import Checked, Citation, Verdict
from deepnb.citations.wording import endings
from deepnb.keywords import coverage, idf, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deepnb.citations.claims import Claim
    from deepnb.citations.shapes import Source

# Shares of the weight of a claim's words, chosen on SciFact (benchmarks/paraphrases.py): a third
# is in 66 % of the abstracts that are evidence, in 37 % of others about the same, in 1 % of any.
_ENOUGH, _CLEARLY = 0.33, 0.6
_LEAST_SHARED = 2  # terms: a single one is in many sources
_VERBATIM_WORDS = 5
_PARAPHRASED: Verdict = "source matched, support not verified"


NOT_FOUND = "What was not found"


def check(text: str, sources: Mapping[str, Source], gaps: str = "") -> Checked:
    """Check a report against what was read.

    Args:
        text: Markdown with marks, as a model or a program wrote it.
        sources: By id; all that was read.
        gaps: What is to be said of the search itself, below the report; no model may write it.

    Returns:
        The report with its marks put right and its sources and counts at the end, a row for every
        mark and for every claim without one, and possible conflicts between the sources.
    """
    body, removed = tidy(text, sources.keys(), {s["location"] for s in sources.values()})
    library = _Library(sources)
    rows = [row for claim in claims(body) for row in _rows(claim, library)]
    rows = [{**row, "id": f"C{number}"} for number, row in enumerate(rows, 1)]
    counts = Counter(row["verdict"] for row in rows)
    every = {verdict: counts[verdict] for verdict in get_args(Verdict)}
    missing = f"## {NOT_FOUND}\n\n{gaps}" if gaps else ""
    parts = [_closed(body), missing, endings(sources, rows, every, removed)]
    whole = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    return Checked(
        text=whole,
        marks=_places(whole, rows),
        citations=rows,
        conflicts=conflicts(sources),
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


def _rows(claim: Claim, library: _Library) -> Iterable[Citation]:
    if not claim.marks:
        yield _row(claim, "", "uncited")
        return
    judged = {key: _judged(claim, key, library) for key in {key for _, key in claim.marks}}
    for mark, key in claim.marks:
        yield {**judged[key], "mark": mark}


def _judged(claim: Claim, key: str, library: _Library) -> Citation:
    """Judge a claim for one of its marks."""
    beside = {other for _, other in claim.marks}
    missing = [quote for quote in claim.quotes if not library.has_words(quote, key)]
    lost = [q for q in missing if not any(library.has_words(q, other) for other in beside)]
    if lost:
        return _lost(claim, max(lost, key=is_evidence), key, library)
    longest = max(claim.quotes, key=len, default="")
    span = library.locate(longest, key) if is_evidence(longest) else None
    # Another mark beside this one may be for a quote; and words of the writer make it no quote.
    if span is None or not all(library.locate(quote, key) for quote in claim.quotes):
        return _paraphrased(claim, key, library)
    around = _outside(claim.text, claim.quotes)
    verdict: Verdict = "quoted" if library.has_numbers(around, key) else "not found"
    return library.row(claim, key, verdict, longest, span=span)


def _lost(claim: Claim, quote: str, key: str, library: _Library) -> Citation:
    for other in library.others(key) if is_evidence(quote) else ():
        if span := library.locate(quote, other):
            return library.row(claim, key, "misattributed", quote, span=span, found_in=other)
    return _row(claim, key, "not found", quote)


def _paraphrased(claim: Claim, key: str, library: _Library) -> Citation:
    if len(claim.text.split()) >= _VERBATIM_WORDS and (span := library.locate(claim.text, key)):
        return library.row(claim, key, "quoted", claim.text, span=span)
    share, passage = library.overlap(claim.text, key)
    if share >= _ENOUGH and library.has_numbers(claim.text, key):
        return library.row(claim, key, _PARAPHRASED, passage=passage)
    beside = {other for _, other in claim.marks}
    others = [
        other
        for other in library.others(key)
        if other not in beside and library.has_numbers(claim.text, other)
    ]
    nearest = max(others, key=lambda other: library.overlap(claim.text, other)[0], default=key)
    share, passage = library.overlap(claim.text, nearest)
    if nearest != key and share >= _CLEARLY:
        return library.row(claim, key, "misattributed", passage=passage, found_in=nearest)
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


class _Library:
    """All that was read, prepared for questions."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._texts: dict[str, Texts] = {}
        self._numbers: dict[str, frozenset[str]] = {}
        self._found: dict[tuple[str, str], Span | None] = {}

    def others(self, key: str) -> Iterable[str]:
        return (other for other in self._sources if other != key)

    def locate(self, quote: str, key: str) -> Span | None:
        if (quote, key) not in self._found:
            if key not in self._texts:
                passages = self._sources[key]["passages"]
                self._texts[key] = Texts([passage["text"] for passage in passages])
            self._found[quote, key] = self._texts[key].locate(quote)
        return self._found[quote, key]

    def has_words(self, quote: str, key: str) -> bool:
        """Whether a source has a quote, or all of it but the words in square brackets."""
        if self.locate(quote, key):
            return True
        pieces = without_insertions(quote)
        return bool(pieces) and all(self.locate(piece, key) for piece in pieces)

    def has_numbers(self, text: str, key: str) -> bool:
        """Whether a source has every number of a text."""
        if key not in self._numbers:
            source = self._sources[key]
            whole = "\n".join([source["title"], *(p["text"] for p in source["passages"])])
            self._numbers[key] = numbers(whole, spelled=True)
        return numbers(text) <= self._numbers[key]

    def overlap(self, text: str, key: str) -> tuple[float, int | None]:
        """How much of a text's words the nearest passage of a source has, and which that is."""
        wanted = set(terms(text))
        title = terms(self._sources[key]["title"])
        best: tuple[float, int | None] = (0.0, None)
        for number, passage in enumerate(self._terms[key]):
            have = wanted.intersection((*passage, *title))
            share = coverage(wanted, have, self._weights)
            if len(have) >= _LEAST_SHARED and share > best[0]:
                best = (share, number)
        return best

    def row(
        self,
        claim: Claim,
        key: str,
        verdict: Verdict,
        quote: str = "",
        *,
        span: Span | None = None,
        passage: int | None = None,
        found_in: str = "",
    ) -> Citation:
        """Make a row that leads to a passage: of the source that was cited, or of `found_in`."""
        row = _row(claim, key, verdict, quote)
        row["found_in"] = found_in
        if span is not None:
            row["passage"], row["start"], row["end"] = span
        elif passage is not None:
            row["passage"] = passage
        if row["passage"] is not None:
            row["place"] = self._sources[found_in or key]["passages"][row["passage"]]["place"]
        return row

    @cached_property
    def _terms(self) -> dict[str, list[set[str]]]:
        return {
            key: [set(terms(passage["text"])) for passage in source["passages"]]
            for key, source in self._sources.items()
        }

    @cached_property
    def _weights(self) -> dict[str, float]:
        return idf([list(passage) for every in self._terms.values() for passage in every])
