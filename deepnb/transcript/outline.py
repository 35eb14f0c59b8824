"""The steps of a turn while they come in: who did them, and where a later event finds them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deepnb.transcript.legible import legible
from deepnb.transcript.steps import Step, Subagent, Text, ToolCall, is_open

if TYPE_CHECKING:
    from deepnb.events import Event

Key = tuple[str, str]
"""What kind of step it is, and its id."""


class Outline:
    """Lists of steps: one of the session's own agent, and one for each subagent, by its call."""

    def __init__(self) -> None:
        self._steps: dict[str, list[Step]] = {"": []}
        self._places: dict[Key, tuple[list[Step], int]] = {}
        self._calls: dict[str, str] = {}  # the last call of a subagent, by its name

    def __contains__(self, key: Key) -> bool:
        return key in self._places

    def get(self, key: Key) -> Step | None:
        """The last step that was added with that key."""
        steps, index = self._places.get(key, ([], 0))
        return steps[index] if steps else None

    def put(self, key: Key, step: Step) -> None:
        """Replace the step that has that key."""
        steps, index = self._places[key]
        steps[index] = step

    def add(self, event: Event, step: Step, key: Key | None = None) -> None:
        """Add a step of the agent whose event it is."""
        if (call := legible(event.call)) not in self._steps:
            self.call(event, call, event.agent)  # nobody has announced it
        self._append(self._steps[call], step, key)

    def call(self, event: Event, call: str, name: str, task: str = "") -> None:
        """Put a subagent where its tool call is, or else among the steps of its caller."""
        known = self.get(("call", call))
        if isinstance(known, Subagent):  # goes on after a pause
            self.put(("call", call), replace(known, state="running", task=known.task or task))
            return
        subagent = Subagent(call, legible(name), task)
        if isinstance(known, ToolCall):
            self.put(("call", call), subagent)
        else:
            caller = event.call if event.call != call else self._calls.get(event.parent, "")
            steps = self._steps.get(caller, self._steps[""])
            self._append(steps, subagent, ("call", call))
        self._steps[call] = []
        self._calls[name] = call

    def _append(self, steps: list[Step], step: Step, key: Key | None) -> None:
        if key:
            self._places[key] = (steps, len(steps))
        steps.append(step)

    def frozen(self, *, ended: bool, call: str = "") -> tuple[Step, ...]:
        """All steps that say something; after the end, nothing runs or waits any more."""
        return tuple(
            self._frozen(step, ended=ended)
            for step in self._steps[call]
            if not isinstance(step, Text) or step.text.strip() or step.reasoning.strip()
        )

    def _frozen(self, step: Step, *, ended: bool) -> Step:
        if is_open(step) and ended:
            return replace(step, by="stop")
        if not isinstance(step, ToolCall | Subagent):
            return step
        state = "stopped" if ended and step.state == "running" else step.state
        if isinstance(step, ToolCall):
            return replace(step, state=state)
        return replace(step, state=state, steps=self.frozen(ended=ended, call=step.id))
