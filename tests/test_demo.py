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


def run(*arguments, **environment):
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("DEEPNB_") and not name.endswith("_API_KEY")
    }
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
    assert done.stdout.count("Answered without a language model") == 1
    assert "For written answers set DEEPNB_MODEL" in done.stdout


def test_each_tool_call_is_a_line_with_what_came_back():
    lines = run("demo", "How deep is Lake Ansel?").stdout.splitlines()
    assert [line.split(" → ")[0] for line in lines if line.startswith("  grep ")] == [
        "  grep ansel",
        "  grep deep",
        "  grep lak",
        "  grep lake ansel",
        "  grep verbatim passages found by keyword",  # in which files quotes were saved
    ]
    assert any(line.startswith("  read_file /workspace/report.md → lines ") for line in lines)


def test_quotes_stay_visible_as_quotes_and_output_is_plain():
    done = run("demo", "How deep is Lake Ansel?")
    assert "  > Lake Ansel covers 41 hectares. Its mean depth is 4.2 m" in done.stdout
    assert "\x1b" not in done.stdout


def test_spellings_of_a_word_are_one_line_with_their_sum(tmp_path):
    lines = run("demo", "How deep is Lake Ansel?").stdout.splitlines()
    texts = {f.name: f.read_text("utf-8") for f in samples.copy(tmp_path / "lake").iterdir()}
    having = {name: len(re.findall(r".*[lL]ak.*", text)) for name, text in texts.items()}
    files = sum(1 for number in having.values() if number)
    assert f"  grep lak → {sum(having.values())} lines in {files} files" in lines


def test_the_log_is_the_same_each_time():
    assert run("demo").stdout == run("demo").stdout


def test_nothing_is_wider_than_the_terminal_and_a_heading_stays_one():
    lines = run("demo", COLUMNS="60").stdout.splitlines()
    assert max(map(len, lines)) <= 64  # a tool call is a line of its own, whatever its length
    assert "  > 2. Lake Ansel: aeration pump" in lines


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


def test_an_error_of_a_provider_is_one_line_and_code_2():
    nobody = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    done = run("demo", "How deep is the lake?", "--model", "openai:x", **nobody)
    assert done.returncode == 2
    assert done.stderr.startswith("deepnb: ")
    assert done.stderr.count("\n") == 1


def test_an_interrupt_ends_it_quietly():
    process = subprocess.Popen(
        [*COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    while not process.stdout.readline().startswith("? "):
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (130, "")


def test_the_version_and_a_missing_command():
    assert run("--version").stdout == f"deepnb {__version__}\n"
    assert run().returncode == 2


def test_the_demo_never_asks_a_configured_model():
    done = run("demo", "How deep is Lake Ansel?", DEEPNB_MODEL="no-such-provider:x")
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
