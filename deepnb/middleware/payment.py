"""Paying for model calls in Cashu ecash: each costs the same, whichever of the agents makes it.

Below the price the run does not die: it asks, with a `payment_exhausted` question, and goes on when
a token was paid in or ends in an orderly way when none was.

    import deepnb

    cashu = deepnb.Cashu(mints=["https://mint.example"], price_sats=2)
    session = deepnb.Session("deep", payment=cashu)
    session.fund("cashuB…")
    session.ask("What is in these files?").wait().answer
    session.settle().token                       # what was not used up, as a token

A call is charged before it is made, and so also if it fails or is stopped then; to try it again
costs nothing.

Nothing is settled at the end of a run: a dialogue is many runs on one deposit, and whoever has paid
says when they want the rest back. Until then it is in the wallet file, also for the next kernel.

A graph without a session is paid for by the id of its thread. What it is resumed with is kept by
its checkpointer, so pay in first, and resume with the handle:

    graph = deepnb.agents.get("deep", payment=cashu, checkpointer=InMemorySaver())
    with cashu.open() as till:
        deposit = till.deposit(thread_id, "cashuB…")
    graph.invoke(Command(resume={"token": deposit.handle}), config)
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelResponse, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage
from langgraph.config import get_config
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict  # langchain's states are, and the two do not mix

from deepnb.errors import AgentError, PaymentError, PaymentExhaustedError
from deepnb.interrupts import PaymentAnswer, PaymentRequest, ask
from deepnb.payments.config import Cashu

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest
    from langgraph.runtime import Runtime

    from deepnb.payments.till import Till

IN_RUN = "__deepnb_payment"
"""Where a run's configuration holds its account; names with underscores are not checkpointed."""

STOPPED = "Stopped here: what was paid is used up, and nothing more was paid in."

Status = Literal["unfunded", "active", "exhausted", "settled"]


class PaymentKeys(TypedDict):
    """How an account stands, in the state of a graph: amounts and handles, and no money.

    The session's own agent writes them; subagents work on copies, several at once.

    Attributes:
        payment_token: The handle of the last deposit; None if there was none.
        payment_balance_sats: What is left.
        payment_spent_sats: What model calls have cost in all.
        payment_refund_token: The handle of the last refund; None if there was none.
        payment_status: Whether anything was paid in, and whether it covers the next call.
        payment_refund_claimed: Whether somebody is known to have redeemed that refund.
    """

    payment_token: NotRequired[str | None]
    payment_balance_sats: NotRequired[int]
    payment_spent_sats: NotRequired[int]
    payment_refund_token: NotRequired[str | None]
    payment_status: NotRequired[Status]
    payment_refund_claimed: NotRequired[bool]


class PaymentState(AgentState[Any], PaymentKeys):
    """The state of an agent whose calls are paid for.

    Attributes:
        payment_account: Who was charged for the next call, or for the last one. Subagents have
            one of their own.
    """

    payment_account: NotRequired[Annotated[str, PrivateStateAttr]]


@dataclass(frozen=True)
class Account:
    """Whose calls are paid for, and where from."""

    till: Till
    name: str

    @property
    def balance(self) -> int:
        """What is left, in sat."""
        return self.till.balance(self.name)

    @property
    def status(self) -> Status:
        """Whether anything was paid in, and whether it covers the next call."""
        states = {deposit.state for deposit in self.till.deposits(self.name)}
        if not states:
            return "unfunded"
        if states == {"settled"}:
            return "settled"
        return "active" if self.balance >= self.till.price else "exhausted"

    def keys(self) -> PaymentKeys:
        """Give what a state says of it."""
        deposits, refund = self.till.deposits(self.name), self.till.refund(self.name)
        return {
            "payment_token": deposits[-1].handle if deposits else None,
            "payment_balance_sats": self.balance,
            "payment_spent_sats": self.till.spent(self.name),
            "payment_refund_token": refund.handle if refund else None,
            "payment_status": self.status,
            "payment_refund_claimed": bool(refund and refund.claimed),
        }


class Payment(AgentMiddleware[Any, Any, Any]):
    """Charge for each model call of a thread, before it is made.

    Give it to an agent as `create_deep_agent(payment=cashu)`: its subagents and its summaries are
    then charged to the same account. In a session that is the thread's own, so that a branch
    begins with nothing; in a graph without a session it is named after the thread's id. What a
    subagent spends that you compiled yourself is not charged.

    Args:
        cashu: Which mints are taken, what a call costs, and where the wallet is.

    Raises:
        AgentError: It is no `deepnb.Cashu`.
        MissingExtraError: The packages for it are not installed.
    """

    state_schema = PaymentState

    def __init__(self, cashu: Cashu) -> None:
        super().__init__()
        if not isinstance(cashu, Cashu):
            raise AgentError('payment must be a deepnb.Cashu(mints=["https://…"], price_sats=2).')
        import deepnb.payments.till  # noqa: F401  # what it needs is missing now, and not in a run

        self._cashu = cashu
        self._stopped: set[str] = set()

    @cached_property
    def _till(self) -> Till:
        return self._cashu.open()

    def account(self) -> Account:
        """Give the account of the run that this is called in.

        Raises:
            PaymentError: The run is of no thread.
        """
        given = get_config()["configurable"]
        if isinstance(own := given.get(IN_RUN), Account):
            return own
        if not given.get("thread_id"):
            raise PaymentError(
                "Money has to belong to a thread, and this run has none. Run the agent with a "
                "thread_id, or in a deepnb.Session."
            )
        return Account(self._till, str(given["thread_id"]))

    def charge(self, part: str = "") -> bool:
        """Charge for a call that the task under way is about to make; False to stop instead.

        A task that runs again, after an answer or in another kernel, has the id that it had, so
        that it is not charged again.

        Args:
            part: Which of its calls, if it makes several.

        Raises:
            MintError: The mint cannot be asked whether the money is still there.
        """
        account, execution = self.account(), get_runtime().execution_info
        key = f"{execution.task_id if execution else ''} {part}".strip()
        while True:
            try:
                account.till.charge(account.name, key)
            except PaymentExhaustedError as short:
                if account.name in self._stopped or not self._is_paid_in(account, short):
                    return False
            else:
                return True

    async def acharge(self, part: str = "") -> bool:
        """As `charge`, off the event loop: a mint may be asked."""
        return await asyncio.to_thread(self.charge, part)

    def _is_paid_in(self, account: Account, short: PaymentExhaustedError) -> bool:
        request: PaymentRequest = {
            "type": "payment_exhausted",
            "price": short.price,
            "balance": short.balance,
            "mints": list(account.till.mints),
        }
        answer = ask(request, PaymentAnswer)
        if answer.stop:
            self._stopped.add(account.name)  # those beside it, and above it, end too
        return not answer.stop

    def begin(self) -> PaymentKeys:
        """Let a new run ask again where an earlier one was stopped, and say how it stands."""
        self._stopped.discard(self.account().name)
        return self.keys()

    def keys(self) -> PaymentKeys:
        """Say how the account of the run stands."""
        return self.account().keys()

    # What langchain calls

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> Any:
        """Begin a run."""
        return None if _is_subagent() else self.begin()

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> Any:
        """As `before_agent`, off the event loop."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Runtime[Any]) -> Any:
        """Charge, or ask for more."""
        goes_on = self.charge()
        keys = {} if _is_subagent() else self.keys()
        update = {"payment_account": self.account().name, **keys}
        if goes_on:
            return update
        return {**update, "messages": [AIMessage(STOPPED)], "jump_to": "end"}

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: Any, runtime: Runtime[Any]) -> Any:
        """As `before_model`, off the event loop."""
        return await asyncio.to_thread(self.before_model, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Make a call that this thread was charged for."""
        if self._is_charged(request.state):
            return handler(request)
        return ModelResponse(result=[AIMessage(STOPPED)])

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Make a call that this thread was charged for."""
        if await asyncio.to_thread(self._is_charged, request.state):
            return await handler(request)
        return ModelResponse(result=[AIMessage(STOPPED)])

    def _is_charged(self, state: Any) -> bool:
        # A thread may have been branched off just before the call: then another one has paid.
        return state.get("payment_account") == self.account().name or self.charge()

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> Any:
        """Say how it stands, with what summaries have cost."""
        return None if _is_subagent() else self.keys()

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> Any:
        """As `after_agent`, off the event loop."""
        return await asyncio.to_thread(self.after_agent, state, runtime)


def _is_subagent() -> bool:
    """Whether this is a subagent's run, as deepagents' task tool marks them."""
    return get_config()["configurable"].get("ls_agent_type") == "subagent"
