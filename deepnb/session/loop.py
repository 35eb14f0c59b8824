"""A thread with an event loop of its own, which no cell blocks and which blocks no exit."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from deepnb.errors import SessionError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")
_PATIENCE = 60.0


class Loop:
    """Runs coroutines on a daemon thread, whichever thread they are handed over on.

    A kernel has a running event loop of its own, and a graph must be driven by one loop only, so
    this is the one place where a session's graph and its checkpoints are touched.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._tools = _DaemonThreads()
        self._loop.set_default_executor(self._tools)
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._closing:
            # A tool that calls sys.exit() ends its own task, and asyncio wants to end the loop.
            with suppress(SystemExit, KeyboardInterrupt):
                self._loop.run_forever()
        if not self._tools.under_way:  # they would complain, below whichever cell is current
            self._loop.close()

    @property
    def is_here(self) -> bool:
        """Whether the caller is on the loop's own thread, which cannot wait for itself."""
        return threading.current_thread() is self._thread

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin, and give at once what will hold the result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Begin, and wait for the result: for what takes a moment only."""
        if self.is_here:
            work.close()
            raise SessionError("This cannot be called from a subscriber. Call it from a cell.")
        try:
            return self.start(work).result(_PATIENCE)
        except TimeoutError:
            raise SessionError(
                f"The session has not answered for {_PATIENCE:.0f} seconds: something blocks its "
                "event loop, probably an async tool that calls blocking code. Restart the kernel "
                "and open the thread again; nothing is lost."
            ) from None

    def call(self, function: Callable[[], object]) -> None:
        """Call `function` on the loop's thread, soon."""
        self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """End the thread; what still runs in it is abandoned."""
        if not self._loop.is_closed():
            self._closing = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            if not self.is_here:
                self._thread.join(5)


class _DaemonThreads(ThreadPoolExecutor):
    """A daemon thread for each call, so that a tool that hangs keeps no kernel from ending."""

    under_way = 0

    def _note_end(self, _: Future[Any]) -> None:
        self.under_way -= 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.under_way += 1
        future.add_done_callback(self._note_end)

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except (SystemExit, KeyboardInterrupt, StopIteration) as error:
                # A future cannot hold these, or would end more than the call.
                future.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
            except BaseException as error:  # noqa: BLE001  # handed to whoever waits
                future.set_exception(error)

        threading.Thread(target=work, name="deepnb-tool", daemon=True).start()
        return future
