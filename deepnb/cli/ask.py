"""`deepnb ask`: a session in a terminal, or in a script."""

from __future__ import annotations

import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deepnb.cli import exits
from deepnb.cli.answers import with_conflicts
from deepnb.cli.paint import Paint, harmless
from deepnb.cli.progress import Progress
from deepnb.cli.questions import put
from deepnb.cli.terminal import Terminal
from deepnb.errors import AnswerError, PaymentError, QuestionError, RunError, SessionError
from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.questions import asked

if TYPE_CHECKING:
    from deepnb.session import Session
    from deepnb.session.run import Run

_ENDED = ("done", "stopped", "failed")
_TICK = 0.1
_FLAGS = {"approve": "--yes", "reject": "--no", None: None}


@dataclass(frozen=True)
class Options:
    """What a thread is opened with; without an agent, by the one that it was begun with."""

    thread: str
    workspace: str
    agent: str | None
    model: str | None
    respond: Literal["approve", "reject"] | None

    def command(self, *more: str) -> str:
        """Give the command that opens the thread again."""
        words = ["deepnb", "ask", "--thread", self.thread]
        words += ["--workspace", self.workspace] * (self.workspace != ".")
        words += ["--model", self.model] if self.model else []
        return legible(shlex.join([*words, *more]))


def ask(question: str | None, options: Options, *, resume: bool) -> int:
    """Run a session until it has an answer or needs one; gives the exit code.

    Args:
        question: What to ask; None puts the thread's open questions to the person.
        options: What the thread is opened with.
        resume: Whether to go on where the thread was stopped or cut off.
    """
    from deepnb.record import ThreadFolder, agent_of
    from deepnb.session import Session

    workspace = Path(options.workspace).expanduser().resolve()
    folder = ThreadFolder(workspace, options.thread)
    if question is None and not folder.exists:
        raise folder.unknown()  # and make none
    opened = time.time()
    with Session(
        options.agent or agent_of(workspace, options.thread) or "deep",
        model=options.model,
        workspace=options.workspace,
        thread=options.thread,
        respond=options.respond,
    ) as session:
        progress = Progress(sys.stderr, asked=question or "", decides=_FLAGS.get(options.respond))
        conversation = _Conversation(session, options, progress)
        conversation.recall(opened)
        return conversation.hold(conversation.begin(question, resume=resume))


class _Conversation:
    """A run, from when it begins until it has ended or is left open."""

    def __init__(self, session: Session, options: Options, progress: Progress) -> None:
        self._session = session
        self._options = options
        self._progress = progress
        self._terminal = Terminal(sys.stderr)
        self._seq = 0

    def recall(self, opened: float) -> None:
        """Take note of what was asked before, and show nothing else that is past."""
        for event in self._session.events():
            if event.time < opened:
                self._seq = event.seq
                if event.kind == "interrupt_opened":
                    self._progress.see(event)

    def begin(self, question: str | None, *, resume: bool) -> Run:
        """Ask, go on, or take up what waits."""
        if resume:
            return self._session.resume()
        if question is not None:
            if self._session.status == "waiting":
                earlier = one_line(self._session.runs[-1].question, 500)
                self._terminal.show(f"This comes after {earlier!r}, which waits for you:")
            return self._session.ask(question)
        under_way = [run for run in self._session.runs if run.status not in _ENDED]
        if not under_way:
            thread = f"Nothing is open in the thread {self._options.thread!r}."
            raise SessionError(f"{thread} {self._how_to_go_on()}")
        asked_then = one_line(under_way[-1].question, 500)
        self._terminal.show(self._terminal.paint.bold(f"? {asked_then}"))
        return under_way[-1]

    def hold(self, run: Run) -> int:
        """Show it, and put its questions to the person; gives the exit code."""
        while not self._has_ended(run):
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                return self._left_open(exits.WAITING)
            try:
                with self._progress.paused():
                    self._put_questions()
            except EOFError:
                return self._left_open(exits.WAITING)
            except KeyboardInterrupt:
                return self._left_open(exits.INTERRUPTED)
        if run.status == "failed":
            raise RunError(f"{run.reason} Here: {self._options.command('--resume')}")
        if run.status == "stopped":
            self._terminal.show(legible(f"Stopped ({run.reason})."), self._how_to_go_on())
            return exits.INTERRUPTED
        paint = Paint(sys.stdout)
        answer = with_conflicts(run.answer, self._session.events(), run.id).strip("\n")
        print(paint.markdown(f"\n{answer}") if paint.is_terminal else harmless(answer))
        self._progress.sum_up()
        return exits.FAILED if self._has_nothing_to_read else exits.DONE

    def _has_ended(self, run: Run) -> bool:
        """Show what is done until the run has ended, or has something to ask."""
        try:
            while run.status not in _ENDED and not self._is_asked:
                run.wait(_TICK)
                self._draw()
        except KeyboardInterrupt:
            self._session.stop()
            run.wait()
        self._draw()
        self._progress.clear()
        return run.status in _ENDED

    @property
    def _is_asked(self) -> bool:
        # Questions alone do not mean that: a policy may be about to answer them.
        return self._session.status == "waiting" and bool(self._session.questions)

    @property
    def _has_nothing_to_read(self) -> bool:
        # An answer from no documents is none: most likely they are in another folder.
        return self._session.agent == "research" and not len(self._session.knowledge.documents)

    def _draw(self) -> None:
        for event in self._session.events(self._seq):
            self._progress.see(event)
            self._seq = event.seq
        self._progress.draw()

    def _put_questions(self) -> None:
        for question in self._session.questions:
            while True:
                try:
                    self._session.respond(question.id, put(question, self._terminal))
                except QuestionError:  # somebody else was faster
                    break
                except (AnswerError, PaymentError) as error:
                    self._terminal.show(harmless(str(error)))
                else:
                    break

    def _left_open(self, code: int) -> int:
        """Say what waits, and how to answer it."""
        self._terminal.show("Waiting for a person:")
        for question in self._session.questions:
            self._terminal.show(f"  {question.id}  {asked(question.request)}")
        self._terminal.show(f"To answer, on a terminal: {self._options.command()}")
        return code

    def _how_to_go_on(self) -> str:
        if self._session.can_resume:
            return f"To go on where it stopped: {self._options.command('--resume')}"
        return f"To ask it something: {self._options.command('your question')}"
