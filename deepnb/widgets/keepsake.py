"""What stays in a saved notebook: the conversation as plain HTML, beside the live panel.

It is an output of its own. A page on which the panel lives hides it; where nothing runs, on GitHub
or in a converted notebook, it is what one sees.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from IPython.core.getipython import get_ipython
from IPython.display import display

from deepnb import transcript
from deepnb.transcript.legible import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.display import DisplayHandle

    from deepnb.events import Event
    from deepnb.session.session import Session

_TELLING = frozenset(
    {"queued", "run_started", "message", "interrupt_opened", "interrupt_closed", "run_ended"}
)
_log = logging.getLogger(__name__)
_MOST = 4  # outputs that are kept up to date: a cell that is run again has a new one
_PAUSE = 0.5  # seconds until it is written anew
_SHARE = 20  # it takes no more than this part of the time


class Keepsake:
    """Shows a transcript, and brings it up to date when something has been said.

    Args:
        panel: Id of the panel that it belongs to.
    """

    def __init__(self, panel: str) -> None:
        self._is_wanted = True
        self.session: Session | None = None
        self._panel = panel
        self._handles: deque[DisplayHandle] = deque(maxlen=_MOST)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._pause = _PAUSE

    def want(self, is_wanted: bool) -> None:  # noqa: FBT001  # an answer, and nothing else
        """Have it in the notebook or not; what is there already goes, or comes back."""
        if is_wanted != self._is_wanted:
            self._is_wanted = is_wanted
            self.notice()

    def display(self) -> None:
        """Put it into the output of the current cell."""
        if self._is_wanted and (handle := display(self._bundle(), raw=True, display_id=True)):
            if not self._handles:
                _at_the_end_of_each_cell(self.flush)
            self._handles.append(handle)

    def notice(self, event: Event | None = None) -> None:
        """Hear that something has happened."""
        if not self._handles or (event and event.kind not in _TELLING):
            return
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(self._pause, self._refresh)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Bring it up to date now, if that is still to be done.

        At the end of a cell it belongs to that cell, so that whoever runs a notebook without a
        page, and listens no longer than the cells run, has it.
        """
        with self._lock:
            timer, self._timer = self._timer, None
        if timer:
            timer.cancel()
            self._refresh()

    def _refresh(self) -> None:
        with self._lock:
            self._timer = None
        began = time.monotonic()
        try:
            shown = self._bundle()
            for handle in self._handles:
                handle.update(shown, raw=True)
        except Exception:  # noqa: BLE001  # a kernel that ends, for example; nobody asked for it here
            _log.debug("The transcript could not be refreshed.", exc_info=True)
        self._pause = max(_PAUSE, _SHARE * (time.monotonic() - began))

    def _bundle(self) -> dict[str, str]:
        if not self._is_wanted:
            return {"text/plain": ""}
        turns, before = transcript.latest(self.session.events() if self.session else [])
        asked = [f"- {one_line(turn.question)} ({turn.status})" for turn in turns]
        return {
            "text/plain": "\n".join(["Saved transcript", *asked]),
            "text/html": transcript.to_fragment(turns, self._panel, before),
        }


def _at_the_end_of_each_cell(callback: Callable[[], None]) -> None:
    if shell := get_ipython():
        shell.events.register("post_run_cell", lambda _: callback())
