"""What the tests of sessions have in common."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from deepnb import Session, threads
from deepnb.testing import Call, ScriptedModel, call

PATIENCE = 30.0
"""Seconds after which something that should have happened is taken not to happen."""


def until(condition: Callable[[], Any], timeout: float = PATIENCE) -> Any:
    """Wait for a condition, and give what it came to."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, "It did not happen."
        time.sleep(0.005)
    return found


@contextmanager
def opening(workspace: Path) -> Iterator[Callable[..., Session]]:
    """Give a function that opens sessions in `workspace`; all of them are closed in the end.

    A script in place of the agent makes a deep agent whose model follows it.
    """
    opened: list[Session] = []

    def open_session(agent: Any = "deep", **options: Any) -> Session:
        if isinstance(agent, list) or (callable(agent) and not hasattr(agent, "astream")):
            agent, options = "deep", {"model": ScriptedModel(agent), **options}
        opened.append(Session(agent, **{"workspace": workspace, **options}))
        return opened[-1]

    try:
        yield open_session
    finally:
        for session in opened:
            session.close()


def kinds(session: Session, *wanted: str) -> list[Any]:
    """Give the events of some kinds."""
    return [event for event in session.events() if event.kind in wanted]


def ask(session: Session, question: Any = "go") -> Any:
    """Ask, and wait until the run has ended or waits for a person."""
    run = session.ask(question).wait(PATIENCE)
    assert run.status not in ("queued", "running"), "It takes too long."
    return run


class Gate:
    """Holds a run up inside a tool, until the test lets it go on.

    Attributes:
        reached: Set when a run has come to it.
        opened: Set it to let the run go on.
    """

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def wait(self) -> None:
        """Wait, in a node or tool of the test's own."""
        self.reached.set()
        assert self.opened.wait(PATIENCE), "Nobody has opened the gate."

    def tool(self, name: str = "hold") -> BaseTool:
        """Make a tool that waits on the event loop, and can be cancelled."""

        async def hold() -> str:
            self.reached.set()
            while not self.opened.is_set():  # noqa: ASYNC110  # set by another thread
                await asyncio.sleep(0.005)
            return f"{name} is over"

        return StructuredTool.from_function(coroutine=hold, name=name, description="Wait.")

    def blocking_tool(self, name: str = "block") -> BaseTool:
        """Make a tool that waits in a thread, and cannot be cancelled."""

        def block() -> str:
            self.reached.set()
            self.opened.wait(PATIENCE)
            return f"{name} is over"

        return StructuredTool.from_function(block, name=name, description="Wait.")


def subagent(name: str, script: Any, **more: Any) -> dict[str, Any]:
    """Describe a subagent whose model follows a script of its own."""
    texts = {"name": name, "description": f"Knows {name}.", "system_prompt": f"You are {name}."}
    return {**texts, "model": ScriptedModel(script), **more}


def task(name: str, description: str = "work") -> Call:
    """Let a scripted model call a subagent."""
    return call("task", subagent_type=name, description=description)


def scripted(opened: Callable[..., Session], *script: Any, **options: Any) -> tuple[Any, Session]:
    """Open a session with a deep agent whose model follows a script; gives the model too."""
    model = ScriptedModel(list(script))
    return model, opened(model=model, **options)


def settle(run: Any) -> Any:
    """Wait until a run has ended or waits for a person."""
    assert run.wait(PATIENCE).status not in ("queued", "running"), "It takes too long."
    return run


def tool_texts(seen: Any) -> list[str]:
    """Give the tool results that a model call was given."""
    return [message.text for message in seen.messages if message.type == "tool"]


def check_conversation(messages: list[BaseMessage]) -> None:
    """Assert that a provider would take these: each call answered once, right behind it."""
    ids = [message.id for message in messages if message.id]
    assert len(set(ids)) == len(ids), "A message is there twice."
    owed: list[str] = []
    unreadable: list[str] = []  # calls that may be answered
    for message in messages:
        if isinstance(message, ToolMessage):
            known = owed if message.tool_call_id in owed else unreadable
            assert message.tool_call_id in known, f"Nobody has called for {message.text!r}."
            known.remove(message.tool_call_id)
        else:
            assert not owed, f"Unanswered calls: {owed}"
            turn = message if isinstance(message, AIMessage) else AIMessage("")
            owed = [str(call["id"]) for call in turn.tool_calls]
            unreadable = [str(call["id"]) for call in turn.invalid_tool_calls]
    assert not owed, f"Unanswered calls: {owed}"


def echo(messages: list[BaseMessage]) -> str:
    """Answer as a model without memory does."""
    return f"answer to {messages[-1].text}"


def write(path: str = "/workspace/new.md", content: str = "hello\n") -> Call:
    """Let a scripted model write a file; in the workspace that needs an approval."""
    return call("write_file", file_path=path, content=content)


def listed(workspace: Path) -> dict[str, str]:
    """Give the status of each thread in a workspace."""
    frame = threads(workspace)
    return dict(zip(frame.thread, frame.status, strict=True))


def folder_of(workspace: Path, thread: str = "main") -> Path:
    """Give the folder that a thread with a simple name is kept in."""
    return workspace / ".deepnb" / "threads" / thread
