"""Whether a session's model can answer, for whoever wants to know when that changes."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from deepnb.models import LocalModel, OfflineModel
from deepnb.models.local.loading import on_loading
from deepnb.models.readiness import Readiness
from deepnb.session.failures import GO_ON
from deepnb.transcript.legible import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.language_models import BaseChatModel

    from deepnb.events import Event

    Find = Callable[[], BaseChatModel | None]

_LONGEST = 300
_NODE = "model"  # that langchain's agents call their model in


class ModelWatch:
    """Watches the model of a session.

    A model from a file tells itself how it stands. Of any other it is only known whether its last
    call has failed, which the session's events tell.

    Args:
        find: Makes the model, once more and when it is needed: what is loaded of a file is shared.
    """

    def __init__(self, find: Find) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._stop_listening = on_loading(self._tell)
        self.change_to(find)

    def change_to(self, find: Find) -> None:
        """Watch another model, of which nothing is known yet."""
        self._model = cache(find)
        self._has_failed = False
        self._failure = ""
        self._tell()

    def close(self) -> None:
        """Watch no more; whoever listens is told a last time, that the session is closed."""
        self._stop_listening()
        self._tell()
        self._listeners.clear()
        self._model.cache_clear()  # its weights may go

    @property
    def readiness(self) -> Readiness:
        """How the model stands."""
        model = self._model()
        if isinstance(model, OfflineModel):
            return Readiness("offline")
        readiness = model.readiness if isinstance(model, LocalModel) else Readiness("ready")
        if readiness.state == "ready" and self._failure:
            return Readiness("failed", self._failure)
        return readiness

    def warm_up(self) -> None:
        """Begin to load a model from a file, in the background."""
        model = self._model()
        if isinstance(model, LocalModel) and model.readiness.state != "loading":
            threading.Thread(
                target=_load, args=(model,), name="deepnb-warm-up", daemon=True
            ).start()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called after each change; call the result to end that."""
        self._listeners.append(callback)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(callback)

        return end

    def hear(self, event: Event) -> None:
        """Take note of an event of the session's own agent: a helper may have another model."""
        if event.parent:
            return
        if event.kind == "node" and event.name == _NODE:
            self._has_failed = "error" in event.data
            if not self._has_failed:
                self._note("")
        elif event.kind == "error" and self._has_failed:
            text = f"{event.data.get('type')}: {event.data.get('text')}".removesuffix(GO_ON)
            self._note(one_line(text, _LONGEST))

    def _note(self, failure: str) -> None:
        if failure != self._failure:
            self._failure = failure
            self._tell()

    def _tell(self) -> None:
        for callback in self._listeners.copy():
            callback()


def _load(model: LocalModel) -> None:
    with suppress(Exception):  # what went wrong is in its readiness
        model.load()
