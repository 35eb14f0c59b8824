"""Files that are reached by asking: who is asked what, and which answers count."""

from __future__ import annotations

import json

import pytest
from deepagents.middleware import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from deepnb.errors import DeepnbError, RunConfigError
from deepnb.files import Client, Folder, tool_call
from deepnb.interrupts import refusal
from deepnb.middleware.tool_calls import ToolCallsMiddleware
from deepnb.testing import ScriptedModel, call

CONFIG = {"configurable": {"thread_id": "t"}}
START = {"messages": [("user", "go")]}


def agent_that(*calls, saver=None):
    return create_agent(
        ScriptedModel([list(calls), "done"]),
        middleware=[ToolCallsMiddleware(), FilesystemMiddleware(backend=Client())],
        checkpointer=saver or InMemorySaver(),
    )


def tool_results(result) -> list[ToolMessage]:
    return [m for m in result["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize(
    ("tool", "args", "asked"),
    [
        ("ls", {"path": "/d"}, {"tool": "list_files", "args": {"path": "/d"}}),
        (
            "read_file",
            {"file_path": "a.md", "offset": 2, "limit": 5},
            {"tool": "read_file", "args": {"path": "/a.md", "offset": 2, "limit": 5}},
        ),
        (
            "write_file",
            {"file_path": "/a.md", "content": "x"},
            {"tool": "write_file", "args": {"path": "/a.md", "content": "x"}},
        ),
        (
            "edit_file",
            {"file_path": "/a.md", "old_string": "x", "new_string": "y"},
            {
                "tool": "patch_file",
                "args": {"path": "/a.md", "search": "x", "replace": "y", "replace_all": False},
            },
        ),
        (
            "glob",
            {"pattern": "*.md"},
            {"tool": "glob_files", "args": {"path": "/", "pattern": "*.md"}},
        ),
        (
            "grep",
            {"pattern": "x", "path": "/d", "max_count": 3},
            {
                "tool": "grep_files",
                "args": {
                    "path": "/d",
                    "pattern": "x",
                    "glob": None,
                    "case_sensitive": True,
                    "max_count": 3,
                },
            },
        ),
    ],
)
async def test_each_tool_asks_once_in_json(tool, args, asked):
    for result in (
        agent_that(call(tool, **args)).invoke(START, CONFIG),
        await agent_that(call(tool, **args)).ainvoke(START, CONFIG),
    ):
        (question,) = result["__interrupt__"]
        (made,) = result["messages"][-1].tool_calls
        expected = {"type": "client_tool_execution", "tool_call_id": made["id"], **asked}
        assert json.loads(json.dumps(question.value)) == expected
        assert next(iter(question.value)) == "type"


async def test_parallel_reads_are_told_apart_by_their_calls():
    reads = [call("read_file", file_path=f"/{name}.md") for name in "abc"]

    def answers(result):
        return {
            question.id: {
                "result": {
                    "content": f"{question.value['args']['path']} {question.value['tool_call_id']}",
                    "start_line": 1,
                    "end_line": 1,
                    "total_lines": 1,
                }
            }
            for question in reversed(result["__interrupt__"])
        }

    agent = agent_that(*reads)
    done = agent.invoke(Command(resume=answers(agent.invoke(START, CONFIG))), CONFIG)
    other = agent_that(*reads)
    asked = await other.ainvoke(START, CONFIG)
    for result in (done, await other.ainvoke(Command(resume=answers(asked)), CONFIG)):
        for message, name in zip(tool_results(result), "abc", strict=True):
            assert message.content.endswith(f"/{name}.md {message.tool_call_id}")


def test_an_answer_can_come_after_a_restart(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.md").write_text("from the client\n")
    database = str(tmp_path / "checkpoints.db")
    with SqliteSaver.from_conn_string(database) as saver:
        agent_that(call("read_file", file_path="/a.md"), saver=saver).invoke(START, CONFIG)
    with SqliteSaver.from_conn_string(database) as saver:
        agent = create_agent(
            ScriptedModel(["done"]),
            middleware=[ToolCallsMiddleware(), FilesystemMiddleware(backend=Client())],
            checkpointer=saver,
        )
        (question,) = agent.get_state(CONFIG).interrupts
        answer = Folder(tmp_path / "files").answer(question.value)
        result = agent.invoke(Command(resume={question.id: answer}), CONFIG)
    assert "from the client" in tool_results(result)[0].content


ENTRY = {"path": "/a.md", "is_dir": False, "size": 1, "modified_at": ""}
PAGE = {"content": "x\n", "start_line": 1, "end_line": 1, "total_lines": 1}
HOSTILE = [
    ("ls", {"path": "/"}, {"entries": "x"}),
    ("ls", {"path": "/"}, {"entries": [{**ENTRY, "path": "../x"}]}),
    ("ls", {"path": "/"}, {"entries": [{**ENTRY, "path": "/.deepnb/log"}]}),
    ("ls", {"path": "/"}, {"entries": [{**ENTRY, "path": "/a\u202eb"}]}),
    ("ls", {"path": "/"}, {"entries": [{**ENTRY, "size": -1}]}),
    ("ls", {"path": "/"}, {"entries": [{**ENTRY, "html": "<b>"}]}),
    ("ls", {"path": "/"}, {"entries": [ENTRY] * 100_001}),
    ("ls", {"path": "/"}, None),
    ("read_file", {"file_path": "/a"}, {**PAGE, "content": b"x"}),
    ("read_file", {"file_path": "/a"}, {**PAGE, "content": "x" * 1_000_001}),
    ("read_file", {"file_path": "/a"}, {**PAGE, "end_line": 5}),
    ("read_file", {"file_path": "/a"}, {**PAGE, "start_line": 0}),
    ("read_file", {"file_path": "/a"}, {**PAGE, "next_offset": 7}),
    ("read_file", {"file_path": "/a"}, {"content": "no lines said"}),
    ("write_file", {"file_path": "/a", "content": "x"}, {}),
    ("edit_file", {"file_path": "/a", "old_string": "x", "new_string": "y"}, {"path": "/a"}),
    ("glob", {"pattern": "*"}, {"matches": [{"path": "a\\b"}]}),
    ("grep", {"pattern": "x"}, {"matches": [{"path": "/a", "line": 0, "text": "x"}]}),
    ("grep", {"pattern": "x"}, {"matches": [{"path": "/a", "line": 1, "text": "x" * 10_001}]}),
]


@pytest.mark.parametrize(("tool", "args", "result"), HOSTILE)
def test_a_bad_shape_is_refused_and_the_question_stays_open(tool, args, result):
    agent = agent_that(call(tool, **args))
    (question,) = agent.invoke(START, CONFIG)["__interrupt__"]
    with pytest.raises(ValueError, match="validation error") as caught:
        agent.invoke(Command(resume={question.id: {"result": result}}), CONFIG)
    assert "still open" in str(refusal(caught.value))
    assert [each.id for each in agent.get_state(CONFIG).interrupts] == [question.id]
    done = agent.invoke(Command(resume={question.id: {"error": "no such file"}}), CONFIG)
    (message,) = tool_results(done)
    assert (message.status, "no such file" in message.content) == ("error", True)


def test_a_bad_path_is_answered_without_asking():
    result = agent_that(call("read_file", file_path="/.deepnb/log")).invoke(START, CONFIG)
    assert "off limits" in tool_results(result)[0].content


def test_outside_a_tool_call_it_says_what_is_missing():
    with pytest.raises(RunConfigError, match="tool_call"):
        Client().read("/a.md")


def test_whole_files_do_not_cross_the_wire():
    with tool_call("c"):
        assert "text" in Client().upload_files([("/a", b"x")])[0].error
        assert "text" in Client().download_files(["/a"])[0].error


def test_search_asks_too(tmp_path):
    from langchain.tools import tool

    (tmp_path / "a.md").write_text("about algae\n")
    found = []

    @tool
    def search(query: str) -> str:
        """Search the client's files."""
        try:
            found.append(Client().search(query))
        except DeepnbError as error:
            return str(error)
        return "found"

    def run(answer):
        agent = create_agent(
            ScriptedModel([call("search", query="algae"), "done"]),
            tools=[search],
            middleware=[ToolCallsMiddleware()],
            checkpointer=InMemorySaver(),
        )
        (question,) = agent.invoke(START, CONFIG)["__interrupt__"]
        assert question.value["args"] == {"path": "/", "query": "algae", "top_k": 5}
        resume = Command(resume={question.id: answer(question.value)})
        return tool_results(agent.invoke(resume, CONFIG))[0].content

    assert run(Folder(tmp_path).answer) == "found"
    assert [(p["path"], p["text"]) for p in found[0]] == [("/a.md", "about algae")]
    assert run(lambda _request: {"error": "no index"}) == "no index"
