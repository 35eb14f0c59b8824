"""The plans that a model may make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model, model_validator

from deepnb.interrupts import Plan, PlanStep, check_order

if TYPE_CHECKING:
    from collections.abc import Collection

MOST_STEPS = 6

# Short, for a small model that is held to a form writes until the form is full.
Id = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Input = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=240)]


class Step(BaseModel):
    """One call of one tool."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: Id
    title: Words
    tool: Words
    input: Input
    rationale: Words
    depends_on: list[Id] = Field(default=[], max_length=MOST_STEPS)


class Draft(BaseModel):
    """A plan of research."""

    steps: list[Step] = Field(min_length=1, max_length=MOST_STEPS)

    @model_validator(mode="after")
    def _can_be_carried_out(self) -> Self:
        check_order([(step.id, step.depends_on) for step in self.steps])
        return self


def draft_for(tools: Collection[str]) -> type[Draft]:
    """Give the form of a plan that uses these tools and no others."""
    named: Any = Literal.__getitem__(tuple(tools))
    step = create_model("Step", __base__=Step, tool=(named, ...))
    steps: Any = (list[step], Field(min_length=1, max_length=MOST_STEPS))  # type: ignore[valid-type]  # made at run time
    return create_model("Plan", __base__=Draft, __doc__=Draft.__doc__, steps=steps)


def to_plan(question: str, draft: Draft) -> Plan:
    """Make it the plan that is audited, shown and carried out.

    Steps that would do the same are one: small models like to repeat themselves.
    """
    first: dict[tuple[str, str, tuple[str, ...]], str] = {}
    same = {
        step.id: first.setdefault((step.tool, step.input, tuple(step.depends_on)), step.id)
        for step in draft.steps
    }
    steps = []
    for step in draft.steps:
        if same[step.id] == step.id:
            before = list(dict.fromkeys(same[each] for each in step.depends_on))
            fields = step.model_dump() | {"depends_on": before}
            steps.append(PlanStep(**fields))  # type: ignore[typeddict-item]  # the same fields
    return {"question": question, "steps": steps}


def step_in_words(number: int, step: PlanStep) -> str:
    """Say what a step does, on one line."""
    after = f" (after {', '.join(step['depends_on'])})" if step["depends_on"] else ""
    return f"{number}. {step['title']}: {step['tool']}({step['input']!r}){after}"
