"""SHA-256 of files, which is not taken again while a file stays as it is."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from deepnb.errors import ChangedError, StorageError
from deepnb.exchange.scan import version_of
from deepnb.files.disk import open_regular

if TYPE_CHECKING:
    from pathlib import Path

    from deepnb.exchange.ledger import Ledger

TABLES = """
CREATE TABLE IF NOT EXISTS hashed (place TEXT PRIMARY KEY, version TEXT NOT NULL,
    sha256 TEXT NOT NULL);
"""
_ATTEMPTS = 3
# A file that was changed just now may change once more and show the same time: clocks of disks
# tick slowly. Its hash is right for now, and not to be relied on later.
_SETTLED_AFTER = 3.0  # seconds


class Hashes:
    """The hashes of a workspace's files.

    Args:
        ledger: What they are kept in, with `TABLES`, once it is there for another reason.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def known(self) -> dict[str, tuple[str, str]]:
        """All that are kept: version and hash, by place."""
        if not self._ledger.exists:
            return {}
        with self._ledger.reading() as db:
            found = db.execute("SELECT place, version, sha256 FROM hashed").fetchall()
        return {place: (version, sha256) for place, version, sha256 in found}

    def of(self, place: Path) -> str:
        """The hash of a file, which may have been taken before.

        Raises:
            ChangedError: Somebody is writing to it.
            OSError: It cannot be read.
        """
        if self._ledger.exists:
            with self._ledger.reading() as db:
                row = db.execute(
                    "SELECT sha256 FROM hashed WHERE place = ? AND version = ?",
                    (str(place), version_of(place.stat())),
                ).fetchone()
            if row:
                return str(row[0])
        sha256, version = self.take(place)
        self.keep({str(place): (version, sha256)})
        return sha256

    def take(self, place: Path) -> tuple[str, str]:
        """The hash of a file as it is now, and what to `keep` it by; empty if that is too early.

        Raises:
            ChangedError: Somebody is writing to it.
            OSError: It cannot be read.
        """
        for _ in range(_ATTEMPTS):
            with open_regular(place) as file:
                before = os.fstat(file.fileno())
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                after = os.fstat(file.fileno())
            if version_of(before) == version_of(after):
                changed = max(after.st_mtime, after.st_ctime)
                is_settled = time.time() - changed > _SETTLED_AFTER
                return sha256, version_of(after) if is_settled else ""
        raise ChangedError(
            f"{place.name!r} is being written to right now. Try again when that is done."
        )

    def keep(self, hashes: dict[str, tuple[str, str]]) -> None:
        """Keep versions and hashes by place; where that cannot be done, they are taken again."""
        rows = [(place, *known) for place, known in hashes.items() if known[0]]
        if rows and self._ledger.exists:
            with suppress(StorageError), self._ledger.transaction() as db:
                db.executemany("INSERT OR REPLACE INTO hashed VALUES (?, ?, ?)", rows)
