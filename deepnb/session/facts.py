"""What can be said of a session beside its conversation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepnb.errors import SessionError
from deepnb.models.cassette.masking import mask
from deepnb.session import showing
from deepnb.session.shelf import shelf_name
from deepnb.session.titles import title_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.exchange import Exchange
    from deepnb.middleware.ledger import Limit
    from deepnb.models import Choice
    from deepnb.models.readiness import Readiness
    from deepnb.session.core import Core
    from deepnb.session.run import Run


def _from_here(workspace: Path) -> str:
    here = Path.cwd()
    return str(workspace.relative_to(here) if workspace.is_relative_to(here) else workspace)


class Facts:
    """The part of a `Session` that tells what it is."""

    agent: str
    thread: str
    workspace: Path
    is_closed: bool
    _core: Core

    @property
    def _key(self) -> tuple[str, str]:
        return (str(self.workspace) if self.is_kept else f"memory {id(self)}", self.thread)

    @property
    def key(self) -> str:
        """A name of the thread that differs from those in other folders, and does not tell them.

        A thread that was forgotten and made again has another one.
        """
        return showing.key_of(*self._key, self._core.born)

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
    def options(self) -> dict[str, Any]:
        """What the agent was given beside its model and workspace."""
        return dict(self._core.recipe.options)

    @property
    def exchange(self) -> Exchange:
        """The workspace as pages reach it, and its ties to the files in browsers."""
        return self._core.exchange

    def attend(self) -> None:
        """Hear that a page shows the session, which answers by itself what its files can."""
        self._core.engine.attendance.hear()

    @property
    def shelf(self) -> str:
        """The name under which browsers keep the reader's files of this workspace."""
        if not self.is_kept:  # there is no folder that a name of its own could be kept in
            return showing.key_of("memory", str(self.workspace))
        return shelf_name(self._core.files_record)

    @property
    def reads_client(self) -> bool:
        """Whether the agent can reach the files in a browser by itself."""
        return self._core.recipe.options.get("client") is True

    @property
    def takes_messages(self) -> bool:
        """Whether the agent can be asked something in words."""
        return self._core.graph.takes_messages

    @property
    def has_todos(self) -> bool:
        """Whether the agent keeps a todo list."""
        return self._core.graph.has_todos

    @property
    def under_way(self) -> Run | None:
        """The run that is running or waiting, or about to be."""
        return self._core.engine.under_way

    @property
    def opening(self) -> str:
        """Python that opens the thread in a new kernel; empty if it takes more than can be told."""
        recipe = self._core.recipe
        if not self.is_kept or not isinstance(recipe.agent, str) or recipe.options:
            return ""
        given = {"thread": self.thread, "workspace": _from_here(self.workspace)}
        if isinstance(recipe.model, str) and mask(recipe.model) == recipe.model:
            given["model"] = recipe.model
        elif recipe.model is not None:
            return ""
        options = "".join(f", {name}={value!r}" for name, value in given.items())
        return f"import deepnb\n\nsession = deepnb.Session({self.agent!r}{options})\nsession\n"

    def remember_panel(self) -> None:
        """Remember, also in the next kernel, that a panel has shown the thread."""
        if not self.is_closed:
            self._core.engine.record.note({showing.PANEL: "shown"})

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

    def _check_open(self) -> None:
        if self.is_closed:
            raise SessionError(
                "This session is closed, or was opened again by a later one. Use that, or make a "
                f"new one: deepnb.Session({self.agent!r}, thread={self.thread!r})."
            )
