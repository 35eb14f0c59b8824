"""A run's configuration reaches everything in the run, and nothing outside it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool

import deepnb
from deepnb.errors import RunConfigError
from deepnb.middleware.run_config import RunConfig, RunConfigMiddleware
from deepnb.testing import ScriptedModel, call


@tool
def where(runtime: ToolRuntime) -> str:
    """Tell the workspace root, read in a thread of the tool's own."""
    seen: list[RunConfig] = []
    thread = threading.Thread(target=lambda: seen.append(RunConfig.of(runtime.config)))
    thread.start()
    thread.join()
    return f"{seen[0].tenant} in {seen[0].workspace_root}"


@tool
async def where_async() -> str:
    """Tell the workspace root, read from the surroundings."""
    await asyncio.sleep(0)
    config = RunConfig.of()
    return f"{config.tenant} in {config.workspace_root}"


def told(messages):
    return messages[-1].text


def task(who):
    return call("task", description="where are you?", subagent_type=who)


def nested(name):
    """An agent whose subagent has a subagent whose subagent asks where it is."""
    graph = create_agent(ScriptedModel(_ask_then_tell(name)), [where, where_async])
    for level in ("c", "b", "a"):
        script = _delegate_then_tell(level)
        graph = deepnb.create_deep_agent(
            ScriptedModel(script),
            subagents=[{"name": level, "description": level, "runnable": graph}],
            interrupt_on={},
        )
    return graph


def _ask_then_tell(name):
    return lambda messages: call(name) if messages[-1].type == "human" else told(messages)


def _delegate_then_tell(level):
    return lambda messages: task(level) if messages[-1].type == "human" else told(messages)


def config(tenant):
    return {"configurable": {"workspace_root": f"{tenant}//./files", "tenant": tenant}}


REQUEST = {"messages": [("user", "where?")]}


def test_it_reaches_a_tool_three_subagents_down():
    result = nested("where").invoke(REQUEST, config("acme"))
    assert told(result["messages"]) == "acme in /acme/files/"


async def test_it_reaches_it_async_too():
    for name in ("where", "where_async"):
        result = await nested(name).ainvoke(REQUEST, config("acme"))
        assert told(result["messages"]) == "acme in /acme/files/"


def test_concurrent_runs_of_one_agent_never_see_each_others():
    agent = nested("where")
    tenants = [f"t{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(lambda t: told(agent.invoke(REQUEST, config(t))["messages"]), tenants)
    assert list(results) == [f"{t} in /{t}/files/" for t in tenants]


async def test_nor_do_concurrent_async_runs():
    agent = nested("where_async")
    tenants = [f"t{number}" for number in range(24)]
    results = await asyncio.gather(*(agent.ainvoke(REQUEST, config(t)) for t in tenants))
    assert [told(r["messages"]) for r in results] == [f"{t} in /{t}/files/" for t in tenants]


def test_declared_subagents_get_it_as_well():
    helper = {
        "name": "helper",
        "description": "h",
        "tools": [where],
        "model": ScriptedModel(_ask_then_tell("where")),
    }
    agent = deepnb.create_deep_agent(
        ScriptedModel(_delegate_then_tell("helper")), subagents=[helper]
    )
    assert told(agent.invoke(REQUEST, config("acme"))["messages"]) == "acme in /acme/files/"


def required():
    return create_agent(
        ScriptedModel(["never said"]),
        middleware=[RunConfigMiddleware(require=("workspace_root", "tenant"))],
    )


async def test_without_what_is_required_nothing_starts():
    with pytest.raises(RunConfigError, match="needs to know its workspace_root"):
        required().invoke(REQUEST)
    with pytest.raises(RunConfigError, match="needs to know its tenant"):
        await required().ainvoke(REQUEST, {"configurable": {"workspace_root": "/a/"}})


@pytest.mark.parametrize(
    "values",
    [
        {"workspace_root": "/a/../b"},
        {"workspace_root": "/"},
        {"workspace_root": ""},
        {"workspace_root": 7},
        {"workspace_root": "/a\x00b/"},
        {"workspace_root": "/a\\..\\b/"},
        {"workspace_root": "/a/", "tenant": ""},
        {"workspace_root": "/a/", "tenant": "a\nb"},
        {"workspace_root": "/a/", "tenant": ["a"]},
    ],
)
def test_what_is_malformed_is_refused(values):
    with pytest.raises(RunConfigError):
        required().invoke(REQUEST, {"configurable": values})


def test_outside_a_run_there_is_none():
    with pytest.raises(RunConfigError, match="no run here"):
        RunConfig.of()
