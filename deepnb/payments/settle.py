"""A deposit is swapped into what was earned and what is given back: once, whatever happens.

The plan is written down before the mint is asked, and the coins that it names come of the wallet's
seed. A process that died, or an answer that got lost, is repaired by the same call: the mint says
that the deposit is spent, and gives the same signatures again, so that the refund is the same to
the byte. If it has signed none of them, then somebody else spent the deposit.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from deepnb.errors import MintError
from deepnb.payments import locks
from deepnb.payments.mint import PENDING
from deepnb.payments.tokens import MOST_PROOFS
from deepnb.payments.wallet import Plan, amount

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deepnb.payments.mint import Mint, State
    from deepnb.payments.tokens import Proof
    from deepnb.payments.wallet import Deposit, Wallet

_TRIES = 8
_PAUSE = 0.25
"""Seconds until a mint that is busy with a coin is asked again."""


def settle(wallet: Wallet, mint: Mint, deposit: Deposit) -> None:
    """Swap a deposit, or find out what came of an earlier attempt at it.

    Raises:
        MintError: It refuses, or is busy, or cannot be believed. Everything is kept as it is.
        MintUnreachableError: It cannot be reached. Everything is kept as it is.
    """
    proofs, points = wallet.proofs(deposit.handle), wallet.points(deposit.handle)
    refusal = MintError(f"{mint.url} is busy with these coins. Try again in a minute.", PENDING)
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE)
        states = mint.states(points)
        if "PENDING" in states:
            continue
        # The plans are read after the states: whoever spent the coins had written theirs before.
        if "SPENT" in states and _restored(wallet, mint, deposit):
            return
        deposit = wallet.deposit(deposit.handle)
        if deposit.state == "settled":
            return
        plan = _plan(mint, deposit, proofs, states)
        if plan is None:
            wallet.settled(deposit, None, [])
            return
        if not wallet.plan(deposit.handle, plan, deposit.spent):
            continue
        plan, outputs = wallet.plans(deposit.handle)[0]
        try:
            coins = mint.swap(_inputs(wallet, proofs, plan), outputs)
        except MintError as error:
            if error.code is None:
                raise
            refusal = error
            continue
        wallet.settled(deposit, plan, coins)
        return
    raise refusal


def _restored(wallet: Wallet, mint: Mint, deposit: Deposit) -> bool:
    for plan, outputs in wallet.plans(deposit.handle):
        coins = mint.restore(outputs)
        if coins is not None:
            wallet.settled(deposit, plan, coins)
            return True
    return False


def _plan(mint: Mint, deposit: Deposit, proofs: list[Proof], states: list[State]) -> Plan | None:
    """Share out what is left of a deposit; None if nothing is, or less than the mint's fee."""
    inputs = [index for index, state in enumerate(states) if state == "UNSPENT"]
    going_in = [proofs[index] for index in inputs]
    keyset = mint.newest()
    fee = mint.fee(going_in)
    value = amount(going_in) - fee
    if value <= 0 and fee > deposit.fee:
        raise MintError(
            f"{mint.url} has raised its fees above what the deposit is worth. It is kept; ask "
            "those who run the mint."
        )
    if value <= 0:
        return None
    sizes = mint.keys(keyset)
    kept = min(deposit.spent, value)
    plan = Plan(inputs, keyset.id, fee, split(kept, sizes), split(value - kept, sizes))
    if sum(plan.kept) + sum(plan.refunded) != value:
        raise MintError(
            f"{mint.url} has no coins that {value} sat can be paid in. Ask those who run it."
        )
    return plan


def split(whole: int, sizes: Collection[int]) -> list[int]:
    """Break an amount into coins, as few as there can be, up to what a mint takes at once."""
    coins: list[int] = []
    for size in sorted(sizes, reverse=True):
        number = min(whole // size, MOST_PROOFS - len(coins))
        coins += [size] * number
        whole -= size * number
    return coins


def _inputs(wallet: Wallet, proofs: Sequence[Proof], plan: Plan) -> list[tuple[Proof, str | None]]:
    going_in = [proofs[index] for index in plan.inputs]
    return [(proof, locks.witness(proof.secret, wallet.private)) for proof in going_in]
