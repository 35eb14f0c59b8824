"""Notices when something in a workspace changes, whoever has changed it."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from deepnb.errors import PathError
from deepnb.exchange.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.exchange.scan import Scan
    from deepnb.files.folder import Folder

MOST = 20_000
"""Files and folders that are looked at."""

_EVERY = 2.0  # seconds
_SHARE = 20  # of the time goes into looking: a twentieth, however large the workspace
_SHORTEST = 0.2  # seconds between two looks, whatever happens


class Watch:
    """Counts the changes of a workspace, in the background while somebody wants to know.

    Attributes:
        version: A number that grows with each change, also from one process to the next.
    """

    def __init__(self, folder: Folder) -> None:
        self.version = time.time_ns() // 1_000_000
        self._folder = folder
        self._seen: int | None = None
        self._lock = threading.Lock()
        self._watchers = 0
        self._callbacks: list[Callable[[], None]] = []
        self._soon = threading.Event()
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """See whether something has changed, and tell if so."""
        with suppress(OSError, PathError):
            self.saw(scan(self._folder, "/", MOST))

    def saw(self, result: Scan) -> None:
        """Take note of what is there now."""
        seen = hash(tuple((each.path, each.version) for each in result.found))
        with self._lock:
            is_news = self._seen is not None and seen != self._seen
            self._seen = seen
            if is_news:
                self.version += 1
        if is_news:
            self.tell()

    def tell(self) -> None:
        """Tell whoever wants to know that something is not as it was."""
        with self._lock:
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def look_soon(self) -> None:
        """Have the background look before its time; if nobody watches, nothing happens."""
        self._soon.set()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have something called after changes, on any thread; returns how to end that."""
        with self._lock:
            self._callbacks.append(callback)

        def end() -> None:
            with self._lock, suppress(ValueError):
                self._callbacks.remove(callback)

        return end

    def start(self) -> None:
        """Look every now and then, until `stop` was called as often."""
        with self._lock:
            self._watchers += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deepnb-watch", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Say that one of those who watched does so no more."""
        with self._lock:
            self._watchers = max(self._watchers - 1, 0)
        self._soon.set()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._watchers:
                    self._thread = None
                    return
            self._soon.clear()
            began = time.monotonic()
            self.look()
            took = time.monotonic() - began
            time.sleep(_SHORTEST)
            self._soon.wait(max(_EVERY, took * _SHARE) - _SHORTEST)
