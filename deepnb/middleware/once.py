"""Making a tool call once, even if the kernel dies in the middle of it.

LangGraph makes a call again that was cut off. The record knows which calls were begun and what
those that ended have given, so a call that is known to be done is answered from there. For one
that was begun and has no result, it depends on who can tell whether it took effect: the file, the
client, or nobody, and then the person decides.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from langchain_core.messages import ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp, is_invalid_resume

from deepnb.errors import NobodyToAskError
from deepnb.events import short
from deepnb.interrupts import ChoiceAnswer, ask
from deepnb.middleware.diffs import diff
from deepnb.middleware.writes import Change

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ToolCallRequest
    from langchain_core.messages import ToolCall
    from langgraph.types import Command

    from deepnb.files import Folder
    from deepnb.middleware.writes import Write
    from deepnb.record import Record

    Result = ToolMessage | Command[Any]

_SERIALIZER = JsonPlusSerializer(allowed_msgpack_modules=None)  # a record may be anybody's

# How far a call has come, where nobody can tell whether it took effect. LangGraph hands out the
# answers to a call's questions in their order, so the person is asked at most once, before any
# question of the tool's own: a call that has asked or was repeated, and is cut off, is given up.
_BEGUN, _AGAIN, _RESUMED = "begun", "again", "resumed"
_PAUSED, _AGAIN_PAUSED = "paused", "again, paused"
_AT_PAUSE = {_BEGUN: _PAUSED, _RESUMED: _PAUSED, _AGAIN: _AGAIN_PAUSED}
_GOES_ON = {_BEGUN: _AGAIN, _PAUSED: _RESUMED, _AGAIN_PAUSED: _AGAIN}
_BY_THE_PERSON = (_BEGUN, _AGAIN_PAUSED)

_raised: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""By call, the attempt at it that has raised: whoever makes it once more in the same, means to."""


class Once:
    """One tool call that must not be made twice.

    Args:
        record: What is known about calls.
        request: The call.
        run: Makes it.
        where: Who makes it, in the fields of an event.
    """

    def __init__(
        self,
        record: Record,
        request: ToolCallRequest,
        run: Callable[[], Awaitable[Result]],
        where: dict[str, Any],
    ) -> None:
        self._record = record
        self._call = request.tool_call
        self._attempt = request.runtime
        self._run = run
        self._where = where
        # The namespace ends in the id of the task, which is the same when the task is run again.
        self._key = f"{get_config()['configurable']['checkpoint_ns']}:{self._call['id']}"
        self._known = record.call(self._key)

    @property
    def result(self) -> Result | None:
        """What the call has given, if it is done."""
        if self._known is None or self._known.result is None:
            return None
        kind, _, data = self._known.result.partition(b" ")
        result: Result = _SERIALIZER.loads_typed((kind.decode(), data))
        return result

    async def write_to_folder(self, write: Write, path: str, folder: Folder, inner: str) -> Result:
        """Write a file on disk, whose content tells whether it was written."""
        if self._known:
            noted = Change(**json.loads(str(self._known.expected)))
            await asyncio.to_thread(folder.sweep, inner)
            now = await asyncio.to_thread(folder.fingerprint, inner)
            if now not in (noted.before, noted.after):
                text = f"{path} is neither as it was before this call nor as the call would leave "
                text += "it: somebody has changed it since the run was cut off. Read it again, "
                text += "and decide anew what to write."
                return self._end(failure(self._call, text))
            if now != noted.before:
                self._report(noted.event)
                return self._end(_message(self._call, f"Updated file {path}"))
        change = await asyncio.to_thread(Change.of, write, path, folder, inner)
        self._record.begin_call(self._key, json.dumps(asdict(change)))
        return self._written(await self._run(), change.event)

    async def write_to_client(self, write: Write, path: str) -> Result:
        """Let the client write a file; it knows a question that it has answered before."""
        self._record.begin_call(self._key)
        event = {
            "path": path,
            "action": "changed",  # or created: only the client knows
            "diff": diff(*write.change(None), path),
            "size": len(write.new.encode(errors="replace")) if write.old is None else None,
        }
        return self._written(await self._run(), event)

    async def anything(self) -> Result:
        """Make a call of which nobody can tell whether it took effect."""
        state = (self._known and self._known.expected) or _BEGUN
        if self._known and _raised.get(self._key) is not self._attempt:
            if state not in _GOES_ON:
                return self._end(self._given_up("It was not repeated."))
            if state in _BY_THE_PERSON and (reason := self._why_not_again()):
                return self._end(self._given_up(reason))
            state = _GOES_ON[state]
        self._record.begin_call(self._key, state)
        try:
            return self._end(await self._run())
        except Exception as error:
            if isinstance(error, GraphBubbleUp) or is_invalid_resume(error):
                self._record.begin_call(self._key, _AT_PAUSE[state])
            else:
                # It stays begun. The caller reads what went wrong, and that is in the next
                # checkpoint; should the kernel die before that, half of the call may have been
                # done, and nobody can know.
                _raised[self._key] = self._attempt
            raise

    def _why_not_again(self) -> str | None:
        """Ask the person whether to make the call again; None if so."""
        shown = ", ".join(f"{k}={short(v, 100)!r}" for k, v in self._call["args"].items())
        question = (
            f"{self._call['name']}({short(shown)}) was running when the run was cut off, and "
            "nobody can tell whether it took effect. Shall it be done again?"
        )
        try:
            answer = ask(
                {
                    "type": "clarification_request",
                    "tool": "ask_choices",
                    "tool_call_id": str(self._call["id"]),
                    "question": question,
                    "options": [
                        {"id": "again", "label": "Do it again"},
                        {"id": "skip", "label": "Leave it, and tell the agent"},
                    ],
                    "allow_multiple": False,
                    "allow_freeform": False,
                },
                ChoiceAnswer,
            )
        except NobodyToAskError:
            return "Nobody could be asked, so it was not repeated."
        return None if answer.selected == ["again"] else "The person chose not to repeat it."

    def _given_up(self, why: str) -> ToolMessage:
        return failure(
            self._call,
            f"{self._call['name']} was cut off, and may or may not have taken effect. {why} "
            "Find out what has happened, or say that you do not know.",
        )

    def _written(self, result: Result, event: dict[str, Any]) -> Result:
        if isinstance(result, ToolMessage) and result.status == "success":
            self._report(event)
        return self._end(result)

    def _report(self, event: dict[str, Any]) -> None:
        """Say what was written, unless that was said before the kernel died."""
        event = {"id": self._call["id"], **event}
        said = self._known and any(
            each.kind == "file" and each.data == event and each.run == self._where["run"]
            for each in self._record.log.since(0)
        )
        if not said:
            self._record.log.append("file", **self._where, name=event["path"], data=event)

    def _end(self, result: Result) -> Result:
        """Note what a call has given; what cannot be noted counts as cut off."""
        result = keepable(result)
        with suppress(Exception):  # whatever a tool may give, and whatever a disk may say
            kind, data = _SERIALIZER.dumps_typed(result)
            self._record.end_call(self._key, kind.encode() + b" " + data)
        return result


def keepable(result: Result) -> Result:
    """Give a result as a checkpoint can hold it: without an artifact that is only for this kernel.

    What the model reads is its content.
    """
    if isinstance(result, ToolMessage) and result.artifact is not None:
        try:
            _SERIALIZER.dumps_typed(result.artifact)
        except TypeError:
            return result.model_copy(update={"artifact": None})
    return result


def failure(call: ToolCall, text: str, **fields: Any) -> ToolMessage:
    """Tell the model why a call has no result."""
    return _message(call, f"Error: {text}", status="error", **fields)


def _message(call: ToolCall, text: str, **fields: Any) -> ToolMessage:
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], **fields)
