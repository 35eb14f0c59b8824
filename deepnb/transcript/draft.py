"""A turn that is being read, event by event.

What is not in order is put right: a result without its call, a subagent that nobody announced, a
question that was answered before it was seen.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from deepnb.transcript.legible import legible, legible_json
from deepnb.transcript.outline import Outline
from deepnb.transcript.steps import (
    FileChange,
    Notice,
    Question,
    Remark,
    State,
    Status,
    Step,
    Subagent,
    Text,
    Todos,
    ToolCall,
    Turn,
    Usage,
    every,
    is_open,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.events import Event

_ENDS: dict[str, Status] = {"done": "done", "stopped": "stopped", "failed": "failed"}
_STATES: dict[str, State] = {"ok": "ok", "error": "error", "stopped": "stopped"}
_FENCED = re.compile(r"(?s)(`{3,})diff\n(.*)\n\1")
_CUT_OFF = "The run was cut off."


class Draft:
    """One turn.

    Args:
        run: Id of its run.
        when: When it began.
        question: What was asked, as far as it is known.
    """

    def __init__(self, run: str, when: float, question: str = "") -> None:
        self.run, self.when, self.question = run, when, question
        self._end: Status | None = None if run else "done"  # what is of no run just happened
        self._why = ""
        self._seconds: float | None = None
        self._usage = Usage()
        self._steps = Outline()
        self._parts: dict[str, dict[str, list[str]]] = {}  # of messages that are being written
        self._readers: dict[str, Callable[[Event, dict[str, Any]], None]] = {
            "message": self._message,
            "node": self._node,
            "tool_call": self._tool_call,
            "tool_result": self._tool_result,
            "todos": self._todos,
            "file": self._file,
            "subagent_started": self._subagent_started,
            "subagent_ended": self._subagent_ended,
            "interrupt_opened": self._interrupt_opened,
            "interrupt_closed": self._interrupt_closed,
            "usage": self._used,
            "warning": self._notice,
            "error": self._notice,
            "run_ended": self._run_ended,
        }

    def read(self, event: Event) -> None:
        """Take in an event of this run, `queued` and `run_started` apart."""
        if event.kind in {"token", "reasoning"}:
            self._token(event)
        elif reader := self._readers.get(event.kind):
            reader(event, legible_json(event.data))

    def resume(self) -> None:
        """Go on: what was being written when the run was cut off stays as it is."""
        self._end, self._why = None, ""
        self._settle("cut")

    def remark(self, event: Event) -> None:
        """Note what a person has said that the agent has not read yet."""
        text = _text(event.data, "text")
        self._steps.add(event, Remark(text, heard=False), ("remark", text))

    def turn(self, *, superseded: bool) -> Turn:
        """Give what was read so far; `superseded` if a later run has begun.

        There is one run at a time, so that one which never ended was cut off before the next.
        """
        status, why = self._end or "running", self._why
        if self._end is None and superseded:
            status, why = "stopped", _CUT_OFF
        ended = status != "running"
        self._settle("cut" if ended else "writing")
        steps = self._steps.frozen(ended=ended)
        if not ended and any(is_open(step) for step in every(steps)):
            status = "waiting"
        answer = _answer(steps, done=status == "done")
        return Turn(
            run=self.run,
            question=self.question,
            when=self.when,
            status=status,
            why=why,
            steps=tuple(step for step in steps if step is not answer),
            answer=answer,
            usage=self._usage,
            seconds=self._seconds,
        )

    def _token(self, event: Event) -> None:
        message = f"{event.call} {_text(event.data, 'id')}"
        if message not in self._parts:
            self._parts[message] = {"token": [], "reasoning": []}
            self._steps.add(event, Text("", state="writing"), ("text", message))
        if isinstance(text := event.data.get("text"), str):
            # Made legible at the end: a character may have been cut in two.
            self._parts[message][event.kind].append(text)

    def _message(self, event: Event, data: dict[str, Any]) -> None:
        identity, text = _text(data, "id"), _text(data, "text")
        if _text(data, "role") == "user":
            self._said(event, identity, text)
            return
        # A graph and a subgraph that share a conversation share its messages too.
        message = f"{event.call} {identity}"
        parts = self._parts.pop(message, None)
        thought = _text(data, "reasoning") or (
            legible("".join(parts["reasoning"])) if parts else ""
        )
        said = Text(text, thought, "cut" if data.get("cut_off") else "whole")
        if (parts or identity) and ("text", message) in self._steps:
            self._steps.put(("text", message), said)
        else:
            self._steps.add(event, said, ("text", message))

    def _node(self, event: Event, data: dict[str, Any]) -> None:
        """What a node says of its reasoning, in place of what it has drafted."""
        thought = "" if data.get("aside") else _text(data, "text")
        for draft in data.get("drafts") or ():
            message = f"{event.call} {draft}"
            if self._parts.pop(message, None):
                self._steps.put(("text", message), Text("", thought))
                thought = ""
        if thought:
            self._steps.add(event, Text("", thought))

    def _said(self, event: Event, message: str, text: str) -> None:
        """A person's message: the question itself, or a remark."""
        if event.call:  # what one agent said to another, which is the task
            return
        self.question = self.question or text
        if ("remark", text) in self._steps:
            self._steps.put(("remark", text), Remark(text, heard=True))
        elif message != self.run and text != self.question:
            self._steps.add(event, Remark(text, heard=True), ("remark", text))

    def _tool_call(self, event: Event, data: dict[str, Any]) -> None:
        call, args = _text(data, "id"), data.get("args") or {}
        args = args if isinstance(args, dict) else {"args": args}
        known = self._steps.get(("call", call)) if call else None
        if known is None:
            self._steps.add(event, ToolCall(call, legible(event.name), args), ("call", call))
        elif isinstance(known, ToolCall):  # begun again, after a pause
            self._steps.put(("call", call), replace(known, args=args))

    def _tool_result(self, event: Event, data: dict[str, Any]) -> None:
        call, text = _text(data, "id"), _text(data, "text")
        state, seconds = _STATES.get(_text(data, "status"), "ok"), _number(data, "seconds")
        known = self._steps.get(("call", call))
        if isinstance(known, Subagent):  # how long it took and how it ended, it says itself
            self._steps.put(("call", call), replace(known, result=text))
            return
        if not isinstance(known, ToolCall):
            known = ToolCall(call, legible(event.name), {})
            self._steps.add(event, known, ("call", call))
        known = replace(known, state=state, result=text, seconds=seconds)
        self._steps.put(("call", call), known)

    def _todos(self, event: Event, data: dict[str, Any]) -> None:
        found, by = data.get("todos"), _text(data, "by")
        items = tuple(
            (_text(item, "content"), _text(item, "status"))
            for item in (found if isinstance(found, list) else [])
            if isinstance(item, dict)
        )
        self._steps.add(event, Todos(items, "" if by in {"agent", event.agent} else by))

    def _file(self, event: Event, data: dict[str, Any]) -> None:
        diff = _text(data, "diff")
        if fenced := _FENCED.fullmatch(diff.strip()):  # as it was shown for approval
            diff = fenced[2]
        path = _text(data, "path") or legible(event.name)
        self._steps.add(event, FileChange(path, _text(data, "action"), diff))

    def _subagent_started(self, event: Event, data: dict[str, Any]) -> None:
        call = _text(data, "id") or legible(event.call) or f"event {event.seq}"
        # The event is the subagent's own, or its caller's about it.
        name = event.agent if event.call == call else event.name or event.agent
        self._steps.call(event, call, name, _text(data, "text"))

    def _subagent_ended(self, event: Event, data: dict[str, Any]) -> None:
        key = ("call", _text(data, "id"))
        state, seconds = _STATES.get(_text(data, "status"), "ok"), _number(data, "seconds")
        if isinstance(known := self._steps.get(key), Subagent):
            self._steps.put(key, replace(known, state=state, seconds=seconds))

    def _interrupt_opened(self, event: Event, data: dict[str, Any]) -> None:
        key = ("ask", _text(data, "id"))
        known = self._steps.get(key)
        # Questions of one node that follow each other have one id.
        if known is None or not is_open(known):
            self._steps.add(event, Question(key[1], data.get("request")), key)

    def _interrupt_closed(self, event: Event, data: dict[str, Any]) -> None:
        key, by = ("ask", _text(data, "id")), _text(data, "by") or "somebody"
        known = self._steps.get(key)
        if known is None:
            known = Question(key[1], data.get("request"))
            self._steps.add(event, known, key)
        if is_open(known):
            self._steps.put(key, replace(known, answer=data.get("answer"), by=by))

    def _used(self, event: Event, data: dict[str, Any]) -> None:
        so_far, cost = self._usage, _number(data, "cost")
        self._usage = Usage(
            so_far.calls + 1,
            so_far.tokens_in + int(_number(data, "tokens_in") or 0),
            so_far.tokens_out + int(_number(data, "tokens_out") or 0),
            None if cost is None or so_far.cost is None else so_far.cost + cost,
        )

    def _notice(self, event: Event, data: dict[str, Any]) -> None:
        level: Literal["warning", "error"] = "error" if event.kind == "error" else "warning"
        self._steps.add(event, Notice(level, _text(data, "text"), _text(data, "type")))

    def _run_ended(self, event: Event, data: dict[str, Any]) -> None:
        self._end = _ENDS.get(_text(data, "status"), "stopped")
        self._why = _text(data, "text")
        seconds = _number(data, "seconds")
        if seconds is not None:  # a run that was resumed has ended more than once
            self._seconds = (self._seconds or 0.0) + seconds

    def _settle(self, state: Literal["writing", "cut"]) -> None:
        """Make texts of the parts that no message has followed."""
        for message, parts in self._parts.items():
            text, thought = (legible("".join(parts[kind])) for kind in ("token", "reasoning"))
            self._steps.put(("text", message), Text(text, thought, state))
        self._parts.clear()


def _answer(steps: tuple[Step, ...], *, done: bool) -> Text | None:
    for step in reversed(steps):
        if isinstance(step, Text) and step.text.strip():
            return step
        if isinstance(step, ToolCall | Subagent | Question) and not done:
            return None
    return None


def _text(data: dict[str, Any], key: str) -> str:
    return legible(data.get(key))


def _number(data: dict[str, Any], key: str) -> float | None:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value
