"""What can be said of a session beside its conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.session import showing
from deepnb.session.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deepnb.middleware.ledger import Limit
    from deepnb.models import Choice
    from deepnb.models.readiness import Readiness
    from deepnb.session.core import Core


class Facts:
    """The part of a `Session` that tells what it is."""

    thread: str
    workspace: Path
    is_closed: bool
    _core: Core

    @property
    def _key(self) -> tuple[str, str]:
        return (str(self.workspace) if self.is_kept else f"memory {id(self)}", self.thread)

    @property
    def key(self) -> str:
        """A name of the thread that differs from those in other folders, and does not tell them."""
        return showing.key_of(*self._key)

    @property
    def is_kept(self) -> bool:
        """Whether the conversation outlives the kernel."""
        return self._core.folder is not None

    @property
    def model(self) -> str:
        """The name of the model; empty for a graph, which may have any number of them."""
        return self.choice.spec if self.choice else ""

    @property
    def choice(self) -> Choice | None:
        """The model that answers and the rule that chose it; None for a graph."""
        return self._core.choice

    @property
    def readiness(self) -> Readiness:
        """Whether the model can answer."""
        return self._core.watch.readiness

    def warm_up(self) -> None:
        """Begin to load a model from a file, in the background; others have nothing to load."""
        self._core.watch.warm_up()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called when `readiness` may have changed; call the result to end that.

        On whichever thread that happens, so it must return at once.
        """
        return self._core.watch.on_change(callback)

    @property
    def takes_messages(self) -> bool:
        """Whether the agent can be asked something in words."""
        return self._core.graph.takes_messages

    @property
    def has_todos(self) -> bool:
        """Whether the agent keeps a todo list."""
        return self._core.graph.has_todos

    @property
    def title(self) -> str:
        """What the thread is about: its first question, on one line."""
        runs = list(self._core.engine.runs.values())
        return title_of(runs[0].question if runs else None)

    @property
    def limits(self) -> list[Limit]:
        """What the thread may spend and has spent, by unit; empty without a budget."""
        budget = self._core.budget
        return budget.standing(self._core.graph.thread) if budget and not self.is_closed else []
