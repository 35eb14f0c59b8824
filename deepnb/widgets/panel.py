"""The panel: a session in the output cell."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import anywidget
import traitlets
from IPython.display import display

from deepnb.errors import SessionError
from deepnb.session.showing import has_kernel, on_opening
from deepnb.widgets.facts import searched
from deepnb.widgets.keepsake import Keepsake
from deepnb.widgets.pusher import Pusher
from deepnb.widgets.switchboard import Switchboard

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.events import Event
    from deepnb.session.session import Session
    from deepnb.widgets.switchboard import View

_panels: weakref.WeakSet[Panel] = weakref.WeakSet()
_ELSEWHERE = (
    "A notebook shows it, as the last line of a cell. To go on without one: "
    'print(session.ask("…").wait().answer)'
)


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
    home = traitlets.Unicode().tag(sync=True)
    opens = traitlets.Unicode().tag(sync=True)

    tab = "chat"
    """What a page shows first."""

    def __init__(self, session: Session) -> None:
        # First what `close` needs, which is also called if this fails.
        self._unsubscribe: tuple[Callable[[], None], ...] = ()
        panel, thread, key = uuid4().hex[:12], session.thread, session.key
        self._pusher = Pusher(self._push, f"deepnb panel {panel}")
        super().__init__(panel=panel, key=key, thread=thread, home=key, opens=self.tab)
        self._lock = (
            threading.RLock()
        )  # shown and asked on several threads; what is said has an order
        self._guest: Session | None = None
        self._pushes = True
        self._keepsake = Keepsake(panel)
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
        for given in (starters, actions):
            _check_texts(given)
        if starters is not None:
            self._board.starters = [{"title": t, "text": x} for t, x in starters.items()]
        if actions is not None:
            self._board.actions = [{"label": t, "text": x} for t, x in actions.items()]
        if push is not None:
            self._pushes = push
        if transcript is not None:
            self._keepsake.want(transcript)
            self._board.keeps_transcript = transcript
        self._on_change()

    @property
    def session(self) -> Session:
        """The session that is shown: another one after a fork, or if another thread was opened."""
        return self._board.session

    @property
    def views(self) -> list[View]:
        """The pages that have shown it."""
        return list(self._board.views.values())

    def show(self, session: Session, *, is_guest: bool = False) -> None:
        """Show a session from now on.

        Args:
            session: What to show.
            is_guest: It was opened for this, and nobody else holds it: it is closed when the panel
                goes on to another one.
        """
        with self._lock:
            for unsubscribe in self._unsubscribe:
                unsubscribe()
            leaving, self._guest = self._guest, session if is_guest else None
            self._board.connect(session)
            documents = searched(session)
            self._unsubscribe = (
                session.subscribe(self._on_event),
                session.on_change(self._on_change),
                session.exchange.changes.on_change(self._on_change),
                self._board.close,
                *([documents.on_progress(self._on_change)] if documents is not None else []),
            )
            with self.hold_sync():  # a page is told both at once
                self.thread, self.key = session.thread, session.key
            self._keepsake.session = session
            self._keepsake.notice()
        session.remember_panel()
        session.warm_up()
        self._pusher.poke()
        if leaving and leaving is not session:
            _let_go(leaving)

    @property
    def is_open(self) -> bool:
        """Whether it can be displayed."""
        return self.comm is not None

    def close(self) -> None:
        """Take it off the page."""
        self._pusher.stop()
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        super().close()

    def _on_event(self, event: Event) -> None:
        self._board.notice(event)
        self._keepsake.notice(event)
        self._pusher.poke(urgent=_is_for_a_page(event))

    def _on_change(self) -> None:
        self._board.notice()
        self._pusher.poke()

    def _on_message(self, _: Any, content: Any, buffers: Any) -> None:
        with self._lock:
            self.send(*self._board.receive(content, buffers or ()))
        if isinstance(content, dict) and content.get("type") == "hello":
            self._pusher.heard()

    def _push(self, *, everything: bool, settled: bool) -> int:
        with self._lock:
            if not self._pushes:
                return 0
            news = self._board.news(everything=everything, settled=settled)
            if not news:
                return 0
            self.send({"type": "push", "news": news})
        words = (e["data"].get("text") or "" for e in news["events"] if e["kind"] == "token")
        return sum(map(len, words))

    def __repr__(self) -> str:
        panel = f"{type(self).__name__}({self.session!r})"
        return panel if has_kernel() else f"{panel}\n{_ELSEWHERE}"

    def _ipython_display_(self) -> None:
        data = self._repr_mimebundle_()
        bundle, metadata = data if isinstance(data, tuple) else (data, {})
        plain = repr(self.session if has_kernel() else self)
        display({**(bundle or {}), "text/plain": plain}, metadata=metadata, raw=True)
        self._keepsake.display()


def _is_for_a_page(event: Event) -> bool:
    """Whether it is a question that no person is asked: the run waits for a page's own answer."""
    asked = event.data["request"] if event.kind == "interrupt_opened" else None
    return isinstance(asked, Mapping) and asked.get("type") == "client_tool_execution"


def _check_texts(given: Any) -> None:
    if given is None:
        return
    texts = [*given.keys(), *given.values()] if isinstance(given, Mapping) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise SessionError("Give texts by title, for example {'Sum it up': 'What was found?'}.")


def _let_go(session: Session) -> None:
    """Close a session that nobody holds, unless it is at work or shown elsewhere."""
    is_shown = any(panel.session is session for panel in panels())
    if session.is_kept and not is_shown and session.status != "running":
        session.close()


class Explorer(Panel):
    """The panel with the files opened, which leaves no transcript behind.

    Made by `Session.explorer`.

    Args:
        session: Whose files to show.
    """

    tab = "files"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.configure(starters=None, actions=None, push=None, transcript=False)


Shown = TypeVar("Shown", bound=Panel)


def panel_of(session: Session, kind: type[Shown]) -> Shown:
    """Give the panel of a kind that shows a session, a new one if there is none."""
    # Not by type: anywidget gives each widget one of its own.
    found = (each for each in panels() if each.tab == kind.tab and each.session is session)
    shown = next(found, None)
    return shown if isinstance(shown, kind) else kind(session)


def panels() -> list[Panel]:
    """Give the panels that there are."""
    return [panel for panel in list(_panels) if panel.is_open]


@on_opening
def _show_again(session: Session) -> None:
    """Have the panels that showed a session which was closed show the one that follows it."""
    for panel in panels():
        if panel.session.is_closed and panel.session.key == session.key:
            panel.show(session)
