"""What every tool call of a session's run is wrapped in.

It is made once, even if the kernel dies in the middle of it; it ends when its time is up; if it is
a subagent it can be stopped alone; and what it writes to a person's files is reported. All this
needs the session's record, so a graph that is run by hand goes without.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from deepagents.backends import StateBackend
from langchain.agents.middleware import AgentMiddleware
from langgraph.config import get_config

from deepnb.files import Client
from deepnb.middleware.once import Once, failure, keepable
from deepnb.middleware.writes import ARGUMENTS, Write, folder_at, home_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from deepagents.backends.protocol import BackendProtocol
    from langchain.agents.middleware import ToolCallRequest
    from langchain_core.messages import ToolCall, ToolMessage
    from langgraph.types import Command

    from deepnb.record import Record

    Result = ToolMessage | Command[Any]
    Handler = Callable[[ToolCallRequest], Awaitable[Result]]

IN_RUN = "__deepnb_supervisor"
"""Where a run's configuration holds the supervisor; names with underscores are not checkpointed."""

_REPEATABLE = frozenset(
    {"ls", "read_file", "glob", "grep"}
    | {"list_files", "search_files", "glob_files", "grep_files", "search_knowledge"}
    | {"write_todos", "task", "ask_user", "ask_choices"}
)
"""Tools that only read, or whose effects are in the checkpoint: made again, they harm nobody."""


@dataclass(frozen=True, eq=False)
class Running:
    """A subagent under way.

    Attributes:
        id: Of the tool call that started it.
        name: Its name.
        description: Its task.
        since: When it was started, in seconds since 1970.
        caller: Name of the agent that called it.
        parent: Id of the call that started that agent; empty for the session's own.
    """

    id: str
    name: str
    description: str
    since: float
    caller: str
    parent: str

    @property
    def place(self) -> tuple[str, str]:
        """What tells it from others: models number their calls alike."""
        return self.parent, self.id


_enclosing: ContextVar[Running | None] = ContextVar("deepnb_subagent", default=None)


class Supervisor:
    """Watches over the tool calls of a session's runs.

    Args:
        record: Of the session's thread.
        tool_timeout: How many seconds a tool may take; None for as long as it likes.
        subagent_timeout: The same for a subagent.

    Attributes:
        run: Id of the run under way, for its events; so are the next two.
        step: Number of the root graph's last checkpoint.
        checkpoint: Id of that checkpoint.
    """

    def __init__(
        self,
        record: Record,
        tool_timeout: float | None = 300.0,
        subagent_timeout: float | None = 1800.0,
    ) -> None:
        self.record = record
        self.tool_timeout = tool_timeout
        self.subagent_timeout = subagent_timeout
        self.run = ""
        self.step: int | None = None
        self.checkpoint = ""
        self._clocks: dict[Running, asyncio.Timeout] = {}
        self._stopped: set[tuple[str, str]] = set()  # by place, until the caller has read it

    @property
    def running(self) -> list[Running]:
        """The subagents under way, oldest first."""
        return list(self._clocks)

    def stop(self, subagent: Running) -> None:
        """Stop one subagent; its caller reads that it was stopped, and all else goes on.

        Call it on the event loop of the run.
        """
        self._stopped.add(subagent.place)
        with suppress(KeyError, RuntimeError):  # it has ended, or its time is up anyway
            self._clocks[subagent].reschedule(asyncio.get_running_loop().time())

    def stop_waiting(self, parent: str, call: str) -> None:
        """Stop a subagent that waits for a person, as soon as it would go on.

        Args:
            parent: Id of the call that started its caller; empty for the session's own agent.
            call: Id of the call that started it.
        """
        self._stopped.add((parent, call))

    def begin(self, run: str) -> None:
        """Watch over another run; who was stopped in the one before is no matter of this one."""
        if run != self.run:
            self._stopped.clear()
        self.run = run

    async def in_time(self, request: ToolCallRequest, handler: Handler) -> Result:
        """Make a call, for as long as it may take.

        A person's time does not count: a call that has to wait for one ends with an interrupt.
        """
        call = request.tool_call
        subagent = _subagent(call) if call["name"] == "task" else None
        limit = self.subagent_timeout if subagent else self.tool_timeout
        try:
            async with asyncio.timeout(limit) as clock:
                with self._under_way(subagent, clock):
                    if subagent is None or subagent.place not in self._stopped:
                        return await handler(request)
        except TimeoutError:
            if not clock.expired():
                raise  # the tool's own
        return self._ended_early(call, subagent, limit)

    def _ended_early(
        self, call: ToolCall, subagent: Running | None, limit: float | None
    ) -> ToolMessage:
        if subagent is None:
            return failure(
                call,
                f"{call['name']} was given up after {limit:g} seconds. It may still take effect: "
                "check that before you call it again, and then ask for less at once.",
            )
        if subagent.place in self._stopped:
            self._stopped.discard(subagent.place)
            return failure(
                call,
                f"Subagent {subagent.name} was stopped by the person. Go on without what it was "
                "to find, and do not start it again unless they ask for it.",
                additional_kwargs={"stopped": True},
            )
        return failure(
            call,
            f"Subagent {subagent.name} was given up after {limit:g} seconds. What it wrote to the "
            "person's files is there, all else is lost. Give out smaller tasks.",
        )

    @contextmanager
    def _under_way(self, subagent: Running | None, clock: asyncio.Timeout) -> Iterator[None]:
        if subagent is None:
            yield
            return
        self._clocks[subagent] = clock
        token = _enclosing.set(subagent)
        try:
            yield
        finally:
            _enclosing.reset(token)
            del self._clocks[subagent]


class SupervisionMiddleware(AgentMiddleware[Any, Any, Any]):
    """Put tool calls under the supervisor of the run, where it has one.

    It goes inside approvals, so that what a person made of a call is what is supervised.

    Args:
        files: Where files live.
    """

    def __init__(self, files: BackendProtocol) -> None:
        super().__init__()
        self._files = files

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Make the call: sessions run on an event loop, and nothing else is supervised."""
        return handler(request)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        """Make the call, once and in time."""
        supervisor: Supervisor | None = get_config()["configurable"].get(IN_RUN)
        if supervisor is None:
            return await handler(request)
        run = partial(supervisor.in_time, request, handler)
        if _is_repeatable(request):
            return keepable(await run())
        return await self._once(supervisor.record, request, run)

    async def _once(
        self, record: Record, request: ToolCallRequest, run: Callable[[], Awaitable[Result]]
    ) -> Result:
        call = request.tool_call
        write = Write.of(call) if call["name"] in ARGUMENTS else None
        home = home_of(self._files, write.path) if write else None
        if isinstance(home, StateBackend):
            return await run()  # what it writes is in the checkpoint
        once = Once(record, request, run, whereabouts())
        if (result := once.result) is not None:
            return result
        path = write.clean_path if write else None
        if write and path and (found := folder_at(self._files, path)):
            return await once.write_to_folder(write, path, *found)
        if write and path and isinstance(home, Client):
            return await once.write_to_client(write, path)
        return await once.anything()


def whereabouts() -> dict[str, Any]:
    """Tell who is at work here, in the fields of an event."""
    config = get_config()
    supervisor: Supervisor | None = config["configurable"].get(IN_RUN)
    subagent = _enclosing.get()
    return {
        "run": supervisor.run if supervisor else "",
        "agent": config["metadata"].get("lc_agent_name", ""),
        "parent": subagent.caller if subagent else "",
        "call": subagent.id if subagent else "",
        "node": config["metadata"].get("langgraph_node", ""),
        "step": supervisor.step if supervisor else None,
        "checkpoint": supervisor.checkpoint if supervisor else "",
    }


def _subagent(call: ToolCall) -> Running:
    caller = _enclosing.get()
    return Running(
        id=str(call["id"]),
        name=str(call["args"].get("subagent_type")),
        description=str(call["args"].get("description")),
        since=time.time(),
        caller=get_config()["metadata"].get("lc_agent_name", ""),
        parent=caller.id if caller else "",
    )


def _is_repeatable(request: ToolCallRequest) -> bool:
    if request.tool is None or request.tool_call["name"] in _REPEATABLE:
        return True
    said = request.tool.metadata or {}  # MCP's words for it
    return said.get("readOnlyHint") is True or said.get("idempotentHint") is True
