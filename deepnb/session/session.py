"""The object a notebook user holds: one conversation with one agent."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from uuid import uuid4

from deepnb import agents, transcript
from deepnb.errors import SessionError, ThreadError, ThreadInUseError
from deepnb.record import Ask, ThreadFolder
from deepnb.session import showing
from deepnb.session.branching import read_heritage
from deepnb.session.compare import differences
from deepnb.session.core import Core, Recipe
from deepnb.session.graph import said
from deepnb.session.packing import packed
from deepnb.session.paying import Paying, check_sayable
from deepnb.session.views import Views

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import pandas as pd
    from langchain_core.language_models import BaseChatModel

    from deepnb.events import Event, Kind
    from deepnb.session.graph import Graph
    from deepnb.session.questions import Question, Respond
    from deepnb.session.run import Run

    Status = Literal["idle", "running", "waiting", "stopped", "failed", "done"]

_open: dict[tuple[str, str], Session] = {}
"""The open sessions of this kernel, by workspace and thread, in the order of their opening.

Also those that nobody holds: `deepnb.Session(...).ask(...)` runs on, and keeps its thread.
"""


class Session(Views, Paying):
    """A conversation with an agent, which goes on when the kernel has died.

    Args:
        agent: A name that `deepnb.agents` knows, or any compiled LangGraph graph.
        model: What `deepnb.models.resolve` takes; for agents by name.
        workspace: The agent's folder. The conversation is kept in its `.deepnb/`.
        thread: Which conversation; one that exists is gone on with.
        persist: False to keep the conversation in memory only, until `close` or the kernel's end.
        respond: Who answers in place of a person: "approve", "reject", a function that is given
            the question, or answers by tool. Left out, a run that asks waits.
        tool_timeout: Seconds that a tool may take; None for as long as it likes.
        subagent_timeout: The same for a subagent.
        options: Whatever else the agent takes, for example `subagents`, `budget`, `payment`.

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
        recipe = Recipe(
            agent,
            model,
            workspace,
            thread,
            persist,
            respond,
            tool_timeout,
            subagent_timeout,
            options,
        )
        self._hold(Core(recipe, let_go=_let_go_of if persist else None))
        showing.come_back(self, self._record)

    def _hold(self, core: Core) -> None:
        self._core = core
        self._engine, self._graph, self._loop = core.engine, core.graph, core.loop
        self._record = core.engine.record
        self.agent = core.agent
        self.thread = core.recipe.thread
        self.workspace = core.workspace
        self.forked_from = self._record.about.get("forked from", "")
        self.is_closed = False
        self._panel: showing.Panel | None = None
        _open[self._key] = self
        showing.tell_opened(self, self._record)

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
        if isinstance(question, str) and not self.takes_messages:
            raise SessionError("This graph takes no messages. Give its input: ask({...}).")
        text = _legible(question if isinstance(question, str) else str(dict(question)))
        if not text.strip():
            raise SessionError("Ask something: the question is empty.")
        check_sayable(text)
        given = None if isinstance(question, str) else packed(dict(question))
        self._core.secrets.refresh()
        ask = Ask(uuid4().hex[:12], text, given, steer=False, state="queued")
        run = self._engine.new_run(ask.id, text)  # known before the worker can find the ask
        self._record.log.append("queued", run=ask.id, data={"text": text, "steer": False})
        try:
            self._record.put_ask(ask)
        except ThreadError as error:
            self._engine.end_unstarted(run, str(error))
            raise
        self._loop.call(self._engine.wake)
        return run

    def steer(self, text: str) -> None:
        """Tell the run under way something, which it hears at its next step."""
        self._steer(text)

    def _steer(self, text: str, values: Mapping[str, Any] | None = None) -> None:
        self._check_open()
        run = self._engine.under_way or (self._engine.last if self.can_resume else None)
        if run is None:
            raise SessionError("Nothing is running that could be steered. Use ask(...).")
        if not self.takes_messages or not str(text or "").strip():
            raise SessionError("Steering needs a text, and a graph that takes messages.")
        text = check_sayable(_legible(text))
        given = packed(dict(values)) if values else None
        ask = Ask(uuid4().hex[:12], text, given, steer=True, state="queued")
        self._record.put_ask(ask)
        self._record.log.append("queued", run=run.id, data={"text": text, "steer": True})
        self._loop.call(self._engine.nudge)

    def edit_todos(self, todos: pd.DataFrame | Mapping[str, Sequence[str]]) -> None:
        """Replace the agent's todo list; it sees the new one at its next step.

        Args:
            todos: With the columns `content` and `status` ("pending", "in_progress",
                "completed"), as `session.todos` gives it; a mapping of columns will do.
        """
        self._check_open()
        if not self.has_todos:
            raise SessionError(
                "This agent keeps no todo list. Tell it with steer(...) or ask(...)."
            )
        from deepnb.frames import todo_list

        new = todo_list(todos)
        listed = "\n".join(f"- [{todo['status']}] {todo['content']}" for todo in new)
        text = f"I have changed your todo list. It is now:\n{listed or '(empty)'}"
        if self._engine.under_way or self.can_resume:  # to rest is to forget what was left to do
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
        will do: "approve" or "reject", or a text. The same answer twice is one answer. Where money
        is asked for, a Cashu token will do: it is paid in, as `fund` does, and not kept here.

        Raises:
            QuestionError: There is no such question, or it was answered otherwise.
            AnswerError: The answer does not fit; the question stays open.
            PaymentError: The token was not taken; the question stays open.
        """
        self._check_open()
        self._engine.accept(identity, self._engine.exchanged(identity, answer), "person")
        self._loop.call(self._engine.wake)

    def preview(self, identity: str, action: int, args: Mapping[str, Any]) -> str:
        """Say what an action that waits for approval would do with other arguments.

        Nothing is carried out. Gives a description with a diff, as the question has it, and an
        empty text for what writes no file.

        Args:
            identity: The question's id.
            action: Which of its actions, from 0.
            args: The arguments that the action would have.

        Raises:
            QuestionError: There is no such question open, or no such action.
        """
        self._check_open()
        call = self._engine.desk.edited_call(identity, action, dict(args))
        return self._graph.preview(*call)

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
        supervisor = self._core.supervisor
        running = [one for one in supervisor.running if subagent in (one.id, one.name)]
        # One that waits for a person has asked something, and is not under way meanwhile.
        asking = {one.call: one.agent for one in self.questions if one.call}
        waiting = [call for call, name in asking.items() if subagent in (call, name)]
        if len(running) + len(waiting) != 1:
            known = [(one.name, one.id) for one in supervisor.running]
            known += [(name, call) for call, name in asking.items()]
            names = ", ".join(f"{name} ({call})" for name, call in known) or "none"
            many = "Several subagents are" if running or waiting else "No subagent is"
            raise SessionError(f"{many} called {subagent!r}. Running: {names}.")
        if running:
            supervisor.stop(running[0])
        else:
            self._engine.stop_waiting(waiting[0])

    def resume(self) -> Run:
        """Go on with a run that has failed, or was cut off when its kernel ended."""
        self._check_open()
        return self._loop.wait(self._engine.resume())

    def withdraw(self, run: Run | str) -> None:
        """Take back what was asked and has not begun.

        Args:
            run: It, or its id.

        Raises:
            SessionError: There is no such run, or it has begun.
        """
        self._check_open()
        identity = run if isinstance(run, str) else run.id
        self._loop.wait(self._engine.take_back(identity))

    def use(self, model: str | BaseChatModel | None) -> None:
        """Have another model answer from now on, in this thread.

        Args:
            model: What `deepnb.models.resolve` takes; None for the configured one.

        Raises:
            ModelError: There is no such model; the one before stays.
            SessionError: A run is under way or waits, or the agent is a graph with its own models.
        """
        self._check_open()
        self._core.use(model)

    # How it stands

    @property
    def status(self) -> Status:
        """One of idle, running, waiting, stopped, failed and done."""
        if run := self._engine.under_way:
            return "waiting" if run.status == "waiting" else "running"
        last = self._engine.last or next(reversed(self.runs), None)
        return last.status if last else "idle"  # type: ignore[return-value]  # not queued

    @property
    def waiting_for(self) -> str:
        """What the session waits for, in words; empty if it does not."""
        run = self._engine.current
        return run.reason if run and run.status == "waiting" else ""

    @property
    def questions(self) -> list[Question]:
        """The open questions, as objects; `pending` has them as a DataFrame."""
        return list(self._engine.desk.open.values())

    @property
    def runs(self) -> list[Run]:
        """Everything that was asked in this thread, in order."""
        return list(self._engine.runs.values())

    @property
    def can_resume(self) -> bool:
        """Whether `resume` has something to go on with."""
        return self._engine.current is None and self._engine.can_resume

    def events(self, since: int = 0) -> list[Event]:
        """Give everything that has happened after the event numbered `since`."""
        return self._record.log.since(since)

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Have `callback` called with each event from now on; call the result to end that.

        Events come in their order, mostly on the thread of the run, so it must return at once.
        """
        self._record.log.subscribe(callback)
        return lambda: self._record.log.unsubscribe(callback)

    def note(self, kind: Kind, *, run: str = "", name: str = "", **data: Any) -> None:
        """Append to the record what a person has done beside the conversation.

        Args:
            kind: Of the event, see `deepnb.events`.
            run: Id of the run that it is about.
            name: Of the tool or file that it is about.
            data: As the kind has it.
        """
        self._check_open()
        self._record.log.append(kind, run=run, name=name, data=data)

    # Branching, keeping and ending

    def fork(
        self,
        step: int | None = None,
        *,
        before: Run | str | None = None,
        thread: str | None = None,
    ) -> Session:
        """Branch off: a new session that shares the past up to `step`, and leaves this one alone.

        There, `resume()` goes on as before, and `ask()` otherwise.

        Args:
            step: As in the trace: the state in which the row with that number found the graph.
                Left out, the present.
            before: In place of a step, a run or its id: the branch begins where that was asked,
                to ask it again or otherwise.
            thread: The new thread's name; left out, one is made up.
        """
        self._check_open()
        if step is not None and before is not None:
            raise SessionError("Fork at a step or before a run, not both.")
        if self.status == "running":
            raise SessionError("A running conversation cannot be forked. Wait, or stop it first.")
        name = thread or self._free_name(f"{self.thread}-fork-", 1)
        if self._is_taken(name):
            raise ThreadError(f"There is a thread {name!r} already. Choose another name.")
        run = before if before is None or isinstance(before, str) else before.id
        heritage = self._loop.wait(read_heritage(self._engine, self.thread, step, run))
        return self._another(Core(self._core.recipe.for_thread(name), heritage))

    def sibling(self, thread: str | None = None) -> Session:
        """Give a session with the same agent on another thread of this workspace.

        Args:
            thread: Its name; this kernel's session of it, if there is one. Left out, a new thread.
        """
        self._check_open()
        name = thread or self._free_name("thread-", 2)
        for one in list(_open.values()):
            if one.is_in(self.workspace, name) and one.is_kept == self.is_kept:
                return one
        if not self.is_kept and ThreadFolder(self.workspace, name).exists:
            raise SessionError(
                f"The thread {name!r} is on disk, and this session is kept in memory. Open it "
                f"with deepnb.Session({self.agent!r}, thread={name!r})."
            )
        let_go = _let_go_of if self.is_kept else None
        return self._another(Core(self._core.recipe.for_thread(name), let_go=let_go))

    def _another(self, core: Core) -> Session:
        session = object.__new__(type(self))
        session._hold(core)  # one of us
        return session

    def _free_name(self, stem: str, number: int) -> str:
        while self._is_taken(name := f"{stem}{number}"):
            number += 1
        return name

    def _is_taken(self, name: str) -> bool:
        if self._core.folder and ThreadFolder(self.workspace, name).exists:
            return True
        return any(one.is_in(self.workspace, name) for one in _open.values())

    def is_in(self, workspace: Path, thread: str) -> bool:
        """Whether this is a session of a thread."""
        return (self.workspace, self.thread) == (workspace, thread)

    def compare(self, other: Session) -> pd.DataFrame:
        """Say where this conversation and another, a fork for example, differ."""
        if not isinstance(other, Session):
            raise SessionError("Compare it with another session, for example session.fork(step=7).")
        from deepnb import frames

        return frames.differences(differences(self.state, other.state))

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the conversation to a file: Markdown, HTML or a notebook, by its suffix.

        An agent may have something better to write: the research agent its report.

        Args:
            path: Where; a file that is there is left alone.
            overwrite: Replace it after all.
        """
        export = agents.exporter(self.agent)
        written = export(self, Path(path), overwrite) if export else None
        if isinstance(written, Path):
            return written
        title = f"{self.agent}: {self.thread}"
        return transcript.write(Path(path), self.events(), title, overwrite=overwrite)

    def close(self) -> None:
        """End the session: a run is stopped, a question stays open in the thread."""
        if self.is_closed:
            return
        if self._loop.is_here:
            raise SessionError("A subscriber cannot close its session. Close it from a cell.")
        self._loop.wait(self._engine.shut_down())
        self.is_closed = True
        del _open[self._key]
        self._core.close()

    def flush(self) -> None:
        """Write what the log has not written yet, as happens by itself every moment."""
        self._record.log.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else self.status
        waiting = f" for {self.waiting_for}" if state == "waiting" else ""
        return f"Session({self.agent!r}, thread={self.thread!r}, {state}{waiting})"

    def panel(
        self,
        *,
        starters: Mapping[str, str] | None = None,
        actions: Mapping[str, str] | None = None,
        push: bool | None = None,
        transcript: bool | None = None,
    ) -> showing.Panel:
        """Give the panel, to be shown as the last line of a cell; the session itself will do, too.

        What is left out stays as it is.

        Args:
            starters: Cards to begin with: texts by title. At first, some that fit any documents.
            actions: Buttons under the input: texts by label.
            push: False for a host that shows only what it has asked for, as Colab does; the panel
                finds that out by itself.
            transcript: False to leave no transcript in the saved notebook.

        Raises:
            MissingExtraError: The widgets are not installed.
        """
        if self._panel is None or not self._panel.is_open or self._panel.session is not self:
            self._panel = showing.find_panel(self)
        self._panel.configure(starters=starters, actions=actions, push=push, transcript=transcript)
        return self._panel

    def explorer(self) -> showing.Explorer:
        """Give the file explorer, to be shown as the last line of a cell.

        It is the panel with its files opened: those in the reader's browser, and the workspace.

        Raises:
            MissingExtraError: The widgets are not installed.
        """
        return showing.find_explorer(self)

    def _ipython_display_(self) -> None:
        showing.display(self)

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


def _let_go_of(workspace: Path, thread: str) -> None:
    """Have a thread free that an earlier session of this kernel has and does not use."""
    if earlier := open_session(workspace, thread):
        if earlier.status == "running":
            raise ThreadInUseError(
                f"The thread {thread!r} is running in this kernel already. Use the session that "
                "runs it, or stop that one first: its stop() ends the run."
            )
        earlier.close()


def latest() -> Session | None:
    """Give the session that was opened last in this kernel and is still open."""
    return next(reversed(list(_open.values())), None)


@atexit.register
def _flush() -> None:
    for session in list(_open.values()):
        session.flush()


def _legible(text: str) -> str:
    """Replace what is no character: half a surrogate pair could be neither stored nor sent."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
