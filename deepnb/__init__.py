"""Deep research agents that live in a notebook.

Everything here loads when it is first used: importing deepnb pulls in no language model library,
no pandas and no index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb import (
        agents,
        errors,
        events,
        files,
        frames,
        interrupts,
        middleware,
        models,
        payments,
        samples,
        testing,
    )
    from deepnb.agents.deep import create_deep_agent
    from deepnb.agents.mcp import mcp_tools
    from deepnb.knowledge import Knowledge, Note
    from deepnb.middleware.budget import Budget
    from deepnb.notebook.doctor import doctor
    from deepnb.notebook.magics import load_ipython_extension
    from deepnb.payments.config import Cashu
    from deepnb.session.listing import forget, threads
    from deepnb.session.session import Session

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Cashu",
    "Knowledge",
    "Note",
    "Session",
    "__version__",
    "agents",
    "create_deep_agent",
    "doctor",
    "errors",
    "events",
    "files",
    "forget",
    "frames",
    "interrupts",
    "load_ipython_extension",
    "mcp_tools",
    "middleware",
    "models",
    "payments",
    "samples",
    "testing",
    "threads",
]

__getattr__ = lazy(
    __name__,
    {
        "Budget": "middleware.budget",
        "Cashu": "payments.config",
        "Knowledge": "knowledge",
        "Note": "knowledge",
        "Session": "session.session",
        "agents": "agents",
        "create_deep_agent": "agents.deep",
        "doctor": "notebook.doctor",
        "errors": "errors",
        "events": "events",
        "files": "files",
        "frames": "frames",
        "forget": "session.listing",
        "interrupts": "interrupts",
        "load_ipython_extension": "notebook.magics",
        "mcp_tools": "agents.mcp",
        "middleware": "middleware",
        "models": "models",
        "payments": "payments",
        "samples": "samples",
        "testing": "testing",
        "threads": "session.listing",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
