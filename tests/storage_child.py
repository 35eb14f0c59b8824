"""What happens to sessions in a process of its own: on a full disk, in a read-only folder.

Such limits hold for a whole process, so each of these is run as
`python -m tests.storage_child NAME WORKSPACE` and says as JSON what came of it.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import deepnb
from deepnb import Session
from deepnb.errors import DeepnbError
from deepnb.record import read_events
from deepnb.testing import ScriptedModel, call

MOMENTS = (
    *("queued", "run_started", "message", "tool_call", "tool_result", "interrupt_opened"),
    *("interrupt_closed", "file", "token", "usage", "node", "run_ended"),
)
"""Kinds of events at which the disk is full all of a sudden."""


def reply(messages: list[Any]) -> Any:
    """Write a file if that is what was asked; a function of the conversation alone."""
    asked = next(m.text for m in reversed(messages) if m.type == "human")
    if asked != "write" or messages[-1].type == "tool":
        return f"answer to {asked}"
    if [m.text for m in messages].count("write") > 1:
        return "once is enough"
    return call("write_file", file_path="/workspace/new.md", content="written\n")


def opened(workspace: Path, **options: Any) -> Session:
    return Session("deep", model=ScriptedModel(reply), workspace=workspace, **options)


def attempt(work: Any) -> Any:
    """Do something that may fail in a way deepnb explains; anything else ends the process."""
    try:
        return work()
    except DeepnbError as error:
        return f"{type(error).__name__}: {error}"


# A full disk


def fill() -> None:
    """From now on nothing can be written: as SQLite sees it, a write that fails."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))


def free() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def full_disk(workspace: Path) -> dict[str, Any]:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    report: dict[str, Any] = {}
    for moment in MOMENTS:
        folder = workspace / moment
        folder.mkdir()
        report[moment] = _full_at(moment, folder)
    for moment in ("asking", "answering", "opening", "closing", "forking"):
        folder = workspace / moment
        folder.mkdir()
        report[moment] = globals()[f"_full_when_{moment}"](folder)
    return report


def _full_at(moment: str, folder: Path) -> dict[str, Any]:
    session = opened(folder)
    session.ask("one").wait(20)
    hit: list[str] = []

    def watch(event: Any) -> None:
        if event.kind == moment and not hit:
            hit.append(moment)
            fill()

    unsubscribe = session.subscribe(watch)
    refused = attempt(lambda: session.ask("write"))
    run = session.runs[-1].wait(20)
    said = [refused] if isinstance(refused, str) else []
    if session.questions:
        said.append(attempt(lambda: session.respond(session.questions[0].id, "approve")))
        run.wait(20)
    while_full = {"status": run.status, "said": [*said, run.reason], "hit": hit}
    events = len(session.events())
    time.sleep(0.1)
    while_full["grown"] = len(session.events()) - events
    unsubscribe()
    free()
    if isinstance(refused, str):
        run = session.ask("write").wait(20)
    for _ in range(5):
        if session.can_resume:
            run = session.resume().wait(20)
        elif session.questions:
            session.respond(session.questions[0].id, "approve")
            run.wait(20)
    return {**while_full, "then": run.status, **_and_afterwards(session, folder)}


def _full_when_asking(folder: Path) -> dict[str, Any]:
    session = opened(folder)
    session.ask("one").wait(20)
    fill()
    said = attempt(lambda: session.ask("write"))
    status = session.status
    free()
    session.ask("write").wait(20)
    session.respond(session.questions[0].id, "approve")
    session.runs[-1].wait(20)
    return {"status": status, "said": [said], **_and_afterwards(session, folder)}


def _full_when_answering(folder: Path) -> dict[str, Any]:
    session = opened(folder)
    session.ask("one").wait(20)
    session.ask("write").wait(20)
    question = session.questions[0].id
    fill()
    said = attempt(lambda: session.respond(question, "approve"))
    status = session.status
    free()
    session.respond(question, "approve")
    session.runs[-1].wait(20)
    return {"status": status, "said": [said], **_and_afterwards(session, folder)}


def _full_when_opening(folder: Path) -> dict[str, Any]:
    fill()
    said = attempt(lambda: opened(folder))
    free()
    session = opened(folder)
    status = session.status
    session.ask("one").wait(20)
    session.ask("write").wait(20)
    session.respond(session.questions[0].id, "approve")
    session.runs[-1].wait(20)
    return {"status": status, "said": [said], **_and_afterwards(session, folder)}


def _full_when_closing(folder: Path) -> dict[str, Any]:
    session = opened(folder)
    session.ask("one").wait(20)
    session.ask("write").wait(20)
    session.respond(session.questions[0].id, "approve")
    session.runs[-1].wait(20)
    fill()
    said = attempt(session.close)
    free()
    session = opened(folder)
    return {"status": session.status, "said": [said], **_and_afterwards(session, folder)}


def _full_when_forking(folder: Path) -> dict[str, Any]:
    session = opened(folder)
    session.ask("one").wait(20)
    session.ask("write").wait(20)
    fill()
    said = attempt(lambda: session.fork(thread="branch"))
    status = session.status
    free()
    session.respond(session.questions[0].id, "approve")
    session.runs[-1].wait(20)
    branch = session.fork(thread="branch")
    forked = list(branch.messages.text)
    branch.close()
    return {"status": status, "said": [said], "forked": forked, **_and_afterwards(session, folder)}


def _and_afterwards(session: Session, folder: Path) -> dict[str, Any]:
    last = session.ask("last").wait(20).status
    here = _conversation(session)
    session.close()
    again = opened(folder)
    report = {"last": last, "here": here, "again": _conversation(again), "again is": again.status}
    again.close()
    written = folder / "new.md"
    return {**report, "file": written.read_text() if written.exists() else None}


def _conversation(session: Session) -> dict[str, list[str]]:
    state = [m.text for m in session.state["messages"] if m.type in ("human", "ai") and m.text]
    return {"shown": list(session.messages.text), "known": state}


# A read-only folder


def read_only(workspace: Path) -> dict[str, Any]:
    folder = workspace / ".deepnb"
    _use_everything_once(workspace)
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)
    if os.getuid() == 0:  # whom no permission stops
        workspace.chmod(0o755)
        os.setuid(65534)
    return {
        "open": attempt(lambda: opened(workspace)),
        "open new": attempt(lambda: opened(workspace, thread="new")),
        "forget": attempt(lambda: deepnb.forget("main", workspace)),
        "memory": attempt(lambda: _answer_in_memory(workspace)),
        "threads": attempt(lambda: _listed(workspace)),
        "events": attempt(lambda: len(read_events(workspace, "main"))),
    }


def _use_everything_once(workspace: Path) -> None:
    """Have every module loaded: another user may not be allowed to read where they are."""
    with opened(workspace) as session:
        session.ask("one").wait(20)
        assert len(session.messages) == 2
    with opened(workspace, thread="waits") as session:
        session.ask("write").wait(20)
    _listed(workspace)
    _answer_in_memory(workspace)
    attempt(lambda: deepnb.forget("nobody", workspace))


def _answer_in_memory(workspace: Path) -> str:
    with opened(workspace, persist=False) as session:
        return str(session.ask("one").wait(20).answer)


def _listed(workspace: Path) -> dict[str, str]:
    threads = deepnb.threads(workspace)
    return dict(zip(threads.thread, threads.status, strict=True))


if __name__ == "__main__":
    _, name, place = sys.argv
    print(json.dumps(globals()[name](Path(place)), default=str))  # noqa: T201  # to whoever started it
