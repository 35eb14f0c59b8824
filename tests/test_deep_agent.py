"""The deep agent as a whole: its parts, their order, and what they do together."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.memory import InMemoryStore

import deepnb
from deepnb.agents import deep
from deepnb.errors import AgentError, SubagentError
from deepnb.testing import ScriptedModel, call

THREAD = {"configurable": {"thread_id": "1"}}
REQUEST = {"messages": [("user", "go")]}
SNAPSHOTS = Path(__file__).parent / "snapshots"


def said(result):
    return result["messages"][-1].text


def tools_said(result):
    return [m.text for m in result["messages"] if m.type == "tool"]


def test_it_takes_what_the_design_says_and_a_budget():
    names = list(inspect.signature(deepnb.create_deep_agent).parameters)
    assert names == [
        "model",
        "tools",
        "system_prompt",
        "middleware",
        "subagents",
        "response_format",
        "context_schema",
        "checkpointer",
        "store",
        "backend",
        "interrupt_on",
        "debug",
        "name",
        "cache",
        "budget",
        "knowledge",
        "payment",
    ]


def test_it_is_a_compiled_graph_with_room_for_a_thousand_steps():
    agent = deepnb.create_deep_agent(ScriptedModel([]))
    assert isinstance(agent, CompiledStateGraph)
    assert agent.config["recursion_limit"] == 1000


def test_the_stack_is_in_its_order(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        deep, "create_agent", lambda *a, **k: seen.append(k["middleware"]) or create_agent(*a, **k)
    )

    class Mine(deep.ToolCallsMiddleware):
        pass

    deepnb.create_deep_agent(
        ChatAnthropic(model="claude-sonnet-5-5", api_key="x"),
        middleware=[Mine()],
        backend=deepnb.files.mounts(workspace=tmp_path),
        budget=deepnb.Budget(calls=1),
    )
    assert [m.name for m in seen[0]] == [
        "TodosMiddleware",
        "FilesMiddleware",
        "TaskMiddleware",
        "SummarizationMiddleware",
        "AnthropicPromptCachingMiddleware",
        "PatchToolCallsMiddleware",
        "ToolCallsMiddleware",
        "Mine",
        "Budget",
        "ApprovalsMiddleware",
        "SupervisionMiddleware",
        "UnsupportedContentMiddleware",
    ]


def test_planning_files_and_a_subagent_in_one_run():
    model = ScriptedModel(
        [
            call("write_todos", todos=[{"content": "look", "status": "in_progress"}]),
            call("write_file", file_path="/scratch/n.md", content="one\ntwo\n"),
            call("task", description="read /scratch/n.md", subagent_type="reader"),
            lambda messages: f"The reader says: {messages[-1].text}",
        ]
    )
    reader = {
        "name": "reader",
        "description": "reads",
        "model": ScriptedModel(
            [
                call("read_file", file_path="/scratch/n.md"),
                lambda messages: "two lines" if "two" in messages[-1].text else "nothing",
            ]
        ),
    }
    result = deepnb.create_deep_agent(model, subagents=[reader]).invoke(REQUEST)
    assert result["todos"] == [{"content": "look", "status": "in_progress"}]
    assert result["files"]["/scratch/n.md"]["content"] == "one\ntwo\n"
    assert said(result) == "The reader says: two lines"


def test_subagents_run_side_by_side_and_their_files_come_back():
    def writer(name):
        return {
            "name": name,
            "description": name,
            "model": ScriptedModel(
                [call("write_file", file_path=f"/analysis/{name}.md", content=name), f"{name} done"]
            ),
        }

    names = ["a", "b", "c"]
    model = ScriptedModel(
        [[call("task", description="w", subagent_type=n) for n in names], "all done"]
    )
    result = deepnb.create_deep_agent(model, subagents=[writer(n) for n in names]).invoke(REQUEST)
    assert sorted(result["files"]) == [f"/analysis/{n}.md" for n in names]
    assert tools_said(result) == ["a done", "b done", "c done"]


def test_the_general_purpose_subagent_has_the_agents_model_and_tools():
    def lookup(word: str) -> str:
        """Look a word up."""
        return f"{word}: found"

    def think(messages):
        if "none of" in messages[0].text or "one task" in messages[0].text:
            return call("lookup", word="x") if messages[-1].type == "human" else messages[-1].text
        if messages[-1].type == "human":
            return call("task", description="look up x", subagent_type="general-purpose")
        return messages[-1].text

    model = ScriptedModel(think)
    assert said(deepnb.create_deep_agent(model, [lookup]).invoke(REQUEST)) == "x: found"
    helper_call = next(c for c in model.calls if "one task" in c.messages[0].text)
    assert "lookup" in helper_call.tools
    assert "task" not in helper_call.tools


def test_a_caller_may_bring_their_own_general_purpose_subagent():
    own = {
        "name": "general-purpose",
        "description": "mine",
        "runnable": create_agent(ScriptedModel(["it is me"])),
    }
    model = ScriptedModel(
        [call("task", description="x", subagent_type="general-purpose"), lambda m: m[-1].text]
    )
    assert said(deepnb.create_deep_agent(model, subagents=[own]).invoke(REQUEST)) == "it is me"


def test_roles_give_a_subagent_its_model():
    deepnb.models.roles["critic"] = ScriptedModel(["too long"])
    model = ScriptedModel([call("task", description="x", subagent_type="critic"), "ok"])
    agent = deepnb.create_deep_agent(model, subagents=[{"name": "critic", "description": "judges"}])
    assert tools_said(agent.invoke(REQUEST)) == ["too long"]


@pytest.mark.parametrize(
    ("subagents", "message"),
    [
        (["critic"], "Subagent 1 must be a dict"),
        ([{"description": "x"}], "Subagent 1 needs a name"),
        ([{"name": "critic"}], "'critic' needs a description"),
        ([{"name": "critic", "description": " "}], "'critic' needs a description"),
        ([{"name": "c", "description": "x", "promt": "y"}], "has promt, which is not known"),
        ([{"name": "c", "description": "x", "runnable": 1}], "must be a LangGraph graph"),
        ([{"name": "c", "description": "x", "tools": "ls"}], "its tools must be a list of tools"),
        ([{"name": "c", "description": "x", "tools": [5]}], "its tools must be a list of tools"),
        ([{"name": "c", "description": "x", "model": 3}], "its model must be what"),
        ([{"name": "c", "description": "x", "middleware": [1]}], "its middleware must be a list"),
        ([{"name": "c", "description": "x", "system_prompt": 5}], "its system_prompt must be"),
        ([{"name": "c", "description": "x", "interrupt_on": "x"}], "its interrupt_on must be"),
        ({"name": "c"}, "subagents must be a list"),
        ([{"name": "c", "description": "x"}] * 2, "Two subagents are called 'c'"),
    ],
)
def test_a_malformed_subagent_is_one_clear_error(subagents, message):
    with pytest.raises(SubagentError, match=message):
        deepnb.create_deep_agent(ScriptedModel([]), subagents=subagents)


def test_two_of_one_name_are_one_clear_error():
    def read_file(title: str) -> str:
        """Read a file of mine."""
        return title

    with pytest.raises(AgentError, match="two tools called 'read_file'"):
        deepnb.create_deep_agent(ScriptedModel([]), [read_file])
    with pytest.raises(AgentError, match="two middlewares called 'PatchToolCallsMiddleware'"):
        deepnb.create_deep_agent(ScriptedModel([]), middleware=[deep.PatchToolCallsMiddleware()])
    helper = {"name": "h", "description": "h", "tools": [read_file]}
    with pytest.raises(AgentError, match="two tools called 'read_file'"):
        deepnb.create_deep_agent(ScriptedModel([]), subagents=[helper])


def test_a_budget_is_a_budget_and_is_given_as_one():
    with pytest.raises(AgentError, match=r"deepnb\.Budget\(calls=50\)"):
        deepnb.create_deep_agent(ScriptedModel([]), budget=5)
    with pytest.raises(AgentError, match="budget="):
        deepnb.create_deep_agent(ScriptedModel([]), middleware=[deepnb.Budget(calls=3)])


@pytest.mark.parametrize("client", [True, "folder"])
def test_where_all_files_are_with_the_client_the_clients_tools_take_their_place(client, tmp_path):
    home = True if client is True else deepnb.files.Folder(tmp_path)
    model = ScriptedModel(["hi"])
    deepnb.agents.get("deep", model=model, client=home).invoke(REQUEST)
    assert {"list_files", "grep_files", "glob_files", "patch_file", "search_files"} <= set(
        model.calls[0].tools
    )
    assert not {"ls", "grep", "glob", "edit_file"} & set(model.calls[0].tools)
    with pytest.raises(AgentError, match="two tools for one act"):
        files = deepnb.files.mounts(workspace=tmp_path, client=home)
        deepnb.create_deep_agent(
            model, backend=files, middleware=[deepnb.middleware.ClientToolsMiddleware(files)]
        )


def test_a_store_holds_memories_without_being_told_to():
    store = InMemoryStore()
    write = call("write_file", file_path="/memories/likes.md", content="brevity")
    deepnb.create_deep_agent(ScriptedModel([write, "ok"]), store=store).invoke(REQUEST)
    assert [item.key for item in store.search(())] == ["/likes.md"]


def test_a_backend_that_is_none_is_one_clear_error():
    with pytest.raises(AgentError, match=r"deepnb\.files\.mounts"):
        deepnb.create_deep_agent(ScriptedModel([]), backend=lambda runtime: None)


async def test_reading_numbers_the_lines_of_the_file(tmp_path):
    text = "\n".join(["@@ lines 7-9 @@", "two", "", "\tfour", "five"])
    (tmp_path / "n.txt").write_text(text)
    for use_async in (False, True):
        script = [
            call("read_file", file_path="/workspace/n.txt"),
            call("read_file", file_path="/workspace/n.txt", offset=2, limit=2),
            "done",
        ]
        agent = deepnb.agents.get("deep", model=ScriptedModel(script), workspace=tmp_path)
        result = await agent.ainvoke(REQUEST) if use_async else agent.invoke(REQUEST)
        whole, page = tools_said(result)
        assert whole.split("\n")[1:] == [
            "1\t@@ lines 7-9 @@",
            "2\ttwo",
            "3\t",
            "4\t\tfour",
            "5\tfive",
        ]
        assert page.split("\n") == ["@@ lines 3-4 of 5 | next offset 4 @@", "3\t", "4\t\tfour"]


def test_large_results_move_to_a_file_that_can_be_read():
    def flood() -> str:
        """Say a lot."""
        return "\n".join(f"line {number}" for number in range(20_000))

    model = ScriptedModel([call("flood"), lambda m: m[-1].text])
    result = deepnb.create_deep_agent(model, [flood]).invoke(REQUEST)
    (path,) = result["files"]
    assert path.startswith("/large_tool_results/")
    assert path in said(result)
    assert "line 19999" in result["files"][path]["content"]


def conversation(model, turns, words):
    agent = deepnb.create_deep_agent(model, checkpointer=InMemorySaver())
    for turn in range(turns):
        text = f"turn {turn} " + "word " * words
        result = agent.invoke({"messages": [("user", text)]}, THREAD)
    return agent, result


def chat(messages):
    return "what was before" if "<conversation>" in messages[0].text else "yes"


def test_at_85_percent_of_a_known_window_the_past_is_summarised_and_six_messages_stay():
    model = ScriptedModel(chat, window=10_000)
    _, result = conversation(model, turns=20, words=800)
    summaries = [c for c in model.calls if "<conversation>" in c.messages[0].text]
    assert summaries
    after = model.calls[model.calls.index(summaries[0]) + 1].messages
    assert "what was before" in after[1].text
    assert len(after) == 2 + 6  # the prompt and the summary, then the last six
    assert "/conversation_history/" in after[1].text
    kept = [f for f in result["files"] if f.startswith("/conversation_history/")]
    assert "turn 0" in result["files"][kept[0]]["content"]
    assert len(result["messages"]) == 40  # nothing is taken out of the record


def test_where_the_window_is_unknown_it_is_170_000_tokens():
    model = ScriptedModel(chat)
    _, _ = conversation(model, turns=4, words=30_000)  # about 150,000 tokens
    assert not [c for c in model.calls if "<conversation>" in c.messages[0].text]
    model = ScriptedModel(chat)
    _, _ = conversation(model, turns=6, words=30_000)  # about 225,000
    assert [c for c in model.calls if "<conversation>" in c.messages[0].text]


def test_a_call_cut_off_before_its_result_is_patched():
    agent = deepnb.create_deep_agent(ScriptedModel(["hello again"]), checkpointer=InMemorySaver())
    dangling = {"name": "ls", "args": {"path": "/"}, "id": "lost"}
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "", "tool_calls": [dangling]},
        {"role": "user", "content": "are you there?"},
    ]
    result = agent.invoke({"messages": messages}, THREAD)
    (patched,) = [m for m in result["messages"] if m.type == "tool"]
    assert (patched.tool_call_id, patched.status) == ("lost", "error")


def test_it_streams_tokens_and_updates():
    agent = deepnb.create_deep_agent(ScriptedModel([call("ls", path="/"), "one two three"]))
    tokens, nodes = [], []
    for mode, chunk in agent.stream(REQUEST, stream_mode=["messages", "updates"]):
        if mode == "messages" and chunk[0].type == "AIMessageChunk":
            tokens.append(chunk[0].text)
        elif mode == "updates":
            nodes.extend(chunk)
    assert [t for t in tokens if t] == ["one ", "two ", "three"]
    assert {"model", "tools"} <= set(nodes)


def test_a_thread_goes_on_after_the_process_that_began_it(tmp_path):
    path = str(tmp_path / "threads.sqlite")
    write = call("write_file", file_path="/scratch/n.md", content="kept")
    with SqliteSaver.from_conn_string(path) as saver:
        deepnb.create_deep_agent(ScriptedModel([write, "noted"]), checkpointer=saver).invoke(
            REQUEST, THREAD
        )
    model = ScriptedModel([call("read_file", file_path="/scratch/n.md"), lambda m: m[-1].text])
    with SqliteSaver.from_conn_string(path) as saver:
        result = deepnb.create_deep_agent(model, checkpointer=saver).invoke(REQUEST, THREAD)
    assert "kept" in said(result)


def test_memories_outlive_their_thread():
    store = InMemoryStore()
    backend = deepnb.files.mounts(store=True)
    write = call("write_file", file_path="/memories/likes.md", content="brevity")
    read = call("read_file", file_path="/memories/likes.md")
    for script, thread in (([write, "ok"], "a"), ([read, lambda m: m[-1].text], "b")):
        agent = deepnb.create_deep_agent(
            ScriptedModel(script), backend=backend, store=store, checkpointer=InMemorySaver()
        )
        result = agent.invoke(REQUEST, {"configurable": {"thread_id": thread}})
    assert "brevity" in said(result)


def test_a_structured_answer():
    from pydantic import BaseModel

    class Finding(BaseModel):
        claim: str

    model = ScriptedModel([call("Finding", claim="water is wet")])
    agent = deepnb.create_deep_agent(model, response_format=Finding)
    assert agent.invoke(REQUEST)["structured_response"] == Finding(claim="water is wet")


def test_no_two_tools_of_an_agent_have_one_name_or_one_purpose():
    model = ScriptedModel(["hi"])
    deepnb.create_deep_agent(model).invoke(REQUEST)
    assert model.calls[0].tools == [
        "write_todos",
        "ls",
        "read_file",
        "write_file",
        "edit_file",
        "glob",
        "grep",
        "task",
    ]


def test_what_the_model_is_told_is_what_was_reviewed(tmp_path):
    """A change of a prompt or a tool's schema shows in this file's diff; delete it to renew it."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    seen = {}

    class Spy(ScriptedModel):
        def bind_tools(self, tools, **kwargs):
            seen["tools"] = [convert_to_openai_tool(tool)["function"] for tool in tools]
            return super().bind_tools(tools, **kwargs)

    model = Spy(["hi"])
    deepnb.create_deep_agent(
        model,
        system_prompt="You study lakes.",
        backend=deepnb.files.mounts(workspace=tmp_path, client=True, store=True),
    ).invoke(REQUEST)
    schemas = json.dumps(seen["tools"], indent=2, ensure_ascii=False)
    told = f"{model.calls[0].messages[0].text}\n\n{'=' * 30}\n\n{schemas}\n"
    snapshot = SNAPSHOTS / "deep_agent.txt"
    if not snapshot.exists():
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(told)
        pytest.fail(f"{snapshot.name} did not exist; it does now. Read it and run again.")
    assert told == snapshot.read_text()
