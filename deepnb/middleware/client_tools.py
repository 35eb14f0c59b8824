"""The tools of an agent whose user's files are all with the client.

They take the place of the file tools' twins (`ls`, `glob`, `grep`, `edit_file`), so that no model
ever sees two tools for one act; `read_file` and `write_file` stay the file tools' own and reach
every mount. A file's id is its path, its title the stem of its name, its type the suffix, and its
project the mount's root.
"""

from __future__ import annotations

import json
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from deepnb.files.namespace import FILES, Mounts
from deepnb.middleware.diffs import diff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from deepagents.middleware.filesystem import FsToolName

    from deepnb.files import Client, Folder
    from deepnb.knowledge import Knowledge, Passage

REMAINING_FILE_TOOLS: list[FsToolName] = ["read_file", "write_file"]
"""What is left of the file tools beside these."""

TWINS = {
    "ls": "list_files",
    "glob": "glob_files",
    "grep": "grep_files",
    "edit_file": "patch_file",
}
"""Tools for one act, of which an agent has one."""


class ClientSearchMiddleware(AgentMiddleware[Any, Any, Any]):
    """Give an agent, beside the file tools, a search of the client's files by their words.

    Args:
        files: The mounts; the client's files are at `/files/`.
        knowledge: If it is of the very folder that is the client's, `search_files` searches its
            index, and with it PDFs and other documents that are no text.
    """

    def __init__(self, files: Mounts, knowledge: Knowledge | None = None) -> None:
        super().__init__()
        self._mounts = files
        self._client: Client | Folder = files.client
        folder = knowledge.folder if knowledge is not None else None
        is_of_client = folder is not None and folder == getattr(files.client, "root", None)
        self._index = knowledge if is_of_client else None
        self.tools: list[BaseTool] = [_tool(self.search_files)]

    def search_files(self, query: str, top_k: int = 5) -> str:
        """Find the passages in the person's own files, in /files/, that fit a question best.

        Args:
            query: What to look for, in words.
            top_k: How many passages.
        """
        passages = self._from_index(query, top_k) if self._index else self._ranked(query, top_k)
        return "\n\n".join(passages) or f"No file has anything on {query!r}."

    def _ranked(self, query: str, top_k: int) -> list[str]:
        found = self._client.search(query, top_k=top_k)
        return [f"{_id(each['path'])}:{each['line']}\n{each['text']}" for each in found]

    def _from_index(self, query: str, top_k: int) -> list[str]:
        assert self._index is not None  # noqa: S101  # who calls this has looked
        # The files may have changed since, by this very agent.
        found = self._index.refresh().find(query, max(top_k, 1), among=_is_inside)
        return [f"{_id('/' + each.location)}{_place(each)}\n{each.text}" for each in found]


class ClientToolsMiddleware(ClientSearchMiddleware):
    """Give an agent the client's files under the names a person would use.

    Args:
        files: The mounts; the client's files are at `/files/`.
        knowledge: As for the search alone.
    """

    def __init__(self, files: Mounts, knowledge: Knowledge | None = None) -> None:
        super().__init__(files, knowledge)
        self.tools = [
            _tool(self.list_files),
            *self.tools,
            _tool(self.grep_files),
            _tool(self.glob_files),
            _tool(self.patch_file),
        ]

    def list_files(self, file_type: str | None = None, path: str = FILES) -> str:
        """List the person's files, with id, title, type and project.

        Args:
            file_type: Only files of this type, for example "md".
            path: The folder to list, with all below it; your own notes are in /scratch/.
        """
        found = self._mounts.glob("**/*", path)
        return _listing(_ok(found.error, found.matches), file_type)

    def grep_files(
        self,
        pattern: str,
        glob_pattern: str | None = None,
        case_sensitive: bool = False,  # noqa: FBT001, FBT002  # a model names its arguments
    ) -> str:
        """Find the lines of the person's files that contain a text.

        Args:
            pattern: The text, literally.
            glob_pattern: Only in files whose name fits, for example "*.md".
            case_sensitive: Whether capitals matter.
        """
        found = self._client.grep(
            pattern, glob=glob_pattern, max_count=_MOST_LINES, case_sensitive=case_sensitive
        )
        lines = [
            f"{_id(m['path'])}:{m['line']}: {m['text']}" for m in _ok(found.error, found.matches)
        ]
        if found.truncated:
            lines.append(f"(only the first {_MOST_LINES} lines; narrow the search to see others)")
        return "\n".join(lines) or f"No file contains {pattern!r}."

    def glob_files(self, pattern: str) -> str:
        """Find the person's files by name.

        Args:
            pattern: For example "*.md" or "drafts/**/*.txt".
        """
        found = self._client.glob(pattern)
        entries = [
            {**entry, "path": _id(entry["path"])} for entry in _ok(found.error, found.matches)
        ]
        return _listing(entries)

    def patch_file(self, file_id: str, search: str, replace: str, description: str) -> str:
        """Change a passage of a file, and say why.

        Args:
            file_id: The file's id, which is its path.
            search: The exact text to replace; it must occur once.
            replace: What to put in its place.
            description: What the change is for, in one sentence; the person reads it.
        """
        done = self._mounts.edit(file_id, search, replace)
        if done.error:
            raise ToolException(done.error)
        return f"Changed {file_id}: {description}\n{diff(search, replace, file_id)}"


_MOST_LINES = 200


def _tool(function: Callable[..., str]) -> BaseTool:
    return StructuredTool.from_function(
        function, parse_docstring=True, handle_tool_error=lambda error: f"Error: {error}"
    )


def _ok(error: str | None, found: list[Any] | None) -> list[Any]:
    if error:
        raise ToolException(error)
    return found or []


def _id(path: str) -> str:
    return FILES.rstrip("/") + path


def _is_inside(kind: str, location: str) -> bool:
    """Whether it is a file in the folder: notes, pages and others may have been added."""
    return kind == "file" and not PurePath(location).is_absolute()


def _place(passage: Passage) -> str:
    return f":{passage.first}" if passage.place.startswith("line") else f", {passage.place}"


def _listing(entries: Iterable[Mapping[str, Any]], file_type: str | None = None) -> str:
    rows = []
    for entry in entries:
        path = PurePosixPath(entry["path"])
        row = {
            "id": entry["path"],
            "title": path.stem,
            "type": path.suffix.lstrip("."),
            "project": f"/{path.parts[1]}/",
        }
        if file_type is None or row["type"] == file_type.lstrip("."):
            rows.append(json.dumps(row, ensure_ascii=False))
    return "\n".join(rows) or "There are no such files."
