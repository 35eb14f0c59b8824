"""Tells the browser what has happened before it asks, in batches."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

_LULL = 0.015
"""Seconds until something is told: whoever has made it happen, a click for example, goes first."""
_PAUSE, _LONG_PAUSE = 0.05, 0.125
"""Seconds between two messages: one for each token would take the browser many times as long."""
_TOO_FAST = 80
"""Characters in one message that nobody reads in that time: fewer messages are felt by none."""
_SETTLED = 0.25
"""Seconds of silence until another look: how a run stands changes just after its events."""
_GREETINGS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds until everything is told again, as long as no view has come up."""


class Pusher:
    """Calls `push` soon after `poke`, on a thread of its own, and never too often.

    Where the kernel is busy with a cell, a new view's first question waits for the cell's end. So
    until a view was heard, everything is told a few times, unasked.

    Args:
        push: Tells what is new, and gives how many characters of it are read as they come;
            `everything=True` to begin from the beginning, `settled=True` when nothing has happened
            for a moment.
        name: Of the thread.
    """

    def __init__(self, push: Callable[..., int], name: str) -> None:
        self._push = push
        self._poked = threading.Event()
        self._urged = threading.Event()
        self._is_heard = False
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def poke(self, *, urgent: bool = False) -> None:
        """Say that there is something to tell, if it is urgent without any pause."""
        if urgent:
            self._urged.set()
        self._poked.set()

    def heard(self) -> None:
        """Say that a view has come up, and asks for itself from now on."""
        self._is_heard = True
        self._poked.set()

    def stop(self) -> None:
        """End the thread."""
        self._is_over = True
        self._poked.set()

    def _run(self) -> None:
        greetings = deque(_GREETINGS)
        while not self._is_over:
            pause = greetings[0] if greetings and not self._is_heard else None
            if self._poked.wait(pause):
                self._tell_until_settled()
            else:
                greetings.popleft()
                self._try_to_push(everything=True, settled=True)

    def _tell_until_settled(self) -> None:
        while self._poked.is_set() and not self._is_over:
            self._urged.wait(_LULL)
            self._poked.clear()
            self._urged.clear()
            told = self._try_to_push(everything=False, settled=False)
            self._urged.wait((_LONG_PAUSE if told > _TOO_FAST else _PAUSE) - _LULL)
            self._poked.wait(_SETTLED)
        self._try_to_push(everything=False, settled=True)

    def _try_to_push(self, *, everything: bool, settled: bool) -> int:
        try:
            return self._push(everything=everything, settled=settled)
        except Exception:  # noqa: BLE001  # views can still pull, and the next push may go well
            _log.debug("The panel could not be told.", exc_info=True)
            return 0
