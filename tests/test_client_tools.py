"""The tools of an agent whose user's files are with the client."""

from __future__ import annotations

import json

import pytest
from deepagents.middleware import FilesystemMiddleware
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deepnb.agents.state import State
from deepnb.errors import PathError
from deepnb.files import Folder, mounts
from deepnb.knowledge import Knowledge, Note
from deepnb.middleware.approvals import approvals_for
from deepnb.middleware.client_tools import REMAINING_FILE_TOOLS, ClientToolsMiddleware
from deepnb.middleware.tool_calls import ToolCallsMiddleware
from deepnb.testing import ScriptedModel, call
from tests.knowledge.documents import pdf

THREAD = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "thesis.md").write_text("# Thesis\n\nMoney needs a fixed Supply.\n")
    (tmp_path / "inflation.txt").write_text("Inflation is a rise of prices.\nsupply and demand\n")
    return tmp_path


def agent(script, client):
    files = mounts(client=client)
    model = ScriptedModel(script)
    graph = create_agent(
        model,
        middleware=[
            FilesystemMiddleware(backend=files, tools=REMAINING_FILE_TOOLS),
            ToolCallsMiddleware(),
            ClientToolsMiddleware(files),
        ],
        state_schema=State,
        checkpointer=InMemorySaver(),
    )
    return model, graph


def run(tool, folder, by_interrupt):
    """Let an agent call one tool, on a folder or through questions that a folder answers."""
    model, graph = agent([tool, "done"], client=True if by_interrupt else Folder(folder))
    result = graph.invoke({"messages": [("user", "go")]}, THREAD)
    asked = []
    while questions := result.get("__interrupt__"):
        (question,) = questions
        asked.append(question.value)
        answer = Folder(folder).answer(question.value)
        result = graph.invoke(Command(resume={question.id: answer}), THREAD)
    message = model.calls[-1].messages[-1]
    if by_interrupt and message.status == "success":
        assert {request["tool_call_id"] for request in asked} == {message.tool_call_id}
        assert {request["type"] for request in asked} == {"client_tool_execution"}
    return message


both = pytest.mark.parametrize("by_interrupt", [False, True], ids=["folder", "client"])


@both
def test_listing_gives_id_title_type_and_project(folder, by_interrupt):
    rows = [
        json.loads(row) for row in run(call("list_files"), folder, by_interrupt).text.split("\n")
    ]
    assert rows == [
        {"id": "/files/drafts/thesis.md", "title": "thesis", "type": "md", "project": "/files/"},
        {"id": "/files/inflation.txt", "title": "inflation", "type": "txt", "project": "/files/"},
    ]
    only = run(call("list_files", file_type="md"), folder, by_interrupt).text
    assert [json.loads(row)["title"] for row in only.split("\n")] == ["thesis"]


@both
def test_searching_finds_the_passage_that_fits(folder, by_interrupt):
    found = run(call("search_files", query="rising prices", top_k=1), folder, by_interrupt).text
    assert found.startswith("/files/inflation.txt:1\n")
    assert "Inflation is a rise of prices." in found
    none = run(call("search_files", query="xylophone"), folder, by_interrupt).text
    assert none == "No file has anything on 'xylophone'."


@both
def test_grepping_ignores_capitals_unless_told_otherwise(folder, by_interrupt):
    assert run(call("grep_files", pattern="supply"), folder, by_interrupt).text.split("\n") == [
        "/files/drafts/thesis.md:3: Money needs a fixed Supply.",
        "/files/inflation.txt:2: supply and demand",
    ]
    exact = call("grep_files", pattern="Supply", case_sensitive=True, glob_pattern="*.txt")
    assert run(exact, folder, by_interrupt).text == "No file contains 'Supply'."


@both
def test_globbing_finds_by_name(folder, by_interrupt):
    rows = run(call("glob_files", pattern="*.md"), folder, by_interrupt).text
    assert json.loads(rows)["id"] == "/files/drafts/thesis.md"


@both
def test_patching_changes_one_passage_and_shows_it(folder, by_interrupt):
    patch = call(
        "patch_file",
        file_id="/files/drafts/thesis.md",
        search="a fixed Supply",
        replace="an elastic supply",
        description="weaken the claim",
    )
    said = run(patch, folder, by_interrupt).text
    assert "weaken the claim" in said
    assert "-a fixed Supply" in said
    assert "+an elastic supply" in said
    assert "an elastic supply." in (folder / "drafts" / "thesis.md").read_text()


@both
@pytest.mark.parametrize(
    "bad",
    [
        call("patch_file", file_id="/files/x.md", search="a", replace="b", description="d"),
        call(
            "patch_file",
            file_id="/files/../etc/passwd",
            search="a",
            replace="b",
            description="d",
        ),
        call("glob_files", pattern="../*"),
    ],
)
def test_what_cannot_be_done_is_a_tool_error(folder, by_interrupt, bad):
    message = run(bad, folder, by_interrupt)
    assert message.status == "error"


@both
def test_reading_and_writing_are_the_file_tools_own(folder, by_interrupt):
    write = call("write_file", file_path="/files/new.md", content="hello")
    run(write, folder, by_interrupt)
    assert (folder / "new.md").read_text() == "hello"
    read = run(call("read_file", file_path="/files/new.md"), folder, by_interrupt)
    assert "hello" in read.text


def test_no_two_tools_are_for_one_act(folder):
    model, graph = agent(["hi"], Folder(folder))
    graph.invoke({"messages": [("user", "go")]}, THREAD)
    assert sorted(model.calls[0].tools) == [
        "glob_files",
        "grep_files",
        "list_files",
        "patch_file",
        "read_file",
        "search_files",
        "write_file",
    ]


def test_a_patch_of_a_persons_file_needs_approval(folder):
    gates = approvals_for(mounts(client=Folder(folder)))
    assert {"write_file", "edit_file", "patch_file"} == set(gates)


def test_without_a_client_there_is_nothing_to_bind():
    with pytest.raises(PathError, match="client=True"):
        ClientToolsMiddleware(mounts())


def test_searching_uses_the_index_of_the_clients_folder(folder):
    pdf(folder / "prices.pdf", [["A first page."], ["Bread has a price of twelve."]])
    client = Folder(folder)
    with Knowledge(folder, embeddings=False) as kb:
        kb.add(Note("Bread is a note about bread.", title="Bread")).wait()
        search = ClientToolsMiddleware(mounts(client=client), kb).search_files
        found = search("price of bread", top_k=1)
        assert found == "/files/prices.pdf, p. 2\nBread has a price of twelve."
        assert search("inflation").startswith("/files/inflation.txt:1\n")
        client.write("/new.txt", "A zebra came by.")
        assert search("zebra") == "/files/new.txt:1\nA zebra came by."
        assert search("xylophone") == "No file has anything on 'xylophone'."


def test_searching_ignores_an_index_of_another_folder(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "zebra.txt").write_text("A zebra came by.")
    with Knowledge(other, embeddings=False) as kb:
        search = ClientToolsMiddleware(mounts(client=Folder(folder)), kb).search_files
        assert search("zebra") == "No file has anything on 'zebra'."
