"""Which writes a person approves, and what they see when they are asked."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig

from deepnb.errors import PathError
from deepnb.files import Mounts, safe_parts
from deepnb.files.paths import join

if TYPE_CHECKING:
    from deepagents.backends.protocol import BackendProtocol
    from langchain.agents.middleware import ToolCallRequest
    from langchain_core.messages import ToolCall
    from langgraph.runtime import Runtime

_LONGEST_FILE = 20_000
_LONGEST_DIFF = 400
"""Lines of a file to look at, and of a diff to show; what is longer is cut, and says so."""


class ApprovalsMiddleware(HumanInTheLoopMiddleware[Any, Any, Any]):
    """langchain's human in the loop, whose questions may look at the disk."""

    async def aafter_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `after_model`, off the event loop: a diff needs the file as it is."""
        return await asyncio.to_thread(self.after_model, state, runtime)


def approvals_for(files: BackendProtocol) -> dict[str, InterruptOnConfig]:
    """Ask before anything is written to files a person owns; the agent's own memory is free.

    Whether to ask depends on nothing but the call and the mounts: langchain decides it again
    when the run resumes, and if the outcome differed a rejected call would run.
    """
    if not isinstance(files, Mounts) or not files.owned:
        return {}

    def is_owned(request: ToolCallRequest) -> bool:
        return files.is_owned(Write.of(request.tool_call).path)

    def describe(tool_call: ToolCall, state: Any, runtime: Any) -> str:
        return describe_write(files, Write.of(tool_call))

    gate = InterruptOnConfig(
        allowed_decisions=["approve", "edit", "reject"], when=is_owned, description=describe
    )
    return dict.fromkeys(_ARGUMENTS, gate)


_ARGUMENTS = {
    "write_file": ("file_path", None, "content", None),
    "edit_file": ("file_path", "old_string", "new_string", None),
    "patch_file": ("file_id", "search", "replace", "description"),
}
"""By tool, the arguments that say where, what it was, what it will be, and why.

Each tool's own and no other's: an argument that a tool ignores must not decide about approval.
"""


@dataclass(frozen=True)
class Write:
    """What a tool call would write; `old` is None if it replaces all there is."""

    path: str
    old: str | None
    new: str
    reason: str
    everywhere: bool

    @classmethod
    def of(cls, call: ToolCall) -> Write:
        """Read a call, whatever a model has put into it."""
        path, old, new, reason = (
            None if name is None else str(call["args"].get(name, ""))
            for name in _ARGUMENTS[call["name"]]
        )
        everywhere = call["args"].get("replace_all") is True
        return cls(path or "", old, new or "", " ".join((reason or "").split())[:500], everywhere)


def describe_write(files: Mounts, write: Write) -> str:
    """Say what a call would change, with a diff against what is there now."""
    try:
        path = join(safe_parts(write.path))
    except PathError as error:
        return f"This write will be refused. {error}"
    folder = files.folder_at(path)
    now = folder[0].read(folder[1], limit=_LONGEST_FILE) if folder else None
    before = now.file_data["content"] if now and now.file_data else ""
    if write.old is None:
        after = write.new
        verb = "Write" if now is None else "Create" if now.error else "Replace"
    else:
        # Where the place is not known, as with the client, the change is shown by itself.
        before = before if write.old in before else write.old
        after = before.replace(write.old, write.new, -1 if write.everywhere else 1)
        verb = "Edit"
    parts = [write.reason, f"{verb} {path}", diff(before, after, path)]
    if now and now.next_offset:
        parts.append(f"The file goes on after its first {now.next_offset} lines.")
    return "\n\n".join(filter(None, parts))


def diff(before: str, after: str, path: str) -> str:
    """Give a unified diff as a Markdown code block."""
    lines = list(
        unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="", n=3)
    )
    if len(lines) > _LONGEST_DIFF:
        lines = [*lines[:_LONGEST_DIFF], f"… {len(lines) - _LONGEST_DIFF} more lines"]
    text = "\n".join(lines)
    # A fence longer than any inside, so that the content cannot close it.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}diff\n{text}\n{fence}"
