"""Where a branch begins, and what it takes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.errors import SessionError
from deepnb.session.core import Heritage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.events import Event
    from deepnb.session.engine import Engine


async def read_heritage(
    engine: Engine, thread: str, step: int | None, before: str | None
) -> Heritage:
    """Read what a branch begins with.

    Args:
        engine: Of the thread that it branches off from.
        thread: The name of that one.
        step: The state to begin with; None is the present.
        before: In place of a step, the id of a run that the branch is to know nothing of.

    Raises:
        SessionError: There is no such step or run.
    """
    events = engine.record.log.since(0)
    if before is not None:
        number = _start_of(before, events)
        asked = events[number]
        past = await engine.graph.read_past(asked.step) if asked.checkpoint else None
    else:
        past = await engine.graph.read_past(step)
        later = (number for number, event in enumerate(events) if past.is_before(event))
        number = len(events) if past.is_present else next(later, len(events))
    origin = f"{thread}, step {past.step}" if past else f"{thread}, its beginning"
    return Heritage(past, engine.record, number, origin)


def _start_of(run: str, events: Sequence[Event]) -> int:
    """Find the event that a run begins with, which names the checkpoint that it found."""
    of_run = [(number, event.kind) for number, event in enumerate(events) if event.run == run]
    if not of_run:
        raise SessionError(f"There is no run {run!r:.60} in this thread. session.runs has them.")
    for number, kind in of_run:
        if kind == "run_started":
            return number
    raise SessionError("That run was never begun, so there is nothing before it. Ask it again.")
