"""The sample documents, and the command that shows an agent at work on them."""

from __future__ import annotations

import ast
import csv
import json
import os
import pty
import runpy
import subprocess
import sys

import pytest

from deepnb import __version__, samples
from deepnb.errors import PathError

COMMAND = [sys.executable, "-m", "deepnb.cli"]


def run(*arguments, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("DEEPNB_")}
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**env, "PYTHONIOENCODING": "utf-8", **environment},
        check=False,
    )


def test_the_demo_shows_a_fact_a_contradiction_and_a_gap():
    done = run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    fact, contradiction, gap = done.stdout.split("\n? ")[1:]
    assert "EUR 46,500" in fact
    assert "— /workspace/council-minutes.txt, lines 10\u201314" in fact
    assert "These may disagree (38 % and 62 %" in contradiction
    assert "Not found in your files." in gap
    assert "DEEPNB_MODEL" in done.stdout.splitlines()[-1]


def test_each_tool_call_is_a_line_with_what_came_back():
    lines = run("demo", "How deep is Lake Ansel?").stdout.splitlines()
    assert any(line.startswith("  grep Deep → ") for line in lines)
    assert any(line.startswith("  read_file /workspace/report.md → lines ") for line in lines)


def test_quotes_stay_visible_as_quotes_and_output_is_plain():
    done = run("demo", "How deep is Lake Ansel?")
    assert "  > Lake Ansel covers 41 hectares. Its mean depth is 4.2 m" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(("no_colour", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colour_unless_it_says_no(no_colour, coloured):
    theirs, ours = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | no_colour
    process = subprocess.Popen([*COMMAND, "demo", "How deep is the lake?"], stdout=ours, env=env)
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


def test_an_error_is_one_line_and_code_2():
    done = run("demo", "--model", "no-such-provider:x")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("deepnb: No model provider is called 'no-such-provider'")
    assert done.stderr.count("\n") == 1


def test_the_version_and_a_missing_command():
    assert run("--version").stdout == f"deepnb {__version__}\n"
    assert run().returncode == 2


def test_the_demo_never_asks_a_configured_model():
    done = run("demo", "How deep is Lake Ansel?", DEEPNB_MODEL="no-such-provider:x")
    assert done.returncode == 0
    assert "41 hectares" in done.stdout


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
