"""Subagents: what counts as a description of one, and the tool that calls them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from deepagents.middleware import SubAgentMiddleware
from langchain.agents.middleware import AgentMiddleware

from deepnb.agents.state import State
from deepnb.errors import SubagentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepagents.backends.protocol import BackendProtocol
    from deepagents.middleware.subagents import CompiledSubAgent, SubAgent

    Spec = SubAgent | CompiledSubAgent

GENERAL_PURPOSE: SubAgent = {
    "name": "general-purpose",
    "description": (
        "Has all your tools and none of your conversation. For a large, separate part of the work: "
        "searching many files, reading at length, anything whose details you need not see."
    ),
    "system_prompt": (
        "You carry out one task for another agent, which sees nothing but your last message. "
        "Put everything it needs into that message: what you found, where (file and line), and "
        "what you looked for and did not find."
    ),
}


class TaskMiddleware(SubAgentMiddleware[Any, Any]):
    """deepagents' `task` tool; the model is told of it by its description alone."""

    # langchain's base hooks, which create_agent leaves out of its chain.
    wrap_model_call = AgentMiddleware.wrap_model_call  # type: ignore[assignment]  # wider result
    awrap_model_call = AgentMiddleware.awrap_model_call  # type: ignore[assignment]  # as above

    def __init__(self, files: BackendProtocol, subagents: Sequence[Spec]) -> None:
        super().__init__(backend=files, subagents=subagents, state_schema=State)


_DECLARED = frozenset(
    {
        "name",
        "description",
        "system_prompt",
        "tools",
        "model",
        "middleware",
        "interrupt_on",
        "response_format",
    }
)
_COMPILED = frozenset({"name", "description", "runnable"})


def checked(subagents: Sequence[Spec] | None) -> list[Spec]:
    """Check each description and add the general-purpose one, unless a caller's takes its name.

    Raises:
        SubagentError: Something is missing, misspelled or given twice.
    """
    specs = [_checked(position, spec) for position, spec in enumerate(subagents or (), start=1)]
    counts = Counter(spec["name"] for spec in specs)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise SubagentError(f"Two subagents are called {twice[0]!r}. Give each its own name.")
    return specs if GENERAL_PURPOSE["name"] in counts else [GENERAL_PURPOSE, *specs]


def _checked(position: int, spec: Any) -> Spec:
    who = f"Subagent {position}"
    if not isinstance(spec, dict):
        raise SubagentError(f"{who} must be a dict with name and description, not {spec!r:.60}.")
    if isinstance(spec.get("name"), str) and spec["name"]:
        who = f"Subagent {spec['name']!r}"
    for key in ("name", "description"):
        if not isinstance(spec.get(key), str) or not spec[key].strip():
            raise SubagentError(f"{who} needs a {key}: a text that is not empty.")
    allowed = _COMPILED if "runnable" in spec else _DECLARED
    if unknown := sorted(spec.keys() - allowed):
        raise SubagentError(
            f"{who} has {', '.join(unknown)}, which is not known here. "
            f"It can have {', '.join(sorted(allowed))}."
        )
    if "runnable" in spec and not hasattr(spec["runnable"], "invoke"):
        raise SubagentError(f"{who}: its runnable is no LangGraph graph or runnable.")
    return cast("Spec", spec)
