"""What every tool call is wrapped in.

An exception inside a tool, a whole failed subagent included, is an answer its caller can read and
act on, not the end of the run; so is a call that cannot even be read. And while a tool runs its
call id is known, so that a file backend that has to ask the client can say for which call it asks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call
from langgraph.errors import GraphBubbleUp, is_invalid_resume

from deepnb.files.client import tool_call
from deepnb.models.cassette.masking import mask

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse, ToolCallRequest
    from langgraph.types import Command


_MOST_REPEATS = 2
_LARGEST_NUMBER = 2**63  # what a checkpoint can hold


class ToolCallsMiddleware(AgentMiddleware[Any, Any, Any]):
    """Turn exceptions into tool errors, and let backends know the call they work for."""

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Ask again for a reply that is nothing but calls nobody can read."""
        response = _readable(handler(request))
        for _ in range(_MOST_REPEATS):
            if not (complaint := _complaint(response)):
                break
            messages = [*request.messages, *complaint]
            response = _readable(handler(request.override(messages=messages)))
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Ask again for a reply that is nothing but calls nobody can read."""
        response = _readable(await handler(request))
        for _ in range(_MOST_REPEATS):
            if not (complaint := _complaint(response)):
                break
            messages = [*request.messages, *complaint]
            response = _readable(await handler(request.override(messages=messages)))
        return response

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool."""
        with tool_call(request.tool_call["id"] or ""):
            try:
                return handler(request)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever a tool may raise
                return _as_message(error, request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool."""
        with tool_call(request.tool_call["id"] or ""):
            try:
                return await handler(request)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever a tool may raise
                return _as_message(error, request)


def _readable(response: ModelResponse[Any]) -> ModelResponse[Any]:
    """Give calls the ids they lack, and set aside those that no checkpoint could hold."""
    for message in response.result:
        if isinstance(message, AIMessage) and message.tool_calls:
            kept = [call for call in message.tool_calls if _can_be_kept(call["args"])]
            for call in kept:
                call["id"] = call["id"] or f"call_{uuid4().hex}"
            lost = [call for call in message.tool_calls if call not in kept]
            message.tool_calls = kept
            message.invalid_tool_calls += [
                invalid_tool_call(name=call["name"], args=None, id=call["id"], error="unreadable")
                for call in lost
            ]
    return response


def _can_be_kept(value: Any) -> bool:
    try:
        json.dumps(value)
    except (RecursionError, ValueError, TypeError):
        return False
    numbers = [value]
    while numbers:
        item = numbers.pop()
        if isinstance(item, dict):
            numbers.extend(item.values())
        elif isinstance(item, list):
            numbers.extend(item)
        elif isinstance(item, int) and abs(item) >= _LARGEST_NUMBER:
            return False
    return True


def _complaint(response: ModelResponse[Any]) -> list[HumanMessage]:
    """What to tell a model whose whole reply was malformed calls; nothing otherwise."""
    reply = next((m for m in response.result if isinstance(m, AIMessage)), None)
    if reply is None or reply.tool_calls or not reply.invalid_tool_calls or reply.text.strip():
        return []
    names = ", ".join(str(call["name"]) for call in reply.invalid_tool_calls)
    return [
        HumanMessage(
            f"Your call of {names} could not be read: its arguments were no valid JSON, or more "
            "than a call can hold. Call it again with well-formed arguments."
        )
    ]


def _as_message(error: Exception | SystemExit, request: ToolCallRequest) -> ToolMessage:
    # Questions on their way to a person, and answers that did not fit, are not the tool's failure.
    if isinstance(error, GraphBubbleUp) or is_invalid_resume(error):
        raise error
    call = request.tool_call
    who = (
        f"Subagent {call['args'].get('subagent_type')}" if call["name"] == "task" else call["name"]
    )
    return ToolMessage(
        f"Error: {who} failed: {type(error).__name__}: {mask(str(error))}. "
        "Try another way, or report what could not be done.",
        name=call["name"],
        tool_call_id=call["id"],
        status="error",
    )
