"""The index on disk: one SQLite file that holds documents, passages, words and vectors.

Everything in it is made from documents and can be made again. A transaction holds whole
documents only, so that a build that was killed has each of them or not, and nobody ever reads
a half of it. Readers, in other threads and other processes, never wait for the writer.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from deepnb.errors import KnowledgeError
from deepnb.sqlite import connect, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 1
"""Of the tables, of the chunks and of the words in them: an index of another one is made anew."""

NAME = "index.sqlite"

_TABLES = """
CREATE TABLE document (id INTEGER PRIMARY KEY AUTOINCREMENT, location TEXT UNIQUE NOT NULL,
    kind TEXT NOT NULL, format TEXT NOT NULL, title TEXT NOT NULL, size INTEGER NOT NULL,
    modified INTEGER NOT NULL, hash TEXT NOT NULL, read REAL NOT NULL, problem TEXT NOT NULL,
    again INTEGER NOT NULL);
CREATE TABLE chunk (id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
    text TEXT NOT NULL, unit TEXT NOT NULL, first INTEGER, last INTEGER, within TEXT NOT NULL,
    heading TEXT NOT NULL, terms INTEGER NOT NULL, waiting INTEGER NOT NULL);
CREATE INDEX chunk_document ON chunk (document);
CREATE INDEX chunk_waiting ON chunk (length(text)) WHERE waiting;
CREATE TABLE vector (seq INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk INTEGER UNIQUE NOT NULL REFERENCES chunk ON DELETE CASCADE, value BLOB NOT NULL);
CREATE TABLE posting (segment INTEGER NOT NULL, term TEXT NOT NULL, places BLOB NOT NULL,
    PRIMARY KEY (segment, term)) WITHOUT ROWID;
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Store:
    """An open index.

    Args:
        folder: Where it is; made if it is not there.

    Raises:
        sqlite3.Error, OSError: It cannot be opened, or not be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._writing, self._reading = threading.RLock(), threading.RLock()
        self._open()

    def _open(self) -> None:
        self._writer = self._connect()
        try:
            self._prepare()
            self._reader = self._connect()
        except BaseException:
            self._writer.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.folder / NAME, timeout=30)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _prepare(self) -> None:
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise KnowledgeError(
                f"The index in {self.folder} was made by a newer deepnb. Run: pip install "
                "--upgrade deepnb, or pass at= to make another index elsewhere."
            )
        self._writer.execute("PRAGMA journal_mode = WAL")
        if version == VERSION:
            return
        with self.transaction() as cursor:  # another process may be making the tables just now
            version = cursor.execute("PRAGMA user_version").fetchone()[0]
            if version == VERSION:
                return
            tables = cursor.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            ).fetchall()
            for (table,) in tables:
                cursor.execute(f'DROP TABLE "{table}"')
            for statement in filter(str.strip, _TABLES.split(";")):
                cursor.execute(statement)
            cursor.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Cursor]:
        """Do everything inside, or nothing of it."""
        with self._writing, transaction(self._writer) as cursor:
            yield cursor

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Cursor]:
        """Read several times from one and the same state."""
        with self._reading, closing(self._reader.cursor()) as cursor:
            cursor.execute("BEGIN")
            try:
                yield cursor
            finally:
                if self._reader.in_transaction:
                    cursor.execute("COMMIT")

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Read once."""
        with self._reading:
            return self._reader.execute(query, parameters).fetchall()

    def changes(self) -> int:
        """A number that is another one after anybody, in any process, has written."""
        return int(self.rows("PRAGMA data_version")[0][0])

    def start_over(self) -> Path:
        """Make an empty index in place of a damaged one, and say where that is now."""
        with self._writing, self._reading:
            self.close()
            aside = set_aside(self.folder)
            self._open()
        return aside

    def close(self) -> None:
        """Let go of the file."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()


def about(cursor: sqlite3.Cursor, key: str) -> str:
    """Look up a fact about the index; "" if nobody has noted it."""
    found = cursor.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
    return str(found[0]) if found else ""


def note(cursor: sqlite3.Cursor, key: str, value: str) -> None:
    """Note a fact about the index."""
    cursor.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, value))


def count(cursor: sqlite3.Cursor, key: str) -> None:
    """Count something that happened to the index."""
    note(cursor, key, str(int(about(cursor, key) or 0) + 1))


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file is broken, and not busy, full or read-only."""
    return type(error) is sqlite3.DatabaseError


def damage_notice(error: sqlite3.Error, aside: Path) -> str:
    """Say what happened to a damaged index."""
    return f"It was damaged ({error}) and is made anew; the damaged one is in {aside}."


def set_aside(folder: Path) -> Path:
    """Move a damaged index out of the way, and say where it is now."""
    number = 1
    while (target := folder / f"damaged-{number}").exists():
        number += 1
    target.mkdir()
    for path in (*folder.glob(NAME + "*"), *folder.glob("near-*")):
        path.rename(target / path.name)
    return target
