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
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from deepnb.errors import SessionError
from deepnb.events import Event

State = TypeVar("State")
Read = Callable[[int], Sequence[Event]]
Data = Mapping[str, Any]
Row = Sequence[Any] | Mapping[str, Any]

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
_FILES = {"path": "str", "home": "str", "size": "Int64", "modified": TIME, "by": "str"}
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
_LARGEST = 2**63 - 1
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


def todo_list(todos: pd.DataFrame) -> list[dict[str, str]]:
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
        integers = [None if v is None else _integer(v) for v in values]
        missing = np.array([integer is None for integer in integers], dtype="bool")
        known = np.array([integer or 0 for integer in integers], dtype="int64")
        return pd.Series(pd.arrays.IntegerArray(known, missing))
    if dtype not in {"float64", TIME}:
        return pd.Series(list(values), dtype=dtype)
    numbers = np.array([math.nan if v is None else _number(v) for v in values], dtype="float64")
    if dtype == "float64":
        return pd.Series(numbers)
    numbers[np.abs(numbers) > _FARTHEST] = np.nan
    return pd.Series(np.round(numbers * 1e6).astype("datetime64[us]")).dt.tz_localize("UTC")


def _number(value: Any) -> float:
    if type(value) is not float:  # one of numpy's will do as well, a bool will not
        if isinstance(value, bool) or not isinstance(value, Real):
            return math.nan
        try:
            value = float(value)
        except OverflowError:  # an integer of more than 300 digits
            return math.nan
    return value if math.isfinite(value) else math.nan


def _integer(value: Any) -> int | None:
    if type(value) is not int:
        whole = value if isinstance(value, np.integer) else _number(value)
        if not whole.is_integer():
            return None
        value = int(whole)
    return value if -_LARGEST <= value <= _LARGEST else None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else str(value)
    except Exception:  # noqa: BLE001  # of too many digits or levels, or of a class of somebody else's
        return f"({type(value).__name__})"


def _storable(value: Any) -> str | None:
    """Give a text that can be encoded: Arrow, Parquet and CSV files refuse a lone surrogate."""
    if value is None:
        return None
    text = _text(value)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _mapping(value: Any) -> Data:
    return value if isinstance(value, dict) else {}


def _mappings(value: Any) -> list[Data]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _copied(value: Any) -> Any:
    """Copy a JSON value all the way down."""
    try:
        return json.loads(json.dumps(value, default=_text))
    except (TypeError, ValueError, RecursionError):  # it is no JSON after all
        return _text(value)


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
            request = _mapping(event.data).get("request")
            kind, tool, question = _asked(request)
            # A copy of the request, since the event is the log's.
            rows.append((key, kind, event.agent, tool, question, event.time, _copied(request)))
        return frame(_PENDING, rows)

    def files(self, rows: Iterable[Data]) -> pd.DataFrame:
        """Say of the files that exist who changed each last.

        Args:
            rows: By name: path, home, size and modified (seconds since 1970, None if unknown).
        """
        authors = self._authors.now()

        def by(row: Data) -> str:
            agent, moment = authors.get(_text(row.get("path")), ("", 0.0))
            is_newer = _number(row.get("modified")) > moment + _LATER
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
            [*old, *(cells.get(name) or (getattr(event, name) for event in events))]
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
    data = [_mapping(event.data) for event in told]
    numbers = {
        name: [each.get(name) for each in data]
        for name in ("tokens_in", "tokens_out", "cost", "seconds")
    }
    return trace.plus(told, summary=[_summary(event) for event in told], **numbers)


def _with_messages(messages: _Grown, events: Sequence[Event]) -> _Grown:
    said = [event for event in events if event.kind == "message" and not event.parent]
    data = [_mapping(event.data) for event in said]
    texts = {name: [each.get(name) for each in data] for name in ("role", "text")}
    return messages.plus(said, **texts)


Table = dict[Any, Any]


def _each(
    step: Callable[[Table, Event, Data], None], *kinds: str
) -> Callable[[Table, Sequence[Event]], Table]:
    """Make a step of a view of one that changes a table for one event of these kinds."""

    def all_of_them(table: Table, events: Sequence[Event]) -> Table:
        table = dict(table)
        for event in events:
            if event.kind in kinds:
                step(table, event, _mapping(event.data))
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
    for item in _mappings(data["todos"]):
        content = _text(item.get("content"))
        key = (content, equals[content])
        equals[content] += 1
        todo = before.get(key) or _Todo(content)
        todos[key] = todo.took(_text(item.get("status")), event.time)


def _add_usage(usage: Table, event: Event, data: Data) -> None:
    who = (_text(data.get("model") or event.name), _text(event.agent))
    calls, *tokens, cost = usage.get(who, (0, 0, 0, 0.0))
    parts = (_integer(data.get("tokens_in")), _integer(data.get("tokens_out")))
    sums = [
        None if total is None or part is None else total + part
        for total, part in zip(tokens, parts, strict=True)
    ]
    usage[who] = (calls + 1, *sums, cost + _number(data.get("cost")))


def _open_or_close(pending: Table, event: Event, data: Data) -> None:
    # Taken out first: a question that is asked again is a new one, and the last.
    pending.pop(_text(data.get("id")), None)
    if event.kind == "interrupt_opened":
        pending[_text(data.get("id"))] = event


def _note_author(authors: Table, event: Event, data: Data) -> None:
    # If something is there after it was deleted, it was not the session that wrote it.
    agent = "" if data.get("action") == "deleted" else _text(event.agent)
    authors[_text(data.get("path") or event.name)] = (agent, event.time)


# What follows makes the lines that a person reads.

_LONGEST = 120  # characters of a line
_LONGEST_ARGUMENT = 60
_LOOKED_AT = 250  # characters of a text; what is behind them would not be seen
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
_JOINERS = "\u200c\u200d"  # unseen, but Persian words and some emoji fall apart without them
_SAYS_WHAT = (
    "subagent_type", "pattern", "query", "question", "file_path", "file_id", "path", "url",
    "command", "description",
)  # fmt: skip
"""Arguments that tell what a call is about, in the order in which they read well."""

_DECIDED = {"approve": "approved", "edit": "edited", "reject": "rejected", "respond": "answered"}
_OUTCOMES = {
    "result": "carried out",
    "error": "failed",
    "response": "answered",
    "selected": "answered",
    "raise_to": "limit raised",
    "stop": "stopped",
}


def _summary(event: Event) -> str:
    """Say in a line what happened."""
    if type(event.data) is not dict:
        event = event._replace(data={})
    return _line(_SUMMARIES.get(event.kind, _said)(event))


def _said(event: Event, instead: str = "") -> str:
    return _text(event.data.get("text")).lstrip()[:_LOOKED_AT] or instead


def _line(value: Any, longest: int = _LONGEST) -> str:
    """Make a text one plain line, with nothing in it that steers what shows it."""
    text = _text(value)
    if len(text) <= longest and text.isprintable():
        return text
    text = " ".join(text.lstrip()[:_LOOKED_AT].split())
    if not text.isprintable():
        text = "".join(
            "\ufffd" if unicodedata.category(c) in _UNSEEN and c not in _JOINERS else c
            for c in text
        )
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def _amount(value: Any) -> str:
    if (whole := _integer(value)) is not None:
        return f"{whole:,}"
    number = _number(value)
    return "?" if math.isnan(number) else f"{number:,.4f}".rstrip("0")


def _span(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{seconds:.1f} s"


def _ended(event: Event) -> str:
    status, seconds = _text(event.data.get("status")), _number(event.data.get("seconds"))
    word, joint = (status, "after") if status not in {"", "ok", "done"} else ("done", "in")
    what = f"{word} {joint} {_span(seconds)}" if seconds >= 0 else word
    return f"{what}: {why}" if (why := _said(event)) else what


def _call(name: Any, args: Any) -> str:
    """Say what a call does, by the arguments that tell."""
    given = _mapping(args)
    said = [_line(given[key], _LONGEST_ARGUMENT) for key in _SAYS_WHAT if given.get(key)]
    if not said:
        said = [
            f"{_line(key)}={f'{len(value)} items' if isinstance(value, list) else _line(value, 30)}"
            for key, value in given.items()
        ]
    return " ".join([_line(name, _LONGEST_ARGUMENT), *said])


def _asked(request: Any) -> tuple[str, str, str]:
    """Read type, tool and question from a request, be it ours, langchain's or a foreign graph's."""
    asked = _mapping(request)
    actions = _mappings(asked.get("action_requests"))
    kind = _line(asked.get("type")) or ("tool_approval" if actions else "question")
    tool = _line(asked.get("tool"))
    if actions:
        tool = ", ".join(dict.fromkeys(_line(action.get("name")) for action in actions))
        calls = (_call(action.get("name"), action.get("args")) for action in actions)
        text = f"Allow {', '.join(calls)}?"
    elif kind == "client_tool_execution":
        text = f"Run {_call(tool, asked.get('args'))} where the files are"
    elif kind == "budget_exhausted":
        spent = f"{_amount(asked.get('spent'))} of {_amount(asked.get('limit'))}"
        text = f"{spent} {_line(asked.get('unit'))} are spent. Raise the limit?"
    else:
        said = (asked.get(key) for key in ("question", "message", "text", "description"))
        text = _text(next(filter(None, said), request))
    return kind, tool, _line(text)


def _closed(event: Event) -> str:
    """Say how a question was answered; what is not known to be harmless is not quoted."""
    given, by = event.data.get("answer"), _text(event.data.get("by"))
    answer = _mapping(given)
    key = next((key for key in _OUTCOMES if key in answer), "")
    what = _OUTCOMES.get(key, "closed" if given is None else "answered")
    words = answer[key] if key in {"error", "response", "selected", "raise_to"} else ""
    if decisions := _mappings(answer.get("decisions")):
        counts = Counter(_DECIDED.get(_text(each.get("type")), "answered") for each in decisions)
        what = ", ".join(f"{n} {w}" if len(decisions) > 1 else w for w, n in counts.items())
        words = next((each["message"] for each in decisions if each.get("message")), "")
    if isinstance(words, list):
        words = ", ".join(map(_text, words))
    return f"{what}{f' by {by}' if by else ''}{f': {_text(words)}' if words else ''}"


def _file(event: Event) -> str:
    get = event.data.get
    what = f"{_text(get('action')) or 'changed'} {_text(get('path') or event.name)}"
    # Behind the first "@@" a line that begins with a sign is a change, and no heading.
    _, _, changes = f"\n{_text(get('diff'))}".partition("\n@@")
    plus, minus, more = changes.count("\n+"), changes.count("\n-"), "\n…" in changes
    return f"{what} (+{plus} −{minus}{' and more' if more else ''})" if changes else what  # noqa: RUF001  # a minus is as wide as a plus


def _planned(event: Event) -> str:
    statuses = [todo.get("status") for todo in _mappings(event.data.get("todos"))]
    edited = ", edited by person" if event.data.get("by") == "person" else ""
    return f"{statuses.count('completed')} of {len(statuses)} done{edited}"


def _used(event: Event) -> str:
    tokens_in, tokens_out = event.data.get("tokens_in"), event.data.get("tokens_out")
    return f"{_amount(tokens_in)} in, {_amount(tokens_out)} out"


def _returned(event: Event) -> str:
    first, _, _ = _said(event, "(no text)").partition("\n")
    return f"error: {first}" if event.data.get("status") == "error" else first


def _passed(event: Event) -> str:
    error = event.data.get("error")
    return f"failed: {_text(error)}" if error else _ended(event)


_SUMMARIES: dict[str, Callable[[Event], str]] = {
    "queued": lambda e: f"for the next {'step' if e.data.get('steer') else 'run'}: {_said(e)}",
    "run_started": lambda e: f"{'resumed: ' if e.data.get('resumed') else ''}{_said(e)}",
    "message": lambda e: f"{_text(e.data.get('role'))}: {_said(e, '(no text)')}",
    "tool_call": lambda e: _call(e.name, e.data.get("args")),
    "tool_result": _returned,
    "node": _passed,
    "todos": _planned,
    "file": _file,
    "subagent_ended": _ended,
    "interrupt_opened": lambda e: _asked(e.data.get("request"))[2],
    "interrupt_closed": _closed,
    "usage": _used,
    "error": lambda e: f"{_text(e.data.get('type')) or 'error'}: {_said(e)}",
    "run_ended": _ended,
}
"""By kind; what the others have to say is their text."""
