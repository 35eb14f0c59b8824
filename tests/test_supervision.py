"""Tool calls of a session are made once, end in time, and say what they have written."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import pytest
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, StructuredTool
from langgraph.types import Command

import deepnb
from deepnb.interrupts import TextAnswer, ask
from deepnb.testing import ScriptedModel, call
from tests.kernels import GO, kernel


async def until_true(condition):
    while not condition():  # noqa: ASYNC110  # of files, which tell nobody
        await asyncio.sleep(0.01)


async def cut_off(kernel, graph, until, given=GO):
    """Run until something has happened, and then no further."""
    run = asyncio.ensure_future(kernel.run(graph, given))
    await until_true(until)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


def questions(result):
    return {q.value["tool_call_id"]: q for q in result.get("__interrupt__", [])}


def mails(result):
    """What is asked about calls of `send`, by the last word of whom they are to."""
    return {re.search(r"(\w+)'\)", q.value["question"])[1]: q for q in result["__interrupt__"]}


# A kernel that dies

DIES = """
import asyncio, os, signal, sys
from pathlib import Path
from deepnb.testing import ScriptedModel
from tests.kernels import kernel
from tests.test_supervision import Fragile, Hangs, script, send, stamp

home = Path(sys.argv[1])
(home / "papers").mkdir()
(home / "papers" / "draft.md").write_text("The lake is clean.")

def die_when_said(event):
    if event.kind == "file" and event.name == "/workspace/said.md":
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with kernel(home) as k:
        k.record.log.subscribe(die_when_said)
        graph = k.agent(
            ScriptedModel(script), send(home, hang=True), stamp(home),
            workspace=Fragile(home), middleware=[Hangs(home, "stamp")],
        )
        await k.run(graph)

asyncio.run(main())
"""


def script(messages):
    """Say the same after a restart: seven calls at once, one of them a subagent's."""
    if messages[-1].type == "tool":
        return "done"
    if messages[-1].text == "mail":
        return call("send", to="the helper")
    return [
        call("stamp", text="first"),
        call("send", to="all"),
        call("write_file", file_path="/workspace/done.md", content="done"),
        call("edit_file", file_path="/workspace/draft.md", old_string="is", new_string="is not"),
        call("write_file", file_path="/workspace/late.md", content="late"),
        call("write_file", file_path="/workspace/said.md", content="said"),
        call("task", description="mail", subagent_type="general-purpose"),
    ]


def effects(home):
    return sorted(path.read_text() for path in home.glob("effect-*"))


def do(home, what):
    (home / f"effect-{time.time_ns()}").write_text(what)


def send(home, *, hang=False):
    async def send(to: str) -> str:
        """Send a mail."""
        do(home, f"mail to {to}")
        if hang:
            await asyncio.Event().wait()
        return f"sent to {to}"

    return StructuredTool.from_function(coroutine=send)


def stamp(home):
    def stamp(text: str, call: Annotated[str, InjectedToolCallId]) -> Command:
        """Stamp a letter."""
        do(home, f"stamp {text}")
        note = {"/scratch/stamp.md": {"content": text, "encoding": "utf-8"}}
        message = ToolMessage("stamped", tool_call_id=call)
        return Command(update={"messages": [message], "files": note})

    return StructuredTool.from_function(stamp)


class Hangs(AgentMiddleware):
    """Has the result of a tool and hands it on to nobody."""

    def __init__(self, home, tool):
        super().__init__()
        self.home = home
        self.tool = tool

    async def awrap_tool_call(self, request, handler):
        result = await handler(request)
        if request.tool_call["name"] == self.tool:
            do(self.home, f"{self.tool} is done")
            await asyncio.Event().wait()
        return result


class Fragile(deepnb.files.Folder):
    """Hangs after it has written, or before; its last file waits until all else has come so far."""

    def __init__(self, home):
        super().__init__(home / "papers")
        self.home = home

    def write(self, file_path, content):
        while file_path == "/late.md":
            time.sleep(1)
        result = super().write(file_path, content)
        while file_path == "/done.md":
            time.sleep(1)
        while len(effects(self.home)) < 5 or not (self.root / "done.md").exists():
            time.sleep(0.01)
        return result

    def edit(self, file_path, *args, **options):
        super().edit(file_path, *args, **options)
        do(self.home, "edit is done")
        time.sleep(60)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    home = tmp_path_factory.mktemp("killed")
    root = Path(__file__).parents[1]
    died = subprocess.run([sys.executable, "-c", DIES, str(home)], cwd=root, check=False)
    assert died.returncode == -signal.SIGKILL
    return home


@pytest.fixture
def home(killed, tmp_path):
    """A copy of what is left of it."""
    return Path(shutil.copytree(killed, tmp_path / "home"))


async def resumed(k):
    """Open the thread again, in a kernel where nothing hangs."""
    graph = k.agent(ScriptedModel(script), send(k.home), stamp(k.home))
    return graph, await k.run(graph, None)


async def answered(k, graph, result, **choices):
    """Answer what is asked about mails, by whom they are to."""
    asked = mails(result)
    answers = {asked[each].id: {"selected": [choice]} for each, choice in choices.items()}
    return await k.run(graph, Command(resume=answers))


async def test_after_a_kill_only_what_nobody_can_know_is_asked(home):
    before = effects(home)
    async with kernel(home) as k:
        _, result = await resumed(k)
        asked = mails(result)
        assert asked.keys() == {"all", "helper"}  # the agent's mail, and its helper's
        assert (
            "send(to='all') was running when the run was cut off" in asked["all"].value["question"]
        )
        assert effects(home) == before


async def test_after_a_kill_files_tell_by_themselves_whether_they_were_written(home):
    papers = home / "papers"
    inodes = {path: path.stat().st_ino for path in papers.iterdir()}
    async with kernel(home) as k:
        graph, result = await resumed(k)
        assert {path: path.stat().st_ino for path in inodes} == inodes
        assert (papers / "draft.md").read_text() == "The lake is not clean."
        assert (papers / "late.md").read_text() == "late"
        await answered(k, graph, result, all="skip", helper="skip")
        assert [m.text for m in k.heard[2:6]] == [
            "Updated file /workspace/done.md",
            "Updated file /workspace/draft.md",
            "Updated file /workspace/late.md",
            "Updated file /workspace/said.md",
        ]


async def test_after_a_kill_each_write_is_reported_once(home):
    async with kernel(home) as k:
        assert [event.name for event in k.written] == ["/workspace/said.md"]
        await resumed(k)
        (edit,) = [event for event in k.written if event.name == "/workspace/draft.md"]
        assert "-The lake is clean." in edit.data["diff"]
        assert "+The lake is not clean." in edit.data["diff"]
        names = ["done", "draft", "late", "said"]
        assert sorted(e.name for e in k.written) == [f"/workspace/{name}.md" for name in names]


async def test_a_file_that_somebody_changed_after_the_kill_is_left_alone(home):
    for name in ("done.md", "late.md"):
        (home / "papers" / name).write_text("mine")
    async with kernel(home) as k:
        graph, result = await resumed(k)
        await answered(k, graph, result, all="skip", helper="skip")
        done, draft, late = k.heard[2:5]
        assert (done.status, draft.status, late.status) == ("error", "success", "error")
        assert "somebody has changed it" in late.text
    assert (home / "papers" / "done.md").read_text() == "mine"
    assert (home / "papers" / "late.md").read_text() == "mine"


async def test_a_result_that_only_the_record_has_is_given_and_the_tool_not_called(home):
    async with kernel(home) as k:
        graph, result = await resumed(k)
        result = await answered(k, graph, result, all="skip", helper="skip")
        assert k.heard[0].text == "stamped"
        assert result["files"]["/scratch/stamp.md"]["content"] == "first"
    assert effects(home).count("stamp first") == 1


async def test_a_person_decides_whether_a_call_is_made_again(home):
    async with kernel(home) as k:
        graph, result = await resumed(k)
        result = await answered(k, graph, result, all="again", helper="skip")
        assert result["messages"][-1].text == "done"
        assert k.heard[1].text == "sent to all"
    assert effects(home).count("mail to all") == 2
    assert effects(home).count("mail to the helper") == 1


async def test_the_model_hears_of_a_call_that_was_not_repeated(home):
    async with kernel(home) as k:
        graph, result = await resumed(k)
        await answered(k, graph, result, all="skip", helper="again")
        sent = k.heard[1]
        assert sent.status == "error"
        assert "may or may not have taken effect. The person chose not to repeat it." in sent.text
    assert effects(home).count("mail to all") == 1
    assert effects(home).count("mail to the helper") == 2


async def test_a_call_that_is_cut_off_again_is_not_made_a_third_time(home):
    async with kernel(home) as k:
        graph = k.agent(ScriptedModel(script), send(k.home, hang=True), stamp(k.home))
        asked = mails(await k.run(graph, None))
        again = Command(resume={asked["all"].id: {"selected": ["again"]}})
        await cut_off(k, graph, lambda: effects(home).count("mail to all") == 2, again)
    async with kernel(home) as k:
        graph, result = await resumed(k)
        await answered(k, graph, result, helper="skip")
        assert "It was not repeated." in k.heard[1].text
    assert effects(home).count("mail to all") == 2


# Calls that are cut off, raise or wait


async def test_tools_that_say_they_are_harmless_are_simply_called_again(tmp_path):
    hints = [{"readOnlyHint": True}, {"idempotentHint": True}]
    tools = []
    for number, metadata in enumerate(hints):
        tool = send(tmp_path, hang=True)
        tools.append(tool.model_copy(update={"name": f"send{number}", "metadata": metadata}))
    turn = [call("send0", to="a"), call("send1", to="b")]
    async with kernel(tmp_path) as k:
        await cut_off(k, k.agent([turn], *tools), lambda: len(effects(tmp_path)) == 2)
    for tool in tools:
        tool.coroutine = send(tmp_path).coroutine
    async with kernel(tmp_path) as k:
        await k.run(k.agent(["done"], *tools), None)
        assert [m.text for m in k.heard] == ["sent to a", "sent to b"]


async def test_the_agents_own_memory_is_simply_written_again(tmp_path):
    write = call("write_file", file_path="/scratch/a.md", content="x")
    async with kernel(tmp_path) as k:
        graph = k.agent([write], middleware=[Hangs(tmp_path, "write_file")])
        await cut_off(k, graph, lambda: effects(tmp_path))
    async with kernel(tmp_path) as k:
        result = await k.run(k.agent(["done"]), None)
        assert result["files"]["/scratch/a.md"]["content"] == "x"


def pay(home, *, hang=False):
    async def pay() -> str:
        """Pay, once the person has said how."""
        how = ask(
            {
                "type": "clarification_request",
                "tool": "ask_user",
                "tool_call_id": "pay",
                "question": "How?",
                "options": [],
                "allow_multiple": False,
                "allow_freeform": True,
            },
            TextAnswer,
        )
        do(home, f"paid {how.response}")
        if hang:
            await asyncio.Event().wait()
        return "paid"

    return StructuredTool.from_function(coroutine=pay)


async def test_a_tool_that_waits_for_a_person_is_called_again_with_the_answer(tmp_path):
    async with kernel(tmp_path) as k:
        result = await k.run(k.agent([call("pay")], pay(tmp_path)))
    async with kernel(tmp_path) as k:
        graph = k.agent(["done"], pay(tmp_path))
        answer = {questions(result)["pay"].id: {"response": ""}}
        with pytest.raises(ValueError, match="validation error"):
            await k.run(graph, Command(resume=answer))
        await k.run(graph, Command(resume={questions(result)["pay"].id: {"response": "cash"}}))
        assert k.heard[0].text == "paid"
    assert effects(tmp_path) == ["paid cash"]


async def test_a_tool_that_is_cut_off_after_its_own_question_is_given_up(tmp_path):
    async with kernel(tmp_path) as k:
        graph = k.agent([call("pay")], pay(tmp_path, hang=True))
        result = await k.run(graph)
        answer = Command(resume={questions(result)["pay"].id: {"response": "cash"}})
        await cut_off(k, graph, lambda: effects(tmp_path), answer)
    async with kernel(tmp_path) as k:
        result = await k.run(k.agent(["done"], pay(tmp_path)), answer)
        assert result["messages"][-1].text == "done"
        assert "may or may not have taken effect" in k.heard[0].text
    assert effects(tmp_path) == ["paid cash"]


async def test_a_tool_with_a_question_of_its_own_can_be_made_again(tmp_path):
    async def ring() -> str:
        """Ring the bell, and then ask; the wrong way round, but it happens."""
        do(tmp_path, "rang")
        if len(effects(tmp_path)) == 1:
            await asyncio.Event().wait()
        return await pay(tmp_path).coroutine()

    tool = StructuredTool.from_function(coroutine=ring)
    async with kernel(tmp_path) as k:
        await cut_off(k, k.agent([call("ring")], tool), lambda: effects(tmp_path))
    async with kernel(tmp_path) as k:
        graph = k.agent(["done"], tool)
        (whether,) = (await k.run(graph, None))["__interrupt__"]
        again = Command(resume={whether.id: {"selected": ["again"]}})
        (how,) = (await k.run(graph, again))["__interrupt__"]
        assert how.value["question"] == "How?"
        await k.run(graph, Command(resume={how.id: {"response": "cash"}}))
        assert k.heard[0].text == "paid"
    assert "paid cash" in effects(tmp_path)


async def test_a_retry_is_no_kill(tmp_path):
    def flaky() -> str:
        """Work at the second time."""
        do(tmp_path, "tried")
        if len(effects(tmp_path)) == 1:
            raise ConnectionError("come back later")
        return "worked"

    async with kernel(tmp_path) as k:
        retry = ToolRetryMiddleware(initial_delay=0, max_retries=2)
        await k.run(k.agent([call("flaky"), "done"], flaky, middleware=[retry]))
        assert k.heard[0].text == "worked"


async def test_a_call_that_the_person_edited_is_the_one_that_is_supervised(tmp_path):
    write = call("write_file", file_path="/workspace/a.md", content="a")
    edited = {"name": "write_file", "args": {"file_path": "/workspace/b.md", "content": "b"}}
    async with kernel(tmp_path) as k:
        graph = k.agent([write, "done"], interrupt_on=None)
        await k.run(graph)
        answer = {"decisions": [{"type": "edit", "edited_action": edited}]}
        await k.run(graph, Command(resume=answer))
        assert [event.name for event in k.written] == ["/workspace/b.md"]


# Time


def wait_for_ever():
    async def wait() -> str:
        """Wait."""
        await asyncio.Event().wait()

    return StructuredTool.from_function(coroutine=wait)


async def test_a_tool_that_hangs_is_given_up_and_the_run_goes_on(tmp_path):
    def dawdle() -> str:
        """Take one's time."""
        time.sleep(0.5)

    async with kernel(tmp_path, tool_timeout=0.1) as k:
        turn = [call("wait"), call("dawdle")]
        result = await k.run(k.agent([turn, "done"], wait_for_ever(), dawdle))
        assert result["messages"][-1].text == "done"
        assert [m.status for m in k.heard] == ["error", "error"]
        assert "wait was given up after 0.1 seconds. It may still take effect" in k.heard[0].text


async def test_a_subagent_that_takes_too_long_is_given_up(tmp_path):
    async with kernel(tmp_path, subagent_timeout=0.2) as k:
        helper = {"name": "slow", "description": "s", "model": ScriptedModel([call("wait")])}
        task = call("task", description="x", subagent_type="slow")
        await k.run(k.agent([task, "done"], wait_for_ever(), subagents=[helper]))
        assert "Subagent slow was given up after 0.2 seconds" in k.heard[0].text
        assert k.supervisor.running == []


async def test_inside_a_subagent_a_tool_has_a_tools_time(tmp_path):
    async with kernel(tmp_path, tool_timeout=0.1) as k:
        model = ScriptedModel([call("wait"), lambda messages: messages[-1].text])
        helper = {"name": "slow", "description": "s", "model": model}
        task = call("task", description="x", subagent_type="slow")
        await k.run(k.agent([task, "done"], wait_for_ever(), subagents=[helper]))
        assert "wait was given up after 0.1 seconds" in k.heard[0].text


async def test_a_tools_own_time_out_is_its_own(tmp_path):
    def look() -> str:
        """Look."""
        raise TimeoutError("the archive does not answer")

    async with kernel(tmp_path) as k:
        await k.run(k.agent([call("look"), "done"], look))
        assert "TimeoutError: the archive does not answer" in k.heard[0].text


async def test_without_limits_nothing_is_given_up(tmp_path):
    async with kernel(tmp_path, tool_timeout=None, subagent_timeout=None) as k:
        helper = {"name": "h", "description": "h", "model": ScriptedModel(["found"])}
        turn = [call("send", to="all"), call("task", description="x", subagent_type="h")]
        await k.run(k.agent([turn, "done"], send(tmp_path), subagents=[helper]))
        assert [m.text for m in k.heard] == ["sent to all", "found"]


# Stopping one subagent


async def two_at_work(k, gate):
    """Two subagents, of which one waits for the gate and the other for ever."""

    async def patience(what: str) -> str:
        """Wait."""
        do(k.home, what)
        try:
            await (gate if what == "gate" else asyncio.Event()).wait()
        finally:
            do(k.home, f"no more {what}")
        return f"{what} is open"

    def helper(name, what):
        model = ScriptedModel([call("patience", what=what), lambda messages: messages[-1].text])
        return {"name": name, "description": name, "model": model}

    helpers = [helper("a", "ever"), helper("b", "gate")]
    turn = [call("task", description=f"for {n}", subagent_type=n) for n in ("a", "b")]
    tool = StructuredTool.from_function(coroutine=patience)
    run = asyncio.ensure_future(k.run(k.agent([turn, "done"], tool, subagents=helpers)))
    await until_true(lambda: len(effects(k.home)) == 2)
    return run


async def test_one_subagent_is_stopped_alone(tmp_path):
    async with kernel(tmp_path) as k:
        gate = asyncio.Event()
        run = await two_at_work(k, gate)
        a, b = sorted(k.supervisor.running, key=lambda each: each.name)
        assert (a.name, a.description) == ("a", "for a")
        assert a.id != b.id
        assert (a.caller, a.parent) == ("deep", "")
        k.supervisor.stop(a)
        await until_true(lambda: a not in k.supervisor.running)
        assert k.supervisor.running == [b]
        assert "no more ever" in effects(tmp_path)
        gate.set()
        assert (await run)["messages"][-1].text == "done"
        assert "Subagent a was stopped by the person." in k.heard[0].text
        assert k.heard[1].text == "gate is open"


async def test_to_cancel_the_run_stops_them_all_and_answers_for_none(tmp_path):
    async with kernel(tmp_path) as k:
        run = await two_at_work(k, asyncio.Event())
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert k.supervisor.running == []
        assert len(k.model.calls) == 1


# What is reported


async def test_a_write_is_reported_with_what_it_changed_and_by_whom(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    edit = call("edit_file", file_path="workspace//dos.txt", old_string="one\ntwo", new_string="2")
    async with kernel(tmp_path) as k:
        k.supervisor.step = 4
        await k.run(k.agent([edit, "done"]))
        (event,) = k.written
        assert event.name == event.data["path"] == "/workspace/dos.txt"
        assert (event.data["action"], event.data["size"]) == ("changed", 3)
        assert "-one␍\n-two␍\n+2␍" in event.data["diff"]
        assert (event.run, event.agent, event.parent, event.call) == ("run-1", "deep", "", "")
        assert (event.node, event.step) == ("tools", 4)


async def test_a_subagents_write_says_who_called_it(tmp_path):
    write = call("write_file", file_path="/workspace/new.md", content="new\n")
    helper = {"name": "writer", "description": "w", "model": ScriptedModel([write, "written"])}
    turn = [call("ls", path="/"), call("task", description="x", subagent_type="writer")]
    async with kernel(tmp_path) as k:
        await k.run(k.agent([turn, "done"], subagents=[helper]))
        (event,) = k.written
        assert (event.data["action"], event.data["size"]) == ("created", 4)
        assert (event.agent, event.parent) == ("writer", "deep")
        assert event.call == k.heard[1].tool_call_id


async def test_neither_a_refused_write_nor_the_agents_own_memory_is_reported(tmp_path):
    turn = [
        call("write_file", file_path="/workspace/a.pdf", content="x"),
        call("write_file", file_path="/workspace", content="x"),
        call("write_file", file_path="/workspace/../x", content="x"),
        call("write_file", file_path="/workspace/x.md", content=None),
        call("edit_file", file_path="/workspace/no.md", old_string="a", new_string="b"),
        call("write_file", file_path="/scratch/a.md", content="x"),
    ]
    async with kernel(tmp_path) as k:
        result = await k.run(k.agent([turn, "done"]))
        assert [m.status for m in k.heard] == ["error"] * 5 + ["success"]
        assert result["files"]["/scratch/a.md"]["content"] == "x"
        assert k.written == []


async def test_what_the_client_writes_is_reported_once_it_is_written(tmp_path):
    (tmp_path / "browser").mkdir()
    browser = deepnb.files.Folder(tmp_path / "browser")
    turn = [
        call("write_file", file_path="/files/a.md", content="one"),
        call("patch_file", file_id="/files/b.md", search="x", replace="y", description="d"),
    ]
    async with kernel(tmp_path) as k:
        graph = k.agent([turn, "done"], workspace=None, client=True)
        result = await k.run(graph)
        assert k.written == []
        while asked := result.get("__interrupt__"):
            answers = {question.id: browser.answer(question.value) for question in asked}
            result = await k.run(graph, Command(resume=answers))
        (event,) = k.written
        assert (event.name, event.data["size"]) == ("/files/a.md", 3)
        assert "+one" in event.data["diff"]
        assert k.heard[1].status == "error"


async def test_what_the_client_wrote_is_not_reported_twice(tmp_path):
    (tmp_path / "browser").mkdir()
    browser = deepnb.files.Folder(tmp_path / "browser")
    write = call("write_file", file_path="/files/a.md", content="one")
    hangs = Hangs(tmp_path, "write_file")
    async with kernel(tmp_path) as k:
        graph = k.agent([write], workspace=None, client=True, middleware=[hangs])
        (asked,) = (await k.run(graph))["__interrupt__"]
        answer = Command(resume={asked.id: browser.answer(asked.value)})
        k.record.log.subscribe(lambda event: k.record.close())  # the disk is gone right then
        await cut_off(k, graph, lambda: effects(tmp_path), answer)
    async with kernel(tmp_path) as k:
        await k.run(k.agent(["done"], workspace=None, client=True), answer)
        assert k.heard[0].status == "success"
        assert len(k.written) == 1


async def test_without_a_session_nothing_is_supervised(tmp_path):
    async with kernel(tmp_path, tool_timeout=0.0) as k:
        write = call("write_file", file_path="/workspace/new.md", content="new")
        graph = k.agent([[write, call("send", to="all")], "done"], send(tmp_path))
        await graph.ainvoke(GO, {"configurable": {"thread_id": "1"}})
        assert [m.status for m in k.heard] == ["success", "success"]
        assert k.record.log.since(0) == []
