"""Deep research agents that live in a notebook.

Everything here loads when it is first used: importing deepnb pulls in no language model library,
no pandas and no index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb import agents, errors, files, middleware, models, samples, testing
    from deepnb.agents.deep import create_deep_agent
    from deepnb.middleware.budget import Budget

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "__version__",
    "agents",
    "create_deep_agent",
    "errors",
    "files",
    "middleware",
    "models",
    "samples",
    "testing",
]

__getattr__ = lazy(
    __name__,
    {
        "Budget": "middleware.budget",
        "agents": "agents",
        "create_deep_agent": "agents.deep",
        "errors": "errors",
        "files": "files",
        "middleware": "middleware",
        "models": "models",
        "samples": "samples",
        "testing": "testing",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
