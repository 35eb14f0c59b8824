"""Subagents: what counts as a description of one, and the tool that calls them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from deepagents.middleware import SubAgentMiddleware
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from deepnb.agents.state import State
from deepnb.errors import SubagentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


def _is_list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(map(check, value))


_DECLARED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("a text", lambda value: isinstance(value, str)),
    "description": ("a text", lambda value: isinstance(value, str)),
    "system_prompt": ("a text", lambda value: isinstance(value, str)),
    "model": (
        "what deepnb.models.resolve takes",
        lambda value: isinstance(value, str | BaseChatModel),
    ),
    "tools": (
        "a list of tools",
        _is_list_of(lambda tool: callable(tool) or isinstance(tool, dict | BaseTool)),
    ),
    "middleware": (
        "a list of langchain middleware",
        _is_list_of(lambda part: isinstance(part, AgentMiddleware)),
    ),
    "interrupt_on": (
        "a dict from tools to True, False or a config",
        lambda value: value is None or isinstance(value, dict),
    ),
    "response_format": ("a schema", lambda value: not isinstance(value, str | int | float)),
}
_COMPILED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name": _DECLARED["name"],
    "description": _DECLARED["description"],
    "runnable": ("a LangGraph graph or other runnable", lambda value: hasattr(value, "invoke")),
}


def checked(subagents: Sequence[Spec] | None) -> list[Spec]:
    """Check each description and add the general-purpose one, unless a caller's takes its name.

    Raises:
        SubagentError: Something is missing, misspelled or given twice.
    """
    if subagents is not None and not isinstance(subagents, list | tuple):
        raise SubagentError("subagents must be a list of descriptions.")
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
    if unknown := sorted(spec.keys() - allowed.keys()):
        raise SubagentError(
            f"{who} has {', '.join(unknown)}, which is not known here. "
            f"It can have {', '.join(sorted(allowed))}."
        )
    for key, (kind, fits) in allowed.items():
        if key in spec and not fits(spec[key]):
            raise SubagentError(f"{who}: its {key} must be {kind}, not {spec[key]!r:.60}.")
    return cast("Spec", spec)
