"""A session in a real Jupyter kernel: no cell waits for it, and it waits for no cell."""

from __future__ import annotations

import time
from queue import Empty
from typing import NamedTuple

import pytest
from jupyter_client.manager import KernelManager

from tests.sessions import PATIENCE, until

SETUP = """
import asyncio, threading, time
from collections import defaultdict
import deepnb
from deepnb.testing import ScriptedModel, call

doors, reached = defaultdict(threading.Event), defaultdict(threading.Event)

async def hold(name: str) -> str:
    "Wait until a door is opened, and let oneself be cancelled."
    reached[name].set()
    while not doors[name].is_set():
        await asyncio.sleep(0.01)
    return f"{name} is open"

def block(name: str) -> str:
    "Wait in a thread, which nobody can cancel."
    reached[name].set()
    doors[name].wait(300)
    return f"{name} is open"

def model(messages):
    last = messages[-1]
    if last.type == "tool":
        return f"so {last.text}"
    tool, _, name = last.text.partition(" ")
    if tool == "write":
        return call("write_file", file_path="/workspace/new.md", content="hello")
    return call(tool, name=name) if tool in ("hold", "block") else f"answer to {last.text}"

def opened(thread):
    options = {"model": ScriptedModel(model), "tools": [hold, block]}
    return deepnb.Session("deep", workspace=WORKSPACE, thread=thread, **options)
"""


class Cell(NamedTuple):
    """What came of a cell."""

    text: str
    error: str
    outputs: list

    @property
    def data(self):
        """What it shows last."""
        return self.outputs[-1] if self.outputs else {}


class Kernel:
    """A kernel whose cells are run one at a time."""

    def __init__(self, workspace):
        self.manager = KernelManager()
        self.manager.start_kernel(cwd=str(workspace))
        self._workspace = workspace
        self.begin()

    def begin(self):
        """Connect, and define what the cells use."""
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(PATIENCE * 2)
        assert self.run(f"WORKSPACE = {str(self._workspace)!r}\n{SETUP}").error == ""

    def restart(self, *, now):
        """Restart the kernel, without a warning or as a notebook's menu does."""
        self.client.stop_channels()
        self.manager.restart_kernel(now=now)
        self.begin()

    def start(self, code):
        """Run a cell, and do not wait for it."""
        return self.client.execute(code)

    def finish(self, cell):
        """Wait for a cell that was started."""
        text, outputs, error = [], [], ""
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=PATIENCE)
            except Empty:
                pytest.fail(f"The cell has not ended. It has said: {''.join(text)}")
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                text.append(content["text"])  # whoever says it: nobody else should
            elif message["parent_header"].get("msg_id") != cell:
                continue
            elif kind in ("execute_result", "display_data"):
                outputs.append(content["data"])
            elif kind == "error":
                error = content["ename"]
            elif kind == "status" and content["execution_state"] == "idle":
                return Cell("".join(text).strip(), error, outputs)

    def run(self, code):
        """Run a cell to its end."""
        return self.finish(self.start(code))

    def says(self, expression):
        """Give what a cell prints."""
        cell = self.run(f"print({expression})")
        assert cell.error == "", cell
        return cell.text

    def wait_for_output(self, cell, text):
        """Wait until a running cell has printed something."""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            is_its_own = message["parent_header"].get("msg_id") == cell
            if is_its_own and text in message["content"].get("text", ""):
                return

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    kernel = Kernel(tmp_path_factory.mktemp("notebook"))
    yield kernel
    kernel.close()


def test_asking_returns_at_once_and_the_run_goes_on_beside_the_cells(kernel):
    assert kernel.run("s = opened('beside'); run = s.ask('hold first')").error == ""
    assert kernel.says("run.status") in ("queued", "running")
    cell = kernel.run(
        "doors['first'].set()\n"
        "end = time.monotonic() + 30\n"
        "while run.status != 'done' and time.monotonic() < end:\n"
        "    time.sleep(0.01)  # the kernel's own thread does not get away from here\n"
        "print(run.status)"
    )
    assert cell.text == "done"


def test_a_later_cell_sees_the_result(kernel):
    kernel.run("s = opened('later'); run = s.ask('hello')")
    assert kernel.says("run.wait(30).answer") == "answer to hello"
    assert kernel.says("list(s.messages.text)") == "['hello', 'answer to hello']"
    assert kernel.says("(s.trace.kind == 'run_ended').sum()") == "1"


def test_a_run_is_awaited_at_top_level(kernel):
    kernel.run("s = opened('awaited')")
    cell = kernel.run(
        "threading.Timer(0.1, doors['second'].set).start()\n"
        "run = await s.ask('hold second')\n"
        "print(run.answer)"
    )
    assert (cell.text, cell.error) == ("so second is open", "")
    again = kernel.run("print((await run).answer, (await s.ask('hello')).answer)")
    assert again.text == "so second is open answer to hello"


def test_other_tasks_of_the_kernel_go_on_while_a_run_is_awaited(kernel):
    cell = kernel.run(
        "async def tick():\n"
        "    await asyncio.sleep(0.05)\n"
        "    doors['third'].set()\n"
        "s = opened('tasks')\n"
        "task = asyncio.ensure_future(tick())\n"
        "print((await s.ask('hold third')).answer)"
    )
    assert (cell.text, cell.error) == ("so third is open", "")


@pytest.mark.parametrize("wait", ["run.wait()", "await run"])
def test_interrupting_a_cell_that_waits_does_not_stop_the_run(kernel, wait):
    name = wait.split(maxsplit=1)[0].replace(".", "").strip("()")
    kernel.run(f"s = opened('{name}'); run = s.ask('hold {name}')")
    cell = kernel.start(f"print('waiting', flush=True)\n{wait}")
    kernel.wait_for_output(cell, "waiting")
    time.sleep(0.2)  # so that it is in the middle of waiting
    kernel.manager.interrupt_kernel()
    assert kernel.finish(cell).error in ("KeyboardInterrupt", "CancelledError")
    assert kernel.says("run.status, s.status") == "running running"
    kernel.run(f"doors['{name}'].set()")
    assert kernel.says("run.wait(30).answer") == f"so {name} is open"
    assert kernel.says("(await run).answer") == f"so {name} is open"


def test_stopping_a_run_leaves_the_users_own_cell_alone(kernel):
    kernel.run("s = opened('stopped'); run = s.ask('hold never'); reached['never'].wait(30)")
    cell = kernel.run(
        "threading.Timer(0.1, s.stop).start()\n"
        "end = time.monotonic() + 30\n"
        "while run.status != 'stopped' and time.monotonic() < end:\n"
        "    time.sleep(0.01)\n"
        "time.sleep(0.2)\n"
        "print('the cell has ended')"
    )
    assert (cell.text, cell.error) == ("the cell has ended", "")
    assert kernel.says("run.status") == "stopped"
    assert kernel.says("s.ask('hello').wait(30).answer") == "answer to hello"


def test_a_run_can_be_stopped_from_a_cell_also_in_a_tool_that_cannot_be(kernel):
    kernel.run("s = opened('blocked'); run = s.ask('block forever'); reached['forever'].wait(30)")
    cell = kernel.run("s.stop(); print(run.status, s.ask('hello').wait(30).answer)")
    assert (cell.text, cell.error) == ("stopped answer to hello", "")


def test_a_question_is_answered_from_a_cell(kernel):
    kernel.run("s = opened('question'); run = await s.ask('write it')")
    assert kernel.says("run.status, s.waiting_for") == "waiting approval of write_file"
    kernel.run("s.respond(s.pending.id[0], 'approve')")
    assert kernel.says("(await run).answer") == "so Updated file /workspace/new.md"


def test_a_session_and_a_run_are_shown_as_cards_and_as_text(kernel):
    kernel.run("s = opened('shown'); run = s.ask('hello').wait(30)")
    run, session = kernel.run("run"), kernel.run("s")
    assert run.data["text/plain"] == "Run('hello', done)"
    assert "answer to hello" in run.data["text/html"]
    panel, transcript = session.outputs
    assert panel["text/plain"] == "Session('deep', thread='shown', done)"
    assert kernel.says("s.panel()") == "Panel(Session('deep', thread='shown', done))"
    assert "application/vnd.jupyter.widget-view+json" in panel
    assert transcript["text/plain"] == "Saved transcript\n- hello (done)"
    assert "answer to hello" in transcript["text/html"]


def test_nothing_is_printed_behind_a_cells_back(kernel):
    cell = kernel.run(
        "s = opened('quiet')\n"
        "s.ask('hold me'); s.ask('write it'); s.steer('hurry')\n"
        "doors['me'].set()\n"
        "s.runs[-1].wait(30); s.stop(); s.close()"
    )
    assert (cell.text, cell.error) == ("", "")


def test_a_tool_that_ends_after_its_session_says_nothing(kernel):
    kernel.run("s = opened('late'); run = s.ask('block late'); reached['late'].wait(30); s.close()")
    cell = kernel.run("doors['late'].set(); time.sleep(0.3)")
    assert (cell.text, cell.error) == ("", "")


def test_after_a_restart_the_thread_is_as_it_was(kernel):
    kernel.run("s = opened('kept'); s.ask('hello').wait(30); run = s.ask('write it').wait(30)")
    question = kernel.says("s.questions[0].id")
    texts = kernel.says("list(s.messages.text)")
    kernel.run("t = opened('cut'); t.ask('hold on'); reached['on'].wait(30)")
    kernel.restart(now=True)
    kernel.run("s = opened('kept'); t = opened('cut')")
    assert kernel.says("s.status, t.status, t.can_resume") == "waiting stopped True"
    assert kernel.says("list(s.messages.text)") == texts
    assert kernel.says("list(s.pending.id)") == f"['{question}']"
    kernel.run(f"s.respond('{question}', 'approve'); doors['on'].set(); t.resume()")
    assert kernel.says("s.runs[-1].wait(30).answer") == "so Updated file /workspace/new.md"
    # It was cut off in a tool of which nobody knows what it does, so the person is asked.
    assert kernel.says("t.runs[-1].wait(30).status, len(t.questions)") == "waiting 1"
    kernel.run("t.respond(t.questions[0].id, t.questions[0].request['options'][0]['id'])")
    assert kernel.says("t.runs[-1].wait(30).answer") == "so on is open"


def test_an_orderly_restart_writes_what_is_not_written_yet(kernel):
    kernel.run("s = opened('orderly'); s.ask('hello').wait(30); n = len(s.events())")
    number = kernel.says("n")
    kernel.restart(now=False)
    kernel.run("s = opened('orderly')")
    assert kernel.says("len(s.events())") == number


def test_a_tool_that_hangs_does_not_keep_the_kernel_from_ending(kernel):
    kernel.run("s = opened('hangs'); run = s.ask('block forever'); reached['forever'].wait(30)")
    kernel.run("t = opened('hangs too'); t.ask('hold me'); reached['me'].wait(30)")
    assert kernel.says("run.status") == "running"
    kernel.client.shutdown()
    until(lambda: not kernel.manager.is_alive(), timeout=15)
    assert kernel.manager.provisioner.process.returncode == 0
