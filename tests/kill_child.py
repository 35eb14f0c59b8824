"""A kernel that works on a thread until somebody kills it; test_kill.py starts it and does so.

It is forked from a process that has imported everything, so that it is there within milliseconds,
and it does what any kernel would: opens the thread, goes on with whatever it finds there, answers
what it is asked, and tells what its session shows at the beginning and at the end.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pandas as pd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import StructuredTool

import deepnb.agents.deep
import deepnb.frames  # noqa: F401  # what a session imports when it is used, for all kernels at once
from deepnb import Budget, Session
from deepnb.events import Event
from deepnb.session.questions import Question
from deepnb.testing import ScriptedModel

THREAD = "t"
REPORT, MORE = "Write the report.", "Anything else?"
WRITER = {
    "name": "writer",
    "description": "Writes a part.",
    "system_prompt": "You write a part of a report.",
}


@dataclass(frozen=True)
class Plan:
    """What a kernel is to do.

    Attributes:
        home: Its folder: the workspace, and outside of that what can be counted.
        respond: Who approves; None leaves it to a person, who is `person` below.
        pause: Seconds that things take which would be over before anybody could kill them.
        token: Seconds that the model takes for a token.
        seed: Of what the person does by chance: how long they think, what they answer first.
        ignored: What the person does not answer about: files whose path has this in it.
        dies: The moment at which it kills itself; empty if it leaves that to others.
        fork: The branch that it makes when there is nothing left to do, or only what is ignored.
    """

    home: Path
    respond: str | None = None
    pause: float = 0.005
    token: float = 0.001
    seed: int = 0
    ignored: str = ""
    dies: str = ""
    fork: str = ""

    @property
    def workspace(self) -> Path:
        return self.home / "workspace"

    def reach(self, moment: str) -> None:
        """Come to a moment, and no further if it is the last one."""
        if moment == self.dies:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class View:
    """What a session shows, and what its graph holds."""

    status: str
    can_resume: bool
    runs: list[tuple[str, str, str]]
    events: list[Event]
    trace: pd.DataFrame
    said: list[tuple[str, str]]
    todos: list[tuple[str, str]]
    pending: list[str]
    state: list[BaseMessage]
    plan: list[tuple[str, str]]

    @classmethod
    def of(cls, session: Session) -> View:
        state = session.state
        return cls(
            status=session.status,
            can_resume=session.can_resume,
            runs=[(run.question, run.status, run.reason) for run in session.runs],
            events=session.events(),
            trace=session.trace,
            said=list(session.messages[["role", "text"]].itertuples(index=False, name=None)),
            todos=list(session.todos[["content", "status"]].itertuples(index=False, name=None)),
            pending=list(session.pending["id"]),
            state=state.get("messages", []),
            plan=[(todo["content"], todo["status"]) for todo in state.get("todos") or []],
        )


# What the agent does: a function of the conversation, so that it says the same after a restart


def script(messages: list[BaseMessage]) -> AIMessage:
    """Go on where the conversation stands."""
    last = max(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    turn = sum(isinstance(message, AIMessage) for message in messages[last:])
    question = messages[last].text
    if question == MORE:
        return AIMessage("Nothing, the report is complete.")
    steps = root_steps() if question == REPORT else writer_steps(question.split()[-1])
    return steps[turn]


def root_steps() -> list[AIMessage]:
    report = "/workspace/report.md"
    return [
        AIMessage("First a plan.", tool_calls=[todos("in_progress", "pending")]),
        AIMessage("", tool_calls=[note("one"), note("two")]),
        AIMessage("Now a draft.", tool_calls=[write("draft", report, "A draft.\n")]),
        AIMessage("", tool_calls=[edit("final", report, "A draft", "The report"), note("three")]),
        AIMessage("Others help.", tool_calls=[task("a"), task("b")]),
        AIMessage("", tool_calls=[todos("completed", "completed")]),
        AIMessage("The report is in report.md, and its parts are in part-a.md and part-b.md."),
    ]


def writer_steps(part: str) -> list[AIMessage]:
    path = f"/workspace/part-{part}.md"
    return [
        AIMessage(f"I note {part}.", tool_calls=[note(part)]),
        AIMessage("", tool_calls=[write(f"part-{part}", path, f"Part {part}.\n")]),
        AIMessage(f"Part {part} is dealt with."),
    ]


def todos(*statuses: str) -> dict:
    items = [{"content": f"step {i}", "status": status} for i, status in enumerate(statuses, 1)]
    return {"name": "write_todos", "args": {"todos": items}, "id": f"todos-{statuses[0]}"}


def note(text: str) -> dict:
    return {"name": "note", "args": {"text": text}, "id": f"note-{text}"}


def write(identity: str, path: str, content: str) -> dict:
    return {"name": "write_file", "args": {"file_path": path, "content": content}, "id": identity}


def edit(identity: str, path: str, old: str, new: str) -> dict:
    args = {"file_path": path, "old_string": old, "new_string": new}
    return {"name": "edit_file", "args": args, "id": identity}


def task(part: str) -> dict:
    args = {"description": f"Write part {part}", "subagent_type": "writer"}
    return {"name": "task", "args": args, "id": f"task-{part}"}


def noting(plan: Plan) -> StructuredTool:
    def note(text: str) -> str:
        """Note something outside of the workspace."""
        time.sleep(plan.pause)
        plan.reach(f"before {text}")
        with (plan.home / "notes").open("a") as file:
            file.write(f"{text}\n")
        plan.reach(f"after {text}")
        time.sleep(plan.pause)
        return f"noted {text}"

    return StructuredTool.from_function(note)


# What the kernel does


def kernel(plan: Plan, pipe: Connection) -> None:
    """Work on the thread, and report; whatever else it has to say is in the file `stderr`."""
    os.dup2(os.open(plan.home / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    if plan.dies.startswith("statement"):
        watch_storage(plan)
    try:
        work(plan, pipe.send)
    except BaseException:
        pipe.send(traceback.format_exc())
        raise


def work(plan: Plan, report: Callable[[View | str], None]) -> None:
    with opened(plan) as session:
        report(View.of(session))
        session.subscribe(Watch(plan))
        go_on(session, plan)
        report("begun")
        finish(session, plan)
        if plan.fork:
            session.fork(thread=plan.fork)
            report("forked")
        report(View.of(session))
        signal.pause()  # it is a kernel: it does not end, it is killed


def look(plan: Plan, pipe: Connection, thread: str) -> None:
    """Open a thread, only to look at it."""
    with opened(plan, thread) as session:
        pipe.send(View.of(session))


def opened(plan: Plan, thread: str = THREAD) -> Session:
    def counted(messages: list[BaseMessage]) -> AIMessage:
        with (plan.home / "model calls").open("a") as file:
            file.write("called\n")
        return script(messages)

    return Session(
        "deep",
        model=ScriptedModel(counted, delay=plan.token),
        workspace=plan.workspace,
        thread=thread,
        respond=plan.respond,
        tools=[noting(plan)],
        subagents=[WRITER],
        budget=Budget(calls=1000),
    )


def watch_storage(plan: Plan) -> None:
    """Reach a moment with each statement that SQLite is given, whichever file it is for.

    Between what is stored and what is not yet stored are the moments that are worth dying at, and
    they are too short for a clock.
    """
    connect, numbers = sqlite3.connect, itertools.count(1)

    def traced(*args, **options) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.set_trace_callback(lambda _: plan.reach(f"statement {next(numbers)}"))
        return connection

    sqlite3.connect = traced


class Watch:
    """Reaches a moment with each event: "token 3" is the third token, "event 7" the seventh."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.seen: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        for name in (event.kind, "event"):
            self.seen[name] += 1
            self.plan.reach(f"{name} {self.seen[name]}")


def go_on(session: Session, plan: Plan) -> None:
    """Do what a person would do who finds the thread like this."""
    if session.can_resume:
        session.resume()
    elif session.status not in ("waiting", "running"):
        ask_next(session, plan)


def ask_next(session: Session, plan: Plan) -> bool:
    heard = [message.text for message in session.state.get("messages", [])]
    for question in (REPORT, MORE):
        if question not in heard:
            session.ask(question)
            plan.reach("asked")
            return True
    return False


def finish(session: Session, plan: Plan) -> None:
    """Answer what is asked until there is nothing left to do, or only what is ignored."""
    chance = random.Random(plan.seed)
    while True:
        run = session.runs[-1].wait()
        if run.status == "waiting":
            heeded = [question for question in session.questions if is_heeded(question, plan)]
            if not heeded:
                return
            time.sleep(chance.uniform(0, 4 * plan.pause))  # the person thinks
            question = chance.choice(heeded)
            session.respond(question.id, decision(question, plan))
            plan.reach("responded")
        elif run.status != "done" or not ask_next(session, plan):
            return


def is_heeded(question: Question, plan: Plan) -> bool:
    return not plan.ignored or plan.ignored not in str(question.request)


def decision(question: Question, plan: Plan) -> object:
    """Approve all but one part; have done again what was not done."""
    if question.type == "tool_approval":
        if "part-b.md" in str(question.request):
            return {"decisions": [{"type": "reject", "message": "Not that one."}]}
        return "approve"
    text = question.request["tool_call_id"].removeprefix("note-")
    notes = plan.home / "notes"
    return "skip" if notes.exists() and text in notes.read_text().split() else "again"
