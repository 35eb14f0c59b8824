"""A thread outlives its kernel, stays with its owner, and says so when it cannot."""

from __future__ import annotations

import gc
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

import deepnb
from deepnb import Budget, Session
from deepnb.errors import (
    PathError,
    SessionError,
    ThreadError,
    ThreadInUseError,
)
from deepnb.record import read_events
from deepnb.testing import ScriptedModel, call
from tests.sessions import (
    PATIENCE,
    Gate,
    ask,
    echo,
    folder_of,
    kinds,
    listed,
    opening,
    subagent,
    task,
    write,
)

ROOT = Path(__file__).parent.parent
TODOS = [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


# Opening again


def shown(session):
    """Everything that a person can see of a session."""
    todos = session.todos.drop(columns="seconds")  # they go on while something is in progress
    frames = [session.trace, session.messages, session.usage, todos, session.files]
    runs = [(run.id, run.question, run.status, run.reason) for run in session.runs]
    pending = session.pending.drop(columns="request").to_dict("records")
    questions = [(q.id, q.request, q.agent, q.parent, q.call) for q in session.questions]
    status = (session.status, session.waiting_for, session.can_resume)
    return [
        *(frame.to_json(date_format="iso") for frame in frames),
        runs,
        pending,
        questions,
        status,
    ]


def test_an_opened_thread_shows_what_it_showed(session, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("exports")
    plan = call("write_todos", todos=TODOS)
    helper = subagent("reader", [write("/scratch/found.md", "found"), "read"])
    script = [plan, write("/scratch/notes.md", "n"), task("reader"), write(), "done", "and again"]
    s = session(script, subagents=[helper], respond="approve")
    ask(s, "one")
    ask(s, "two")
    before = shown(s), s.events(), s.export(elsewhere / "before.md").read_text()
    s.close()
    again = session([], subagents=[helper])
    assert shown(again) == before[0]
    assert again.events() == before[1]
    assert again.export(elsewhere / "after.md").read_text() == before[2]


def test_a_waiting_thread_waits_for_the_same(session):
    s = session([call("write_todos", todos=TODOS), "planned", write("/workspace/a.md")])
    ask(s, "plan")
    ask(s, "write")
    before = shown(s)
    s.close()
    again = session(["written"])
    assert shown(again) == before
    again.respond(again.questions[0].id, "approve")
    assert again.runs[-1].wait(PATIENCE).answer == "written"
    assert list(again.messages.text) == ["plan", "planned", "write", "written"]
    assert len(kinds(again, "todos")) == 1


def test_a_failed_run_can_be_resumed_in_another_session(session):
    s = session([RuntimeError("the line is down")])
    ask(s)
    before = shown(s)
    s.close()
    again = session(["here I am"])
    assert shown(again) == before
    assert again.status == "failed"
    assert again.resume().wait(PATIENCE).answer == "here I am"


def test_a_stopped_thread_is_stopped_and_can_be_asked(session):
    gate = Gate()
    s = session([call("hold")], tools=[gate.tool()])
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    s.stop()
    before = shown(s)
    assert run.status == "stopped"
    s.close()
    again = session(echo)
    assert shown(again) == before
    assert ask(again, "well?").answer == "answer to well?"


def test_opening_often_adds_nothing(session):
    s = session([call("write_todos", todos=TODOS), "done"])
    ask(s)
    s.edit_todos(s.todos.assign(status="completed"))
    before = s.events()
    for _ in range(3):
        s.close()
        s = session([])
        assert s.events() == before


def test_a_long_plan_is_not_told_again_at_each_opening(session):
    todos = [{"content": "x" * 5_000, "status": "pending"}]
    s = session([call("write_todos", todos=todos), "done"])
    ask(s)
    before = s.events()
    s.close()
    assert session([]).events() == before


def test_what_is_asked_before_closing_is_answered_or_said_to_be_stopped(session):
    gate = Gate()
    s = session([call("hold")], tools=[gate.tool()])
    first, second = s.ask("one"), s.ask("two")
    gate.reached.wait(PATIENCE)
    s.close()
    assert (first.status, second.status) == ("stopped", "stopped")
    again = session(echo)
    assert [run.question for run in again.runs] == ["one", "two"]
    assert [run.status for run in again.runs] == ["stopped", "stopped"]


def test_the_agent_remembers(session):
    s = session(lambda messages: " ".join(m.text for m in messages if m.type == "human"))
    ask(s, "one")
    s.close()
    again = session(lambda messages: " ".join(m.text for m in messages if m.type == "human"))
    assert ask(again, "two").answer == "one two"


def test_a_budget_is_spent_over_restarts(session):
    s = session(echo, budget=Budget(calls=2))
    ask(s, "one")
    s.close()
    again = session(echo, budget=Budget(calls=2))
    assert ask(again, "two").status == "done"
    assert ask(again, "three").status == "waiting"
    assert again.questions[0].type == "budget_exhausted"


def test_what_was_allowed_for_good_is_still_allowed(session):
    s = session([write("/workspace/a.md"), "done"])
    run = ask(s)
    always = {"type": "approve", "always": "/workspace/*"}
    s.respond(s.questions[0].id, {"decisions": [always]})
    assert run.wait(PATIENCE).status == "done"
    s.close()
    again = session([write("/workspace/b.md"), "done"])
    assert ask(again).status == "done"
    assert (again.workspace / "b.md").exists()


def test_a_closed_session_says_what_to_do(session):
    s = session(echo)
    ask(s)
    s.close()
    s.close()
    assert "closed" in repr(s)
    for use in (
        lambda: s.ask("more"),
        s.stop,
        s.resume,
        lambda: s.steer("x"),
        lambda: s.respond("1", "x"),
        s.fork,
        lambda: s.state,
    ):
        with pytest.raises(SessionError, match="closed"):
            use()
    assert list(s.messages.text) == ["go", "answer to go"]


def test_a_thread_of_another_agent_is_left_as_it_is(session):
    def node(state):
        return {"messages": [AIMessage("hello")]}

    graph = StateGraph(MessagesState).add_node("say", node).add_edge(START, "say").compile()
    s = session([write()])
    ask(s)
    before = shown(s)
    s.close()
    with suppress(ThreadError):  # refused, or shown as far as that goes
        session(graph).close()
    again = session(["done"])
    assert shown(again) == before
    again.respond(again.questions[0].id, "approve")
    assert again.runs[-1].wait(PATIENCE).answer == "done"


def test_a_thread_whose_folder_was_renamed_is_still_that_thread(session, tmp_path):
    s = session([write()])
    ask(s)
    (question,) = s.questions
    s.close()
    folder_of(tmp_path).rename(folder_of(tmp_path, "kept"))
    kept = session(["done"], thread="kept")
    kept.respond(question.id, "approve")
    assert kept.runs[-1].wait(PATIENCE).answer == "done"
    assert [m.type for m in kept.state["messages"]] == ["human", "ai", "tool", "ai"]


def test_a_workspace_that_is_copied_takes_its_threads_along(session, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    s = session([write()], workspace=here)
    ask(s)
    s.close()
    shutil.copytree(here, there)
    copy = session(["done"], workspace=there)
    copy.respond(copy.questions[0].id, "approve")
    assert copy.runs[-1].wait(PATIENCE).answer == "done"
    assert (there / "new.md").exists()
    assert not (here / "new.md").exists()
    assert session([], workspace=here).status == "waiting"


# Listing and forgetting


def test_threads_are_listed_with_what_they_are_about(session, tmp_path):
    assert deepnb.threads(tmp_path).empty
    assert "thread" in deepnb.threads(tmp_path).columns
    session(echo, thread="idle")
    ask(session(echo, thread="done"), "how deep is the lake?")
    ask(session([RuntimeError("no")], thread="failed"))
    ask(session([write()], thread="waiting"))
    frame = deepnb.threads(tmp_path).set_index("thread")
    states = {"idle": "idle", "done": "done", "failed": "failed", "waiting": "waiting"}
    assert dict(frame.status) == states
    assert frame.question["done"] == "how deep is the lake?"
    assert frame.runs["done"] == 1
    assert frame.runs["idle"] == 0
    assert (frame["size"] > 0).all()
    assert frame.index[0] == "waiting"  # the latest first


def test_a_run_under_way_is_listed_as_running(session, tmp_path):
    gate = Gate()
    s = session([call("hold"), "done"], tools=[gate.tool()])
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    assert listed(tmp_path) == {"main": "running"}
    gate.opened.set()
    run.wait(PATIENCE)
    assert listed(tmp_path) == {"main": "done"}


def test_a_question_that_was_stopped_is_not_waiting(session, tmp_path):
    s = session([write(), echo])
    ask(s)
    s.stop()
    assert listed(tmp_path) == {"main": "stopped"}


def test_listing_threads_disturbs_nobody_who_opens_and_closes_them(session, tmp_path):
    s = session(echo)
    ask(s)
    s.close()
    over = threading.Event()
    failures = []

    def look():
        while not over.is_set():
            try:
                deepnb.threads(tmp_path)
            except Exception as error:  # noqa: BLE001  # whatever it is, it should not be
                failures.append(error)
                return

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(40):
            session(echo).close()
    finally:
        over.set()
        watcher.join()
    assert failures == []


def test_what_lies_about_in_the_folder_is_no_thread(session, tmp_path):
    session(echo).close()
    (folder_of(tmp_path).parent / "notes.txt").write_text("mine")
    (folder_of(tmp_path).parent / "empty").mkdir()
    assert list(listed(tmp_path)) == ["main"]


def test_a_forgotten_thread_is_gone_for_good(session, tmp_path):
    s = session(lambda messages: "unforgettable", budget=Budget(calls=9))
    ask(s, "unforgettable")
    s.close()
    deepnb.forget("main", tmp_path)
    assert listed(tmp_path) == {}
    rest = [path for path in (tmp_path / ".deepnb").rglob("*") if path.is_file()]
    assert not [path for path in rest if b"unforgettable" in path.read_bytes()]
    assert not folder_of(tmp_path).exists()
    again = session(echo)
    assert (again.status, again.runs, again.state) == ("idle", [], {})


def test_forgetting_closes_the_session_that_has_it_open(session, tmp_path):
    s = session(echo)
    ask(s)
    deepnb.forget("main", tmp_path)
    assert s.is_closed
    assert listed(tmp_path) == {}


def test_a_running_thread_is_not_forgotten(session, tmp_path):
    gate = Gate()
    s = session([call("hold"), "done"], tools=[gate.tool()])
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    with pytest.raises(ThreadInUseError, match="stop") as refused:
        deepnb.forget("main", tmp_path)
    assert f"'main' in {tmp_path}" in str(refused.value)
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "done"
    assert listed(tmp_path) == {"main": "done"}


def test_forgetting_leaves_other_threads_and_the_workspace_alone(session, tmp_path):
    (tmp_path / "paper.md").write_text("mine")
    for name in ("one", "two"):
        s = session(echo, thread=name)
        ask(s)
        s.close()
    deepnb.forget("one", tmp_path)
    assert listed(tmp_path) == {"two": "done"}
    assert (tmp_path / "paper.md").read_text() == "mine"


@pytest.mark.parametrize("name", ["other", "..", "../..", "main/../main", "", None])
def test_what_is_no_thread_cannot_be_forgotten(session, tmp_path, name):
    session(echo).close()
    with pytest.raises(ThreadError):
        deepnb.forget(name, tmp_path)
    assert list(listed(tmp_path)) == ["main"]


def test_what_is_not_there_to_be_forgotten_is_said_with_the_folder_that_was_looked_in(tmp_path):
    with pytest.raises(ThreadError) as refused:
        deepnb.forget("other", tmp_path)
    assert str(refused.value) == f"There is no thread 'other' in {tmp_path}. There are: none."


def test_forgetting_an_unknown_thread_says_which_there_are(session, tmp_path):
    session(echo, thread="thesis").close()
    with pytest.raises(ThreadError, match="'thesis'"):
        deepnb.forget("these", tmp_path)


def test_a_workspace_that_is_none(tmp_path):
    for use in (
        deepnb.threads,
        lambda path: deepnb.forget("main", path),
        lambda path: Session(workspace=path),
    ):
        with pytest.raises(PathError, match="not a folder"):
            use(tmp_path / "nowhere")


def test_a_thread_is_no_file_of_the_agents(session, tmp_path):
    ask(session(echo, thread="other"))
    looks = [
        call("ls", path="/workspace/.deepnb/"),
        call("glob", pattern="**/*", path="/workspace/"),
        call("grep", pattern="answer", path="/workspace/"),
        call("read_file", file_path="/workspace/.deepnb/threads/other/record.sqlite"),
        call("write_file", file_path="/workspace/.deepnb/mine", content="x"),
    ]
    s = session([looks, lambda messages: "\n".join(m.text for m in messages if m.type == "tool")])
    run = s.ask("go").wait(PATIENCE)
    while s.questions:
        s.respond(s.questions[0].id, "approve")
        run.wait(PATIENCE)
    assert "sqlite" not in run.answer.replace("/threads/other/record.sqlite", "")
    assert not (tmp_path / ".deepnb" / "mine").exists()
    assert not [path for path in s.files.path if ".deepnb" in path]


# In memory


def test_in_memory_nothing_is_left_on_disk(session, tmp_path):
    s = session([write("/scratch/a.md"), "done"], persist=False, budget=Budget(calls=9))
    assert ask(s).answer == "done"
    fork = s.fork()
    assert list(fork.messages.text) == ["go", "done"]
    s.close()
    fork.close()
    assert list(tmp_path.iterdir()) == []


def test_in_memory_two_sessions_of_one_name_are_two(session):
    one, two = session(echo, persist=False), session(echo, persist=False)
    ask(one, "one")
    assert two.status == "idle"
    ask(two, "two")
    assert list(one.messages.text) == ["one", "answer to one"]


def test_in_memory_a_session_does_not_touch_the_thread_of_that_name(session):
    kept = session(echo)
    ask(kept, "kept")
    passing = session(echo, persist=False)
    ask(passing, "passing")
    assert not kept.is_closed
    assert list(kept.messages.text) == ["kept", "answer to kept"]


def test_in_memory_a_session_works_where_nothing_can_be_written(session, tmp_path):
    (tmp_path / ".deepnb").write_text("no folder")
    assert ask(session(echo, persist=False)).status == "done"


# The same thread in one kernel


def test_a_thread_that_rests_is_taken_over(session):
    first = session(echo)
    ask(first, "one")
    second = session(echo)
    assert first.is_closed
    assert ask(second, "two").status == "done"
    assert [run.question for run in second.runs] == ["one", "two"]
    with pytest.raises(SessionError, match="opened again by a later one"):
        first.ask("three")


def test_a_thread_that_waits_is_taken_over_with_its_question(session):
    first = session([write()])
    ask(first)
    (question,) = first.questions
    second = session(["done"])
    assert first.is_closed
    second.respond(question.id, "approve")
    assert second.runs[-1].wait(PATIENCE).answer == "done"


def test_a_thread_that_runs_is_not_taken_over(session):
    gate = Gate()
    first = session([call("hold"), "done"], tools=[gate.tool()])
    run = first.ask("go")
    gate.reached.wait(PATIENCE)
    with pytest.raises(ThreadInUseError, match="stop"):
        session(echo)
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "done"
    assert not first.is_closed
    assert session(echo).status == "done"


def test_a_thread_that_was_stopped_is_taken_over(session):
    gate = Gate()
    first = session([call("hold")], tools=[gate.tool()])
    first.ask("go")
    gate.reached.wait(PATIENCE)
    first.stop()
    assert ask(session(echo), "again").answer == "answer to again"


def test_a_workspace_by_another_way_is_the_same(session, tmp_path, monkeypatch):
    (tmp_path / "papers").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "papers")
    first = session(echo, workspace=tmp_path / "papers")
    ask(first)
    second = session(echo, workspace=tmp_path / "link")
    assert first.is_closed
    monkeypatch.chdir(tmp_path)
    third = session(echo, workspace="papers")
    assert second.is_closed
    assert third.status == "done"


def test_a_session_that_nobody_holds_keeps_its_thread_while_it_runs(tmp_path):
    gate = Gate()

    def slow(messages):
        gate.wait()
        return "late"

    run = Session("deep", model=ScriptedModel(slow), workspace=tmp_path).ask("go")
    gate.reached.wait(PATIENCE)
    gc.collect()
    with pytest.raises(ThreadInUseError):
        Session("deep", model=ScriptedModel([]), workspace=tmp_path)
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "late"
    with Session("deep", model=ScriptedModel([]), workspace=tmp_path) as again:
        assert list(again.messages.text) == ["go", "late"]


def test_a_fork_that_nobody_holds_finishes_its_run(session):
    s = session(echo)
    ask(s, "one")
    run = s.fork(thread="branch").ask("two")
    gc.collect()
    assert run.wait(PATIENCE).answer == "answer to two"
    branch = session(echo, thread="branch")
    assert [r.question for r in branch.runs] == ["one", "two"]


def test_threads_of_one_kernel_run_side_by_side(session):
    gates = {name: Gate() for name in ("one", "two", "three")}
    runs = {}
    for name, gate in gates.items():
        script = [call("hold"), f"{name} is done"]
        runs[name] = session(script, tools=[gate.tool()], thread=name).ask("go")
    for gate in gates.values():
        assert gate.reached.wait(PATIENCE)
    for name in reversed(gates):
        gates[name].opened.set()
        assert runs[name].wait(PATIENCE).answer == f"{name} is done"


# Two kernels

HOLDER = """
import sys, deepnb
from deepnb.testing import ScriptedModel, call
model = ScriptedModel([call("write_file", file_path="/workspace/new.md", content="hello"), "done"])
session = deepnb.Session("deep", model=model, workspace=sys.argv[1], thread="theirs")
session.ask("write it").wait()
print(session.questions[0].id, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_kernel(tmp_path):
    """Another process that has the thread "theirs" open, where an approval waits."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        process.question = process.stdout.readline().strip()
        yield process
        process.kill()


def test_two_kernels_on_one_folder(session, tmp_path, other_kernel):
    question = other_kernel.question
    assert question
    # The thread is theirs, and one is told so.
    with pytest.raises(ThreadInUseError, match=f"process {other_kernel.pid}") as refused:
        session(echo, thread="theirs")
    assert "another thread" in str(refused.value)
    with pytest.raises(ThreadInUseError):
        deepnb.forget("theirs", tmp_path)
    assert listed(tmp_path) == {"theirs": "waiting"}
    # It can be looked at, though.
    assert "write it" in str(read_events(tmp_path, "theirs"))
    # Another one is nobody's business.
    mine = session(echo, thread="mine")
    assert ask(mine, "meanwhile").answer == "answer to meanwhile"
    assert listed(tmp_path) == {"theirs": "waiting", "mine": "done"}
    # Once they are dead, by whatever cause, it can be taken up where it was.
    other_kernel.send_signal(signal.SIGKILL)
    other_kernel.wait()
    theirs = session(["done"], thread="theirs")
    assert [q.id for q in theirs.questions] == [question]
    theirs.respond(question, "approve")
    assert theirs.runs[-1].wait(PATIENCE).answer == "done"
    assert (tmp_path / "new.md").read_text() == "hello"


SCRIPT = """
import sys, threading, deepnb
from deepnb.testing import ScriptedModel, call
def block() -> str:
    "Take long."
    threading.Event().wait(60)
model = ScriptedModel(["answered", call("block")])
session = deepnb.Session("deep", model=model, workspace=sys.argv[1], tools=[block])
session.ask("one").wait()
begun = threading.Event()
session.subscribe(lambda event: event.kind == "tool_call" and begun.set())
session.ask("two")
begun.wait()
"""


def test_a_script_that_ends_in_the_middle_of_a_run_ends_quietly_and_loses_nothing(
    session, tmp_path
):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert listed(tmp_path) == {"main": "stopped"}
    s = session(echo)
    assert (s.status, s.can_resume) == ("stopped", True)
    assert list(s.messages.text) == ["one", "answered", "two"]
    assert [e.name for e in kinds(s, "tool_call")] == ["block"]


# Names


@pytest.mark.parametrize(
    "name",
    [
        "Dürre in der Lausitz",
        "湖の深さ",
        "a/b/c",
        "a\\b",
        ".",
        "..",
        "../../../escape",
        ".hidden",
        "report..final",
        "trailing.",
        "trailing ",
        "-rf",
        "~",
        "%2E%2E",
        "a%2Fb",
        'what? <*|">:',
        "two\nlines",
        "nul\0byte",
        "con",
        "a" * 100,
        "湖" * 20,
        "." * 30,
        "👩‍🚀",
    ],
    ids=ascii,
)
def test_names_of_threads_are_kept_as_they_are_and_lead_nowhere(session, tmp_path, name):
    workspace = tmp_path / "inside" / "workspace"
    workspace.mkdir(parents=True)
    s = session(echo, thread=name, workspace=workspace)
    ask(s, "one")
    s.close()
    assert listed(workspace) == {name: "done"}
    assert [path.name for path in workspace.iterdir()] == [".deepnb"]
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert len(list((workspace / ".deepnb" / "threads").iterdir())) == 1
    again = session(echo, thread=name, workspace=workspace)
    assert [run.question for run in again.runs] == ["one"]
    again.close()
    deepnb.forget(name, workspace)
    assert listed(workspace) == {}


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\n",
        None,
        5,
        0,
        b"bytes",
        Path("thesis"),
        "half a \ud83d pair",
        "x" * 500,
        "." * 99,
    ],
    ids=ascii,
)
def test_names_that_no_thread_can_have_are_refused_with_a_reason(session, tmp_path, name):
    with pytest.raises(ThreadError, match="thread|name"):
        session(echo, thread=name)
    assert not (tmp_path / ".deepnb" / "threads").exists()


def test_names_that_differ_in_case_or_spelling_are_different_threads(session, tmp_path):
    names = ["thesis", "Thesis", "thesis ", "caf\u00e9", "cafe\u0301", "a.b", "a%2Eb"]
    for name in names:
        ask(session(echo, thread=name), f"in {name}")
    assert sorted(listed(tmp_path)) == sorted(names)
    for name in names:
        assert session(echo, thread=name).messages.text[0] == f"in {name}"
