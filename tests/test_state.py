"""How messages come together, and what a step leaves behind."""

from __future__ import annotations

import random

from deepagents.graph import DeepAgentState
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

import deepnb
from deepnb.agents.state import State, merge_messages
from deepnb.testing import ScriptedModel, call


def test_messages_are_appended_replaced_in_place_and_removed():
    a, b, c = (HumanMessage(x, id=x) for x in "abc")
    assert merge_messages([a], [[b], c]) == [a, b, c]
    assert merge_messages([a, b, c], [[AIMessage("B", id="b")]]) == [a, AIMessage("B", id="b"), c]
    assert merge_messages([a, b, c], [[RemoveMessage(id="b")]]) == [a, c]
    assert merge_messages([a, b], [[RemoveMessage(id=REMOVE_ALL_MESSAGES), c]]) == [c]
    assert merge_messages(None, [[RemoveMessage(id="gone")], [a]]) == [a]


def test_what_has_no_id_is_kept_and_what_is_raw_is_typed():
    twice = [HumanMessage("same"), HumanMessage("same")]
    assert merge_messages(None, [twice]) == twice
    mixed = [HumanMessage("typed"), {"role": "assistant", "content": "raw"}, ("user", "pair")]
    merged = merge_messages(None, [mixed, "text"])
    assert [m.type for m in merged] == ["human", "ai", "human", "human"]


def test_it_agrees_with_langgraphs_own_and_does_not_depend_on_batches():
    chance = random.Random(7)
    for _ in range(200):
        state, writes, ids = [], [], []
        for step in range(chance.randint(1, 12)):
            known = [i for i in ids if chance.random() < 0.3]
            if known and chance.random() < 0.4:
                writes.append([RemoveMessage(id=known[0])])
                ids.remove(known[0])
            else:
                new = known[0] if known else f"m{step}"
                ids = [*dict.fromkeys([*ids, new])]
                writes.append([HumanMessage(f"{step}", id=new)])
        one_by_one, reference = state, state
        for write in writes:
            one_by_one = merge_messages(one_by_one, [write])
            reference = add_messages(reference, write)
        assert one_by_one == merge_messages(state, writes) == reference


def test_it_is_deepagents_state():
    assert set(State.__annotations__) >= set(DeepAgentState.__annotations__)


def test_a_list_of_todos_written_twice_in_a_turn_is_refused_and_neither_counts():
    todo = [{"content": "x", "status": "pending"}]
    twice = [call("write_todos", todos=todo), call("write_todos", todos=[])]
    model = ScriptedModel([twice, call("write_todos", todos=todo), "done"])
    graph = deepnb.create_deep_agent(model, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    result = graph.invoke({"messages": [("user", "plan")]}, config)
    refused = [m.status for m in result["messages"] if m.type == "tool"]
    assert refused == ["error", "error", "success"]
    assert result["todos"] == todo


def test_a_step_leaves_no_more_checkpoints_than_it_has_nodes():
    def noop() -> str:
        """Do nothing."""
        return "ok"

    steps = 20
    graph = deepnb.create_deep_agent(
        ScriptedModel([*[call("noop")] * steps, "done"]), [noop], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke({"messages": [("user", "go")]}, config)
    checkpoints = list(graph.checkpointer.list(config))
    assert len(checkpoints) <= 2 * steps + 5
