"""Rows as DataFrames with the right columns and dtypes; the only module that imports pandas.

The frames of a session are views of its events. Each remembers how far it has read and what that
came to, and goes on from there when it is asked again.

What is in an event was written by models, files and foreign graphs. So a value that does not fit
its column is missing rather than an error, and a summary is one plain line whatever it is made of.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from deepnb.errors import SessionError
from deepnb.events import Event
from deepnb.summaries import (
    Data,
    integer_of,
    mapping_of,
    mappings_of,
    number_of,
    question_of,
    summary_of,
    text_of,
)

State = TypeVar("State")
Read = Callable[[int], Sequence[Event]]
Row = Sequence[Any] | Mapping[str, Any]
Table = dict[Any, Any]

TIME = "datetime64[us, UTC]"
"""The dtype of times: microseconds are what a float of seconds since 1970 can tell apart."""

# Tables are easier to compare in few lines than with a line for each column.
# fmt: off
_TRACE = {
    "seq": "int64", "time": TIME, "run": "str", "step": "Int64", "agent": "str", "parent": "str",
    "node": "str", "kind": "str", "name": "str", "summary": "str", "tokens_in": "Int64",
    "tokens_out": "Int64", "cost": "float64", "seconds": "float64", "checkpoint": "str",
}
_MESSAGES = {
    "seq": "int64", "time": TIME, "run": "str", "role": "str", "agent": "str", "text": "str",
}
_TODOS = {
    "content": "str", "status": "str", "pending": TIME, "in_progress": TIME, "completed": TIME,
    "seconds": "float64",
}
_USAGE = {
    "model": "str", "agent": "str", "calls": "Int64", "tokens_in": "Int64", "tokens_out": "Int64",
    "cost": "float64",
}
_PENDING = {
    "id": "str", "type": "str", "agent": "str", "tool": "str", "question": "str", "opened": TIME,
    "request": "object",
}
_FILES = {
    "path": "str", "home": "str", "size": "Int64", "modified": TIME, "by": "str", "state": "str",
    "other": "str",
}
_DISCLOSURES = {
    "seq": "Int64", "time": TIME, "what": "str", "tool": "str", "path": "str", "files": "Int64",
    "bytes": "Int64", "detail": "str", "run": "str",
}
_THREADS = {
    "thread": "str", "agent": "str", "status": "str", "question": "str", "runs": "Int64",
    "events": "Int64", "updated": TIME, "size": "Int64",
}
_DIFFERENCES = {"what": "str", "where": "str", "here": "str", "there": "str"}
# fmt: on

_STATUSES = ("pending", "in_progress", "completed")
_PIECE = 1_000  # rows
_LATER = 2.0  # seconds that an event may come after what it tells
_FARTHEST = 6.2e10  # seconds from 1970: the years 6 to 3934, all of which Python's datetime holds
_SURROGATE = re.compile("[\ud800-\udfff]")


def frame(columns: Mapping[str, str], rows: Iterable[Row]) -> pd.DataFrame:
    """Make a DataFrame; an agent makes frames of its own with it.

    Args:
        columns: Dtypes by name. In "str", "Int64", "float64" and `TIME`, what does not fit is
            missing; with others it is an error.
        rows: Values in the order of the columns, or by name, where one may be left out. Times
            are seconds since 1970.
    """
    cells = [
        [row.get(name) for name in columns] if isinstance(row, Mapping) else row for row in rows
    ]
    return _joined(columns, list(zip(*cells, strict=True)) or [()] * len(columns))


def threads(rows: Iterable[Row]) -> pd.DataFrame:
    """List threads, with `updated` in seconds since 1970 and `size` in bytes."""
    return frame(_THREADS, rows)


def differences(rows: Iterable[Row]) -> pd.DataFrame:
    """List where two sessions differ; what one of them lacks is missing."""
    return frame(_DIFFERENCES, rows)


def todo_list(todos: pd.DataFrame | Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Read a todo list back from a frame that a person has edited.

    Raises:
        SessionError: It is none; the message says why.
    """
    try:
        items = list(zip(todos["content"], todos["status"], strict=True))
    except (KeyError, TypeError):
        raise SessionError(
            "A todo list is a DataFrame with the columns content and status. Edit a copy of "
            "session.todos, and pass that."
        ) from None
    for row, (content, status) in enumerate(items):
        if not isinstance(content, str) or not content.strip():
            raise SessionError(f"The todo in row {row} has no content. Write what is to be done.")
        if not isinstance(status, str) or status not in _STATUSES:
            raise SessionError(
                f"The todo in row {row} has the status {status!r}. Use {', '.join(_STATUSES[:-1])} "
                f"or {_STATUSES[-1]}."
            )
    return [{"content": content, "status": status} for content, status in items]


def _joined(columns: Mapping[str, str], values: Sequence[Sequence[Any]]) -> pd.DataFrame:
    by_name = zip(columns, values, strict=True)
    return pd.DataFrame({name: _column(cells, columns[name]) for name, cells in by_name})


def _column(values: Iterable[Any], dtype: str) -> pd.Series:
    if dtype == "str":
        texts = [v if type(v) is str and v.isascii() else _storable(v) for v in values]
        return pd.Series(texts, dtype="str")
    if dtype == "Int64":
        integers = [None if v is None else integer_of(v) for v in values]
        missing = np.array([integer is None for integer in integers], dtype="bool")
        known = np.array([integer or 0 for integer in integers], dtype="int64")
        return pd.Series(pd.arrays.IntegerArray(known, missing))
    if dtype not in {"float64", TIME}:
        return pd.Series(list(values), dtype=dtype)
    numbers = np.array([math.nan if v is None else number_of(v) for v in values], dtype="float64")
    if dtype == "float64":
        return pd.Series(numbers)
    numbers[np.abs(numbers) > _FARTHEST] = np.nan
    return pd.Series(np.round(numbers * 1e6).astype("datetime64[us]")).dt.tz_localize("UTC")


def _storable(value: Any) -> str | None:
    """Give a text that can be encoded: Arrow, Parquet and CSV files refuse a lone surrogate."""
    if value is None:
        return None
    text = text_of(value)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _copied(value: Any) -> Any:
    """Copy a JSON value all the way down."""
    try:
        return json.loads(json.dumps(value, default=text_of))
    except (TypeError, ValueError, RecursionError):  # it is no JSON after all
        return text_of(value)


class Frames:
    """The DataFrames of one session, each brought up to date from the events that are new.

    Whoever gets one may do with it what they like: the next one shares nothing with it. Safe for
    threads.

    Args:
        read: Gives the events after a `seq`, in order; the first event has 1 or more. It is called
            with a lock held, so it must not wait for somebody who wants a frame.
    """

    def __init__(self, read: Read) -> None:
        self._trace = _View(read, _Grown.of(_TRACE), _with_trace)
        self._messages = _View(read, _Grown.of(_MESSAGES), _with_messages)
        self._todos = _View[Table](read, {}, _each(_take_todos, "todos"))
        self._usage = _View[Table](read, {}, _each(_add_usage, "usage"))
        asked = ("interrupt_opened", "interrupt_closed")
        self._pending = _View[Table](read, {}, _each(_open_or_close, *asked))
        self._authors = _View[Table](read, {}, _each(_note_author, "file"))
        self._disclosures = _View[Table](read, {}, _each(_disclose, "disclosed"))

    def trace(self) -> pd.DataFrame:
        """All that happened, but for tokens and thoughts: they are in the message they became."""
        return self._trace.now().whole()

    def messages(self) -> pd.DataFrame:
        """The conversation of the person with the agent, without those among agents."""
        return self._messages.now().whole()

    def todos(self) -> pd.DataFrame:
        """The last todo list of the session's own agent, with when each item last took a status.

        `seconds` is how long an item was in progress, in all and until now; missing if never.
        """
        now = time.time()
        return frame(_TODOS, [todo.row(now) for todo in self._todos.now().values()])

    def usage(self) -> pd.DataFrame:
        """Calls, tokens and cost by model and agent.

        A sum is missing if one of its parts is: one that leaves out calls would be believed.
        """
        return frame(_USAGE, [(*who, *sums) for who, sums in self._usage.now().items()])

    def pending(self) -> pd.DataFrame:
        """The questions that wait for an answer, oldest first."""
        rows = []
        for key, event in self._pending.now().items():
            request = mapping_of(event.data).get("request")
            kind, tool, question = question_of(request)
            # A copy of the request, since the event is the log's.
            rows.append((key, kind, event.agent, tool, question, event.time, _copied(request)))
        return frame(_PENDING, rows)

    def disclosures(self) -> pd.DataFrame:
        """What has left the reader's browser, when, and what for."""
        return frame(_DISCLOSURES, self._disclosures.now().values())

    def files(self, rows: Iterable[Data]) -> pd.DataFrame:
        """Say of the files that exist who changed each last.

        Args:
            rows: By name: path, home, size and modified (seconds since 1970, None if unknown); for
                a file that is mapped also its state, and its path on the other side. `written_as`
                has the paths by which agents may call it, if not by this one alone.
        """
        authors = self._authors.now()

        def by(row: Data) -> str:
            names = row.get("written_as", [text_of(row.get("path"))])
            known = (authors[name] for name in names if name in authors)
            agent, moment = max(known, key=lambda one: one[1], default=("", 0.0))
            is_newer = number_of(row.get("modified")) > moment + _LATER
            return agent if agent and not is_newer else "person"

        return frame(_FILES, [{**row, "by": by(row)} for row in rows])


class _View(Generic[State]):
    """What the events so far come to.

    A step gives a new state and leaves the old one alone: one that is cut short, by a person who
    interrupts the cell for instance, is simply made again.
    """

    def __init__(
        self, read: Read, start: State, step: Callable[[State, Sequence[Event]], State]
    ) -> None:
        self._read = read
        self._seq = 0
        self._state = start
        self._step = step
        self._lock = threading.Lock()

    def now(self) -> State:
        with self._lock:
            if new := self._read(self._seq):
                self._state, self._seq = self._step(self._state, new), new[-1].seq
            return self._state


class _Grown(NamedTuple):
    """A frame that only grows.

    What is new waits until there is a piece of it: where pandas keeps texts with Arrow, everything
    that is joined stays a chunk of its own, and thousands of tiny ones are slow. It waits as
    columns, since a tuple for each of a hundred thousand rows would cost more than their content.
    """

    columns: Mapping[str, str]
    body: pd.DataFrame
    waiting: Sequence[list[Any]]

    @classmethod
    def of(cls, columns: Mapping[str, str], body: pd.DataFrame | None = None) -> _Grown:
        return cls(columns, frame(columns, ()) if body is None else body, [[] for _ in columns])

    def plus(self, events: Sequence[Event], **cells: list[Any]) -> _Grown:
        """Add a row for each event: these cells, and for the other columns the event's own."""
        waiting = [
            [*old, *(cells.get(name) or map(attrgetter(name), events))]
            for name, old in zip(self.columns, self.waiting, strict=True)
        ]
        grown = self._replace(waiting=waiting)
        return grown if len(waiting[0]) < _PIECE else self.of(self.columns, grown.whole())

    def whole(self) -> pd.DataFrame:
        # Joining copies, and is therefore done each time: `trace.step.array[0] = 1` would reach
        # through a shallow copy.
        return pd.concat([self.body, _joined(self.columns, self.waiting)], ignore_index=True)


def _with_trace(trace: _Grown, events: Sequence[Event]) -> _Grown:
    told = [event for event in events if event.kind not in {"token", "reasoning"}]
    data = [mapping_of(event.data) for event in told]
    numbers = {
        name: [each.get(name) for each in data]
        for name in ("tokens_in", "tokens_out", "cost", "seconds")
    }
    return trace.plus(told, summary=[summary_of(event) for event in told], **numbers)


def _with_messages(messages: _Grown, events: Sequence[Event]) -> _Grown:
    said = [event for event in events if event.kind == "message" and not event.parent]
    data = [mapping_of(event.data) for event in said]
    texts = {name: [each.get(name) for each in data] for name in ("role", "text")}
    return messages.plus(said, **texts)


def _each(
    step: Callable[[Table, Event, Data], None], *kinds: str
) -> Callable[[Table, Sequence[Event]], Table]:
    """Make a step of a view of one that changes a table for one event of these kinds."""

    def all_of_them(table: Table, events: Sequence[Event]) -> Table:
        table = dict(table)
        for event in events:
            if event.kind in kinds:
                step(table, event, mapping_of(event.data))
        return table

    return all_of_them


class _Todo(NamedTuple):
    """An item, when it last took each status, and how long it was in progress before that."""

    content: str
    status: str | None = None
    pending: float | None = None
    in_progress: float | None = None
    completed: float | None = None
    spent: float | None = None

    def seconds(self, now: float) -> float | None:
        if self.status != "in_progress" or self.in_progress is None:
            return self.spent
        return (self.spent or 0.0) + max(0.0, now - self.in_progress)

    def took(self, status: str, moment: float) -> _Todo:
        if status == self.status:
            return self
        began: dict[str, Any] = {}
        if status in _STATUSES:
            began[status] = moment
        return self._replace(status=status, spent=self.seconds(moment), **began)

    def row(self, now: float) -> tuple[Any, ...]:
        return (*self[:-1], self.seconds(now))


def _take_todos(todos: Table, event: Event, data: Data) -> None:
    """Follow each item from list to list: by its content, and by its place among its equals."""
    # A subagent's list is its own, and a list that is none says nothing.
    if event.parent or not isinstance(data.get("todos"), list):
        return
    before, equals = dict(todos), Counter[str]()
    todos.clear()
    for item in mappings_of(data["todos"]):
        content = text_of(item.get("content"))
        key = (content, equals[content])
        equals[content] += 1
        todo = before.get(key) or _Todo(content)
        todos[key] = todo.took(text_of(item.get("status")), event.time)


def _add_usage(usage: Table, event: Event, data: Data) -> None:
    who = (text_of(data.get("model") or event.name), text_of(event.agent))
    calls, *tokens, cost = usage.get(who, (0, 0, 0, 0.0))
    parts = (integer_of(data.get("tokens_in")), integer_of(data.get("tokens_out")))
    sums = [
        None if total is None or part is None else total + part
        for total, part in zip(tokens, parts, strict=True)
    ]
    usage[who] = (calls + 1, *sums, cost + number_of(data.get("cost")))


def _open_or_close(pending: Table, event: Event, data: Data) -> None:
    # Taken out first: a question that is asked again is a new one, and the last.
    pending.pop(text_of(data.get("id")), None)
    if event.kind == "interrupt_opened":
        pending[text_of(data.get("id"))] = event


def _disclose(table: Table, event: Event, data: Data) -> None:
    paths = data.get("paths")
    path = ", ".join(map(text_of, paths)) if isinstance(paths, list) else ""
    cells = {name: data.get(name) for name in ("what", "files", "bytes", "detail")}
    own = {"seq": event.seq, "time": event.time, "tool": event.name, "run": event.run}
    table[event.seq] = {"path": path, **cells, **own}


def _note_author(authors: Table, event: Event, data: Data) -> None:
    # If something is there after it was deleted, it was not the session that wrote it.
    agent = "" if data.get("action") == "deleted" else text_of(event.agent)
    authors[text_of(data.get("path") or event.name)] = (agent, event.time)
