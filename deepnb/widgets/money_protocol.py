"""What the two sides say to each other about money.

A token is bearer money: whoever has seen it can spend it. It crosses twice and no more: to the
kernel, to be paid in, and to the page that asks for a refund, in a reply that is not kept.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict  # typing's own is beyond pydantic on 3.11

from deepnb.payments.config import LARGEST
from deepnb.widgets.file_protocol import Code  # noqa: TC001  # pydantic reads it
from deepnb.widgets.request import Request

# From the browser


class Fund(Request):
    """Pays a token in, and answers the question that waits for money, if one is open."""

    type: Literal["fund"]
    token: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=LARGEST),
        Field(repr=False),
    ]


class SettlePayment(Request):
    """Ends the account: what was not spent becomes a refund, which the facts tell of."""

    type: Literal["settle_payment"]


class RevealRefund(Request):
    """Asks for the money that was given back; answered with `Revealed`."""

    type: Literal["reveal_refund"]


class LoadQr(Request):
    """Asks for the code that draws QR codes; answered with `Code`."""

    type: Literal["load_qr"]


MoneyRequest = Fund | SettlePayment | RevealRefund | LoadQr


# From the kernel


class RefundFacts(TypedDict):
    """What came of settling, in sat. The money itself is told to whoever asks for it.

    `waiting` is what a mint has to be asked for again, and `lost` what its payer spent elsewhere.
    """

    handle: str
    amount: int
    kept: int
    fee: int
    lost: int
    waiting: int
    claimed: bool


class PaymentFacts(TypedDict):
    """How a session is paid for, in sat.

    `pubkey` is the key to lock tokens to, so that nobody else can spend them.
    """

    price: int
    balance: int
    spent: int
    mints: list[str]
    pubkey: str
    status: Literal["unfunded", "active", "exhausted", "settled"]
    refund: RefundFacts | None


class Revealed(TypedDict):
    """A refund's tokens: one for each that was paid in and not used up."""

    tokens: list[str]


class MoneyWire(TypedDict):
    """Everything about money, for the browser's types to be made from."""

    revealed: Revealed
    code: Code
