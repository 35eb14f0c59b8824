"""Accounts: what each has left, and charging it, exactly once for each key.

An account is a session's thread. A branch of it is another account, with nothing in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.errors import PaymentExhaustedError

if TYPE_CHECKING:
    from collections.abc import Collection

    from deepnb.payments.store import Store

_LEFT = "MAX(0, total - lost - fee - spent)"


class Ledger:
    """Charges, in the wallet file, so that threads and processes see the same balance."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def balance(self, account: str) -> int:
        """Say what can still be charged: what was paid in, without the mints' fees."""
        query = f"SELECT SUM({_LEFT}) FROM deposit WHERE account = ? AND state = 'held'"  # noqa: S608
        return self._store.rows(query, account)[0][0] or 0

    def spent(self, account: str) -> int:
        """Say what was charged in all."""
        query = "SELECT SUM(amount) FROM charge WHERE account = ?"
        return self._store.rows(query, account)[0][0] or 0

    def is_charged(self, account: str, key: str) -> bool:
        """Whether a charge of that key was made."""
        query = "SELECT 1 FROM charge WHERE account = ? AND key = ?"
        return bool(self._store.rows(query, account, key))

    def charge(self, account: str, price: int, key: str, without: Collection[str] = ()) -> None:
        """Charge an account, the oldest deposit first; a key that was charged is left at that.

        Args:
            account: Which one.
            price: How much.
            key: What the charge goes by.
            without: Deposits that are left alone.

        Raises:
            PaymentExhaustedError: There is not enough left, and nothing was charged.
        """
        # A power cut may take the last charges with it: they are made again by the same keys.
        with self._store.transaction(durable=False) as cursor:
            cursor.execute("SELECT 1 FROM charge WHERE account = ? AND key = ?", (account, key))
            if cursor.fetchone():
                return
            cursor.execute(
                f"SELECT handle, {_LEFT} FROM deposit WHERE account = ? AND state = 'held' "  # noqa: S608
                "ORDER BY position",
                (account,),
            )
            deposits = [row for row in cursor.fetchall() if row[0] not in without]
            balance = sum(left for _, left in deposits)
            if balance < price:
                raise PaymentExhaustedError(
                    f"A call costs {price} sat, and {balance} sat are left. Pay in another token "
                    "to go on, or settle to have the rest back.",
                    price,
                    balance,
                )
            due = price
            for handle, left in deposits:
                part = min(due, left)
                cursor.execute(
                    "UPDATE deposit SET spent = spent + ? WHERE handle = ?", (part, handle)
                )
                due -= part
            cursor.execute("INSERT INTO charge VALUES (?, ?, ?)", (account, key, price))
