"""What a person needs to change an action before it is approved: its form, and what it would do."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime
from langchain_core.tools import InjectedToolArg
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, Field

import deepnb
from deepnb.errors import QuestionError
from deepnb.events import short
from deepnb.testing import ScriptedModel, call
from tests.sessions import ask, kinds, opening, settle, subagent, task, write

LONG = "for models only " * 30


class Place(BaseModel):
    city: str
    zip: int | None = None


def book(
    place: Place,
    size: Literal["small", "large"],
    *,
    runtime: ToolRuntime,
    state: Annotated[dict[str, Any], InjectedState],
    key: Annotated[str, InjectedToolArg] = "",
    nights: Annotated[int, Field(description=LONG, ge=1)] = 1,
) -> str:
    """Book a room."""
    return f"booked {nights} in {place.city}"


BOOK = call("book", place={"city": "Oslo"}, size="small")


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


def review(session, number=0):
    return session.questions[0].request["review_configs"][number]


# The form


def test_a_review_has_the_schema_of_what_the_tool_takes(session):
    s = session([BOOK, "done"], tools=[book], interrupt_on={"book": True})
    run = ask(s)
    schema = review(s)["args_schema"]
    assert set(schema["properties"]) == {"place", "size", "nights"}
    assert schema["required"] == ["place", "size"]
    assert schema["properties"]["size"]["enum"] == ["small", "large"]
    assert schema["properties"]["nights"] == {"default": 1, "minimum": 1, "type": "integer"}
    assert set(schema["properties"]["place"]["properties"]) == {"city", "zip"}
    assert short(schema) == schema  # nothing of it is cut where it is kept
    args = {"place": {"city": "Bergen"}, "size": "large", "nights": 2}
    edited = {"type": "edit", "edited_action": {"name": "book", "args": args}}
    s.respond(s.questions[0].id, {"decisions": [edited]})
    settle(run)
    assert [e.data["text"] for e in kinds(s, "tool_result")] == ["booked 2 in Bergen"]


def test_the_schema_is_there_for_files_subagents_and_after_a_restart(session):
    helper = subagent("writer", [[write("/workspace/a.md"), BOOK], "done"], tools=[book])
    s = session(
        [task("writer"), "done"],
        subagents=[helper],
        interrupt_on={"book": True, "write_file": True},
    )
    ask(s)
    assert set(review(s)["args_schema"]["properties"]) == {"file_path", "content"}
    assert set(review(s, 1)["args_schema"]["properties"]) == {"place", "size", "nights"}
    asked = s.questions
    s.close()
    again = session(["done"], subagents=[helper], interrupt_on={"book": True})
    assert again.questions == asked


def test_tools_of_any_kind_have_a_schema_or_go_without(session):
    described = {
        "type": "function",
        "function": {"name": "pay", "parameters": {"type": "object", "properties": {}}},
    }
    for tools in ([described], [{"type": "web_search", "name": "web_search"}]):
        s = session(["done"], tools=tools, interrupt_on={"pay": True}, persist=False)
        assert ask(s).answer == "done"


def test_another_graphs_approvals_have_no_schema(session):
    middleware = HumanInTheLoopMiddleware({"book": True})
    model = ScriptedModel([BOOK, "done"])
    s = session(create_agent(model, [book], middleware=[middleware]))
    ask(s)
    assert "args_schema" not in review(s)
    assert s.preview(s.questions[0].id, 0, {"nights": 2}) == ""


# What it would do


def test_a_write_is_previewed_against_the_file_as_it_is(session, tmp_path):
    (tmp_path / "a.md").write_text("one\ntwo\n")
    edit = call("edit_file", file_path="/workspace/a.md", old_string="one", new_string="1")
    s = session([[edit, write("/workspace/b.md", "B\n")], "done"])
    ask(s)
    (question,) = s.questions
    edit_action, write_action = question.request["action_requests"]
    for number, action in enumerate((edit_action, write_action)):
        assert s.preview(question.id, number, action["args"]) == action["description"]
    shown = s.preview(question.id, 0, {**edit_action["args"], "new_string": "ONE"})
    assert shown.startswith("Edit /workspace/a.md")
    assert "-one\n+ONE\n two" in shown
    shown = s.preview(question.id, 1, {"file_path": "/workspace/a.md", "content": "one\n"})
    assert shown.startswith("Replace /workspace/a.md")
    assert "-two" in shown
    assert (tmp_path / "a.md").read_text() == "one\ntwo\n"
    assert not (tmp_path / "b.md").exists()
    assert s.questions == [question]


@pytest.mark.parametrize("path", ["/workspace/../../secret", "/workspace/link", "../secret"])
def test_a_preview_shows_nothing_from_outside(session, tmp_path, path):
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret").write_text("hidden words\n")
    (folder / "link").symlink_to(tmp_path / "secret")
    s = session([write(), "done"], workspace=folder)
    ask(s)
    shown = s.preview(s.questions[0].id, 0, {"file_path": path, "content": "x"})
    assert "hidden" not in shown


@pytest.mark.parametrize("args", [{}, {"file_path": 5, "content": None}, {"content": ["x"]}])
def test_arguments_that_make_no_sense_are_previewed_as_they_would_be_refused(session, args):
    s = session([write(), "done"])
    ask(s)
    assert isinstance(s.preview(s.questions[0].id, 0, args), str)


def test_a_preview_works_for_subagents_after_a_restart_and_with_another_model(session, tmp_path):
    helper = subagent("writer", [write("/workspace/a.md", "A\n"), "done"])
    s = session([task("writer"), "done"], subagents=[helper])
    ask(s)
    s.close()
    again = session(["done"], subagents=[helper])
    args = {"file_path": "/workspace/a.md", "content": "other\n"}
    assert "+other" in again.preview(again.questions[0].id, 0, args)
    again.stop()
    again.use(ScriptedModel([write(), "done"]))
    ask(again)
    assert "+other" in again.preview(again.questions[0].id, 0, args)


def test_an_agent_that_was_given_as_a_graph_previews_too(session, tmp_path):
    model = ScriptedModel([write(), "done"])
    s = session(deepnb.agents.get("deep", model=model, workspace=tmp_path))
    ask(s)
    args = {"file_path": "/workspace/a.md", "content": "other\n"}
    assert "+other" in s.preview(s.questions[0].id, 0, args)


def test_what_writes_no_file_has_no_preview(session):
    s = session([BOOK, "done"], tools=[book], interrupt_on={"book": True})
    ask(s)
    assert s.preview(s.questions[0].id, 0, {"nights": 3}) == ""


def test_what_is_not_asked_cannot_be_previewed(session):
    s = session([write(), "done"])
    run = ask(s)
    (question,) = s.questions
    for number in (1, -1):
        with pytest.raises(QuestionError, match="no action"):
            s.preview(question.id, number, {})
    with pytest.raises(QuestionError, match="no question 'nobody'"):
        s.preview("nobody", 0, {})
    s.respond(question.id, "reject")
    settle(run)
    with pytest.raises(QuestionError, match="answered already"):
        s.preview(question.id, 0, {})
