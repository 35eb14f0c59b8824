"""Agents by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import deepnb
from deepnb import agents
from deepnb.errors import AgentError, UnknownAgentError
from deepnb.testing import ScriptedModel, call

ROOT = Path(__file__).parents[1]
REQUEST = {"messages": [("user", "Who owns the lake?")]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "owner.md").write_text("The lake is owned by the parish.\n")
    return tmp_path


def test_the_names_are_known():
    assert agents.names() == ["deep", "research", "seminar", "simple", "tutor"]


@pytest.mark.parametrize("name", ["deep", "simple"])
def test_each_agent_answers_from_the_workspace(name, folder):
    result = agents.get(name, model="offline", workspace=folder).invoke(REQUEST)
    assert "> The lake is owned by the parish." in result["messages"][-1].text


def test_the_simple_agent_can_change_nothing(folder):
    model = ScriptedModel(["hi"])
    agents.get("simple", model=model, workspace=folder).invoke(REQUEST)
    assert model.calls[0].tools == ["ls", "read_file", "glob", "grep"]


def test_the_deep_agent_reaches_a_folder_in_place_of_a_client(folder):
    model = ScriptedModel([call("read_file", file_path="/files/owner.md"), lambda m: m[-1].text])
    graph = agents.get("deep", model=model, client=deepnb.files.Folder(folder))
    assert "the parish" in graph.invoke(REQUEST)["messages"][-1].text


def test_an_agent_is_built_when_it_is_asked_for(monkeypatch, folder):
    graph = agents.get("deep", workspace=folder)
    monkeypatch.setenv("DEEPNB_MODEL", "nonsense")
    with pytest.raises(deepnb.errors.UnknownModelError):
        agents.get("deep", workspace=folder)
    assert graph is not None


def test_an_unknown_agent_is_one_clear_error():
    with pytest.raises(UnknownAgentError, match="Did you mean 'deep'"):
        agents.get("depe")
    with pytest.raises(UnknownAgentError, match="There are: deep, research, seminar, "):
        agents.get(["deep"])


def test_an_unknown_option_is_one_clear_error():
    with pytest.raises(AgentError, match=r"'wrokspace'.*Its options are: .*workspace"):
        agents.get("deep", wrokspace=".")


def test_a_workspace_that_is_not_there_is_one_clear_error(tmp_path):
    with pytest.raises(deepnb.errors.DeepnbError, match="nowhere"):
        agents.get("deep", workspace=tmp_path / "nowhere")


def test_others_can_be_registered(monkeypatch):
    monkeypatch.setattr(agents, "_registry", dict(agents._registry))
    agents.register("mine", lambda *, loud=False: "LOUD" if loud else "quiet")
    agents.register("also", "deepnb.agents.simple:build")
    assert agents.get("mine", loud=True) == "LOUD"
    assert agents.get("also", model="offline").name == "simple"
    with pytest.raises(AgentError, match="needs a name"):
        agents.register("bad", "no colon")
    for home in ("no_such_module:f", "deepnb.agents.simple:no_such_function", ":"):
        agents.register("lost", home)
        with pytest.raises(AgentError, match="'lost' cannot be loaded"):
            agents.get("lost")


def test_looking_up_names_loads_no_agent():
    code = "import deepnb, sys; deepnb.agents.names(); print('langgraph' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_langgraph_json_serves_every_agent():
    served = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    assert sorted(served) == agents.names()
