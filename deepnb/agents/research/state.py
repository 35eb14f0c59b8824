"""What the research graph knows, and how what its nodes write comes together.

What grows with a conversation is in channels that store what was added: the whole is stored after
every hundred additions, and not again at every step.
"""

from __future__ import annotations

import time
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, TypedDict

from langchain_core.messages import AnyMessage  # noqa: TC002  # LangGraph reads it
from langgraph.channels.delta import DeltaChannel

from deepnb.agents.state import merge_messages
from deepnb.citations.shapes import Checked, Reading, Source  # noqa: TC001  # the same
from deepnb.interrupts import Audit, Plan, PlanStep  # noqa: TC001  # the same
from deepnb.middleware.payment import PaymentKeys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEPT_ENTRIES = 20
"""Of the reasoning, in state; the whole record is the trace."""


class Entry(TypedDict):
    """What a node has done and why, in a sentence or two.

    `aside` if a conversation need not show it: its calls and questions tell the same.
    """

    node: str
    time: float
    summary: str
    aside: NotRequired[bool]


class StepResult(TypedDict, total=False):
    """What came of a step of the plan.

    `readings` is what its tool has read, until it is registered; from then on `found` says which
    passages those are: the ids of sources, and the numbers of their passages.
    """

    status: Literal["ok", "failed", "refused"]
    error: str
    readings: list[Reading]
    found: list[tuple[str, int]]
    external: int


StepResults = list[tuple[str, StepResult]]
"""By the ids of their steps. No dict: LangGraph takes one for a message if an id is "type"."""


class Todo(TypedDict):
    """A step of the plan as the todo list shows it."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


def with_entries(entries: list[Entry], writes: Sequence[list[Entry]]) -> list[Entry]:
    """Append, and keep the last ones."""
    return [*entries, *chain.from_iterable(writes)][-KEPT_ENTRIES:]


def with_results(
    results: dict[str, StepResult], writes: Sequence[StepResults | None]
) -> dict[str, StepResult]:
    """Add the results of steps that ran side by side; None begins anew."""
    for new in writes:
        results = {} if new is None else {**results, **dict(new)}
    return results


def with_sources(
    sources: dict[str, Source], writes: Sequence[Mapping[str, Source]]
) -> dict[str, Source]:
    """Put what was read anew, or further, in the place of what was known of it."""
    return dict(chain.from_iterable(each.items() for each in (sources, *writes)))


class ResearchState(PaymentKeys):
    """What a conversation has come to; but for messages and sources, by its last question.

    Attributes:
        messages: The conversation: questions, and what a person has said while it was at work.
        question: What is being answered.
        asked: Id of the message that asked it.
        plan: How, as far as it is decided.
        audit: What came of checking that plan.
        objections: Why plans were refused, by the audit or by the person.
        refusals: How often the audit has refused one.
        results: What came of each step, by its id.
        sources: Everything that was read in this conversation, by id.
        todos: The steps, and how far they are.
        reasoning: What the nodes have done and why.
        draft: The report before its citations are checked.
        gaps: What goes below it about the search itself.
        report: And after it.
    """

    messages: Annotated[list[AnyMessage], DeltaChannel(merge_messages)]
    question: str
    asked: str
    plan: Plan | None
    audit: Audit | None
    objections: list[str]
    refusals: int
    results: Annotated[dict[str, StepResult], DeltaChannel(with_results)]
    sources: Annotated[dict[str, Source], DeltaChannel(with_sources)]
    todos: list[Todo]
    reasoning: Annotated[list[Entry], DeltaChannel(with_entries)]
    draft: str
    gaps: str
    report: Checked | None


class Errand(TypedDict):
    """What a step is sent out with; `external` is how many requests there were before."""

    step: PlanStep
    question: str
    asked: str
    given: dict[str, list[Reading]]
    external: int


def entry(node: str, summary: str, *, aside: bool = False) -> list[Entry]:
    """Make what a node adds to the reasoning."""
    made: Entry = {"node": node, "time": time.time(), "summary": summary}
    return [{**made, "aside": True} if aside else made]
