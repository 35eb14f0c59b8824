"""The object a notebook user holds: one conversation with one agent."""

from __future__ import annotations

import atexit
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from uuid import uuid4

from deepnb import agents, transcript
from deepnb.errors import PathError, SessionError, ThreadError, ThreadInUseError
from deepnb.files import Folder
from deepnb.middleware.budget import Budget
from deepnb.middleware.supervision import IN_RUN as SUPERVISOR
from deepnb.middleware.supervision import Supervisor
from deepnb.models import explain
from deepnb.models.prices import model_name
from deepnb.record import Ask, Record, ThreadFolder
from deepnb.record.database import explain as explain_sqlite
from deepnb.record.record import IN_RUN as RECORD
from deepnb.session.compare import differences
from deepnb.session.engine import Engine
from deepnb.session.graph import ThreadGraph, said
from deepnb.session.loop import Loop
from deepnb.session.packing import packed
from deepnb.session.questions import Policy
from deepnb.session.restore import BRANCHED, restore
from deepnb.session.secrets import Secrets
from deepnb.session.workspace import memory_rows, workspace_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import pandas as pd
    from langchain_core.language_models import BaseChatModel

    from deepnb.events import Event
    from deepnb.frames import Frames
    from deepnb.session.graph import Graph
    from deepnb.session.questions import Question, Respond
    from deepnb.session.run import Run

    Status = Literal["idle", "running", "waiting", "stopped", "failed", "done"]

_open: dict[tuple[str, str], Session] = {}
"""The open sessions of this kernel, by workspace and thread, in the order of their opening.

Also those that nobody holds: `deepnb.Session(...).ask(...)` runs on, and keeps its thread.
"""


class Session:
    """A conversation with an agent, which goes on when the kernel has died.

    Args:
        agent: A name that `deepnb.agents` knows, or any compiled LangGraph graph.
        model: What `deepnb.models.resolve` takes; for agents by name.
        workspace: The agent's folder. The conversation is kept in its `.deepnb/`.
        thread: Which conversation; one that exists is gone on with.
        persist: False to keep the conversation in memory only.
        respond: Who answers in place of a person: "approve", "reject", a function that is given
            the question, or answers by tool. Left out, a run that asks waits.
        tool_timeout: Seconds that a tool may take; None for as long as it likes.
        subagent_timeout: The same for a subagent.
        options: Whatever else the agent takes, for example `subagents`, `tools`, `budget`.

    Raises:
        UnknownAgentError: No agent is called so.
        ThreadInUseError: Another kernel has the thread open.
        ThreadError: The thread cannot be opened; the message says why and what to do.
    """

    def __init__(
        self,
        agent: str | Graph = "deep",
        *,
        model: str | BaseChatModel | None = None,
        workspace: str | os.PathLike[str] = ".",
        thread: str = "main",
        persist: bool = True,
        respond: Respond = None,
        tool_timeout: float | None = 300.0,
        subagent_timeout: float | None = 1800.0,
        **options: Any,
    ) -> None:
        self._made_with = {
            "agent": agent,
            "model": model,
            "workspace": workspace,
            "persist": persist,
            "respond": respond,
            "tool_timeout": tool_timeout,
            "subagent_timeout": subagent_timeout,
            **options,
        }
        self.thread = thread
        self.workspace = checked_workspace(workspace)
        self.is_closed = False
        self._frames: Frames | None = None
        policy = Policy(respond)
        graph = _built(agent, model=model, workspace=self.workspace, **options)
        self.agent = agent if isinstance(agent, str) else str(graph.name)
        self._named = isinstance(agent, str)
        self.model = _shown_model(model) if self._named else ""
        self._folder = ThreadFolder(self.workspace, thread) if persist else None
        self._take_over()
        self._loop = Loop(f"deepnb {thread}")
        try:
            secrets = Secrets(model)
            self._record = Record(self._folder.record if self._folder else None, secrets.mask)
            self._supervisor = Supervisor(self._record, tool_timeout, subagent_timeout)
            extra = {RECORD: self._record, SUPERVISOR: self._supervisor}
            self._graph = ThreadGraph(graph, thread, secrets, extra)
            self._engine = Engine(self._graph, self._record, self._supervisor, policy, self.agent)
            budget = options.get("budget")
            if self._folder and isinstance(budget, Budget):
                budget.keep_in(self._folder.budget)
            self._loop.wait(self._start())
        except BaseException:
            self._let_go()
            raise
        _open[self._key] = self

    def _take_over(self) -> None:
        """Take the thread, also from an earlier session of this kernel that does not use it."""
        if self._folder is None:
            return
        if earlier := open_session(self.workspace, self.thread):
            if earlier.status == "running":
                raise ThreadInUseError(
                    f"The thread {self.thread!r} is running in this kernel already. Use the "
                    "session that runs it, or stop that one first: its stop() ends the run."
                )
            earlier.close()
        self._folder.lock()

    @property
    def _key(self) -> tuple[str, str]:
        return (str(self.workspace) if self._folder else f"memory {id(self)}", self.thread)

    async def _start(self) -> None:
        await self._graph.open(self._folder.checkpoints if self._folder else None)
        try:
            await restore(self._engine)
        except sqlite3.Error as error:
            raise explain_sqlite(error, "The thread's checkpoints") from error
        facts = {"thread": self.thread, "agent": self.agent, "model": self.model}
        self._record.note(facts)

    # Asking

    def ask(self, question: str | Mapping[str, Any]) -> Run:
        """Ask the agent something; returns at once.

        While a run is under way or waits for an answer, this one is queued behind it.

        Args:
            question: A text. For a graph that takes no messages, its input.
        """
        self._check_open()
        if not isinstance(question, str | Mapping):
            raise SessionError(
                f"Ask a text, or give a graph its input as a dict: {question!r:.60}."
            )
        if isinstance(question, str) and not self._graph.takes_messages:
            raise SessionError("This graph takes no messages. Give its input: ask({...}).")
        text = question if isinstance(question, str) else str(dict(question))
        if not text.strip():
            raise SessionError("Ask something: the question is empty.")
        given = None if isinstance(question, str) else packed(dict(question))
        ask = Ask(uuid4().hex[:12], text, given, steer=False, state="queued")
        self._record.put_ask(ask)
        run = self._engine.new_run(ask.id, text)
        self._record.log.append("queued", run=ask.id, data={"text": text, "steer": False})
        self._loop.call(self._engine.wake)
        return run

    def steer(self, text: str) -> None:
        """Tell the run under way something, which it hears at its next step."""
        self._steer(text)

    def _steer(self, text: str, values: Mapping[str, Any] | None = None) -> None:
        self._check_open()
        run = self._engine.under_way
        if run is None:
            raise SessionError("Nothing is running that could be steered. Use ask(...).")
        if not self._graph.takes_messages or not str(text or "").strip():
            raise SessionError("Steering needs a text, and a graph that takes messages.")
        given = packed(dict(values)) if values else None
        ask = Ask(uuid4().hex[:12], text, given, steer=True, state="queued")
        self._record.put_ask(ask)
        self._record.log.append("queued", run=run.id, data={"text": text, "steer": True})
        self._loop.call(self._engine.nudge)

    def edit_todos(self, todos: pd.DataFrame) -> None:
        """Replace the agent's todo list; it sees the new one at its next step.

        Args:
            todos: With the columns `content` and `status` ("pending", "in_progress",
                "completed"), as `session.todos` gives it.
        """
        self._check_open()
        if not self._graph.has_todos:
            raise SessionError(
                "This agent keeps no todo list. Tell it with steer(...) or ask(...)."
            )
        from deepnb.frames import todo_list

        new = todo_list(todos)
        listed = "\n".join(f"- [{todo['status']}] {todo['content']}" for todo in new)
        text = f"I have changed your todo list. It is now:\n{listed or '(empty)'}"
        if self._engine.under_way:
            self._steer(text, {"todos": new})
        else:
            message = said(text, uuid4().hex[:12])
            self._loop.wait(self._graph.amend({"todos": new, "messages": [message]}))
            data = {"id": message.id, "role": "user", "text": text}
            self._record.log.append("message", data=data)
        self._record.log.append("todos", agent=self.agent, data={"todos": new, "by": "person"})

    def respond(self, identity: str, answer: Any) -> None:
        """Answer a question, by its id in `session.pending`.

        The forms of answers are those of `deepnb.interrupts`; where only one is possible, a word
        will do: "approve" or "reject", or a text. The same answer twice is one answer.

        Raises:
            QuestionError: There is no such question, or it was answered otherwise.
            AnswerError: The answer does not fit; the question stays open.
        """
        self._check_open()
        self._engine.accept(identity, answer, "person")
        self._loop.call(self._engine.wake)

    def stop(self, subagent: str | None = None) -> None:
        """Stop the run and what is queued behind it, or one subagent alone.

        The thread can be asked again afterwards. A tool that is not async may go on for a while
        in the background.

        Args:
            subagent: Its name, or the id of the call that started it.
        """
        self._check_open()
        if subagent is not None:
            self._loop.wait(self._stop_subagent(subagent))
        elif self._loop.is_here:
            self._loop.start(self._engine.stop())
        else:
            self._loop.wait(self._engine.stop())

    async def _stop_subagent(self, subagent: str) -> None:
        under_way = {one.id: one.name for one in self._supervisor.running}
        waiting = {one.call: one.agent for one in self.questions if one.call}
        known = under_way | waiting
        found = [call for call, name in known.items() if subagent in (call, name)]
        if len(found) != 1:
            names = ", ".join(f"{name} ({call})" for call, name in known.items()) or "none"
            many = "Several subagents are" if found else "No subagent is"
            raise SessionError(f"{many} called {subagent!r}. Running: {names}.")
        self._supervisor.stop(found[0])
        if found[0] not in under_way:
            self._engine.stop_waiting(found[0])

    def resume(self) -> Run:
        """Go on with a run that has failed, or was cut off when its kernel ended."""
        self._check_open()
        return self._loop.wait(self._engine.resume())

    # How it stands

    @property
    def status(self) -> Status:
        """One of idle, running, waiting, stopped, failed and done."""
        if run := self._engine.under_way:
            return "waiting" if run.status == "waiting" else "running"
        return self.runs[-1].status if self.runs else "idle"  # type: ignore[return-value]  # not queued

    @property
    def waiting_for(self) -> str:
        """What the session waits for, in words; empty if it does not."""
        run = self._engine.current
        return run.reason if run and run.status == "waiting" else ""

    @property
    def questions(self) -> list[Question]:
        """The open questions, as objects; `pending` has them as a DataFrame."""
        return list(self._engine.questions.values())

    @property
    def runs(self) -> list[Run]:
        """Everything that was asked in this thread, in order."""
        return list(self._engine.runs.values())

    @property
    def can_resume(self) -> bool:
        """Whether `resume` has something to go on with."""
        return self._engine.current is None and self._engine.can_resume

    @property
    def state(self) -> dict[str, Any]:
        """The values of the graph's state."""
        self._check_open()
        values = self._loop.wait(self._graph.state()).values
        return values if isinstance(values, dict) else {"value": values}

    def events(self, since: int = 0) -> list[Event]:
        """Give everything that has happened after the event numbered `since`."""
        return self._record.log.since(since)

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Have `callback` called with each event from now on; call the result to end that.

        It is called on the thread of the run, so it must return at once.
        """
        self._record.log.subscribe(callback)
        return lambda: self._record.log.unsubscribe(callback)

    # DataFrames

    @property
    def trace(self) -> pd.DataFrame:
        """Everything that happened, a row each: who, what, when, tokens, cost, seconds."""
        return self._all_frames.trace()

    @property
    def messages(self) -> pd.DataFrame:
        """The conversation."""
        return self._all_frames.messages()

    @property
    def todos(self) -> pd.DataFrame:
        """The agent's plan, and when each part of it was begun and done."""
        return self._all_frames.todos()

    @property
    def usage(self) -> pd.DataFrame:
        """What was used, by model and agent, with the cost where the price is known."""
        return self._all_frames.usage()

    @property
    def pending(self) -> pd.DataFrame:
        """What waits for an answer, with the ids that `respond` takes."""
        return self._all_frames.pending()

    @property
    def files(self) -> pd.DataFrame:
        """The files the agent works with: where they are, and who changed them last."""
        rows = [*memory_rows(self.state)]
        if self._named:
            rows += workspace_rows(Folder(self.workspace))
        return self._all_frames.files(rows)

    @property
    def _all_frames(self) -> Frames:
        if self._frames is None:
            from deepnb.frames import Frames

            self._frames = Frames(self._record.log.since)
        return self._frames

    def __getattr__(self, name: str) -> Any:
        # What an agent adds to its sessions; only names that are no attributes lead here.
        views = {} if name.startswith("_") else agents.views(self.agent)
        if name not in views:
            raise AttributeError(f"This session has no {name!r}. See dir(session).")
        return views[name](self)

    def __dir__(self) -> list[str]:
        own = [name for name in super().__dir__() if not name.startswith("_")]
        return sorted({*own, *agents.views(self.agent)})

    # Branching, keeping and ending

    def fork(self, step: int | None = None, *, thread: str | None = None) -> Session:
        """Branch off: a new session that shares the past up to `step`, and leaves this one alone.

        Args:
            step: As in the trace: the state in which the row with that number found the graph.
                Left out, the present.
            thread: The new thread's name; left out, one is made up.
        """
        self._check_open()
        if self.status == "running":
            raise SessionError("A running conversation cannot be forked. Wait, or stop it first.")
        name = thread or self._free_name()
        if self._folder and ThreadFolder(self.workspace, name).exists:
            raise ThreadError(f"There is a thread {name!r} already. Choose another name.")
        options: dict[str, Any] = dict(self._made_with)
        branch = Session(**options, thread=name)
        try:
            branch._inherit(self, step)
        except BaseException:
            branch.close()
            if branch._folder:
                branch._folder.delete()
            raise
        return branch

    def _free_name(self) -> str:
        taken = {one.thread for one in _open.values() if one.workspace == self.workspace}
        number = 1
        while (name := f"{self.thread}-fork-{number}") in taken or (
            self._folder and ThreadFolder(self.workspace, name).exists
        ):
            number += 1
        return name

    def _inherit(self, other: Session, step: int | None) -> None:
        past = other._loop.wait(other._graph.read_past(step))
        self._loop.wait(self._graph.write_past(past))
        events = other.events()
        last = len(events)
        if not past.is_present:
            later = (i for i, e in enumerate(events) if e.step is not None and e.step >= past.step)
            last = next(later, last)
        self._record.copy_from(other._record, last)
        self._record.note({"forked from": f"{other.thread}, step {past.step}"})
        self._loop.wait(restore(self._engine, BRANCHED))

    def compare(self, other: Session) -> pd.DataFrame:
        """Say where this conversation and another, a fork for example, differ."""
        from deepnb import frames

        return frames.differences(differences(self.state, other.state))

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the conversation to a new file: Markdown, HTML or a notebook, by its suffix."""
        return transcript.write(Path(path), self.events(), f"{self.agent}: {self.thread}")

    def close(self) -> None:
        """End the session: a run is stopped, a question stays open in the thread."""
        if self.is_closed:
            return
        if self._loop.is_here:
            raise SessionError("A subscriber cannot close its session. Close it from a cell.")
        if self.status == "running":
            self.stop()
        self._let_go()

    def flush(self) -> None:
        """Write what the log has not written yet, as happens by itself every moment."""
        self._record.log.flush()

    def _let_go(self) -> None:
        self.is_closed = True
        _open.pop(self._key, None)
        if "_graph" in self.__dict__:
            self._loop.wait(self._graph.close())
        if "_record" in self.__dict__:
            self._record.close()
        self._loop.close()
        if self._folder:
            self._folder.unlock()

    def _check_open(self) -> None:
        if self.is_closed:
            raise SessionError(
                "This session is closed, or was opened again by a later one. Use that, or make a "
                f"new one: deepnb.Session({self.agent!r}, thread={self.thread!r})."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else self.status
        waiting = f" for {self.waiting_for}" if state == "waiting" else ""
        return f"Session({self.agent!r}, thread={self.thread!r}, {state}{waiting})"

    def _repr_html_(self) -> str:
        return transcript.session_card(
            agent=self.agent,
            model=self.model,
            thread=self.thread,
            workspace=self.workspace.name,
            status=self.status,
            turns=transcript.turns(self.events()),
        )


def open_session(workspace: Path, thread: str) -> Session | None:
    """Give this kernel's session of a thread, if it has one."""
    return _open.get((str(workspace), thread))


def latest() -> Session | None:
    """Give the session that was opened last in this kernel and is still open."""
    return next(reversed(list(_open.values())), None)


@atexit.register
def _flush() -> None:
    for session in list(_open.values()):
        session.flush()


def _built(agent: str | Graph, **options: Any) -> Graph:
    if isinstance(agent, str):
        return agents.get(agent, **options)
    given = [name for name, value in options.items() if name != "workspace" and value is not None]
    if given:
        raise SessionError(f"{given[0]}= is for agents by name; a graph is made with its own.")
    if not hasattr(agent, "astream") or not hasattr(agent, "checkpointer"):
        raise SessionError(
            f"{type(agent).__name__} is no compiled LangGraph graph. Pass the name of an agent "
            f"({', '.join(agents.names())}), or builder.compile()."
        )
    return agent


def checked_workspace(workspace: str | os.PathLike[str]) -> Path:
    """Give the folder.

    Raises:
        PathError: It is none.
    """
    path = Path(workspace).expanduser()
    if not path.is_dir():
        raise PathError(f"{str(path)!r} is not a folder. Create it, or name another workspace.")
    return path.resolve()


def _shown_model(model: str | BaseChatModel | None) -> str:
    return explain(model).spec if model is None or isinstance(model, str) else model_name(model)
