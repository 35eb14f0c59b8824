"""What a session shows as DataFrames, and what its agent adds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb import agents
from deepnb.files import Folder
from deepnb.files.namespace import FILES, WORKSPACE
from deepnb.session.facts import Facts
from deepnb.session.workspace import memory_rows, with_mapped, workspace_rows

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from deepnb.frames import Frames


class Views(Facts):
    """The part of a `Session` that is only looked at."""

    _frames: Frames | None = None

    @property
    def state(self) -> dict[str, Any]:
        """The values of the graph's state."""
        self._check_open()
        values = self._core.loop.wait(self._core.graph.state()).values
        return values if isinstance(values, dict) else {"value": values}

    @property
    def trace(self) -> pd.DataFrame:
        """Everything that happened, a row each: who, what, when, tokens, cost, seconds."""
        return self._all_frames.trace()

    @property
    def messages(self) -> pd.DataFrame:
        """The conversation."""
        return self._all_frames.messages()

    @property
    def todos(self) -> pd.DataFrame:
        """The agent's plan, and when each part of it was begun and done."""
        return self._all_frames.todos()

    @property
    def usage(self) -> pd.DataFrame:
        """What was used, by model and agent, with the cost where the price is known."""
        return self._all_frames.usage()

    @property
    def pending(self) -> pd.DataFrame:
        """What waits for an answer, with the ids that `respond` takes."""
        return self._all_frames.pending()

    @property
    def files(self) -> pd.DataFrame:
        """The files of the session: their home, who changed them last, and how mapped ones stand.

        Of the files in a browser, those that are mapped; the names of others stay there.
        """
        rows = [*memory_rows(self.state)]
        if isinstance(self._core.recipe.agent, str):
            # Agents that know no other files of the person may have the workspace at `/files/`.
            homes = (WORKSPACE,) if self.options.get("client") else (WORKSPACE, FILES)
            memory = {row["path"] for row in rows}
            rows += workspace_rows(Folder(self.workspace), homes, memory)
        return self._all_frames.files(with_mapped(rows, self.exchange.mapped_files()))

    @property
    def disclosures(self) -> pd.DataFrame:
        """What has left the reader's browser: what, how much, when, and what for."""
        return self._all_frames.disclosures()

    def path(self, name: str) -> Path:
        """Give the real path of a file in the browser that is mapped to the workspace.

        Args:
            name: Its path in the browser or in the workspace; its name alone, if there is but one.

        Raises:
            PathError: It is not mapped; the message says how to do that.
        """
        return self.exchange.path_of(name)

    @property
    def _all_frames(self) -> Frames:
        if self._frames is None:
            from deepnb.frames import Frames

            self._frames = Frames(self._core.engine.record.log.since)
        return self._frames

    def __getattr__(self, name: str) -> Any:
        # What an agent adds to its sessions. Python also comes here when a property of ours has
        # raised an AttributeError: looked up once more, it tells what was really missing.
        if hasattr(type(self), name):
            return object.__getattribute__(self, name)
        views = {} if name.startswith("_") else agents.views(self.agent)
        if name not in views:
            raise AttributeError(f"This session has no {name!r}. See dir(session).")
        return views[name](self)

    def __dir__(self) -> list[str]:
        own = [name for name in super().__dir__() if not name.startswith("_")]
        return sorted({*own, *agents.views(self.agent)})
