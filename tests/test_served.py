"""`langgraph dev` serves the agents: the real server, over real HTTP."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from deepnb import agents

ROOT = Path(__file__).parents[1]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start it in a folder of its own, since it leaves its threads where it was started."""
    home = tmp_path_factory.mktemp("served")
    documents = home / "documents"
    documents.mkdir()
    (documents / "owner.md").write_text("The lake is owned by the parish.\n")
    shutil.copy(ROOT / "langgraph.json", home)
    (home / "deepnb").symlink_to(ROOT / "deepnb")
    (home / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    port = free_port()
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        cwd=home,
        env={**os.environ, "DEEPNB_WORKSPACE": str(documents), "LANGSMITH_TRACING": "false"},
        stdout=(home / "log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        try:
            wait_until_up(client, process, home / "log")
            yield client, documents
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)


def wait_until_up(client, process, log):
    for _ in range(120):
        try:
            if client.get("/ok").status_code == 200:
                return
        except httpx.TransportError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.5)
    pytest.fail(f"the server did not come up:\n{log.read_text()}")


def ask(text):
    return {"messages": [{"role": "user", "content": text}]}


def test_every_agent_is_there(server):
    client, _ = server
    found = client.post("/assistants/search", json={}).json()
    assert sorted(assistant["graph_id"] for assistant in found) == agents.names()


@pytest.mark.parametrize("agent", ["deep", "simple", "tutor"])
def test_each_answers(server, agent):
    client, _ = server
    body = {"assistant_id": agent, "input": ask("Who owns the lake?")}
    result = client.post("/runs/wait", json=body).json()
    assert "> The lake is owned by the parish." in result["messages"][-1]["content"]


def test_a_write_waits_for_approval_over_http(server):
    client, documents = server
    thread = client.post("/threads", json={}).json()["thread_id"]
    question = ask("Who owns the lake? Write it to answer.md")
    result = client.post(
        f"/threads/{thread}/runs/wait", json={"assistant_id": "deep", "input": question}
    ).json()
    action = result["__interrupt__"][0]["value"]["action_requests"][0]
    assert action["args"]["file_path"] == "/workspace/answer.md"
    assert not (documents / "answer.md").exists()
    resume = {"resume": {"decisions": [{"type": "approve"}]}}
    client.post(f"/threads/{thread}/runs/wait", json={"assistant_id": "deep", "command": resume})
    assert "owned by the parish" in (documents / "answer.md").read_text()
