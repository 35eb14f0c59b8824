"""A kernel that is killed, at any moment: the thread is as it was, and nothing is done twice."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pandas import DataFrame
from pandas.testing import assert_frame_equal

import deepnb
from deepnb.events import Event
from deepnb.frames import Frames
from deepnb.record import ThreadFolder, read_events
from deepnb.transcript import turns
from deepnb.transcript.steps import Text
from tests import kill_child
from tests.kill_child import REPORT, THREAD, Plan, View
from tests.sessions import until

PATIENCE = 60.0
AT_ONCE = 2
TRIALS = 30  # with one, two or three kills each: 60 in all
STATEMENTS = 1_200  # that SQLite is given in the course of the work, more or less
OF_A_FORK = range(50, 300, 30)  # statements; the last ones may come after it

KERNELS = multiprocessing.get_context("forkserver")
KERNELS.set_forkserver_preload(["__main__", "tests.kill_child"])


class Kernel:
    """A real process, with a session in it."""

    def __init__(self, plan: Plan, does: Callable[..., None] = kill_child.kernel, *more) -> None:
        self.pipe, far_end = KERNELS.Pipe()
        self.process = KERNELS.Process(target=does, args=(plan, far_end, *more), daemon=True)
        self.process.start()
        far_end.close()

    def report(self) -> View | str | None:
        """Give the next thing it says; None if it has died first."""
        if not self.pipe.poll(PATIENCE):
            self.kill()
            pytest.fail("The kernel hangs.")
        try:
            said = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            return None
        assert said in ("begun", "forked") or not isinstance(said, str), said
        return said

    def begun(self) -> View:
        """Wait until it has opened the thread and goes on; gives what it showed in between."""
        opened = self.report()
        assert self.report() == "begun"
        return opened

    def kill(self) -> None:
        """Kill -9, unless it has killed itself: by now its number may be somebody else's."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join(PATIENCE)
        self.pipe.close()
        assert self.process.exitcode == -signal.SIGKILL


# What a dead kernel leaves behind


@dataclass(frozen=True)
class Disk:
    log: list[Event]
    stored_answers: set[str]
    listed: str | None
    notes: Counter[str]
    files: dict[str, bytes]
    payments: list[int]
    model_calls: int
    complaints: str

    @classmethod
    def of(cls, plan: Plan) -> Disk:
        folder = ThreadFolder(plan.workspace, THREAD)
        return cls(
            log=read_events(plan.workspace, THREAD) if folder.exists else [],
            stored_answers=set(column(folder.record, "question", "answer")),
            listed=listed(plan).get(THREAD),
            notes=Counter(lines(plan.home / "notes")),
            files={
                path.name: path.read_bytes()
                for path in plan.workspace.rglob("*")
                if path.is_file() and ".deepnb" not in path.parts
            },
            payments=column(folder.budget, "settled", "entry"),  # 0 is only reserved
            model_calls=len(lines(plan.home / "model calls")),
            complaints="\n".join(lines(plan.home / "stderr")),
        )

    def ids(self, kind: str) -> list[str]:
        return [event.data["id"] for event in self.log if event.kind == kind]

    @property
    def open_questions(self) -> set[str]:
        return set(self.ids("interrupt_opened")) - set(self.ids("interrupt_closed"))

    def choices(self) -> dict[str, list[str]]:
        """Give what the person decided about calls that were cut off, by call."""
        closed = {e.data["id"]: e.data["answer"] for e in self.log if e.kind == "interrupt_closed"}
        return {
            event.data["request"]["tool_call_id"]: closed[event.data["id"]]["selected"]
            for event in self.log
            if event.kind == "interrupt_opened" and "tool_call_id" in event.data["request"]
        }


def listed(plan: Plan) -> dict[str, str]:
    return dict(deepnb.threads(plan.workspace).set_index("thread")["status"])


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def column(path: Path, name: str, table: str) -> list:
    """Read a column of a table that may not have been made yet."""
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as db:
        is_made = db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        return [row[0] for row in db.execute(f"SELECT {name} FROM {table}")] if is_made else []


def conversation(messages: list[BaseMessage]) -> list[tuple[str, str]]:
    roles = {HumanMessage: "user", AIMessage: "assistant"}
    return [(roles[type(m)], m.text) for m in messages if type(m) in roles and m.text]


def results(messages: list[BaseMessage]) -> Counter[str]:
    return Counter(m.tool_call_id for m in messages if isinstance(m, ToolMessage))


def pairs(frame: DataFrame, *columns: str) -> list[tuple[str, str]]:
    return list(frame[list(columns)].itertuples(index=False, name=None))


# What must hold


def check_left_behind(disk: Disk) -> None:
    """Check what can be seen before anybody opens the thread again."""
    if disk.open_questions:
        assert disk.listed == "waiting"
    elif any(event.kind in ("run_started", "run_ended") for event in disk.log):
        assert disk.listed in ("stopped", "done")
    else:
        assert disk.listed in (None, "idle")
    assert all(count == 1 for count in disk.notes.values()), disk.notes
    assert not disk.complaints


def check_opened(before: Disk, view: View) -> None:
    """Check that the thread shows all that it showed before, and asks what it asked before."""
    shown = Frames(lambda seq: [event for event in before.log if event.seq > seq])
    assert view.events[: len(before.log)] == before.log
    assert_frame_equal(view.trace.head(len(shown.trace())), shown.trace())
    assert view.said[: len(shown.messages())] == pairs(shown.messages(), "role", "text")
    assert view.said == conversation(view.state)
    assert view.todos in (pairs(shown.todos(), "content", "status"), view.plan)
    if view.status != "running":
        told = [(turn.question, turn.status) for turn in turns(view.events)]
        assert told == [(question, status) for question, status, _ in view.runs]
    check_questions(before, view)


def check_questions(before: Disk, view: View) -> None:
    since = [e for e in view.events[len(before.log) :] if e.kind == "interrupt_closed"]
    by_policy = {event.data["id"] for event in since if event.data["by"] == "policy"}
    assert before.open_questions - before.stored_answers - by_policy <= set(view.pending)
    closed = [e for e in before.log if e.kind == "interrupt_closed" and e.data["by"] != "stop"]
    answered = before.stored_answers | {event.data["id"] for event in closed}
    assert not answered & set(view.pending)
    assert view.status in ("idle", "running", "waiting", "stopped", "done")
    if view.status != "running":  # on its way to a question that it had not saved
        assert (view.status == "waiting") == bool(view.pending)


def check_end(plan: Plan, view: View, whole: Whole) -> None:
    """Check that all has come out as if nobody had been killed."""
    disk = Disk.of(plan)
    assert view.status == disk.listed == "done"
    assert view.said == conversation(view.state) == whole.view.said
    assert view.todos == view.plan == whole.view.todos
    assert results(view.state) == results(whole.view.state)
    assert len({message.id for message in view.state}) == len(view.state)
    assert disk.files == whole.disk.files
    assert disk.notes == whole.disk.notes - given_up(disk)
    assert Counter(disk.ids("file")) == Counter(whole.disk.ids("file"))
    assert set(Counter(disk.ids("interrupt_opened")).values()) == {1}
    assert not view.pending
    assert not disk.open_questions
    # A finished call is paid for, and no call is paid for that was not made.
    assert whole.disk.model_calls <= sum(disk.payments) <= disk.model_calls
    assert not disk.complaints


def given_up(disk: Disk) -> Counter[str]:
    """Give the notes that are missing, and may: cut off, made again as told, and cut off again."""
    again = {call for call, chosen in disk.choices().items() if chosen == ["again"]}
    told = {
        e.data["id"] for e in disk.log if e.kind == "tool_result" and "cut off" in e.data["text"]
    }
    return Counter({call.removeprefix("note-") for call in again & told} - set(disk.notes))


# Trials


@dataclass(frozen=True)
class Whole:
    """A run that nobody has disturbed: what comes of it, and how long it takes."""

    view: View
    disk: Disk
    seconds: float


def started(home: Path, **options) -> Plan:
    plan = Plan(home, **options)
    plan.workspace.mkdir(parents=True)
    return plan


def undisturbed(plan: Plan) -> Whole:
    kernel = Kernel(plan)
    assert kernel.begun().status == "idle"
    since = time.monotonic()
    view = kernel.report()
    seconds = time.monotonic() - since
    kernel.kill()
    assert view.status == "done"
    return Whole(view, Disk.of(plan), seconds)


def die(plan: Plan) -> Disk:
    """Let a kernel kill itself at the moment it was told; gives what it leaves behind."""
    kernel = Kernel(plan)
    while said := kernel.report():
        assert said == "begun" or said.status != "done", f"It never came to {plan.dies!r}."
    kernel.kill()
    disk = Disk.of(plan)
    check_left_behind(disk)
    return disk


def live(plan: Plan, before: Disk, whole: Whole) -> tuple[View, View]:
    """Open the thread once more, and go on to the end; gives what is seen then and there."""
    kernel = Kernel(replace(plan, dies="", ignored=""))
    opened, end = kernel.begun(), kernel.report()
    kernel.kill()
    check_opened(before, opened)
    check_end(plan, end, whole)
    return opened, end


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, Whole]:
    """Give an undisturbed run, by who approves."""
    home = tmp_path_factory.mktemp("undisturbed")
    plans = [started(home / str(respond), respond=respond) for respond in (None, "approve")]
    with ThreadPoolExecutor(AT_ONCE) as pool:  # as slow as a trial will be
        return dict(zip((None, "approve"), pool.map(undisturbed, plans), strict=True))


@pytest.fixture
def whole(wholes: dict[str | None, Whole]) -> Whole:
    return wholes[None]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return started(tmp_path / "home")


# Kills at random


def trial(seed: int, home: Path, wholes: dict[str | None, Whole]) -> None:
    """Kill one kernel after the other, and then let one live."""
    chance = random.Random(seed)
    plan = started(home, respond=chance.choice([None, "approve"]), seed=seed)
    whole = wholes[plan.respond]
    before = Disk.of(plan)
    for _ in range(1 + seed % 3):
        opened = killed(plan, chance, whole.seconds)
        if opened:
            check_opened(before, opened)
        before = Disk.of(plan)
        check_left_behind(before)
    live(plan, before, whole)


def killed(plan: Plan, chance: random.Random, seconds: float) -> View | None:
    """Start a kernel and kill it at random; gives what it showed first, if it came so far."""
    (how,) = chance.choices(["storing", "any time", "soon", "opening"], [4, 4, 1, 1])
    if how == "storing":
        moment = f"statement {chance.randrange(STATEMENTS)}"
        kernel = Kernel(replace(plan, dies=moment))
        opened = kernel.report()
        _ = opened and kernel.report() and kernel.report()
    elif how == "opening":
        kernel, opened = Kernel(plan), None
        time.sleep(chance.uniform(0, seconds / 4))
    else:
        kernel = Kernel(plan)
        opened = kernel.begun()
        time.sleep(chance.uniform(0, 0.02 if how == "soon" else seconds))
    kernel.kill()
    return opened


@pytest.fixture(scope="module")
def trials(
    request: pytest.FixtureRequest,
    wholes: dict[str | None, Whole],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[int, Future[None]]]:
    """Start the trials that were asked for, some at a time."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    wanted = [item for item in items if item.function is test_a_thread_survives_its_kernels]
    seeds = [item.callspec.params["seed"] for item in wanted]
    home = tmp_path_factory.mktemp("trials")
    pool = ThreadPoolExecutor(AT_ONCE)
    yield {seed: pool.submit(trial, seed, home / str(seed), wholes) for seed in seeds}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("seed", range(TRIALS))
def test_a_thread_survives_its_kernels(trials: dict[int, Future[None]], seed: int) -> None:
    trials[seed].result()


# Kills at certain moments


def test_a_question_is_not_lost_with_a_kernel_that_dies_right_after_ask(
    plan: Plan, whole: Whole
) -> None:
    before = die(replace(plan, dies="asked"))
    opened, _ = live(plan, before, whole)
    assert [(question, status) for question, status, _ in opened.runs] == [(REPORT, "stopped")]
    assert [turn.question for turn in turns(opened.events)] == [REPORT]


@pytest.mark.parametrize("text", ["one", "a"])
@pytest.mark.parametrize(("moment", "choice"), [("before", "again"), ("after", "skip")])
def test_a_person_decides_about_a_call_that_was_cut_off(
    plan: Plan, whole: Whole, moment: str, choice: str, text: str
) -> None:
    before = die(replace(plan, dies=f"{moment} {text}"))
    assert before.notes[text] == (moment == "after")
    live(plan, before, whole)
    assert Disk.of(plan).choices()[f"note-{text}"] == [choice]


@pytest.mark.parametrize(("path", "number"), [("report.md", 1), ("part-", 2)])
def test_an_open_approval_stays_open_however_often_the_kernel_dies(
    plan: Plan, whole: Whole, path: str, number: int
) -> None:
    plan = replace(plan, ignored=path)
    waiting = wait(plan)
    assert len(waiting.pending) == number
    for _ in range(2):
        before = Disk.of(plan)
        check_left_behind(before)
        kernel = Kernel(plan)
        opened = kernel.report()
        kernel.kill()
        check_opened(before, opened)
        assert (opened.status, opened.pending) == ("waiting", waiting.pending)
    live(plan, Disk.of(plan), whole)


def wait(plan: Plan) -> View:
    """Let a kernel come to what nobody answers, and die there."""
    kernel = Kernel(plan)
    kernel.begun()
    view = kernel.report()
    kernel.kill()
    assert view.status == "waiting"
    return view


def test_to_look_at_a_thread_that_waits_changes_nothing(plan: Plan, whole: Whole) -> None:
    plan = replace(plan, ignored="report.md")
    waiting = wait(plan)
    before = Disk.of(plan)
    for _ in range(3):
        assert look(plan).pending == waiting.pending
    assert Disk.of(plan) == before
    live(plan, before, whole)


def look(plan: Plan, thread: str = THREAD) -> View:
    kernel = Kernel(plan, kill_child.look, thread)
    view = kernel.report()
    kernel.process.join(PATIENCE)
    return view


def test_a_question_that_the_graph_had_not_saved_is_still_asked(plan: Plan, whole: Whole) -> None:
    # LangGraph tells of a question before it is on disk; the log has it at once.
    before = die(replace(plan, dies="interrupt_opened 1"))
    assert len(before.open_questions) == 1
    live(plan, before, whole)


def test_an_answer_is_kept_by_a_kernel_that_dies_right_after_respond(
    plan: Plan, whole: Whole
) -> None:
    before = die(replace(plan, dies="responded"))
    (answered,) = before.ids("interrupt_closed")
    opened, _ = live(plan, before, whole)
    assert answered not in opened.pending


def test_what_was_said_before_the_kill_stays_visible(plan: Plan, whole: Whole) -> None:
    plan = replace(plan, token=0.03)
    kernel = Kernel(plan)
    kernel.begun()
    until(lambda: "The report is" in partial(Disk.of(plan).log), PATIENCE)
    kernel.kill()
    before = Disk.of(plan)
    opened, end = live(plan, before, whole)
    assert any(text.startswith(partial(before.log)) for text in cut_off(opened))
    assert any(text.startswith(partial(before.log)) for text in cut_off(end))


def partial(log: list[Event]) -> str:
    """Give what the agent has said of a message that is not complete."""
    whole = {event.data["id"] for event in log if event.kind == "message"}
    tokens = [e for e in log if e.kind == "token" and not e.parent and e.data["id"] not in whole]
    return "".join(event.data["text"] for event in tokens)


def cut_off(view: View) -> list[str]:
    steps = [step for turn in turns(view.events) for step in (*turn.steps, turn.answer)]
    return [step.text for step in steps if isinstance(step, Text) and step.state == "cut"]


def test_a_branch_is_whole_or_not_there(plan: Plan, whole: Whole) -> None:
    plan = replace(plan, ignored="part-")
    waiting = wait(plan)
    before = Disk.of(plan)
    for moment in OF_A_FORK:
        fork(replace(plan, fork=f"branch {moment}", dies=f"statement {moment}"))
    fork(replace(plan, fork=f"branch {OF_A_FORK[0]}"))  # what was left behind is in nobody's way
    assert Disk.of(plan) == before
    branches = listed(plan).keys() - {THREAD}
    assert 1 <= len(branches) < len(OF_A_FORK)
    for branch in branches:
        view = look(plan, branch)
        assert (view.status, view.pending) == ("waiting", waiting.pending)
        assert view.said == conversation(view.state) == waiting.said
    live(plan, before, whole)


def fork(plan: Plan) -> None:
    """Let a kernel branch off, and kill it after that if it has not died meanwhile."""
    kernel = Kernel(plan)
    _ = kernel.report() and kernel.report() and kernel.report()
    kernel.kill()
