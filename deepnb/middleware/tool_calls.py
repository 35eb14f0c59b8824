"""What every tool call is wrapped in.

An exception inside a tool, a whole failed subagent included, is an answer its caller can read and
act on, not the end of the run. And while a tool runs its call id is known, so that a file backend
that has to ask the client can say for which call it asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp, is_invalid_resume

from deepnb.files.client import tool_call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ToolCallRequest
    from langgraph.types import Command


class ToolCallsMiddleware(AgentMiddleware[Any, Any, Any]):
    """Turn exceptions into tool errors, and let backends know the call they work for."""

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool."""
        with tool_call(request.tool_call["id"] or ""):
            try:
                return handler(request)
            except Exception as error:  # noqa: BLE001  # whatever a tool may raise
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
            except Exception as error:  # noqa: BLE001  # whatever a tool may raise
                return _as_message(error, request)


def _as_message(error: Exception, request: ToolCallRequest) -> ToolMessage:
    # Questions on their way to a person, and answers that did not fit, are not the tool's failure.
    if isinstance(error, GraphBubbleUp) or is_invalid_resume(error):
        raise error
    call = request.tool_call
    who = (
        f"Subagent {call['args'].get('subagent_type')}" if call["name"] == "task" else call["name"]
    )
    return ToolMessage(
        f"Error: {who} failed: {type(error).__name__}: {error}. "
        "Try another way, or report what could not be done.",
        name=call["name"],
        tool_call_id=call["id"],
        status="error",
    )
