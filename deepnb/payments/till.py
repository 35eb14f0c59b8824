"""Where money is taken in, charged and given back: the one object that the rest of deepnb uses."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from deepnb.errors import MintError, PaymentError, PaymentExhaustedError, TokenError
from deepnb.payments import curve, tokens, validate
from deepnb.payments.ledger import Ledger
from deepnb.payments.mint import PENDING, Mint
from deepnb.payments.settle import settle
from deepnb.payments.store import Store
from deepnb.payments.wallet import Refund, Wallet

if TYPE_CHECKING:
    from deepnb.payments.config import Cashu
    from deepnb.payments.tokens import Token
    from deepnb.payments.wallet import Deposit

_MARGIN = 60.0
"""Seconds before a lock ends from which on it is not relied on: clocks differ."""


class Till:
    """Takes tokens in, charges accounts, and settles them.

    Everything in it blocks until it is done; from a coroutine, use `asyncio.to_thread`. It may be
    used by several threads, and its wallet by several processes.

    Args:
        cashu: Which mints are taken, what a call costs, and where the wallet is.

    Raises:
        WalletError: The wallet file cannot be opened, or others can read it.
    """

    def __init__(self, cashu: Cashu) -> None:
        self.price = cashu.price_sats
        self.mints = tuple(cashu.mints)
        self._store = Store(cashu.folder)
        self._wallet = Wallet(self._store)
        self._ledger = Ledger(self._store)
        self._open: dict[str, Mint] = {}

    def __repr__(self) -> str:
        return f"Till(mints={list(self.mints)}, price_sats={self.price})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the wallet file and of all connections."""
        for mint in self._open.values():
            mint.close()
        self._store.close()

    @property
    def pubkey(self) -> str:
        """The key to lock tokens to: then not even their payer can spend them twice."""
        return self._wallet.pubkey

    # paying in

    def deposit(self, account: str, token: str) -> Deposit:
        """Take a token in, once it was found to be good. Nothing is redeemed yet.

        Args:
            account: Who it is for: the id of a session's thread.
            token: The token, as a wallet has written it.

        Raises:
            TokenError: It is not good, or too small; it is still its owner's.
            DuplicateTokenError: It is here already; `handle` says under which name, if it was
                paid into the same account.
            MintError: The mint cannot be reached, or cannot be believed; it is still its owner's.
        """
        read = tokens.parse(token)
        mint = self._mint(validate.mint_of(read, self.mints))
        points = _points(read)
        if self._wallet.known(points):
            raise self._wallet.duplicate(account, points)
        good = validate.check(read, mint, self.pubkey)
        value = good.token.amount - good.fee
        if value <= 0 or self.balance(account) + value < self.price:
            raise TokenError(
                f"The token is worth {max(value, 0)} sat here, after the mint's fee of {good.fee}, "
                f"and a call costs {self.price}. Send a larger one."
            )
        deposit = self._wallet.add(account, good.token, good.fee, good.safe_until)
        for handle in self._wallet.open_refunds(account):
            given_back = self._wallet.refund(handle).tokens
            if given_back and all(map(self._is_here, given_back)):
                self._wallet.claim(handle)
        return deposit

    def deposits(self, account: str) -> list[Deposit]:
        """List what was paid into an account, the oldest first."""
        return self._wallet.deposits(account)

    def paid_in(self, account: str, token: str) -> Deposit | None:
        """Find the deposit that a token has become; None if it was not paid into this account.

        Raises:
            TokenError: It is malformed.
        """
        points = _points(tokens.parse(token))
        handle = self._wallet.duplicate(account, points).handle
        if handle is None or {*self._wallet.points(handle)} != {*points}:
            return None
        return self._wallet.deposit(handle)

    # charging

    def balance(self, account: str) -> int:
        """Say what an account has left, in sat: what was paid in, without the mints' fees."""
        return self._ledger.balance(account)

    def spent(self, account: str) -> int:
        """Say what an account was charged in all, in sat."""
        return self._ledger.spent(account)

    def charge(self, account: str, key: str) -> int:
        """Charge an account for one call, and say what it has left.

        A token that its payer could spend elsewhere is looked at first. What turns out to be spent
        is not counted any more, and what was charged to it is the loss of whoever took it. One that
        cannot be looked at now is left alone, as long as the others cover the price.

        Args:
            account: Whose call it is.
            key: What the call goes by: a key that was charged is not charged again.

        Raises:
            PaymentExhaustedError: There is not enough left, and nothing was charged.
            MintError: A mint cannot be asked whether the money is still there, and without it
                there is not enough.
        """
        if not self._ledger.is_charged(account, key):
            unsure = self._look_again(account)
            try:
                self._ledger.charge(account, self.price, key, without=unsure)
            except PaymentExhaustedError:
                if unsure and self.balance(account) >= self.price:
                    raise next(iter(unsure.values())) from None
                raise
        return self.balance(account)

    def _look_again(self, account: str) -> dict[str, MintError]:
        """Look at what others could have spent; gives what nobody knows about now, and why."""
        unsure: dict[str, MintError] = {}
        soon = time.time() + _MARGIN
        for deposit in self._wallet.deposits(account):
            if not deposit.available or deposit.safe_until > soon:
                continue
            try:
                self._look_at(deposit)
            except MintError as error:
                unsure[deposit.handle] = error
        return unsure

    def _look_at(self, deposit: Deposit) -> None:
        states = self._mint(deposit.mint).states(self._wallet.points(deposit.handle))
        if "PENDING" in states:
            raise MintError(
                f"{deposit.mint} is spending the token that pays for this. Try again in a "
                "minute, or pay in another one.",
                PENDING,
            )
        if "SPENT" in states:
            proofs = self._wallet.proofs(deposit.handle)
            pairs = zip(proofs, states, strict=True)
            lost = sum(proof.amount for proof, state in pairs if state == "SPENT")
            self._wallet.lose(deposit.handle, lost)

    # giving back

    def settle(self, account: str) -> Refund:
        """Swap an account's deposits into what was earned and what is given back.

        It can be called again at any time: what was settled stays as it is, and what could not be
        is tried again. With nothing new to settle, `refund` is given again.

        Raises:
            MintError: A mint cannot be reached, refuses, or cannot be believed. Its deposit is
                kept, and the rest is settled: `refund` gives that.
        """
        problem: MintError | None = None
        for deposit in self._wallet.unsettled(account):
            try:
                settle(self._wallet, self._mint(deposit.mint), deposit)
            except MintError as error:
                problem = problem or error
        if problem:
            raise problem
        return self.refund(account) or Refund("", 0, 0, 0, 0, 0, ())

    def refund(self, account: str) -> Refund | None:
        """Give what an account has back and nobody is known to have claimed, asking no mint.

        Several refunds are given as one, under the handle of the last. If all were claimed, the
        last one is given, as it was.
        """
        handles = self._wallet.open_refunds(account) or self._wallet.latest_refund(account)
        return self._wallet.refund(*handles) if handles else None

    def accounts(self) -> list[str]:
        """Name the accounts with money that is not settled, or given back and not claimed.

        With `settle` and `refund` it can be had also when its thread is gone.
        """
        return self._wallet.accounts()

    def reveal(self, handle: str) -> Refund:
        """Give the refund that goes by a handle, with its money.

        Raises:
            PaymentError: There is none.
        """
        refund = self._wallet.refund(handle)
        if not refund.total:
            raise PaymentError("There is no refund of that handle in this wallet.")
        return refund

    def is_claimed(self, handle: str) -> bool:
        """Ask the mints whether somebody has redeemed all of a refund, and keep it in mind.

        Raises:
            MintError: One cannot be reached, or cannot be believed.
        """
        refund = self.reveal(handle)
        if refund.claimed or refund.waiting:
            return refund.claimed
        if not all(self._is_here(token) or self._is_spent(token) for token in refund.tokens):
            return False
        if refund.tokens:
            self._wallet.claim(handle)
        return True

    def _is_here(self, token: Token) -> bool:
        """Whether a token was paid in again, into this account or another one."""
        return self._wallet.holds(_points(token))

    def _is_spent(self, token: Token) -> bool:
        return set(self._mint(token.mint).states(_points(token))) == {"SPENT"}

    def look_for_claims(self, account: str) -> None:
        """Ask the mints which refunds of an account were redeemed: `refund` leaves those out."""
        for handle in self._wallet.open_refunds(account):
            with suppress(MintError):  # then nobody knows, and it is still given
                self.is_claimed(handle)

    # earnings

    @property
    def earned(self) -> int:
        """What was earned and not collected, in sat."""
        return self._wallet.earned

    def collect(self) -> tuple[Token, ...]:
        """Give all that was earned as tokens, one for each mint: `written()` is the money.

        They stay in the wallet file, so that `collected` can give them again.
        """
        return self._wallet.collected(self._wallet.collect())

    def collected(self) -> tuple[Token, ...]:
        """Give all that was ever collected; what was redeemed since is worth nothing any more."""
        return self._wallet.collected()

    def _mint(self, url: str) -> Mint:
        """The mint of a deposit, which may have been taken off the list since."""
        if url not in self._open:
            self._open[url] = Mint(url)
        return self._open[url]


def _points(token: Token) -> list[str]:
    return [curve.text(curve.secret_point(proof.secret)) for proof in token.proofs]
