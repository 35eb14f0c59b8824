"""A process that settles an account and dies in the middle of it; test_kill.py starts it."""

from __future__ import annotations

import itertools
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from deepnb.payments import Cashu
from deepnb.payments.mint import Mint


def settle(url: str, wallet: Path, account: str, dies_at: int | None, pipe: Connection) -> None:
    """Settle, and die at the moment of that number, or whenever somebody kills it.

    A moment is each statement that SQLite is given, and before and after each request: between
    what is stored and what is not are those that are worth dying at, and too short for a clock.
    """
    moments, send = itertools.count(), Mint._send

    def reach(*_: object) -> None:
        if next(moments) == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def sending(*args: object) -> object:
        reach()
        try:
            return send(*args)
        finally:
            reach()

    Mint._send = sending
    with Cashu([url], wallet=wallet).open() as till:
        till._store._db.set_trace_callback(reach)
        pipe.send("begun")
        pipe.send((till.settle(account).token, next(moments)))
        signal.pause()  # it is killed, if it has not died
