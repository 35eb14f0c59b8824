"""`deepnb show`: a conversation to read, whoever has it open."""

from __future__ import annotations

import shlex
import sys
from itertools import groupby
from typing import TYPE_CHECKING

from deepnb.cli.answers import with_conflicts
from deepnb.cli.paint import Paint
from deepnb.cli.steps import steps
from deepnb.cli.threads import folder
from deepnb.record import read_events
from deepnb.transcript import turns
from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.questions import asked
from deepnb.transcript.rows import Code, Fields, Nested, Prose, Row, turn_answer, turn_rows
from deepnb.transcript.wording import explanation, facts, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deepnb.events import Event
    from deepnb.transcript import Turn


def show(thread: str, workspace: str, *, with_steps: bool) -> None:
    """Print a thread's conversation, with what was done if `with_steps`."""
    paint = Paint(sys.stdout)
    events = read_events(folder(workspace), thread)
    conversation = turns(events)
    for turn in conversation:
        print("\n".join(_turn(turn, events, paint, with_steps=with_steps)), end="\n\n")
    if any(turn.pending for turn in conversation):
        command = ["deepnb", "ask", "--thread", thread, "--workspace", workspace]
        print(f"To answer, on a terminal: {legible(shlex.join(command))}")


def _turn(turn: Turn, events: Sequence[Event], paint: Paint, *, with_steps: bool) -> Iterator[str]:
    yield paint.bold(paint.wrapped(f"? {turn.question}"))
    yield paint.dim(" · ".join(filter(None, [moment(turn.when), *facts(turn)])))
    if with_steps:
        yield from map(paint.dim, _steps(turn_rows(turn)))
    if answer := turn_answer(turn):
        yield f"\n{paint.markdown(with_conflicts(answer.text, events, turn.run))}"
        yield from filter(None, [answer.note])
    yield from (f"\n! {asked(question.request)}" for question in turn.pending)
    if why := explanation(turn):
        yield f"\n{paint.wrapped(f'! {why}')}"


def _steps(rows: Iterable[Row | Prose], indent: str = "") -> Iterator[str]:
    """Give each step a line; those of subagents are indented."""
    for are_calls, group in groupby(rows, key=_is_call):
        if are_calls:
            yield from (f"{indent}{line}" for line in _calls(group))
            continue
        for row in group:
            yield f"{indent}  {_line(row)}"
            for block in row.more if isinstance(row, Row) else ():
                if isinstance(block, Nested):
                    yield from _steps(block.rows, f"{indent}  ")


def _is_call(row: Row | Prose) -> bool:
    return isinstance(row, Row) and row.icon == "tool"


def _calls(rows: Iterable[Row | Prose]) -> Iterator[str]:
    """Show tool calls as they were shown while they were made."""
    calls, results = [], {}
    for place, row in enumerate(row for row in rows if isinstance(row, Row)):
        args = next((block.values for block in row.more if isinstance(block, Fields)), {})
        result = next((block.text for block in row.more if isinstance(block, Code)), row.outcome)
        calls.append({"id": str(place), "name": row.title, "args": args})
        results[str(place)] = result
    return steps(calls, results)


def _line(row: Row | Prose) -> str:
    if isinstance(row, Prose):
        return one_line(row.text)
    return f"{row.title} {row.object}{' → ' * bool(row.outcome)}{row.outcome}"
