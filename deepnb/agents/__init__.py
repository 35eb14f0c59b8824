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
    View: TypeAlias = Callable[..., Any]

__all__ = ["exporter", "get", "name_of", "names", "register", "run_views", "views"]

_registry: dict[str, Factory | str] = {
    "deep": "deepnb.agents.deep:build",
    "research": "deepnb.agents.research.graph:build",
    "seminar": "deepnb.agents.seminar:build",
    "simple": "deepnb.agents.simple:build",
    "tutor": "deepnb.agents.tutor.graph:build",
}
"""A function, or where to find one as `module:name`."""

_other_names = {"deeptutor": "tutor"}

_KNOWLEDGE = "deepnb.agents.research.views:knowledge"
_views: dict[str, dict[str, View | str]] = {
    "deep": {"knowledge": _KNOWLEDGE},
    "research": {
        name: f"deepnb.agents.research.views:{name}"
        for name in ("citations", "knowledge", "plan", "report", "settle", "sources")
    },
    "seminar": {"knowledge": _KNOWLEDGE},
    "tutor": {"argument": "deepnb.agents.tutor.views:argument", "knowledge": _KNOWLEDGE},
}
"""What an agent adds to its sessions, by agent and name."""

_run_views: dict[str, dict[str, View | str]] = {
    "research": {"report": "deepnb.agents.research.views:report_of"}
}
"""What it adds to their runs."""

_exporters: dict[str, View | str] = {"research": "deepnb.agents.research.views:export"}
"""How its sessions are written to a file, where that is not as a conversation."""


def names() -> list[str]:
    """List the agents that `get` knows."""
    return sorted(_registry)


def name_of(name: str) -> str:
    """Give the name that an agent is known by, which may have others."""
    return name if name in _registry else _other_names.get(name, name)


def register(
    name: str,
    factory: Factory | str,
    *,
    views: Mapping[str, View | str] | None = None,
    run_views: Mapping[str, View | str] | None = None,
    export: View | str | None = None,
) -> None:
    """Add an agent, or replace one.

    Args:
        name: What to call it.
        factory: A function that builds the graph from keyword options, or `"module:function"`
            to import it only when it is needed.
        views: What it adds to its sessions, by name: `session.NAME` then calls the function with
            the session. `deepnb.frames.frame` makes a DataFrame of `session.state` or
            `session.events()`.
        run_views: The same for `run.NAME`: called with the session's events and the run's id.
        export: Called with the session, a path and whether to overwrite, it writes a file and gives
            its path; or None, to have the conversation written.
    """
    if not name or not (callable(factory) or ":" in str(factory)):
        raise AgentError("An agent needs a name and a function (or 'module:function') to build it.")
    _registry[name] = factory
    _views[name] = dict(views or {})
    _run_views[name] = dict(run_views or {})
    _exporters.pop(name, None)
    if export:
        _exporters[name] = export


def views(name: str) -> dict[str, View]:
    """Give what an agent adds to its sessions, by name."""
    return {view: _callable(name, place) for view, place in _views.get(name, {}).items()}


def run_views(name: str) -> dict[str, View]:
    """Give what an agent adds to its runs, by name."""
    return {view: _callable(name, place) for view, place in _run_views.get(name, {}).items()}


def exporter(name: str) -> View | None:
    """Give what writes an agent's sessions to a file, if it has a way of its own."""
    return _callable(name, _exporters[name]) if name in _exporters else None


def _callable(agent: str, place: View | str) -> View:
    """Give a function that is looked up only when it is called."""
    return place if callable(place) else partial(_call, agent, place)


def _call(agent: str, place: str, *given: Any) -> Any:
    return _loaded(agent, place)(*given)


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
    known = name_of(str(name))
    if known not in _registry:
        near = get_close_matches(str(name), [*_registry, *_other_names], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownAgentError(
            f"No agent is called {name!r}.{hint} There are: {', '.join(names())}."
        )
    factory = _registry[known]
    return factory if callable(factory) else _loaded(known, factory)


def _loaded(agent: str, place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    try:
        loaded: Callable[..., Any] = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise AgentError(f"The agent {agent!r} cannot be loaded from {place!r}: {error}") from error
    return loaded


def __dir__() -> list[str]:
    return list(__all__)
