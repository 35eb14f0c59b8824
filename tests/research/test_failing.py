"""A node that raises what nobody expected: an entry, a failed run, and another try."""

from __future__ import annotations

import inspect

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import deepnb
from deepnb.agents.research import graph
from tests.research.sessions import Scientist
from tests.sessions import PATIENCE, ask, kinds, opening

NODES = {
    "question": "listen",
    "thinker": "think",
    "auditor": "audit",
    "human_gate": "gate",
    "tool_executor": "execute",
    "run_step": "run_step",
    "synthesizer": "synthesize",
    "citation_check": "check_citations",
}


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory):
    """The sample documents, searched by words."""
    folder = deepnb.samples.copy(tmp_path_factory.mktemp("lake"))
    with deepnb.Knowledge(folder, embeddings=False) as knowledge:
        yield knowledge


@pytest.mark.parametrize("node", NODES)
def test_a_node_that_fails_leaves_an_entry_and_can_be_tried_again(
    tmp_path, knowledge, monkeypatch, node
):
    key = "sk-" + "a1B2" * 12
    once = [LookupError(f"nobody thought of this; {key}")]
    whole = getattr(graph, NODES[node])

    def broken(*given):
        if once:
            raise once.pop()
        return whole(*given)

    async def broken_too(*given):
        return await broken(*given)

    is_async = inspect.iscoroutinefunction(whole)
    monkeypatch.setattr(graph, NODES[node], broken_too if is_async else broken)
    with opening(tmp_path) as open_session:
        session = open_session(
            "research", model=Scientist(), knowledge=knowledge, respond="approve"
        )
        run = ask(session, "What did the pump cost?")
        assert run.status == "failed"
        [told] = [event for event in kinds(session, "node") if "error" in event.data]
        assert (told.name, told.data["error"][:22]) == (node, "nobody thought of this")
        assert not session.state.get("report")
        assert session.resume().wait(PATIENCE).status == "done"
        entries = session.state["reasoning"]
        [failed] = [each for each in entries if each["summary"].startswith("Failed: LookupError")]
        assert failed["node"] == node
        assert key not in str(entries)
        assert session.report.text


async def test_what_failed_is_of_its_thread(knowledge, monkeypatch):
    once = [LookupError("nobody thought of this")]
    whole = graph.think

    async def broken(*given):
        if once:
            raise once.pop()
        return await whole(*given)

    monkeypatch.setattr(graph, "think", broken)
    agent = deepnb.agents.get(
        "research", model=Scientist(), knowledge=knowledge, checkpointer=InMemorySaver()
    )
    asked = {"messages": [("user", "What did the pump cost?")]}
    first, second = ({"configurable": {"thread_id": name}} for name in ("first", "second"))
    with pytest.raises(LookupError):
        await agent.ainvoke(asked, first)
    entries = [(await agent.ainvoke(asked, each))["reasoning"][0] for each in (second, first)]
    assert "Failed" not in entries[0]["summary"]
    assert "Failed" in entries[1]["summary"]
