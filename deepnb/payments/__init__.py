"""Cashu ecash: tokens, mints and the wallet file. No agent is in it, and it needs none.

A token is bearer money: whoever has seen it can spend it. So it is read once, and lives in a wallet
file that only its owner can read. Everywhere else it goes by a handle (`cashu:` and 32 digits),
which is worth nothing. Nothing here shows a token, a secret or a key in a repr or in an error.

    import deepnb

    cashu = deepnb.Cashu(mints=["https://mint.example"], price_sats=2, wallet="wallet/")
    with cashu.open() as till:
        till.pubkey                               # lock tokens to it, and nobody spends them twice
        deposit = till.deposit("thread-1", text)  # checked, not redeemed; deposit.handle
        till.balance("thread-1")                  # what was paid in, without the mint's fee
        till.charge("thread-1", key="run 1, call 7")  # once for each key; what is left
        refund = till.settle("thread-1")          # kept + amount + fee = total
        refund.token                              # the money; refund.handle for the record
        till.is_claimed(refund.handle)            # whether somebody has redeemed it
        till.refund("thread-1")                   # all that nobody is known to have redeemed
        till.accounts()                           # whose money is here, also of lost threads
        till.collect()                            # what was earned, as tokens

`play_money("https://test.mint.example", 20)` is a token to try it with: test mints give it away.

An account is named by whoever uses it; deepnb names it after the session's thread, so a branch
begins with nothing in it. Calls block; from a coroutine, use `asyncio.to_thread`.

How it may end, beside the good way (all are `deepnb.errors.PaymentError`):

- `TokenError`: malformed, of a foreign mint or another unit, forged, spent (`SpentTokenError`), in
  the middle of being spent (`PendingTokenError`), here already (`DuplicateTokenError`, whose
  `handle` is set if it was paid into the same account), locked to others, or too small. It was
  not taken.
- `PaymentExhaustedError`: `charge` found less than the price, and charged nothing. It has `price`
  and `balance`. `deposit` another token and charge again with the same key.
- `MintUnreachableError`: nobody knows yet. Nothing is lost: make the same call again later.
- `MintError`: the mint refuses, or its answer cannot be right. Nothing is lost here.
- A token that its payer spent elsewhere, after it was taken: `charge` does not count it any more,
  and `settle` gives it as `refund.lost`. Locked tokens do not need to be looked at, nor can they
  be lost like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb.payments.config import Cashu
    from deepnb.payments.play import play_money
    from deepnb.payments.till import Till
    from deepnb.payments.tokens import Proof, Token, parse
    from deepnb.payments.wallet import Deposit, Refund

__all__ = ["Cashu", "Deposit", "Proof", "Refund", "Till", "Token", "parse", "play_money"]

__getattr__ = lazy(
    __name__,
    {
        "Cashu": "config",
        "Deposit": "wallet",
        "Proof": "tokens",
        "Refund": "wallet",
        "Till": "till",
        "Token": "tokens",
        "parse": "tokens",
        "play_money": "play",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
