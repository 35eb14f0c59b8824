"""Questions that a run has put to a person, and the ways to answer them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from deepnb.errors import AnswerError, SessionError
from deepnb.events import short
from deepnb.interrupts import (
    Answer,
    ApprovalAnswer,
    BudgetAnswer,
    ChoiceAnswer,
    ClientToolAnswer,
    PaymentAnswer,
    PlanAnswer,
    TextAnswer,
    explain_invalid,
)
from deepnb.session.packing import packed
from deepnb.transcript.questions import asked

if TYPE_CHECKING:
    import builtins

Respond: TypeAlias = str | Callable[["Question"], Any] | Mapping[str, Any] | None
"""Who answers in place of a person: `"approve"`, `"reject"`, a function, or answers by tool."""


def in_one_form(request: Any) -> Any:
    """Give langchain's question about one call, which it takes one decision for, the usual form."""
    if not isinstance(request, dict) or request.get("type") != "tool_approval":
        return request
    if not isinstance(name := request.get("name"), str):
        return request
    action = {"name": name, "args": request.get("args", {}), "description": ""}
    action["description"] = str(request.get("description", ""))
    # What is not allowed here is known to langchain alone, which will refuse it.
    review = {"action_name": name, "allowed_decisions": list(_DECISIONS)}
    return {
        "type": "tool_approval",
        "action_requests": [action],
        "review_configs": [review],
        "single": True,
    }


def _is_approval(request: Mapping[str, Any]) -> bool:
    actions, reviews = request.get("action_requests"), request.get("review_configs")
    return (
        isinstance(actions, list)
        and isinstance(reviews, list)
        and len(actions) == len(reviews) > 0
        and all(isinstance(action, dict) and "name" in action for action in actions)
        and all(isinstance(review, dict) and "allowed_decisions" in review for review in reviews)
    )


def _is_plan(request: Mapping[str, Any]) -> bool:
    plan, tools = request.get("plan"), request.get("tools", [])
    steps = plan.get("steps") if isinstance(plan, dict) else None
    return (
        isinstance(steps, list)
        and len(steps) > 0
        and all(isinstance(step, dict) and isinstance(step.get("tool"), str) for step in steps)
        and isinstance(tools, list)
        and all(isinstance(tool, str) for tool in tools)
    )


_USED_UP: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "budget_exhausted": lambda request: (
        f"more budget ({request['spent']:g} {request.get('unit')} are spent)"
    ),
    "payment_exhausted": lambda request: (
        f"more money ({request['price']} sat a call, {request['balance']} left)"
    ),
}
"""What a run waits for that may not spend any more, in words."""
_DECISIONS = ("approve", "edit", "reject", "respond")
_SHAPES: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "tool_approval": _is_approval,
    "client_tool_execution": lambda request: isinstance(request.get("tool"), str),
    "clarification_request": lambda request: (
        isinstance(request.get("question"), str)
        and isinstance(request.get("options"), list)
        and request.get("tool") in ("ask_user", "ask_choices")
    ),
    "plan_approval": _is_plan,
    "budget_exhausted": lambda request: isinstance(request.get("spent"), int | float),
    "payment_exhausted": lambda request: (
        isinstance(request.get("price"), int)
        and isinstance(request.get("balance"), int)
        and isinstance(request.get("mints"), list)
    ),
}
"""Any graph may ask anything: only what has the shape of a question is taken for one of ours."""


@dataclass(frozen=True)
class Question:
    """Something that a run waits for.

    Attributes:
        id: What `Session.respond` takes.
        request: What is asked, as in `deepnb.interrupts`; a graph that is not deepnb's may ask
            in any form.
        agent: Who asks.
        parent: Who called that agent.
        call: Id of the call that did.
    """

    id: str
    request: Any
    agent: str
    parent: str = ""
    call: str = ""

    @property
    def type(self) -> str:
        """What kind of question it is; "question" if it is none that deepnb knows."""
        if not isinstance(self.request, dict):
            return "question"
        # langchain's own approvals have no type.
        named = "tool_approval" if "action_requests" in self.request else self.request.get("type")
        shape = _SHAPES.get(str(named))
        return str(named) if shape and shape(self.request) else "question"

    @property
    def tools(self) -> list[str]:
        """The tools that it is about."""
        if self.type == "tool_approval":
            return [str(action["name"]) for action in self.request["action_requests"]]
        tool = self.request.get("tool") if isinstance(self.request, dict) else None
        return [str(tool)] if tool else []

    def __str__(self) -> str:
        if self.type == "tool_approval":
            return f"approval of {', '.join(self.tools)}"
        if self.type == "clarification_request":
            return f"an answer to {short(self.request['question'], 100)!r}"
        if self.type == "client_tool_execution":
            return f"your browser to run {self.tools[0]}"
        if self.type == "plan_approval":
            steps = len(self.request["plan"]["steps"])
            return f"approval of a plan with {steps} step{'s' if steps > 1 else ''}"
        if self.type in _USED_UP:
            return _USED_UP[self.type](self.request)
        return f"an answer to {short(asked(self.request), 100)!r}"

    def checked(self, answer: Any) -> Any:
        """Bring an answer into the form that the graph takes.

        A word will do where only one form is possible: "approve" or "reject" for an approval, of
        calls or of a plan, a text for a question, a list of ids for a choice, "stop" for money.

        Raises:
            AnswerError: It does not fit; the question stays open.
        """
        shape = self._shape()
        if shape is None:
            return answer
        try:
            checked = shape.model_validate(self._spelled_out(answer))
            checked.fit(self.request)
        except (ValidationError, ValueError) as error:
            raise explain_invalid(error) from None
        plain = checked.model_dump(exclude_unset=True)
        is_single = "decisions" in plain and self.request.get("single") is True
        return plain["decisions"][0] if is_single else plain

    def _shape(self) -> builtins.type[Answer] | None:
        if self.type == "clarification_request":
            return TextAnswer if self.request["tool"] == "ask_user" else ChoiceAnswer
        shapes: dict[str, builtins.type[Answer]] = {
            "tool_approval": ApprovalAnswer,
            "client_tool_execution": ClientToolAnswer,
            "plan_approval": PlanAnswer,
            "budget_exhausted": BudgetAnswer,
            "payment_exhausted": PaymentAnswer,
        }
        return shapes.get(self.type)

    def _spelled_out(self, answer: Any) -> Any:
        if self.type in ("tool_approval", "plan_approval"):
            return self._decided(answer)
        if self.type == "clarification_request":
            if isinstance(answer, str) and self.request["tool"] == "ask_user":
                return {"response": answer}
            if isinstance(answer, str | list):
                return {"selected": [answer] if isinstance(answer, str) else answer}
        elif self.type == "budget_exhausted" and isinstance(answer, int | float):
            return {"raise_to": answer}
        elif self.type == "payment_exhausted" and isinstance(answer, str):
            return {"stop": True} if answer == "stop" else {"token": answer}
        return answer

    def _decided(self, answer: Any) -> Any:
        is_plan = self.type == "plan_approval"
        if isinstance(answer, str):
            if answer not in (_DECISIONS if not is_plan else ("approve", "reject")):
                raise ValueError("that is no decision; approve or reject, for example")
            if is_plan:
                return {"approved": answer == "approve"}
            return {"decisions": [{"type": answer} for _ in self.tools]}
        if isinstance(answer, dict) and "type" in answer and not is_plan:
            return {"decisions": [answer]}
        return answer

    def public(self, answer: Any) -> Any:
        """Give what of an answer may be written into the log: no file's content, no secret."""
        if self.type not in ("client_tool_execution", "question"):
            return short(answer)
        return dict.fromkeys(answer, "…") if isinstance(answer, dict) else "…"


@dataclass(frozen=True)
class Closed:
    """A question that was answered.

    Attributes:
        question: What was asked.
        shown: What of the answer is in the log.
        exactly: The answer, serialised; empty after a restart, when only the log is known.
    """

    question: Question
    shown: Any
    exactly: bytes = b""

    def is_answered_by(self, answer: Any) -> bool:
        """Whether this is the answer that was given."""
        try:
            checked = self.question.checked(answer)
            if self.exactly:
                return packed(checked) == self.exactly
        except (AnswerError, SessionError):
            return False
        return bool(self.question.public(checked) == self.shown)


class Policy:
    """Answers in place of a person.

    Args:
        respond: `"approve"` and `"reject"` decide about calls and plans; `"reject"` also ends
            what has used up its budget or its money. A mapping answers by the tool that is asked
            about, or by the type of the question. A function is given the `Question`. Whatever has
            no answer here, or a function answers with None, stays open for a person.

    Raises:
        AnswerError: It is none of these.
    """

    def __init__(self, respond: Respond) -> None:
        if not (respond in (None, "approve", "reject") or callable(respond)) and not isinstance(
            respond, Mapping
        ):
            raise AnswerError(
                f"respond= cannot be this {type(respond).__name__}: pass 'approve', 'reject', a "
                "function of the question, or answers by tool such as {'write_file': 'approve'}."
            )
        self._respond = respond

    @property
    def is_given(self) -> bool:
        """Whether there is anybody to ask."""
        return self._respond is not None

    async def answer(self, question: Question) -> Any:
        """Give an answer, or None to leave the question to a person."""
        if callable(self._respond):
            return await _called(self._respond, question)
        if isinstance(self._respond, Mapping):
            return await self._by_tool(self._respond, question)
        if question.type in ("tool_approval", "plan_approval"):
            return self._respond
        if question.type in _USED_UP and self._respond == "reject":
            return {"stop": True}
        return None

    async def _by_tool(self, answers: Mapping[str, Any], question: Question) -> Any:
        tools = question.tools
        if not tools or any(tool not in answers for tool in tools):
            return await _given(answers.get(question.type), question)
        given = [await _given(answers[tool], question) for tool in tools]
        if None in given or question.type != "tool_approval":
            return given[0] if None not in given else None
        return {"decisions": [{"type": one} if isinstance(one, str) else one for one in given]}


async def _given(answer: Any, question: Question) -> Any:
    return await _called(answer, question) if callable(answer) else answer


async def _called(function: Callable[[Question], Any], question: Question) -> Any:
    # Off the event loop: it may well ask a person.
    answer = await asyncio.to_thread(function, question)
    return await answer if inspect.isawaitable(answer) else answer
