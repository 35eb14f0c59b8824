"""Which passages are nearest to a query in meaning: exactly up to 100,000, by HNSW above."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Matrix = NDArray[np.float32]

EXACT = 100_000
"""Up to so many vectors, all of them are compared."""

_BLOCK = 4096  # small enough to stay near the processor: half the time of one large matrix
_LINKS = 32
_MOVED = 256  # vectors that go into the graph at once: a search waits for that long
_FILE = re.compile(r"near-(?P<epoch>\w+)-(?P<seq>\d+)\.faiss")


class Vectors:
    """Vectors of length 1, in blocks: they grow without ever being copied.

    Above `EXACT` they are moved, a few at a time, from the blocks into a graph; a search looks at
    both, so that it need not wait for a graph that takes a minute to build.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[Ids, Matrix]] = []
        self._used = _BLOCK  # of the last block
        self._graph: Any = None

    def __len__(self) -> int:
        return self._waiting() + (self._graph.ntotal if self._graph is not None else 0)

    def _waiting(self) -> int:
        return max(0, (len(self._blocks) - 1) * _BLOCK + self._used) if self._blocks else 0

    def add(self, ids: Ids, vectors: Matrix) -> None:
        """Take in more."""
        while len(ids):
            if not self._blocks or self._used == _BLOCK:
                rows = np.empty((_BLOCK, vectors.shape[1]), np.float32)
                self._blocks.append((np.empty(_BLOCK, np.int64), rows))
                self._used = 0
            count = min(_BLOCK - self._used, len(ids))
            place = slice(self._used, self._used + count)
            self._blocks[-1][0][place] = ids[:count]
            self._blocks[-1][1][place] = vectors[:count]
            self._used += count
            ids, vectors = ids[count:], vectors[count:]

    def near(self, query: Matrix, count: int) -> Ids:
        """The nearest, best first."""
        pieces = [self._compared(number, query, count) for number in range(len(self._blocks))]
        if self._graph is not None:
            pieces.append(self._linked(query, count))
        if not pieces:
            return np.empty(0, np.int64)
        ids = np.concatenate([each for each, _ in pieces])
        order = np.argsort(-np.concatenate([each for _, each in pieces]), kind="stable")
        best: Ids = ids[order[:count]]
        return best

    def _compared(self, number: int, query: Matrix, count: int) -> tuple[Ids, Matrix]:
        import faiss

        ids, rows = self._blocks[number]
        used = self._used if number == len(self._blocks) - 1 else _BLOCK
        scores, places = faiss.knn(
            query[None], rows[:used], min(count, used), metric=faiss.METRIC_INNER_PRODUCT
        )
        return ids[places[0]], scores[0]

    def _linked(self, query: Matrix, count: int) -> tuple[Ids, Matrix]:
        import faiss

        inner: Any = faiss.downcast_index(self._graph.index)
        inner.hnsw.efSearch = 2 * count
        scores, ids = self._graph.search(query[None], count)
        found = ids[0] >= 0
        return ids[0][found], scores[0][found]

    def link_some(self) -> bool:
        """Move some vectors into the graph, if they are so many; False if none are to move."""
        if len(self) <= EXACT or not self._blocks:
            return False
        ids, rows = self._blocks[-1]
        start = max(0, self._used - _MOVED)
        if self._graph is None:
            self._graph = _empty_graph(rows.shape[1])
        self._graph.add_with_ids(rows[start : self._used], ids[start : self._used])
        self._used = start
        if not start:
            self._blocks.pop()
            self._used = _BLOCK
        return True

    def save(self, folder: Path, epoch: str, seq: int) -> None:
        """Write the graph, whole or not at all, with the last vector that is in it."""
        if self._graph is None or self._blocks:
            return
        path = folder / f"near-{epoch}-{seq}.faiss"
        if path.exists():
            return
        import faiss

        partial = path.with_suffix(".partial")
        faiss.write_index(self._graph, str(partial))
        partial.replace(path)
        for other in folder.glob("near-*.faiss"):
            if other != path:
                other.unlink()

    def load(self, folder: Path, epoch: str, most: int) -> int:
        """Read a graph of at most so many vectors; tells the last in it, or 0 if there is none."""
        for path in folder.glob("near-*.faiss"):
            name = _FILE.fullmatch(path.name)
            if name and name["epoch"] == epoch:
                import faiss

                try:
                    graph = faiss.read_index(str(path))
                except RuntimeError:  # a damaged one is made again
                    continue
                if EXACT < graph.ntotal <= most:
                    self._graph = graph
                    return int(name["seq"])
        return 0


def _empty_graph(dimension: int) -> Any:
    import faiss

    inner = faiss.IndexHNSWFlat(dimension, _LINKS, faiss.METRIC_INNER_PRODUCT)
    return faiss.IndexIDMap(inner)
