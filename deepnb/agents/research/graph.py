"""The research graph: a plan that was audited and approved, and a report that was checked.

question → thinker → auditor → human gate → tool executor ⇄ steps → synthesizer → citation check
↑ refused ┘            ┘ rejected, with a reason
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START, StateGraph

from deepnb.agents.research import policy as policies
from deepnb.agents.research.asking import Asker
from deepnb.agents.research.auditor import after_audit, audit
from deepnb.agents.research.desk import Desk, knowledge_in
from deepnb.agents.research.executor import execute, next_steps, run_step
from deepnb.agents.research.failing import Failures, run_node
from deepnb.agents.research.gate import after_gate, gate
from deepnb.agents.research.state import ResearchState
from deepnb.agents.research.synthesizer import after_synthesis, check_citations, synthesize
from deepnb.agents.research.thinker import listen, think
from deepnb.agents.research.tools import available
from deepnb.errors import AgentError
from deepnb.middleware.payment import Payment
from deepnb.models import resolve
from deepnb.models.offline import OfflineModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Checkpointer

    from deepnb.knowledge import Knowledge
    from deepnb.middleware.budget import Budget
    from deepnb.payments import Cashu

RECURSION_LIMIT = 200


def build(
    *,
    model: str | BaseChatModel | None = None,
    workspace: str | Path | None = None,
    knowledge: Knowledge | None = None,
    policy: str | Path | None = None,
    web: bool = False,
    private: bool = False,
    tools: Sequence[Any] = (),
    checkpointer: Checkpointer | None = None,
    budget: Budget | None = None,
    payment: Cashu | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build an agent that plans, has its plan approved, looks things up and reports.

    Args:
        model: What `deepnb.models.resolve` takes. Without a language model, plans are made by rule
            and reports of verbatim sentences.
        workspace: The folder with the documents.
        knowledge: What to search; left out, the documents in the workspace.
        policy: What plans are checked against: a file or a text; left out, the POLICY.md beside the
            notebook, or in the workspace, or deepnb's own.
        web: Whether a plan may use `web_search` and `fetch_page`, if the policy allows it.
        private: Whether addresses on this machine and in private networks may be fetched, too.
        tools: Further tools: LangChain's, or those of `deepnb.mcp_tools`.
        checkpointer: For threads; without one nobody can approve a plan.
        budget: A cap on what the models spend.
        payment: How model calls are paid for; left out, they are free.

    Raises:
        PolicyError: The policy cannot be read.
        AgentError: There is nothing to look into, or two tools have one name.
    """
    folder = Path(workspace) if workspace is not None else None
    if knowledge is None and folder is not None:
        knowledge = knowledge_in(folder)
    chat = resolve(model)
    every = available(knowledge=knowledge, workspace=folder, web=web, tools=tools, private=private)
    if not every:
        raise AgentError(
            "There is nothing to look into. Give the agent knowledge=, workspace= or tools=."
        )
    paid = Payment(payment) if payment is not None else None
    desk = Desk(
        asker=None if isinstance(chat, OfflineModel) else Asker(chat, budget, paid),
        tools=every,
        policy=policies.find(policy, folder),
        knowledge=knowledge,
    )
    graph = assembled(desk, paid).compile(checkpointer=checkpointer, name="research")
    return graph.with_config(recursion_limit=RECURSION_LIMIT)


def assembled(
    desk: Desk, payment: Payment | None = None
) -> StateGraph[ResearchState, None, Any, Any]:
    """Put the nodes together."""
    graph: StateGraph[ResearchState, None, Any, Any] = StateGraph(ResearchState)
    nodes: dict[str, Any] = {
        "question": listen,
        "thinker": partial(think, desk),
        "auditor": partial(audit, desk),
        "human_gate": partial(gate, desk),
        "tool_executor": execute,
        "run_step": partial(run_step, desk),
        "synthesizer": partial(synthesize, desk),
        "citation_check": check_citations,
    }
    if payment:
        for name in ("question", "thinker", "auditor", "synthesizer"):
            say = payment.begin if name == "question" else payment.keys
            nodes[name] = _saying(say, nodes[name])
    failures = Failures()
    for name, node in nodes.items():
        graph.add_node(name, failures.noted(name, node))

    graph.add_edge(START, "question")
    graph.add_edge("question", "thinker")
    graph.add_edge("thinker", "auditor")
    graph.add_conditional_edges("auditor", after_audit, ["thinker", "human_gate", END])
    graph.add_conditional_edges("human_gate", after_gate, ["thinker", "tool_executor", END])
    graph.add_conditional_edges("tool_executor", next_steps, ["run_step", "synthesizer"])
    graph.add_edge("run_step", "tool_executor")
    graph.add_conditional_edges("synthesizer", after_synthesis, ["citation_check", END])
    graph.add_edge("citation_check", END)
    return graph


def _saying(say: Callable[[], Any], node: Callable[[Any], Any]) -> Any:
    """Give a node that does the same, and says how the account stands afterwards."""

    async def run(state: Any) -> dict[str, Any]:
        update = await run_node(node, state)
        return {**update, **await asyncio.to_thread(say)}

    return run
