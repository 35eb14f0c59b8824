"""What a thread keeps of what was read: each text once, through kills and into branches."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import deepnb
from deepnb.agents.research.state import with_entries, with_results, with_sources
from tests.research.sessions import Scientist, plan, step
from tests.sessions import PATIENCE, ask, opening

LOOK = [step(), step("2", "search_knowledge", "sediment")]


@pytest.fixture
def lake(tmp_path):
    """The sample documents, searched by words."""
    folder = deepnb.samples.copy(tmp_path / "lake")
    with deepnb.Knowledge(folder, embeddings=False) as knowledge:
        yield knowledge


def stored(workspace, thread="t"):
    """Give how many bytes the checkpoints of a thread hold."""
    path = workspace / ".deepnb" / "threads" / thread / "checkpoints.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        [(checkpoints,)] = connection.execute("SELECT sum(length(checkpoint)) FROM checkpoints")
        [(writes,)] = connection.execute("SELECT sum(length(value)) FROM writes")
        [(sources,)] = connection.execute(
            "SELECT sum(length(value)) FROM writes WHERE channel = 'sources'"
        )
    return checkpoints + writes, sources


def test_a_thread_does_not_grow_with_what_it_has_read_before(tmp_path, lake):
    with opening(tmp_path) as open_session:
        model = Scientist(thinker=plan(*LOOK))
        session = open_session(
            "research", model=model, knowledge=lake, respond="approve", thread="t"
        )
        sizes = [(0, 0)]
        for _ in range(4):
            ask(session, "What did the pump do to the sediment?")
            sizes.append(stored(tmp_path))
        third, fourth = (sizes[n][0] - sizes[n - 1][0] for n in (3, 4))
        text = sum(
            len(passage["text"].encode())
            for source in session.state["sources"].values()
            for passage in source["passages"]
        )
    assert sizes[1][1] < 2 * text
    assert sizes[4][1] - sizes[1][1] < 20  # as often as it is said that there is nothing new
    assert fourth - third < text / 10  # though there are more messages by then


def test_a_step_may_be_called_what_a_message_has(tmp_path, lake):
    named = plan(step("type"), step("role", "search_knowledge", "sediment"))
    with opening(tmp_path) as open_session:
        model = Scientist(thinker=named)
        session = open_session("research", model=model, knowledge=lake, respond="approve")
        assert ask(session, "What did the pump do?").status == "done"
        assert session.plan.status.tolist() == ["ok", "ok"]


@pytest.mark.parametrize("reducer", [with_entries, with_results, with_sources])
def test_what_was_added_comes_together_the_same_in_any_batches(reducer):
    chance = random.Random(7)
    for _ in range(100):
        names = [f"S{chance.randint(1, 9)}" for _ in range(30)]
        writes = {
            with_entries: lambda name: [{"node": name}],
            with_results: lambda name: [(name, {"status": "ok"})] if name != "S1" else None,
            with_sources: lambda name: {name: {"id": name, "read": chance.random()}},
        }[reducer]
        made = [writes(name) for name in names]
        empty = [] if reducer is with_entries else {}
        cut = chance.randint(0, 30)
        whole = reducer(empty, made)
        parts = reducer(reducer(empty, made[:cut]), made[cut:])
        assert (parts, list(parts)) == (whole, list(whole))
        assert not empty


POLICY = """# Policy
## Data access
- allow the knowledge base
## External requests
- at most 10 external requests
## Allowed tools
- allow search_knowledge, ponder
## Content
"""
KERNEL = """
import sys, time
from langchain_core.tools import tool
from tests.research import test_growth

@tool
def ponder(text: str) -> str:
    "Think for long."
    print("pondering", flush=True)
    time.sleep(600)

session = test_growth.opened(sys.argv[1], ponder)
session.ask("What did the pump cost?").wait()
session.ask("What of the sediment?").wait()
"""


def opened(folder, ponder):
    """Open the thread of the kernel that is killed, or of one that comes after it."""
    first = plan(step())
    second = plan(step(given="sediment"), step("2", "ponder", "it", depends_on=["1"]))
    return deepnb.Session(
        "research",
        model=Scientist(thinker=[first, second]),
        workspace=folder,
        knowledge=deepnb.Knowledge(folder, embeddings=False),
        respond="approve",
        thread="t",
        tools=[ponder],
        policy=POLICY,
    )


def test_what_was_read_outlives_the_kernel_and_goes_into_branches(tmp_path):
    folder = deepnb.samples.copy(tmp_path / "lake")
    command = [sys.executable, "-c", textwrap.dedent(KERNEL), str(folder)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as kernel:
        said = kernel.stdout.readline()
        kernel.kill()
    assert said == "pondering\n"

    @tool
    def ponder(text: str) -> str:
        """Think."""
        return f"I have thought of {text}."

    with opened(folder, ponder) as session:
        read = session.state["sources"]
        assert list(read) == session.sources.id.tolist()
        [asked, cut] = session.runs
        assert session.resume().wait(PATIENCE).status == "done"
        after = session.state["sources"]
        assert list(after.items())[: len(read)] == list(read.items())
        assert [source["kind"] for source in after.values()][len(read) :] == ["tool"]
        with session.fork(before=cut) as branch:
            early = branch.state["sources"]
            assert 0 < len(early) < len(read)
            branch.use("offline")
            assert ask(branch, "Who paid for the pump?").status == "done"
            late = branch.state["sources"]
            assert list(late)[: len(early)] == list(early)
            assert branch.sources.id.tolist() == list(late)
        session.use("offline")
        ask(session, "How deep is the lake?")
        assert list(session.state["sources"])[: len(after)] == list(after)
        assert asked.report.sources.keys() <= session.state["sources"].keys()


async def test_a_question_without_an_id_is_given_one_and_keeps_it(lake):
    model = Scientist()
    options = {"model": model, "knowledge": lake, "policy": POLICY}
    graph = deepnb.agents.get("research", checkpointer=InMemorySaver(), **options)
    config = {"configurable": {"thread_id": "1"}}
    for question in ("What did the pump cost?", "Who paid for it?"):
        await graph.ainvoke({"messages": [("user", question)]}, config)
        await graph.ainvoke(Command(resume={"approved": True}), config)
    state = (await graph.aget_state(config)).values
    assert [message.id for message in state["messages"]].index(state["asked"]) == 2
    assert "What did the pump cost?" in model.prompts("plan")[1]
    assert "Who paid for it?" not in model.prompts("write")[0]
    assert model.prompts("write")[1].count("Who paid for it?") == 1
