"""`deepnb ask`, `threads` and `show`: in a script, and on a real terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

from deepnb import Session, agents, samples
from deepnb.agents.deep import build
from deepnb.cli import main
from deepnb.cli.paint import Paint, fitted, harmless, width
from deepnb.cli.progress import Progress
from deepnb.events import Event
from deepnb.testing import ScriptedModel, call

PUMP = "What did the aeration pump cost?"
WRITE = f"{PUMP} Write it to pump.md"

SCRIPTED = """
import sys, time
from deepnb import Budget, agents
from deepnb.agents.deep import build
from deepnb.cli import main
from deepnb.middleware import ClarifyMiddleware
from deepnb.testing import ScriptedModel, call

model, more = eval(sys.argv.pop(1)), eval(sys.argv.pop(1))
agents.register("scripted", lambda **given: build(**{**given, **more, "model": model}))
sys.exit(main())
"""


@pytest.fixture
def lake(tmp_path):
    return samples.copy(tmp_path / "lake")


@pytest.fixture
def script(monkeypatch):
    """Register an agent whose model follows a script."""

    def register(steps, **more):
        def scripted(**given):
            return build(**{**given, **more, "model": ScriptedModel(steps)})

        monkeypatch.setitem(agents._registry, "scripted", scripted)

    return register


def ask(lake, *arguments, agent="deep"):
    return main(["ask", *arguments, "--workspace", str(lake), "--agent", agent])


class Terminal:
    """A process on a terminal of its own, and the person in front of it."""

    def __init__(self, arguments, *, model=None, more=None, columns=90, stdout=None, **env):
        command = [sys.executable, "-m", "deepnb.cli"]
        if model is not None:
            command = [sys.executable, "-c", SCRIPTED, model, more or "{}"]
            arguments = [*arguments, "--agent", "scripted"]
        self._side, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.process = subprocess.Popen(
            [*command, *arguments],
            stdin=theirs,
            stdout=stdout or theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", **env},
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def until(self, text):
        """Wait until `text` is shown, behind what was waited for before."""
        while (place := self.shown.find(text, self._seen)) < 0:
            assert self._read(), f"{text!r} was never shown; this was:\n{self.shown}"
        self._seen = place + len(text)
        return self

    def type(self, text):
        os.write(self._side, text.encode())
        return self

    def interrupt(self):
        """As Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self

    def end(self):
        """Read the rest; gives the exit code."""
        while self._read():
            pass
        os.close(self._side)
        return self.process.wait()

    def _read(self):
        ready, _, _ = select.select([self._side], [], [], 60)
        try:
            piece = os.read(self._side, 65536) if ready else b""
        except OSError:  # how a terminal says that the other side is gone
            piece = b""
        self.shown += piece.decode(errors="replace").replace("\r\n", "\n")
        return piece


# In a script


def test_the_answer_goes_to_standard_output_and_nothing_else_does(lake, capsys):
    assert ask(lake, PUMP) == 0
    out, err = capsys.readouterr()
    with Session(workspace=lake) as session:
        assert out == f"{session.runs[-1].answer}\n"
    assert "EUR 46,500" in out
    assert "  read_file /workspace/council-minutes.txt → lines 1-26 of 32\n" in err
    assert "\x1b" not in out + err
    assert "\r" not in out + err


def test_a_question_that_nobody_can_answer_ends_with_code_3_and_stays_open(lake, capsys):
    assert ask(lake, WRITE, "--thread", "my notes") == 3
    out, err = capsys.readouterr()
    with Session(workspace=lake, thread="my notes") as session:
        session.runs[-1].wait()
        (question,) = session.questions
    assert out == ""
    assert f"  {question.id}  Approve write_file /workspace/pump.md?\n" in err
    assert f"deepnb ask --thread 'my notes' --workspace {lake}\n" in err
    assert ask(lake, "--thread", "my notes") == 3
    assert question.id in capsys.readouterr().err


@pytest.mark.parametrize(("option", "written"), [("--yes", True), ("--no", False)])
def test_yes_and_no_answer_for_the_person_and_say_so(lake, capsys, option, written):
    assert ask(lake, WRITE, option) == 0
    assert (lake / "pump.md").exists() is written
    outcome = f"{'approved' if written else 'rejected'} by {option}"
    assert f"Approve write_file /workspace/pump.md? → {outcome}\n" in capsys.readouterr().err


def test_yes_answers_also_what_was_left_open(lake, capsys):
    assert ask(lake, WRITE) == 3
    assert ask(lake, "--yes") == 0
    assert (lake / "pump.md").exists()
    assert "Approve write_file /workspace/pump.md? → approved by --yes" in capsys.readouterr().err


def test_a_thread_knows_its_agent(lake, capsys):
    assert ask(lake, PUMP, "--thread", "pump", agent="research") == 3
    again = ["ask", "--thread", "pump", "--yes", "--workspace", str(lake)]
    assert f"deepnb ask --thread pump --workspace {lake}\n" in capsys.readouterr().err
    assert main(again) == 0
    assert "→ approved by --yes\n" in capsys.readouterr().err
    assert main([*again, "--agent", "deep", "And now?"]) == 2
    assert "is of the agent 'research'" in capsys.readouterr().err


def test_a_report_says_where_its_sources_may_disagree_before_it_lists_them(tmp_path, capsys):
    (tmp_path / "one.md").write_text("# One\n\nThe pump of the lake cost EUR 46,500.\n")
    (tmp_path / "other.md").write_text("# Other\n\nThe pump of the lake cost EUR 51,200.\n")
    assert ask(tmp_path, "What did the pump cost?", "--yes", agent="research") == 0
    asked = capsys.readouterr().out
    assert main(["show", "main", "--workspace", str(tmp_path)]) == 0
    for shown in (asked, capsys.readouterr().out):
        conflicts = shown.partition("Possible conflicts\n")[2].partition("Sources\n")[0]
        assert "Possibly a differing number about" in conflicts
        assert "EUR 46,500" in conflicts
        assert "EUR 51,200" in conflicts
        assert shown.count("Possible conflicts") == 1


def test_one_passage_is_no_passages(tmp_path, capsys):
    (tmp_path / "one.md").write_text("# One\n\nThe pump of the lake cost EUR 46,500.\n")
    assert ask(tmp_path, "What did the pump cost?", "--yes", agent="research") == 0
    assert main(["show", "main", "--workspace", str(tmp_path), "--steps"]) == 0
    assert "Wrote a report from 1 passage of 1 source." in capsys.readouterr().out


def test_a_folder_without_documents_is_said_to_be_one(tmp_path, capsys):
    assert ask(tmp_path, PUMP, "--yes", agent="research") == 2
    out = capsys.readouterr().out
    assert out.startswith("**There are no documents to search, so there is no report.**")


def test_a_thread_that_is_not_there_is_not_made_by_looking_for_it(lake, capsys):
    assert ask(lake) == 2
    assert capsys.readouterr().err.startswith(f"deepnb: There is no thread 'main' in {lake}.")
    assert not (lake / ".deepnb").exists()


def test_nothing_to_answer_is_an_error_that_says_what_to_do(lake, capsys):
    assert ask(lake, "What did the aeration pump cost?") == 0
    capsys.readouterr()
    assert ask(lake) == 2
    err = capsys.readouterr().err
    assert err.startswith("deepnb: Nothing is open in the thread 'main'. To ask it something: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "depe"], "No agent is called 'depe'. Did you mean 'deep'?"),
        (["--model", "no-such-provider:x"], "No model provider is called 'no-such-provider'"),
        (["--workspace", "no-such-folder"], "'no-such-folder' is not a folder."),
    ],
)
def test_a_mistake_is_one_line_and_code_2(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert main(["ask", "Hello?", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"deepnb: {said}")
    assert err.count("\n") == 1


def test_a_run_that_fails_can_be_resumed(lake, capsys, script):
    script([RuntimeError("the provider is down")])
    assert ask(lake, "Hello?", agent="scripted") == 2
    err = capsys.readouterr().err
    assert err.startswith("deepnb: RuntimeError: the provider is down.")
    assert "deepnb ask --thread main" in err
    assert "--resume" in err
    script(["Here I am."])
    assert ask(lake, "--resume", agent="scripted") == 0
    out, err = capsys.readouterr()
    assert out == "Here I am.\n"
    assert "? Hello?\n" in err


def test_a_question_and_resume_exclude_each_other(lake, capsys):
    with pytest.raises(SystemExit, match="2"):
        ask(lake, "Hello?", "--resume")
    assert "not allowed with" in capsys.readouterr().err


def test_what_would_steer_a_terminal_reaches_none(lake, capsys, script):
    evil = "\x1b]0;owned\x07\x1b[2J\u202e"
    script(
        [
            call("read_file", file_path=f"/workspace/{evil}.md"),
            call("grep", pattern=evil),
            call(f"tool{evil}", path="/"),
            f"All {evil}good.",
        ]
    )
    assert ask(lake, f"Is it {evil}?", agent="scripted") == 0
    out, err = capsys.readouterr()
    assert "good." in out
    assert "\\u001b]0;owned" in err
    assert main(["show", "main", "--workspace", str(lake), "--steps"]) == 0
    assert main(["threads", "--workspace", str(lake)]) == 0
    shown = out + err + capsys.readouterr().out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)


# On a terminal


def test_an_approval_is_put_to_the_person_with_its_diff(lake):
    terminal = Terminal(["ask", WRITE, "--workspace", str(lake)])
    terminal.until("? deep asks for your approval: write_file").until("Create /workspace/pump.md")
    terminal.until("\x1b[32m+# What did the aeration pump cost?\x1b[0m").until("[a]lways")
    terminal.type("y\n").until("a price of EUR 46,500")
    assert terminal.end() == 0
    assert "EUR 46,500" in (lake / "pump.md").read_text()
    assert re.search(r"\r\x1b\[2K\x1b\[2m[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] .* · (< )?\d\.\d s", terminal.shown)
    assert "  grep pump → " in terminal.shown


def test_the_agent_reads_why_something_was_rejected(lake):
    model = """ScriptedModel([
        call("write_file", file_path="/workspace/a.md", content="A"),
        lambda messages: messages[-1].text,
    ])"""
    terminal = Terminal(["ask", "Go", "--workspace", str(lake)], model=model)
    terminal.until("[n]o").type("approve\n").until("[n]o").type("no\n")
    terminal.until("Why?").type("not in my folder\n").until("not in my folder")
    terminal.until("not in my folder")
    assert terminal.end() == 0
    assert not (lake / "a.md").exists()


def test_what_was_typed_before_a_question_was_shown_does_not_answer_it(lake):
    terminal = Terminal(["ask", WRITE, "--workspace", str(lake)]).type("y\n")
    terminal.until("[n]o").type("n\n").until("Why?").type("\n")
    assert terminal.end() == 0
    assert not (lake / "pump.md").exists()


def test_an_edit_asks_for_each_argument_and_opens_an_editor_for_long_ones(lake, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\n[ -e "$1" ] && sed -i s/46,500/47,000/ "$2"\n')
    editor.chmod(0o755)
    ready = tmp_path / "ready"
    command = f"{editor} {ready}"
    terminal = Terminal(["ask", WRITE, "--workspace", str(lake)], EDITOR=command, VISUAL="")
    terminal.until("[e]dit").type("e\n").until("file_path").type("\n").until("The editor failed")
    ready.touch()
    terminal.until("[e]dit").type("e\n")
    terminal.until("file_path (Enter: /workspace/pump.md)").type("/workspace/price.md\n")
    assert terminal.end() == 0
    assert "EUR 47,000" in (lake / "price.md").read_text()
    assert not (lake / "pump.md").exists()


def test_always_covers_what_comes_later_and_says_so(lake):
    model = """ScriptedModel([
        call("write_file", file_path="/workspace/a.md", content="A"),
        call("write_file", file_path="/workspace/b.md", content="B"),
        "Both.",
    ])"""
    terminal = Terminal(["ask", "Go", "--workspace", str(lake)], model=model)
    terminal.until("[a]lways").type("a\n").until("For which files").type("/elsewhere/*\n")
    terminal.until("The answer was refused and the question is still open")
    terminal.until("[a]lways").type("a\n").until("/workspace/a.md)").type("/workspace/*\n")
    terminal.until("Approve write_file /workspace/b.md? → approved by an earlier permission")
    terminal.until("Both.")
    assert terminal.end() == 0
    assert (lake / "b.md").read_text() == "B"


def test_several_actions_are_decided_one_by_one(lake):
    model = """ScriptedModel([
        [call("write_file", file_path=f"/workspace/{n}.md", content=n) for n in "ab"],
        "Done.",
    ])"""
    terminal = Terminal(["ask", "Go", "--workspace", str(lake)], model=model)
    terminal.until("write_file (1 of 2)").until("/workspace/a.md").until("[y]es").type("n\n")
    terminal.until("Why?").type("\n")
    terminal.until("write_file (2 of 2)").until("/workspace/b.md").until("[y]es").type("y\n")
    assert terminal.end() == 0
    assert not (lake / "a.md").exists()
    assert (lake / "b.md").exists()


def test_questions_of_every_kind_can_be_answered(lake):
    model = """ScriptedModel([
        call("ask_user", question="Which **year**?"),
        call("ask_choices", question="Which lakes?", allow_multiple=True,
            allow_freeform=False, options=[
            {"id": "a", "label": "Ansel"}, {"id": "b", "label": "Brack"}]),
        lambda messages: " and ".join(m.text for m in messages if m.type == "tool"),
    ])"""
    more = '{"middleware": [ClarifyMiddleware()], "budget": Budget(calls=2)}'
    terminal = Terminal(["ask", "Go", "--workspace", str(lake)], model=model, more=more)
    terminal.until("Which year?").until(">").type("\n").until(">").type("2021\n")
    terminal.until("  1  Ansel\n  2  Brack\n").until(">").type("3\n")
    terminal.until("Choose from 1 to 2.").until(">").type("1, 2\n")
    terminal.until("? The budget is used up: 2 of 2 calls").until(">").type("much more\n")
    terminal.until("A number, please.").until(">").type("9\n")
    terminal.until("2021 and ").until("Ansel").until("Brack")
    assert terminal.end() == 0


def test_what_only_a_browser_can_answer_is_left_to_it_or_refused(lake):
    model = """ScriptedModel(lambda messages: messages[-1].text
        if messages[-1].type == "tool" else call("read_file", file_path="/files/notes.md"))"""
    command = ["ask", "--workspace", str(lake)]
    client = {"model": model, "more": '{"client": True}'}
    terminal = Terminal([*command, "Go"], **client).until("Read “notes.md” in your files")
    terminal.until("There is nothing to type").until(">").type("leave\n")
    assert terminal.end() == 3
    assert "{" not in terminal.shown
    again = Terminal(command, **client).until("[r]efuse").until(">").type("r\n")
    again.until("The person does not want their files to be used for this.")
    assert again.end() == 0


def test_a_question_that_was_left_is_put_again(lake):
    terminal = Terminal(["ask", WRITE, "--workspace", str(lake)])
    terminal.until("[y]es").until(">").type("\x04")  # Ctrl-D
    terminal.until("Approve write_file /workspace/pump.md?").until("To answer, on a terminal: ")
    assert terminal.end() == 3
    again = Terminal(["ask", "--workspace", str(lake)]).until(f"? {WRITE}")
    again.until("Create /workspace/pump.md").until("[y]es").type("y\n").until("EUR 46,500")
    assert again.end() == 0
    assert (lake / "pump.md").exists()


def test_ctrl_c_at_a_question_leaves_it_open(lake):
    terminal = Terminal(["ask", WRITE, "--workspace", str(lake)])
    terminal.until("[y]es").until(">").interrupt().until("To answer, on a terminal: ")
    assert terminal.end() == 130
    with Session(workspace=lake) as session:
        assert session.runs[-1].wait().status == "waiting"


def test_ctrl_c_stops_the_run_and_the_thread_can_go_on(lake, capsys, script):
    model = 'ScriptedModel(["Late."], delay=60)'
    terminal = Terminal(["ask", "Go", "--workspace", str(lake)], model=model)
    terminal.until("thinking · ").interrupt().until("Stopped (by the person).")
    terminal.until(f"deepnb ask --thread main --workspace {lake} 'your question'")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.shown
    script(["Here I am."])
    assert ask(lake, "And now?", agent="scripted") == 0
    assert capsys.readouterr().out == "Here I am.\n"


def test_a_thread_that_was_cut_off_goes_on_with_resume(lake, capsys, script):
    model = 'ScriptedModel([call("ls", path="/workspace/"), lambda messages: time.sleep(60)])'
    terminal = Terminal(["ask", "Go", "--workspace", str(lake)], model=model)
    terminal.until("ls /workspace/ → ")
    terminal.process.kill()
    terminal.end()
    script(["Here I am."])
    assert ask(lake, agent="scripted") == 2
    assert "To go on where it stopped: " in capsys.readouterr().err
    assert ask(lake, "--resume", agent="scripted") == 0
    assert capsys.readouterr().out == "Here I am.\n"


def test_a_terminal_is_asked_also_while_the_answer_goes_to_a_file(lake, tmp_path):
    with (tmp_path / "answer.md").open("w") as file:
        terminal = Terminal(["ask", WRITE, "--workspace", str(lake)], stdout=file)
        terminal.until("[y]es").type("y\n")
        assert terminal.end() == 0
    answer = (tmp_path / "answer.md").read_text()
    assert "EUR 46,500" in answer
    assert "\x1b" not in answer
    assert "EUR 46,500, installation included. Four votes for, one against\n" in answer  # as it is


# Threads


def test_threads_are_an_aligned_table_the_latest_first(lake, capsys, script):
    script(lambda messages: "Yes.")
    ask(lake, "Is it deep?", agent="scripted")
    ask(lake, "Is it\nblue?", "--thread", "湖", agent="scripted")
    ask(lake, "And green?", "--thread", "湖", agent="scripted")
    capsys.readouterr()
    assert main(["threads", "--workspace", str(lake)]) == 0
    header, latest, first = capsys.readouterr().out.splitlines()
    assert header.split() == ["THREAD", "STATUS", "RUNS", "UPDATED", "SIZE", "QUESTION"]
    assert re.fullmatch(r"湖 {6}done {7}2  .* UTC +\d+ kB  Is it blue\?", latest)
    assert re.fullmatch(r"main    done {7}1  .* UTC +\d+ kB  Is it deep\?", first)
    assert header.index("QUESTION") == first.index("Is it deep?") == latest.index("Is it blue?") + 1


def test_a_folder_without_threads_says_how_to_begin(tmp_path, capsys):
    assert main(["threads", "--workspace", str(tmp_path)]) == 0
    assert "deepnb ask" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_conversation_can_be_read_while_somebody_has_it_open(lake):
    with Session(workspace=lake) as session:
        session.ask(WRITE).wait()
        command = [sys.executable, "-m", "deepnb.cli", "show", "main", "--workspace", str(lake)]
        shown = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
        assert session.status == "waiting"
    assert shown.startswith(f"? {WRITE}\n")
    assert "Waiting for an answer" in shown.splitlines()[1]
    assert "! Approve write_file /workspace/pump.md?" in shown
    answer = f"deepnb ask --thread main --workspace {lake}"
    assert f"To answer, on a terminal: {answer}" in shown
    assert "grep" not in shown


def test_steps_are_shown_as_they_were_during_the_run(lake, capsys):
    assert ask(lake, WRITE, "--yes") == 0
    during = re.findall("  (?:grep|read_file) .*", capsys.readouterr().err)
    assert main(["show", "main", "--workspace", str(lake), "--steps"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert re.findall("  (?:grep|read_file) .*", shown) == during
    assert "  Asked Approve write_file /workspace/pump.md? → approved automatically" in lines
    assert "  Created /workspace/pump.md → +11 \u22120" in lines


def test_an_unknown_thread_is_one_line_and_code_2(lake, capsys):
    assert main(["show", "thesis", "--workspace", str(lake)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"deepnb: There is no thread 'thesis' in {lake}.")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], ["threads"], ["show", "main"]])
def test_a_look_needs_no_language_model_library(lake, arguments):
    with Session(workspace=lake) as session:
        session.ask("How deep is Lake Ansel?").wait()
    code = (
        "import sys\n"
        "from deepnb.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith(('lang', 'pandas'))])\n"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=lake, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.endswith("\n[]\n")
    assert done.stderr == ""


# What is printed


class Screen(io.StringIO):
    """A terminal that remembers all that was written to it."""

    def isatty(self):
        return True

    def fileno(self):
        raise OSError


def events(*described):
    return [
        Event(
            seq,
            time.time(),
            kind,
            run="r",
            agent=agent or "deep",
            parent="deep" * bool(agent),
            call=agent,
            name=name,
            data=data,
        )
        for seq, (kind, agent, name, data) in enumerate(described, start=1)
    ]


TWO_AGENTS = events(
    ("run_started", "", "", {"text": "Go", "resumed": False}),
    ("message", "", "", {"id": "1", "role": "assistant", "text": "I will **look**."}),
    ("tool_call", "", "task", {"id": "t", "args": {"description": "Read\nall of it"}}),
    ("subagent_started", "reader", "reader", {"id": "t", "text": "Read\nall of it"}),
    ("tool_call", "reader", "grep", {"id": "g", "args": {"pattern": "pump"}}),
    ("usage", "reader", "m", {"id": "2", "tokens_in": 1200, "tokens_out": 34, "cost": 0.002}),
)
ENDED = events(
    (
        "tool_result",
        "reader",
        "grep",
        {"id": "g", "status": "ok", "text": "/a.md:\n  1: pump", "seconds": 1},
    ),
    ("tool_result", "", "task", {"id": "t", "status": "ok", "text": "One pump.", "seconds": 2}),
    ("message", "", "", {"id": "3", "role": "assistant", "text": "There is one pump."}),
    ("warning", "", "", {"text": "Careful\x1b[2J."}),
)


def test_the_time_in_which_a_person_thinks_is_not_counted(monkeypatch):
    moment = 100.0
    monkeypatch.setattr("deepnb.cli.progress.time.monotonic", lambda: moment)
    stream = io.StringIO()
    progress = Progress(stream)
    moment += 2
    with progress.paused():
        moment += 25
    moment += 1
    progress.sum_up()
    assert stream.getvalue() == "\n3.0 s\n"


def test_progress_says_who_does_what_and_leaves_the_answer_out():
    stream = io.StringIO()
    progress = Progress(stream, asked="Go")
    for event in [*TWO_AGENTS, *ENDED]:
        progress.see(event)
        progress.draw()
    assert stream.getvalue().splitlines() == [
        "I will look.",
        "  reader: Read all of it",
        "  reader: grep pump → 1 line in 1 file",
        "  task Read all of it → One pump.",
        "! Careful\\u001b[2J.",
    ]


def test_the_line_on_a_terminal_says_what_is_under_way_and_never_wraps(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    stream = Screen()
    progress = Progress(stream)
    for event in TWO_AGENTS:
        progress.see(event)
    progress.draw()
    line = stream.getvalue().rpartition("\x1b[2K")[2]
    assert re.fullmatch(
        r"\x1b\[2m⠋ reader: grep pump \(\+1\) · < 0\.1 s · 1,234 tokens · \$0\.0020\x1b\[0m", line
    )
    progress.see(ENDED[0])
    progress.see(ENDED[1])
    for text in ("So ", "it\n", "is ", "湖" * 20):
        progress.see(events(("token", "", "", {"id": "3", "text": text}))[0])
    progress.draw()
    line = stream.getvalue().rpartition("\x1b[2K")[2]
    assert "writing · " in line
    assert "…So it is" in line
    assert 50 < width(re.sub(r"\x1b\[\dm", "", line)) < 60
    assert "\n" not in line


def test_a_price_that_is_not_known_is_not_guessed():
    stream = Screen()
    progress = Progress(stream)
    for cost in (0.5, None, 0.5):
        data = {"id": "1", "tokens_in": 1, "tokens_out": None, "cost": cost}
        progress.see(events(("usage", "", "m", data))[0])
    progress.sum_up()
    assert "3 tokens" in stream.getvalue()
    assert "$" not in stream.getvalue()


ANSWER = """\
# Result

The *mean* of 2 * 3 * 4 `m` is **not** x**2.

- a point that is long enough to be broken into two lines here
  1. an inner one

| a | b |
|---|---|

```python
def f(x):
    # a comment
    return x * 2
```
"""


def test_an_answer_is_readable_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert Paint(io.StringIO()).markdown(ANSWER).split("\n") == [
        "Result",
        "",
        "The mean of 2 * 3 * 4 m is not x**2.",
        "",
        "- a point that is long enough to be",
        "  broken into two lines here",
        "  1. an inner one",
        "",
        "| a | b |",
        "|---|---|",
        "",
        "def f(x):",
        "    # a comment",
        "    return x * 2",
        "",
    ]


def test_a_diff_in_an_approval_cannot_hide_a_line():
    changes = "````diff\n--- /a.md\n+++ /a.md\n@@ -1 +1 @@\n--- x\n+```\n````"
    text = f"Edit /a.md\n\n{changes}\n\nReason: \x1b[8mx"
    assert Paint(io.StringIO()).changes(text).split("\n") == [
        "Edit /a.md",
        "",
        "--- /a.md",
        "+++ /a.md",
        "@@ -1 +1 @@",
        "--- x",
        "+```",
        "",
        "Reason: \\u001b[8mx",
    ]


def test_lines_are_cut_by_what_a_terminal_shows():
    assert fitted("abc", 3) == "abc"
    assert fitted("abcd", 3) == "ab…"
    assert fitted("湖湖湖", 5) == "湖湖…"
    assert fitted("e\u0301e\u0301", 2) == "e\u0301e\u0301"
    assert width("湖e\u0301") == 3
    assert harmless("a\x1b[2J\x9b\u202eb\n\tc") == "a[2Jb\n\tc"
