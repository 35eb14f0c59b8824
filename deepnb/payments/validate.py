"""Whether a token is good, without redeeming it: nothing is spent by asking."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deepnb.errors import PaymentError, PendingTokenError, SpentTokenError, TokenError
from deepnb.payments import curve, locks
from deepnb.payments.config import address

if TYPE_CHECKING:
    from collections.abc import Collection

    from deepnb.payments.mint import Mint
    from deepnb.payments.tokens import Proof, Token


@dataclass(frozen=True)
class Checked:
    """A token that is good.

    Attributes:
        token: With the whole ids of its keysets, and its mint's address as it is written here.
        fee: What the mint takes for swapping it.
        safe_until: When others than us may be able to spend it; 0 if they always are.
    """

    token: Token
    fee: int
    safe_until: float


def mint_of(token: Token, mints: Collection[str]) -> str:
    """Give the address of a token's mint, if it is one of those that are taken.

    Raises:
        TokenError: It is not.
    """
    try:
        url = address(token.mint)
    except PaymentError:
        url = ""
    if url not in mints:
        raise TokenError(
            f"The token is of a mint that is not taken here. Send one of {' or '.join(mints)}."
        )
    return url


def check(token: Token, mint: Mint, pubkey: str) -> Checked:
    """Check all that can be checked of a token, first without the mint and then with it.

    Raises:
        TokenError: It is not good; the message says why, and what to do.
        MintError: The mint cannot be reached, or cannot be believed.
    """
    if token.unit != "sat":
        raise TokenError(f"The token is in {token.unit!r:.20}, and only 'sat' is taken. Send sats.")
    safe_until = min(locks.safe_until(proof.secret, pubkey) for proof in token.proofs)
    points = [curve.text(curve.secret_point(proof.secret)) for proof in token.proofs]
    if len(set(points)) != len(points):
        raise TokenError("The token has the same coin in it twice. Send one that has not.")
    proofs = tuple(_genuine(proof, mint) for proof in token.proofs)
    states = mint.states(points)
    if "SPENT" in states:
        raise SpentTokenError(
            "The token, or a part of it, was spent already. Nothing was taken; send another one."
        )
    if "PENDING" in states:
        raise PendingTokenError(
            "The token is being spent at this moment. Nothing was taken; try again in a minute, "
            "or send another one."
        )
    return Checked(replace(token, mint=mint.url, proofs=proofs), mint.fee(proofs), safe_until)


def _genuine(proof: Proof, mint: Mint) -> Proof:
    """A coin with the whole id of its keyset, if the mint has signed it."""
    keyset = mint.find(proof.keyset)
    if keyset is None or (keyset.expiry is not None and keyset.expiry <= time.time()):
        raise TokenError(
            f"The token is of a keyset that {mint.url} does not know, or that has expired. Receive "
            "it in a wallet, and send a new one from there."
        )
    if keyset.unit != "sat":
        raise TokenError(
            f"The token is in {keyset.unit!r:.20}, and only 'sat' is taken. Send sats."
        )
    if proof.dleq is None:
        raise TokenError(
            "The token does not show that its mint made it: it has no DLEQ proofs. Send it with "
            "them; nutshell's wallet does so with: cashu send --dleq."
        )
    key = mint.keys(keyset).get(proof.amount)
    if key is None or not curve.is_genuine(key, proof.secret, proof.signature, **vars(proof.dleq)):
        raise TokenError("The token is forged: its mint did not sign it. Nothing was taken.")
    return replace(proof, keyset=keyset.id)
