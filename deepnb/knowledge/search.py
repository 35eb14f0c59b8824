"""Finding passages: by words, by meaning, and both fused by reciprocal rank."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deepnb.knowledge import words
from deepnb.knowledge.store import about
from deepnb.knowledge.vectors import Vectors

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from deepnb.knowledge.passages import FoundBy
    from deepnb.knowledge.store import Store
    from deepnb.knowledge.words import Occurrences

RANK_CONSTANT = 20
"""Of reciprocal rank fusion.

The usual 60 is for many long rankings; of these four, the first places should count for more. It
was chosen with `benchmarks/retrieval.py --cloze`, where 10 to 20 does best, by a little.
"""

DEPTH = 200
"""How far down each ranking is read before they are fused, at least."""

_WASTE = 1.25
_NEARLY_ALL = 0.95


class Hit(NamedTuple):
    """A passage that was found."""

    chunk: int
    score: float
    found_by: FoundBy


class Rankings(NamedTuple):
    """What each way of looking has found, best first."""

    by_words: list[int]
    by_meaning: list[int]
    documents_by_words: list[int]
    owners: NDArray[np.int64]
    """The document of each passage."""


class View:
    """What a search needs of the store in memory, kept up to date from it.

    The writer, be it another thread or another process, is never asked: what is in the store
    is what there is.

    Args:
        store: Where everything is.
        model: Name of the embedder whose vectors are wanted; "" for none.
    """

    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model
        self._lock = threading.RLock()
        self._seen = -1
        self._removals = ""
        self._epoch = ""
        self._forget_chunks()
        self._forget_vectors()

    def forget(self) -> None:
        """Begin again with what is in the store now."""
        with self._lock:
            self._seen = -1
            self._forget_chunks()
            self._forget_vectors()

    def _forget_chunks(self) -> None:
        self._owners = np.zeros(1, np.int64)  # the document of each chunk; they count from 1
        self._lengths = np.zeros(1)  # in terms; 0 if there is no such chunk

    def _forget_vectors(self) -> None:
        self._last_vector = 0
        self._vectors = Vectors()

    @property
    def has_vectors(self) -> bool:
        """Whether nearly everything can be found by its meaning.

        Before that, what has a vector would outvote what has none yet, however well it fits.
        """
        self.refresh()
        return bool(len(self._vectors) > _NEARLY_ALL * np.count_nonzero(self._lengths))

    def refresh(self) -> None:
        """Take over what has been written since."""
        with self._lock:
            changes = self._store.changes()
            if changes == self._seen:
                return
            with self._store.snapshot() as cursor:
                removals, epoch = about(cursor, "removals"), about(cursor, "epoch")
                if removals != self._removals:
                    self._forget_chunks()
                if epoch != self._epoch or (
                    removals != self._removals and self._is_wasteful(cursor)
                ):
                    self._forget_vectors()
                self._removals, self._epoch = removals, epoch
                self._load_chunks(cursor)
                if self._model and about(cursor, "model") == self._model:
                    self._load_vectors(cursor)
            self._seen = changes

    def _is_wasteful(self, cursor: sqlite3.Cursor) -> bool:
        """Whether many of the vectors in memory are of passages that are gone."""
        return len(self._vectors) > _most(cursor)

    def _load_chunks(self, cursor: sqlite3.Cursor) -> None:
        start = len(self._owners)
        rows = np.fromiter(
            cursor.execute(
                "SELECT id, document, terms FROM chunk WHERE id >= ? ORDER BY id", (start,)
            ),
            [("id", np.int64), ("owner", np.int64), ("terms", np.int64)],
        )
        if not len(rows):
            return
        grown = int(rows["id"][-1]) + 1
        self._owners = np.concatenate([self._owners, np.zeros(grown - start, np.int64)])
        self._lengths = np.concatenate([self._lengths, np.zeros(grown - start)])
        self._owners[rows["id"]] = rows["owner"]
        self._lengths[rows["id"]] = np.maximum(rows["terms"], 1)

    def _load_vectors(self, cursor: sqlite3.Cursor) -> None:
        if not self._last_vector:
            self._last_vector = self._vectors.load(self._store.folder, self._epoch, _most(cursor))
        cursor.execute(
            "SELECT seq, chunk, value FROM vector WHERE seq > ? ORDER BY seq", (self._last_vector,)
        )
        while rows := cursor.fetchmany(1024):
            ids = np.array([chunk for _, chunk, _ in rows], np.int64)
            values = np.frombuffer(b"".join(value for *_, value in rows), np.float32)
            self._vectors.add(ids, values.reshape(len(rows), -1))
            self._last_vector = rows[-1][0]

    def link_some(self) -> bool:
        """Do a part of what makes a search among very many fast; False if there is none left."""
        with self._lock:
            if self._vectors.link_some():
                return True
            self._vectors.save(self._store.folder, self._epoch, self._last_vector)
            return False

    def find(
        self,
        query: str,
        vector: NDArray[np.float32] | None,
        count: int,
        among: list[int] | None = None,
    ) -> list[Hit]:
        """Rank passages, of these documents or of all; by words alone without a vector."""
        return fused(self.rankings(query, vector, max(DEPTH, 4 * count), among))[:count]

    def rankings(
        self,
        query: str,
        vector: NDArray[np.float32] | None,
        depth: int,
        among: list[int] | None = None,
    ) -> Rankings:
        """What each way of looking finds, down to a depth."""
        with self._lock:
            self.refresh()
            owners, lengths = self._owners, self._lengths
            if among is not None:  # the others are as good as gone
                lengths = np.where(np.isin(owners, among), lengths, 0.0)
            with self._store.snapshot() as cursor:
                found = self._occurrences(cursor, query, lengths)
            near = [] if vector is None else self._vectors.near(vector, depth).tolist()
        return Rankings(
            _best(words.bm25(found, lengths), depth),
            [chunk for chunk in near if chunk < len(lengths) and lengths[chunk]],
            _best(words.bm25(*_by_document(found, owners, lengths)), depth),
            owners,
        )

    def _occurrences(
        self, cursor: sqlite3.Cursor, query: str, lengths: NDArray[np.float64]
    ) -> list[Occurrences]:
        segments = len(self._owners) // words.SEGMENT + 1
        found = []
        for chunks, counts in words.occurrences(cursor, words.query_terms(query), segments):
            known = chunks < len(lengths)
            living = known & (lengths[np.where(known, chunks, 0)] > 0)
            if living.any():
                found.append((chunks[living], counts[living]))
        return found


def _by_document(
    found: list[Occurrences], owners: NDArray[np.int64], lengths: NDArray[np.float64]
) -> tuple[list[Occurrences], NDArray[np.float64]]:
    """The same occurrences, and lengths, of documents in place of passages."""
    gathered = []
    for chunks, counts in found:
        sums = np.bincount(owners[chunks], counts).astype(np.float64)
        documents = np.flatnonzero(sums)
        gathered.append((documents, sums[documents]))
    return gathered, np.bincount(owners, lengths).astype(np.float64)


def _most(cursor: sqlite3.Cursor) -> int:
    """How many vectors in memory are acceptable for those that there are."""
    living = int(cursor.execute("SELECT count(*) FROM vector").fetchone()[0])
    return int(_WASTE * (living + 1000))


def _best(scores: NDArray[np.float64], count: int) -> list[int]:
    """The places of the highest scores above zero, best first; the earlier of two equals."""
    places = np.flatnonzero(scores)
    if len(places) > count:
        least = np.partition(scores[places], -count)[-count]
        places = places[scores[places] >= least]
    order = np.argsort(-scores[places], kind="stable")[:count]
    return [int(place) for place in places[order]]


def fused(rankings: Rankings) -> list[Hit]:
    """Rank passages by how well they, and the documents they are in, do in each ranking.

    A passage of 500 characters seldom has all the words of a question; that its document has the
    others tells it from a passage that has the same ones by chance.
    """
    by_words, by_meaning, documents_by_words, owners = rankings
    chunks = list(dict.fromkeys([*by_words, *by_meaning]))
    documents = owners[chunks].tolist() if chunks else []
    documents_by_meaning = list(dict.fromkeys(owners[by_meaning].tolist())) if by_meaning else []
    votes = [
        (chunks, _ranks(by_words)),
        (chunks, _ranks(by_meaning)),
        (documents, _ranks(documents_by_words)),
        (documents, _ranks(documents_by_meaning)),
    ]
    scores = np.zeros(len(chunks))
    for things, ranks in votes:
        scores += [1 / (RANK_CONSTANT + ranks[each]) if each in ranks else 0.0 for each in things]
    in_words, in_meaning = set(by_words), set(by_meaning)
    return [
        Hit(chunks[n], float(scores[n]), _found_by(chunks[n] in in_words, chunks[n] in in_meaning))
        for n in np.argsort(-scores, kind="stable")
    ]


def _ranks(ranking: list[int]) -> dict[int, int]:
    return {each: rank for rank, each in enumerate(ranking, 1)}


def _found_by(words: bool, meaning: bool) -> FoundBy:  # noqa: FBT001  # two facts, one word
    if words and meaning:
        return "both"
    return "words" if words else "meaning"
