"""The agents, by name.

An agent is a function that builds a LangGraph graph. It is looked up by name and built when it is
asked for, not when deepnb is imported: environment variables may be set in between, and nobody
pays for agents they do not use.
"""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from deepnb.errors import AgentError, UnknownAgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from langgraph.graph.state import CompiledStateGraph

    Factory: TypeAlias = Callable[..., CompiledStateGraph[Any, Any, Any, Any]]
    View: TypeAlias = Callable[[Any], Any]

__all__ = ["get", "names", "register", "views"]

_registry: dict[str, Factory | str] = {
    "deep": "deepnb.agents.deep:build",
    "simple": "deepnb.agents.simple:build",
}
"""A function, or where to find one as `module:name`."""

_views: dict[str, dict[str, View | str]] = {}
"""What an agent adds to its sessions, by agent and name."""


def names() -> list[str]:
    """List the agents that `get` knows."""
    return sorted(_registry)


def register(
    name: str, factory: Factory | str, *, views: Mapping[str, View | str] | None = None
) -> None:
    """Add an agent, or replace one.

    Args:
        name: What to call it.
        factory: A function that builds the graph from keyword options, or `"module:function"`
            to import it only when it is needed.
        views: What it adds to its sessions, by name: `session.NAME` then calls the function with
            the session. `deepnb.frames.frame` makes a DataFrame of `session.state` or
            `session.events()`.
    """
    if not name or not (callable(factory) or ":" in str(factory)):
        raise AgentError("An agent needs a name and a function (or 'module:function') to build it.")
    _registry[name] = factory
    _views[name] = dict(views or {})


def views(name: str) -> dict[str, View]:
    """Give what an agent adds to its sessions, by name."""
    found = _views.get(name, {})
    return {
        view: function if callable(function) else partial(_call_view, name, function)
        for view, function in found.items()
    }


def _call_view(agent: str, place: str, session: Any) -> Any:
    return _loaded(agent, place)(session)


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
    return factory if callable(factory) else _loaded(name, factory)


def _loaded(agent: str, place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    try:
        loaded: Callable[..., Any] = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise AgentError(f"The agent {agent!r} cannot be loaded from {place!r}: {error}") from error
    return loaded


def __dir__() -> list[str]:
    return list(__all__)
