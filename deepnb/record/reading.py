"""A look at threads from outside, without taking them: somebody else may have them open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb.errors import NewerThreadError, ThreadError
from deepnb.record.database import Database
from deepnb.record.log import read
from deepnb.record.thread import ThreadFolder, thread_folders

if TYPE_CHECKING:
    from pathlib import Path

    from deepnb.events import Event


def read_events(workspace: Path, thread: str) -> list[Event]:
    """Read what has happened in a thread so far.

    Raises:
        ThreadError: There is no such thread, or it cannot be read.
    """
    folder = ThreadFolder(workspace, thread)
    if not folder.exists:
        raise folder.unknown()
    database = Database(folder.record, read_only=True)
    try:
        return read(database)
    finally:
        database.close()


def agent_of(workspace: Path, thread: str) -> str:
    """Name the agent that a thread was begun with; empty if there is none, or nobody can tell."""
    return about(workspace, thread).get("agent", "")


def about(workspace: Path, thread: str) -> dict[str, str]:
    """Give the facts about a thread, by name; none if it is not there, or nobody can tell."""
    folder = ThreadFolder(workspace, thread)
    if not folder.exists:
        return {}
    try:
        database = Database(folder.record, read_only=True)
        try:
            return _about(database)
        finally:
            database.close()
    except ThreadError:
        return {}


def summaries(workspace: Path) -> list[dict[str, Any]]:
    """Say of each thread what it is about and how it stands, the latest first."""
    found = [_summary(folder) for folder in thread_folders(workspace)]
    return sorted(found, key=lambda row: row["updated"] or 0, reverse=True)


def _summary(folder: ThreadFolder) -> dict[str, Any]:
    row: dict[str, Any] = {"thread": folder.name, "updated": None, "size": folder.size}
    try:
        database = Database(folder.record, read_only=True)
    except NewerThreadError:
        return {**row, "status": "newer"}
    except ThreadError:
        return {**row, "status": "damaged"}
    try:
        return {**row, **_facts(database, in_use=folder.in_use)}
    except ThreadError:
        return {**row, "status": "damaged"}
    finally:
        database.close()


def _about(database: Database) -> dict[str, str]:
    return dict(database.rows("SELECT key, value FROM about"))


def _facts(database: Database, *, in_use: bool) -> dict[str, Any]:
    known = _about(database)
    asked = database.rows("SELECT count(*), min(position) FROM ask WHERE NOT steer")[0]
    first = database.rows("SELECT text FROM ask WHERE position = ?", (asked[1],))
    last = read(database, "SELECT * FROM event ORDER BY seq DESC LIMIT 1")
    return {
        "agent": known.get("agent"),
        "forked_from": known.get("forked from", ""),
        "in_use": in_use,
        "status": _status(database, in_use=in_use),
        "question": first[0][0] if first else None,
        "runs": asked[0],
        "events": database.rows("SELECT count(*) FROM event")[0][0],
        "updated": last[0].time if last else None,
    }


def _status(database: Database, *, in_use: bool) -> str:
    last = read(
        database, "SELECT * FROM event WHERE kind = 'run_started' ORDER BY seq DESC LIMIT 1"
    )
    begun, since = (last[0].run, last[0].seq) if last else (None, 0)
    ends = f"SELECT * FROM event WHERE kind = 'run_ended' AND seq > {since} ORDER BY seq"  # noqa: S608  # a number
    for end in reversed(read(database, ends)):
        if begun in (None, end.run):  # others were never begun
            return str(end.data.get("status"))
    if not begun:
        return "idle"
    waiting: set[str] = set()
    for event in read(database, "SELECT * FROM event WHERE kind LIKE 'interrupt_%' ORDER BY seq"):
        change = waiting.add if event.kind == "interrupt_opened" else waiting.discard
        change(str(event.data.get("id")))
    return "waiting" if waiting else "running" if in_use else "stopped"
