"""The agent's plan: langchain's todo list, at no cost for a step that does not touch it.

langchain looks for a list that is written twice in one turn in a graph node of its own, after
every model call of a run, and tells the model about the tool twice, in its description and at
length in the prompt. Here the one is noticed when the tool is called, and the other is left to
the description: a checkpoint and a few hundred tokens less per step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, TodoListMiddleware
from langchain_core.messages import AIMessage, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ToolCallRequest
    from langgraph.types import Command

TWICE = "Error: write_todos was called more than once in a turn. Call it once, with the whole list."


class TodosMiddleware(TodoListMiddleware[Any, Any]):
    """Give an agent `write_todos`."""

    after_model = AgentMiddleware.after_model
    aafter_model = AgentMiddleware.aafter_model
    # langchain's base hooks, which create_agent leaves out of its chain.
    wrap_model_call = AgentMiddleware.wrap_model_call  # type: ignore[assignment]  # wider result
    awrap_model_call = AgentMiddleware.awrap_model_call  # type: ignore[assignment]  # as above

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Let a list that is written twice fail, whichever was meant."""
        return _refusal(request) or handler(request)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Let a list that is written twice fail, whichever was meant."""
        return _refusal(request) or await handler(request)


def _refusal(request: ToolCallRequest) -> ToolMessage | None:
    if request.tool_call["name"] != "write_todos":
        return None
    turn = next(m for m in reversed(request.state["messages"]) if isinstance(m, AIMessage))
    if sum(call["name"] == "write_todos" for call in turn.tool_calls) < 2:  # noqa: PLR2004  # twice
        return None
    return ToolMessage(
        TWICE, name="write_todos", tool_call_id=request.tool_call["id"], status="error"
    )
