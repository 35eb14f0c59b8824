"""The simple agent: a model and the files it may look into, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent

from deepnb.agents.state import State
from deepnb.files import mounts
from deepnb.middleware.files import FilesMiddleware
from deepnb.middleware.knowledge import KnowledgeMiddleware
from deepnb.middleware.payment import Payment
from deepnb.middleware.tool_calls import ToolCallsMiddleware
from deepnb.models import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Checkpointer

    from deepnb.files import Folder
    from deepnb.knowledge import Knowledge
    from deepnb.payments import Cashu


def build(
    *,
    model: str | BaseChatModel | None = None,
    tools: Sequence[Any] = (),
    workspace: str | Path | Folder | None = None,
    system_prompt: str | None = None,
    checkpointer: Checkpointer | None = None,
    knowledge: Knowledge | None = None,
    payment: Cashu | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build an agent that reads, searches and answers; it can change no file."""
    paying = [Payment(payment)] if payment is not None else []
    searching = [KnowledgeMiddleware(knowledge)] if knowledge is not None else []
    files = FilesMiddleware(mounts(workspace=workspace), ["ls", "read_file", "glob", "grep"])
    return create_agent(
        resolve(model),
        tools,
        system_prompt=system_prompt,
        middleware=[*paying, files, *searching, ToolCallsMiddleware()],
        state_schema=State,
        checkpointer=checkpointer,
        name="simple",
    )
