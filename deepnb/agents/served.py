"""The agents as `langgraph dev` serves them, over the folder in `DEEPNB_WORKSPACE` or this one.

`langgraph.json` names these functions; the server calls one when its agent is first asked for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from deepnb import agents

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


def deep() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Serve the deep agent."""
    return agents.get("deep", workspace=_workspace())


def simple() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Serve the simple agent."""
    return agents.get("simple", workspace=_workspace())


def _workspace() -> str:
    return os.environ.get("DEEPNB_WORKSPACE", ".")
