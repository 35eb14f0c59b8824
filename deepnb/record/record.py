"""The record of one thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from deepnb.record.database import Database
from deepnb.record.log import Log, Masks, body_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

IN_RUN = "__deepnb_record"
"""Where a run's configuration holds the record; names with underscores are not checkpointed."""

State = Literal["queued", "started", "ended"]


@dataclass(frozen=True)
class Ask:
    """Something a person has said to the agent, and how far it has come.

    Attributes:
        id: Of the run that it starts, and of its message; a steering message has one of its own.
        text: As a person reads it.
        input: What the graph is given; left out, the text is a message.
        steer: Whether it is for the run under way.
        state: Ended means that nothing is left to do about it.
    """

    id: str
    text: str
    input: bytes | None
    steer: bool
    state: State


@dataclass(frozen=True)
class Call:
    """A tool call that was begun; without a `result` nobody knows whether it has taken effect."""

    expected: str | None
    result: bytes | None


class Record:
    """Everything about a thread that outlives a kernel, the checkpoints apart.

    Args:
        path: The file it is kept in; None keeps it in memory.
        masks: Takes the secrets out of what is kept.
    """

    def __init__(self, path: Path | None, masks: Masks | None = None) -> None:
        self._db = Database(path)
        self._has_calls = True
        self._masks = masks or Masks()
        self.log = Log(self._db, self._masks)

    def close(self) -> None:
        """Write what is left to write, and let go of the file."""
        self.log.flush()
        self._db.close()

    # What is known about the thread as a whole

    @property
    def about(self) -> dict[str, str]:
        """Facts about the thread, by name."""
        return dict(self._db.rows("SELECT key, value FROM about"))

    def note(self, facts: Mapping[str, str]) -> None:
        """Add facts about the thread."""
        with self._db.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", facts.items())

    # What a person has said

    def put_ask(self, ask: Ask) -> None:
        """Note what was said, before anything is done about it."""
        text = self._masks.mask("queued", {"text": ask.text})["text"]
        given = None if ask.input is None else self._masks.mask_bytes(ask.input)
        with self._db.transaction() as db:
            db.execute(
                "INSERT INTO ask (id, text, input, steer, state) VALUES (?, ?, ?, ?, ?)",
                (ask.id, _storable(text), given, ask.steer, ask.state),
            )

    def asks(self, *states: State) -> list[Ask]:
        """Give what was said and is in one of these states, in order."""
        marks = ", ".join("?" * len(states))
        rows = self._db.rows(
            f"SELECT id, text, input, steer, state FROM ask WHERE state IN ({marks}) "  # noqa: S608  # question marks only
            "ORDER BY position",
            states,
        )
        return [Ask(i, text, given, bool(steer), state) for i, text, given, steer, state in rows]

    def move_ask(self, ask_id: str, state: State) -> None:
        """Say how far it has come."""
        with self._db.transaction() as db:
            db.execute("UPDATE ask SET state = ? WHERE id = ?", (state, ask_id))

    # Answers that the graph has not used yet

    def put_answer(self, question: str, answer: bytes) -> None:
        """Keep an answer until the graph has it."""
        with self._db.transaction() as db:
            kept = self._masks.mask_bytes(answer)
            db.execute("INSERT OR REPLACE INTO answer VALUES (?, ?)", (question, kept))

    def answers(self) -> dict[str, bytes]:
        """Give the answers that are kept, by question."""
        return dict(self._db.rows("SELECT question, answer FROM answer"))

    def drop_answer(self, question: str) -> None:
        """Let go of an answer: the graph has it now, and it may hold a file's content."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM answer WHERE question = ?", (question,))

    # Tool calls, which must not be made twice

    def call(self, key: str) -> Call | None:
        """Give what is known about a tool call, or None if it was never begun."""
        rows = self._db.rows("SELECT expected, result FROM call WHERE key = ?", (key,))
        return Call(*rows[0]) if rows else None

    def begin_call(self, key: str, expected: str | None = None) -> None:
        """Note that a call is about to be made; `expected` can tell later whether it was."""
        with self._db.transaction() as db:
            db.execute("INSERT OR REPLACE INTO call VALUES (?, ?, NULL)", (key, expected))
        self._has_calls = True

    def end_call(self, key: str, result: bytes | None) -> None:
        """Keep a call's result until the checkpoint has it; None if the call may be made again."""
        with self._db.transaction() as db:
            if result is None:
                db.execute("DELETE FROM call WHERE key = ?", (key,))
            else:
                kept = self._masks.mask_bytes(result)
                db.execute("UPDATE call SET result = ? WHERE key = ?", (kept, key))

    def drop_calls(self, places: Iterable[str]) -> None:
        """Let go of the calls whose keys begin so: the checkpoint has what they have given."""
        if self._has_calls:
            with self._db.transaction() as db:
                for place in places:
                    db.execute("DELETE FROM call WHERE substr(key, 1, ?) = ?", (len(place), place))
                self._has_calls = bool(db.execute("SELECT 1 FROM call LIMIT 1").fetchone())

    # What a person was shown and has allowed

    def show(self, key: str, fingerprint: str | None) -> str | None:
        """Note what a person is shown for a call; gives what they were shown the first time."""
        with self._db.transaction() as db:
            db.execute("INSERT OR IGNORE INTO shown VALUES (?, ?)", (key, fingerprint))
        first: str | None = self._db.rows("SELECT fingerprint FROM shown WHERE key = ?", (key,))[0][
            0
        ]
        return first

    def was_shown(self, key: str) -> bool:
        """Whether a person was asked about a call."""
        return bool(self._db.rows("SELECT 1 FROM shown WHERE key = ?", (key,)))

    def allow(self, tool: str, pattern: str) -> None:
        """Ask no more about calls of `tool` that fit `pattern`, for the rest of the thread."""
        with self._db.transaction() as db:
            db.execute("INSERT OR IGNORE INTO allowed VALUES (?, ?)", (tool, pattern))

    def allowed(self, tool: str) -> list[str]:
        """Give the patterns that are allowed for `tool`."""
        rows = self._db.rows("SELECT pattern FROM allowed WHERE tool = ? ORDER BY 1", (tool,))
        return [pattern for (pattern,) in rows]

    def settle(self) -> None:
        """Let go of what only a run under way needs."""
        with self._db.transaction() as db:
            for table in ("answer", "call", "shown"):
                db.execute(f"DELETE FROM {table}")  # noqa: S608  # the names above

    def copy_from(self, other: Record, number: int) -> None:
        """Take over another thread's first events, and what was shown and allowed there.

        Of what was asked, the run that was under way then is under way here.
        """
        other.log.flush()
        events = other.log.since(0)[:number]
        begun = {event.run for event in events if event.kind == "run_started"}
        # What waited there for its turn is not for the branch.
        unbegun = ("queued", "run_ended")
        events = [event for event in events if event.kind not in unbegun or event.run in begun]
        ended = {event.run for event in events if event.kind == "run_ended"}
        asks = [ask for ask in other.asks("started", "ended") if ask.id in begun]
        shown = other._db.rows("SELECT * FROM shown")
        allowed = other._db.rows("SELECT * FROM allowed")
        with self._db.transaction() as db:
            rows = ((event.seq, event.kind, body_of(event)) for event in events)
            db.executemany("INSERT INTO event VALUES (?, ?, ?)", rows)
            db.executemany("INSERT INTO shown VALUES (?, ?)", shown)
            db.executemany("INSERT INTO allowed VALUES (?, ?)", allowed)
        for ask in asks:
            self.put_ask(replace(ask, state="ended" if ask.id in ended else "started"))
        self.log.load()


def current_record() -> Record | None:
    """Give the record of the run this is called in, or None if it is no session's."""
    from langgraph.config import get_config

    record: Record | None = get_config()["configurable"].get(IN_RUN)
    return record


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
