"""Play money, to try payments with: a test mint gives anybody as much of it as they like."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from deepnb.errors import MintError, MintUnreachableError
from deepnb.payments.config import address
from deepnb.payments.mint import Mint, Output
from deepnb.payments.settle import split
from deepnb.payments.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PATIENCE = 10.0
_PAUSE = 0.05


def play_money(mint: str, sats: int) -> Token:
    """Have a test mint issue a token: `written()` is what a wallet would send.

    A test mint pays its own invoices. Any other waits for somebody to pay, and this does not.

    Args:
        mint: The address of a test mint.
        sats: How much.

    Raises:
        MintError: It cannot be reached, or is no test mint.
    """
    try:
        return issue(mint, sats)
    except MintUnreachableError as error:
        raise MintUnreachableError(
            f"{address(mint)} cannot be reached, so there is no play money. Is there a network? "
            "Any other test mint will do, one on this machine too."
        ) from error


def issue(
    mint: str,
    sats: int,
    secret: Callable[[], str] = lambda: secrets.token_hex(32),
    coins: Sequence[int] = (),
) -> Token:
    """Have one issued of coins with these secrets, of these sizes or as few as there can be."""
    at = Mint(address(mint))
    try:
        invoice = at.invoice(sats)
        _wait_until_paid(at, invoice)
        keyset = at.newest()
        sizes = coins or split(sats, at.keys(keyset))
        blinded = [Output(size, keyset.id, secret(), secrets.token_hex(32)) for size in sizes]
        return Token(at.url, tuple(at.issue(invoice, blinded)))
    finally:
        at.close()


def _wait_until_paid(mint: Mint, invoice: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not mint.is_paid(invoice):
        if time.monotonic() > deadline:
            raise MintError(
                f"{mint.url} does not pay its own invoices, so it is no test mint. Have your "
                "wallet send a token instead."
            )
        time.sleep(_PAUSE)
