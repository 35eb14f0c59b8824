"""Paying for a session's model calls: what a person sees of it, and what they do about it.

A token is money, so it goes into the wallet before anything else sees it; all that is kept in the
thread is the handle of the deposit that it becomes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from deepnb import agents
from deepnb.errors import (
    AnswerError,
    DuplicateTokenError,
    QuestionError,
    SessionError,
)
from deepnb.interrupts import HANDLE, MONEY
from deepnb.session.facts import Facts
from deepnb.session.graph import is_at_rest

if TYPE_CHECKING:
    from deepnb.middleware.payment import Account, Status
    from deepnb.payments import Deposit, Refund
    from deepnb.record import Record
    from deepnb.session.questions import Question

PAYMENT = "payment"
"""Under this name the record of a thread that is paid for says whether there is money of it."""
HELD = "held"

_NOT_SAID = (
    "That holds a Cashu token, which is money, and whoever reads the conversation could spend it. "
    "It was not sent. Pay it in with session.fund(token)"
)


@dataclass(frozen=True)
class Refunded:
    """What came of settling, in sat, without the money; see `deepnb.payments.Refund`."""

    handle: str
    amount: int
    kept: int
    fee: int
    lost: int
    waiting: int
    claimed: bool


@dataclass(frozen=True)
class Standing:
    """How a session is paid for, in sat.

    Attributes:
        price: What a model call costs.
        mints: Whose tokens are taken.
        pubkey: The key to lock tokens to: then nobody else can spend them.
        balance: What is left.
        spent: What model calls have cost in all.
        status: Whether anything was paid in, and whether it covers the next call.
        refund: What came of settling, as far as it was not claimed; None if that was never done.
    """

    price: int
    mints: tuple[str, ...]
    pubkey: str
    balance: int
    spent: int
    status: Status
    refund: Refunded | None


class Purse:
    """A session's money: its account, and the record that tells of it."""

    def __init__(self, account: Account, record: Record) -> None:
        self.account = account
        self.till = account.till
        self._record = record

    @property
    def standing(self) -> Standing:
        """How it stands."""
        name, refund = self.account.name, self.refund
        return Standing(
            price=self.till.price,
            mints=self.till.mints,
            pubkey=self.till.pubkey,
            balance=self.account.balance,
            spent=self.till.spent(name),
            status=self.account.status,
            refund=_without_money(refund) if refund else None,
        )

    @property
    def refund(self) -> Refund | None:
        """What was given back, as it stands."""
        return self.till.refund(self.account.name)

    def fund(self, token: str) -> Deposit:
        """Pay a token in; if it was already, give the deposit that it has become."""
        self._record.note({PAYMENT: HELD})  # before: whoever dies in between has money there
        try:
            deposit = self.till.deposit(self.account.name, token)
        except DuplicateTokenError:
            known = self.till.paid_in(self.account.name, token)
            if known is None:
                raise
            return known
        finally:
            self._note()
        facts = {"handle": deposit.handle, "amount": deposit.total, "fee": deposit.fee}
        self._record.log.append("payment", data={"what": "deposit", **facts})
        return deposit

    def _note(self) -> None:
        has_money = self.account.name in self.till.accounts()
        self._record.note({PAYMENT: HELD if has_money else ""})

    def exchanged(self, answer: Any, *, is_open: bool) -> Any:
        """Give an answer to `payment_exhausted` with a handle in place of a token, now paid in.

        Args:
            answer: As it came; whether it fits is looked at later.
            is_open: Whether the question is. If it is not, nothing more is paid in.

        Raises:
            PaymentError: The token was not taken.
            AnswerError: What was paid in before does not cover a call any more.
        """
        is_form = isinstance(answer, dict) and answer.keys() == {"token"}
        token = answer["token"] if is_form else answer
        if not isinstance(token, str) or not token.strip().startswith("cashu"):
            return answer
        handle = token
        if not HANDLE.fullmatch(token):
            known = self.till.paid_in(self.account.name, token)
            if known is None and is_open:
                return {"token": self.fund(token).handle}
            if known is None:
                raise QuestionError(
                    "That question was answered already, and nothing was paid in now. "
                    "session.fund(token) does that at any time."
                )
            handle = known.handle
        if is_open:
            self.check_covered()
        return {"token": handle}

    def check_covered(self) -> None:
        """Check that the next call is paid for: else who answers by rule would do so for ever.

        Raises:
            AnswerError: It is not.
        """
        if self.account.status != "active":
            raise AnswerError(
                f"That was paid in already, and {self.account.balance} sat are left, where a call "
                f"costs {self.till.price}. Send another token. The question is still open."
            )

    def settle(self) -> Refund:
        """Have the rest given back, and tell of it once."""
        self.till.look_for_claims(self.account.name)
        try:
            refund = self.till.settle(self.account.name)
        finally:
            self._note()
        if refund.handle:
            self._tell(self.till.reveal(refund.handle))
        return refund

    def _tell(self, refund: Refund) -> None:
        amounts = {"amount": refund.amount, "kept": refund.kept, "fee": refund.fee}
        data = {"what": "refund", "handle": refund.handle, **amounts}
        log = self._record.log
        if all(event.data != data for event in log.since(0) if event.kind == "payment"):
            log.append("payment", data=data)


class Paying(Facts):
    """The part of a `Session` that is about money."""

    @property
    def payment(self) -> Standing | None:
        """How the session is paid for; None if it is not, or is closed."""
        purse = None if self.is_closed else self._core.purse
        return purse.standing if purse else None

    @property
    def balance(self) -> int:
        """What is left for model calls, in sat."""
        return self._purse.account.balance

    @property
    def spent(self) -> int:
        """What model calls have cost in all, in sat."""
        return self._purse.standing.spent

    @property
    def refund(self) -> Refund | None:
        """What came of `settle`, with its money; None if it was never called.

        What somebody is known to have claimed is left out; `settle` asks the mint about that.
        """
        return self._purse.refund

    def fund(self, token: str) -> Deposit:
        """Pay a Cashu token in, and let a run go on that waits for money.

        It is checked and not redeemed: `settle` gives back what was not used up. What is typed
        into a cell is saved with the notebook, so have it asked for:
        `session.fund(getpass.getpass("Token: "))`. The same token twice is one deposit.

        Args:
            token: As a wallet has written it: it begins with cashuA or cashuB.

        Raises:
            TokenError: It was not taken; the message says why. It is still its owner's.
            MintError: The mint cannot be reached, or cannot be believed. The same.
            AnswerError: It was paid in before, and a run waits for more.
        """
        purse, engine = self._purse, self._core.engine
        deposit = purse.fund(token)
        for question in list(engine.desk.open.values()):
            if question.type == "payment_exhausted":
                purse.check_covered()
                with suppress(QuestionError):  # somebody else was faster
                    engine.accept(question.id, {"token": deposit.handle}, "person")
        self._core.loop.call(engine.wake)
        return deposit

    @overload
    def settle(self) -> Refund: ...

    @overload
    def settle(
        self, citation: str, note: str = "", *, checked: bool = True, run: str | None = None
    ) -> None: ...

    def settle(self, *claim: Any, **how: Any) -> Refund | None:
        """Have back what was paid in and not used up: `settle().token` is the money.

        A dialogue is many runs on one deposit, so no run does this by itself. It can be called
        again at any time, also in another kernel, and then gives the same refund. The next run
        needs another token.

        With arguments it is about something else: in a session of the research agent,
        `settle("C3", "See page 4.")` records that a person has checked a claim of its report.

        Raises:
            SessionError: A run is under way, or the session is not paid for.
            MintError: A mint cannot be reached, or refuses. Nothing is lost: call it again later.
        """
        if claim or how:
            self._settle_claim(*claim, **how)
            return None
        purse = self._purse
        if run := self.under_way:
            raise SessionError(
                f"A run is {run.status}, and has to be paid for. Wait for it, or stop it first."
            )
        try:
            return purse.settle()
        finally:
            self._core.loop.wait(self._amend(purse.account))

    def _settle_claim(self, *claim: Any, **how: Any) -> None:
        views = agents.views(self.agent)
        if "settle" not in views:
            raise SessionError("This agent makes no claims to settle. For money: settle().")
        views["settle"](self)(*claim, **how)

    async def _amend(self, account: Account) -> None:
        state = await self._core.graph.state()
        # What can be resumed, or was begun meanwhile, is left alone: its next step says it.
        if state.created_at is not None and is_at_rest(state) and not self.under_way:
            await self._core.graph.amend(account.keys())

    @property
    def _purse(self) -> Purse:
        self._check_open()
        if self._core.purse is None:
            raise SessionError(
                "This session is not paid for. Make one that is: "
                'deepnb.Session(…, payment=deepnb.Cashu(mints=["https://…"])).'
            )
        return self._core.purse


def is_money(text: str) -> bool:
    """Whether a text holds what looks like a Cashu token."""
    return bool(MONEY.search(text))


def check_sayable(text: str) -> str:
    """Give a text that goes into the conversation, if nobody can spend it.

    Raises:
        SessionError: Somebody could.
    """
    if is_money(text):
        raise SessionError(f"{_NOT_SAID}.")
    return text


def exchanged(answer: Any, question: Question, purse: Purse | None, *, is_open: bool) -> Any:
    """Give an answer that may be kept: money in it is paid in, where it was asked for.

    Raises:
        PaymentError: It was not taken.
        AnswerError: It was not asked for.
    """
    if question.type == "clarification_request" and is_money(str(answer)):
        raise AnswerError(f"{_NOT_SAID}. The question is still open.")
    if question.type == "payment_exhausted" and purse:
        return purse.exchanged(answer, is_open=is_open)
    return answer


def _without_money(refund: Refund) -> Refunded:
    amounts = (refund.amount, refund.kept, refund.fee, refund.lost, refund.waiting)
    return Refunded(refund.handle, *amounts, claimed=refund.claimed)
