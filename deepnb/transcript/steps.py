"""A conversation as it is read: its turns, and what was done in each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterator

Status = Literal["queued", "running", "waiting", "done", "stopped", "failed"]
State = Literal["running", "ok", "error", "stopped"]
"""How a call stands; stopped means that it never came back."""


@dataclass(frozen=True, slots=True)
class Text:
    """What an agent wrote, and what it thought aloud before.

    Attributes:
        state: Whether all of it is here, more of it comes, or it ends where it was cut off.
    """

    text: str
    reasoning: str = ""
    state: Literal["whole", "writing", "cut"] = "whole"


@dataclass(frozen=True, slots=True)
class Remark:
    """What the person said while the run was under way; `heard` once the agent has read it."""

    text: str
    heard: bool


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, with what came of it."""

    id: str
    name: str
    args: dict[str, Any]
    state: State = "running"
    result: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that was created, changed or deleted; `diff` is unified, or says why there is none."""

    path: str
    action: str
    diff: str


@dataclass(frozen=True, slots=True)
class Todos:
    """The whole list after a change, as (content, status); `by` is empty for the agent's own."""

    items: tuple[tuple[str, str], ...]
    by: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person was asked, and what was decided; `by` is empty while it is open."""

    id: str
    request: Any
    answer: Any = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning or an error; `type` is the error's."""

    level: Literal["warning", "error"]
    text: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Subagent:
    """An agent that another one called, in place of the tool call that started it."""

    id: str
    name: str
    task: str = ""
    state: State = "running"
    result: str = ""
    seconds: float | None = None
    steps: tuple[Step, ...] = ()


Step = Text | Remark | ToolCall | FileChange | Todos | Question | Notice | Subagent


@dataclass(frozen=True, slots=True)
class Usage:
    """What models used; `cost` is None if the price of any call is not known.

    A sum that leaves calls out would be lower than what was paid.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, and what was done about it.

    Attributes:
        run: Id of the run.
        question: As it was asked.
        when: Seconds since 1970.
        status: How it stands; queued means that its run has not begun.
        why: What the run said about its end, if anything.
        steps: What was done, in order, without the answer.
        answer: The last that the session's own agent wrote. As long as the turn is not done, only
            if the agent has done nothing since: what it says before it acts is no answer.
        usage: Of all models, those of subagents included.
        seconds: How long it took, without waiting for answers; None if it has not ended.
    """

    run: str
    question: str
    when: float
    status: Status
    why: str = ""
    steps: tuple[Step, ...] = ()
    answer: Text | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None

    @property
    def pending(self) -> list[Question]:
        """The questions that wait for an answer."""
        if self.status != "waiting":
            return []
        return [step for step in every(self.steps) if is_open(step)]


def is_open(step: Step) -> TypeGuard[Question]:
    """Whether it is a question that nobody has answered."""
    return isinstance(step, Question) and not step.by


def every(steps: tuple[Step, ...]) -> Iterator[Step]:
    """All steps, those of subagents behind their subagent."""
    for step in steps:
        yield step
        if isinstance(step, Subagent):
            yield from every(step.steps)
