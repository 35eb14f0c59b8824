"""The files of a session, as rows."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from deepnb.files.namespace import FILES, WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from deepnb.exchange import MappedFile
    from deepnb.files import Folder


def memory_rows(state: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """List what the agent keeps in the graph's state."""
    files = state.get("files")
    for path, file in files.items() if isinstance(files, dict) else ():
        content = file.get("content", "") if isinstance(file, dict) else ""
        text = "\n".join(content) if isinstance(content, list) else str(content)
        yield {
            "path": path,
            "home": "memory",
            "size": len(text.encode("utf-8", "replace")),
            "modified": _moment(file.get("modified_at") if isinstance(file, dict) else None),
        }


def workspace_rows(
    folder: Folder, homes: Iterable[str], memory: Container[str]
) -> Iterator[dict[str, Any]]:
    """List what is in the folder on disk.

    Args:
        folder: The workspace.
        homes: Where the agent may have it: under these paths it writes there.
        memory: Paths that are in the agent's memory, and so not there.
    """
    for info in folder.glob("**/*").matches or []:
        yield {
            "path": WORKSPACE.rstrip("/") + info["path"],
            "written_as": [
                path for home in homes if (path := home.rstrip("/") + info["path"]) not in memory
            ],
            "home": "workspace",
            "size": info.get("size"),
            "modified": _moment(info.get("modified_at")),
        }


def with_mapped(
    rows: Iterable[dict[str, Any]], mapped: Iterable[MappedFile]
) -> Iterator[dict[str, Any]]:
    """Add the files of browsers that are mapped, and say of each side how it stands."""
    ties = list(mapped)
    there = {WORKSPACE.rstrip("/") + tie["target"]: tie for tie in ties}
    for row in rows:
        tie = there.get(row["path"])
        other = FILES.rstrip("/") + tie["source"] if tie else ""
        yield {**row, "state": tie["state"] if tie else "", "other": other}
    for tie in ties:
        yield {
            "path": FILES.rstrip("/") + tie["source"],
            "home": "browser",
            "size": tie["size"],
            "state": tie["state"],
            "other": WORKSPACE.rstrip("/") + tie["target"],
        }


def _moment(text: Any) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
