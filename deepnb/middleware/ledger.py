"""What model calls may cost and have cost, outside the graph's state.

Subagents work on copies of the state, so that a counter kept there would be overspent by each
and then collide. A ledger is one table that all of them share: a call reserves the most it may
cost before it is made, and settles for what it did cost afterwards. It is SQLite, in memory or in
a file, so that a budget outlives the kernel where a session wants that.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from deepnb.sqlite import connect, transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Unit = Literal["calls", "tokens", "usd"]


@dataclass(frozen=True)
class Amount:
    """So many model calls, tokens and dollars."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True)
class Exhausted:
    """A limit that a call would break."""

    unit: Unit
    limit: float
    spent: float


class Limit(NamedTuple):
    """How a limit stands."""

    unit: Unit
    limit: float
    spent: float


class Ledger:
    """Reservations, spending and raised limits per scope; safe for threads.

    Args:
        path: A file to keep it in; left out, it lives as long as this object.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        # One lock: what happens while it is held is arithmetic on a handful of rows.
        self.is_in_memory = path == ":memory:"
        self._db = connect(path)
        self._lock = threading.Lock()
        with self._transaction() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, scope TEXT NOT NULL, "
                "calls INTEGER NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL, "
                "settled INTEGER NOT NULL DEFAULT 0)"
            )
            db.execute("CREATE INDEX IF NOT EXISTS entry_scope ON entry (scope)")
            db.execute(
                "CREATE TABLE IF NOT EXISTS raised (scope TEXT, unit TEXT, value REAL NOT NULL, "
                "PRIMARY KEY (scope, unit))"
            )
            db.execute("CREATE TABLE IF NOT EXISTS stopped (scope TEXT PRIMARY KEY)")

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def reserve(
        self, scope: str, most: Amount, limits: Mapping[Unit, float]
    ) -> int | Exhausted | None:
        """Enter a call at the most it may cost, or say which limit that would break.

        None if the run was stopped.
        """
        with self._transaction() as db:
            if db.execute("SELECT 1 FROM stopped WHERE scope = ?", (scope,)).fetchone():
                return None
            spent = self._total(db, scope)
            for unit, limit in self._raised(db, scope, limits).items():
                if getattr(spent, unit) + getattr(most, unit) > limit:
                    return Exhausted(unit, limit, getattr(self._total(db, scope, 1), unit))
            cursor = db.execute(
                "INSERT INTO entry (scope, calls, tokens, usd) VALUES (?, ?, ?, ?)",
                (scope, most.calls, most.tokens, most.usd),
            )
            return cursor.lastrowid or 0

    def settle(self, entry: int, cost: Amount) -> None:
        """Replace a reservation by what the call did cost."""
        with self._transaction() as db:
            db.execute(
                "UPDATE entry SET calls = ?, tokens = ?, usd = ?, settled = 1 WHERE id = ?",
                (cost.calls, cost.tokens, cost.usd, entry),
            )

    def enter(self, scope: str, cost: Amount) -> None:
        """Enter a call that was made already."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO entry (scope, calls, tokens, usd, settled) VALUES (?, ?, ?, ?, 1)",
                (scope, cost.calls, cost.tokens, cost.usd),
            )

    def spent(self, scope: str) -> Amount:
        """Give what a scope has spent, without what calls under way have reserved."""
        with self._transaction() as db:
            return self._total(db, scope, settled=1)

    def standing(self, scope: str, limits: Mapping[Unit, float]) -> list[Limit]:
        """Give each limit as it is by now, and what was spent of it."""
        with self._transaction() as db:
            spent = self._total(db, scope, settled=1)
            raised = self._raised(db, scope, limits)
            return [Limit(unit, limit, getattr(spent, unit)) for unit, limit in raised.items()]

    def raise_limit(self, scope: str, unit: Unit, value: float) -> None:
        """Allow more; a limit is never lowered this way, so that saying it twice does no harm."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO raised VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
                "SET value = max(value, excluded.value)",
                (scope, unit, value),
            )
            db.execute("DELETE FROM stopped WHERE scope = ?", (scope,))

    def stop(self, scope: str) -> None:
        """Let no further call of this run be made."""
        with self._transaction() as db:
            db.execute("INSERT OR IGNORE INTO stopped VALUES (?)", (scope,))

    def resume(self, scope: str) -> None:
        """Let a new run ask again."""
        with self._transaction() as db:
            db.execute("DELETE FROM stopped WHERE scope = ?", (scope,))

    @staticmethod
    def _raised(db: sqlite3.Cursor, scope: str, limits: Mapping[Unit, float]) -> dict[Unit, float]:
        raised = dict(db.execute("SELECT unit, value FROM raised WHERE scope = ?", (scope,)))
        return {unit: max(given, raised.get(unit, 0)) for unit, given in limits.items()}

    @staticmethod
    def _total(db: sqlite3.Cursor, scope: str, settled: int = 0) -> Amount:
        query = (
            "SELECT sum(calls), sum(tokens), sum(usd) FROM entry WHERE scope = ? AND settled >= ?"
        )
        calls, tokens, usd = db.execute(query, (scope, settled)).fetchone()
        return Amount(calls or 0, tokens or 0, usd or 0.0)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        with self._lock, transaction(self._db) as cursor:
            yield cursor
