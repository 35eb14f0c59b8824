"""A plan that a person approves: as it is, edited, or not at all."""

from __future__ import annotations

import io
import json

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from deepnb import transcript
from deepnb.cli.questions import put as put_at_terminal
from deepnb.cli.terminal import Terminal
from deepnb.errors import AnswerError
from deepnb.interrupts import PlanAnswer
from deepnb.interrupts import ask as put
from tests.sessions import PATIENCE, ask, kinds, opening, settle


def step(identity, *after, tool="search", title=None, given="lakes"):
    return {
        "id": identity,
        "title": title or f"Step {identity}",
        "tool": tool,
        "input": given,
        "rationale": "It is needed.",
        "depends_on": list(after),
    }


STEPS = [step("a"), step("b", "a", tool="read"), step("c", "a", "b")]
AUDIT = {
    "passed": False,
    "summary": "One thing to look at.",
    "policy": "strict",
    "checks": [{"name": "tools", "status": "warn", "note": "search costs money"}],
    "remarks": [],
}


def planner(**more):
    """Ask about a plan, and say what came of it."""

    def node(state):
        plan = {"question": "How deep is it?", "steps": STEPS}
        request = {"type": "plan_approval", "plan": plan, "audit": AUDIT, **more}
        answer = put(request, PlanAnswer)
        return {"messages": [AIMessage(answer.model_dump_json(exclude_unset=True))]}

    return StateGraph(MessagesState).add_node("plan", node).add_edge(START, "plan").compile()


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


def answered(session, answer):
    """Answer, and give what the graph was given."""
    session.respond(session.questions[0].id, answer)
    return json.loads(settle(session.runs[-1]).answer)


def test_a_plan_is_a_question_like_any_other(session):
    s = session(planner())
    run = ask(s)
    (question,) = s.questions
    assert question.type == "plan_approval"
    assert question.request["audit"] == AUDIT
    assert run.reason == s.waiting_for == "approval of a plan with 3 steps"
    (row,) = s.pending.to_dict("records")
    assert (row["type"], row["question"]) == ("plan_approval", "Approve a plan with 3 steps?")


@pytest.mark.parametrize(
    ("answer", "given", "told"),
    [
        ("approve", {"approved": True}, "approved by person"),
        ({"approved": True}, {"approved": True}, "approved by person"),
        ("reject", {"approved": False}, "rejected by person"),
        (
            {"approved": False, "reason": "too long"},
            {"approved": False, "reason": "too long"},
            "rejected by person: too long",
        ),
        (
            {"approved": True, "plan": {"steps": [STEPS[0]]}},
            {"approved": True, "plan": {"steps": [STEPS[0]]}},
            "approved with changes by person",
        ),
    ],
)
def test_answers(session, answer, given, told):
    s = session(planner())
    ask(s)
    assert answered(s, answer) == given
    (closed,) = kinds(s, "interrupt_closed")
    assert closed.data["answer"] == given
    assert s.trace.query("kind == 'interrupt_closed'").summary.item() == told


def test_steps_are_edited_removed_reordered_and_added(session):
    s = session(planner(tools=["write"]))
    ask(s)
    steps = [
        step("c", given="rivers"),
        step("new", "c", tool="write", title="Write it down"),
        {"id": "a", "title": "The least that a step needs", "tool": "read"},
    ]
    given = answered(s, {"approved": True, "plan": {"question": "How wide?", "steps": steps}})
    assert given["plan"] == {"question": "How wide?", "steps": steps}


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"steps": []}, "at least 1 item"),
        ({"steps": [step(str(n)) for n in range(21)]}, "at most 20 items"),
        ({"steps": [step("a"), step("a")]}, "same id"),
        ({"steps": [step("a", "gone")]}, "'gone', which is none"),
        ({"steps": [step("a", "a")]}, "wait for each other"),
        ({"steps": [step("a", "b"), step("b", "a")]}, "wait for each other: "),
        ({"steps": [step("a", tool="rm")]}, "no tool 'rm' here; choose from read, search"),
        ({"steps": [step("a", title=" ")]}, "title"),
        ({"steps": [step("")]}, "steps.0.id"),
        ({"steps": [{**step("a"), "more": 1}]}, "more"),
        ({"steps": [step("a", given=5)]}, "input"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused_and_the_question_stays_open(
    session, plan, reason
):
    s = session(planner())
    ask(s)
    with pytest.raises(AnswerError, match=reason):
        s.respond(s.questions[0].id, {"approved": True, "plan": plan})
    assert answered(s, "approve") == {"approved": True}


@pytest.mark.parametrize(
    "answer",
    [
        {"approved": False, "plan": {"steps": STEPS}},
        {"approved": True, "reason": "why not"},
        {"approved": False, "reason": " "},
        {"approved": "yes"},
        {},
        "edit",
        "yes",
        {"decisions": [{"type": "approve"}]},
        {"type": "approve"},
    ],
)
def test_what_is_no_answer_is_refused(session, answer):
    s = session(planner())
    ask(s)
    with pytest.raises(AnswerError, match="still open"):
        s.respond(s.questions[0].id, answer)
    assert s.status == "waiting"


@pytest.mark.parametrize(
    ("respond", "approved"),
    [
        ("approve", True),
        ("reject", False),
        ({"plan_approval": "approve"}, True),
        ({"plan_approval": lambda question: {"approved": False}}, False),
    ],
)
def test_a_policy_decides_about_plans(session, respond, approved):
    s = session(planner(), respond=respond)
    assert json.loads(ask(s).answer)["approved"] is approved


def test_a_plan_waits_through_a_restart(session):
    s = session(planner())
    ask(s)
    s.close()
    again = session(planner())
    assert answered(again, "approve") == {"approved": True}
    again.respond(kinds(again, "interrupt_opened")[0].data["id"], {"approved": True})  # once more


@pytest.mark.parametrize(
    "request_",
    [
        {"type": "plan_approval"},
        {"type": "plan_approval", "plan": {"steps": []}, "audit": None},
        {"type": "plan_approval", "plan": {"steps": ["a"]}, "audit": None},
        {"type": "plan_approval", "plan": {"steps": STEPS}, "tools": "all"},
    ],
)
def test_what_only_looks_like_a_plan_is_any_question(session, request_):
    from langgraph.types import interrupt

    def node(state):
        return {"messages": [AIMessage(str(interrupt(request_)))]}

    s = session(StateGraph(MessagesState).add_node("n", node).add_edge(START, "n").compile())
    ask(s)
    assert s.questions[0].type == "question"
    assert transcript.to_markdown(transcript.turns(s.events()), "it")
    s.respond(s.questions[0].id, "whatever")
    assert s.runs[0].wait(PATIENCE).answer == "whatever"


def test_the_transcript_says_what_was_planned_and_decided(session):
    s = session(planner())
    ask(s)
    waiting = transcript.to_markdown(transcript.turns(s.events()), "it")
    assert "Approve the plan: Step a; Step b; Step c?" in waiting
    assert "2. Step b: read lakes" in waiting
    assert '{"approved": True}' in waiting
    answered(s, {"approved": True, "plan": {"steps": [step("z", title="Only this")]}})
    ended = transcript.to_markdown(transcript.turns(s.events()), "it")
    assert "approved with changes" in ended
    assert "edited to 1. Only this: search lakes" in ended


class Typing(Terminal):
    """A terminal at which somebody types these lines."""

    def __init__(self, *lines):
        self.shown = io.StringIO()
        super().__init__(self.shown)
        self._lines = iter(lines)

    def read(self, prompt):
        return next(self._lines)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["y"], {"approved": True}),
        (["n", "too long"], {"approved": False, "reason": "too long"}),
        (["perhaps", "no", ""], {"approved": False}),
    ],
)
def test_a_plan_is_decided_about_at_the_terminal(session, lines, answer):
    s = session(planner())
    ask(s)
    terminal = Typing(*lines)
    given = put_at_terminal(s.questions[0], terminal)
    assert given == answer
    shown = terminal.shown.getvalue()
    assert "asks for your approval of a plan" in shown
    assert "2  Step b" in shown
    assert "read lakes" in shown
    assert "One thing to look at." in shown
    assert answered(s, given) == answer
