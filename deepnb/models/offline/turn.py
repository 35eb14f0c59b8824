"""One turn of the conversation: what was asked, and what the tools have answered so far.

The model keeps no state, so its moves are written as if every tool answered at once and are run
again from the start for each message. `Turn.do` looks an answer up in the conversation; where one
is missing it raises `Waiting` with the calls still to be made. A call's id is derived from the
question and the call, which makes it unique, and the same each time the moves are run.
"""

from __future__ import annotations

import hashlib
import json
import re
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from deepnb.models.offline import results

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langchain_core.messages import BaseMessage

# What the tools for a job, and the arguments of a tool, may be called; the first one bound is used.
TOOLS = {
    "knowledge": ("search_knowledge",),
    "search": ("search_files",),
    "grep": ("grep", "grep_files"),
    "glob": ("glob", "glob_files"),
    "list": ("ls", "list_files"),
    "read": ("read_file",),
    "write": ("write_file",),
    "check": ("check_seminar",),
    "choose": ("ask_choices",),
    "ask": ("ask_user",),
    "plan": ("write_todos",),
}
# An answer that was too long for the conversation, and where deepagents put it instead.
_SET_ASIDE = re.compile(r"Tool result too large, .* at this path: (\S+)")
# A question that was: of its preview, the first line is what was asked.
_QUESTION_SET_ASIDE = re.compile(r"Message content too large .*?\n\n1 +([^\n]*)", re.DOTALL)
_MOST_LINES = 1_000
_ALIASES = {"path": ("path", "file_path", "file_id", "title"), "max_count": ("max_count", "limit")}


class Waiting(Exception):  # noqa: N818  # not an error: the tools' turn
    """The next move needs answers of tools that are not there yet."""

    def __init__(self, calls: list[ToolCall]) -> None:
        super().__init__(f"{len(calls)} tool calls to make")
        self.calls = calls


@dataclass(frozen=True)
class Result:
    """What a tool answered to a call."""

    name: str
    args: dict[str, Any]
    text: str
    failed: bool = False
    cut: bool = False


class Turn:
    """The last question of a person, all that followed it, and what was said before."""

    def __init__(self, messages: Sequence[BaseMessage], tools: dict[str, Any]) -> None:
        self.tools = tools
        start = _last_question(messages)
        question = messages[start] if start >= 0 else HumanMessage("")
        self.request = _without_stub(question.text.strip())
        before, later = messages[: max(start, 0)], messages[start + 1 :]
        self.earlier = _exchanges(before)
        self.earlier_calls = [call for m in before for call in getattr(m, "tool_calls", ())]
        self._answers = {m.tool_call_id: m for m in later if isinstance(m, ToolMessage)}
        self._called = {
            call["id"]
            for message in later
            if isinstance(message, AIMessage)
            for call in message.tool_calls
        }
        self._tag = _digest([start, question.id, self.request])
        self.failures: list[str] = []

    def asking(self, request: str) -> Turn:
        """The same turn, as if something else had been asked in it."""
        other = copy(self)
        other.request = request
        return other

    def can(self, job: str) -> bool:
        """Whether a tool for this job is bound."""
        return any(name in self.tools for name in TOOLS[job])

    def call(self, job: str, **args: Any) -> list[ToolCall]:
        """The call that does a job, its arguments named as the tool names them; or none."""
        name = next((name for name in TOOLS[job] if name in self.tools), None)
        if name is None:
            return []
        known = self.parameters(job)
        fitted = {}
        for key, value in args.items():
            spelling = next((each for each in _ALIASES.get(key, (key,)) if each in known), None)
            if spelling or not known:
                fitted[spelling or key] = value
        return [
            ToolCall(name=name, args=fitted, id=f"offline_{self._tag}_{_digest([name, fitted])}")
        ]

    def parameters(self, job: str) -> dict[str, Any]:
        """The parameters of the tool for a job, by name."""
        name = next(name for name in TOOLS[job] if name in self.tools)
        properties = self.tools[name].get("properties", {})
        return properties if isinstance(properties, dict) else {}

    def do(self, calls: Iterable[ToolCall], *, note: bool = True) -> list[Result]:
        """The results of these calls, in order; failures are noted, unless they are said anyway.

        Raises:
            Waiting: If some of them have not been made yet.
        """
        calls = list({call["id"]: call for call in calls}.values())
        if missing := [call for call in calls if call["id"] not in self._called]:
            raise Waiting(missing)
        answers = [self._result(call) for call in calls]
        for each in answers:
            if each.failed and note:
                self._note_failure(each)
        return [self._brought_back(each) for each in answers]

    def _brought_back(self, result: Result) -> Result:
        """The beginning of an answer that was set aside for its length."""
        place = _SET_ASIDE.match(result.text)
        read = place and self.do(self.call("read", path=place[1], offset=0, limit=_MOST_LINES))
        page = results.page(read[0], place[1]) if place and read else None
        return replace(result, text="\n".join(page.lines), cut=True) if page else result

    def _result(self, call: ToolCall) -> Result:
        answer = self._answers.get(call["id"] or "")
        text = answer.text if answer else "the call was not answered"
        failed = answer is None or answer.status == "error"
        return Result(call["name"], call["args"], text, failed)

    def _note_failure(self, result: Result) -> None:
        lines = result.text.strip().splitlines() or ["no reason given"]
        failure = f"`{result.name}`: {lines[0][:200]}"
        if failure not in self.failures:
            self.failures.append(failure)


def _without_stub(text: str) -> str:
    stub = _QUESTION_SET_ASIDE.match(text)
    return stub[1] if stub else text


def _exchanges(messages: Sequence[BaseMessage]) -> list[tuple[str, str]]:
    """Each question of a person with what was answered to it in the end."""
    found: list[tuple[str, str]] = []
    for message in messages:
        if _is_question(message):
            found.append((message.text, ""))
        elif isinstance(message, AIMessage) and message.text and found:
            found[-1] = (found[-1][0], message.text)
    return found


def _last_question(messages: Sequence[BaseMessage]) -> int:
    asked = [index for index, message in enumerate(messages) if _is_question(message)]
    return asked[-1] if asked else -1


def _is_question(message: BaseMessage) -> bool:
    """Whether a person said this, and not middleware for them."""
    return isinstance(message, HumanMessage) and not (
        message.additional_kwargs.get("read_file_media_result")
        or message.additional_kwargs.get("lc_source")
    )


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
