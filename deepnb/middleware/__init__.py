"""What an agent can be given, one plug-in a file.

A plug-in is langchain middleware: it adds tools, wraps model calls or tool calls, and knows
nothing of the agent it is in. What langchain and deepagents already have (todo list, file tools,
subagents, approvals) is used from there; here is what nobody had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb.middleware.budget import Budget
    from deepnb.middleware.clarify import ClarifyMiddleware
    from deepnb.middleware.client_tools import ClientToolsMiddleware
    from deepnb.middleware.knowledge import KnowledgeMiddleware
    from deepnb.middleware.ledger import Ledger
    from deepnb.middleware.payment import Payment
    from deepnb.middleware.run_config import RunConfig, RunConfigMiddleware

__all__ = [
    "Budget",
    "ClarifyMiddleware",
    "ClientToolsMiddleware",
    "KnowledgeMiddleware",
    "Ledger",
    "Payment",
    "RunConfig",
    "RunConfigMiddleware",
]

__getattr__ = lazy(
    __name__,
    {
        "Budget": "budget",
        "ClarifyMiddleware": "clarify",
        "ClientToolsMiddleware": "client_tools",
        "KnowledgeMiddleware": "knowledge",
        "Ledger": "ledger",
        "Payment": "payment",
        "RunConfig": "run_config",
        "RunConfigMiddleware": "run_config",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
