"""One run: what was asked, how it stands, and what came of it."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

from deepnb import transcript
from deepnb.errors import RunError
from deepnb.events import short
from deepnb.session import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from deepnb.events import Event

Status = Literal["queued", "running", "waiting", "stopped", "failed", "done"]
_UNDER_WAY = ("queued", "running")
_TURN = 0.25  # seconds


class Run:
    """What `Session.ask` returns, at once.

    `wait` does not return while a browser is attached that answers by itself.

    Attributes:
        id: Its name in the trace.
        question: What was asked.
        status: queued, running, waiting (for a person), stopped, failed or done.
        reason: What it waits for, or why it has stopped or failed.
    """

    def __init__(
        self,
        identity: str,
        question: str,
        read: Callable[[], list[Event]],
        extra: Callable[[str], Any],
        *,
        is_served: Callable[[float], bool] = lambda _: False,
        status: Status = "queued",
        reason: str = "",
    ) -> None:
        self.id = identity
        self.question = question
        self.status: Status = status
        self.reason = reason
        self._read = read
        self._extra = extra
        self._is_served = is_served
        self._waits_since = 0.0
        self._changed = threading.Condition()
        self._waiters: list[Callable[[], object]] = []

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until the run has ended, or waits for a person; at most `timeout` seconds.

        Interrupting the cell ends the waiting, not the run. A panel works meanwhile, where the
        kernel lets us see to that; `deepnb.doctor()` says whether it does.
        """
        serving.wait(self._settles, timeout)
        return self

    def _settles(self, seconds: float | None) -> bool:
        end = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while not self._is_settled:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return False
                # Nobody tells when a browser that was to answer is gone.
                turn = _TURN if self.status == "waiting" else None
                self._changed.wait(min(filter(None, (turn, left)), default=None))
            return True

    def __await__(self) -> Generator[Any, None, Self]:
        loop = asyncio.get_running_loop()
        settled = asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # whoever waited has closed their loop
                loop.call_soon_threadsafe(settled.set)

        with self._changed:
            if self._is_settled:
                return self
            self._waiters.append(wake)
        try:
            yield from _until(settled, lambda: self._is_settled).__await__()
        finally:
            with self._changed:
                if wake in self._waiters:
                    self._waiters.remove(wake)
        return self

    @property
    def _is_settled(self) -> bool:
        if self.status == "waiting":
            return not self._is_served(time.monotonic() - self._waits_since)
        # What is queued behind a run that waits for a person would wait for ever.
        return self.status not in _UNDER_WAY or (self.status == "queued" and self.reason != "")

    def move(self, status: Status, reason: str = "") -> None:
        """Change the status, and wake whoever waits for that."""
        with self._changed:
            if status == "waiting" and self.status != "waiting":
                self._waits_since = time.monotonic()
            self.status, self.reason = status, reason
            self._changed.notify_all()  # also who waits for a browser looks now and then
            if not self._is_settled:
                return
            waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()

    @property
    def answer(self) -> str:
        """What the agent said last.

        Raises:
            RunError: It failed, or has not ended yet; the message says what to do.
        """
        if self.status == "failed":
            raise RunError(f"The run failed. {self.reason}")
        if self.status == "waiting":
            raise RunError(
                f"The run waits for {self.reason}. Answer with session.respond(id, answer); "
                "session.pending has the ids."
            )
        if self.status in _UNDER_WAY:
            raise RunError(f"The run is {self.status}. Call run.wait() first, or await it.")
        answer = self._turn.answer
        return answer.text if answer else ""

    @property
    def error(self) -> str | None:
        """Why it failed, or None."""
        return self.reason if self.status == "failed" else None

    @property
    def _turn(self) -> transcript.Turn:
        return transcript.turns(self._read())[-1]

    def __getattr__(self, name: str) -> Any:
        # What an agent adds to its runs; Python comes here only for what is not there.
        if name.startswith("_"):
            raise AttributeError(f"A run has no {name!r}.")
        return self._extra(name)

    def __repr__(self) -> str:
        reason = f" ({short(self.reason)})" if self.reason else ""
        return f"Run({self.question!r:.80}, {self.status}{reason})"

    def _repr_html_(self) -> str:
        return transcript.run_card(self._turn)


async def _until(settled: asyncio.Event, is_settled: Callable[[], bool]) -> None:
    while not settled.is_set() and not is_settled():
        # A kernel notices that its cell is interrupted only when its loop turns.
        with suppress(TimeoutError):
            await asyncio.wait_for(settled.wait(), _TURN)
