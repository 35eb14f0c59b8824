"""What a session is doing, while it does it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any, TextIO

from deepnb.cli.paint import Paint, fitted
from deepnb.cli.steps import step, steps
from deepnb.transcript.legible import one_line
from deepnb.transcript.questions import asked, decided
from deepnb.transcript.wording import duration, price

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.events import Event

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ERASE = "\r\x1b[2K"
_TAIL, _REMEMBERED = 40, 400


@dataclass
class _Round:
    """Tool calls of one agent that are shown together, once all of them are done."""

    agent: str
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return all(call["id"] in self.results for call in self.calls)


class Progress:
    """Prints what has been done and, on a terminal, redraws a line that says what is being done.

    Everything is printed by whoever calls `see` and `draw`, so that no two threads share the line.

    Args:
        stream: Where to print.
        asked: What the person has just typed, which need not be repeated.
        decides: The option that answers in the person's place, if they have given one.
    """

    def __init__(self, stream: TextIO, asked: str = "", decides: str | None = None) -> None:
        self._stream = stream
        self._asked = asked
        self._decides = decides
        self._paint = Paint(stream)
        self._spinner = cycle(_SPINNER)
        self._began = time.monotonic()
        self._rounds: dict[str, _Round] = {}
        self._under_way: dict[str, str] = {}
        self._requests: dict[str, Any] = {}
        self._said = ""  # by the session's own agent; its answer, unless it goes on working
        self._writing = ("thinking", "")
        self._tokens = 0
        self._cost: float | None = 0.0
        self._readers = {
            "run_started": self._run_started,
            "token": self._text,
            "reasoning": self._text,
            "message": self._message,
            "tool_call": self._tool_call,
            "tool_result": self._tool_result,
            "subagent_started": self._subagent_started,
            "interrupt_opened": self._interrupt_opened,
            "interrupt_closed": self._interrupt_closed,
            "usage": self._usage,
            "warning": self._warning,
        }

    def see(self, event: Event) -> None:
        """Take note of an event."""
        if read := self._readers.get(event.kind):
            read(event)

    def draw(self) -> None:
        """Print the rounds of tool calls that are complete, and redraw the line."""
        for key, round_ in list(self._rounds.items()):
            if round_.is_done:
                del self._rounds[key]
                for line in steps(round_.calls, round_.results):
                    self._print(self._paint.dim(f"  {round_.agent}{line.lstrip()}"))
        if self._paint.is_terminal:
            line = f"{next(self._spinner)} {self._status()}"
            self._write(f"{_ERASE}{self._paint.dim(fitted(line, self._paint.columns - 1))}")

    def clear(self) -> None:
        """Take the line away: something else is to be printed."""
        if self._paint.is_terminal:
            self._write(_ERASE)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the time inside out of what it took: a person thinks."""
        since = time.monotonic()
        try:
            yield
        finally:
            self._began += time.monotonic() - since

    def sum_up(self) -> None:
        """Say what it took."""
        self._print(f"\n{self._paint.dim(' · '.join(self._spent()))}")

    def _status(self) -> str:
        """Say what is being done, and what it takes."""
        doing, tail = self._writing
        if self._under_way:
            doing, tail = list(self._under_way.values())[-1], ""
            others = len(self._under_way) - 1
            doing += f" (+{others})" * bool(others)
        tail = one_line(tail, _REMEMBERED * 6)[-_TAIL:]
        return " · ".join([doing, *self._spent(), *[f"…{tail}"] * bool(tail)])

    def _spent(self) -> list[str]:
        spent = [duration(time.monotonic() - self._began)]
        spent += [f"{self._tokens:,} tokens"] * bool(self._tokens)
        return spent + ([price(self._cost)] if self._cost else [])

    def _print(self, text: str) -> None:
        self.clear()
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    # Events, by kind

    def _run_started(self, event: Event) -> None:
        if event.data["text"] != self._asked:
            self._print(self._paint.bold(f"? {one_line(event.data['text'], 500)}"))

    def _text(self, event: Event) -> None:
        doing, before = self._writing
        now = "thinking" if event.kind == "reasoning" else "writing"
        text = f"{before if doing == now else ''}{event.data['text']}"
        self._writing = (now, text[-_REMEMBERED:])

    def _message(self, event: Event) -> None:
        self._writing = ("thinking", "")
        if event.data["role"] == "assistant" and not event.parent:
            self._said = event.data["text"]

    def _tool_call(self, event: Event) -> None:
        if not event.parent and self._said:
            self._print(self._paint.markdown(self._said))
            self._said = ""
        agent = f"{one_line(event.agent)}: " if event.parent else ""
        args = event.data["args"]
        args = args if isinstance(args, dict) else {}  # a tool may take a bare text
        call = {"id": event.data["id"], "name": event.name, "args": args}
        self._rounds.setdefault(event.call, _Round(agent)).calls.append(call)
        self._under_way[call["id"]] = agent + step(event.name, args)

    def _tool_result(self, event: Event) -> None:
        self._under_way.pop(event.data["id"], None)
        if round_ := self._rounds.get(event.call):
            round_.results[event.data["id"]] = event.data["text"]

    def _subagent_started(self, event: Event) -> None:
        line = f"  {one_line(event.agent)}: {one_line(event.data['text'])}"
        self._print(self._paint.dim(fitted(line, self._paint.columns)))

    def _interrupt_opened(self, event: Event) -> None:
        self._requests[event.data["id"]] = event.data["request"]

    def _interrupt_closed(self, event: Event) -> None:
        request = self._requests.pop(event.data["id"], event.data.get("request"))
        if event.data["by"] != "person":  # who knows what they have decided
            by = event.data["by"]
            by = self._decides if by == "policy" and self._decides else by
            outcome = decided(request, event.data["answer"], by)
            self._print(self._paint.dim(f"  {asked(request)} → {outcome}"))

    def _usage(self, event: Event) -> None:
        cost = event.data["cost"]
        # A sum that leaves calls out would be lower than what is paid.
        self._cost = None if cost is None or self._cost is None else self._cost + cost
        self._tokens += (event.data["tokens_in"] or 0) + (event.data["tokens_out"] or 0)

    def _warning(self, event: Event) -> None:
        self._print(f"! {one_line(event.data['text'], 500)}")
