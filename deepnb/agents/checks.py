"""What is refused before an agent is built, since it would only fail obscurely in its runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from deepnb.errors import AgentError
from deepnb.middleware.budget import Budget
from deepnb.middleware.client_tools import TWINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain.agents.middleware import AgentMiddleware


def check_budget(budget: object, middleware: Sequence[object]) -> None:
    """Refuse a budget that is none, or that would not cover the subagents."""
    if budget is not None and not isinstance(budget, Budget):
        raise AgentError("budget must be a deepnb.Budget, for example deepnb.Budget(calls=50).")
    if any(isinstance(part, Budget) for part in middleware):
        raise AgentError("Pass the Budget as budget=, so that subagents are charged to it too.")


def unambiguous(
    middleware: list[AgentMiddleware[Any, Any, Any]], tools: Sequence[Any]
) -> list[AgentMiddleware[Any, Any, Any]]:
    """Refuse parts and tools of one name: a model could not tell them apart, nor could langchain.

    Raises:
        AgentError: A name is given twice, or two tools are for one act.
    """
    names = Counter(part.name for part in middleware)
    # Not every middleware has the attribute, though langchain declares it for all.
    own = [tool for part in middleware for tool in getattr(part, "tools", ())]
    tool_names = Counter(_tool_name(tool) for tool in [*own, *tools])
    if both := [pair for pair in TWINS.items() if tool_names.keys() >= set(pair)]:
        raise AgentError(
            f"The agent would have both {both[0][0]!r} and {both[0][1]!r}, two tools for one act. "
            "Leave ClientToolsMiddleware out: it is there when all files are with the client."
        )
    for kind, counts in (("middleware", names), ("tool", tool_names)):
        if twice := [name for name, count in counts.items() if count > 1]:
            raise AgentError(
                f"The agent would have two {kind}s called {twice[0]!r}. Rename yours, or leave it "
                "out if it does what the agent's own does."
            )
    return middleware


def _tool_name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("type"))
    return str(getattr(tool, "name", None) or getattr(tool, "__name__", tool))
