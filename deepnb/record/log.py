"""The events of a thread: all of them in memory, and on disk in batches."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from deepnb.errors import ThreadError
from deepnb.events import Event, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.record.database import Database

_BATCH = 32
_LONGEST_WAIT = 0.25
_MAY_WAIT = frozenset[Kind]({"token", "reasoning"})
"""Kinds that come so often that they are written together: the next comes soon, or the message."""


class Masks:
    """Takes secrets out of what is about to be kept; this one knows of none."""

    def mask(self, kind: Kind, data: dict[str, Any]) -> dict[str, Any]:
        """Give an event's data without them."""
        return data

    def mask_bytes(self, data: bytes) -> bytes:
        """Give serialised data without them."""
        return data


class Log:
    """Appends events, numbers them and tells whoever listens; safe for threads.

    Listeners are called in the order of the events, on one of the threads that append, so they
    must return at once. Whatever goes wrong with the disk is noted in `failure`: an event is never
    the reason that a run breaks, and none is lost while the process lives.
    """

    def __init__(self, database: Database, masks: Masks) -> None:
        self._db = database
        self._masks = masks
        self._lock = threading.RLock()
        self._unsaved: list[Event] = []
        self._listeners: list[Callable[[Event], None]] = []
        self._untold: deque[tuple[Event, tuple[Callable[[Event], None], ...]]] = deque()
        self._telling = threading.Lock()
        self._events: list[Event] = []
        self.failure: ThreadError | None = None
        self.load()

    def load(self) -> None:
        """Read what is on disk."""
        events = read(self._db)
        with self._lock:
            self._events = events

    def append(self, kind: Kind, *, data: dict[str, Any], **fields: Any) -> Event:
        """Add an event; the fields are those of `Event`."""
        data = self._masks.mask(kind, data)
        with self._lock:
            last = self._events[-1].seq if self._events else 0
            event = Event(last + 1, time.time(), kind, data=data, **fields)
            self._events.append(event)
            self._unsaved.append(event)
            if (
                kind not in _MAY_WAIT
                or len(self._unsaved) >= _BATCH
                or event.time - self._unsaved[0].time > _LONGEST_WAIT
            ):
                self.flush()
            self._untold.append((event, tuple(self._listeners)))
        self._tell_all()
        return event

    def _tell_all(self) -> None:
        # Whoever tells already, perhaps further up on this very thread, goes on with what is new.
        while self._untold and self._telling.acquire(blocking=False):
            try:
                while self._untold:
                    event, listeners = self._untold.popleft()
                    for listener in listeners:
                        self._tell(listener, event)
            finally:
                self._telling.release()

    def _tell(self, listener: Callable[[Event], None], event: Event) -> None:
        try:
            listener(event)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody else's code
            self.unsubscribe(listener)
            text = f"A subscriber raised {type(error).__name__}, and is not called again."
            self.append("warning", run=event.run, data={"text": text})

    def since(self, seq: int) -> list[Event]:
        """Give the events after `seq`, in order."""
        with self._lock:
            # Numbers have no gaps until a thread was forked or a newer version has left some out,
            # so the place is guessed first and then corrected.
            place = min(max(seq, 0), len(self._events))
            while place > 0 and self._events[place - 1].seq > seq:
                place -= 1
            return self._events[place:]

    def subscribe(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event from now on."""
        with self._lock:
            self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[[Event], None]) -> None:
        """Call it no more."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def flush(self) -> None:
        """Write what is not on disk yet."""
        with self._lock:
            if not self._unsaved:
                return
            rows = [(event.seq, event.kind, body_of(event)) for event in self._unsaved]
            try:
                with self._db.transaction() as db:
                    db.executemany("INSERT INTO event VALUES (?, ?, ?)", rows)
            except ThreadError as error:
                self.failure = error
            else:
                self._unsaved.clear()
                self.failure = None


def body_of(event: Event) -> str:
    """Give what a row holds of an event, beside its number and kind."""
    # ASCII, since a lone surrogate in a model's text could not be stored otherwise.
    return json.dumps([event.time, *event[3:]], default=str)


def read(database: Database, query: str = "SELECT * FROM event ORDER BY seq") -> list[Event]:
    """Read events.

    Raises:
        DamagedThreadError: What is there is no event.
    """
    rows = database.rows(query)
    try:
        return [_event(*row) for row in rows]
    except (ValueError, TypeError) as error:
        raise database.damaged(error) from error


def _event(seq: int, kind: Kind, body: str) -> Event:
    moment, *rest, data = json.loads(body)
    if not isinstance(data, dict):
        raise TypeError("an event has no data")
    run, agent, parent, call, node, step, checkpoint, name = rest
    place = (run, agent, parent, call, node, step, checkpoint, name)
    return Event(seq, float(moment), kind, *place, data)
