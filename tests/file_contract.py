"""One contract for every home of files, told through the tools that agents use.

A module that imports it all gives the fixture `home`, each kind of home in turn, and
`careful_home`: those that look at names before they ask anyone.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest
from deepagents.middleware import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from deepnb.middleware.tool_calls import ToolCallsMiddleware
from deepnb.testing import ScriptedModel, call


class Answers(Protocol):
    """Whoever answers what an agent asks a client for."""

    def answer(self, request: Any) -> dict[str, Any]: ...


@dataclass
class Home:
    """A backend inside a real agent, and whoever answers what the agent asks."""

    backend: Any
    prefix: str = "/"
    client: Answers | None = None
    is_async: bool = False
    saver: InMemorySaver = field(default_factory=InMemorySaver)
    store: InMemoryStore | None = field(default_factory=InMemoryStore)
    asked: int = 0

    def run(self, *calls) -> list[ToolMessage]:
        agent = create_agent(
            ScriptedModel([*calls, "done"]),
            middleware=[ToolCallsMiddleware(), FilesystemMiddleware(backend=self.backend)],
            checkpointer=self.saver,
            store=self.store,
        )
        config = {"configurable": {"thread_id": "t"}}

        def step(value):
            if self.is_async:
                return asyncio.run(agent.ainvoke(value, config))
            return agent.invoke(value, config)

        result = step({"messages": [("user", "go")]})
        while open_questions := result.get("__interrupt__"):
            self.asked += len(open_questions)
            answers = {asked.id: self.client.answer(asked.value) for asked in open_questions}
            result = step(Command(resume=answers))
        messages = [m for m in result["messages"] if isinstance(m, ToolMessage)]
        return messages[-len(calls) :]

    def one(self, name: str, **args: Any) -> ToolMessage:
        return self.run(call(name, **args))[0]

    def path(self, name: str) -> str:
        return self.prefix + name

    def write(self, name: str, content: str) -> None:
        message = self.one("write_file", file_path=self.path(name), content=content)
        assert message.status == "success", message.content

    def read(self, name: str, **window: int) -> str:
        message = self.one("read_file", file_path=self.path(name), **window)
        assert message.status == "success", message.content
        return message.content


def test_what_was_written_is_read_back_with_the_right_line_numbers(home):
    home.write("notes.md", "one\n\n  three\nvier: ä\n")
    assert home.read("notes.md") == "@@ lines 1-4 of 4 @@\none\n\n  three\nvier: ä"


def test_writing_again_replaces_the_file(home):
    home.write("notes.md", "a longer first version\n")
    home.write("notes.md", "two\n")
    assert home.read("notes.md") == "@@ lines 1-1 of 1 @@\ntwo"


def test_a_file_is_read_in_pages(home):
    home.write("long.txt", "".join(f"line {n}\n" for n in range(1, 11)))
    page = home.read("long.txt", offset=4, limit=3)
    assert page == "@@ lines 5-7 of 10 | next offset 7 @@\nline 5\nline 6\nline 7"
    assert home.read("long.txt", offset=7, limit=9).startswith("@@ lines 8-10 of 10 @@\nline 8")


def test_reading_past_the_end_is_an_error(home):
    home.write("short.txt", "one\n")
    message = home.one("read_file", file_path=home.path("short.txt"), offset=5)
    assert message.status == "error"
    assert "5" in message.content


def test_an_empty_file_is_said_to_be_empty(home):
    home.write("empty.txt", "")
    assert "empty contents" in home.read("empty.txt")


def test_an_edit_replaces_the_exact_text(home):
    home.write("a.py", "x = 1\ny = 2\n")
    path = home.path("a.py")
    message = home.one("edit_file", file_path=path, old_string="= 1\ny", new_string="= 3\nz")
    assert message.status == "success"
    assert home.read("a.py").endswith("x = 3\nz = 2")


@pytest.mark.parametrize("old", ["x", "absent", ""])
def test_an_edit_that_is_ambiguous_missing_or_empty_changes_nothing(home, old):
    home.write("a.py", "x = 1\nx = 2\n")
    path = home.path("a.py")
    message = home.one("edit_file", file_path=path, old_string=old, new_string="y")
    assert message.status == "error"
    assert home.read("a.py").endswith("x = 1\nx = 2")


def test_an_edit_can_replace_every_occurrence(home):
    home.write("a.py", "x = 1\nx = 2\n")
    args = {"old_string": "x", "new_string": "y", "replace_all": True}
    message = home.one("edit_file", file_path=home.path("a.py"), **args)
    assert "2 instance" in message.content
    assert home.read("a.py").endswith("y = 1\ny = 2")


def test_a_missing_file_is_an_error_that_leaves_the_run_alive(home):
    read, edit = home.run(
        call("read_file", file_path=home.path("nothing.md")),
        call("edit_file", file_path=home.path("nothing.md"), old_string="a", new_string="b"),
    )
    assert (read.status, edit.status) == ("error", "error")


def listed(message: ToolMessage, prefix: str) -> list[str]:
    assert message.status == "success", message.content
    if message.content == "No files found":
        return []
    return sorted(path.removeprefix(prefix) for path in eval(message.content))


def test_ls_shows_files_and_folders(home):
    home.write("b.md", "b")
    home.write("sub/c.md", "c")
    assert listed(home.one("ls", path=home.prefix), home.prefix) == ["b.md", "sub/"]
    assert listed(home.one("ls", path=home.path("sub")), home.prefix) == ["sub/c.md"]


PATTERNS = {
    "*.md": ["a.md", "sub/b.md", "sub/deep/c.md"],
    "/*.md": ["a.md"],
    "sub/*.md": ["sub/b.md"],
    "sub/**/*.md": ["sub/b.md", "sub/deep/c.md"],
    "**/c.*": ["sub/deep/c.md"],
    "?.{md,txt}": ["a.md", "sub/b.md", "sub/deep/c.md", "t.txt"],
    "[!a].md": ["sub/b.md", "sub/deep/c.md"],
    ".*": [".hidden.md"],
    "*.csv": [],
}


def test_glob_means_the_same_everywhere(home):
    names = ("a.md", "t.txt", "sub/b.md", "sub/deep/c.md", ".hidden.md")
    home.run(*[call("write_file", file_path=home.path(name), content="x") for name in names])
    found = home.run(*[call("glob", pattern=p, path=home.prefix) for p in PATTERNS])
    assert [listed(message, home.prefix) for message in found] == list(PATTERNS.values())


def test_a_glob_that_climbs_is_refused(home):
    assert home.one("glob", pattern="../*", path=home.prefix).status == "error"


def test_grep_is_literal_and_gives_line_numbers(home):
    home.write("a.md", "first\nf(x) = [1.*]\n")
    home.write("sub/b.txt", "f(x)\n")
    args = {"pattern": "f(x)", "path": home.prefix, "output_mode": "content"}
    everything = home.one("grep", **args).content
    assert everything.split("\n") == [
        f"{home.path('a.md')}:",
        "  2: f(x) = [1.*]",
        f"{home.path('sub/b.txt')}:",
        "  1: f(x)",
    ]
    only = home.one("grep", glob="*.txt", **args).content
    assert "sub/b.txt" in only
    assert "a.md" not in only
    capped = home.one("grep", max_count=1, **args).content
    assert "stopped early" in capped
    assert capped.count("f(x)") == 1
    assert "No matches" in home.one("grep", pattern="f.x", path=home.prefix).content


def test_unusual_names_are_ordinary(home):
    names = ["[...slug].md", "café 中文.md", "e\u0301.md", "report..final.md"]
    home.run(*[call("write_file", file_path=home.path(f"d/{n}"), content=n) for n in names])
    read = home.run(*[call("read_file", file_path=home.path(f"d/{n}")) for n in names])
    assert [message.content.partition("\n")[2] for message in read] == names
    folder, found = home.run(
        call("ls", path=home.path("d")), call("grep", pattern=".md", path=home.prefix)
    )
    assert listed(folder, home.path("d/")) == sorted(names)
    assert found.content == "\n".join(home.path(f"d/{name}") for name in sorted(names))


def hostile_calls(path: str) -> list[Any]:
    return [
        call("read_file", file_path=path),
        call("write_file", file_path=path, content="x"),
        call("edit_file", file_path=path, old_string="a", new_string="b"),
        call("ls", path=path),
        call("glob", pattern="*", path=path),
        call("grep", pattern="x", path=path),
    ]


def test_paths_that_climb_are_refused(home):
    paths = ["../x.md", "a/../../x.md", "~/x.md", "C:/x.md"]
    for message in home.run(*[each for path in paths for each in hostile_calls(path)]):
        assert message.status == "error", message.content
    assert home.asked == 0


def test_paths_that_deceive_are_refused_before_anyone_is_asked(careful_home):
    home = careful_home
    names = ["a\x00b.md", "a\u202eb.md", "a\u200bb", ".deepnb/log", "a/.DEEPNB/x", "a\uff0fb"]
    calls = [each for name in names for each in hostile_calls(home.path(name))]
    for message in home.run(*calls):
        assert message.status == "error", message.content
    assert home.asked == 0
    assert listed(home.one("ls", path=home.prefix), home.prefix) == []
