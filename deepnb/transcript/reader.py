"""Events in, turns out.

An event may lack anything that its kind should have: a log outlives the version that wrote it, and
graphs that are not deepnb's put into it what they like. Nothing here raises because of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.transcript.draft import Draft
from deepnb.transcript.legible import legible
from deepnb.transcript.steps import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.events import Event


_MOST = 50
"""Turns in the output of a cell: what is saved with each notebook must not grow without end."""


def turns(events: Iterable[Event]) -> list[Turn]:
    """Read a session's events, in their order, as a conversation: one turn for each run."""
    reader = _Reader()
    for event in events:
        reader.read(event)
    return reader.turns()


def latest(events: Sequence[Event], most: int = _MOST) -> tuple[list[Turn], int]:
    """Read the last turns alone, and give how many are before them."""
    starts = [
        place
        for place, event in enumerate(events)
        if event.kind == "run_started" and not event.data.get("resumed")
    ]
    before = max(0, len(starts) - most)
    return turns(events[starts[before] :] if before else events), before


class _Reader:
    def __init__(self) -> None:
        self._drafts: dict[str, Draft] = {}
        self._current = ""
        self._queued: list[Turn] = []

    def read(self, event: Event) -> None:
        if event.kind == "queued":
            self._queue(event)
        elif event.kind == "run_started":
            self._start(event)
        elif event.kind == "run_ended" and event.data.get("withdrawn"):
            self._queued = [turn for turn in self._queued if turn.run != event.run]
        else:
            # What happens between runs stands behind the last of them.
            self._draft(event.run or self._current, event).read(event)

    def turns(self) -> list[Turn]:
        begun = [draft.turn(superseded=run != self._current) for run, draft in self._drafts.items()]
        return [*begun, *self._queued]

    def _queue(self, event: Event) -> None:
        if event.data.get("steer") and self._current in self._drafts:
            self._drafts[self._current].remark(event)
        else:
            text = legible(event.data.get("text"))
            self._queued.append(Turn(event.run, text, event.time, "queued"))

    def _start(self, event: Event) -> None:
        if event.run in self._drafts:
            self._drafts[event.run].resume()
        self._draft(event.run, event)
        self._current = event.run

    def _draft(self, run: str, event: Event) -> Draft:
        """The turn of a run; one that was queued may also end without having begun."""
        if run not in self._drafts:
            waited = next((turn for turn in self._queued if turn.run == run), None)
            if waited:
                self._queued.remove(waited)
            else:
                self._current = run
            asked = event.data.get("text") if event.kind == "run_started" else None
            question = legible(asked) or (waited.question if waited else "")
            self._drafts[run] = Draft(run, event.time, question)
        return self._drafts[run]
