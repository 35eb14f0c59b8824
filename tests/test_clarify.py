"""Asking the person: what goes out, what may come back, and to which question."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deepnb.interrupts import refusal
from deepnb.middleware.clarify import PROMPT, ClarifyMiddleware
from deepnb.testing import ScriptedModel, call

THREAD = {"configurable": {"thread_id": "1"}}
OPTIONS = [{"id": "seminar", "label": "Socratic seminar"}, {"id": "essay", "label": "Essay"}]


def agent(*script):
    model = ScriptedModel(list(script))
    return model, create_agent(
        model, middleware=[ClarifyMiddleware()], checkpointer=InMemorySaver()
    )


def start(graph):
    return graph.invoke({"messages": [("user", "Help me")]}, THREAD)["__interrupt__"]


def heard(model):
    return [message.text for message in model.calls[-1].messages if message.type == "tool"]


def test_a_free_question_goes_out_and_its_answer_comes_back():
    model, graph = agent(call("ask_user", question="About what?"), "Thanks")
    (question,) = start(graph)
    (asks,) = graph.get_state(THREAD).values["messages"][-1].tool_calls
    assert question.value == {
        "type": "clarification_request",
        "tool": "ask_user",
        "tool_call_id": asks["id"],
        "question": "About what?",
        "options": [],
        "allow_multiple": False,
        "allow_freeform": True,
    }
    assert next(iter(question.value)) == "type"
    result = graph.invoke(Command(resume={"response": "Sound money"}), THREAD)
    assert heard(model) == ["Sound money"]
    assert result["messages"][-1].text == "Thanks"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"selected": ["essay"]}, "Essay"),
        ({"selected": ["seminar", "essay"]}, "Socratic seminar; Essay"),
        ({"selected": ["essay"], "freeform": "on inflation"}, "Essay | on inflation"),
        ({"selected": [], "freeform": "neither"}, "neither"),
    ],
)
def test_choices_are_told_by_their_labels(answer, told):
    model, graph = agent(
        call("ask_choices", question="What?", options=OPTIONS, allow_multiple=True), "Thanks"
    )
    (question,) = start(graph)
    assert question.value["options"] == OPTIONS
    graph.invoke(Command(resume=answer), THREAD)
    assert heard(model) == [told]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"selected": ["poem"]}, "'poem' is not an option"),
        ({"selected": ["essay", "seminar"]}, "select one"),
        ({"selected": ["essay"], "freeform": "x"}, "no free text"),
        ({"selected": []}, "nothing was selected"),
        ({"response": "essay"}, "selected"),
        ("essay", "dictionary"),
    ],
)
def test_a_malformed_answer_is_refused_and_the_question_stays_open(answer, reason):
    model, graph = agent(
        call("ask_choices", question="What?", options=OPTIONS, allow_freeform=False), "Thanks"
    )
    (question,) = start(graph)
    with pytest.raises(Exception) as raised:  # noqa: PT011  # told apart by what `refusal` makes of it
        graph.invoke(Command(resume={question.id: answer}), THREAD)
    assert reason in str(refusal(raised.value))
    assert [each.id for each in graph.get_state(THREAD).interrupts] == [question.id]
    graph.invoke(Command(resume={question.id: {"selected": ["essay"]}}), THREAD)
    assert heard(model) == ["Essay"]


def test_two_open_questions_get_their_own_answers_in_any_order():
    model, graph = agent(
        [call("ask_user", question="When?"), call("ask_user", question="Where?")], "Thanks"
    )
    ids = {question.value["question"]: question.id for question in start(graph)}
    graph.invoke(Command(resume={ids["Where?"]: {"response": "Rome"}}), THREAD)
    graph.invoke(Command(resume={ids["When?"]: {"response": "1958"}}), THREAD)
    turn, *told = model.calls[-1].messages[-3:]
    assert [(m.tool_call_id, m.text) for m in told] == [
        (turn.tool_calls[0]["id"], "1958"),
        (turn.tool_calls[1]["id"], "Rome"),
    ]


async def test_it_works_inside_a_running_event_loop_sync_and_async():
    for use_async in (False, True):
        model, graph = agent(call("ask_user", question="Who?"), "Thanks")
        request = {"messages": [("user", "Help me")]}
        answer = Command(resume={"response": "me"})
        if use_async:
            await graph.ainvoke(request, THREAD)
            await graph.ainvoke(answer, THREAD)
        else:
            graph.invoke(request, THREAD)
            graph.invoke(answer, THREAD)
        assert heard(model) == ["me"]
    assert asyncio.get_running_loop().is_running()


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": "  "},
        {"question": "What?", "options": []},
        {"question": "What?", "options": [{"id": "a", "label": ""}]},
        {"question": "What?", "options": [{"id": "a", "label": "A"}, {"id": "a", "label": "B"}]},
    ],
)
def test_a_malformed_question_is_a_tool_error_and_nobody_is_asked(arguments):
    name = "ask_choices" if "options" in arguments else "ask_user"
    model, graph = agent(call(name, **arguments), "I will rephrase")
    assert "__interrupt__" not in graph.invoke({"messages": [("user", "Help me")]}, THREAD)
    assert "Error" in heard(model)[0]


def test_the_prompt_tells_when_not_to_ask():
    model, graph = agent("Hello")
    graph.invoke({"messages": [("user", "Hi")]}, THREAD)
    assert PROMPT in model.calls[0].messages[0].text
    assert model.calls[0].tools == ["ask_user", "ask_choices"]
    assert "Do not ask how to use your tools" in PROMPT
