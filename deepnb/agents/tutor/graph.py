"""The parts of the tutor, and of others that work as it does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from deepnb.agents import deep
from deepnb.agents.checks import check_budget
from deepnb.agents.tutor.checking import check_tool
from deepnb.agents.tutor.offline import OfflineTutor
from deepnb.agents.tutor.prompts import TUTOR
from deepnb.files import Folder, mounts
from deepnb.middleware.approvals import approvals_for
from deepnb.middleware.clarify import ClarifyMiddleware
from deepnb.middleware.payment import Payment
from deepnb.models import resolve
from deepnb.models.offline import OfflineModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import BaseStore
    from langgraph.types import Checkpointer

    from deepnb.agents.deep import Approvals, Middleware, Tool
    from deepnb.knowledge import Knowledge
    from deepnb.middleware.budget import Budget
    from deepnb.payments import Cashu


def assemble(
    name: str,
    prompt: str,
    by_rule: type[OfflineModel],
    *,
    model: str | BaseChatModel | None = None,
    workspace: str | Path | Folder | None = None,
    client: bool | Folder = False,
    tools: Sequence[Tool] | None = None,
    system_prompt: str | None = None,
    middleware: Sequence[Middleware] = (),
    interrupt_on: Approvals | None = None,
    checkpointer: Checkpointer | None = None,
    store: BaseStore | None = None,
    budget: Budget | None = None,
    knowledge: Knowledge | None = None,
    payment: Cashu | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build an agent that talks with a person about their files, which are at `/files/`.

    Args:
        name: The graph's name.
        prompt: What the agent is.
        by_rule: What answers where no language model is configured.
        model: What `deepnb.models.resolve` takes; left out, the configured model.
        workspace: The folder with the person's files.
        client: True if they are in a browser instead, or a folder that stands in for one.
        tools: Further tools.
        system_prompt: What else the model is told; comes first.
        middleware: Further middleware; runs inside deepnb's own.
        interrupt_on: Which tool calls a person approves, beside writes to their files.
        checkpointer: For threads, and for anything that asks a person.
        store: Holds `/memories/`.
        budget: A cap on what is spent.
        knowledge: What `search_knowledge` searches.
        payment: How model calls are paid for.
    """
    chat = resolve(model)
    if isinstance(chat, OfflineModel):
        chat = by_rule()
    check_budget(budget, middleware)
    files = mounts(client=client or _folder(workspace), store=store is not None)
    own_tools = [check_tool(files), *(tools or ())]
    approvals = approvals_for(files, interrupt_on)
    parts = deep.stack(
        chat,
        middleware,
        approvals,
        own_tools,
        files=files,
        budget=budget,
        knowledge=knowledge,
        asking=[ClarifyMiddleware()],
        payment=Payment(payment) if payment is not None else None,
    )
    return deep.compiled(
        files,
        chat,
        own_tools,
        system_prompt=deep.prompt_of(system_prompt, prompt, files),
        middleware=parts,
        checkpointer=checkpointer,
        store=store,
        name=name,
    )


def _folder(workspace: str | Path | Folder | None) -> bool | Folder:
    """The person's files; without a folder, they are with whoever is attached."""
    if workspace is None:
        return True
    return workspace if isinstance(workspace, Folder) else Folder(workspace)


build = partial(assemble, "tutor", TUTOR, OfflineTutor)
