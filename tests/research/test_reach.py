"""Research that leaves the documents: the web and MCP servers, through the whole graph."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import deepnb
from deepnb.agents.research import executor
from tests.research.sessions import Scientist, plan, step
from tests.sessions import ask, opening
from tests.web.server import web_server
from tests.web.test_engines import page, result, through

SERVER = Path(__file__).with_name("mcp_server.py")
POLICY = """# Policy
## Data access
## External requests
- allow hosts {hosts}
- at most {most} external requests
## Allowed tools
- allow *
## Content
"""


@pytest.fixture
def web(monkeypatch):
    """A search engine, and two pages that it finds."""
    with web_server() as web:
        deep = web.page(
            "/deep", "<title>Deep</title><p>The lake is 31 metres deep at its north end.</p>"
        )
        web.page(
            "/found", "<title>Found</title><p>The eel measured 74 centimetres from end to end.</p>"
        )
        hits = [
            result("Deep", through(deep), "About the lake."),
            result("Found", through(f"{web.url}/found"), "About an eel."),
        ]
        web.page("/html/", page(*hits))
        monkeypatch.setenv("DEEPNB_SEARCH_ADDRESS", f"{web.url}/html/")
        yield web


@pytest.fixture
def research(tmp_path):
    with opening(tmp_path) as open_session:
        yield lambda model, **options: open_session(
            "research", model=model, web=True, private=True, respond="approve", **options
        )


SEARCH = step("1", "web_search", "depth of the lake")
FETCH = step("2", "fetch_page", "1", depends_on=["1"])


def test_pages_that_a_search_has_found_are_read_and_cited(research, web):
    model = Scientist(
        thinker=plan(SEARCH, FETCH), synthesizer="It is “31 metres deep at its north end” [S1]."
    )
    session = research(model)
    run = ask(session, "How deep is the lake?")
    assert run.status == "done"
    assert list(session.plan.status) == ["ok", "ok"]
    assert list(session.sources.location) == [f"{web.url}/deep", f"{web.url}/found"]
    [row] = session.citations.to_dict("records")
    assert (row["verdict"], row["source"]) == ("quoted", "S1")


def test_without_a_model_the_web_is_read_too(research, web):
    session = research("offline")
    run = ask(session, "How deep is the lake?")
    assert run.status == "done"
    assert "31 metres deep" in run.answer
    assert set(session.citations.verdict) == {"quoted"}


def test_hosts_that_the_policy_does_not_allow_are_not_asked(research, web):
    model = Scientist(thinker=plan(SEARCH, FETCH))
    session = research(model, policy=POLICY.format(hosts="example.org", most=9))
    ask(session, "How deep is the lake?")
    assert [path for path, *_ in web.requests if path in ("/deep", "/found")] == []
    assert list(session.plan.status) == ["ok", "failed"]
    assert "does not allow the host" in session.plan.problem[1]


def test_the_number_of_requests_is_kept(research, web):
    model = Scientist(thinker=plan(SEARCH, FETCH))
    session = research(model, policy=POLICY.format(hosts="*", most=2))
    assert ask(session, "How deep is the lake?").status == "done"
    fetched = [path for path, *_ in web.requests if path in ("/deep", "/found")]
    assert len(fetched) == 1, "one search and one page are two requests"
    assert "at most 2" in session.plan.problem[1]


def test_the_web_is_left_alone_unless_it_was_asked_for(tmp_path, web):
    with opening(tmp_path) as open_session:
        session = open_session("research", model="offline", respond="approve")
        ask(session, "How deep is the lake?")
        assert web.requests == []


def test_a_tool_of_an_mcp_server_is_a_source(research):
    tools = deepnb.mcp_tools({"lake": {"command": sys.executable, "args": [str(SERVER)]}})
    depth = next(tool for tool in tools if tool.name == "depth")
    model = Scientist(
        thinker=plan(step(tool="depth", given="Ansel")), synthesizer="It is deep [S1]."
    )
    session = research(model, tools=[depth])
    assert ask(session, "How deep is Ansel?").status == "done"
    assert list(session.plan.status) == ["ok"]
    [source] = session.sources.to_dict("records")
    assert (source["kind"], source["location"]) == ("tool", "depth")


def test_the_number_of_requests_is_kept_side_by_side(research, web):
    searches = [step(str(n), "web_search", f"depth {n}") for n in range(1, 4)]
    fetches = [step(str(n + 3), "fetch_page", str(n), depends_on=[str(n)]) for n in range(1, 4)]
    model = Scientist(thinker=plan(*searches, *fetches))
    session = research(model, policy=POLICY.format(hosts="*", most=6))
    assert ask(session, "How deep is the lake?").status == "done"
    assert len(web.requests) == 6


@pytest.mark.parametrize(("most", "sent"), [(9, 3), (2, 2)])
def test_what_fails_is_tried_again_as_often_as_may_be(research, web, monkeypatch, most, sent):
    monkeypatch.setattr(executor, "_PAUSE", 0.01)
    web.answers["/html/"] = (503, {}, b"later")
    session = research(Scientist(thinker=plan(SEARCH)), policy=POLICY.format(hosts="*", most=most))
    ask(session, "How deep is the lake?")
    assert len(web.requests) == sent
    assert f"tried {sent} times" in str(session.state["reasoning"])
