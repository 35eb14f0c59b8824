"""deepagents' file tools, with numbered lines.

`read_file` tells where a page begins and leaves it to the model to count. Whoever must name the
line of every statement should not have to count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from deepagents.middleware import FilesystemMiddleware
from langchain_core.messages import ToolMessage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from deepagents.backends.protocol import BackendProtocol
    from deepagents.middleware.filesystem import FsToolName
    from langchain.agents.middleware import ToolCallRequest
    from langgraph.types import Command

READ_FILE = """\
Read lines of a text file.

- Up to 100 lines from the beginning, unless `offset` and `limit` say otherwise. Page through what \
is long instead of reading it whole; read several files at once when they may all be useful.
- A header `@@ lines A-B of N | ... @@` comes first, then each line as its number, a tab and its \
text. Header, number and tab are not part of the file: leave them out when you quote or edit.
- Results that were too long to show are kept in a file whose path you were told; read it here.
- Read a file before you edit it."""

_HEADER = re.compile(r"(?:\[.*\n)*@@ lines (\d+)-\d+.* @@\n")


class FilesMiddleware(FilesystemMiddleware[Any, Any]):
    """Give an agent file tools.

    Args:
        files: Where files live.
        tools: Which of the tools; `read_file` is always among them.
    """

    def __init__(self, files: BackendProtocol, tools: Sequence[FsToolName]) -> None:
        super().__init__(
            backend=files,
            tools=list(tools),
            custom_tool_descriptions={"read_file": READ_FILE},
        )

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Run a tool, and number what `read_file` read."""
        return _numbered(super().wrap_tool_call(request, handler))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run a tool, and number what `read_file` read."""
        return _numbered(await super().awrap_tool_call(request, handler))


def _numbered(result: ToolMessage | Command[Any]) -> ToolMessage | Command[Any]:
    if not isinstance(result, ToolMessage) or result.name != "read_file":
        return result
    if not isinstance(result.content, str) or not (header := _HEADER.match(result.content)):
        return result
    lines = result.content[header.end() :].split("\n")
    numbered = (f"{number}\t{line}" for number, line in enumerate(lines, int(header[1])))
    return result.model_copy(update={"content": header[0] + "\n".join(numbered)})
