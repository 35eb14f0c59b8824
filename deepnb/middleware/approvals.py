"""Which tool calls a person approves, what they see when they are asked, and what they decided.

langchain's human in the loop, with four things added: a malformed answer is refused and leaves
the question open, what is shown is what will be done, a file that has changed while the question
waited is not overwritten, and in a session a person can approve for good what fits a pattern.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from deepagents.backends import CompositeBackend, StateBackend, StoreBackend
from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_config

from deepnb.errors import NobodyToAskError, PathError
from deepnb.events import short
from deepnb.exchange import carried_on
from deepnb.files import Client, Folder, Mounts, safe_parts
from deepnb.files.namespace import WORKSPACE
from deepnb.files.paths import join
from deepnb.interrupts import ApprovalAnswer, ApprovalRequest, ask, covers
from deepnb.middleware.diffs import diff, visible
from deepnb.middleware.schemas import schemas_of
from deepnb.middleware.supervision import whereabouts
from deepnb.middleware.writes import ARGUMENTS, Write, folder_at, home_of, text_of
from deepnb.record import current_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deepagents.backends.protocol import BackendProtocol
    from langchain.agents.middleware import ToolCallRequest
    from langchain_core.messages import ToolCall
    from langgraph.runtime import Runtime

PREVIEW = "__deepnb_preview"
"""Where a graph's configuration holds `preview_of` for its files."""

_EDITED = "hitl_edited_tool_calls"  # where langchain's wrap_tool_call looks for a person's version


def approvals_for(
    files: BackendProtocol, asked: Mapping[str, bool | InterruptOnConfig] | None = None
) -> dict[str, bool | InterruptOnConfig]:
    """Ask before anything is written to files a person owns, and before what a caller names.

    Whether to ask depends on nothing but the call and the mounts: langchain decides it again
    when the run resumes, and if the outcome differed a rejected call would run.

    Args:
        files: Where files live.
        asked: What a caller gates beside that; `{"write_file": False}` opens one gate, an empty
            mapping all of them.
    """
    if asked is not None and not asked:
        return {}

    def when(request: ToolCallRequest) -> bool:
        return _is_owned(files, Write.of(request.tool_call).path)

    def describe(tool_call: ToolCall, state: Any, runtime: Any) -> str:
        return describe_write(files, Write.of(tool_call))

    gate = InterruptOnConfig(
        allowed_decisions=["approve", "edit", "reject"], when=when, description=describe
    )
    return {**(dict.fromkeys(ARGUMENTS, gate) if _has_owned(files) else {}), **(asked or {})}


def _has_owned(files: BackendProtocol) -> bool:
    if isinstance(files, Mounts):
        return bool(files.owned)
    if isinstance(files, CompositeBackend):
        return any(map(_has_owned, [files.default, *files.routes.values()]))
    return not isinstance(files, StateBackend | StoreBackend)


def _is_owned(files: BackendProtocol, path: str) -> bool:
    """Whether a person owns what is at `path`: all that is neither state nor a store."""
    if isinstance(files, Mounts):
        return files.is_owned(path)
    return _has_owned(files)  # another composite's paths are not ours to read: ask for all


class ApprovalsMiddleware(HumanInTheLoopMiddleware[Any, Any, Any]):
    """Pause for the tool calls in `interrupt_on`; see langchain's for what that may say.

    Args:
        interrupt_on: By tool, whether and how to ask.
        files: Where files live.
        tools: All that the agent has, so that a person is told what arguments each takes.
    """

    def __init__(
        self,
        interrupt_on: Mapping[str, bool | InterruptOnConfig],
        files: BackendProtocol,
        tools: Sequence[Any] = (),
    ) -> None:
        super().__init__(dict(interrupt_on))
        self._files = files
        self._schemas = schemas_of(tools, self.interrupt_on)
        self._shown: dict[str, str | None] = {}

    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Ask about all gated calls of the turn at once, and carry out what was decided."""
        turn = next((m for m in reversed(state["messages"]) if isinstance(m, AIMessage)), None)
        gated = [
            (call, config)
            for call in (turn.tool_calls if turn else [])
            if (config := self.interrupt_on.get(call["name"]))
            and self._should_interrupt(call, config, state, runtime)
            and not self._is_granted(call, config, state, runtime)
        ]
        if not gated:
            return {_EDITED: {}} if state.get(_EDITED) else None
        stale = {call["id"] for call, _ in gated if self._has_changed(call)}
        try:
            decisions = ask(self._request(gated, state, runtime), ApprovalAnswer).decisions
        except NobodyToAskError as error:
            return {"messages": [_refusal(call, str(error)) for call, _ in gated]}
        messages: list[ToolMessage] = []
        edited: dict[str, Any] = {}
        for (call, config), decided in zip(gated, decisions, strict=True):
            self._shown.pop(_key(call), None)
            if decided.always and (record := current_record()):
                record.allow(call["name"], decided.always)
            decision: Any = decided.model_dump(exclude_none=True)
            _, message = self._process_decision(decision, call, config)
            if message is None and call["id"] in stale:
                message = _refusal(call, _CHANGED)
            if message:
                messages.append(message)
            elif decided.edited_action:
                edited[str(call["id"])] = decision["edited_action"]
        return {"messages": messages, _EDITED: edited}

    async def aafter_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `after_model`, off the event loop: a diff needs the file as it is."""
        return await asyncio.to_thread(self.after_model, state, runtime)

    def _request(
        self, gated: list[tuple[ToolCall, InterruptOnConfig]], state: Any, runtime: Runtime[Any]
    ) -> ApprovalRequest:
        pairs = [self._create_action_and_config(c, config, state, runtime) for c, config in gated]
        reviews = [dict(review) for _, review in pairs]
        for review, (call, _) in zip(reviews, gated, strict=True):
            if schema := self._schemas.get(call["name"]):
                review["args_schema"] = schema
        if current_record():
            for review, (call, _) in zip(reviews, gated, strict=True):
                if target := _target(self._files, call):
                    review["always"] = target
        return {
            "type": "tool_approval",
            "action_requests": [dict(action) for action, _ in pairs],  # type: ignore[misc]  # langchain's, whose description is optional
            "review_configs": reviews,  # type: ignore[typeddict-item]  # langchain's, and ours added
        }

    def _is_granted(
        self, call: ToolCall, config: InterruptOnConfig, state: Any, runtime: Runtime[Any]
    ) -> bool:
        """Whether a person has approved calls like this one for good.

        Decided once: the node runs again from its start when an answer comes, and a call that a
        person was asked about is theirs to decide, whatever they have granted meanwhile.
        """
        record = current_record()
        if record is None or record.was_shown(_key(call)):
            return False
        if record.was_shown(noted := f"granted {_key(call)}"):
            return True
        target = _target(self._files, call)
        if not target or not any(covers(each, target) for each in record.allowed(call["name"])):
            return False
        data = {
            "id": call["id"],
            "answer": {"decisions": [{"type": "approve"}]},
            "by": "grant",
            "request": short(self._request([(call, config)], state, runtime)),
        }
        record.log.append("interrupt_closed", **whereabouts(), name=call["name"], data=data)
        record.show(noted, None)
        return True

    def _has_changed(self, call: ToolCall) -> bool:
        """Whether the file of a call is no longer the one that was shown.

        The node runs again from its start when the answer comes; what it saw the first time is
        in the session's record or, without a session, remembered for as long as this process lives.
        """
        found = folder_at(self._files, Write.of(call).path) if call["name"] in ARGUMENTS else None
        now = found[0].fingerprint(found[1]) if found else None
        if record := current_record():
            return record.show(_key(call), now) != now
        return self._shown.setdefault(_key(call), now) != now


_CHANGED = (
    "The file has changed since the person was asked, so nothing was written. Read it again, and "
    "ask again."
)


def _refusal(call: ToolCall, reason: str) -> ToolMessage:
    return ToolMessage(
        f"Error: {call['name']} was not carried out. {reason}",
        name=call["name"],
        tool_call_id=call["id"],
        status="error",
    )


def _key(call: ToolCall) -> str:
    # Two subagents may give their calls the same id; the namespace is the same on resume.
    values = get_config()["configurable"]
    return f"{values.get('thread_id')}:{values.get('checkpoint_ns')}:{call['id']}"


def _target(files: BackendProtocol, call: ToolCall) -> str | None:
    """Tell what a pattern has to cover, see `Review`; None for a path in doubt."""
    if call["name"] not in ARGUMENTS:
        return "*"
    path = Write.of(call).clean_path
    if path is None:
        return None
    if found := folder_at(files, path):
        folder, inner = found
        real = folder.root.joinpath(*safe_parts(inner))
        # What is reached through a link is elsewhere, and that is not what was granted.
        return path if os.path.realpath(real) == str(real) else None
    return path if isinstance(home_of(files, path), Client) else None


def _carried_on(files: BackendProtocol, path: str) -> str | None:
    """The other place that a write changes in the end, since a person has mapped it so."""
    workspace = files.routes.get(WORKSPACE) if isinstance(files, Mounts) else None
    return carried_on(workspace, path) if isinstance(workspace, Folder) else None


def preview_of(files: BackendProtocol, tool: str, args: dict[str, Any]) -> str:
    """Say what a call would change, and change nothing; empty for what is no write."""
    if tool not in ARGUMENTS:
        return ""
    return describe_write(files, Write.of({"name": tool, "args": args, "id": None}))


def describe_write(files: BackendProtocol, write: Write) -> str:
    """Say what a call would change, with a diff against what is there now."""
    try:
        path = join(safe_parts(write.path))
    except PathError as error:
        return f"This write will be refused. {error}"
    found = folder_at(files, path)
    exists = found is not None and found[0].fingerprint(found[1]) is not None
    raw = found[0].content(found[1]) if found and exists else None
    before = text_of(raw)
    verb = "Write" if found is None else "Replace" if exists else "Create"
    if write.old is not None:
        verb = "Edit"
    parts = [f"{verb} {path}", diff(*write.change(before), path)]
    if other := _carried_on(files, path):
        parts.append(f"The two are kept in step: {other} will be changed in the same way.")
    if exists and before is None and write.old is None:
        parts.append("What is there now is too large, or no text, and cannot be shown.")
    if write.reason:
        # Last, and with no tag of its own: nothing after it that it could hide.
        parts.append(f"The agent's reason: {visible(write.reason).replace('<', '&lt;')}")
    return "\n\n".join(parts)
