"""Asking a model for data of a certain form, and for prose.

What a model gives is checked. What does not fit goes back to it with the reason, a few times; then
it is for the caller to do without.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, ValidationError

from deepnb.agents.research import prompts
from deepnb.errors import ModelError
from deepnb.events import DRAFT, plain
from deepnb.models.cassette.masking import mask

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable

    from deepnb.middleware.budget import Budget
    from deepnb.middleware.payment import Payment

REPAIRS = 3
_LONGEST_REPLY = 100_000
_LONGEST_PROSE = 40_000
_FENCED = re.compile(
    r"^```(?:markdown|md)[ \t]*\n(.*?)\n?(?:^```[ \t]*$|\Z)|\A```[ \t]*\n(.*)\n```\Z",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""Markdown as models like to hand it over, as if it were code: nobody would look its claims up."""
_AS_DRAFT: Any = {"tags": [DRAFT]}

Form = TypeVar("Form", bound=BaseModel)


class NoUsableReplyError(ModelError):
    """A model has not given what it was asked for."""


@dataclass(frozen=True)
class Asker:
    """A model, the budget that its calls are charged to, and what they are paid with.

    A node asks it one thing: its calls are told apart by how much was said before.
    """

    model: BaseChatModel
    budget: Budget | None = None
    payment: Payment | None = None

    async def form(self, form: type[Form], system: str, prompt: str) -> tuple[Form, int]:
        """Ask for data; gives it, and how often it had to be repaired.

        Raises:
            NoUsableReplyError: What came was malformed, also after being told so.
        """
        model = _held_to(self.model, form)
        messages: list[BaseMessage] = [SystemMessage(system), HumanMessage(prompt)]
        problem = ""
        for repairs in range(REPAIRS + 1):
            given = _data(await self._call(model, messages))
            try:
                return form.model_validate_json(given), repairs
            except ValidationError as error:
                problem = _explained(error)
            repair = prompts.REPAIR.format(problem=problem)
            messages += [AIMessage(given or "(nothing)"), HumanMessage(repair)]
        raise NoUsableReplyError(f"{REPAIRS + 1} replies were malformed; the last: {problem}")

    async def prose(self, system: str, prompt: str) -> str:
        """Ask for a text.

        Raises:
            NoUsableReplyError: There was none.
        """
        messages = [SystemMessage(system), HumanMessage(prompt)]
        text = plain(str((await self._call(self.model, messages)).text)[:_LONGEST_PROSE]).strip()
        text = _FENCED.sub(lambda match: match[1] or match[2] or "", text).strip()
        if not text:
            raise NoUsableReplyError("The reply was empty.")
        return text

    async def _call(
        self, model: Runnable[Any, AIMessage], messages: list[BaseMessage]
    ) -> AIMessage:
        if self.payment and not await self.payment.acharge(f"after {len(messages)}"):
            raise NoUsableReplyError("What was paid is used up, and nothing more was paid in.")
        if self.budget is None:
            return await _reply(model, messages)
        charge = await self.budget.areserve(self.model, messages)
        if charge is None:
            raise NoUsableReplyError("The budget is used up, and it was not raised.")
        async with charge:
            reply = await _reply(model, messages)
            charge.reply = [reply]
        return reply


async def _reply(model: Runnable[Any, AIMessage], messages: list[BaseMessage]) -> AIMessage:
    try:
        return await model.ainvoke(messages, _AS_DRAFT)
    except GraphBubbleUp:  # it waits for a person
        raise
    except AssertionError:  # a mistake in a program, which must not pass for a provider's failure
        raise
    except Exception as error:  # whatever a provider raises
        reason = mask(str(error)) or type(error).__name__
        raise NoUsableReplyError(f"The model failed: {reason}") from error


def _held_to(model: BaseChatModel, form: type[BaseModel]) -> Runnable[Any, AIMessage]:
    """Demand a call with the form's fields: most providers and local models then keep to it."""
    try:
        return model.bind_tools([form], tool_choice="any")
    except NotImplementedError:
        return model


def _data(reply: AIMessage) -> str:
    """Find the data in a reply: a call's arguments, or the object in its text."""
    if reply.tool_calls:
        return json.dumps(reply.tool_calls[0]["args"])
    text = str(reply.text)[:_LONGEST_REPLY]
    return text[max(text.find("{"), 0) : text.rfind("}") + 1]


def _explained(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)[:5]
    places = [(".".join(map(str, each["loc"])), each["msg"]) for each in problems]
    return "; ".join(f"{where}: {what}" if where else what for where, what in places)
