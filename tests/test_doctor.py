"""`deepnb.doctor()` says what this host can do, whatever the host is, and never fails."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import deepnb
from deepnb.cli import main
from deepnb.notebook import doctor as module
from deepnb.widgets.switchboard import View
from tests.test_public_api import HEAVY, loaded_after

KEY = "sk-ant-" + "a1b2c3d4" * 5


class NoKernel:
    """A kernel of which nothing is known."""


def rows():
    return {row.what: row for row in deepnb.doctor().rows}


@pytest.fixture
def in_kernel(monkeypatch):
    """Be in a kernel, as far as anybody can see."""

    def be(kernel):
        monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=kernel))

    return be


@pytest.fixture
def views(monkeypatch, in_kernel):
    """Have pages that show a panel."""
    import deepnb.widgets.panel

    def show(*views):
        in_kernel(NoKernel())
        panels = [SimpleNamespace(views=list(views))]
        monkeypatch.setattr(deepnb.widgets.panel, "panels", lambda: panels)

    return show


def test_in_plain_python_it_is_a_small_table():
    lines = repr(deepnb.doctor()).splitlines()
    assert [line.split()[0] for line in lines] == [
        "deepnb",
        "Kernel",
        "Widgets",
        "Storage",
        "Model",
        "Extras",
    ]
    assert "none: plain Python" in lines[1]
    assert (
        len({line.index(row.found, 7) for line, row in zip(lines, rows().values(), strict=True)})
        == 1
    )


def test_it_is_on_the_command_line(capsys):
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out == f"{deepnb.doctor()!r}\n"


def test_it_loads_nothing_heavy():
    assert not loaded_after("import deepnb; deepnb.doctor()").intersection({*HEAVY, "anywidget"})


def test_it_is_shown_as_html_in_which_nothing_takes_effect(views):
    views(View("<b onclick=x>\x1b[2J"))
    html = deepnb.doctor()._repr_html_()
    assert "<b onclick" not in html
    assert "&lt;b onclick=x&gt;\\u001b[2J" in html


def test_without_the_widgets_it_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(module, "_WIDGETS", ("anywidget", "no-such-package"))
    assert "no-such-package not installed" in rows()["Widgets"].found
    assert "pip install 'deepnb[widgets]'" in rows()["Widgets"].use


def test_before_a_panel_was_shown_the_host_is_guessed(in_kernel, monkeypatch):
    in_kernel(NoKernel())
    for variable in module._HOSTS:
        monkeypatch.delenv(variable, raising=False)
    assert (rows()["Host"].found, rows()["Push"].found) == ("not known yet", "not known yet")
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release")
    assert rows()["Host"].found == "probably Colab"


@pytest.mark.parametrize(
    ("pushes", "found"),
    [((None,), "not known yet"), ((False, None), "no, measured"), ((False, True), "yes, measured")],
)
def test_once_a_panel_was_shown_it_is_known(views, pushes, found):
    views(*(View("JupyterLab", push) for push in pushes))
    assert rows()["Host"].found == "JupyterLab"
    assert rows()["Push"].found == found


def test_bytes_are_known_to_arrive_once_some_have(views):
    views()
    assert rows()["Buffers"].found == "not known yet"
    views(View("JupyterLab"))
    assert rows()["Buffers"].found == "not seen"
    views(View("JupyterLab"), View("JupyterLab", buffers=True))
    assert rows()["Buffers"].found == "yes, measured"


def test_a_kernel_that_cannot_do_much_is_told_so(in_kernel):
    in_kernel(NoKernel())
    assert rows()["Subshells"].found == "no"
    assert rows()["run.wait()"].found == "waits only"


def test_a_folder_that_cannot_be_written_to(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "read-only" in rows()["Storage"].found
    assert "persist=False" in rows()["Storage"].use


def test_a_key_is_never_shown(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert rows()["Model"].found.startswith("anthropic:")
    monkeypatch.setenv("DEEPNB_MODEL", KEY)
    assert "DEEPNB_MODEL" in rows()["Model"].use
    assert KEY not in repr(deepnb.doctor())


def test_a_model_that_is_configured_wrong_is_explained(monkeypatch):
    monkeypatch.setenv("DEEPAGENTS_MODEL_PROVIDER", "olama")
    assert "Set it to 'ollama'" in rows()["Model"].use


def test_extras_that_lack_are_named(monkeypatch):
    known = module._version
    monkeypatch.setattr(module, "_version", lambda name: "" if name == "obstore" else known(name))
    assert rows()["Extras"].use == "for the others: pip install 'deepnb[cloud]'"


def test_it_never_fails(monkeypatch):
    def fail(*_, **__):
        raise OSError("/home/someone/secret")

    monkeypatch.setattr(module, "metadata", fail)
    monkeypatch.setattr(os, "access", fail)
    assert rows()["Extras"].found == rows()["Storage"].found == "not known"
    assert "secret" not in repr(deepnb.doctor())


def test_in_a_real_kernel_it_knows_the_kernel(tmp_path):
    code = "import deepnb; print(deepnb.doctor())"
    script = (
        "from jupyter_client.manager import start_new_kernel\n"
        "manager, client = start_new_kernel()\n"
        f"client.execute_interactive({code!r}, timeout=120)\n"
        "client.stop_channels(); manager.shutdown_kernel(now=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "ipykernel" in done.stdout
    assert "serves the panel" in done.stdout
