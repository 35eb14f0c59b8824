"""Whether a model can answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["offline", "ready", "loading", "failed"]


@dataclass(frozen=True)
class Readiness:
    """How a model stands.

    Attributes:
        state: "offline" is deepnb's own model, which quotes and needs nothing; "ready" is any
            other that nothing is known against.
        detail: What there is to say about it: why it failed, or what it waits for.
        progress: The share of 1 that is loaded; None if nobody knows.
    """

    state: State
    detail: str = ""
    progress: float | None = None
