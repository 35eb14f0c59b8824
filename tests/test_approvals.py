"""Writes to a person's files wait for the person; the agent's own memory is free."""

from __future__ import annotations

import pytest
from langchain.agents.middleware import ToolCallRequest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import deepnb
from deepnb.middleware.approvals import approvals_for, diff
from deepnb.testing import ScriptedModel, call

THREAD = {"configurable": {"thread_id": "1"}}
REQUEST = {"messages": [("user", "go")]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "draft.md").write_text("# Draft\n\nThe lake is clean.\n")
    return tmp_path


def agent(folder, *script, **options):
    model = ScriptedModel(list(script))
    graph = deepnb.create_deep_agent(
        model,
        backend=deepnb.files.mounts(workspace=folder),
        checkpointer=InMemorySaver(),
        **options,
    )
    return model, graph


def write(path="/workspace/new.md", content="hello\n"):
    return call("write_file", file_path=path, content=content)


EDIT = call(
    "edit_file",
    file_path="/workspace/draft.md",
    old_string="The lake is clean.",
    new_string="The lake was clean.",
)


def decide(*decisions):
    return Command(resume={"decisions": list(decisions)})


APPROVE = {"type": "approve"}


def asked(result):
    (question,) = result["__interrupt__"]
    return question.value["action_requests"]


def heard(model):
    return [m.text for m in model.calls[-1].messages if m.type == "tool"]


def test_a_new_file_is_shown_and_written_only_when_approved(folder):
    _, graph = agent(folder, write(), "done")
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert action["description"].startswith("Create /workspace/new.md")
    assert "+hello" in action["description"]
    assert not (folder / "new.md").exists()
    graph.invoke(decide(APPROVE), THREAD)
    assert (folder / "new.md").read_text() == "hello\n"


def test_an_edit_is_shown_as_a_diff_with_its_surroundings(folder):
    _, graph = agent(folder, EDIT, "done")
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert " # Draft" in action["description"]
    assert "-The lake is clean." in action["description"]
    assert "+The lake was clean." in action["description"]
    graph.invoke(decide(APPROVE), THREAD)
    assert "was clean" in (folder / "draft.md").read_text()


def test_replacing_a_whole_file_shows_what_would_be_lost(folder):
    _, graph = agent(folder, write("/workspace/draft.md", "short\n"), "done")
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert action["description"].startswith("Replace /workspace/draft.md")
    assert "-The lake is clean." in action["description"]


def test_a_rejection_changes_nothing_and_its_reason_reaches_the_model(folder):
    model, graph = agent(folder, EDIT, "sorry")
    graph.invoke(REQUEST, THREAD)
    graph.invoke(decide({"type": "reject", "message": "We have not measured it."}), THREAD)
    assert "is clean" in (folder / "draft.md").read_text()
    assert "We have not measured it." in heard(model)[0]


def test_the_person_may_change_the_arguments(folder):
    _, graph = agent(folder, write(), "done")
    graph.invoke(REQUEST, THREAD)
    edited = {"name": "write_file", "args": {"file_path": "/workspace/b.md", "content": "mine"}}
    graph.invoke(decide({"type": "edit", "edited_action": edited}), THREAD)
    assert (folder / "b.md").read_text() == "mine"
    assert not (folder / "new.md").exists()


def test_several_writes_of_one_turn_are_decided_each_on_its_own(folder):
    calls = [write("/workspace/a.md", "a"), write("/workspace/b.md", "b"), EDIT]
    _, graph = agent(folder, calls, "done")
    actions = asked(graph.invoke(REQUEST, THREAD))
    assert [a["args"]["file_path"] for a in actions] == [c.args["file_path"] for c in calls]
    graph.invoke(decide(APPROVE, {"type": "reject"}, APPROVE), THREAD)
    assert (folder / "a.md").exists()
    assert not (folder / "b.md").exists()
    assert "was clean" in (folder / "draft.md").read_text()


@pytest.mark.parametrize("path", ["/scratch/n.md", "/summaries/n.md", "/analysis/n.md", "/n.md"])
def test_the_agents_own_memory_needs_no_approval(folder, path):
    _, graph = agent(folder, write(path), "done")
    assert graph.invoke(REQUEST, THREAD)["messages"][-1].text == "done"


@pytest.mark.parametrize(
    "path",
    [
        "//workspace/x.md",
        "/./workspace/x.md",
        "workspace/x.md",
        "/workspace//x.md",
        "/workspace/./x.md",
        "/workspace/sub/x.md",
        "/workspace\\x.md",
    ],
)
def test_no_spelling_of_a_path_gets_round_it(folder, path):
    _, graph = agent(folder, write(path), "done")
    assert asked(graph.invoke(REQUEST, THREAD))
    assert sorted(p.name for p in folder.iterdir()) == ["draft.md"]


@pytest.mark.parametrize(
    "path",
    [
        "/scratch/../workspace/x.md",
        "/Workspace/x.md",
        "/\N{FULLWIDTH LATIN SMALL LETTER W}orkspace/x.md",
    ],
)
def test_paths_in_doubt_are_asked_for_and_then_refused(folder, path):
    model, graph = agent(folder, write(path), "sorry")
    assert asked(graph.invoke(REQUEST, THREAD))
    graph.invoke(decide(APPROVE), THREAD)
    assert model.calls[-1].messages[-1].status == "error"
    assert sorted(p.name for p in folder.iterdir()) == ["draft.md"]


def test_an_argument_that_a_tool_ignores_decides_nothing(folder):
    gate = approvals_for(deepnb.files.mounts(client=deepnb.files.Folder(folder)))["patch_file"]
    args = {"file_id": "/files/draft.md", "file_path": "/scratch/x", "old_string": "harmless"}
    args |= {"search": "clean", "replace": "dirty", "description": "a\n\n# fake heading"}
    sneaky = {"name": "patch_file", "args": args, "id": "1", "type": "tool_call"}
    assert gate["when"](ToolCallRequest(tool_call=sneaky, tool=None, state={}, runtime=None))
    shown = gate["description"](sneaky, {}, None)
    assert shown.startswith("a # fake heading\n\nEdit /files/draft.md")
    assert "-The lake is clean." in shown
    assert "+The lake is dirty." in shown


@pytest.mark.parametrize("path", [None, 7, [], {"a": 1}, "\x00", "x" * 9000])
def test_a_path_of_any_kind_is_decided_about(folder, path):
    model, graph = agent(folder, write(path), "sorry")
    result = graph.invoke(REQUEST, THREAD)
    while result.get("__interrupt__"):
        result = graph.invoke(decide(APPROVE), THREAD)
    assert model.calls[-1].messages[-1].status == "error"
    assert sorted(p.name for p in folder.iterdir()) == ["draft.md"]


def test_with_the_client_nothing_is_read_just_to_be_shown(folder):
    model = ScriptedModel([write("/files/draft.md", "new text"), "done"])
    graph = deepnb.create_deep_agent(
        model, backend=deepnb.files.mounts(client=True), checkpointer=InMemorySaver()
    )
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert action["description"].startswith("Write /files/draft.md")
    (question,) = graph.invoke(decide(APPROVE), THREAD)["__interrupt__"]
    assert question.value["tool"] == "write_file"


def test_a_huge_file_is_not_read_whole_to_be_shown(folder):
    with (folder / "huge.txt").open("wb") as file:
        file.write(b"line\n" * 100_000)
        file.truncate(2_000_000_000)
    _, graph = agent(folder, write("/workspace/huge.txt", "short"), "done")
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert "The file goes on" in action["description"]
    assert len(action["description"]) < 20_000


def test_approving_resumes_the_run_and_does_not_begin_it_again(folder):
    model, graph = agent(folder, write(), "done")
    graph.invoke(REQUEST, THREAD)
    graph.invoke(decide(APPROVE), THREAD)
    assert len(model.calls) == 2
    assert [m.text for m in model.calls[-1].messages if m.type == "human"] == ["go"]


def test_a_subagents_write_is_asked_for_as_well(folder):
    helper = {"name": "w", "description": "w", "model": ScriptedModel([write(), "written"])}
    _, graph = agent(
        folder, call("task", description="x", subagent_type="w"), "done", subagents=[helper]
    )
    assert asked(graph.invoke(REQUEST, THREAD))
    assert not (folder / "new.md").exists()
    graph.invoke(decide(APPROVE), THREAD)
    assert (folder / "new.md").exists()


def test_two_subagents_waiting_at_once_are_answered_in_reverse(folder):
    def writer(name):
        path = f"/workspace/{name}.md"
        model = ScriptedModel([write(path, name), f"{name} written"])
        return {"name": name, "description": name, "model": model}

    tasks = [call("task", description="x", subagent_type=n) for n in ("a", "b")]
    _, graph = agent(folder, tasks, "done", subagents=[writer("a"), writer("b")])
    waiting = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    by_path = {q.value["action_requests"][0]["args"]["file_path"]: q.id for q in waiting}
    second = {by_path["/workspace/b.md"]: {"decisions": [{"type": "reject", "message": "no"}]}}
    graph.invoke(Command(resume=second), THREAD)
    result = graph.invoke(
        Command(resume={by_path["/workspace/a.md"]: {"decisions": [APPROVE]}}), THREAD
    )
    assert result["messages"][-1].text == "done"
    assert (folder / "a.md").read_text() == "a"
    assert not (folder / "b.md").exists()


def test_a_session_may_be_told_otherwise(folder):
    _, graph = agent(folder, write(), "done", interrupt_on={})
    graph.invoke(REQUEST, THREAD)
    assert (folder / "new.md").exists()


def test_other_tools_can_be_gated_too(folder):
    def send(to: str) -> str:
        """Send."""
        return f"sent to {to}"

    model = ScriptedModel([call("send", to="all"), "done"])
    graph = deepnb.create_deep_agent(
        model, [send], interrupt_on={"send": True}, checkpointer=InMemorySaver()
    )
    assert asked(graph.invoke(REQUEST, THREAD))[0]["name"] == "send"


def test_without_a_checkpointer_nothing_is_written_either(folder):
    model = ScriptedModel([write(), "done"])
    graph = deepnb.create_deep_agent(model, backend=deepnb.files.mounts(workspace=folder))
    assert asked(graph.invoke(REQUEST))
    assert not (folder / "new.md").exists()


def test_a_diff_cannot_be_broken_out_of_and_has_an_end():
    shown = diff("", "```\n````md\ntext", "/workspace/x.md")
    assert shown.startswith("`````diff\n")
    assert shown.endswith("\n`````")
    long = diff("", "\n".join(map(str, range(5000))), "/workspace/x.md")
    assert long.count("\n") < 500
    assert "more lines" in long
