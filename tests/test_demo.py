"""The sample documents, and the command that shows an agent at work on them."""

from __future__ import annotations

import ast
import csv
import json
import os
import pty
import re
import runpy
import signal
import subprocess
import sys

import pytest

from deepnb import __version__, samples
from deepnb.errors import PathError

COMMAND = [sys.executable, "-m", "deepnb.cli"]


QUESTION = "How deep is Lake Ansel?"


@pytest.fixture
def run(tmp_path):
    """Run the command in a folder of its own, with nothing configured."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("DEEPNB_") and not name.endswith("_API_KEY")
    }

    def run(*arguments, **environment):
        return subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
            env={**env, "PYTHONIOENCODING": "utf-8", **environment},
            check=False,
        )

    return run


def test_the_demo_shows_plan_audit_and_steps_and_leaves_a_report(run, tmp_path):
    done = run("demo", COLUMNS="60")
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout
    plan, audit, steps, report, conflict, place = map(
        shown.index,
        (
            "  1  By how much did phosphorus fall?\n     The question asks for three things",
            "  ✓ External requests: Nothing leaves this machine",
            "  search_knowledge What did the aeration pump cost?",
            "In short\n",
            "Possible conflicts\n\nPossibly a differing number about phosphorus",
            f"The report is in {tmp_path / 'deepnb-report.md'}",
        ),
    )
    assert plan < audit < steps < report < conflict < place
    assert "\x1b" not in shown
    lines = [line for line in shown.splitlines() if " → " not in line and str(tmp_path) not in line]
    # The question, and the names of what is checked, are each a line of their own.
    assert max(map(len, lines[3:])) <= 70
    written = (tmp_path / "deepnb-report.md").read_text("utf-8")
    assert "EUR 46,500" in written  # a fact
    assert "38 %" in written.partition("## Possible conflicts")[2]  # documents that disagree
    assert "- What did the dredging cost?: no passage has enough of" in written  # a gap
    assert re.search(r"^\d+ claims: \d+ quoted\.$", written, re.MULTILINE)


def test_a_report_is_never_written_over_another_and_is_the_same_each_time(run, tmp_path):
    (tmp_path / "deepnb-report.md").write_text("mine")
    first, second = run("demo", QUESTION), run("demo", QUESTION)
    names = ("deepnb-report-2.md", "deepnb-report-3.md")
    assert first.stdout.replace(*names) == second.stdout
    assert (tmp_path / "deepnb-report.md").read_text() == "mine"
    assert len({(tmp_path / name).read_text("utf-8") for name in names}) == 1


def test_what_no_document_says_leaves_no_report_behind(run, tmp_path):
    done = run("demo", "Who invented the telephone?")
    assert done.returncode == 0
    assert "Nothing was found that answers this, so there is no report." in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("no_colour", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colour_unless_it_says_no(tmp_path, no_colour, coloured):
    theirs, ours = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | no_colour
    process = subprocess.Popen([*COMMAND, "demo", QUESTION], stdout=ours, env=env, cwd=tmp_path)
    os.close(ours)
    shown = b""
    while piece := _read(theirs):
        shown += piece
    assert process.wait() == 0
    assert (b"\x1b[2m" in shown) is coloured
    assert b"41 hectares" in shown


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # how a terminal says that the other side is gone
        return b""


def test_an_error_is_one_line_and_code_2(run):
    done = run("demo", "--model", "no-such-provider:x")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("deepnb: No model provider is called 'no-such-provider'")
    assert done.stderr.count("\n") == 1


def test_a_model_that_cannot_be_reached_approves_nothing(run, tmp_path):
    nobody = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    done = run("demo", QUESTION, "--model", "openai:x", **nobody)
    assert done.returncode == 2
    assert done.stderr.startswith("deepnb: The plan was not approved.")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_it_quietly(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=tmp_path,
    )
    while not process.stdout.readline().startswith("? "):
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (130, "")


def test_the_version_and_a_missing_command(run):
    assert run("--version").stdout == f"deepnb {__version__}\n"
    assert run().returncode == 2


def test_the_demo_never_asks_a_configured_model(run):
    done = run("demo", QUESTION, DEEPNB_MODEL="no-such-provider:x")
    assert done.returncode == 0
    assert "41 hectares" in done.stdout
    assert "set DEEPNB_MODEL" not in done.stdout
    assert done.stdout.rstrip().endswith("deepnb demo --model no-such-provider:x")


def test_samples_are_copied_again_over_themselves_but_never_over_an_edited_one(tmp_path):
    folder = samples.copy(tmp_path / "new" / "lake")
    assert samples.copy(str(folder)) == folder
    (folder / "report.md").write_text("mine")
    (folder / "buoy.json").unlink()
    with pytest.raises(PathError, match=r"report\.md.*differs"):
        samples.copy(folder)
    assert (folder / "report.md").read_text() == "mine"
    assert not (folder / "buoy.json").exists()


def test_samples_go_into_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PathError, match="is a file"):
        samples.copy(tmp_path / "file")


def test_a_disk_that_refuses_the_samples_is_an_error_with_advice(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PathError, match=r"cannot be copied to .*: Not a directory\. Name a folder"):
        samples.copy(tmp_path / "file" / "lake")


def test_the_samples_are_what_they_claim_to_be(tmp_path, capsys):
    folder = samples.copy(tmp_path / "lake")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "invented" in readme
    assert all(f"`{file.name}`" in readme for file in folder.iterdir() if file.name != "README.md")
    notebook = json.loads((folder / "sediment-cores.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert all(cell["id"] for cell in notebook["cells"])
    rows = list(csv.DictReader((folder / "measurements.csv").open(encoding="utf-8")))
    assert len(rows) == 60
    ast.parse((folder / "trend.py").read_text(encoding="utf-8"))
    runpy.run_path(str(folder / "trend.py"), run_name="__main__")
    assert "change 2019 to 2023: -38 %" in capsys.readouterr().out


def test_the_story_has_its_contradiction_its_gap_and_its_trap(tmp_path):
    folder = samples.copy(tmp_path / "lake")
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    assert "38 %" in texts["report.md"]
    assert "62 %" in texts["press-release.md"]
    assert [name for name, text in texts.items() if "ignore previous instructions" in text] == [
        "emails.txt"
    ]
    assert [name for name, text in texts.items() if "6.8 mg P" in text] == ["sediment-cores.ipynb"]
