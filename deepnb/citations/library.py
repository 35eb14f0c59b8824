"""All that was read, prepared once for what every claim of a report asks of it.

There may be thousands of claims and hundreds of passages. So no claim is compared with each of the
passages: its words lead to those that have them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from deepnb.citations.labels import counted, without_labels
from deepnb.citations.numbers import numbers
from deepnb.citations.places import narrowed
from deepnb.citations.quotes import Span, Texts, without_insertions
from deepnb.keywords import idf, terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from deepnb.citations.shapes import Source

_LEAST_SHARED = 2  # terms: a single one is in many sources


class Library:
    """What was read, to look up claims in."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._books = {key: _Book(source) for key, source in sources.items()}
        self._found: dict[tuple[str, str], Span | None] = {}

    def others(self, keys: Collection[str]) -> Iterable[str]:
        """Every source but some."""
        return (other for other in self._books if other not in keys)

    def locate(self, quote: str, key: str) -> Span | None:
        """Where a source has a quote."""
        if (quote, key) not in self._found:
            self._found[quote, key] = self._books[key].texts.locate(quote)
        return self._found[quote, key]

    def has_words(self, quote: str, key: str) -> bool:
        """Whether a source has a quote, or all of it but the words in square brackets."""
        if self.locate(quote, key):
            return True
        pieces = without_insertions(quote)
        return bool(pieces) and all(self.locate(piece, key) for piece in pieces)

    def has_numbers(self, wanted: frozenset[str], key: str) -> bool:
        """Whether a source has all of some numbers."""
        return wanted <= self._books[key].numbers

    def without_labels(self, text: str, key: str) -> str:
        """Take out of a claim what a report calls its own parts, and a source does not."""
        return without_labels(text, self._books[key].counted)

    def overlap(self, wanted: Collection[str], key: str) -> tuple[float, int | None]:
        """Which share of some terms the nearest passage of a source has, and which that is.

        Terms weigh the more the rarer they are; one that is nowhere, as much as the rarest.
        """
        shared, weights = Counter[int](), defaultdict[int, float](float)
        for term in wanted:
            for number in self._books[key].passages_with.get(term, ()):
                shared[number] += 1
                weights[number] += self._weights.get(term, self._rarest)
        enough = [number for number, count in shared.items() if count >= _LEAST_SHARED]
        if not enough:
            return 0.0, None
        best = min(enough, key=lambda number: (-weights[number], number))
        return weights[best] / sum(self._weights.get(t, self._rarest) for t in wanted), best

    def place(self, key: str, passage: int, span: Span | None) -> str:
        """Where in a source a passage is, or a stretch of it."""
        read = self._books[key].source["passages"][passage]
        return narrowed(read["place"], read["text"], *span[1:]) if span else read["place"]

    @cached_property
    def _weights(self) -> dict[str, float]:
        return idf([list(each) for book in self._books.values() for each in book.terms])

    @cached_property
    def _rarest(self) -> float:
        return max(self._weights.values(), default=1.0)


class _Book:
    """One source, and what is made of it when it is first needed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._passages = [passage["text"] for passage in source["passages"]]

    @cached_property
    def texts(self) -> Texts:
        return Texts(self._passages)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return numbers("\n".join([self.source["title"], *self._passages]), spelled=True)

    @cached_property
    def counted(self) -> frozenset[str]:
        return counted("\n".join(self._passages))

    @cached_property
    def terms(self) -> list[set[str]]:
        return [set(terms(passage)) for passage in self._passages]

    @cached_property
    def passages_with(self) -> dict[str, list[int]]:
        """The passages that have a term; all have those of the title."""
        found = defaultdict[str, list[int]](list)
        title = set(terms(self.source["title"]))
        for number, own in enumerate(self.terms):
            for term in own - title:
                found[term].append(number)
        everywhere = list(range(len(self._passages)))
        return {**found, **dict.fromkeys(title, everywhere)}
