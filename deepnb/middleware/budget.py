"""A cap on model calls, tokens and money, over an agent and all its subagents together.

At the limit the run does not die: it asks, with a `budget_exhausted` question, and goes on when
the limit is raised or ends in an orderly way when it is not.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.config import get_config

from deepnb.errors import AgentError, ModelError, NobodyToAskError
from deepnb.interrupts import BudgetAnswer, BudgetRequest, ask
from deepnb.middleware.ledger import Amount, Exhausted, Ledger, Limit, Unit
from deepnb.middleware.meter import Meter, reserved
from deepnb.middleware.tokens import TokenCounter
from deepnb.models.prices import Prices, given_price, list_price, model_name, price

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from langchain.agents.middleware import ModelRequest, ToolCallRequest
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import ToolMessage
    from langgraph.runtime import Runtime
    from langgraph.types import Command

STOPPED = "Stopped here: the budget is used up, and it was not raised."
_REPLY_ALLOWANCE = 1_000
"""Tokens to reserve for a reply. Not a model's `max_tokens`, which can be more than a budget."""


class Budget(AgentMiddleware[Any, Any, Any]):
    """Limit what the runs of one thread may spend.

    Give it to an agent as `create_deep_agent(budget=...)`: its subagents and its summaries are then
    charged to it too. A subagent that you compiled yourself, and a tool that calls a model, are
    charged as they go, and the limit is kept by the next call of the agent's own. Runs without a
    thread share one account, and stop at the limit, since they cannot wait for an answer.

    A call is made if it fits with a reply of 1,000 tokens; by what replies under way are longer
    than that, a limit in tokens or dollars can be exceeded once.

    Args:
        calls: How many model calls.
        tokens: How many tokens, in and out.
        usd: How many US dollars.
        prices: Dollars per million tokens (in, out) by model name, where the price list is silent.
        ledger: Where to keep the account; left out, in memory. Each session keeps one of its own,
            beside its thread; sessions that share a ledger share their limits.

    Raises:
        AgentError: There is no limit, or one is no positive number.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        usd: float | None = None,
        prices: Prices | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        super().__init__()
        given: dict[Unit, float | None] = {"calls": calls, "tokens": tokens, "usd": usd}
        self.limits: dict[Unit, float] = {u: n for u, n in given.items() if n is not None}
        _check(self.limits)
        self.prices = dict(prices or {})
        self.ledger = ledger or Ledger()
        self._given_ledger = ledger is not None
        self._count = TokenCounter()
        self.meter = Meter(self._enter)

    def __repr__(self) -> str:
        return f"Budget({', '.join(f'{unit}={limit}' for unit, limit in self.limits.items())})"

    def twin(self) -> Budget:
        """Give a budget with the same limits and an account of its own, if this one has its own."""
        if self._given_ledger:
            return self
        limits: dict[str, Any] = {str(unit): limit for unit, limit in self.limits.items()}
        return Budget(**limits, prices=self.prices)

    def close(self) -> None:
        """Let go of the account's file, unless the ledger was given."""
        if not self._given_ledger:
            self.ledger.close()

    def keep_in(self, path: Path) -> None:
        """Keep the account in a file from now on, unless it was given a ledger of its own."""
        if self.ledger.is_in_memory and not self._given_ledger:
            self.ledger = Ledger(path)

    def standing(self, thread: str) -> list[Limit]:
        """Give the limits of a thread as they are by now, and what it has spent."""
        return self.ledger.standing(thread, self.limits)

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> None:
        """Let a new run ask again where an earlier one was stopped."""
        # deepagents' task tool marks the runs of subagents.
        if get_config()["configurable"].get("ls_agent_type") != "subagent":
            self.ledger.resume(_scope())

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> None:
        """As `before_agent`, off the event loop."""
        await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Reserve, call, settle."""
        charge = self.reserve(request.model, _messages(request), request.tools)
        if charge is None:
            return ModelResponse(result=[AIMessage(STOPPED)])
        with charge:
            response = handler(request)
            charge.reply = response.result
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Reserve, call, settle."""
        charge = await self.areserve(request.model, _messages(request), request.tools)
        if charge is None:
            return ModelResponse(result=[AIMessage(STOPPED)])
        async with charge:
            response = await handler(request)
            charge.reply = response.result
        return response

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Charge the models that a tool calls."""
        with self.meter.running():
            return handler(request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Charge the models that a tool calls."""
        with self.meter.running():
            return await handler(request)

    async def areserve(
        self, model: BaseChatModel, messages: Sequence[BaseMessage], tools: Sequence[Any] = ()
    ) -> Charge | None:
        """As `reserve`, off the event loop: the ledger may be a file."""
        return await asyncio.to_thread(self.reserve, model, messages, tools)

    def reserve(
        self, model: BaseChatModel, messages: Sequence[BaseMessage], tools: Sequence[Any] = ()
    ) -> Charge | None:
        """Enter a call before it is made; None if the person would rather stop.

        Asks as often as it takes: after a resume the node runs again from its start, and
        meanwhile a subagent beside it may have spent what an answer had allowed.
        """
        scope = _scope()
        tokens_in = self._count(messages, tools)
        longest = getattr(model, "max_tokens", None)
        reply = min(longest, _REPLY_ALLOWANCE) if isinstance(longest, int) else _REPLY_ALLOWANCE
        most = self._cost(model, tokens_in, reply)
        while isinstance(entry := self.ledger.reserve(scope, most, self.limits), Exhausted):
            self._ask(scope, entry)
        return None if entry is None else Charge(self, entry, model, tokens_in)

    def settle(self, charge: Charge) -> None:
        """Enter what the call did cost: a failed one counts as a call, and no more."""
        usage = next((m.usage_metadata for m in charge.reply if isinstance(m, AIMessage)), None)
        if usage:
            cost = self._cost(charge.model, usage["input_tokens"], usage["output_tokens"])
        elif charge.reply:
            cost = self._cost(charge.model, charge.tokens_in, self._count(charge.reply))
        else:
            cost = Amount(calls=1)
        self.ledger.settle(charge.entry, cost)

    def _enter(
        self, call: dict[str, Any], messages: list[BaseMessage], reply: BaseMessage | None
    ) -> None:
        """Enter a call that was made without a reservation."""
        usage = reply.usage_metadata if isinstance(reply, AIMessage) else None
        tokens_in = usage["input_tokens"] if usage else self._count(messages)
        tokens_out = usage["output_tokens"] if usage else self._count([reply] if reply else [])
        kind = str(call.get("_type"))
        name = str(call.get("model_name") or call.get("model") or kind).removeprefix("models/")
        known = list_price(kind, name, call.get("metadata"), tokens_in, tokens_out)
        usd = self._dollars(name, known, tokens_in, tokens_out)
        self.ledger.enter(_scope(), Amount(1, tokens_in + tokens_out, usd))

    def _ask(self, scope: str, exhausted: Exhausted) -> None:
        request: BudgetRequest = {
            "type": "budget_exhausted",
            "unit": exhausted.unit,
            "limit": exhausted.limit,
            "spent": exhausted.spent,
        }
        try:
            answer = ask(request, BudgetAnswer)
        except NobodyToAskError:
            answer = BudgetAnswer(stop=True)
        if answer.raise_to is None:
            self.ledger.stop(scope)
        else:
            self.ledger.raise_limit(scope, exhausted.unit, answer.raise_to)

    def _cost(self, model: BaseChatModel, tokens_in: int, tokens_out: int) -> Amount:
        known = price(model, tokens_in, tokens_out) if "usd" in self.limits else 0.0
        usd = self._dollars(model_name(model), known, tokens_in, tokens_out)
        return Amount(calls=1, tokens=tokens_in + tokens_out, usd=usd)

    def _dollars(self, name: str, known: float | None, tokens_in: int, tokens_out: int) -> float:
        if "usd" not in self.limits:
            return 0.0
        if name in self.prices:
            return given_price(self.prices[name], tokens_in, tokens_out)
        if known is None:
            raise ModelError(
                f"No price is known for {name}, so a limit in dollars cannot be kept. Limit calls "
                f"or tokens instead, or pass prices={{{name!r}: (dollars per million tokens in, "
                "dollars per million out)}."
            )
        return known


@dataclass
class Charge:
    """A model call that is being paid for; `with` settles it, whatever happens inside."""

    budget: Budget
    entry: int
    model: BaseChatModel
    tokens_in: int
    reply: Sequence[BaseMessage] = ()

    def __enter__(self) -> Self:
        self._token = reserved.set(reserved.get() | {id(self.budget.meter)})
        return self

    def __exit__(self, *_: object) -> None:
        reserved.reset(self._token)
        self.budget.settle(self)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        reserved.reset(self._token)
        await asyncio.to_thread(self.budget.settle, self)


def _check(limits: Mapping[Unit, float]) -> None:
    if not limits:
        raise AgentError("A Budget needs a limit: calls=, tokens= or usd=.")
    for unit, limit in limits.items():
        whole = unit != "usd"
        if isinstance(limit, bool) or not isinstance(limit, int if whole else int | float):
            kind = "whole number" if whole else "number"
            raise AgentError(f"Budget({unit}={limit!r}): a limit is a {kind}.")
        if not 0 < limit < math.inf:
            raise AgentError(f"Budget({unit}={limit!r}): a limit is more than 0, and has an end.")


def _messages(request: ModelRequest[Any]) -> list[BaseMessage]:
    return [*([request.system_message] if request.system_message else []), *request.messages]


def _scope() -> str:
    return str(get_config()["configurable"].get("thread_id") or "")
