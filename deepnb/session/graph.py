"""One thread of a LangGraph graph: its stream, its state, and the ways to set it right.

All that deepnb knows about how LangGraph keeps a thread is here.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import aiosqlite
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from deepnb.errors import SessionError
from deepnb.middleware.approvals import PREVIEW
from deepnb.models.cassette.masking import mask
from deepnb.record.database import explain
from deepnb.session.secrets import MaskingSerializer
from deepnb.session.stream import MODES, listed, messages_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import RunControl
    from langgraph.types import StateSnapshot

    from deepnb.events import Event
    from deepnb.session.secrets import Secrets

    Graph = CompiledStateGraph[Any, Any, Any, Any]

_NO_TASK = "00000000-0000-0000-0000-000000000000"
"""Whose writes LangGraph applies as the thread's own, and not as a node's."""

_MOST_CLEARINGS = 10


_BELOW = (
    "checkpoint_ns IN (SELECT checkpoint_ns FROM checkpoints WHERE checkpoint_ns != '' "
    """AND metadata ->> '$.parents.""' = ?)"""
)
"""Of subagents that were started from a checkpoint of the root's."""


@dataclass
class Unsaved:
    """What was told of a run and may not be in the state when it is stopped.

    Attributes:
        outputs: By tool call, what a tool has given, as writes to the state's channels.
        said: The text so far of messages that were not complete.
    """

    outputs: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    said: list[BaseMessage] = field(default_factory=list)


@dataclass
class Past:
    """A thread up to one of its steps, as rows of LangGraph's tables."""

    step: int
    is_present: bool
    checkpoints: list[tuple[Any, ...]]
    writes: list[tuple[Any, ...]]

    def is_before(self, event: Event) -> bool:
        """Whether something happened only after this: at this step a run may still have ended."""
        if event.step is None:
            return False
        return event.step > self.step or (event.step == self.step and event.kind != "run_ended")


class _Saver(AsyncSqliteSaver):
    """Keeps checkpoints, and of a run's configuration no more than it takes to find them.

    LangGraph notes all of it with each checkpoint, and some keep their keys there.
    """

    async def aput(
        self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any
    ) -> RunnableConfig:
        """Save a checkpoint."""
        given = config["configurable"]
        own = {name: given[name] for name in _PLACE if name in given}
        noted: Any = {name: metadata[name] for name in _NOTED if name in metadata}
        return await super().aput({"configurable": own}, checkpoint, noted, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        """Save what a task has written; of an exception, what it says without keys in it."""
        writes = [
            (channel, RuntimeError(mask(repr(value))) if channel == "__error__" else value)
            for channel, value in writes
        ]
        await super().aput_writes(config, writes, task_id, task_path)


_PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id")
_NOTED = ("source", "step", "parents", "counters_since_delta_snapshot")


class ThreadGraph:
    """A graph on one thread, with checkpoints in one file.

    It belongs to the event loop that it was opened on.

    Args:
        graph: Any compiled graph; a copy of it is given the checkpoints.
        thread: The thread's name.
        secrets: What no checkpoint may hold.
        extra: What a run's configuration holds beside the thread.

    Attributes:
        thread: The name its checkpoints are under.
    """

    def __init__(
        self, graph: Graph, thread: str, secrets: Secrets, extra: Mapping[str, Any]
    ) -> None:
        self._bare = graph
        self.thread = thread
        self._secrets = secrets
        self._config: RunnableConfig = {"configurable": {"thread_id": thread, **extra}}

    async def open(self, path: Path | None) -> None:
        """Open the checkpoints; None keeps them in memory."""
        connection = aiosqlite.connect(path or ":memory:")
        # The thread that aiosqlite starts must not keep the process from ending.
        connection._thread.daemon = True  # noqa: SLF001  # it offers no other way
        try:
            serde = MaskingSerializer(self._secrets).with_msgpack_allowlist(self._own_types())
            self._saver = _Saver(await connection, serde=serde)
            await self._saver.setup()
        except sqlite3.Error as error:
            await connection.close()
            raise explain(error, str(path)) from error
        self.change_to(self._bare)

    def change_to(self, graph: Graph) -> None:
        """Go on with another graph of the same make, on the same checkpoints."""
        self._bare = graph
        self.graph: Graph = graph.copy({"checkpointer": self._saver})

    def _own_types(self) -> set[tuple[str, ...]]:
        """Give the classes that the graph's state is made of, as LangGraph does in strict mode.

        Those and messages may come out of a checkpoint, and nothing else that a file names: its
        serialiser would call any function in it.
        """
        from langgraph._internal._serde import build_serde_allowlist

        builder = getattr(self._bare, "builder", None)
        schemas = [builder.state_schema, builder.input_schema] if builder else []
        schemas += [node.input_schema for node in builder.nodes.values()] if builder else []
        return build_serde_allowlist(schemas=schemas, channels=dict(self._bare.channels))

    async def close(self) -> None:
        """Close the checkpoints."""
        await self._saver.conn.close()

    @property
    def takes_messages(self) -> bool:
        """Whether it can be asked in words."""
        builder = getattr(self._bare, "builder", None)
        names = builder.schemas[builder.input_schema] if builder else self._bare.channels
        return "messages" in names

    @property
    def has_todos(self) -> bool:
        """Whether it keeps a todo list."""
        return "todos" in self._bare.channels

    def preview(self, tool: str, args: dict[str, Any]) -> str:
        """Say what a call would write, and write nothing; empty if the graph cannot tell."""
        describe = (self._bare.config or {}).get("configurable", {}).get(PREVIEW)
        return str(describe(tool, args)) if describe else ""

    def stream(
        self, given: Any, control: RunControl, *, one_step: bool = False
    ) -> AsyncIterator[Any]:
        """Run the graph on: from its start if `given` is input, else from where it stands."""
        return self.graph.astream(
            given,
            self._config,
            stream_mode=cast("Any", MODES),  # "tools" is missing in the annotation
            subgraphs=True,
            durability="sync",  # the default loses steps at a kill, and repeats what they did
            control=control,
            interrupt_after="*" if one_step else None,
        )

    def is_breakpoint(self, state: StateSnapshot, ended: set[str]) -> bool:
        """Whether the graph's maker wants it to pause here, between the nodes that ended and next.

        Giving a graph anything but input takes it past such a place, so only `resume` may.
        """
        before, after = self.graph.interrupt_before_nodes, self.graph.interrupt_after_nodes
        return bool(state.next) and (
            before == "*"
            or after == "*"
            or not set(before).isdisjoint(state.next)
            or not set(after).isdisjoint(ended)
        )

    async def state(self) -> StateSnapshot:
        """Give the state that the thread is in."""
        return await self.graph.aget_state(self._config)

    async def amend(self, values: Mapping[str, Any]) -> None:
        """Add to the state of a thread that rests, without waking any node."""
        state = await self.state()
        if state.created_at is None:
            raise SessionError("The conversation has not begun yet. Ask something first.")
        await self._saver.aput_writes(state.config, list(values.items()), _NO_TASK)
        await self._clear()

    async def close_off(self, reason: str, unsaved: Unsaved | None = None) -> list[BaseMessage]:
        """Bring a thread that was left in mid-step to rest, so that it can be asked again.

        What was finished is kept, also what only the stream knows of. A tool call that was not is
        answered with `reason`, since providers refuse a conversation with an unanswered call in
        it. Gives the messages that were added.
        """
        state = await self.state()
        if state.created_at is None:
            return []
        unsaved = unsaved or Unsaved()
        calls = unanswered(state.values)
        writes: list[tuple[str, Any]] = []
        for call in calls:
            writes += unsaved.outputs.get(call["id"]) or [("messages", _unfinished(call, reason))]
        if not calls and unsaved.said:
            writes.append(("messages", unsaved.said))
        if writes:
            await self._saver.aput_writes(state.config, writes, _NO_TASK)
        if writes or not is_at_rest(state):
            await self._clear()
        return [message for _, value in writes for message in listed(value)]

    async def _clear(self) -> None:
        # Clearing applies what finished tasks have written, which can set off the next ones.
        for _ in range(_MOST_CLEARINGS):
            await self.graph.aupdate_state(self._config, None, as_node="__end__")
            if is_at_rest(await self.state()):
                return

    async def read_past(self, step: int | None) -> Past:
        """Read the thread up to a step; None is the present.

        In SQL, since LangGraph's own way to branch off stays in the same thread. The past is the
        chain of the root graph's checkpoints. The writes that belong to the last one are the
        beginning of what came next: they are taken, with what subagents have done, only if the
        thread still stands there.
        """
        line, noted = await self._line()
        chain = line if step is None else line[_place(line, noted, step) :]
        is_present = chain[0] == line[0]
        written = chain if is_present else chain[1:]
        past = Past(
            step=noted[chain[0]]["step"],
            is_present=is_present,
            checkpoints=await self._rows("checkpoints", _among(chain), chain),
            writes=await self._rows("writes", _among(written), written),
        )
        if is_present:
            past.checkpoints += await self._rows("checkpoints", _BELOW, chain[:1])
            past.writes += await self._rows("writes", _BELOW, chain[:1])
        return past

    async def write_past(self, past: Past, own: Mapping[str, Any]) -> None:
        """Give this thread, which must be empty, a past.

        Args:
            past: What it has in common with another thread.
            own: What its state says in place of that one's.
        """
        for table, rows in (("checkpoints", past.checkpoints), ("writes", past.writes)):
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                named = [(self.thread, *row[1:]) for row in rows]  # the first column does that
                statement = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608  # our own names
                await self._saver.conn.executemany(statement, named)
        await self._saver.conn.commit()
        if own:
            await self._change_last(own)

    async def _change_last(self, values: Mapping[str, Any]) -> None:
        """Change the last checkpoint in its place: what was under way there can still go on."""
        saved = await self._saver.aget_tuple(self._config)
        assert saved  # noqa: S101  # it was just written
        saved.checkpoint["channel_values"].update(values)
        place: Any = {"thread_id": self.thread, "checkpoint_ns": ""}
        parent = saved.parent_config or {"configurable": place}
        await self._saver.aput(parent, saved.checkpoint, saved.metadata, {})

    async def _line(self) -> tuple[list[str], dict[str, Any]]:
        """Give the root's checkpoints from the newest back, and what is noted about each."""
        query = (
            "SELECT checkpoint_id, parent_checkpoint_id, metadata FROM checkpoints "
            "WHERE checkpoint_ns = '' ORDER BY checkpoint_id DESC"
        )
        async with self._saver.conn.execute(query) as cursor:
            rows = list(await cursor.fetchall())
        if not rows:
            raise SessionError("There is nothing to fork yet. Ask something first.")
        parents = {identity: parent for identity, parent, _ in rows}
        line = [rows[0][0]]
        while parent := parents[line[-1]]:
            line.append(parent)
        return line, {identity: json.loads(noted) for identity, _, noted in rows}

    async def _rows(self, table: str, where: str, given: list[str]) -> list[tuple[Any, ...]]:
        query = f"SELECT * FROM {table} WHERE {where}"  # noqa: S608  # written above
        async with self._saver.conn.execute(query, given) as cursor:
            return [tuple(row) for row in await cursor.fetchall()]


def _among(ids: list[str]) -> str:
    return f"checkpoint_ns = '' AND checkpoint_id IN ({', '.join('?' * len(ids))})"


def _place(line: list[str], noted: Mapping[str, Any], step: int) -> int:
    steps = [noted[identity]["step"] for identity in line]
    if step not in steps:
        raise SessionError(
            f"There is no step {step}. Steps go from {steps[-1]} to {steps[0]}; session.trace "
            "shows them."
        )
    return steps.index(step)


def _unfinished(call: Any, reason: str) -> ToolMessage:
    return ToolMessage(
        f"Error: {call['name']} was not finished. {reason}",
        name=call["name"],
        tool_call_id=call["id"],
        status="error",
    )


def is_at_rest(state: StateSnapshot) -> bool:
    """Whether nothing is left to do.

    `next` does not tell: it leaves out tasks that have ended, also where their step has not.
    """
    return not state.tasks and not was_cut_at_input(state)


def was_cut_at_input(state: StateSnapshot) -> bool:
    """Whether nothing has run since the last input, though LangGraph names no next node."""
    return (state.metadata or {}).get("source") == "input"


def unanswered(values: Any) -> list[Any]:
    """Give the tool calls that have no result yet."""
    answered = set()
    for message in reversed(messages_of(values)):  # some models use an id again in another turn
        if isinstance(message, AIMessage):
            return [call for call in message.tool_calls if call["id"] not in answered]
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return []


def checkpoint_of(state: StateSnapshot) -> str:
    """Give the id of the checkpoint that a state is from; empty before the first."""
    return str(state.config["configurable"].get("checkpoint_id", ""))


def said(text: str, identity: str) -> HumanMessage:
    """Make the message of a person, under an id of ours: said twice, it is still one."""
    return HumanMessage(text, id=identity)
