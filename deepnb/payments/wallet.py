"""What is in the wallet file: deposits and who they are for, plans, refunds and earnings."""

from __future__ import annotations

import json
import secrets
import sqlite3
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from deepnb.errors import DuplicateTokenError
from deepnb.payments import curve
from deepnb.payments.mint import Output
from deepnb.payments.tokens import Dleq, Proof, Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.payments.store import Store

_COLUMNS = "handle, account, mint, total, fee, safe_until, spent, lost, state, kept, refunded"


@dataclass(frozen=True)
class Deposit:
    """A token that was taken in. The token itself stays in the wallet file.

    Attributes:
        handle: What it goes by everywhere else.
        fee: What the mint takes for swapping it; at first what it said it would.
        safe_until: When others than us may be able to spend it; 0 if they always are.
        spent: What was charged to it.
        lost: What was spent by somebody else while it was here.
        state: "held", "settling" or "settled".
        kept: What was earned, once it is settled.
        refunded: What was given back, once it is settled.
    """

    handle: str
    account: str
    mint: str
    total: int
    fee: int
    safe_until: float
    spent: int
    lost: int
    state: str
    kept: int
    refunded: int

    @property
    def available(self) -> int:
        """What can still be charged to it."""
        left = self.total - self.lost - self.fee - self.spent
        return max(0, left) if self.state == "held" else 0


@dataclass(frozen=True)
class Plan:
    """How a deposit is swapped, written down before it is.

    Attributes:
        inputs: Which of its coins go in.
        keyset: What the new ones are signed with.
        fee: What the mint takes.
        kept: The amounts of the coins that were earned.
        refunded: The amounts of those that are given back.
    """

    inputs: list[int]
    keyset: str
    fee: int
    kept: list[int]
    refunded: list[int]


@dataclass(frozen=True)
class Refund:
    """What came of settling: kept + amount + fee + lost + waiting = total.

    Attributes:
        handle: What it goes by everywhere else; empty if there was nothing to settle.
        total: What had been paid in.
        kept: What was earned.
        fee: What the mints took.
        lost: What somebody else had spent meanwhile.
        waiting: What is not settled yet, since a mint could not be reached.
        tokens: The money that is given back: one token for each that was not used up.
        claimed: Whether somebody is known to have redeemed all of it.
    """

    handle: str
    total: int
    kept: int
    fee: int
    lost: int
    waiting: int
    tokens: tuple[Token, ...]
    claimed: bool = False

    @property
    def amount(self) -> int:
        """What is given back."""
        return sum(token.amount for token in self.tokens)

    @property
    def token(self) -> str:
        """The money: whoever reads this has it. Several tokens are on a line each."""
        return "\n".join(token.written() for token in self.tokens)

    def __repr__(self) -> str:
        more = "".join(
            f", {amount} {word}"
            for amount, word in ((self.lost, "lost"), (self.waiting, "waiting"))
            if amount
        )
        return f"Refund({self.amount} of {self.total} sat: {self.kept} kept, {self.fee} fee{more})"


class Wallet:
    """Deposits, and what becomes of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._private = curve.derived_scalar(store.seed, "p2pk")
        self.pubkey = curve.public_key(self._private)
        """The key to lock tokens to, so that nobody else can spend them."""

    @property
    def private(self) -> str:
        """The key that spends what was locked to `pubkey`."""
        return self._private

    # deposits

    def add(self, account: str, token: Token, fee: int, safe_until: float) -> Deposit:
        """Take a token in, once and for all sessions.

        Raises:
            DuplicateTokenError: It, or a part of it, is here already.
        """
        handle = _handle()
        points = [curve.text(curve.secret_point(proof.secret)) for proof in token.proofs]
        bodies = map(_written, token.proofs)
        try:
            with self._store.transaction() as cursor:
                cursor.execute(
                    "INSERT INTO deposit (handle, account, mint, total, fee, safe_until) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    (handle, account, token.mint, token.amount, fee, safe_until),
                )
                cursor.executemany(
                    "INSERT INTO proof VALUES (?, ?, ?, ?)",
                    [
                        (point, handle, position, body)
                        for position, (point, body) in enumerate(zip(points, bodies, strict=True))
                    ],
                )
        except sqlite3.IntegrityError:
            raise self.duplicate(account, points) from None
        return self.deposit(handle)

    def known(self, points: Sequence[str]) -> bool:
        """Whether one of these coins was ever paid in."""
        return bool(self._owners(points))

    def holds(self, points: Sequence[str]) -> bool:
        """Whether all of these coins were paid in."""
        marks = ", ".join("?" * len(points))
        query = f"SELECT COUNT(*) FROM proof WHERE point IN ({marks})"  # noqa: S608
        return bool(self._store.rows(query, *points)[0][0] == len(points))

    def duplicate(self, account: str, points: Sequence[str]) -> DuplicateTokenError:
        """Make the error that one of these coins is here already."""
        owners = self._owners(points)
        own = next((handle for handle, owner in owners if owner == account), None)
        whose = "this session" if own else "another session"
        return DuplicateTokenError(
            f"This token was paid to {whose} already, and was not counted again. Send another one.",
            own,
        )

    def _owners(self, points: Sequence[str]) -> list[tuple[Any, ...]]:
        marks = ", ".join("?" * len(points))
        return self._store.rows(
            "SELECT DISTINCT handle, account FROM proof JOIN deposit ON deposit = handle "  # noqa: S608  # question marks alone
            f"WHERE point IN ({marks})",
            *points,
        )

    def deposit(self, handle: str) -> Deposit:
        """Find a deposit."""
        (row,) = self._store.rows(f"SELECT {_COLUMNS} FROM deposit WHERE handle = ?", handle)  # noqa: S608
        return Deposit(*row)

    def deposits(self, account: str) -> list[Deposit]:
        """List an account's deposits, the oldest first."""
        rows = self._store.rows(
            f"SELECT {_COLUMNS} FROM deposit WHERE account = ? ORDER BY position",  # noqa: S608
            account,
        )
        return [Deposit(*row) for row in rows]

    def points(self, handle: str) -> list[str]:
        """List the points of a deposit's coins."""
        query = "SELECT point FROM proof WHERE deposit = ? ORDER BY position"
        return [point for (point,) in self._store.rows(query, handle)]

    def proofs(self, handle: str) -> list[Proof]:
        """List a deposit's coins."""
        query = "SELECT body FROM proof WHERE deposit = ? ORDER BY position"
        return [_read(body) for (body,) in self._store.rows(query, handle)]

    def lose(self, handle: str, amount: int) -> None:
        """Note that so much of a deposit was spent by somebody else."""
        with self._store.transaction() as cursor:
            cursor.execute(
                "UPDATE deposit SET lost = ? WHERE handle = ? AND state = 'held'", (amount, handle)
            )

    # settling

    def unsettled(self, account: str) -> list[Deposit]:
        """Gather what is to be settled under one refund, which may have been begun before."""
        with self._store.transaction() as cursor:
            cursor.execute(
                "SELECT refund FROM deposit WHERE account = ? AND state != 'settled' "
                "AND refund IS NOT NULL",
                (account,),
            )
            begun = cursor.fetchone()
            handle = begun[0] if begun else _handle()
            cursor.execute(
                "INSERT OR IGNORE INTO refund (handle, account) SELECT ?, ? WHERE EXISTS "
                "(SELECT 1 FROM deposit WHERE account = ? AND state != 'settled')",
                (handle, account, account),
            )
            cursor.execute(
                "UPDATE deposit SET refund = ? WHERE account = ? AND state != 'settled'",
                (handle, account),
            )
        return [each for each in self.deposits(account) if each.state != "settled"]

    def plan(self, handle: str, plan: Plan, for_spent: int) -> bool:
        """Write down how a deposit is swapped; False if it was charged or settled meanwhile."""
        body = json.dumps(asdict(plan))
        with self._store.transaction() as cursor:
            cursor.execute(
                "UPDATE deposit SET state = 'settling' "
                "WHERE handle = ? AND state != 'settled' AND spent = ?",
                (handle, for_spent),
            )
            if not cursor.rowcount:
                return False
            cursor.execute(
                "SELECT body FROM plan WHERE deposit = ? ORDER BY number DESC LIMIT 1", (handle,)
            )
            last = cursor.fetchone()
            if last is None or last[0] != body:
                cursor.execute(
                    "INSERT INTO plan SELECT ?, COUNT(*), ? FROM plan WHERE deposit = ?",
                    (handle, body, handle),
                )
        return True

    def plans(self, handle: str) -> list[tuple[Plan, list[Output]]]:
        """List the plans that were made for a deposit, the newest first, with their outputs.

        Secrets and blinding factors come of the seed, so that they are the same after a crash.
        """
        query = "SELECT number, body FROM plan WHERE deposit = ? ORDER BY number DESC"
        plans = []
        for number, body in self._store.rows(query, handle):
            plan = Plan(**json.loads(body))
            outputs = [
                self._output(amount, plan.keyset, f"{handle}/{number}/{index}")
                for index, amount in enumerate([*plan.kept, *plan.refunded])
            ]
            plans.append((plan, outputs))
        return plans

    def _output(self, amount: int, keyset: str, name: str) -> Output:
        secret = curve.derived_scalar(self._store.seed, f"{name}/secret")
        return Output(amount, keyset, secret, curve.derived_scalar(self._store.seed, f"{name}/r"))

    def settled(self, deposit: Deposit, plan: Plan | None, coins: Sequence[Proof]) -> None:
        """Write down what came of a deposit; no plan means that all of it was lost."""
        kept, refunded, fee = 0, 0, 0
        if plan:
            kept, refunded, fee = sum(plan.kept), sum(plan.refunded), plan.fee
        lost = deposit.total - kept - refunded - fee
        with self._store.transaction() as cursor:
            cursor.execute(
                "UPDATE deposit SET state = 'settled', kept = ?, refunded = ?, fee = ?, lost = ? "
                "WHERE handle = ? AND state != 'settled'",
                (kept, refunded, fee, lost, deposit.handle),
            )
            if cursor.rowcount and plan:
                cursor.executemany(
                    "INSERT INTO coin (deposit, position, is_kept, body) VALUES (?, ?, ?, ?)",
                    [
                        (deposit.handle, position, position < len(plan.kept), _written(coin))
                        for position, coin in enumerate(coins)
                    ],
                )

    # what was given back, and what was earned

    def latest_refund(self, account: str) -> list[str]:
        """Find the handle of an account's latest refund."""
        query = "SELECT handle FROM refund WHERE account = ? ORDER BY position DESC LIMIT 1"
        return [handle for (handle,) in self._store.rows(query, account)]

    def open_refunds(self, account: str) -> list[str]:
        """Find the refunds with money that nobody is known to have claimed, the oldest first.

        The latest is among them also if there was nothing to give back.
        """
        query = (
            "SELECT refund.handle FROM refund JOIN deposit ON refund = refund.handle "
            "WHERE refund.account = ? AND NOT is_claimed GROUP BY refund.handle "
            "HAVING SUM(refunded) OR SUM(state != 'settled') OR refund.position = "
            "(SELECT MAX(position) FROM refund WHERE account = ?) ORDER BY refund.position"
        )
        return [handle for (handle,) in self._store.rows(query, account, account)]

    def claim(self, handle: str) -> None:
        """Note that somebody has redeemed a refund."""
        with self._store.transaction() as cursor:
            cursor.execute("UPDATE refund SET is_claimed = 1 WHERE handle = ?", (handle,))

    def accounts(self) -> list[str]:
        """Name the accounts with money that is not settled or not claimed, the oldest first."""
        query = (
            "SELECT deposit.account FROM deposit LEFT JOIN refund ON refund = refund.handle "
            "WHERE state != 'settled' OR (refunded > 0 AND NOT is_claimed) "
            "GROUP BY deposit.account ORDER BY MIN(deposit.position)"
        )
        return [account for (account,) in self._store.rows(query)]

    def refund(self, *handles: str) -> Refund:
        """Give refunds as they stand, as one under the handle of the last."""
        marks = ", ".join("?" * len(handles))
        rows = self._store.rows(
            f"SELECT {_COLUMNS} FROM deposit WHERE refund IN ({marks}) ORDER BY position",  # noqa: S608
            *handles,
        )
        claims = self._store.rows(
            f"SELECT is_claimed FROM refund WHERE handle IN ({marks})",  # noqa: S608
            *handles,
        )
        deposits = [Deposit(*row) for row in rows]
        done = [each for each in deposits if each.state == "settled"]
        coins = [(each.mint, self._coins(each.handle)) for each in done]
        return Refund(
            handle=handles[-1],
            total=sum(each.total for each in deposits),
            kept=sum(each.kept for each in done),
            fee=sum(each.fee for each in done),
            lost=sum(each.lost for each in done),
            waiting=sum(each.total for each in deposits if each.state != "settled"),
            tokens=tuple(Token(mint, proofs) for mint, proofs in coins if proofs),
            claimed=all(is_claimed for (is_claimed,) in claims),
        )

    def _coins(self, handle: str) -> tuple[Proof, ...]:
        query = "SELECT body FROM coin WHERE deposit = ? AND NOT is_kept ORDER BY position"
        return tuple(_read(body) for (body,) in self._store.rows(query, handle))

    @property
    def earned(self) -> int:
        """What was earned and is still here."""
        query = "SELECT body FROM coin WHERE is_kept AND payout IS NULL"
        return sum(_read(body).amount for (body,) in self._store.rows(query))

    def collect(self) -> str:
        """Set aside all that was earned, under a handle."""
        handle = _handle()
        with self._store.transaction() as cursor:
            cursor.execute("UPDATE coin SET payout = ? WHERE is_kept AND payout IS NULL", (handle,))
        return handle

    def collected(self, handle: str | None = None) -> tuple[Token, ...]:
        """Give what was set aside, under one handle or ever: a token for each mint."""
        mints: dict[str, list[Proof]] = {}
        rows = self._store.rows(
            "SELECT mint, body FROM coin JOIN deposit ON deposit = handle "
            "WHERE payout IS NOT NULL AND (? IS NULL OR payout = ?) "
            "ORDER BY deposit.position, coin.position",
            handle,
            handle,
        )
        for mint, body in rows:
            mints.setdefault(mint, []).append(_read(body))
        return tuple(Token(mint, tuple(proofs)) for mint, proofs in mints.items())


def amount(proofs: Iterable[Proof]) -> int:
    """Add coins up."""
    return sum(proof.amount for proof in proofs)


def _handle() -> str:
    return f"cashu:{secrets.token_hex(16)}"


def _written(proof: Proof) -> str:
    return json.dumps(asdict(proof))


def _read(body: str) -> Proof:
    fields = json.loads(body)
    dleq = fields.pop("dleq")
    return Proof(**fields, dleq=Dleq(**dleq) if dleq else None)
