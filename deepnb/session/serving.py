"""Waiting in a cell, without turning away the clicks on a panel meanwhile.

A kernel takes one message after the other, so a cell that waits for a run keeps it from hearing the
button that stops the run: most kernels hear it when the cell has ended, which is too late. So
whoever waits here takes the messages that come in for the kernel. Those that only concern widgets
are handed to the kernel at once. All others, the next cells above all, are kept and handed back
when the waiting is over, in their order, to where they would have come without us: that happens
before the cell ends, so whatever the kernel does about cells that are queued, it does.

For this one has to know a kernel from the inside. Where it looks different than expected, in
another thread and outside of a cell, one simply waits.
"""

from __future__ import annotations

import asyncio
import math
import signal
import sys
import threading
import time
from types import coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

_served: list[Any] = []
"""What was served before its turn, and will come up once more."""
_going_on: set[asyncio.Future[None]] = set()
_TURN = 0.05  # seconds until another look at the messages
_SERVED = frozenset(
    {
        "comm_open",
        "comm_msg",
        "comm_close",
        # These two only ask something, and a page that is loaded again asks them first.
        "comm_info_request",
        "kernel_info_request",
    }
)


def wait(is_over: Callable[[float | None], bool], timeout: float | None) -> None:
    """Wait until something is over, at most `timeout` seconds; an interrupt ends it too.

    Args:
        is_over: Waits itself, for at most the given seconds, and says how it stands.
        timeout: None to wait as long as it takes.
    """
    if is_over(0.0):
        return
    if shell := _shell():
        _wait_and_serve(shell, is_over, math.inf if timeout is None else timeout)
    else:
        is_over(timeout)


def _wait_and_serve(shell: _Shell, is_over: Callable[[float | None], bool], timeout: float) -> None:
    end = time.monotonic() + timeout
    interrupts: list[int] = []
    # An interrupt that came just after a message was taken would lose it. So it waits a moment.
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        try:
            shell.catch_up()
            pause = 0.0
            while not interrupts and not is_over(pause) and time.monotonic() < end:
                pause = 0.0 if shell.take_one() else min(_TURN, max(0.0, end - time.monotonic()))
        finally:
            shell.hand_back()
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        raise KeyboardInterrupt


def is_possible() -> bool:
    """Whether waiting in this cell would keep serving a panel."""
    return _shell() is not None


class _Shell:
    """The way that messages take into a kernel, while a cell keeps it busy."""

    def __init__(self, kernel: Any, stream: Any) -> None:
        self._kernel, self._stream = kernel, stream
        self._session, self._dispatch = kernel.session, kernel.dispatch_shell
        self._pass_on, self._receiver = stream._run_callback, stream._recv_callback  # noqa: SLF001
        self._publish_status = kernel._publish_status  # noqa: SLF001
        self._ident, self._cell = kernel._parent_ident["shell"], kernel.get_parent("shell")  # noqa: SLF001
        self._on_interrupt = kernel.saved_sigint_handler
        self._kept: list[Any] = []

    @property
    def is_ours(self) -> bool:
        """Whether we are in the cell that keeps the kernel busy, and not in a handler."""
        return (
            threading.current_thread() is threading.main_thread()
            and asyncio.get_running_loop() is self._stream.io_loop.asyncio_loop
            and self._cell["header"]["msg_type"] == "execute_request"
        )

    def catch_up(self) -> None:
        """Serve what the kernel has taken in before the waiting began, and not come to yet."""
        if queue := getattr(self._kernel, "msg_queue", None):
            for entry in [queue.get_nowait() for _ in range(queue.qsize())]:
                if not (entry[1] == self._dispatch and self._serves(*entry[2])):
                    queue.put_nowait(entry)
            return
        for frames in self._under_way():
            if self._serves(frames):
                self._skip(frames)

    def take_one(self) -> bool:
        """Serve or keep the next message; False if there is none."""
        import zmq

        try:
            frames = self._stream.socket.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return False
        if not self._serves(frames):
            self._kept.append(frames)
        return True

    def hand_back(self) -> None:
        """Give the kernel what was kept, as if it had just come in."""
        import zmq

        for frames in self._kept:
            self._pass_on(self._receiver, frames)
        # The stream is told by its socket when there is something new, and only once; we may have
        # been told in its place. This has it look for itself.
        self._stream.flush(zmq.POLLIN)

    def _under_way(self) -> list[Any]:
        """The messages that have a task each, which waits for its turn."""
        # Signatures tell what was dispatched already. Where nothing is signed, nothing is touched.
        code = getattr(self._receiver, "__code__", None) if self._session.auth else None
        works: list[Any] = [task.get_coro() for task in asyncio.all_tasks()]
        ours = [work for work in works if code and getattr(work, "cr_code", None) is code]
        messages = [next(iter(work.cr_frame.f_locals.get("args", ())), None) for work in ours]
        return sorted(messages, key=lambda frames: str(self._header(frames).get("date")))

    def _skip(self, frames: Any) -> None:
        """Have the kernel pass over a message, when it comes to it; its task must end in order."""
        if not _served:
            self._kernel.dispatch_shell = self._dispatch_if_new
        _served.append(frames)

    async def _dispatch_if_new(self, frames: Any, /, *args: Any, **options: Any) -> None:
        if all(frames is not served for served in _served):
            await self._dispatch(frames, *args, **options)
            return
        _served[:] = [served for served in _served if served is not frames]
        if not _served:
            del self._kernel.dispatch_shell

    def _header(self, frames: Any) -> dict[str, Any]:
        try:
            _, parts = self._session.feed_identities(frames, copy=False)
            message = self._session.deserialize(parts, content=False, copy=False)
        except Exception:  # noqa: BLE001  # dispatched already, or no message at all
            return {}
        header: dict[str, Any] = message["header"]
        return header

    def _serves(self, frames: Any) -> bool:
        """Serve a message, if it is one of those that need not wait."""
        is_served = self._header(frames).get("msg_type") in _SERVED
        if is_served:
            self._serve(frames)
        return is_served

    def _serve(self, frames: Any) -> None:
        # What the cell has printed so far is the cell's.
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            _run(self._dispatch(frames))
        finally:
            self._kernel.saved_sigint_handler = self._on_interrupt
            self._kernel.set_parent(self._ident, self._cell, channel="shell")
            # The kernel has just said that it is idle. Pages show that, and servers shut down
            # kernels which have been idle for long.
            self._publish_status("busy", "shell")


def _shell() -> _Shell | None:
    python = sys.modules.get("IPython")
    kernel = getattr(python.get_ipython() if python else None, "kernel", None)
    try:
        shell = _Shell(kernel, _stream(kernel))
        is_ours = shell.is_ours
    except (AttributeError, LookupError, RuntimeError, TypeError):
        return None  # a kernel of another kind, or none
    return shell if is_ours else None


def _stream(kernel: Any) -> Any:
    """Where the messages for the cells come from."""
    if thread := getattr(kernel, "shell_channel_thread", None):
        # It takes in all messages, and passes them on to the main thread and to subshells.
        return thread.manager.get_shell_channel_to_subshell_pair(None).to_stream
    return kernel.shell_stream


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        awaited = work.send(None)
    except StopIteration:
        return
    # No kernel that we know waits for anything here. One that does goes on after the cell.
    _going_on.add(task := asyncio.ensure_future(_rest(work, awaited)))
    task.add_done_callback(_going_on.discard)


@coroutine
def _rest(work: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    yield awaited
    yield from work
