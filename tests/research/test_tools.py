"""What the tools of a plan give, and what they refuse."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.tools import ToolException, tool

from deepnb.agents.research.tools import (
    MOST_PAGES,
    MOST_PASSAGES,
    Context,
    ResearchTool,
    available,
    from_langchain,
)
from deepnb.errors import AgentError, FetchError, PathError, StepError
from deepnb.knowledge import Knowledge, Note
from tests.web.server import Web, web_server

CONTEXT = Context("How deep is the lake?")
ARTICLE = "<html><head><title>{0}</title></head><body><p>{1}</p></body></html>"


@pytest.fixture
def web() -> Iterator[Web]:
    with web_server() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lake.md").write_text("# Lake\n\nThe lake is 25 m deep.\n")
    (tmp_path / "fish.md").write_text("# Fish\n\nPerch live in the lake.\n")
    (tmp_path / ".deepnb").mkdir()
    (tmp_path / ".deepnb" / "log.md").write_text("The record.")
    return tmp_path


@pytest.fixture
def knowledge(folder: Path) -> Iterator[Knowledge]:
    with Knowledge(folder, embeddings=False) as kb:
        yield kb


def hits(*addresses: str):
    return [{"kind": "page", "title": each, "location": each, "passages": []} for each in addresses]


def test_there_are_the_tools_that_there_can_be(folder, knowledge):
    assert list(available(web=False)) == []
    assert list(available()) == ["web_search", "fetch_page"]
    assert list(available(workspace=folder, web=False)) == ["read_file"]
    every = available(knowledge=knowledge, workspace=folder)
    assert [(name, each.leaves) for name, each in every.items()] == [
        ("search_knowledge", False),
        ("read_file", False),
        ("web_search", True),
        ("fetch_page", True),
    ]


def test_no_tool_takes_the_name_of_another(folder):
    @tool
    def read_file(path: str) -> str:
        """Read it."""
        return path

    with pytest.raises(AgentError, match="'read_file'"):
        available(workspace=folder, tools=[read_file])


async def test_search_knowledge_gives_passages_by_document(knowledge):
    knowledge.add(Note("The lake froze in 1963.", title="Diary"))
    run = available(knowledge=knowledge)["search_knowledge"].run
    found = {each["title"]: each for each in await run("lake", CONTEXT)}
    assert {each["kind"] for each in found.values()} == {"file", "note"}
    assert found["Lake"]["location"] == "lake.md"
    text = found["Lake"]["passages"][0]["text"]
    assert "The lake is 25 m deep." in text
    assert await run("zeppelin", CONTEXT) == []


async def test_read_file_reads_the_workspace(folder):
    run = available(workspace=folder)["read_file"].run
    (reading,) = await run("/lake.md", CONTEXT)
    assert (reading["kind"], reading["location"]) == ("file", "lake.md")
    assert any("25 m deep" in each["text"] for each in reading["passages"])
    assert reading["passages"][0]["place"].startswith("line")


async def test_read_file_and_search_call_a_document_the_same(folder, knowledge):
    tools = available(knowledge=knowledge)
    (read,) = await tools["read_file"].run("lake.md", CONTEXT)
    (found,) = await tools["search_knowledge"].run("25 m deep", CONTEXT)
    assert (read["kind"], read["location"]) == (found["kind"], found["location"])
    assert found["passages"][0] in read["passages"]
    with pytest.raises(StepError, match="no document 'other.md'"):
        await tools["read_file"].run("other.md", CONTEXT)


@pytest.mark.parametrize(
    "path",
    ["../outside.md", "a/../../outside.md", ".deepnb/log.md", "link.md", "~/x.md", "in/log.md"],
)
async def test_read_file_stays_in_its_folder(folder, knowledge, path):
    outside = folder.parent / "outside.md"
    outside.write_text("Secret.")
    (folder / "link.md").symlink_to(outside)
    (folder / "in").symlink_to(folder / ".deepnb")
    for given in (None, knowledge):
        run = available(workspace=folder, knowledge=given)["read_file"].run
        with pytest.raises(PathError):
            await run(path, CONTEXT)


@pytest.mark.parametrize("name", ["none.md", "folder", "pipe.md", "empty.pdf"])
async def test_what_cannot_be_read_is_said(folder, name):
    (folder / "folder").mkdir()
    (folder / "empty.pdf").touch()
    os.mkfifo(folder / "pipe.md")
    with pytest.raises(StepError, match=name):
        await available(workspace=folder)["read_file"].run(name, CONTEXT)


async def test_of_a_long_file_what_fits_the_question_comes_first(folder):
    filler = [f"## Part {n}\n\n{f'Perch number {n} swims. ' * 20}\n" for n in range(60)]
    filler[40] += "\nThe lake is 25 m deep.\n"
    (folder / "long.md").write_text("\n".join(filler))
    (reading,) = await available(workspace=folder)["read_file"].run("long.md", CONTEXT)
    assert len(reading["passages"]) == MOST_PASSAGES
    assert "The lake is 25 m deep." in reading["passages"][0]["text"]
    assert all(len(each["text"]) <= 800 for each in reading["passages"])
    whole = " ".join((folder / "long.md").read_text().split())
    assert all(" ".join(each["text"].split()) in whole for each in reading["passages"])


async def test_a_file_beyond_what_is_looked_through_says_so(folder, monkeypatch):
    monkeypatch.setattr("deepnb.agents.research.tools._MOST_CHUNKS", 3)
    (folder / "long.txt").write_text("\n".join(f"Sentence {n} is here." for n in range(200)))
    context = Context("sentence")
    (reading,) = await available(workspace=folder)["read_file"].run("long.txt", context)
    assert len(reading["passages"]) == 3
    assert "long.txt is long, and was read only to line" in context.problems[0]


async def test_web_search_gives_what_the_engine_shows(web, monkeypatch):
    rows = [{"title": "A", "url": "https://a.example/", "content": "The lake is deep."}]
    monkeypatch.setenv("TAVILY_API_KEY", "k")
    address = web.page("/", json.dumps({"results": rows}), "application/json")
    monkeypatch.setenv("DEEPNB_SEARCH_ADDRESS", address)
    (reading,) = await available(private=True)["web_search"].run("lake", CONTEXT)
    assert reading == {
        "kind": "page",
        "title": "A",
        "location": "https://a.example/",
        "passages": [{"text": "The lake is deep.", "place": "search result"}],
    }


async def test_fetch_page_reads_an_address(web):
    address = web.page("/lake", ARTICLE.format("Lakes", "The lake is 25 m deep."))
    (reading,) = await available(private=True)["fetch_page"].run(f" {address} ", CONTEXT)
    assert (reading["kind"], reading["title"], reading["location"]) == ("page", "Lakes", address)
    assert reading["passages"][0]["text"] == "The lake is 25 m deep."


async def test_fetch_page_reads_the_first_pages_that_a_step_has_found(web):
    pages = [web.page(f"/{n}", ARTICLE.format(n, f"Lake {n} is deep.")) for n in range(5)]
    broken = f"{web.url}/none"
    context = Context("lake", {"2": hits(pages[0], broken, pages[0], *pages[1:])})
    found = await available(private=True)["fetch_page"].run("2", context)
    assert [each["location"] for each in found] == pages[: MOST_PAGES - 1]
    assert len(context.problems) == 1
    assert "/none answered 404" in context.problems[0]


async def test_fetch_page_asks_for_a_permit_and_reaches_no_private_net(web):
    address = web.page("/", ARTICLE.format("x", "y"))
    with pytest.raises(StepError, match="private network"):
        await available()["fetch_page"].run(address, CONTEXT)
    denying = Context("lake", {"1": hits(address)}, permits=lambda host: f"{host} is denied.")
    for given in (address, "1"):
        with pytest.raises(StepError, match=r"127\.0\.0\.1 is denied"):
            await available(private=True)["fetch_page"].run(given, denying)
    assert web.connections == 0


async def test_fetch_page_says_whether_trying_again_may_help(web):
    run = available(private=True)["fetch_page"].run
    web.answers["/later"] = (503, {}, b"")
    with pytest.raises(FetchError):
        await run(f"{web.url}/later", CONTEXT)
    for given in (f"{web.url}/none", "step one", "file:///etc/passwd"):
        with pytest.raises(StepError):
            await run(given, CONTEXT)
    with pytest.raises(StepError, match="Step 1 has found no web pages"):
        await run("1", Context("lake", {"1": []}))


@tool
def depth(lake: str) -> str:
    """How deep a lake is."""
    return f"{lake} is 25 m deep."


@tool
def compare(first: str, second: int) -> str:
    """Compare two things."""
    return f"{first} and {second}"


@tool
def optional(query: str, most: int = 3) -> str:
    """Search."""
    return f"{query} / {most}"


@tool
def nothing() -> str:
    """Tell the date."""
    return "Today."


@pytest.mark.parametrize(
    ("wrapped", "given", "text"),
    [
        (depth, " Lake Ness ", "Lake Ness is 25 m deep."),
        (depth, '{"lake": "Ness"}', "Ness is 25 m deep."),
        (depth, '{"x": 1}', '{"x": 1} is 25 m deep.'),
        (compare, '{"first": "a", "second": 2}', "a and 2"),
        (optional, "perch", "perch / 3"),
        (optional, '{"query": "perch", "most": 5}', "perch / 5"),
        (nothing, "whatever", "Today."),
    ],
)
async def test_a_langchain_tool_is_given_text_or_an_object(wrapped, given, text):
    made = from_langchain(wrapped)
    assert isinstance(made, ResearchTool)
    assert made.leaves
    (reading,) = await made.run(given, CONTEXT)
    assert (reading["kind"], reading["location"]) == ("tool", wrapped.name)
    assert [each["text"] for each in reading["passages"]] == [text]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("just words", "not a JSON object"),
        ('["a"]', "not a JSON object"),
        ('{"first": "a"}', "'second' is missing"),
        ('{"first": "a", "second": 1, "third": 2}', "takes no 'third'"),
        ('{"first": "a", "second": "many"}', "second: "),
        ("[" * 100_000, "not a JSON object"),
    ],
)
async def test_an_input_that_does_not_fit_is_answered_with_what_does(given, problem):
    with pytest.raises(StepError) as error:
        await from_langchain(compare).run(given, CONTEXT)
    assert problem in str(error.value)
    assert '"second": {"type": "integer"}' in str(error.value)
    assert "Needed: first, second" in str(error.value)


async def test_a_tool_that_says_it_has_failed_has_failed():
    @tool
    def fails(query: str) -> str:
        """Fail."""
        raise ToolException(f"no {query} today")

    fails.handle_tool_error = True
    with pytest.raises(StepError, match="fails has failed: no fish today"):
        await from_langchain(fails).run("fish", CONTEXT)


async def test_a_long_answer_of_a_tool_is_bounded():
    @tool
    def tells(query: str) -> str:
        """Tell all."""
        return " ".join(f"Sentence {n} is about perch." for n in range(1000)) + " The lake is deep."

    (reading,) = await from_langchain(tells).run("all", CONTEXT)
    assert len(reading["passages"]) == MOST_PASSAGES
    assert "The lake is deep." in reading["passages"][0]["text"]
