"""`%load_ext deepnb`, `%%ask` and `%deepnb`, in a real kernel."""

from __future__ import annotations

import os

import pytest
from jupyter_client.manager import start_new_kernel

from deepnb import samples

SHOWN = ("stream", "execute_result", "display_data", "error")
WAITING = """
import threading
from deepnb.testing import ScriptedModel

gate = threading.Event()
model = ScriptedModel([lambda messages: gate.wait() and "Open."])
{name} = deepnb.Session(model=model, thread="{name}")
"""


class Notebook:
    """A kernel among documents, and what its cells show."""

    def __init__(self, folder):
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("DEEPNB_") and not name.endswith("_API_KEY")
        }
        self._manager, self._client = start_new_kernel(cwd=str(folder), env=env)

    def run(self, code):
        """Run a cell; gives what was shown meanwhile, whoever has shown it."""
        cell = self._client.execute(code)
        shown = []
        while True:
            message = self._client.get_iopub_msg(timeout=60)
            if message["msg_type"] in SHOWN:
                shown.append(message)
            is_idle = message["content"].get("execution_state") == "idle"
            if is_idle and message["parent_header"]["msg_id"] == cell:
                return shown

    def text(self, code):
        """Run a cell that shows one thing; gives it as plain text."""
        (message,) = self.run(code)
        content = message["content"]
        if "data" in content:
            return content["data"]["text/plain"]
        return content["text"] if "text" in content else f"{content['ename']}: {content['evalue']}"

    def close(self):
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    kernel = Notebook(samples.copy(tmp_path_factory.mktemp("notebook") / "lake"))
    yield kernel
    kernel.close()


@pytest.fixture
def notebook(kernel):
    """The kernel as it is when no session was made yet."""
    assert kernel.run("import deepnb\n%reload_ext deepnb") == []
    kernel.run("while session := deepnb.session.latest(): session.close()\ndel session")
    return kernel


def test_loading_the_extension_loads_no_language_model_library(kernel):
    heavy = "[name for name in sys.modules if name.startswith(('lang', 'pandas'))]"
    assert kernel.text(f"import sys\n%load_ext deepnb\n{heavy}") == "[]"


def test_ask_returns_its_run_which_has_the_answer_later(notebook):
    (shown,) = notebook.run("%%ask\nWhat did the aeration pump cost?\n")
    assert shown["msg_type"] == "execute_result"
    assert "What did the aeration pump cost?" in shown["content"]["data"]["text/plain"]
    assert "What did the aeration pump cost?" in shown["content"]["data"]["text/html"]
    assert "EUR 46,500" in notebook.text("_ask.wait().answer")


def test_ask_does_not_wait_for_the_answer(notebook):
    notebook.run(WAITING.format(name="slow"))
    assert "Go through" in notebook.text("%%ask slow\nGo through")
    assert notebook.text("_ask.status") in ("'queued'", "'running'")
    assert notebook.text("gate.set()\n_ask.wait().answer") == "'Open.'"


def test_the_session_in_the_variable_is_asked_or_else_the_latest(notebook):
    notebook.run('first = deepnb.Session(thread="1")\nsecond = deepnb.Session(thread="2")')
    notebook.run("%%ask\nHow deep is Lake Ansel?")
    assert notebook.text("_ask is second.runs[-1]") == "True"
    notebook.run("%%ask first\nHow deep is Lake Ansel?")
    assert notebook.text("_ask is first.runs[-1]") == "True"


def test_a_session_that_ask_has_made_is_kept(notebook):
    notebook.run("%%ask\nHow deep is Lake Ansel?")
    notebook.run("_ask.wait();\nmade = _ask.id\ndel _ask\nimport gc\ngc.collect();")
    assert notebook.text("%deepnb status").startswith("Session('deep', thread='main', done")
    notebook.run("%%ask\nAnd how large?")
    runs = "[run.id for run in deepnb.session.latest().runs][-2:] == [made, _ask.id]"
    assert notebook.text(runs) == "True"


def test_nothing_is_shown_outside_of_the_cell_that_asked(notebook):
    notebook.run("%%ask\nWhat did the aeration pump cost? Write it to pump.md")
    assert notebook.run("_ask.wait();") == []
    assert "waiting" in notebook.text("%deepnb status")
    assert notebook.run("session = deepnb.session.latest()") == []
    assert notebook.run("session.respond(session.questions[0].id, 'approve')\n_ask.wait();") == []
    assert notebook.run("pass") == []


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%deepnb", "%%ask [NAME]"),
        ("%deepnb status", "There is no session yet."),
        ("%deepnb stauts", "UsageError: %deepnb has no 'stauts'. There is: status."),
        ("%%ask nobody\nHello?", "UsageError: 'nobody' is no session. Make one first"),
        ("%%ask deepnb\nHello?", "UsageError: 'deepnb' is no session."),
        ("%%ask\n  \n", "UsageError: Write your question into the cell, below %%ask."),
        ("%%ask a b\nHello?", "UsageError: unrecognized arguments: b"),
    ],
)
def test_each_magic_says_how_it_is_meant(notebook, cell, said):
    assert notebook.text(cell).startswith(said)
