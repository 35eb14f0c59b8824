"""The tools of real MCP servers, in processes of their own."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import deepnb
from deepnb.agents.research.tools import Context, available
from deepnb.errors import McpError, StepError

SERVER = Path(__file__).with_name("mcp_server.py")
LAKE = {"lake": {"command": sys.executable, "args": [str(SERVER)]}}
CONTEXT = Context("How deep is the lake?")


@pytest.fixture(scope="module")
def tools():
    return {tool.name: tool for tool in deepnb.mcp_tools(LAKE)}


def text(content) -> str:
    return "".join(block["text"] for block in content)


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_until_gone(pid: int) -> None:
    for _ in range(1000):
        if not is_running(pid):
            return
        time.sleep(0.02)
    raise AssertionError(f"{pid} is still there")


async def test_one_server_serves_every_loop_and_keeps_what_it_knows(tools):
    first = text(tools["depth"].invoke({"lake": "Ness"}))  # in a running loop, as in a notebook
    second = await asyncio.to_thread(asyncio.run, tools["depth"].ainvoke({"lake": "Garda"}))
    third = text(await tools["depth"].ainvoke({"lake": "Como"}))
    numbers = [int(each.partition("question ")[2][:-2]) for each in (first, text(second), third)]
    assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]


async def test_calls_side_by_side_get_their_own_answers(tools):
    names = [f"L{n}" for n in range(8)]
    answers = await asyncio.gather(*(tools["depth"].ainvoke({"lake": name}) for name in names))
    assert [text(each).partition(" ")[0] for each in answers] == names


async def test_a_plan_can_use_them(tools):
    found = available(web=False, tools=tools.values())
    (reading,) = await found["depth"].run("Ness", CONTEXT)
    assert (reading["kind"], reading["location"]) == ("tool", "depth")
    assert reading["passages"][0]["text"].startswith("Ness is 25 m deep")
    (reading,) = await found["compare"].run('{"first": "A", "second": "B"}', CONTEXT)
    assert reading["passages"][0]["text"] == "A is 5 m deeper than B."
    with pytest.raises(StepError, match="'second' is missing"):
        await found["compare"].run('{"first": "A"}', CONTEXT)
    with pytest.raises(StepError, match="refuse has failed: .*no reason"):
        await found["refuse"].run("no reason", CONTEXT)


async def test_a_server_that_dies_is_said_and_started_anew(tools):
    with pytest.raises(McpError, match="'lake' has failed: out of water") as error:
        await tools["die"].ainvoke({})
    assert "sk-1234567890" not in str(error.value)
    pid = int(text(await tools["process"].ainvoke({})))
    psutil.Process(pid).kill()
    wait_until_gone(pid)
    with pytest.raises(McpError, match="started anew with the next call"):
        await tools["depth"].ainvoke({"lake": "Ness"})
    assert "Ness" in text(await tools["depth"].ainvoke({"lake": "Ness"}))


def test_a_server_ends_with_its_tools():
    own = {tool.name: tool for tool in deepnb.mcp_tools(LAKE)}
    pid = int(text(own["process"].invoke({})))
    assert is_running(pid)
    del own
    gc.collect()
    wait_until_gone(pid)


def test_a_server_ends_with_the_process_that_has_started_it():
    code = f"""
import deepnb
tools = {{tool.name: tool for tool in deepnb.mcp_tools({LAKE!r})}}
print(tools["process"].invoke({{}})[0]["text"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    wait_until_gone(int(done.stdout))


def test_two_tools_of_one_name_get_the_names_of_their_servers():
    both = deepnb.mcp_tools({"east": LAKE["lake"], "west": LAKE["lake"]})
    names = [tool.name for tool in both]
    assert len(set(names)) == len(names)
    assert {"east_depth", "west_depth"} < set(names)


def test_a_server_elsewhere_is_connected_to():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, SERVER], env={**os.environ, "PORT": str(port)})
    try:
        for _ in range(1000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        url = f"http://127.0.0.1:{port}/mcp"
        tools = {tool.name: tool for tool in deepnb.mcp_tools({"far": {"url": url}})}
        assert "Ness" in text(tools["depth"].invoke({"lake": "Ness"}))
    finally:
        server.kill()
        server.wait()
    with pytest.raises(McpError, match="'far'"):
        tools["depth"].invoke({"lake": "Ness"})


@pytest.mark.parametrize(
    ("connection", "said"),
    [
        ({}, "needs a 'command'"),
        ({"command": "no-such-command-here"}, "No such file"),
        ({"command": sys.executable, "args": ["-c", "raise SystemExit('bad luck')"]}, "bad luck"),
        ({"command": sys.executable, "args": ["-c", "print('hello')"]}, "could not be started"),
        ({"url": "http://127.0.0.1:9/mcp"}, "could not be started or reached"),
    ],
)
def test_a_server_that_does_not_start_is_said(connection, said):
    with pytest.raises(McpError, match="'bad'") as error:
        deepnb.mcp_tools({"bad": connection})
    assert said in str(error.value)
    assert not [
        child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE
    ]
