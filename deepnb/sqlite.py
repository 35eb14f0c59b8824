"""SQLite files that the threads of a process share: how they are opened, and changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def connect(where: str | Path, *, uri: bool = False, timeout: float = 10.0) -> sqlite3.Connection:
    """Open a database for threads that take turns: a lock of theirs sees to that.

    Args:
        where: Its file, or ":memory:".
        uri: Whether `where` may be an address that says more, such as how to open it.
        timeout: Seconds that another process may take to commit.
    """
    return sqlite3.connect(
        where,
        uri=uri,
        timeout=timeout,
        check_same_thread=False,
        isolation_level=None,  # transactions are begun where they are meant
    )


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """Do everything inside, or nothing of it."""
    with closing(db.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield cursor
            cursor.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                cursor.execute("ROLLBACK")
            raise
