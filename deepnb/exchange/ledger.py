"""One SQLite file that the threads and processes of a workspace share."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from deepnb.errors import StorageError
from deepnb.sqlite import connect, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Ledger:
    """A database that is made when something is first kept in it.

    Args:
        path: The file.
        tables: What to make in it, where that is not there yet.
        version: Of the tables; a file with a higher one was made by a newer deepnb.
    """

    def __init__(self, path: Path, tables: str, version: int) -> None:
        self._path = path
        self._tables = tables
        self._version = version
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether anything was ever kept in it."""
        return self._db is not None or self._path.exists()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._db:
                self._db.close()
                self._db = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Cursor]:
        """Read, and hold off this process's other threads meanwhile.

        Raises:
            StorageError: It cannot be read; the message says why and what to do.
        """
        with self._lock, self._explained(), closing(self._opened().cursor()) as cursor:
            yield cursor

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Cursor]:
        """Do everything inside, or nothing of it.

        Raises:
            StorageError: It cannot be written; the message says why and what to do.
        """
        with self._lock, self._explained(), transaction(self._opened()) as cursor:
            yield cursor

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            db = connect(self._path)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _prepare(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > self._version:
            raise StorageError(
                f"{self._path} was made by a newer deepnb. Run: pip install --upgrade deepnb"
            )
        # Readers do not wait for writers, and a killed process loses no committed transaction.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        if version < self._version:
            db.executescript(
                f"BEGIN IMMEDIATE; {self._tables} PRAGMA user_version = {self._version}; COMMIT;"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:  # full, read-only, locked
            raise StorageError(
                f"{self._path} cannot be used ({error}). Free some disk space, and make sure that "
                "its folder is writable."
            ) from error
        except sqlite3.Error as error:
            raise StorageError(
                f"{self._path} is damaged ({error}). Delete it and map your files again: they "
                "themselves are not in it, and both sides keep theirs."
            ) from error
