"""The agents as `langgraph dev` serves them, over the folder in `DEEPNB_WORKSPACE` or this one.

`langgraph.json` names these functions; the server calls one when its agent is first asked for.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from deepnb import agents

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


async def deep() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Serve the deep agent."""
    return await _build("deep")


async def research() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Serve the research agent."""
    return await _build("research")


async def seminar() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Serve the seminar."""
    return await _build("seminar")


async def simple() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Serve the simple agent."""
    return await _build("simple")


async def tutor() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Serve the tutor."""
    return await _build("tutor")


async def _build(name: str) -> CompiledStateGraph[Any, Any, Any, Any]:
    # Building looks at the disk, which the server does not allow in its event loop.
    workspace = os.environ.get("DEEPNB_WORKSPACE", ".")
    return await asyncio.to_thread(agents.get, name, workspace=workspace)
