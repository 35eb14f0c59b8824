"""The tutor as an agent with a model: its parts, what the model is told, and what it may do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from deepnb import agents
from deepnb.agents import deep
from deepnb.agents.tutor import prompts
from deepnb.agents.tutor.prompts import ARGUMENT
from deepnb.errors import AgentError
from deepnb.payments import Cashu
from deepnb.testing import ScriptedModel, call
from tests.sessions import ask, settle
from tests.tutor.dialogues import THESIS, body, say

SNAPSHOT = Path(__file__).parents[1] / "snapshots" / "tutor_prompts.txt"
THREAD = {"configurable": {"thread_id": "1"}}


def test_the_stack_is_in_its_order(monkeypatch, essay):
    seen = []
    monkeypatch.setattr(
        deep, "create_agent", lambda *a, **k: seen.append(k["middleware"]) or create_agent(*a, **k)
    )
    cashu = Cashu(mints=["https://mint.example"], wallet=essay.parent / "wallet")
    agents.get("tutor", model="offline", workspace=essay, payment=cashu)
    assert [part.name for part in seen[0]] == [
        "Payment",
        "TodosMiddleware",
        "ClarifyMiddleware",
        "FilesMiddleware",
        "ClientToolsMiddleware",
        "SummarizationMiddleware",
        "PatchToolCallsMiddleware",
        "ToolCallsMiddleware",
        "ApprovalsMiddleware",
        "SupervisionMiddleware",
        "UnsupportedContentMiddleware",
    ]


@pytest.mark.parametrize("name", ["tutor", "seminar"])
def test_a_model_has_each_tool_once(name, essay):
    model = ScriptedModel(["hi"])
    graph = agents.get(name, model=model, workspace=essay)
    graph.invoke({"messages": [("user", "hi")]})
    assert model.calls[0].tools == [
        "write_todos",
        "ask_user",
        "ask_choices",
        "read_file",
        "write_file",
        "list_files",
        "search_files",
        "grep_files",
        "glob_files",
        "patch_file",
        "check_seminar",
    ]


def test_an_option_that_it_has_not_is_one_clear_error(essay):
    with pytest.raises(AgentError, match=r"'subagents'.*Its options are: model, workspace, client"):
        agents.get("tutor", workspace=essay, subagents=[])
    with pytest.raises(AgentError, match="Did you mean 'deeptutor'"):
        agents.get("deeptuter")


def told(name):
    tools = {}

    class Spy(ScriptedModel):
        def bind_tools(self, tools_, **kwargs):
            tools.update({one["name"]: one for one in map(_function, tools_)})
            return super().bind_tools(tools_, **kwargs)

    model = Spy(["hi"])
    agents.get(name, model=model, client=True).invoke({"messages": [("user", "hi")]})
    return model.calls[0].messages[0].text, tools


def _function(tool):
    return convert_to_openai_tool(tool)["function"]


def test_prompts_are_as_they_were():
    tutor, tools = told("tutor")
    seminar, _ = told("seminar")
    check = json.dumps(tools["check_seminar"], indent=2)
    parts = [f"version {prompts.VERSION}", tutor, seminar, check]
    made = "\n\n==========\n\n".join(parts) + "\n"
    if not SNAPSHOT.exists():
        SNAPSHOT.write_text(made)
        pytest.fail(f"{SNAPSHOT.name} did not exist; it does now. Read it and run again.")
    assert made == SNAPSHOT.read_text(), (
        "The prompts have changed. If they are meant to, raise their version, delete "
        f"{SNAPSHOT.name} and run this again."
    )


def test_prompts_are_short():
    assert len(prompts.TUTOR) <= 2_600
    assert len(prompts.SEMINAR) <= 1_900


# With a model that chooses


def test_a_model_may_ask_and_then_keep_the_argument(opened, essay):
    options = [{"id": "a", "label": "Monetary policy"}, {"id": "b", "label": "Trade"}]
    model = ScriptedModel(
        [
            call("ask_choices", question="Which aspect interests you?", options=options),
            call("write_file", file_path=ARGUMENT, content=f"## Thesis\n\n{THESIS}\n"),
            "What makes you hold that?",
        ]
    )
    session = opened(model=model)
    run = ask(session, "I want to write about economics")
    assert session.questions[0].request["question"] == "Which aspect interests you?"
    session.respond(session.questions[0].id, {"selected": ["a"]})
    assert settle(run).answer == "What makes you hold that?"
    assert session.argument.text[0] == THESIS
    assert model.calls[1].messages[-1].text == "Monetary policy"


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_models_writes_to_the_persons_files_wait_for_them(opened, essay, decision):
    patch = call(
        "patch_file",
        file_id="/files/Gold.md",
        search="2 percent",
        replace="3 percent",
        description="Mend the figure.",
    )
    session = opened(model=ScriptedModel([patch, "done"]))
    run = ask(session, "Mend the figure")
    shown = session.questions[0].request["action_requests"][0]["description"]
    assert "-The supply of gold grew by 2 percent" in shown
    assert "+The supply of gold grew by 3 percent" in shown
    session.respond(session.questions[0].id, decision)
    settle(run)
    is_changed = "3 percent" in (essay / "Gold.md").read_text()
    assert is_changed == (decision == "approve")


def test_a_model_can_have_a_document_checked(opened, essay):
    (essay / "Draft.md").write_text(
        f"## Thesis\n\n{THESIS}\n\n## Clause 1\n\nA fixed supply keeps money scarce.\n\n"
        "**Evidence:** [[Silver]] says so.\n"
    )
    script = [
        call("check_seminar", path="[[Draft]]"),
        call("check_seminar", path="/files/nowhere.md"),
        call("check_seminar", path="[[Nowhere]]"),
        "done",
    ]
    model = ScriptedModel(script)
    ask(opened(model=model), "Check my draft")
    found, missing, unknown = (seen.messages[-1].text for seen in model.calls[1:])
    assert found.startswith("By rules, which see words and signs and no meaning, 5 things are")
    assert "- clause 1: undefined term \u201cfixed supply\u201d." in found
    assert "- line 9: citation \u201cSilver\u201d. No file has this title." in found
    assert "To ask next: What do you mean by" in found
    assert missing.startswith("Error: ")
    assert unknown == "Error: No file is called 'Nowhere'. list_files has them all."


def test_the_files_of_a_browser_take_the_folders_place(essay):
    graph = agents.get(
        "tutor", model="offline", workspace=essay, client=True, checkpointer=InMemorySaver()
    )
    request = "Search my files for mentions of inflation"
    result = graph.invoke({"messages": [HumanMessage(request)]}, THREAD)
    (asked,) = result["__interrupt__"]
    assert asked.value["type"] == "client_tool_execution"
    assert asked.value["tool"] == "grep_files"


def test_an_empty_message_is_asked_about(essay):
    graph = agents.get("tutor", model="offline", workspace=essay, checkpointer=InMemorySaver())
    result = graph.invoke({"messages": [HumanMessage("")]}, THREAD)
    assert result["__interrupt__"][0].value["type"] == "clarification_request"


def test_where_nobody_can_be_asked_the_choices_are_a_reply(essay):
    graph = agents.get("tutor", model="offline", workspace=essay)
    result = graph.invoke({"messages": [HumanMessage("Help me with my argument")]})
    reply = result["messages"][-1].text
    assert "What would you like to do with your argument?\n\n- Find a thesis" in reply


# A kernel that dies


_CHILD = """
import os, signal, sys
import deepnb
session = deepnb.Session("tutor", model="offline", workspace=sys.argv[1])
for text in sys.argv[2:]:
    print(session.ask(text).wait().answer)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_dialogue_goes_on_when_the_kernel_has_died(opened, essay):
    said = [THESIS, "A fixed supply keeps money scarce.", "I don't know"]
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(essay), *said],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert "A definition says" in done.stdout
    session = opened()
    assert session.argument.missing[2] == "undefined term: fixed supply"
    assert "Fill in" in say(session, "hint"), "the next step of help"
    reply = say(session, "One that nobody can raise.")
    assert body(reply) == reply, "it has said what it is"
    assert "Which of your files shows" in reply
