"""Keys are never on disk, and what was read is there only where the checkpoint needs it."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from deepnb import Budget
from deepnb.testing import ScriptedModel, call
from tests.sessions import (
    PATIENCE,
    ask,
    echo,
    opening,
    subagent,
    task,
    until,
    write,
)


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


KEY = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"


def holding(workspace, text):
    """Name the files under .deepnb/ that hold a text."""
    files = [path for path in (workspace / ".deepnb").rglob("*") if path.is_file()]
    return {path.name for path in files if text.encode() in path.read_bytes()}


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_a_key_of_the_environment_is_not_on_disk(session, tmp_path, key):
    s = session(echo, respond="approve", budget=Budget(usd=1.0))
    ask(s)
    assert holding(tmp_path, KEY) == set()
    s.close()
    assert holding(tmp_path, KEY) == set()


def test_a_key_in_a_model_is_not_on_disk(session, tmp_path):
    class Keyed(ScriptedModel):
        api_key: str = KEY
        authorization: str = f"Bearer {KEY}"

    helper = subagent("reader", ["read"], model=Keyed(lambda messages: "read"))
    model = Keyed([task("reader"), "done"])
    s = session(model=model, subagents=[helper])
    assert ask(s).answer == "done"
    s.fork().close()
    s.close()
    assert holding(tmp_path, KEY) == set()
    assert KEY not in repr(s)


def node_saying(text):
    def node(state):
        return {"messages": [AIMessage(text)]}

    return StateGraph(MessagesState).add_node("say", node).add_edge(START, "say").compile()


def test_a_key_in_the_graphs_configuration_is_not_on_disk(session, tmp_path):
    graph = node_saying("done").with_config(
        configurable={"openai_api_key": KEY}, metadata={"token": KEY}
    )
    s = session(graph)
    assert ask(s).answer == "done"
    s.fork().close()
    s.close()
    assert holding(tmp_path, KEY) == set()


def test_a_key_in_an_error_of_the_model_is_not_on_disk(session, tmp_path, key):
    s = session([RuntimeError(f"401: {KEY} is not valid"), "done"])
    assert KEY not in ask(s).error
    s.close()
    assert holding(tmp_path, KEY) == set()
    assert KEY not in str(s.events())


def test_a_key_in_an_error_of_a_tool_is_not_on_disk(session, tmp_path, key):
    def fetch() -> str:
        """Fetch."""
        raise RuntimeError(f"401: {KEY} is not valid")

    s = session([call("fetch"), "done"], tools=[fetch])
    ask(s)
    s.close()
    assert holding(tmp_path, KEY) == set()
    assert KEY not in str(s.events())


@pytest.mark.parametrize("then", ["done", "waiting", "failed"])
def test_what_a_tool_has_read_is_not_in_the_record(session, tmp_path, then):
    page = f"{'a long page ' * 100} THE MIDDLE OF THE PAGE {'a long page ' * 100}"
    (tmp_path / "page.md").write_text(page)

    def fetch() -> str:
        """Fetch."""
        return page

    last = {"done": "done", "waiting": write(), "failed": RuntimeError("no")}[then]
    reads = [call("fetch"), call("read_file", file_path="/workspace/page.md")]
    s = session([reads, last], tools=[fetch])
    assert ask(s).status == then
    s.close()
    assert holding(tmp_path, "THE MIDDLE OF THE PAGE") == {"checkpoints.sqlite"}


def test_what_the_client_has_sent_is_not_in_the_record(session, tmp_path):
    lines = "line\n" * 200
    content = f"{lines}THE MIDDLE OF THE FILE\n{lines}"
    s = session([call("read_file", file_path="/files/a.md"), "done"], client=True)
    run = ask(s)
    until(lambda: s.questions)
    (question,) = s.questions
    assert question.type == "client_tool_execution"
    s.respond(question.id, {"result": {"content": content}})
    run.wait(PATIENCE)
    s.close()
    assert "record.sqlite" not in holding(tmp_path, "THE MIDDLE OF THE FILE")


def test_the_folder_is_not_for_version_control(session, tmp_path):
    session(echo)
    assert (tmp_path / ".deepnb" / ".gitignore").read_text() == "*\n"
