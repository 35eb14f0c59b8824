"""The wallet file: money, so nobody but its owner may read it, and every change is whole."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deepnb.errors import WalletError
from deepnb.sqlite import connect, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 1
"""Of the tables below; a file with a higher one was made by a newer deepnb."""

# A coin's point is its identity: none can be paid in twice, whichever session it is paid to.
# What a deposit was charged is kept with it, so that one that turns out to be spent takes its own
# charges with it and no others'.
_TABLES = """
CREATE TABLE seed (seed BLOB NOT NULL);
CREATE TABLE refund (position INTEGER PRIMARY KEY, handle TEXT UNIQUE NOT NULL,
    account TEXT NOT NULL, is_claimed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE deposit (position INTEGER PRIMARY KEY, handle TEXT UNIQUE NOT NULL,
    account TEXT NOT NULL, mint TEXT NOT NULL, total INTEGER NOT NULL, fee INTEGER NOT NULL,
    safe_until REAL NOT NULL, spent INTEGER NOT NULL DEFAULT 0, lost INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'held', refund TEXT REFERENCES refund (handle),
    kept INTEGER NOT NULL DEFAULT 0, refunded INTEGER NOT NULL DEFAULT 0);
CREATE INDEX deposit_account ON deposit (account);
CREATE TABLE proof (point TEXT PRIMARY KEY, deposit TEXT NOT NULL REFERENCES deposit (handle),
    position INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX proof_deposit ON proof (deposit);
CREATE TABLE charge (account TEXT NOT NULL, key TEXT NOT NULL, amount INTEGER NOT NULL,
    PRIMARY KEY (account, key));
CREATE TABLE plan (deposit TEXT NOT NULL REFERENCES deposit (handle), number INTEGER NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (deposit, number));
CREATE TABLE coin (deposit TEXT NOT NULL REFERENCES deposit (handle), position INTEGER NOT NULL,
    is_kept INTEGER NOT NULL, body TEXT NOT NULL, payout TEXT, PRIMARY KEY (deposit, position));
"""


class Store:
    """A wallet's tables, shared by threads and processes.

    Args:
        folder: Where the file is; both are made when they are not there.

    Raises:
        WalletError: It cannot be opened, or others can read it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "wallet.sqlite"
        self._lock = threading.RLock()
        with self._explained():
            _make_private(folder, self._path)
            self._db = connect(self._path)
            try:
                self._prepare()
                self.seed: bytes = self._db.execute("SELECT seed FROM seed").fetchone()[0]
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA secure_delete = ON")
        with transaction(self._db) as cursor:  # of several who come first, one makes the tables
            version = cursor.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise WalletError(
                    f"{self._path} was made by a newer deepnb. Run: pip install --upgrade deepnb"
                )
            if version == 0:
                for statement in _TABLES.split(";"):
                    cursor.execute(statement)
                cursor.execute("INSERT INTO seed VALUES (?)", (secrets.token_bytes(32),))
                cursor.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Cursor]:
        """Do everything inside, or nothing of it.

        Args:
            durable: Whether it outlives a power cut too, and not only the process; that takes
                milliseconds, since the disk has to be waited for.
        """
        with self._lock, self._explained():
            self._db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            with transaction(self._db) as cursor:
                yield cursor

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Read."""
        with self._lock, self._explained():
            return self._db.execute(query, parameters).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            raise WalletError(
                f"The wallet {self._path} cannot be used ({error}). Free some disk space, and make "
                "sure that its folder is writable, or choose another: Cashu(…, wallet=folder)."
            ) from None
        except sqlite3.ProgrammingError:
            raise WalletError("The till is closed. Open it again: Cashu(…).open().") from None
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError):
                raise
            raise WalletError(
                f"The wallet {self._path} is damaged ({error}). It may hold money: keep a copy of "
                "its folder, and choose another: Cashu(…, wallet=folder)."
            ) from None


def _make_private(folder: Path, file: Path) -> None:
    """Make folder and file, and refuse them if anybody else can get at them."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(file, flags, 0o600))
    if os.name != "posix":
        return
    for path, mode in ((folder, 0o700), (file, 0o600)):
        found = path.stat()
        if found.st_uid != os.getuid():
            raise WalletError(
                f"{path} belongs to another user, who could take the money. Choose a folder of "
                "your own: Cashu(…, wallet=folder)."
            )
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise WalletError(
                f"Others can get at {path}, and what is in it is money. Run: chmod {mode:o} "
                f"'{path}', or choose a folder that is not there yet: Cashu(…, wallet=folder)."
            )
