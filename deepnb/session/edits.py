"""Arguments that a person has edited, without what their page could not show or say.

A page knows a question from the log, which holds no secrets, and reads numbers as JavaScript does.
What it sends back of arguments that nobody has touched may therefore differ from what they are.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from deepnb.errors import AnswerError
from deepnb.events import plain
from deepnb.models.cassette.masking import MASK

if TYPE_CHECKING:
    from deepnb.session.questions import Question


def as_meant(answer: Any, question: Question, told: Any) -> Any:
    """Give an answer with the true values of the arguments that were not edited.

    Args:
        answer: As it came; whether it fits is not looked at here.
        question: What is answered.
        told: The question as the log has it.

    Raises:
        AnswerError: A text was edited of which the person has not seen all.
    """
    if question.type != "tool_approval" or not isinstance(answer, dict):
        return answer
    if not isinstance(answer.get("decisions"), list):
        return _decision(answer, question, told, 0)
    decisions = [_decision(d, question, told, n) for n, d in enumerate(answer["decisions"])]
    return {**answer, "decisions": decisions}


def _decision(decision: Any, question: Question, told: Any, number: int) -> Any:
    edited = decision.get("edited_action") if isinstance(decision, dict) else None
    if not isinstance(edited, dict) or not isinstance(edited.get("args"), dict):
        return decision
    if number >= len(question.tools):
        return decision
    args = true_arguments(edited["args"], question, told, number)
    return {**decision, "edited_action": {**edited, "args": args}}


def true_arguments(
    args: dict[str, Any], question: Question, told: Any, number: int
) -> dict[str, Any]:
    """Give the arguments of one action with the true values of those that were not edited."""
    original = question.request["action_requests"][number].get("args") or {}
    shown = told["action_requests"][number].get("args") or {} if told else original
    meant = {}
    for name, value in args.items():
        if name in shown and name in original and _is_same(value, plain(shown[name])):
            value = original[name]  # noqa: PLW2901  # as it really is
        elif MASK in str(value) and shown.get(name) != original.get(name):
            raise AnswerError(
                f"{name} holds {MASK}, which stands for something that is not shown. Leave that "
                "argument as it is, or write all of it anew. The question is still open."
            )
        meant[name] = value
    return meant


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same to a page, where all numbers are floats."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if _is_number(one) and _is_number(other):
        with suppress(OverflowError):  # too large for a float, and for a page
            return float(one) == float(other)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
