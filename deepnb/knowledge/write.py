"""Putting documents into the index, and taking them out."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from deepnb.chunks import chunks
from deepnb.errors import DeepnbError, MissingExtraError, UnreadableError
from deepnb.knowledge import readers, words
from deepnb.knowledge.gather import Stamp, digest, title_of
from deepnb.knowledge.store import about, count, note

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from deepnb.chunks import Block
    from deepnb.knowledge.gather import Item

_FLUSH = 8192  # passages that are held before they are written


class Stopped(BaseException):
    """The knowledge base is being closed."""


class Writer:
    """Reads documents into an open transaction.

    Args:
        cursor: Of the transaction; what was done counts when it is committed.
        stopping: Tells whether to give up, between two passages.
        private: Whether pages of private networks may be fetched.
    """

    def __init__(
        self, cursor: sqlite3.Cursor, stopping: Callable[[], bool], *, private: bool
    ) -> None:
        self._cursor = cursor
        self._stopping = stopping
        self._private = private
        self._postings = words.Postings()
        self._rows: list[tuple[Any, ...]] = []  # passages that are to be written, but their terms
        last = cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'").fetchone()
        self._last = int(last[0]) if last else 0
        self.passages = 0
        """How many were added since the transaction began."""

    def read(self, item: Item) -> None:
        """Read a document in place of what there was of it.

        Whatever is wrong with it is noted with it, and what could be read before that is kept.
        """
        try:
            stamp = Stamp.of(item.path) if item.path else Stamp(0, 0)
            document = self._opened(item)
            content = digest(item.path) if item.path else ""
        except Exception as error:  # noqa: BLE001  # a reader may fail in any way
            self._refuse(item, error)
            return
        title = plain(document.title) or _name_of(item)
        row = self._insert(item, document.kind, title, stamp, content)
        before = self.passages
        problem = self._fill(row, title, document)
        if problem and self.passages > before:
            problem = f"Only a part could be read: {problem}"
        self._note(row, problem or " ".join(document.remarks))

    def _opened(self, item: Item) -> readers.Document:
        if item.note:
            return readers.read_note(item.note.text, title_of(item.note))
        if item.path:
            return readers.read(item.path, item.location)
        from deepnb.web import fetch  # here, for its client takes long to load

        page = fetch(item.location, private=self._private)
        return readers.read_page(
            page.content, page.address, page.content_type, page.charset or None
        )

    def _refuse(self, item: Item, error: Exception) -> None:
        """Note why a document could not be opened; a page that was read once is kept as it was."""
        known = self._cursor.execute(
            "SELECT id FROM document WHERE location = ?", (item.location,)
        ).fetchone()
        if known and item.kind == "page":
            row = int(known[0])
        else:
            stamp = Stamp(-1, -1)
            with suppress(OSError):
                stamp = Stamp.of(item.path) if item.path else stamp
            row = self._insert(item, "", _name_of(item), stamp, "")
        self._note(row, reason_of(error), again=isinstance(error, MissingExtraError))

    def _insert(self, item: Item, form: str, title: str, stamp: Stamp, content: str) -> int:
        remove(self._cursor, item.location)
        row = self._cursor.execute(
            "INSERT INTO document (location, kind, format, title, size, modified, hash, read, "
            "problem, again) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0) RETURNING id",
            (item.location, item.kind, form, title, *astuple(stamp), content, time.time()),
        )
        return int(row.fetchone()[0])

    def _note(self, row: int, problem: str, *, again: bool = False) -> None:
        self._cursor.execute(
            "UPDATE document SET problem = ?, again = ? WHERE id = ?", (problem, again, row)
        )

    def _fill(self, row: int, title: str, document: readers.Document) -> str:
        """Add the passages; tells what went wrong, if anything."""
        try:
            for chunk in chunks(document.blocks):
                self._check_stop()
                self._add(row, title, chunk._replace(text=plain(chunk.text)))
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001  # it may show late that a document is broken
            return reason_of(error)
        return ""

    def _check_stop(self) -> None:
        if self._stopping():
            raise Stopped

    def rename(self, item: Item, before: str) -> None:
        """Take over what was read of a file under another name, or before it was touched."""
        assert item.path is not None  # noqa: S101  # only files have names that change
        if before != item.location:
            remove(self._cursor, item.location)
        (title,) = self._cursor.execute(
            "SELECT title FROM document WHERE location = ?", (before,)
        ).fetchone()
        old, new = Path(before), Path(item.location)
        title = {before: item.location, old.name: new.name, old.stem: new.stem}.get(title, title)
        self._cursor.execute(
            "UPDATE document SET location = ?, title = ?, size = ?, modified = ? "
            "WHERE location = ?",
            (item.location, title, *astuple(Stamp.of(item.path)), before),
        )

    def _add(self, document: int, title: str, chunk: Block) -> None:
        self._last += 1
        heading = plain(chunk.heading)
        self._postings.add(self._last, in_context(chunk.text, title, heading))
        self._rows.append((self._last, document, *chunk[:5], heading))
        self.passages += 1
        if len(self._rows) == _FLUSH:
            self.finish()

    def finish(self) -> None:
        """Write what is held, at the end of the transaction at the latest."""
        terms = self._postings.write(self._cursor)
        self._cursor.executemany(
            "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
            [(*row, count) for row, count in zip(self._rows, terms, strict=True)],
        )
        self._rows.clear()


def in_context(text: str, title: str, heading: str) -> str:
    """A passage with what it stands under: by itself it often does not name what it is about."""
    above = (title, *heading.split(" \u203a "))
    return "\n".join([*(line for line in dict.fromkeys(above) if line and line not in text), text])


def plain(text: str) -> str:
    """Text that SQLite, JSON and a screen can take: no half characters."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _name_of(item: Item) -> str:
    return plain(title_of(item.note) if item.note else item.location)


def reason_of(error: Exception) -> str:
    """What went wrong, in a line."""
    known = isinstance(error, DeepnbError | OSError)
    said = error.reason if isinstance(error, UnreadableError) else str(error)
    reason = " ".join(said.split())
    return reason if known and reason else f"{type(error).__name__}: {reason}".rstrip(": ")


def remove(cursor: sqlite3.Cursor, location: str) -> bool:
    """Take a document out; False if there is none."""
    found = cursor.execute("SELECT id FROM document WHERE location = ?", (location,)).fetchone()
    if not found:
        return False
    if cursor.execute("SELECT 1 FROM chunk WHERE document = ? LIMIT 1", found).fetchone():
        count(cursor, "removals")
    cursor.execute("DELETE FROM document WHERE id = ?", found)
    words.sweep(cursor)
    return True


def waiting(cursor: sqlite3.Cursor, count: int) -> list[tuple[int, str]]:
    """Passages that have no vector yet, as texts to embed: those of one length together."""
    rows = cursor.execute(
        "SELECT chunk.id, text, title, heading FROM chunk JOIN document ON document.id = document "
        "WHERE waiting ORDER BY length(text) LIMIT ?",
        (count,),
    )
    return [(chunk, in_context(text, title, heading)) for chunk, text, title, heading in rows]


def keep_vectors(cursor: sqlite3.Cursor, ids: list[int], vectors: NDArray[np.float32]) -> None:
    """Store the vectors of passages."""
    pairs = [(chunk, row.tobytes()) for chunk, row in zip(ids, vectors, strict=True)]
    cursor.executemany("INSERT OR REPLACE INTO vector (chunk, value) VALUES (?, ?)", pairs)
    cursor.executemany("UPDATE chunk SET waiting = 0 WHERE id = ?", [(chunk,) for chunk in ids])


def adopt_model(cursor: sqlite3.Cursor, name: str) -> None:
    """Begin anew if the vectors are of another model; the text stays."""
    if about(cursor, "model") != name:
        cursor.execute("DELETE FROM vector")
        cursor.execute("UPDATE chunk SET waiting = 1")
        note(cursor, "model", name)
        note(cursor, "epoch", uuid4().hex[:8])
