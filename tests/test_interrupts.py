"""A question stays open until it gets an answer that fits."""

from __future__ import annotations

import json
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, ValidationError

from deepnb.errors import AnswerError
from deepnb.interrupts import (
    BudgetAnswer,
    BudgetRequest,
    ChoiceAnswer,
    ClarificationRequest,
    ClientToolAnswer,
    ClientToolRequest,
    TextAnswer,
    ask,
    refusal,
)

CLIENT_TOOL = ClientToolRequest(
    type="client_tool_execution", tool="read_file", tool_call_id="call_1", args={"path": "/a.md"}
)
BUDGET = BudgetRequest(type="budget_exhausted", limit=1.0, spent=1.25)


def clarification(**changes: Any) -> ClarificationRequest:
    request = ClarificationRequest(
        type="clarification_request",
        tool="ask_choices",
        tool_call_id="call_2",
        question="Which lakes?",
        options=[{"id": "a", "label": "All"}, {"id": "b", "label": "Alpine"}],
        allow_multiple=False,
        allow_freeform=False,
    )
    return {**request, **changes}  # type: ignore[typeddict-item]  # a variation for one test


class State(TypedDict, total=False):
    answers: list[Any]


class Asking:
    """A graph with one node that asks; its checkpoints are in a real SQLite file."""

    def __init__(self, tmp_path, request, answer_type):
        self.path = str(tmp_path / "checkpoints.db")
        self.request, self.answer_type = request, answer_type
        self.config = {"configurable": {"thread_id": "t"}}

    def _run(self, value):
        def node(state: State) -> State:
            answer = ask(self.request, self.answer_type)
            return {"answers": [answer.model_dump(exclude_unset=True)]}

        with SqliteSaver.from_conn_string(self.path) as saver:
            builder = StateGraph(State)
            builder.add_node("node", node)
            builder.add_edge(START, "node")
            return builder.compile(checkpointer=saver).invoke(value, self.config)

    def start(self):
        self.asked = self._run({"answers": []})["__interrupt__"][0]
        return self.asked

    def answer(self, value):
        return self._run(Command(resume={self.asked.id: value}))["answers"][0]

    def refuse(self, value) -> str:
        with pytest.raises(ValidationError) as caught:
            self.answer(value)
        explained = refusal(caught.value)
        assert isinstance(explained, AnswerError)
        return str(explained)


def test_a_request_is_json_with_its_type_first(tmp_path):
    for request, answer_type in (
        (CLIENT_TOOL, ClientToolAnswer),
        (clarification(), ChoiceAnswer),
        (BUDGET, BudgetAnswer),
    ):
        asked = Asking(tmp_path, request, answer_type).start()
        assert json.loads(json.dumps(asked.value)) == request
        assert next(iter(asked.value)) == "type"
        (tmp_path / "checkpoints.db").unlink()


@pytest.mark.parametrize(
    ("request_", "answer_type", "answer"),
    [
        (CLIENT_TOOL, ClientToolAnswer, {"result": {"content": "x"}}),
        (CLIENT_TOOL, ClientToolAnswer, {"result": None}),
        (CLIENT_TOOL, ClientToolAnswer, {"error": "the tab was closed"}),
        (clarification(tool="ask_user", options=[]), TextAnswer, {"response": "Lake Geneva"}),
        (clarification(), ChoiceAnswer, {"selected": ["a"]}),
        (clarification(allow_multiple=True), ChoiceAnswer, {"selected": ["b", "a"]}),
        (clarification(allow_freeform=True), ChoiceAnswer, {"selected": [], "freeform": "both"}),
        (BUDGET, BudgetAnswer, {"raise_to": 2}),
        (BUDGET, BudgetAnswer, {"stop": True}),
    ],
)
def test_a_fitting_answer_resumes_the_run(tmp_path, request_, answer_type, answer):
    graph = Asking(tmp_path, request_, answer_type)
    graph.start()
    assert graph.answer(answer) == answer


TOOL = (CLIENT_TOOL, ClientToolAnswer)
TEXT = (clarification(tool="ask_user", options=[]), TextAnswer)
CHOICE = (clarification(), ChoiceAnswer)
MONEY = (BUDGET, BudgetAnswer)


@pytest.mark.parametrize(
    ("question", "bad", "reason", "good"),
    [
        (TOOL, {}, "exactly one", {"result": 1}),
        (TOOL, {"result": 1, "error": "x"}, "exactly one", {"result": 1}),
        (TOOL, {"error": None}, "exactly one", {"error": "x"}),
        (TOOL, {"error": ""}, "error", {"error": "x"}),
        (TOOL, {"result": object()}, "result", {"result": 1}),
        (TOOL, {"result": 1, "x": 2}, "x: Extra", {"result": 1}),
        (TOOL, "fine", "dictionary", {"result": 1}),
        (TEXT, {"response": "  "}, "response", {"response": "yes"}),
        (TEXT, {"response": 3}, "string", {"response": "yes"}),
        (CHOICE, {"selected": ["c"]}, "a, b", {"selected": ["a"]}),
        (CHOICE, {"selected": ["a", "b"]}, "one", {"selected": ["a"]}),
        (CHOICE, {"selected": ["a", "a"]}, "twice", {"selected": ["a"]}),
        (CHOICE, {"selected": []}, "nothing", {"selected": ["a"]}),
        (
            CHOICE,
            {"selected": ["a"], "freeform": "but"},
            "free text",
            {"selected": ["a"]},
        ),
        (MONEY, {"raise_to": -1}, "greater than 0", {"stop": True}),
        (MONEY, {"raise_to": float("inf")}, "finite", {"stop": True}),
        (MONEY, {"raise_to": "9"}, "number", {"stop": True}),
        (MONEY, {"raise_to": True}, "number", {"stop": True}),
        (MONEY, {"stop": False}, "stop", {"stop": True}),
        (MONEY, {"stop": True, "raise_to": 9}, "exactly one", {"stop": True}),
    ],
)
def test_a_malformed_answer_is_refused_and_the_question_stays_open(
    tmp_path, question, bad, reason, good
):
    graph = Asking(tmp_path, *question)
    graph.start()
    assert reason in graph.refuse(bad)
    assert reason in graph.refuse(bad)
    assert graph.answer(good) == good


def test_the_shape_of_a_client_tools_result_can_be_demanded(tmp_path):
    class Page(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)
        content: str

    graph = Asking(tmp_path, CLIENT_TOOL, ClientToolAnswer[Page])
    asked = graph.start()
    assert "content" in json.dumps(asked.response_schema)
    assert "result.content" in graph.refuse({"result": {}})
    assert "result" in graph.refuse({"result": None})
    assert graph.answer({"result": {"content": "x"}}) == {"result": {"content": "x"}}


def test_other_failures_of_a_run_are_no_refusals():
    assert refusal(ValueError("boom")) is None
