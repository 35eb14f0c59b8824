"""A cell that waits for a run, in real kernels: the panel is heard meanwhile, all else after."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
import time
from pathlib import Path
from queue import Empty
from typing import NamedTuple

import pytest
from jupyter_client.manager import KernelManager

from deepnb.session import serving
from deepnb.session.run import Run
from tests.sessions import PATIENCE

OVERLAYS = Path(sys.prefix) / "kernels"  # made by `make kernels`
OWN = "7.4"

SETUP = """
import asyncio, threading, time
from deepnb.session import serving
from deepnb.session.run import Run

seen = []
handlers = {}

def new_run():
    global run
    run = Run("1", "", list, str)
    run.move("running")
    return run

def hear(message):
    word = message["content"]["data"]
    seen.append(word)
    handlers.get(word, lambda: None)()

handlers["end"] = lambda: run.move("done")
kernel = get_ipython().kernel
kernel.comm_manager.register_target("bell", lambda comm, _: comm.on_msg(hear))
"""
WAIT = f"print('waiting', flush=True); new_run().wait({PATIENCE}).status"


class Said(NamedTuple):
    """What came of a message that was sent."""

    text: str
    error: str
    result: str


class Client:
    """Talks to a kernel; hears everything, and lets messages cross each other."""

    def __init__(self, manager):
        self.manager = manager
        self._client = manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(PATIENCE * 2)
        self.heard = []
        self._ended = set()
        assert self.run(SETUP).error == ""
        self._comm("comm_open", target_name="bell", data={})

    def start(self, code):
        """Send a cell, and do not wait for it."""
        return self._client.execute(code)

    def ring(self, word):
        """Send what a widget would."""
        return self._comm("comm_msg", data=word)

    def _comm(self, kind, **content):
        return self.send(kind, comm_id="bell-1", **content)

    def send(self, kind, **content):
        message = self._client.session.msg(kind, content)
        self._client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def read(self, condition):
        """Listen until a condition holds."""
        while not condition():
            try:
                message = self._client.get_iopub_msg(timeout=PATIENCE)
            except Empty:
                pytest.fail(f"It did not happen. Heard: {[of(m) for m in self.heard[-20:]]}")
            self.heard.append(message)
            state, whose = of(message)
            if state == "idle":
                self._ended.add(whose)

    def wait_for(self, cell, text="waiting"):
        """Wait until a cell has printed something."""
        self.read(lambda: text in self.said(cell).text)

    def finish(self, *messages):
        """Wait until messages were dealt with; says what came of the last."""
        self.read(lambda: self._ended.issuperset(messages))
        return self.said(messages[-1])

    def run(self, code):
        return self.finish(self.start(code))

    def says(self, expression):
        said = self.run(expression)
        assert said.error == "", said
        return said.result

    def said(self, message):
        mine = [m for m in self.heard if m["parent_header"].get("msg_id") == message]
        return Said(
            "".join(m["content"]["text"] for m in mine if m["msg_type"] == "stream"),
            "".join(m["content"]["ename"] for m in mine if m["msg_type"] == "error"),
            "".join(
                m["content"]["data"]["text/plain"]
                for m in mine
                if m["msg_type"] == "execute_result"
            ),
        )

    def replies(self):
        """Give the replies to what was sent since the last time, in their order."""
        last = self.start("")
        self.finish(last)
        replies = []
        while not replies or replies[-1]["parent_header"]["msg_id"] != last:
            replies.append(self._client.get_shell_msg(timeout=PATIENCE))
        return replies[:-1]

    def forget(self):
        """Begin anew: nothing heard, nothing seen."""
        self.run("seen.clear()")
        self.replies()
        self.heard.clear()

    def close(self):
        self._client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def of(message):
    """Say what a message from the kernel is, and which one it belongs to."""
    content = message["content"]
    return content.get("execution_state", message["msg_type"]), message["parent_header"]["msg_id"]


@pytest.fixture(scope="module", params=[OWN, "7.3", "6.31"])
def connected(request, tmp_path_factory):
    environment = dict(os.environ)
    if request.param != OWN:
        overlay = OVERLAYS / request.param
        assert overlay.is_dir(), f"No ipykernel {request.param}: run `make kernels`."
        environment["PYTHONPATH"] = str(overlay)
    manager = KernelManager()
    manager.start_kernel(cwd=str(tmp_path_factory.mktemp("notebook")), env=environment)
    client = Client(manager)
    client.version = request.param
    version = client.says("__import__('ipykernel').__version__")
    assert version.strip("'").startswith(client.version)
    yield client
    client.close()


@pytest.fixture
def client(connected):
    connected.forget()
    return connected


def test_widgets_are_heard_while_a_cell_waits_and_cells_after_it(client):
    first = client.start(f"{WAIT}; seen.append('first'); 'over'")
    client.wait_for(first)
    one = client.ring("one")
    second = client.start("seen.append('second')")
    two = client.ring("two")
    third = client.start("seen.append('third')")
    end = client.ring("end")
    client.finish(one, two, end, first, second, third)
    assert client.said(first).result == "'over'"
    assert [answered for _, answered in map(of, client.replies())] == [first, second, third]
    assert client.says("seen") == "['one', 'two', 'end', 'first', 'second', 'third']"


def test_a_page_that_is_loaded_again_is_answered(client):
    first = client.start(WAIT)
    client.wait_for(first)
    info, comms = client.send("kernel_info_request"), client.send("comm_info_request")
    client.finish(client.ring("end"), info, comms, first)
    kinds = [reply["msg_type"] for reply in client.replies()]
    assert kinds == ["kernel_info_reply", "comm_info_reply", "execute_reply"]


def test_what_is_printed_and_shown_lands_where_it_belongs(client):
    client.run("handlers['print'] = lambda: print('by the handler')")
    cell = client.start(
        f"{WAIT.replace('; ', '; print(chr(98), end=chr(97)); ')}\n"
        "print('ck in the cell'); display('shown'); 'result'"
    )
    client.wait_for(cell)
    rung = client.ring("print")
    client.finish(rung, client.ring("end"), cell)
    assert client.said(cell).text == "waiting\nback in the cell\n"
    assert client.said(cell).result == "'result'"
    assert ("display_data", cell) in map(of, client.heard)
    assert client.said(rung).text == "by the handler\n"


def test_a_kernel_that_serves_is_busy_until_the_cell_has_ended(client):
    cell = client.start(WAIT)
    client.wait_for(cell)
    one, end = client.ring("one"), client.ring("end")
    client.finish(one, end, cell)
    states = [s for s in map(of, client.heard) if s[0] in ("busy", "idle")]
    assert states == [
        ("busy", cell),
        *(("busy", one), ("idle", one), ("busy", cell)),
        *(("busy", end), ("idle", end), ("busy", cell)),
        ("idle", cell),
    ]


def test_a_handler_that_fails_or_waits_does_no_harm(client):
    client.run(
        "other = Run('2', '', list, str); other.move('running')\n"
        "def nest():\n"
        "    seen.append(serving.is_possible())\n"
        "    other.wait(0.2)\n"
        "    seen.append('nested')\n"
        "handlers.update(nest=nest, fail=lambda: 1 / 0)"
    )
    cell = client.start(WAIT)
    client.wait_for(cell)
    client.finish(*map(client.ring, ("fail", "nest", "one", "end")), cell)
    assert client.says("seen") == "['fail', 'nest', False, 'nested', 'one', 'end']"


@pytest.mark.parametrize("before", ["", "await asyncio.sleep(0); "])
def test_an_interrupt_ends_the_waiting_and_not_the_run(client, before):
    cell = client.start(before + WAIT)
    client.wait_for(cell)
    client.finish(client.ring("one"))
    queued = client.start("seen.append('queued')")
    client.manager.interrupt_kernel()
    assert client.finish(cell).error == "KeyboardInterrupt"
    client.finish(queued)
    # As without us: what was queued behind a cell that fails is not run.
    assert [r["content"]["status"] for r in client.replies()] == ["error", "aborted"]
    assert client.says("run.status, seen") == "('running', ['one'])"


def test_the_kernel_still_ignores_an_interrupt_when_it_is_idle(client):
    cell = client.start(WAIT)
    client.wait_for(cell)
    client.finish(client.ring("one"), client.ring("end"), cell)
    client.manager.interrupt_kernel()
    time.sleep(0.2)
    assert client.says("1 + 1") == "2"


def test_a_handler_that_hangs_is_what_an_interrupt_ends(client):
    client.run("handlers['hang'] = lambda: print('hangs', flush=True) or threading.Event().wait()")
    cell = client.start(WAIT)
    client.wait_for(cell)
    rung = client.ring("hang")
    client.wait_for(rung, "hangs")
    client.manager.interrupt_kernel()
    client.finish(rung, client.ring("end"), cell)
    assert client.said(cell).error == ""


# Not on 7.3, which stalls under such a load, also without us.
@pytest.mark.parametrize("connected", [OWN, "6.31"], indirect=True, scope="module")
def test_nothing_is_lost_doubled_or_out_of_order_however_it_falls(client):
    client.run("def wait_often():\n    for _ in range(50):\n        new_run().wait(0.002)")
    client.replies()
    dice = random.Random(4)
    cells, rung, words = [], [], []
    for number in range(150):
        if dice.random() < 0.1:
            cells.append(client.start(f"seen.append({number}); wait_often()"))
        elif dice.random() < 0.4:
            cells.append(client.start(f"seen.append({number})"))
        else:
            rung.append(client.ring(number))
            words.append(number)
        time.sleep(dice.choice([0, 0, 0.005, 0.02]))
    client.finish(*cells, *rung)
    assert [answered for _, answered in map(of, client.replies())] == cells
    assert client.says("sorted(seen) == list(range(150))") == "True"
    heard = [n for n in json.loads(client.says("seen")) if n in words]
    assert heard == words


def test_a_wait_that_takes_too_long_ends_and_a_run_that_is_over_is_not_waited_for(client):
    said = client.run(
        "print(new_run().wait(0).status, new_run().wait(0.1).status)\n"
        "run.move('done'); print(run.wait().status)"
    )
    assert said.text == "running running\ndone\n"


def test_it_is_possible_in_a_cell_and_nowhere_else(client):
    assert client.says("serving.is_possible()") == "True"
    client.run("t = threading.Thread(target=lambda: seen.append(serving.is_possible())); t.start()")
    assert client.says("t.join() or seen") == "[False]"


def test_a_session_is_stopped_by_a_click_while_a_cell_waits_for_it(client):
    client.run(
        "import deepnb\n"
        "from deepnb.testing import ScriptedModel, call\n"
        "async def hold() -> str:\n"
        "    'Wait.'\n"
        "    await asyncio.sleep(300)\n"
        "model = ScriptedModel([call('hold')])\n"
        "s = deepnb.Session('deep', model=model, tools=[hold], workspace='.')\n"
        "handlers['stop'] = s.stop"
    )
    cell = client.start("print('waiting', flush=True)\ns.ask('go').wait(60).status")
    client.wait_for(cell)
    client.finish(client.ring("stop"), cell)
    assert client.said(cell).result == "'stopped'"
    client.run("s.close()")


@pytest.mark.parametrize("before", ["", "await asyncio.sleep(0.3); "])
def test_what_was_clicked_before_the_waiting_began_comes_in_its_turn(client, before):
    first = client.start("print('waiting', flush=True); time.sleep(0.3)")
    client.wait_for(first)
    second = client.start(f"{before}{WAIT}; seen.append('second')")
    client.ring("one")
    third = client.start("seen.append('third')")
    for word in ("two", "three", "end"):
        client.ring(word)
    client.finish(first, second, third)
    assert client.says("seen") == "['one', 'two', 'three', 'end', 'second', 'third']"
    assert client.says("'dispatch_shell' in vars(kernel)") == "False"


# Elsewhere


def test_without_a_kernel_one_simply_waits():
    assert not serving.is_possible()
    run = Run("1", "", list, str)
    run.move("running")
    assert run.wait(0.01).status == "running"
    threading.Timer(0.05, run.move, ["done"]).start()
    assert run.wait(PATIENCE).status == "done"


def test_in_a_kernel_of_another_kind_one_simply_waits(monkeypatch):
    class Shell:
        kernel = object()

    monkeypatch.setattr("IPython.get_ipython", Shell)
    assert not serving.is_possible()


async def test_a_handler_that_has_to_wait_for_something_goes_on_later():
    begun, opened = asyncio.Event(), asyncio.Event()
    seen = []

    async def handler():
        begun.set()
        await opened.wait()
        seen.append("over")

    serving._run(handler())
    assert begun.is_set()
    opened.set()
    await asyncio.wait_for(asyncio.gather(*serving._going_on), PATIENCE)
    assert seen == ["over"]
