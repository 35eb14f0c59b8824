"""One SQLite file, shared by the threads of a process, whose failures are explained."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deepnb.errors import DamagedThreadError, NewerThreadError, StorageError, ThreadError
from deepnb.sqlite import connect, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 1
"""Of the tables below; a database with a higher one was made by a newer deepnb."""

_TABLES = """
CREATE TABLE event (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE ask (position INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, text TEXT NOT NULL,
    input BLOB, steer INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE answer (question TEXT PRIMARY KEY, answer BLOB NOT NULL);
CREATE TABLE call (key TEXT PRIMARY KEY, expected TEXT, result BLOB);
CREATE TABLE shown (key TEXT PRIMARY KEY, fingerprint TEXT);
CREATE TABLE allowed (tool TEXT NOT NULL, pattern TEXT NOT NULL, PRIMARY KEY (tool, pattern));
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Database:
    """The tables of a record.

    Args:
        path: The file; None keeps it in memory.
        read_only: For a look at a thread that somebody else may have open.

    Raises:
        ThreadError: It cannot be opened; the message says why and what to do.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self._path = path
        self._lock = threading.RLock()
        with self.explained():
            where = _address(path, read_only=read_only) if path else ":memory:"
            self._db = connect(where, uri=True)
        try:
            with self.explained():
                self._prepare(read_only=read_only)
        except ThreadError:
            self._db.close()
            raise

    def _prepare(self, *, read_only: bool) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise NewerThreadError(
                f"{self._name} was made by a newer deepnb. Run: pip install --upgrade deepnb, or "
                "use another thread."
            )
        if read_only and version > 0:
            return
        if read_only:  # whoever made it has died before it was made
            self._db.close()
            self._db = connect(":memory:")
        # Readers do not wait for writers, and a killed process loses no committed transaction.
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA secure_delete = ON")  # what is let go of is not left in the file
        if version == 0:
            self._db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")

    @property
    def _name(self) -> str:
        return str(self._path) if self._path else "The record in memory"

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Cursor]:
        """Do everything inside, or nothing of it."""
        with self._lock, self.explained(), transaction(self._db) as cursor:
            yield cursor

    def rows(self, query: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Read."""
        with self._lock, self.explained():
            return self._db.execute(query, parameters).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def damaged(self, error: Exception) -> DamagedThreadError:
        """Make the error that what is in the file makes no sense."""
        return damaged(self._name, error)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ones that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise explain(error, self._name) from error


def _address(path: Path, *, read_only: bool) -> str:
    if not read_only:
        return f"{path.as_uri()}?mode=rwc"
    # Even to read, SQLite wants to write beside the file. Where it may not, nobody else may.
    settled = "" if os.access(path.parent, os.W_OK) else "&immutable=1"
    return f"{path.as_uri()}?mode=ro{settled}"


_MOVE_AWAY = (
    "Nothing was deleted: move its folder away to keep it, or delete it with deepnb.forget, and "
    "use another thread meanwhile."
)


def damaged(name: str, error: Exception) -> DamagedThreadError:
    """Make the error that something cannot be read."""
    return DamagedThreadError(f"{name} cannot be read ({error}). {_MOVE_AWAY}")


def explain(error: sqlite3.Error, name: str) -> ThreadError:
    """Say what an error of SQLite's means for a thread."""
    text = str(error)
    if "full" in text or "disk I/O" in text:
        return StorageError(
            f"{name} could not be written ({text}). Free some disk space; then session.resume() "
            "goes on where it stopped."
        )
    if "readonly" in text or "unable to open" in text or "locked" in text:
        return StorageError(
            f"{name} cannot be written ({text}). Make its folder writable, choose another "
            "workspace, or pass persist=False to keep the thread in memory."
        )
    return damaged(name, error)
