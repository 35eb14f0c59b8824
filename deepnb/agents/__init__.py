"""The agents, by name.

An agent is a function that builds a LangGraph graph. It is looked up by name and built when it is
asked for, not when deepnb is imported: environment variables may be set in between, and nobody
pays for agents they do not use.
"""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from deepnb.errors import AgentError, UnknownAgentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph.graph.state import CompiledStateGraph

    Factory: TypeAlias = Callable[..., CompiledStateGraph[Any, Any, Any, Any]]

__all__ = ["get", "names", "register"]

_registry: dict[str, Factory | str] = {
    "deep": "deepnb.agents.deep:build",
    "simple": "deepnb.agents.simple:build",
}
"""A function, or where to find one as `module:name`."""


def names() -> list[str]:
    """List the agents that `get` knows."""
    return sorted(_registry)


def register(name: str, factory: Factory | str) -> None:
    """Add an agent, or replace one.

    Args:
        name: What to call it.
        factory: A function that builds the graph from keyword options, or `"module:function"`
            to import it only when it is needed.
    """
    if not name or not (callable(factory) or ":" in str(factory)):
        raise AgentError("An agent needs a name and a function (or 'module:function') to build it.")
    _registry[name] = factory


def get(name: str, **options: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build the agent `name`.

    Args:
        name: One of `names()`.
        options: Whatever the agent takes, for example `model`, `workspace`, `checkpointer`.

    Raises:
        UnknownAgentError: There is no such agent.
        AgentError: The agent takes no such option.
    """
    factory = _factory(name)
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        known = ", ".join(inspect.signature(factory).parameters)
        raise AgentError(f"The agent {name!r}: {error}. Its options are: {known}.") from error
    return factory(**options)


def _factory(name: str) -> Factory:
    if str(name) not in _registry:
        near = get_close_matches(str(name), _registry, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownAgentError(
            f"No agent is called {name!r}.{hint} There are: {', '.join(names())}."
        )
    factory = _registry[name]
    if callable(factory):
        return factory
    module, _, function = factory.partition(":")
    try:
        loaded: Factory = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise AgentError(
            f"The agent {name!r} cannot be loaded from {factory!r}: {error}"
        ) from error
    return loaded


def __dir__() -> list[str]:
    return list(__all__)
