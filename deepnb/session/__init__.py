"""One conversation with one agent: background runs, events, questions, stop, fork, durability.

`Session` is what a person holds, and it does nothing itself. `Engine` drives runs on the thread
of `Loop`; `ThreadGraph` is all that is known about how LangGraph keeps a thread; `Translator`
tells what it streams in deepnb's vocabulary; `restore` makes a thread whole that was cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb.session.listing import forget, threads
    from deepnb.session.questions import Question
    from deepnb.session.run import Run
    from deepnb.session.session import Session, latest

__all__ = ["Question", "Run", "Session", "forget", "latest", "threads"]

__getattr__ = lazy(
    __name__,
    {
        "Question": "questions",
        "Run": "run",
        "Session": "session",
        "forget": "listing",
        "latest": "session",
        "threads": "listing",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
