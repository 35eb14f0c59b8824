"""Questions to a person: any number, in any order, answered by id, by word, or by policy."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from functools import partial
from types import SimpleNamespace

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

import deepnb
from deepnb.errors import AnswerError, QuestionError
from deepnb.middleware import ClarifyMiddleware
from deepnb.testing import ScriptedModel, call
from tests.sessions import (
    PATIENCE,
    Gate,
    ask,
    check_conversation,
    kinds,
    opening,
    scripted,
    settle,
    subagent,
    task,
    tool_texts,
    until,
)


def write(name="a.md", content="hello\n"):
    return call("write_file", file_path=f"/workspace/{name}", content=content)


def where(question="Where?"):
    return call("ask_user", question=question)


def which(**more):
    options = [{"id": "a", "label": "This"}, {"id": "b", "label": "That"}]
    return call("ask_choices", question="Which?", options=options, **more)


APPROVE = {"decisions": [{"type": "approve"}]}
CLIENT = {"client": True}
READ = call("read_file", file_path="/files/draft.md")
CONTENT = {"content": "draft\n", "start_line": 1, "end_line": 1, "total_lines": 1}


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield partial(open_session, "deep", middleware=[ClarifyMiddleware()])


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


# Several at once


def test_calls_of_one_turn_are_asked_at_once_and_each_gets_its_own_answer(opened):
    calls = [where("Where?"), where("When?"), where("Why?")]
    model, session = scripted(opened, calls, "thanks")
    run = ask(session)
    ids = {question.request["question"]: question.id for question in session.questions}
    assert set(ids) == {"Where?", "When?", "Why?"}
    for question, answer in [("Why?", "because"), ("Where?", "here"), ("When?", "now")]:
        session.respond(ids[question], answer)
    assert settle(run).answer == "thanks"
    assert tool_texts(model.calls[-1]) == ["here", "now", "because"]
    check_conversation(session.state["messages"])


def test_one_can_be_answered_while_the_others_stay_open(opened):
    _, session = scripted(opened, [where("Where?"), where("When?")], "thanks")
    run = ask(session)
    second, first = sorted(session.questions, key=lambda question: question.request["question"])
    session.respond(second.id, "now")
    settle(run)
    assert run.status == "waiting"
    assert [question.id for question in session.questions] == [first.id]
    assert list(session.pending["id"]) == [first.id]
    assert session.waiting_for == "an answer to 'Where?'"
    session.respond(first.id, "here")
    assert settle(run).status == "done"
    opens = [e.data["id"] for e in kinds(session, "interrupt_opened")]
    assert sorted(opens) == sorted([first.id, second.id])  # told once each


def test_what_one_task_asks_one_after_the_other_is_answered_so(opened):
    def node(state):
        answers = [interrupt("first"), interrupt("second"), interrupt("third")]
        return {"messages": [AIMessage(" ".join(answers))]}

    graph = StateGraph(MessagesState).add_node("n", node).add_edge(START, "n").compile()
    session = opened.func(graph)
    run = ask(session)
    for text in ("one", "two", "three"):
        (question,) = session.questions
        session.respond(question.id, text)
        settle(run)
    assert run.answer == "one two three"


def test_a_chain_of_different_questions_needs_no_special_care(opened, tmp_path):
    model, session = scripted(opened, where(), READ, which(), write(), "done", **CLIENT)
    run = ask(session)
    answers = {
        "ask_user": "Here",
        "read_file": {"result": CONTENT},
        "ask_choices": ["b"],
        "write_file": "approve",
    }
    asked = []
    while settle(run).status == "waiting":
        (question,) = session.questions
        asked.append(question.type)
        session.respond(question.id, answers[question.tools[0]])
    assert run.answer == "done"
    assert asked == [
        "clarification_request", "client_tool_execution", "clarification_request", "tool_approval",
    ]  # fmt: skip
    texts = tool_texts(model.calls[-1])
    assert (texts[0], texts[2]) == ("Here", "That")
    assert "draft" in texts[1]
    assert (tmp_path / "a.md").read_text() == "hello\n"
    check_conversation(session.state["messages"])


def test_two_subagents_wait_at_once_and_are_answered_in_reverse(opened, tmp_path):
    helpers = [
        subagent("one", [write("one.md", "from one"), "one is done"]),
        subagent("two", [write("two.md", "from two"), "two is done"]),
    ]
    model, session = scripted(opened, [task("one"), task("two")], "both", subagents=helpers)
    run = ask(session)
    questions = {question.agent: question for question in session.questions}
    assert set(questions) == {"one", "two"}
    assert {question.parent for question in questions.values()} == {"deep"}
    session.respond(questions["two"].id, "approve")
    settle(run)
    assert run.status == "waiting"
    assert (tmp_path / "two.md").read_text() == "from two"
    assert not (tmp_path / "one.md").exists()
    reason = {"decisions": [{"type": "reject", "message": "not this one"}]}
    session.respond(questions["one"].id, reason)
    assert settle(run).answer == "both"
    assert tool_texts(model.calls[-1]) == ["one is done", "two is done"]
    assert not (tmp_path / "one.md").exists()
    assert "not this one" in tool_texts(helpers[0]["model"].calls[-1])[0]
    assert len(helpers[1]["model"].calls) == 2  # nothing was done twice


@pytest.mark.parametrize("together", [True, False])
def test_an_answer_that_comes_while_a_sibling_runs_is_kept_until_it_has_ended(
    opened, gate, tmp_path, together
):
    effects = []

    def send() -> str:
        """Send it."""
        effects.append("sent")
        return "sent"

    waits = subagent("waits", [write(), "written"])
    works = subagent("works", [call("send"), call("hold"), "found"], tools=[gate.tool(), send])
    model, session = scripted(opened, [task("waits"), task("works")], "both",
                              subagents=[waits, works])  # fmt: skip
    run = session.ask("go")
    gate.reached.wait(PATIENCE)
    (question,) = until(lambda: session.questions)
    assert run.status == "running"  # it is asked, and yet all else goes on
    if together:
        session.respond(question.id, "approve")
        assert session.questions == []
        assert not (tmp_path / "a.md").exists()
    gate.opened.set()
    if not together:
        assert settle(run).status == "waiting"
        session.respond(question.id, "approve")
    assert settle(run).answer == "both"
    assert (tmp_path / "a.md").exists()
    assert effects == ["sent"]
    assert tool_texts(model.calls[-1]) == ["written", "found"]
    assert len(works["model"].calls) == 3


def test_an_answer_that_comes_while_another_is_being_used_is_not_lost(opened, gate, tmp_path):
    tools = {"tools": [gate.tool()]}
    one = subagent("one", [write("one.md"), call("hold"), "one is done"], **tools)
    two = subagent("two", [write("two.md"), "two is done"])
    model, session = scripted(opened, [task("one"), task("two")], "both", subagents=[one, two])
    run = ask(session)
    questions = {question.agent: question for question in session.questions}
    session.respond(questions["one"].id, "approve")
    gate.reached.wait(PATIENCE)
    assert run.status == "running"
    session.respond(questions["two"].id, "approve")
    gate.opened.set()
    assert settle(run).answer == "both"
    assert tool_texts(model.calls[-1]) == ["one is done", "two is done"]
    assert (len(one["model"].calls), len(two["model"].calls)) == (3, 2)
    assert sorted(p.name for p in tmp_path.glob("*.md")) == ["one.md", "two.md"]
    assert len(kinds(session, "interrupt_opened")) == len(kinds(session, "interrupt_closed")) == 2


def test_many_are_answered_from_many_threads_at_once(opened):
    calls = [where(f"What is {n}?") for n in range(12)]
    model, session = scripted(opened, calls, "thanks")
    run = ask(session)
    assert len(session.questions) == 12

    def answer(question):
        number = question.request["question"].removeprefix("What is ").rstrip("?")
        session.respond(question.id, f"it is {number}")

    threads = [threading.Thread(target=answer, args=(q,)) for q in session.questions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    until(lambda: run.status == "done")
    assert tool_texts(model.calls[-1]) == [f"it is {n}" for n in range(12)]
    assert len(kinds(session, "interrupt_closed")) == 12
    check_conversation(session.state["messages"])


def test_a_question_from_two_levels_down_says_who_asks(opened, tmp_path):
    inner = subagent("inner", [where(), "it is here"], middleware=[ClarifyMiddleware()])
    between = ScriptedModel([task("inner"), "so I was told"])
    graph = deepnb.create_deep_agent(between, subagents=[inner], name="outer")
    outer = {"name": "outer", "description": "Delegates.", "runnable": graph}
    model, session = scripted(opened, task("outer"), "done", subagents=[outer])
    run = ask(session)
    (question,) = session.questions
    assert (question.agent, question.parent) == ("inner", "outer")
    assert len(kinds(session, "interrupt_opened")) == 1
    session.respond(question.id, "Here")
    assert settle(run).answer == "done"
    assert tool_texts(inner["model"].calls[-1]) == ["Here"]
    assert tool_texts(model.calls[-1]) == ["so I was told"]


def test_a_subagents_second_question_comes_while_its_sibling_still_waits(opened):
    scripts = {"one": [where("first?"), where("second?"), "one"], "two": [where("other?"), "two"]}
    helpers = [
        subagent(name, script, middleware=[ClarifyMiddleware()]) for name, script in scripts.items()
    ]
    _, session = scripted(opened, [task("one"), task("two")], "both", subagents=helpers)
    run = ask(session)

    def answer(text, reply):
        found = {question.request["question"]: question.id for question in session.questions}
        session.respond(found[text], reply)
        settle(run)

    answer("first?", "1")
    assert {q.request["question"] for q in session.questions} == {"second?", "other?"}
    answer("second?", "2")
    answer("other?", "3")
    assert run.answer == "both"
    assert tool_texts(helpers[0]["model"].calls[-1]) == ["1", "2"]
    assert tool_texts(helpers[1]["model"].calls[-1]) == ["3"]


# By id, once


def test_the_same_answer_twice_is_one_answer(opened, tmp_path):
    _, session = scripted(opened, write(), "done")
    run = ask(session)
    (question,) = session.questions
    session.respond(question.id, "approve")
    session.respond(question.id, "approve")
    settle(run)
    session.respond(question.id, APPROVE)  # the same, spelled out, when all is over
    assert run.status == session.status == "done"
    assert len(kinds(session, "interrupt_closed")) == 1
    assert len([e for e in kinds(session, "tool_result") if e.name == "write_file"]) == 1


def test_another_answer_to_a_question_that_is_closed_is_refused(opened, tmp_path):
    _, session = scripted(opened, write(), "done")
    run = ask(session)
    (question,) = session.questions
    session.respond(question.id, "reject")
    for late in ("approve", {"decisions": [{"type": "reject", "message": "since"}]}):
        with pytest.raises(QuestionError, match=r"answered already.*reject"):
            session.respond(question.id, late)
    settle(run)
    with pytest.raises(QuestionError, match="answered already"):
        session.respond(question.id, "approve")
    assert not (tmp_path / "a.md").exists()


def test_another_content_is_another_answer(opened):
    """Also where the log does not hold it."""
    _, session = scripted(opened, READ, "done", **CLIENT)
    run = ask(session)
    (question,) = session.questions
    session.respond(question.id, {"result": CONTENT})
    session.respond(question.id, {"result": CONTENT})
    with pytest.raises(QuestionError, match="answered already"):
        session.respond(question.id, {"result": {**CONTENT, "content": "other\n"}})
    assert settle(run).status == "done"


def test_a_malformed_answer_to_a_closed_question_does_not_say_that_it_is_open(opened):
    _, session = scripted(opened, write(), "done")
    ask(session)
    (question,) = session.questions
    session.respond(question.id, "approve")
    with pytest.raises(QuestionError) as caught:
        session.respond(question.id, {"nonsense": True})
    assert "still open" not in str(caught.value)


@pytest.mark.parametrize("identity", ["", "nobody", "0" * 32, None, 3, ["a"], {"id": "a"}])
def test_an_unknown_id_is_refused_with_those_that_are_open(opened, identity):
    _, session = scripted(opened, write(), "done")
    with pytest.raises(QuestionError, match="none"):
        session.respond(identity, "approve")
    ask(session)
    (question,) = session.questions
    with pytest.raises(QuestionError, match=question.id):
        session.respond(identity, "approve")
    assert session.questions == [question]
    assert session.status == "waiting"


def test_an_old_answer_cannot_approve_a_new_action(opened, tmp_path):
    _, session = scripted(opened, write("a.md"), write("b.md"), "done")
    run = ask(session)
    (first,) = session.questions
    session.respond(first.id, "approve")
    settle(run)
    session.respond(first.id, "approve")  # the same button again
    assert run.status == "waiting"
    assert not (tmp_path / "b.md").exists()
    assert [question.id for question in session.questions] != [first.id]


# Answers of the wrong shape

WRONG = {
    "tool_approval": [
        "yes", "", "edit", "respond", None, True, 3, [], {}, ["approve"],
        {"decisions": []},
        {"decisions": "approve"},
        {"decisions": ["approve"]},
        {"decisions": [{"type": "approve"}, {"type": "approve"}]},
        {"decisions": [{"type": "maybe"}]},
        {"decisions": [{}]},
        {"decisions": [None]},
        {"decisions": [{"type": "edit"}]},
        {"decisions": [{"type": "approve", "edited_action": {"name": "write_file", "args": {}}}]},
        {"decisions": [{"type": "edit", "edited_action": {"name": "ls", "args": {}}}]},
        {"decisions": [{"type": "edit", "edited_action": {"name": "write_file", "args": "x"}}]},
        {"decisions": [{"type": "respond", "message": "written"}]},
        {"decisions": [{"type": "reject", "message": 3}]},
        {"decisions": [{"type": "approve", "always": "/workspace/other/*"}]},
        {"decisions": [{"type": "approve", "always": ""}]},
        {"decisions": [{"type": "reject", "always": "/workspace/*"}]},
        {"decisions": [{"type": "approve"}], "extra": 1},
    ],
    "ask_user": [
        "", " \n", None, 3, True, [], ["a"], {}, {"response": ""}, {"response": 3},
        {"response": "a", "extra": 1}, {"selected": ["a"]}, "x" * 100_001,
    ],
    "ask_choices": [
        "c", "", None, 3, [], ["c"], ["a", "a"], ["a", "b"], {}, {"selected": []},
        {"selected": "a"}, {"selected": ["a"], "freeform": "or else"}, {"response": "a"}, [["a"]],
    ],
    "client_tool_execution": [
        None, "draft", 3, [], {}, {"error": ""}, {"error": None}, {"error": 3},
        {"result": CONTENT, "error": "both"}, {"result": CONTENT, "extra": 1}, {"content": "x"},
    ],
    "budget_exhausted": [
        None, 0, -1, math.nan, math.inf, True, "lots", [], {}, {"stop": False}, {"raise_to": "3"},
        {"raise_to": 3, "stop": True}, {"raise_to": None}, {"stop": None},
    ],
}  # fmt: skip

STRICT = {"allow_freeform": False}
RIGHT = {
    "tool_approval": ([write()], {}, "approve"),
    "ask_user": ([where()], {}, "Here"),
    "ask_choices": ([which(**STRICT)], {}, "a"),
    "client_tool_execution": ([READ], CLIENT, {"result": CONTENT}),
    "budget_exhausted": ([call("ls", path="/")], {"budget": deepnb.Budget}, 10),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_answer_of_the_wrong_shape_is_refused_and_the_question_stays(opened, kind):
    script, options, right = RIGHT[kind]
    if "budget" in options:
        options = {"budget": deepnb.Budget(calls=1)}
    _, session = scripted(opened, *script, "done", **options)
    run = ask(session)
    (question,) = session.questions
    assert kind in (question.type, *question.tools)
    for wrong in WRONG[kind]:
        with pytest.raises(AnswerError, match="refused and the question is still open") as caught:
            session.respond(question.id, wrong)
        assert not isinstance(caught.value, QuestionError)
        assert (session.questions, run.status) == ([question], "waiting"), wrong
    assert kinds(session, "interrupt_closed") == []
    session.respond(question.id, right)
    assert settle(run).answer == "done"


def test_what_only_the_tool_can_refuse_is_asked_again(opened):
    model, session = scripted(opened, READ, "done", **CLIENT)
    run = ask(session)
    (question,) = session.questions
    session.respond(question.id, {"result": {"lines": ["draft"]}})
    until(lambda: kinds(session, "error"))
    assert settle(run).status == "waiting"
    assert "still open" in kinds(session, "error")[-1].data["text"]
    (again,) = session.questions
    assert again.id == question.id
    session.respond(again.id, {"result": CONTENT})
    assert settle(run).answer == "done"
    assert "draft" in tool_texts(model.calls[-1])[0]


def test_beside_it_a_good_answer_is_not_lost(opened):
    other = call("read_file", file_path="/files/other.md")
    model, session = scripted(opened, [READ, other], "done", **CLIENT)
    run = ask(session)
    questions = {question.request["args"]["path"]: question for question in session.questions}
    good, bad = questions["/draft.md"], questions["/other.md"]
    session._engine.accept(good.id, {"result": CONTENT}, "person")  # both before it goes on
    session.respond(bad.id, {"result": "nonsense"})
    until(lambda: kinds(session, "error"))
    settle(run)
    for question in session.questions:
        session.respond(question.id, {"result": {**CONTENT, "content": "again\n"}})
        settle(run)
    assert run.answer == "done"
    first, second = tool_texts(model.calls[-1])
    assert "draft" in first
    assert "again" in second


def test_the_client_may_say_that_it_cannot(opened):
    model, session = scripted(opened, READ, "sorry", **CLIENT)
    run = ask(session)
    session.respond(session.questions[0].id, {"error": "no such file"})
    assert settle(run).answer == "sorry"
    assert "no such file" in tool_texts(model.calls[-1])[0]


def test_what_a_file_holds_is_not_written_into_the_log(opened):
    _, session = scripted(opened, READ, "done", **CLIENT)
    run = ask(session)
    secret = {**CONTENT, "content": "the whole draft\n"}
    session.respond(session.questions[0].id, {"result": secret})
    settle(run)
    (closed,) = kinds(session, "interrupt_closed")
    assert "the whole draft" not in str(closed)


# Decisions


def test_each_call_of_one_tool_is_decided_by_itself(opened, tmp_path):
    calls = [write("a.md", "a"), write("b.md", "b"), write("c.md", "c")]
    model, session = scripted(opened, calls, "done")
    run = ask(session)
    (question,) = session.questions
    assert question.tools == ["write_file"] * 3
    edited = {"name": "write_file", "args": {"file_path": "/workspace/c.md", "content": "mine"}}
    decisions = [
        {"type": "approve"},
        {"type": "reject", "message": "b is taken"},
        {"type": "edit", "edited_action": edited},
    ]
    session.respond(question.id, {"decisions": decisions})
    assert settle(run).answer == "done"
    assert {p.name: p.read_text() for p in tmp_path.glob("*.md")} == {"a.md": "a", "c.md": "mine"}
    assert "b is taken" in " ".join(tool_texts(model.calls[-1]))
    (closed,) = kinds(session, "interrupt_closed")
    assert [d["type"] for d in closed.data["answer"]["decisions"]] == ["approve", "reject", "edit"]
    check_conversation(session.state["messages"])


def test_a_word_decides_about_all_actions_of_a_turn(opened, tmp_path):
    _, session = scripted(opened, [write("a.md"), write("b.md")], "done")
    run = ask(session)
    session.respond(session.questions[0].id, "approve")
    settle(run)
    assert sorted(p.name for p in tmp_path.glob("*.md")) == ["a.md", "b.md"]


def test_what_is_always_approved_is_not_asked_again_and_can_be_seen(opened, tmp_path):
    script = [write("notes/a.md"), write("notes/b.md"), write("c.md"), "done", write("notes/d.md"),
              "done"]  # fmt: skip
    _, session = scripted(opened, *script)
    run = ask(session)
    always = {"decisions": [{"type": "approve", "always": "/workspace/notes/*"}]}
    session.respond(session.questions[0].id, always)
    settle(run)
    (question,) = session.questions  # not for b.md, which fits, but for c.md, which does not
    assert question.request["action_requests"][0]["args"]["file_path"] == "/workspace/c.md"
    session.respond(question.id, "reject")
    settle(run)
    assert ask(session).status == "done"  # for the rest of the thread
    assert sorted(p.name for p in tmp_path.rglob("*.md")) == ["a.md", "b.md", "d.md"]
    by = [e.data["by"] for e in kinds(session, "interrupt_closed")]
    assert by == ["person", "grant", "person", "grant"]


def test_a_grant_does_not_reach_what_was_asked_before_it(opened, tmp_path):
    helpers = [subagent(name, [write(f"{name}.md"), "done"]) for name in ("one", "two")]
    _, session = scripted(opened, [task("one"), task("two")], "both", subagents=helpers)
    run = ask(session)
    questions = {question.agent: question for question in session.questions}
    always = {"decisions": [{"type": "approve", "always": "/workspace/*"}]}
    session.respond(questions["one"].id, always)
    settle(run)
    assert [question.id for question in session.questions] == [questions["two"].id]
    session.respond(questions["two"].id, "reject")
    settle(run)
    assert sorted(p.name for p in tmp_path.glob("*.md")) == ["one.md"]


def test_a_grant_for_a_tool_without_a_path(opened):
    sent = []

    def send(text: str) -> str:
        """Send a text."""
        sent.append(text)
        return "sent"

    script = [call("send", text="a"), call("send", text="b"), "done"]
    _, session = scripted(opened, *script, tools=[send], interrupt_on={"send": True})
    run = ask(session)
    session.respond(session.questions[0].id, {"decisions": [{"type": "approve", "always": "*"}]})
    assert settle(run).answer == "done"
    assert sent == ["a", "b"]


# Budget


@pytest.mark.parametrize("answer", [10, 10.5, {"raise_to": 10}])
def test_a_budget_can_be_raised(opened, answer):
    model, session = scripted(opened, call("ls", path="/"), "done", budget=deepnb.Budget(calls=1))
    run = ask(session)
    assert run.reason == "more budget (1 calls are spent)"
    session.respond(session.questions[0].id, answer)
    assert settle(run).answer == "done"
    assert len(model.calls) == 2


def test_a_budget_that_is_not_raised_ends_the_run_in_an_orderly_way(opened):
    model, session = scripted(
        opened, call("ls", path="/"), "done", "again", budget=deepnb.Budget(calls=1)
    )
    run = ask(session)
    session.respond(session.questions[0].id, {"stop": True})
    assert settle(run).status == "done"
    assert "budget is used up" in run.answer
    assert len(model.calls) == 1
    run = ask(session)  # a new run asks again
    session.respond(session.questions[0].id, 5)
    assert settle(run).answer == "done"
    check_conversation(session.state["messages"])


def test_a_budget_that_is_raised_by_too_little_asks_again(opened):
    _, session = scripted(opened, call("ls", path="/"), "done", budget=deepnb.Budget(calls=1))
    run = ask(session)
    session.respond(session.questions[0].id, 1)
    assert settle(run).status == "waiting"
    session.respond(session.questions[0].id, 2)
    assert settle(run).answer == "done"
    assert len(kinds(session, "interrupt_opened")) == 2


def test_subagents_that_have_used_up_the_budget_are_answered_together_or_apart(opened):
    helpers = [subagent(name, [f"{name} has found it"]) for name in ("one", "two")]
    model, session = scripted(
        opened, [task("one"), task("two")], "both", subagents=helpers, budget=deepnb.Budget(calls=1)
    )
    run = ask(session)
    while settle(run).status == "waiting":
        session.respond(session.questions[-1].id, 10)
    assert run.answer == "both"
    assert tool_texts(model.calls[-1]) == ["one has found it", "two has found it"]


# Graphs that are not ours


def reviewed(mode, sent, *script):
    def send(text: str) -> str:
        """Send a text."""
        sent.append(text)
        return f"sent {text}"

    gate = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
    model = ScriptedModel(list(script))
    return model, create_agent(model, [send], middleware=[gate])


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("word", ["approve", "reject"])
@pytest.mark.parametrize("by", ["person", "policy"])
def test_langchains_own_approvals_take_a_word(opened, mode, word, by):
    sent = []
    calls = [call("send", text="a"), call("send", text="b")]
    model, graph = reviewed(mode, sent, calls, "done")
    session = opened.func(graph, respond=word if by == "policy" else None)
    run = ask(session)
    while settle(run).status == "waiting" and by == "person":
        assert {question.type for question in session.questions} == {"tool_approval"}
        session.respond(session.questions[-1].id, word)
    assert run.answer == "done"
    assert sorted(sent) == (["a", "b"] if word == "approve" else [])
    check_conversation(model.calls[-1].messages)


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_langchains_own_approvals_take_edits_and_reasons(opened, mode):
    sent = []
    calls = [call("send", text="a"), call("send", text="b")]
    model, graph = reviewed(mode, sent, calls, "done")
    session = opened.func(graph)
    run = ask(session)
    edit = {"type": "edit", "edited_action": {"name": "send", "args": {"text": "edited"}}}
    reject = {"type": "reject", "message": "not b"}
    if mode == "batched":
        (question,) = session.questions
        session.respond(question.id, {"decisions": [edit, reject]})
    else:
        actions = [question.request["action_requests"][0] for question in session.questions]
        texts = [action["args"]["text"] for action in actions]
        by_text = dict(zip(texts, session.questions, strict=True))
        session.respond(by_text["b"].id, {"decisions": [reject]})
        settle(run)
        session.respond(by_text["a"].id, {"decisions": [edit]})
    assert settle(run).answer == "done"
    assert sent == ["edited"]
    assert "not b" in " ".join(tool_texts(model.calls[-1]))


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_langchains_own_approvals_refuse_nonsense(opened, mode):
    sent = []
    _, graph = reviewed(mode, sent, call("send", text="a"), "done")
    session = opened.func(graph)
    run = ask(session)
    (question,) = session.questions
    for wrong in ("perhaps", None, {"decisions": []}, {"decisions": [{"type": "edit"}]}):
        with pytest.raises(AnswerError, match="still open"):
            session.respond(question.id, wrong)
    always = {"decisions": [{"type": "approve", "always": "*"}]}
    with pytest.raises(AnswerError, match="always"):
        session.respond(question.id, always)  # langchain knows nothing of that
    session.respond(question.id, "approve")
    assert settle(run).answer == "done"
    assert sent == ["a"]


@pytest.mark.parametrize(
    "answer", [None, False, 0, "", [], {}, {"decisions": "no"}, "approve", 3.5]
)
def test_an_open_question_takes_any_plain_answer(opened, answer):
    def node(state):
        return {"messages": [AIMessage(repr(interrupt({"what": "anything"})))]}

    graph = StateGraph(MessagesState).add_node("n", node).add_edge(START, "n").compile()
    session = opened.func(graph)
    run = ask(session)
    (question,) = session.questions
    assert question.type == "question"
    session.respond(question.id, answer)
    assert settle(run).answer == repr(answer)


def test_a_question_beside_a_failure_is_gone_when_something_else_is_asked(opened):
    async def asks(state):
        return {"messages": [AIMessage(interrupt("sure?"))]}

    async def fails(state):
        await asyncio.sleep(0.1)
        if state["messages"][-1].text == "go":
            raise RuntimeError("no")

    builder = StateGraph(MessagesState).add_node("asks", asks).add_node("fails", fails)
    graph = builder.add_edge(START, "asks").add_edge(START, "fails").compile()
    session = opened.func(graph, respond=None)
    assert ask(session).status == "failed"
    run = ask(session, "something else")
    assert run.status == "waiting"
    (question,) = session.questions
    assert list(session.pending["id"]) == [question.id]
    session.respond(question.id, "yes")
    assert settle(run).answer == "yes"
    assert len(session.pending) == 0


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_run_did_not_take_the_time_in_which_it_waited(opened, monkeypatch, is_stopped):
    passed = 0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed)
    monkeypatch.setattr("deepnb.session.engine.time", clock)
    session = opened(model=ScriptedModel([where(), "Done."]))
    run = ask(session)
    passed = 1_000
    if is_stopped:
        session.stop()
    else:
        session.respond(session.questions[0].id, {"response": "Here."})
    settle(run)
    (ended,) = kinds(session, "run_ended")
    assert 0 < ended.data["seconds"] < 1_000


def test_a_question_in_no_known_form_is_quoted_by_its_words():
    def node(state):
        return {"messages": [AIMessage(str(interrupt({"type": "odd_one", "n": 1})))]}

    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile()
    with deepnb.Session(graph, persist=False) as session:
        run = ask(session)
        assert run.reason == "an answer to 'odd one'"
