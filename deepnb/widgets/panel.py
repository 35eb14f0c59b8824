"""The panel: a session in the output cell."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anywidget
import traitlets
from IPython.display import display

from deepnb.session.showing import on_opening
from deepnb.widgets.keepsake import Keepsake
from deepnb.widgets.pusher import Pusher
from deepnb.widgets.switchboard import Switchboard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deepnb.events import Event
    from deepnb.session.session import Session
    from deepnb.widgets.switchboard import View

_panels: weakref.WeakSet[Panel] = weakref.WeakSet()


class Panel(anywidget.AnyWidget):
    """Chat, questions and approvals, with plan, trace and usage beside them.

    Made by `Session.panel`.

    Args:
        session: What to show.
    """

    _esm = Path(__file__).parent / "static" / "panel.js"

    # Facts for a page that comes up, and no more: traits are saved with the notebook.
    panel = traitlets.Unicode().tag(sync=True)
    key = traitlets.Unicode().tag(sync=True)
    thread = traitlets.Unicode().tag(sync=True)

    def __init__(self, session: Session) -> None:
        super().__init__(panel=uuid4().hex[:12], key=session.key, thread=session.thread)
        self._pushes = True
        self._unsubscribe: tuple[Callable[[], None], ...] = ()
        self._keepsake = Keepsake(self.panel)
        self._pusher = Pusher(self._push, f"deepnb panel {self.panel}")
        self._board = Switchboard(session, self.show, self._pusher.poke)
        self.on_msg(self._on_message)
        self.show(session)
        self._pusher.start()
        _panels.add(self)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Change nothing, whatever a page sets: none leads another astray, with code or thread."""

    def configure(
        self,
        *,
        starters: Mapping[str, str] | None,
        actions: Mapping[str, str] | None,
        push: bool | None,
        transcript: bool | None,
    ) -> None:
        """Change how it looks and works, see `Session.panel`; None leaves it as it is."""
        if starters is not None:
            self._board.starters = [{"title": t, "text": x} for t, x in starters.items()]
        if actions is not None:
            self._board.actions = [{"label": t, "text": x} for t, x in actions.items()]
        if push is not None:
            self._pushes = push
        if transcript is not None:
            self._keepsake.want(transcript)
        self._on_change()

    @property
    def session(self) -> Session:
        """The session that is shown: another one after a fork, or if another thread was opened."""
        return self._board.session

    @property
    def views(self) -> list[View]:
        """The pages that have shown it."""
        return list(self._board.views.values())

    def show(self, session: Session) -> None:
        """Show a session from now on."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._board.connect(session)
        self._unsubscribe = (
            session.subscribe(self._on_event),
            session.on_change(self._on_change),
        )
        self.thread, self.key = session.thread, session.key
        self._keepsake.session = session
        self._keepsake.notice()
        session.warm_up()
        self._pusher.poke()

    def close(self) -> None:
        """Take it off the page."""
        self._pusher.stop()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        super().close()

    def _on_event(self, event: Event) -> None:
        self._board.notice(event)
        self._keepsake.notice(event)
        self._pusher.poke()

    def _on_change(self) -> None:
        self._board.notice()
        self._pusher.poke()

    def _on_message(self, _: Any, content: Any, buffers: Any) -> None:
        reply = self._board.receive(content)
        self.send(reply)
        if isinstance(content, dict) and content.get("type") == "hello":
            self._pusher.heard()

    def _push(self, *, everything: bool, settled: bool) -> None:
        if self._pushes and (news := self._board.news(everything=everything, settled=settled)):
            self.send({"type": "push", "news": news})

    def __repr__(self) -> str:
        return f"Panel({self.session!r})"

    def _ipython_display_(self) -> None:
        data = self._repr_mimebundle_()
        bundle, metadata = data if isinstance(data, tuple) else (data, {})
        display({**(bundle or {}), "text/plain": repr(self.session)}, metadata=metadata, raw=True)
        self._keepsake.display()


def panel_of(session: Session) -> Panel:
    """Give the panel that shows a session, a new one if there is none."""
    found = (panel for panel in list(_panels) if panel.session is session)
    return next(found, None) or Panel(session)


def panels() -> list[Panel]:
    """Give the panels that there are."""
    return list(_panels)


@on_opening
def _show_again(session: Session) -> None:
    """Have the panels that showed a session which was closed show the one that follows it."""
    for panel in panels():
        if panel.session.is_closed and panel.session.key == session.key:
            panel.show(session)
