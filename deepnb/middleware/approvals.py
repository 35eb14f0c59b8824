"""Which writes a person approves, and what they see when they are asked."""

from __future__ import annotations

import asyncio
import re
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig

from deepnb.files import Mounts

if TYPE_CHECKING:
    from deepagents.backends.protocol import BackendProtocol
    from langchain.agents.middleware import ToolCallRequest
    from langchain_core.messages import ToolCall
    from langgraph.runtime import Runtime

_LONGEST_DIFF = 400
"""Lines of a diff to show; what is longer is cut, and says so."""


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
        return files.is_owned(_path(request.tool_call))

    def describe(tool_call: ToolCall, state: Any, runtime: Any) -> str:
        return describe_write(files, tool_call)

    gate = InterruptOnConfig(
        allowed_decisions=["approve", "edit", "reject"], when=is_owned, description=describe
    )
    return dict.fromkeys(("write_file", "edit_file", "patch_file"), gate)


def describe_write(files: Mounts, call: ToolCall) -> str:
    """Say what a call would change, with a diff where both sides are known."""
    path = _path(call)
    args = call["args"]
    reason = f"{args['description']}\n\n" if args.get("description") else ""
    before = _content(files, path)
    if call["name"] == "write_file":
        after = str(args.get("content", ""))
        what = f"Create {path}" if before is None else f"Replace {path}"
        return f"{reason}{what}\n\n{diff(before or '', after, path)}"
    old = str(args.get("old_string", args.get("search", "")))
    new = str(args.get("new_string", args.get("replace", "")))
    if before is None or old not in before:
        before = old  # with the client, where nothing is read just to be shown
    after = before.replace(old, new, -1 if args.get("replace_all") else 1)
    return f"{reason}Edit {path}\n\n{diff(before, after, path)}"


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


def _path(call: ToolCall) -> str:
    args = call["args"]
    return str(args.get("file_path", args.get("file_id", "")))


def _content(files: Mounts, path: str) -> str | None:
    found_at = files.folder_at(path)
    if found_at is None:
        return None
    folder, inner = found_at
    found = folder.download_files([inner])[0]
    return found.content.decode(errors="replace") if found.content is not None else None
