"""Any LangGraph graph can be put into a session, whoever made it."""

from __future__ import annotations

import operator
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import deepagents
import pytest
from deepagents.backends import FilesystemBackend
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.func import entrypoint
from langgraph.func import task as step
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Overwrite, Send, interrupt
from pydantic import BaseModel

from deepnb.errors import AnswerError, SessionError
from deepnb.testing import ScriptedModel, call
from tests.sessions import PATIENCE, Gate, ask, kinds, opening, until


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


def chain(*nodes, state: Any = MessagesState, **options):
    """Compile a graph of nodes that follow each other; functions are called as they are named."""
    builder = StateGraph(state)
    before = START
    for node in nodes:
        name = node.name if hasattr(node, "astream") else node.__name__
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return builder.compile(**options)


def talker(reply="fine", name="answer", gate=None):
    """Make a node that asks a model."""
    model = ScriptedModel(reply if callable(reply) else lambda messages: reply)

    def node(state):
        if gate:
            gate.wait()
        return {"messages": [model.invoke(state["messages"])]}

    node.__name__ = name
    return node


def heard(messages):
    return " | ".join(message.text for message in messages if message.type != "system")


def conversation(session):
    return list(session.messages.text)


# A graph with messages


def test_a_plain_graph_answers_and_remembers(session):
    s = session(chain(talker(heard), name="plain"))
    assert ask(s, "one").status == "done"
    assert ask(s, "two").answer == "one | one | two"
    assert conversation(s) == ["one", "one", "two", "one | one | two"]
    assert [m.text for m in s.state["messages"]] == conversation(s)
    assert s.agent == "plain"
    assert {e.agent for e in s.events() if e.kind != "queued"} == {"plain"}
    assert {e.parent for e in s.events()} == {""}


def test_a_plain_graph_opens_again_with_the_same_conversation(session):
    graph = chain(talker(heard))
    s = session(graph)
    ask(s, "one")
    before = s.events()
    s.close()
    again = session(graph)
    assert again.events() == before
    assert ask(again, "two").answer == "one | one | two"


def test_what_no_model_said_is_no_model_call(session):
    def node(state):
        return {"messages": [AIMessage("a fixed answer")]}

    s = session(chain(node))
    assert ask(s).answer == "a fixed answer"
    assert s.usage.empty


def test_messages_without_ids_are_told_once_also_when_the_thread_is_opened_again(session):
    class Plain(TypedDict):
        messages: Annotated[list[Any], operator.add]  # unlike add_messages, it gives no ids

    def node(state):
        return {"messages": [AIMessage("first"), AIMessage("second")]}

    graph = chain(node, state=Plain)
    s = session(graph)
    ask(s)
    assert conversation(s) == ["go", "first", "second"]
    s.close()
    assert conversation(session(graph)) == ["go", "first", "second"]


def test_messages_that_a_node_puts_in_place_of_all_are_told_once(session):
    def tidy(state):
        return {"messages": Overwrite(list(state["messages"]))}

    s = session(chain(tidy, talker(lambda m: f"saw {len(m)}")))
    ask(s, "one")
    ask(s, "two")
    assert conversation(s) == ["one", "saw 1", "two", "saw 3"]


def test_a_conversation_that_langchain_summarises_is_told_once(session):
    summary = SummarizationMiddleware(
        ScriptedModel(lambda messages: "in short"), trigger=("messages", 4), keep=("messages", 3)
    )
    replies = iter(range(100))
    graph = create_agent(
        ScriptedModel(lambda messages: f"answer {next(replies)}"), middleware=[summary]
    )
    s = session(graph)
    for number in range(4):
        ask(s, f"question {number}")
    asked = [text for n in range(4) for text in (f"question {n}", f"answer {n}")]
    assert conversation(s) == asked
    s.close()
    assert conversation(session(graph)) == asked


def test_a_graph_with_further_input_beside_the_messages(session):
    class Topical(MessagesState):
        topic: str

    def node(state):
        return {"messages": [AIMessage(f"{state['topic']}: {state['messages'][-1].text}")]}

    s = session(chain(node, state=Topical))
    run = ask(s, {"messages": [HumanMessage("how deep?")], "topic": "lakes"})
    assert run.answer == "lakes: how deep?"
    assert ask(s, "and how wide?").answer == "lakes: and how wide?"


def test_a_graph_whose_state_is_a_pydantic_model(session):
    class Checked(BaseModel):
        messages: Annotated[list[Any], operator.add] = []
        number: int = 0

    def node(state):
        return {"number": state.number + 1, "messages": [AIMessage(f"{state.number + 1}")]}

    s = session(chain(node, state=Checked))
    assert ask(s).answer == "1"
    assert ask(s).answer == "2"


def test_a_checkpointer_that_the_graph_came_with_is_left_alone(session):
    from langgraph.checkpoint.memory import InMemorySaver

    saver = InMemorySaver()
    graph = chain(talker(heard), checkpointer=saver)
    ask(session(graph))
    assert list(saver.list(None)) == []
    assert graph.checkpointer is saver


def test_two_sessions_can_use_one_graph_at_the_same_time(session):
    gate = Gate()
    graph = chain(talker(heard, gate=gate))
    one, two = session(graph, thread="one"), session(graph, thread="two")
    runs = one.ask("1"), two.ask("2")
    gate.reached.wait(PATIENCE)
    gate.opened.set()
    assert [run.wait(PATIENCE).answer for run in runs] == ["1", "2"]


def test_steering_reaches_the_next_node(session):
    gate = Gate()
    s = session(chain(talker("first", "first", gate), talker(heard, "second")))
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    s.steer("only after 2020")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "go | first | only after 2020"
    assert conversation(s) == ["go", "first", "only after 2020", run.answer]
    assert [m.text for m in s.state["messages"]] == conversation(s)


def test_steering_in_the_last_node_makes_the_graph_go_round_once_more(session):
    gate = Gate()
    s = session(chain(talker(heard, gate=gate)))
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    s.steer("only after 2020")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "go | go | only after 2020"
    assert [m.text for m in s.state["messages"]] == conversation(s)


# A graph without messages


class Number(TypedDict):
    number: int


def double(state):
    return {"number": state["number"] * 2}


def plus_one(state):
    return {"number": state["number"] + 1}


def test_a_graph_without_messages_is_given_its_input(session):
    s = session(chain(double, plus_one, state=Number))
    assert ask(s, {"number": 20}).status == "done"
    assert s.state == {"number": 41}
    assert [e.name for e in kinds(s, "node")] == ["double", "plus_one"]
    assert "20" in s.runs[0].question


def test_a_graph_without_messages_is_not_asked_in_words(session):
    s = session(chain(double, state=Number))
    with pytest.raises(SessionError, match=r"ask\(\{"):
        s.ask("double twenty")
    assert s.status == "idle"
    assert s.runs == []


def test_a_graph_without_messages_cannot_be_steered(session):
    gate = Gate()

    def slow(state):
        gate.wait()

    s = session(chain(slow, double, state=Number))
    run = s.ask({"number": 1})
    gate.reached.wait(PATIENCE)
    with pytest.raises(SessionError, match="messages"):
        s.steer("faster")
    gate.opened.set()
    assert run.wait(PATIENCE).status == "done"
    assert s.state == {"number": 2}


def test_input_that_cannot_be_stored_is_refused_before_anything_is_done(session):
    s = session(chain(double, state=Number))
    with pytest.raises(SessionError, match="plain values"):
        s.ask({"number": threading.Lock()})
    assert s.status == "idle"
    assert ask(s, {"number": 1}).status == "done"


def test_input_that_the_graph_refuses_fails_the_run_and_not_the_session(session):
    s = session(chain(double, state=Number))
    run = ask(s, {"wrong": 1})
    assert run.status == "failed"
    assert "session.ask" in run.error
    assert ask(s, {"number": 4}).status == "done"
    assert s.state == {"number": 8}


def test_state_keys_that_are_called_as_deepnbs_but_hold_something_else(session):
    class Odd(TypedDict):
        todos: Any
        files: Any

    def node(state):
        return {"todos": ["just", "words"], "files": ["a.md", "b.md"]}

    graph = chain(node, state=Odd)
    s = session(graph)
    assert ask(s, {"todos": "none", "files": 3}).status == "done"
    assert s.todos.empty
    assert s.files.empty
    fork = s.fork()
    ask(fork, {"todos": [], "files": {"c.md": "text"}})
    assert s.compare(fork).empty  # the node has overwritten them
    s.close()
    assert session(graph).status == "done"


def test_a_node_that_fails_is_run_again_by_resume(session):
    failures = [RuntimeError("the line is down")]
    done = []

    def first(state):
        done.append("first")
        return {"number": 1}

    def second(state):
        if failures:
            raise failures.pop()
        done.append("second")
        return {"number": state["number"] + 1}

    s = session(chain(first, second, state=Number))
    run = ask(s, {"number": 0})
    assert run.status == "failed"
    assert "the line is down" in run.error
    assert s.resume().wait(PATIENCE).status == "done"
    assert done == ["first", "second"]
    assert s.state == {"number": 2}


# A graph with a subgraph


def test_a_subgraph_is_an_agent_of_its_own_that_the_graph_has_called(session):
    inner = chain(talker("from inside"), name="inner")
    s = session(chain(inner, name="outer"))
    assert ask(s).answer == "from inside"
    (started,), (ended,) = kinds(s, "subagent_started"), kinds(s, "subagent_ended")
    assert (started.agent, started.parent) == ("inner", "outer")
    assert ended.data["status"] == "ok"
    assert started.call == ended.call != ""
    inside = [e for e in s.events() if e.agent == "inner"]
    assert {e.parent for e in inside} == {"outer"}
    assert {e.call for e in inside} == {started.call}
    assert "token" in {e.kind for e in inside}


def test_a_subgraph_that_gives_back_the_whole_conversation_does_not_repeat_it(session):
    inner = chain(talker(lambda m: f"saw {len(m)}"), name="inner")
    s = session(chain(inner))
    ask(s, "one")
    ask(s, "two")
    assert conversation(s) == ["one", "saw 1", "two", "saw 3"]


def test_two_levels_of_subgraphs_name_their_callers(session):
    innermost = chain(talker("deep down"), name="innermost")
    inner = chain(innermost, name="inner")
    s = session(chain(inner, name="outer"))
    ask(s)
    called = [(e.agent, e.parent) for e in kinds(s, "subagent_started")]
    assert called == [("inner", "outer"), ("innermost", "inner")]
    assert len(kinds(s, "subagent_ended")) == 2


def test_a_question_from_a_subgraph_is_asked_once_and_says_who_asks(session):
    def wonder(state):
        return {"messages": [AIMessage(f"you said {interrupt('which lake?')}")]}

    graph = chain(chain(wonder, name="inner"), name="outer")
    s = session(graph)
    run = ask(s)
    assert run.status == "waiting"
    (question,) = s.questions
    assert (question.agent, question.parent, question.request) == ("inner", "outer", "which lake?")
    s.close()
    again = session(graph)
    assert again.status == "waiting"
    assert again.questions == [question]
    again.respond(question.id, "the deep one")
    assert again.runs[-1].wait(PATIENCE).answer == "you said the deep one"


def test_steering_waits_until_a_subgraph_has_ended(session):
    gate = Gate()
    inner = chain(talker(heard, "one", gate), talker(heard, "two"), name="inner")
    s = session(chain(inner, talker(heard, "after")))
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    s.steer("only after 2020")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "go | go | go | go | only after 2020"
    assert [m.text for m in s.state["messages"]] == conversation(s)


def test_subgraphs_side_by_side_are_told_apart_and_answered_in_reverse(session):
    class Part(TypedDict):
        number: int
        results: Annotated[list[int], operator.add]

    class Whole(TypedDict):
        numbers: list[int]
        results: Annotated[list[int], operator.add]

    def work(state):
        return {"results": [state["number"] * interrupt(f"times {state['number']}?")]}

    def spread(state):
        return [Send("worker", {"number": n, "results": []}) for n in state["numbers"]]

    builder = StateGraph(Whole)
    builder.add_node("worker", chain(work, state=Part))
    builder.add_conditional_edges(START, spread, ["worker"])
    s = session(builder.compile(name="boss"))
    run = ask(s, {"numbers": [1, 2, 3], "results": []})
    assert {(q.agent, q.parent) for q in s.questions} == {("worker", "boss")}
    assert len({q.call for q in s.questions}) == 3
    for question in reversed(s.questions):
        s.respond(question.id, 10)
    assert until(lambda: run.wait(PATIENCE).status == "done")
    assert s.state["results"] == [10, 20, 30]
    started, ended = kinds(s, "subagent_started"), kinds(s, "subagent_ended")
    assert sorted(e.call for e in started) == sorted(e.call for e in ended)


def test_a_subgraph_that_hands_over_to_its_parent(session):
    def hand_over(state):
        update = {"messages": [AIMessage("over to you")]}
        return Command(goto="last", graph=Command.PARENT, update=update)

    builder = StateGraph(MessagesState)
    builder.add_node("first", chain(hand_over))
    builder.add_node("last", talker("thank you"))
    builder.add_edge(START, "first")
    s = session(builder.compile())
    assert ask(s).answer == "thank you"
    assert conversation(s) == ["go", "over to you", "thank you"]


# Static breakpoints


@pytest.mark.parametrize(
    "stop", [{"interrupt_before": ["plus_one"]}, {"interrupt_after": ["double"]}]
)
def test_a_breakpoint_of_the_graphs_own_stops_the_run_where_it_says(session, stop):
    graph = chain(double, plus_one, state=Number, **stop)
    s = session(graph)
    run = ask(s, {"number": 20})
    assert (run.status, s.status, s.can_resume) == ("stopped", "stopped", True)
    assert "plus_one" in run.reason
    assert "resume" in run.reason
    assert s.state == {"number": 40}
    s.close()
    again = session(graph)
    assert (again.status, again.can_resume) == ("stopped", True)
    assert again.resume().wait(PATIENCE).status == "done"
    assert again.state == {"number": 41}


def test_a_breakpoint_before_the_first_node(session):
    s = session(chain(double, state=Number, interrupt_before=["double"]))
    assert ask(s, {"number": 20}).status == "stopped"
    assert s.state == {"number": 20}
    assert s.resume().wait(PATIENCE).status == "done"
    assert s.state == {"number": 40}


def test_a_breakpoint_in_a_loop_stops_every_time(session):
    builder = StateGraph(Number)
    builder.add_node("plus_one", plus_one)
    builder.add_edge(START, "plus_one")
    builder.add_conditional_edges(
        "plus_one", lambda state: "plus_one" if state["number"] < 3 else END
    )
    s = session(builder.compile(interrupt_before=["plus_one"]))
    seen = [ask(s, {"number": 0})]
    while s.can_resume:
        seen.append(s.resume().wait(PATIENCE))
        assert len(seen) < 10
    assert s.state == {"number": 3}
    assert [e.data["status"] for e in kinds(s, "run_ended")] == [*["stopped"] * 3, "done"]


def test_a_breakpoint_inside_a_subgraph(session):
    inner = chain(
        talker("one", "one"), talker("two", "two"), name="inner", interrupt_before=["two"]
    )
    s = session(chain(inner, talker("three", "three")))
    run = ask(s)
    assert (run.status, s.can_resume) == ("stopped", True)
    assert "two" not in [e.name for e in kinds(s, "node")]
    assert s.resume().wait(PATIENCE).answer == "three"
    assert [m.text for m in s.state["messages"]] == conversation(s) == ["go", "one", "two", "three"]


def test_asking_at_a_breakpoint_starts_afresh(session):
    s = session(chain(double, plus_one, state=Number, interrupt_before=["plus_one"]))
    ask(s, {"number": 20})
    assert ask(s, {"number": 1}).status == "stopped"
    assert s.state == {"number": 2}
    s.resume().wait(PATIENCE)
    assert s.state == {"number": 3}


@pytest.mark.parametrize("stop", [{"interrupt_before": ["send"]}, {"interrupt_after": ["plan"]}])
def test_steering_does_not_carry_a_run_past_the_graphs_own_breakpoint(session, stop):
    gate = Gate()
    s = session(chain(talker("a plan", "plan", gate), talker(heard, "send"), **stop))
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    s.steer("only to Anna")
    gate.opened.set()
    assert run.wait(PATIENCE).status == "stopped"
    assert "send" not in [e.name for e in kinds(s, "node")]
    assert s.resume().wait(PATIENCE).answer == "go | a plan | only to Anna"


# Questions of the graph's own


class Answers(TypedDict):
    answers: Annotated[list[Any], operator.add]


def asker(*questions):
    def wonder(state):
        return {"answers": [interrupt(question) for question in questions]}

    return chain(wonder, state=Answers)


@dataclass
class Place:
    name: str


@pytest.mark.parametrize(
    "question",
    [
        "which lake?",
        5,
        None,
        {"question": "which?", "among": ("a", "b")},
        {1: {2, 3}},
        float("nan"),
        b"bytes",
        "half a \ud83d pair",
        {"type": None},
        {"type": ["a", "list"]},
        Place("the lake"),
    ],
    ids=repr,
)
def test_a_graph_may_ask_in_any_form(session, question):
    graph = asker(question)
    s = session(graph)
    assert ask(s, {"answers": []}).status == "waiting"
    assert s.waiting_for
    (row,) = s.pending.to_dict("records")
    assert row["id"] == s.questions[0].id
    s.close()
    again = session(graph)
    assert list(again.pending.id) == [row["id"]]
    again.respond(row["id"], {"any": "thing"})
    assert again.runs[-1].wait(PATIENCE).status == "done"
    assert again.state == {"answers": [{"any": "thing"}]}
    assert again.pending.empty


@pytest.mark.parametrize(
    "question",
    [
        {"type": "clarification_request"},
        {"type": "clarification_request", "tool": "ask_user"},
        {"type": "client_tool_execution"},
        {"type": "budget_exhausted"},
        {"type": "budget_exhausted", "unit": "usd", "limit": "a lot", "spent": "more"},
        {"type": "tool_approval"},
        {"action_requests": []},
        {"action_requests": "all of them"},
        {"action_requests": [{"tool": "send"}]},
    ],
    ids=repr,
)
def test_a_question_that_only_looks_like_one_of_ours_takes_any_answer(session, question):
    graph = asker(question)
    s = session(graph)
    assert ask(s, {"answers": []}).status == "waiting"
    assert len(s.pending) == 1
    assert repr(s)
    s.close()
    again = session(graph)
    again.respond(again.questions[0].id, {"any": "thing"})
    assert again.runs[-1].wait(PATIENCE).status == "done"
    assert again.state == {"answers": [{"any": "thing"}]}


@pytest.mark.parametrize(
    "answer", ["text", 0, False, None, "", [], {"deep": {"er": [1.5, None]}}], ids=repr
)
def test_any_plain_answer_reaches_the_graph_as_it_is(session, answer):
    s = session(asker("well?"))
    run = ask(s, {"answers": []})
    s.respond(s.questions[0].id, answer)
    assert run.wait(PATIENCE).status == "done"
    assert s.state == {"answers": [answer]}


@pytest.mark.parametrize("answer", [threading.Lock(), {"a": object()}, lambda: None], ids=repr)
def test_an_answer_that_cannot_be_kept_is_refused_and_the_question_stays(session, answer):
    s = session(asker("well?"))
    run = ask(s, {"answers": []})
    with pytest.raises(AnswerError, match="still open"):
        s.respond(s.questions[0].id, answer)
    assert (s.status, len(s.pending)) == ("waiting", 1)
    s.respond(s.questions[0].id, "plainly")
    assert run.wait(PATIENCE).status == "done"
    assert s.state == {"answers": ["plainly"]}


def test_a_node_that_asks_several_times_gets_each_answer_once(session):
    s = session(asker("one?", "two?", "three?"))
    run = ask(s, {"answers": []})
    for number in (1, 2, 3):
        (question,) = s.questions
        s.respond(question.id, number)
        run.wait(PATIENCE)
    assert run.status == "done"
    assert s.state == {"answers": [1, 2, 3]}
    assert len({e.data["id"] for e in kinds(s, "interrupt_opened")}) == 3


def test_a_node_that_asks_until_it_likes_the_answer(session):
    def age(state):
        answer = interrupt("how old?")
        while not isinstance(answer, int):
            answer = interrupt(f"{answer!r} is no number; how old?")
        return {"answers": [answer]}

    graph = chain(age, state=Answers)
    s = session(graph)
    run = ask(s, {"answers": []})
    s.respond(s.questions[0].id, "old")
    run.wait(PATIENCE)
    assert "'old' is no number" in s.waiting_for
    s.close()
    s = session(graph)  # also over a restart, in the middle
    s.respond(s.questions[0].id, 7)
    assert s.runs[-1].wait(PATIENCE).status == "done"
    assert s.state == {"answers": [7]}


def test_nodes_side_by_side_ask_side_by_side_and_are_answered_in_reverse(session):
    def node(name):
        def wonder(state):
            return {"answers": [f"{name}: {interrupt(name)}"]}

        return wonder

    builder = StateGraph(Answers)
    for name in ("one", "two", "three"):
        builder.add_node(name, node(name))
        builder.add_edge(START, name)
    s = session(builder.compile())
    run = ask(s, {"answers": []})
    assert sorted(s.pending.question) == ["one", "three", "two"]
    for question in reversed(s.questions):
        s.respond(question.id, f"answer {question.request}")
    assert until(lambda: run.wait(PATIENCE).status == "done")
    expected = [f"{name}: answer {name}" for name in ("one", "three", "two")]
    assert sorted(s.state["answers"]) == expected


def test_a_function_answers_a_graphs_own_questions(session):
    s = session(asker("one?", "two?"), respond=lambda question: f"yes to {question.request}")
    assert ask(s, {"answers": []}).status == "done"
    assert s.state == {"answers": ["yes to one?", "yes to two?"]}


def test_what_was_said_while_a_question_waits_is_heard_after_the_answer(session):
    def wonder(state):
        return {"messages": [AIMessage(f"so it is {interrupt('which?')}")]}

    s = session(chain(wonder, talker(heard)))
    run = ask(s)
    s.steer("only after 2020")
    assert run.status == "waiting"
    s.respond(s.questions[0].id, "red")
    assert run.wait(PATIENCE).answer == "go | so it is red | only after 2020"


# langchain's agents


def mail(sent, gate=None):
    def send(to: str) -> str:
        """Send a letter."""
        if gate:
            gate.wait()
        sent.append(to)
        return f"sent to {to}"

    return send


def test_langchains_agent_calls_tools_and_each_call_is_told_once(session):
    sent: list[str] = []
    model = ScriptedModel([[call("send", to="a"), call("send", to="b")], "all sent"])
    s = session(create_agent(model, [mail(sent)], name="mailer"))
    assert ask(s).answer == "all sent"
    assert sorted(sent) == ["a", "b"]
    calls, results = kinds(s, "tool_call"), kinds(s, "tool_result")
    assert sorted(e.data["args"]["to"] for e in calls) == ["a", "b"]
    assert {e.data["id"] for e in calls} == {e.data["id"] for e in results}
    assert len(calls) == len(results) == 2
    assert s.usage.calls.sum() == 2


def test_langchains_own_approvals_are_decided_per_action(session):
    sent: list[str] = []
    model = ScriptedModel([[call("send", to="a"), call("send", to="b")], "done"])
    ask_first = HumanInTheLoopMiddleware({"send": True})
    s = session(create_agent(model, [mail(sent)], middleware=[ask_first]))
    run = ask(s)
    assert run.reason == "approval of send, send"
    no = {"type": "reject", "message": "not to her"}
    s.respond(s.questions[0].id, {"decisions": [no, {"type": "approve"}]})
    assert run.wait(PATIENCE).status == "done"
    assert sent == ["b"]
    assert "not to her" in heard(model.calls[-1].messages)


def test_steering_an_agent_in_a_tool_leaves_call_and_result_together(session):
    gate = Gate()
    model = ScriptedModel([call("send", to="a"), heard])
    s = session(create_agent(model, [mail([], gate)]))
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    s.steer("only after 2020")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "go |  | sent to a | only after 2020"
    assert [m.type for m in s.state["messages"]] == ["human", "ai", "tool", "human", "ai"]


# deepagents' own agents


def deep_graph(steps, helper_steps=(), **options):
    helper = {
        "name": "reader",
        "description": "reads",
        "system_prompt": "Read.",
        "model": ScriptedModel(list(helper_steps)),
    }
    return deepagents.create_deep_agent(
        ScriptedModel(list(steps)), subagents=[helper], name="foreign", **options
    )


def write(path, content):
    return call("write_file", file_path=path, content=content)


TASK = call("task", description="read it all", subagent_type="reader")


def test_a_deepagents_graph_tells_who_wrote_which_file_of_its_state(session):
    edit = call("edit_file", file_path="/a.md", old_string="one", new_string="two")
    steps = [write("/a.md", "one"), TASK, edit, "done"]
    s = session(deep_graph(steps, [write("/b.md", "from below"), "read"]))
    assert ask(s).answer == "done"
    told = [(e.name, e.data["action"], e.agent, e.parent) for e in kinds(s, "file")]
    assert told == [
        ("/a.md", "created", "foreign", ""),
        ("/b.md", "created", "reader", "foreign"),
        ("/a.md", "changed", "foreign", ""),
    ]
    assert "-one\n+two" in kinds(s, "file")[-1].data["diff"]
    files = s.files.set_index("path")
    assert dict(files.by) == {"/a.md": "foreign", "/b.md": "reader"}
    assert set(files.home) == {"memory"}


def test_a_deepagents_subagent_is_told_by_its_name_and_its_call(session):
    s = session(deep_graph([TASK, "done"], [call("ls", path="/"), "nothing there"]))
    ask(s)
    (started,), (ended,) = kinds(s, "subagent_started"), kinds(s, "subagent_ended")
    (task,) = [e for e in kinds(s, "tool_call") if e.name == "task"]
    assert (started.agent, started.parent) == ("reader", "foreign")
    assert started.data == {"id": task.data["id"], "text": "read it all"}
    assert ended.data["status"] == "ok"
    inside = [e for e in s.events() if started.seq <= e.seq <= ended.seq and e.agent == "reader"]
    assert {(e.parent, e.call) for e in inside} == {("foreign", task.data["id"])}
    assert [e.name for e in inside if e.kind == "tool_call"] == ["ls"]
    assert conversation(s) == ["go", "done"]


def test_deepagents_approvals_hold_for_the_agent_and_its_subagents(session, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    s = session(
        deep_graph(
            [write("/a.md", "A"), TASK, "done"],
            [write("/b.md", "B"), "written"],
            backend=FilesystemBackend(root_dir=folder, virtual_mode=True),
            interrupt_on={"write_file": True},
        )
    )
    run = ask(s)
    askers = []
    while s.status == "waiting":
        (question,) = s.questions
        askers.append((question.agent, question.parent))
        assert not (
            folder / Path(question.request["action_requests"][0]["args"]["file_path"]).name
        ).exists()
        s.respond(question.id, "approve")
        run.wait(PATIENCE)
    assert run.status == "done"
    assert askers == [("foreign", ""), ("reader", "foreign")]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a.md": "A", "b.md": "B"}


def test_a_deepagents_approval_waits_over_a_restart(session, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()

    def graph(*steps):
        backend = FilesystemBackend(root_dir=folder, virtual_mode=True)
        return deep_graph(steps, backend=backend, interrupt_on={"write_file": True})

    s = session(graph(write("/a.md", "A")))
    ask(s)
    (question,) = s.questions
    s.close()
    again = session(graph("done"))
    assert [q.id for q in again.questions] == [question.id]
    assert not list(folder.iterdir())
    again.respond(question.id, "approve")
    assert again.runs[-1].wait(PATIENCE).answer == "done"
    assert (folder / "a.md").read_text() == "A"


def test_steering_a_deepagents_graph_during_a_subagent_reaches_the_agent_afterwards(session):
    gate = Gate()

    def waits(messages):
        gate.wait()
        return "read"

    s = session(deep_graph([TASK, heard], [waits]))
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    s.steer("only after 2020")
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "go |  | read | only after 2020"


def test_two_deepagents_subagents_of_one_name_are_told_apart(session):
    s = session(deep_graph([[TASK, TASK], "done"], ["one", "two"]))
    ask(s)
    started, ended = kinds(s, "subagent_started"), kinds(s, "subagent_ended")
    assert len({e.call for e in started}) == 2
    assert sorted(e.call for e in started) == sorted(e.call for e in ended)
    by_call = {e.call: e.data["text"] for e in kinds(s, "message") if e.parent}
    assert sorted(by_call.values()) == ["one", "two"]


# Other ways to make a graph


def test_a_graph_written_as_a_function(session):
    @step
    def double_it(number: int) -> int:
        return number * 2

    @entrypoint()
    def flow(given: dict[str, Any]) -> dict[str, Any]:
        doubled = double_it(given["number"]).result()
        return {"number": doubled, "answer": interrupt("is that right?")}

    s = session(flow)
    run = ask(s, {"number": 21})
    s.respond(s.questions[0].id, "yes")
    assert run.wait(PATIENCE).status == "done"
    assert s.state == {"number": 42, "answer": "yes"}
    ask(s, {"number": 1})
    s.close()
    again = session(flow)
    assert again.waiting_for == "an answer to 'is that right?'"
    again.stop()
    assert ask(again, {"number": 2}).status == "waiting"
    with pytest.raises(SessionError, match="no messages"):
        again.ask("in words")


def test_a_node_that_goes_on_with_a_command(session):
    def first(state):
        return Command(update={"number": state["number"] + 1}, goto="last")

    def last(state):
        return {"number": state["number"] * 10}

    builder = StateGraph(Number)
    builder.add_node("first", first, destinations=("last",))
    builder.add_node("last", last)
    builder.add_edge(START, "first")
    s = session(builder.compile())
    ask(s, {"number": 1})
    assert s.state == {"number": 20}
    assert [e.name for e in kinds(s, "node")] == ["first", "last"]


@pytest.mark.parametrize("agent", [None, 5, object(), StateGraph(Number), ScriptedModel([])])
def test_what_is_no_compiled_graph_is_refused_with_what_to_pass(session, agent):
    with pytest.raises(SessionError, match="compile"):
        session(agent)


def test_options_that_a_graph_cannot_take_are_refused(session):
    with pytest.raises(SessionError, match="tools="):
        session(chain(double, state=Number), tools=[])
