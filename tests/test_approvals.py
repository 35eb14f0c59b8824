"""Writes to a person's files wait for the person; the agent's own memory is free."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from langchain.agents.middleware import ToolCallRequest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

import deepnb
from deepnb.interrupts import covers, refusal
from deepnb.middleware.approvals import approvals_for
from deepnb.middleware.diffs import diff
from deepnb.testing import ScriptedModel, call
from tests.kernels import kernel

THREAD = {"configurable": {"thread_id": "1"}}
REQUEST = {"messages": [("user", "go")]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "draft.md").write_text("# Draft\n\nThe lake is clean.\n")
    return tmp_path


def agent(folder, *script, tools=(), **options):
    model = ScriptedModel(list(script))
    graph = deepnb.create_deep_agent(
        model,
        tools,
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
    assert shown.startswith("Edit /files/draft.md")
    assert shown.endswith("The agent's reason: a # fake heading")
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
    assert action["description"].startswith("Replace /workspace/huge.txt")
    assert "too large" in action["description"]


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


MALFORMED = [
    ({"decisions": [{"type": "aprove"}]}, "approve"),
    ({"decisions": []}, "send 1 decision"),
    ({"decisions": [APPROVE, APPROVE]}, "send 1 decision"),
    ({"decisions": [{"type": "respond", "message": "done"}]}, "can be decided by"),
    ({"decisions": [{"type": "edit"}]}, "edited_action"),
    (
        {"decisions": [{"type": "edit", "edited_action": {"name": "ls", "args": {}}}]},
        "another tool",
    ),
    (APPROVE, "decisions"),
    ("approve", "dictionary"),
]


@pytest.mark.parametrize(("answer", "reason"), MALFORMED)
@pytest.mark.parametrize("in_subagent", [False, True])
async def test_a_malformed_answer_is_refused_and_the_question_stays_open(
    folder, answer, reason, in_subagent
):
    helper = {"name": "w", "description": "w", "model": ScriptedModel([write(), "written"])}
    script = [call("task", description="x", subagent_type="w") if in_subagent else write(), "done"]
    _, graph = agent(folder, *script, subagents=[helper])
    (question,) = (await graph.ainvoke(REQUEST, THREAD))["__interrupt__"]
    with pytest.raises(ValueError, match="validation error") as raised:
        await graph.ainvoke(Command(resume={question.id: answer}), THREAD)
    assert reason in str(refusal(raised.value))
    assert not (folder / "new.md").exists()
    await graph.ainvoke(Command(resume={question.id: {"decisions": [APPROVE]}}), THREAD)
    assert (folder / "new.md").exists()


def test_the_question_says_first_what_it_is(folder):
    _, graph = agent(folder, write(), "done")
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    assert next(iter(question.value.items())) == ("type", "tool_approval")


def test_a_file_that_changed_while_the_question_waited_is_not_overwritten(folder):
    model, graph = agent(folder, write(), EDIT, "sorry")
    graph.invoke(REQUEST, THREAD)
    (folder / "new.md").write_text("made meanwhile")
    graph.invoke(decide(APPROVE), THREAD)
    assert (folder / "new.md").read_text() == "made meanwhile"
    assert "has changed since" in heard(model)[0]
    (folder / "draft.md").write_text("The lake is clean. Very.\n")
    graph.invoke(decide(APPROVE), THREAD)
    assert (folder / "draft.md").read_text() == "The lake is clean. Very.\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [("utf16.txt", "Grüße".encode("utf-16")), ("nul.txt", b"a\0b")],
)
def test_what_cannot_be_shown_is_still_said_to_be_replaced(folder, name, content):
    (folder / name).write_bytes(content)
    _, graph = agent(folder, write(f"/workspace/{name}", "x"), "done")
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert action["description"].startswith(f"Replace /workspace/{name}")
    assert "cannot be shown" in action["description"]


@pytest.mark.parametrize("value", [True, "true", "yes", 1, "on"])
def test_every_replacement_that_will_be_made_is_shown(folder, value):
    (folder / "three.md").write_text("a\nb\na\nb\na\n")
    edit = call(
        "edit_file",
        file_path="/workspace/three.md",
        old_string="a",
        new_string="X",
        replace_all=value,
    )
    _, graph = agent(folder, edit, "done")
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert action["description"].count("+X") == 3
    graph.invoke(decide(APPROVE), THREAD)
    assert (folder / "three.md").read_text() == "X\nb\nX\nb\nX\n"


def test_a_change_of_line_ends_or_invisible_characters_is_seen(folder):
    (folder / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    _, graph = agent(folder, write("/workspace/dos.txt", "one\ntw\u202eo"), "done")
    (action,) = asked(graph.invoke(REQUEST, THREAD))
    assert "-one␍" in action["description"]
    assert "+one" in action["description"]
    assert "tw\\u202eo (no line feed at the end)" in action["description"]


def test_a_session_may_be_told_otherwise(folder):
    _, graph = agent(folder, write(), "done", interrupt_on={})
    graph.invoke(REQUEST, THREAD)
    assert (folder / "new.md").exists()


def send(to: str) -> str:
    """Send."""
    return f"sent to {to}"


def test_gating_another_tool_leaves_the_files_gated(folder):
    script = [[call("send", to="all"), write()], "done"]
    _, graph = agent(folder, *script, tools=[send], interrupt_on={"send": True})
    assert [a["name"] for a in asked(graph.invoke(REQUEST, THREAD))] == ["send", "write_file"]
    _, graph = agent(folder, write(), "done", interrupt_on={"write_file": False, "send": True})
    graph.invoke(REQUEST, THREAD)
    assert (folder / "new.md").exists()


@pytest.mark.parametrize("own", [None, {"send": True}])
def test_a_subagent_cannot_lose_the_gates_by_accident(folder, own):
    helper = {"name": "w", "description": "w", "model": ScriptedModel([write(), "written"])}
    helper |= {"interrupt_on": own}
    _, graph = agent(
        folder, call("task", description="x", subagent_type="w"), "done", subagents=[helper]
    )
    assert asked(graph.invoke(REQUEST, THREAD))
    assert not (folder / "new.md").exists()


@pytest.mark.parametrize("wrap", [False, True], ids=["folder", "composite"])
def test_a_folder_without_mounts_is_a_persons_too(folder, wrap):
    from deepagents.backends import CompositeBackend, StateBackend

    backend = deepnb.files.Folder(folder)
    path = "/new.md"
    if wrap:
        backend, path = CompositeBackend(StateBackend(), {"/disk/": backend}), "/disk/new.md"
    graph = deepnb.create_deep_agent(
        ScriptedModel([write(path), "done"]), backend=backend, checkpointer=InMemorySaver()
    )
    assert asked(graph.invoke(REQUEST, THREAD))
    assert not (folder / "new.md").exists()


async def test_where_nobody_can_be_asked_the_model_is_told_so(folder):
    for use_async in (False, True):
        model = ScriptedModel([write(), "I could not save it."])
        graph = deepnb.create_deep_agent(model, backend=deepnb.files.mounts(workspace=folder))
        result = await graph.ainvoke(REQUEST) if use_async else graph.invoke(REQUEST)
        assert "__interrupt__" not in result
        assert result["messages"][-1].text == "I could not save it."
        assert "checkpointer=" in heard(model)[0]
        assert not (folder / "new.md").exists()


WAIT_AND_DIE = """
import os, sys, signal
from langgraph.checkpoint.sqlite import SqliteSaver
import deepnb
from deepnb.testing import ScriptedModel, call
write = call("write_file", file_path="/workspace/new.md", content="hello")
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph = deepnb.create_deep_agent(
        ScriptedModel([write]),
        backend=deepnb.files.mounts(workspace=sys.argv[2]),
        checkpointer=saver,
    )
    graph.invoke({"messages": [("user", "go")]}, {"configurable": {"thread_id": "1"}})
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_approval_outlives_a_kernel_that_is_killed(folder, tmp_path_factory):
    database = str(tmp_path_factory.mktemp("db") / "threads.sqlite")
    died = subprocess.run([sys.executable, "-c", WAIT_AND_DIE, database, str(folder)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert not (folder / "new.md").exists()
    model = ScriptedModel(["done"])
    with SqliteSaver.from_conn_string(database) as saver:
        graph = deepnb.create_deep_agent(
            model, backend=deepnb.files.mounts(workspace=folder), checkpointer=saver
        )
        assert len(graph.get_state(THREAD).interrupts) == 1
        graph.invoke(decide(APPROVE), THREAD)
    assert (folder / "new.md").read_text() == "hello"
    assert len(model.calls) == 1


def test_a_diff_cannot_be_broken_out_of_and_has_an_end():
    shown = diff("", "```\n````md\ntext", "/workspace/x.md")
    assert shown.startswith("`````diff\n")
    assert shown.endswith("\n`````")
    long = diff("", "\n".join(map(str, range(5000))), "/workspace/x.md")
    assert long.count("\n") < 500
    assert "more lines" in long


# In a session: what is known outlives the kernel, and a person can approve for good


def session(k, *script, **options):
    return k.agent(list(script), send, interrupt_on={"send": True}, **options)


def always(pattern):
    return decide({"type": "approve", "always": pattern})


def granted(k):
    events = [event for event in k.record.log.since(0) if event.kind == "interrupt_closed"]
    assert all(event.data["by"] == "grant" for event in events)
    return events


async def test_a_file_that_changed_while_the_kernel_was_away_is_not_overwritten(tmp_path):
    async with kernel(tmp_path) as k:
        await k.run(session(k, write()))
    (tmp_path / "papers" / "new.md").write_text("made meanwhile")
    async with kernel(tmp_path) as k:
        await k.run(session(k, "sorry"), decide(APPROVE))
        assert "has changed since" in k.heard[0].text
    assert (tmp_path / "papers" / "new.md").read_text() == "made meanwhile"


async def test_what_fits_a_granted_pattern_is_not_asked_about_again(tmp_path):
    notes = [write(f"/workspace/notes/{name}.md", name) for name in "abc"]
    async with kernel(tmp_path) as k:
        helper = {"name": "w", "description": "w", "model": ScriptedModel([notes[2], "written"])}
        task = call("task", description="x", subagent_type="w")
        graph = session(k, notes[0], notes[1], task, "done", subagents=[helper])
        (review,) = (await k.run(graph))["__interrupt__"][0].value["review_configs"]
        assert review["always"] == "/workspace/notes/a.md"
        result = await k.run(graph, always("/workspace/notes/*"))
        assert result["messages"][-1].text == "done"
        assert sorted(p.name for p in (tmp_path / "papers" / "notes").iterdir()) == [
            "a.md",
            "b.md",
            "c.md",
        ]
        by_agent, by_helper = granted(k)
        assert (by_agent.run, by_agent.agent, by_agent.name) == ("run-1", "deep", "write_file")
        assert (by_helper.agent, by_helper.parent) == ("w", "deep")
        assert by_helper.call == k.heard[2].tool_call_id
        assert by_agent.data["answer"] == {"decisions": [APPROVE]}
        (action,) = by_agent.data["request"]["action_requests"]
        assert action["args"]["file_path"] == "/workspace/notes/b.md"


async def test_a_grant_outlives_the_kernel_and_reaches_no_further_than_it_says(tmp_path):
    async with kernel(tmp_path) as k:
        await k.run(session(k, write("/workspace/notes/a.md")))
    async with kernel(tmp_path) as k:
        calls = [
            write("/workspace/notes/b.md"),
            write("/workspace/notes/deep/c.md"),
            write("/workspace/notes/../d.md"),
            call("edit_file", file_path="/workspace/notes/b.md", old_string="x", new_string="y"),
            call("send", to="all"),
        ]
        result = await k.run(session(k, calls), always("/workspace/notes/*"))
        assert [a["args"] for a in asked(result)] == [c.args for c in calls[1:]]


async def test_any_call_of_a_tool_without_a_path_can_be_granted(tmp_path):
    async with kernel(tmp_path) as k:
        graph = session(k, call("send", to="a"), call("send", to="b"), write(), "done")
        await k.run(graph)
        assert asked(await k.run(graph, always("*")))[0]["name"] == "write_file"
        assert [m.text for m in k.heard] == ["sent to a", "sent to b"]


async def test_a_grant_is_for_later_calls_and_not_for_others_of_its_turn(tmp_path):
    turn = [write("/workspace/a.md"), write("/workspace/b.md")]
    async with kernel(tmp_path) as k:
        graph = session(k, turn, write("/workspace/c.md"), "done")
        await k.run(graph)
        approve = {"type": "approve", "always": "/workspace/*"}
        await k.run(graph, decide(approve, {"type": "reject", "message": "no"}))
        assert sorted(p.name for p in (tmp_path / "papers").iterdir()) == ["a.md", "c.md"]


@pytest.mark.parametrize("new_kernel", [False, True])
async def test_what_was_rejected_does_not_run_because_of_a_grant(tmp_path, new_kernel):
    def writer(name):
        model = ScriptedModel(
            lambda m: "done" if m[-1].type == "tool" else write(f"/workspace/{name}.md", name)
        )
        return {"name": name, "description": name, "model": model}

    def graph(k, *script):
        return session(k, *script, subagents=[writer("a"), writer("b")])

    tasks = [call("task", description="x", subagent_type=n) for n in ("a", "b")]
    async with kernel(tmp_path) as k:
        first = graph(k, tasks, "done")
        waiting = (await k.run(first))["__interrupt__"]
        ids = {q.value["action_requests"][0]["args"]["file_path"]: q.id for q in waiting}
        grant = {"decisions": [{"type": "approve", "always": "/workspace/**"}]}
        await k.run(first, Command(resume={ids["/workspace/a.md"]: grant}))
        reject = {"decisions": [{"type": "reject", "message": "not this one"}]}
        answer = Command(resume={ids["/workspace/b.md"]: reject})
        if not new_kernel:
            result = await k.run(first, answer)
    if new_kernel:
        async with kernel(tmp_path) as k:
            result = await k.run(graph(k, "done"), answer)
    assert result["messages"][-1].text == "done"
    assert [p.name for p in (tmp_path / "papers").iterdir()] == ["a.md"]


async def test_a_call_that_was_granted_stays_so_while_another_waits(tmp_path):
    notes = tmp_path / "papers" / "notes"
    async with kernel(tmp_path) as k:
        turn = [write("/workspace/notes/b.md"), write("/workspace/new.md")]
        graph = session(k, write("/workspace/notes/a.md"), turn, "done")
        await k.run(graph)
        (action,) = asked(await k.run(graph, always("/workspace/notes/*")))
        assert action["args"]["file_path"] == "/workspace/new.md"
        (notes / "b.md").symlink_to(notes / "a.md")  # it would not be granted now
        await k.run(graph, decide(APPROVE))
        assert (notes / "b.md").read_text() == "hello\n"
        assert len(granted(k)) == 1


async def test_a_grant_does_not_lead_through_a_link(tmp_path):
    papers = tmp_path / "papers"
    (papers / "notes").mkdir(parents=True)
    (papers / "secret").mkdir()
    (papers / "notes" / "link").symlink_to(papers / "secret")
    async with kernel(tmp_path) as k:
        graph = session(k, write("/workspace/notes/a.md"), write("/workspace/notes/link/b.md"))
        await k.run(graph)
        (question,) = (await k.run(graph, always("/workspace/notes/**")))["__interrupt__"]
        assert "always" not in question.value["review_configs"][0]


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        ({"type": "approve", "always": "/workspace/notes/*"}, "covers this call"),
        ({"type": "approve", "always": "*"}, "covers this call"),
        ({"type": "approve", "always": "workspace/*"}, "covers this call"),
        ({"type": "approve", "always": ""}, "always"),
        ({"type": "approve", "always": True}, "always"),
        ({"type": "reject", "always": "/workspace/*"}, "goes with type 'approve'"),
    ],
)
async def test_a_pattern_that_does_not_cover_the_action_is_refused(tmp_path, decision, reason):
    async with kernel(tmp_path) as k:
        graph = session(k, write(), "done")
        await k.run(graph)
        with pytest.raises(ValueError, match="validation error") as raised:
            await k.run(graph, decide(decision))
        assert reason in str(refusal(raised.value))
        assert k.record.allowed("write_file") == []
        await k.run(graph, decide(APPROVE))
        assert (tmp_path / "papers" / "new.md").exists()


def test_without_a_session_nothing_can_be_approved_for_good(folder):
    _, graph = agent(folder, write(), "done")
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    assert "always" not in question.value["review_configs"][0]
    with pytest.raises(ValueError, match="validation error") as raised:
        graph.invoke(always("/workspace/*"), THREAD)
    assert "leave 'always' out" in str(refusal(raised.value))


@pytest.mark.parametrize(
    ("pattern", "target", "fits"),
    [
        ("/workspace/a.md", "/workspace/a.md", True),
        ("/workspace/[slug].md", "/workspace/[slug].md", True),
        ("/workspace/[a].md", "/workspace/a.md", False),
        ("/workspace/*.md", "/workspace/a.md", True),
        ("/workspace/*.md", "/workspace/a.txt", False),
        ("/workspace/?.md", "/workspace/ab.md", False),
        ("/workspace/*", "/workspace/notes/a.md", False),
        ("/workspace/*", "/workspaces/a.md", False),
        ("/workspace/**", "/workspace/notes/deep/a.md", True),
        ("/workspace/**/a.md", "/workspace/a.md", True),
        ("/workspace/**/*.md", "/workspace/x/y/a.md", True),
        ("/workspace/**/x/*.md", "/workspace/x/y/a.md", False),
        ("/workspace/A.md", "/workspace/a.md", False),
        ("**", "/files/a.md", True),
        ("*", "/a.md", False),
        ("*", "*", True),
        ("**", "*", False),
        ("?", "*", False),
        ("/**" * 500 + "/x", "/y" * 1000, False),
        ("/" + "*a" * 100, "/" + "a" * 200 + "b", False),
    ],
)
def test_what_a_pattern_covers(pattern, target, fits):
    assert covers(pattern, target) is fits
