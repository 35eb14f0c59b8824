"""Work that a stop ends within a second, whether it wants to end or not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Result = TypeVar("Result")

_PATIENCE = 0.8
"""Seconds to wait for work that does not let itself be cancelled; it is then abandoned."""


class StoppedError(Exception):
    """Somebody has called stop.

    Attributes:
        is_left: Whether something did not end, and may go on for a while.
    """

    def __init__(self, *, is_left: bool) -> None:
        super().__init__("stopped")
        self.is_left = is_left


class Stoppable:
    """Does one thing at a time, until it is done or stopped."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None
        self._over: asyncio.Future[None] | None = None
        self._stopping = False

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for `work`.

        Raises:
            StoppedError: Somebody has called `stop`, before or meanwhile.
        """
        loop = asyncio.get_running_loop()
        task, over = loop.create_task(work), loop.create_future()
        task.add_done_callback(lambda _: _settle(over))
        self._task, self._over = task, over
        if self._stopping:
            self.stop()
        await over
        self._task = self._over = None
        if not self._stopping:
            return task.result()
        if task.done() and not task.cancelled():
            task.exception()  # looked at; it does not matter any more
        raise StoppedError(is_left=not task.done())

    def stop(self) -> None:
        """Stop what is done now, and whatever is begun before `reset`."""
        self._stopping = True
        if self._task and self._over:
            self._task.cancel()
            asyncio.get_running_loop().call_later(_PATIENCE, _settle, self._over)

    def reset(self) -> None:
        """Let work be done again."""
        self._stopping = False


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
