"""Bringing the text in an index up to date with what there is to read."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from deepnb.knowledge import write
from deepnb.knowledge.gather import Added, Stamp, digest, files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from deepnb.knowledge.gather import Item
    from deepnb.knowledge.store import Store

Known: TypeAlias = dict[str, list[Any]]
"""Size, time of change, hash and whether to try again, by location."""

_GROUP = 256  # passages that are committed together
_SECONDS = 1.0  # after which they are committed in any case


class Texts:
    """The text of documents, on its way into the index. Whoever calls it is the only writer.

    Args:
        store: The index.
        root: The folder whose documents are meant, if there is one.
        starts: Files and folders to look for documents in.
        private: Whether pages of private networks may be fetched.
        told: Is told how many documents of how many are read.
        stopping: Tells whether to give up.
    """

    def __init__(
        self,
        store: Store,
        root: Path | None,
        starts: Iterable[Path],
        *,
        private: bool,
        told: Callable[[int, int], None],
        stopping: Callable[[], bool],
    ) -> None:
        self._store = store
        self._root = root
        self._starts = list(starts)
        self._private = private
        self._told = told
        self._stopping = stopping
        self._added = Added(store.folder)

    def scan(self) -> None:
        """Bring the index up to date with the files, and read what was added and is not there."""
        self._told(0, 0)
        known = self._known()
        found = [each for start in self._starts for each in files(start, self._root)]
        found += self._expanded(self._added.items(self._root))
        left_out = self._added.left_out()
        wanted = {item.location: item for item in found if item.location not in left_out}
        gone = known.keys() - wanted
        due = [item for item in wanted.values() if self._is_due(item, known)]
        self._settle([partial(self._update, item, known, gone) for item in due])
        with self._store.transaction() as cursor:
            for location in gone:
                write.remove(cursor, location)

    def _known(self) -> Known:
        rows = self._store.rows("SELECT location, size, modified, hash, again FROM document")
        return {location: facts for location, *facts in rows}

    def _expanded(self, items: Iterable[Item]) -> list[Item]:
        found: list[Item] = []
        for item in items:
            if item.path and item.path.exists():
                found += files(item.path, self._root)
            elif not item.path:
                found.append(item)
        return found

    def _is_due(self, item: Item, known: Known) -> bool:
        if item.location not in known:
            return True
        size, modified, _, again = known[item.location]
        try:
            return bool(again) or (
                item.path is not None and Stamp.of(item.path) != Stamp(size, modified)
            )
        except OSError:
            return True

    def _update(
        self,
        item: Item,
        known: Known,
        gone: set[str],
        writer: write.Writer,
    ) -> None:
        """Read a file, unless it has only been touched or renamed."""
        if same := _twin(item, known, gone):
            gone.discard(same)
            writer.rename(item, same)
        else:
            writer.read(item)

    def add(self, item: Item) -> None:
        """Read something that somebody named, and keep in mind that they did."""
        self._told(0, 0)
        self._added.keep(item)
        known = self._known()
        left_out = self._added.left_out()
        items = [each for each in self._expanded([item]) if each.location not in left_out]
        # A page may have changed, and only the one who adds it again wants to know.
        due = [each for each in items if each.kind == "page" or self._is_due(each, known)]
        self._settle([partial(self._update, each, known, set()) for each in due])

    def remove(self, location: str) -> None:
        """Take a document out."""
        self._added.leave_out(location)
        with self._store.transaction() as cursor:
            write.remove(cursor, location)

    def _settle(self, steps: list[Callable[[write.Writer], None]]) -> None:
        """Read one document after the other, and commit a group of them together."""
        done = 0
        while done < len(steps):
            with self._store.transaction() as cursor:
                writer = write.Writer(cursor, self._stopping, private=self._private)
                end = time.monotonic() + _SECONDS
                while done < len(steps) and writer.passages < _GROUP and time.monotonic() < end:
                    self._told(done, len(steps))
                    steps[done](writer)
                    done += 1
                writer.finish()


def _twin(item: Item, known: Known, gone: set[str]) -> str:
    """The document that is this very file, under its name or one that is gone; or ""."""
    if not item.path:
        return ""
    try:
        size = item.path.stat().st_size
        same = [
            place
            for place in (item.location, *sorted(gone))
            if place in known and known[place][0] == size and known[place][2]
        ]
        content = digest(item.path) if same else ""
    except OSError:  # gone meanwhile, or locked: reading it will say so
        return ""
    return next((place for place in same if known[place][2] == content), "")
