"""Which words are in which passage, and how well passages fit a query by their words (BM25).

The inverted index is in the store: for each term of each segment (a range of passages) the
passages it is in, and how often. It is as current as the last transaction, takes no memory, and
a query reads only the terms it has. SQLite's own full text search needs 50 ms and more for a
question to 100,000 passages; this needs a tenth of that.
"""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deepnb.keywords import terms, word_terms, words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Occurrences: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]
    """In which texts a term is, and how often."""

SEGMENT = 1 << 14
"""Passages in a segment."""

_COUNT_BITS = 8  # how often a term is in a passage; the bits above are the passage's place
_MOST_COUNTED = (1 << _COUNT_BITS) - 1
K1, B = 1.2, 0.75
_MOST_TERMS = 64  # of a query


class _Known(dict[str, int]):
    """Words by number: a word is taken apart into its terms once, however often it comes."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}
        """Terms by number."""
        self.parts = array("q")
        """The terms of all words, one word after the other."""
        self.sizes = array("q")
        """How many terms each word has."""

    def __missing__(self, word: str) -> int:
        numbers = [self.terms.setdefault(term, len(self.terms)) for term in word_terms(word)]
        self.parts.extend(numbers)
        self.sizes.append(len(numbers))
        self[word] = len(self)
        return self[word]


class Postings:
    """Words of passages that are being added; `write` puts them into the store."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._known = _Known()
        self._found = array("q")
        self._chunks: list[int] = []
        self._counts: list[int] = []

    def add(self, chunk: int, text: str) -> None:
        """Take in a passage, with all that it shall be found by."""
        found = words(text)
        self._found.extend(map(self._known.__getitem__, found))
        self._chunks.append(chunk)
        self._counts.append(len(found))

    def write(self, cursor: sqlite3.Cursor) -> list[int]:
        """Append everything to what is there; tells how many terms each passage has."""
        terms, lengths = self._terms()
        names = list(self._known.terms)
        segments, places = np.divmod(np.repeat(self._chunks, lengths), SEGMENT)
        keys = (segments * len(names) + terms) * SEGMENT + places
        keys, counts = np.unique(keys.astype(np.int64), return_counts=True)
        groups, places = np.divmod(keys, SEGMENT)
        packed = (places << _COUNT_BITS | np.minimum(counts, _MOST_COUNTED)).astype(np.uint32)
        starts = np.flatnonzero(np.diff(groups, prepend=-1))
        bounds = [*(starts * packed.itemsize).tolist(), packed.nbytes]
        data = packed.tobytes()
        rows = [
            (group // len(names), names[group % len(names)], data[start:end])
            for group, (start, end) in zip(groups[starts].tolist(), pairwise(bounds), strict=True)
        ]
        cursor.executemany(
            "INSERT INTO posting VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
            "places = CAST(places || excluded.places AS BLOB)",
            sorted(rows),
        )
        self._clear()
        return [int(length) for length in lengths]

    def _terms(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The terms of all passages, one passage after the other, and how many each has."""
        found = np.array(self._found)
        sizes = np.array(self._known.sizes)
        repeats = sizes[found]
        ends = np.cumsum(repeats)
        # Each word's terms stand together: from its first one on, as many as it has.
        firsts = (np.cumsum(sizes) - sizes)[found] - (ends - repeats)
        terms = np.array(self._known.parts)[np.repeat(firsts, repeats) + np.arange(repeats.sum())]
        totals = np.concatenate([[0], ends])[np.cumsum([0, *self._counts])]
        return terms, np.diff(totals)


def sweep(cursor: sqlite3.Cursor) -> None:
    """Drop the words of segments in which no passage is left."""
    cursor.execute(
        "DELETE FROM posting WHERE segment NOT IN (SELECT DISTINCT id / ? FROM chunk)", (SEGMENT,)
    )


def query_terms(query: str) -> list[str]:
    """The different terms of a query, in their order, within reason."""
    return list(dict.fromkeys(terms(query)))[:_MOST_TERMS]


def occurrences(
    cursor: sqlite3.Cursor, wanted: Iterable[str], segments: int
) -> Iterator[Occurrences]:
    """For each term that occurs: in which passages, and how often. Some may be gone since."""
    for term in wanted:
        pieces = [
            (np.frombuffer(places, np.uint32), segment)
            for segment in range(segments)
            for (places,) in cursor.execute(
                "SELECT places FROM posting WHERE segment = ? AND term = ?", (segment, term)
            )
        ]
        if pieces:
            chunks = [(each >> _COUNT_BITS).astype(np.int64) + n * SEGMENT for each, n in pieces]
            counts = [(each & _MOST_COUNTED).astype(np.float64) for each, _ in pieces]
            yield np.concatenate(chunks), np.concatenate(counts)


def bm25(found: Iterable[Occurrences], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score texts, from where each term is and how often, and their lengths (0: it is gone)."""
    scores = np.zeros(len(lengths))
    total = np.count_nonzero(lengths)
    norm = K1 * (1 - B + B * lengths / (lengths.sum() / total)) if total else lengths
    for texts, counts in found:
        weight = np.log(1 + (total - len(texts) + 0.5) / (len(texts) + 0.5))
        scores[texts] += weight * counts * (K1 + 1) / (counts + norm[texts])
    return scores
