"""What drives a session's runs, on the loop's own thread.

One worker, and one place where it waits: a run goes on until its stream ends; then it is done, or
it has questions. Answers that come while it runs are kept until the stream has ended, since a
graph that is resumed earlier runs the siblings of a waiting task twice.
"""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import AIMessage
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import Command

from deepnb.errors import AnswerError, QuestionError, SessionError, ThreadError
from deepnb.interrupts import refusal
from deepnb.session.failures import described
from deepnb.session.graph import (
    Unsaved,
    checkpoint_of,
    said,
    unanswered,
    was_cut_at_input,
)
from deepnb.session.packing import packed, unpacked
from deepnb.session.questions import Closed, Question
from deepnb.session.run import Run
from deepnb.session.stream import Scope, Translator, messages_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from langgraph.types import Interrupt, StateSnapshot

    from deepnb.events import Event, Kind
    from deepnb.middleware.supervision import Supervisor
    from deepnb.record import Ask, Record
    from deepnb.session.graph import ThreadGraph
    from deepnb.session.questions import Policy
    from deepnb.session.run import Status
    from deepnb.session.stream import Namespace

Result = TypeVar("Result")

_STOPPING = 0.8
"""Seconds to wait for tools that do not want to end; what runs on after them is abandoned."""

STOPPED = "The person stopped the run; it may or may not have taken effect."
LEFT = "The run before this one ended early; it may or may not have taken effect."
BEFORE = "before"
"""Under this name the record knows where the thread stood before the last run."""
NOT_STARTED = "the run before it did not end well"


@dataclass(frozen=True)
class _Move:
    """What a graph is given next, and whether it is to take one step only."""

    given: Any
    one_step: bool = False


class _StoppedError(Exception):
    """Somebody has called stop."""


class Engine:
    """Runs what is asked, one after the other.

    `accept` and `closed` may be used from any thread; all else belongs to the loop's.
    """

    def __init__(
        self,
        graph: ThreadGraph,
        record: Record,
        supervisor: Supervisor,
        policy: Policy,
        agent: str,
    ) -> None:
        self.graph = graph
        self.record = record
        self.agent = agent
        self.runs: dict[str, Run] = {}
        self.current: Run | None = None
        self.can_resume = False
        self.questions: dict[str, Question] = {}
        self.closed: dict[str, Closed] = {}
        self._supervisor = supervisor
        self._policy = policy
        self._lock = threading.RLock()  # a listener may answer the next question at once
        self._translator = Translator(record.log, agent, "")
        self._worker: asyncio.Task[None] | None = None
        self._step: asyncio.Future[None] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._control = RunControl()
        self._stopping = False
        self._sent: set[str] = set()
        self._withdrawn: set[str] = set()
        self._passed_over: set[str] = set()
        self._steered: set[str] = set()
        self._waits = False
        self._unasked = False
        self._resuming = False
        self._began = 0.0

    # What the session calls

    def wake(self) -> None:
        """Look for something to do."""
        if self._worker is None or self._worker.done():
            self._worker = asyncio.get_running_loop().create_task(self._work())

    def nudge(self) -> None:
        """Deliver what is meant for the run under way, at its next step."""
        if self.current and self.current.status == "running" and not self._translator.is_nested:
            self._control.request_drain()
        self.wake()

    async def resume(self) -> Run:
        """Go on with a run that was cut off or has failed."""
        if self.current:
            raise SessionError(f"There is nothing to resume: the run is {self.current.status}.")
        if not self.can_resume:
            raise SessionError("There is nothing to resume: ask something instead.")
        run = list(self.runs.values())[-1]
        self.current, self._resuming = run, True
        run.move("queued")
        self.wake()
        return run

    async def stop(self) -> None:
        """End the run, and whatever is queued behind it."""
        self.drop_queue("it was stopped")
        self._stopping = True
        if self._task:
            self._task.cancel()
        if self._step:
            asyncio.get_running_loop().call_later(_STOPPING, _settle, self._step)
        if self._worker:
            await asyncio.wait({self._worker})
        self._stopping = False  # it may have ended by itself
        if self.current and self._waits:
            await self._end_stopped(self.current)

    def stop_waiting(self, call: str) -> None:
        """Let a subagent that waits for a person be stopped, and the others go on."""
        for question in list(self.questions.values()):
            if question.call == call:
                self._close(question, None, "stop")
        self._passed_over.add(call)
        self.wake()

    def accept(self, identity: str, answer: Any, by: str) -> None:
        """Take an answer, once.

        Raises:
            QuestionError: There is no such question, or it has another answer already.
            AnswerError: The answer does not fit.
        """
        identity = str(identity)
        with self._lock:
            if identity in self.closed:
                self._check_same(identity, answer)
                return
            if identity not in self.questions:
                what = f"There is no question {identity!r:.60}"
                if identity in self._withdrawn:
                    what = f"The run that asked {identity} was stopped, so nothing waits for it"
                known = ", ".join(self.questions) or "none"
                raise QuestionError(f"{what}. Open questions: {known}.")
            question = self.questions[identity]
            checked = question.checked(answer)
            try:
                exactly = packed(checked)
            except SessionError as error:
                raise AnswerError(f"{error} The question is still open.") from None
            self.record.put_answer(identity, exactly)
            self._close(question, question.public(checked), by, exactly)
            if self.current and self.current.status == "waiting":
                self.current.move("running")  # at once: whoever waits for it next must not pass

    def _check_same(self, identity: str, answer: Any) -> None:
        closed = self.closed[identity]
        if not closed.is_answered_by(answer):
            raise QuestionError(
                f"The question {identity} was answered already, with {closed.shown!r:.200}. "
                "session.pending shows what is open."
            )

    @property
    def under_way(self) -> Run | None:
        """The run that is running or waiting, or about to be."""
        queued = (run for run in list(self.runs.values()) if run.status == "queued")
        return self.current or next(queued, None)

    def new_run(self, identity: str, question: str) -> Run:
        """Make the run of an ask, and know it from now on."""

        def read() -> list[Event]:
            return [event for event in self.record.log.since(0) if event.run == identity]

        run = self.runs[identity] = Run(identity, question, read)
        return run

    def wait_again(self, run: Run) -> None:
        """Take up a run that waited for a person when its kernel ended."""
        self.current = run
        self._supervisor.run = run.id
        self._translator = Translator(self.record.log, self.agent, run.id)
        self._wait(run)
        if self._policy.is_given:  # another one, perhaps, than the session had that asked
            self._unasked = True
            self.wake()

    # The worker

    async def _work(self) -> None:
        while run := self._next():
            try:
                await self._advance(run)
            except _StoppedError:
                await self._end_stopped(run)
            except Exception as error:  # noqa: BLE001  # anything can go wrong in a graph
                await self._end_failed(run, error)
                if self.record.log.failure:
                    return  # what cannot be noted is not begun, or it would be so for ever

    def _next(self) -> Run | None:
        if run := self.current:
            unasked, self._unasked = self._unasked, False
            answered = self.record.answers().keys() - self._sent
            go_on = unasked or answered or self._passed_over
            return run if self._resuming or (self._waits and go_on) else None
        queued = [self.runs[ask.id] for ask in self.record.asks("queued") if not ask.steer]
        return next((run for run in queued if run.status == "queued"), None)

    async def _advance(self, run: Run) -> None:
        move = await (self._going_on(run) if self._waits else self._beginning(run))
        while move:
            paused = await self._interruptible(self._pump(move))
            move = await self._after_stream(run, paused=paused or move.one_step)

    async def _after_stream(self, run: Run, *, paused: bool) -> _Move | None:
        """Decide how a run goes on whose stream has ended; None if it does not, for now."""
        if self.record.log.failure:
            raise self.record.log.failure
        state = await self.graph.state()
        self._translator.catch_up(state.values)
        self._delivered(state)
        if state.interrupts:
            answers = await self._answers(state)
            if answers is None:
                self._wait(run)
            return answers
        at_breakpoint = self.graph.is_breakpoint(state, self._translator.last_nodes)
        if not at_breakpoint:
            if heard := self._steering(state) or self._unheard(state):
                return heard
            if state.next and paused:  # between two steps that belong together
                return _Move(None, one_step=bool(self._steers()))
        if state.next:
            self.can_resume = True
            where = ", ".join(state.next)
            self.finish(run, "stopped", f"before {where}, as the graph says; resume() goes on")
        else:
            self.finish(run, "done")
        return None

    async def _going_on(self, run: Run) -> _Move | None:
        """Go on with a run that waits, if there is an answer."""
        state = await self.graph.state()
        answers = await self._answers(state)
        passed_over, self._passed_over = self._passed_over, set()
        asked = self.questions.keys() <= {interrupt.id for interrupt in state.interrupts}
        if answers is None and asked and not passed_over:
            self._wait(run)
            return None
        self._waits = False
        run.move("running")
        return answers or _Move(None)

    async def _beginning(self, run: Run) -> _Move:
        """Begin, or resume."""
        resuming, self._resuming = self._resuming, False
        self.current = run
        run.move("running")
        self._began = time.monotonic()
        self._sent.clear()
        self._supervisor.run = run.id
        self._translator = Translator(self.record.log, self.agent, run.id)
        state = await self.graph.state()
        ask = next(
            ask for ask in self.record.asks("queued", "started", "ended") if ask.id == run.id
        )
        self.record.move_ask(run.id, "started")
        if not resuming and (state.next or unanswered(state.values) or was_cut_at_input(state)):
            self._close_questions()
            await self.graph.close_off(LEFT)
            state = await self.graph.state()
        if not resuming:
            self.record.note({BEFORE: checkpoint_of(state)})
        self._translator.know(state)
        self.can_resume = False
        self.tell("run_started", text=run.question, resumed=resuming)
        if not resuming or was_cut_at_input(state) or self.is_untouched(state):
            if not self._is_told(run.id):
                self._translator.hold("message", id=run.id, role="user", text=run.question)
            return _Move(_input(ask))
        return self._steering(state) or _Move(None)

    def _is_told(self, message: str) -> bool:
        events = self.record.log.since(0)
        return any(e.kind == "message" and e.data.get("id") == message for e in events)

    def is_untouched(self, state: StateSnapshot) -> bool:
        """Whether the graph has not even taken the input of the last run."""
        return self.record.about.get(BEFORE) == checkpoint_of(state)

    async def _pump(self, move: _Move) -> bool:
        """Take the stream to its end; True if it was drained before the graph's."""
        self._control = RunControl()
        try:
            async for namespace, mode, chunk in self.graph.stream(
                move.given, self._control, one_step=move.one_step
            ):
                self._translator.feed(namespace, mode, chunk)
                if mode == "checkpoints":
                    self._supervisor.step = self._translator.step
                    self._supervisor.checkpoint = self._translator.checkpoint
                elif mode == "updates":
                    for interrupt, scope in self._translator.take_questions():
                        self._open(interrupt, scope)
                elif mode == "tasks":
                    self._between_steps(namespace, chunk, steerable=not move.one_step)
        except GraphDrained:
            self._translator.finish()
            return True
        except BaseException:
            self._translator.break_off()
            raise
        self._translator.finish()
        return False

    def _between_steps(self, namespace: Namespace, task: Any, *, steerable: bool) -> None:
        if not namespace and "input" in task:
            self.record.drop_results()  # the checkpoint has them: else the step had not begun
        if steerable and self._steers():
            self.nudge()

    async def _interruptible(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for `work`, or for a stop; work that does not let itself be cancelled is left."""
        task = asyncio.get_running_loop().create_task(work)
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task.add_done_callback(lambda _: _settle(over))
        self._task, self._step = task, over
        if self._stopping:
            task.cancel()
        await over
        self._task = self._step = None
        if self._stopping:
            if not task.done():
                self.tell("warning", text="Something did not stop, and may go on for a while.")
            elif not task.cancelled():
                task.exception()  # retrieved; it does not matter any more
            raise _StoppedError
        return task.result()

    # Questions

    def reconcile(self, state: StateSnapshot) -> None:
        """Have open what the graph waits for, and nothing else."""
        for interrupt in state.interrupts:
            self._open(interrupt, Scope(self.agent))
        if not state.next and not was_cut_at_input(state):
            self._close_questions()  # else they will come up again, under their ids

    async def _answers(self, state: StateSnapshot) -> _Move | None:
        """Open what is asked, let the policy answer, and give the answers that are new."""
        self.reconcile(state)
        for question in list(self.questions.values()):
            await self._let_policy_answer(question)
        pending = {interrupt.id for interrupt in state.interrupts}
        new = {
            identity: unpacked(answer)
            for identity, answer in self.record.answers().items()
            if identity in pending and identity not in self._sent
        }
        # Sent twice, an answer would be taken for the next question of the same task.
        self._sent |= new.keys()
        return _Move(Command(resume=new)) if new else None

    async def _let_policy_answer(self, question: Question) -> None:
        try:
            answer = await self._interruptible(self._policy.answer(question))
            if answer is not None:
                self.accept(question.id, answer, "policy")
        except AnswerError as error:
            self.tell("error", type=type(error).__name__, text=str(error))
        except _StoppedError:
            raise
        except Exception as error:  # noqa: BLE001  # somebody else's function
            text = f"respond= raised {described(error)} The question is still open."
            self.tell("error", type=type(error).__name__, text=text)

    def _open(self, interrupt: Interrupt, scope: Scope) -> None:
        known = self.questions.keys() | self.closed.keys() | self._sent
        withdrawn = self._passed_over and interrupt.id in self._withdrawn
        if interrupt.id in known or withdrawn:
            return
        question = Question(interrupt.id, interrupt.value, scope.agent, scope.parent, scope.call)
        self.questions[interrupt.id] = question
        self._translator.say_as(
            scope, "interrupt_opened", data={"id": question.id, "request": question.request}
        )

    def _close(self, question: Question, answer: Any, by: str, exactly: bytes = b"") -> None:
        self.questions.pop(question.id, None)
        if by == "stop":
            self._withdrawn.add(question.id)
        else:
            self.closed[question.id] = Closed(question, answer, exactly)
        # Not through the translator: this may be anybody's thread.
        self.record.log.append(
            "interrupt_closed",
            run=self._supervisor.run,
            agent=question.agent,
            parent=question.parent,
            call=question.call,
            step=self._supervisor.step,
            checkpoint=self._supervisor.checkpoint,
            data={"id": question.id, "answer": answer, "by": by},
        )

    def _close_questions(self) -> None:
        for question in list(self.questions.values()):
            self._close(question, None, "stop")

    def _wait(self, run: Run) -> None:
        self._waits = True
        run.move("waiting", "; ".join(map(str, self.questions.values())) or "an answer")

    def _reopen_refused(self, state: StateSnapshot) -> None:
        """Ask again what LangGraph has not taken an answer for."""
        for interrupt in state.interrupts:
            if interrupt.id in self._sent:
                self._sent.discard(interrupt.id)
                self.record.drop_answer(interrupt.id)
                question = self.closed.pop(interrupt.id).question
                self._open(interrupt, Scope(question.agent, question.parent, question.call))

    # Steering

    def _steers(self) -> list[Ask]:
        return [ask for ask in self.record.asks("queued") if ask.steer]

    def _steering(self, state: StateSnapshot) -> _Move | None:
        """Let the graph hear what was said meanwhile, if it is at a place for that."""
        steers = self._steers()
        if not steers or unanswered(state.values) or self._translator.is_nested:
            return None
        values: dict[str, Any] = {}
        for ask in steers:
            values.update(unpacked(ask.input))
            self.record.move_ask(ask.id, "started")
            self._steered.add(ask.id)
            self._translator.hold("message", id=ask.id, role="user", text=ask.text)
        values["messages"] = [said(ask.text, ask.id) for ask in steers]
        # At rest it is the next input; else it is added to the state, and the graph goes on.
        return _Move(Command(update=values) if state.next else values)

    def _unheard(self, state: StateSnapshot) -> _Move | None:
        """Say again, once, what came so late that the graph has ended without looking at it."""
        if state.next:
            return None
        last = messages_of(state.values)[-1:]
        unheard = [message for message in last if message.id in self._steered]
        self._steered.clear()
        return _Move({"messages": unheard}) if unheard else None

    def _delivered(self, state: StateSnapshot) -> None:
        """Let go of what the checkpoint has by now."""
        for ask in self.record.asks("started"):
            if ask.steer:
                self.record.move_ask(ask.id, "ended")
        pending = {interrupt.id for interrupt in state.interrupts}
        for identity in self.record.answers().keys() - pending:
            self.record.drop_answer(identity)

    # Endings

    async def _end_stopped(self, run: Run) -> None:
        self._stopping = self._waits = False
        self._close_questions()
        try:
            added = await self.graph.close_off(STOPPED, self._unsaved())
            self._translator.cut_off(added)
        except Exception as error:  # noqa: BLE001  # the run is over whatever happens here
            self.can_resume = True
            self.tell("warning", text=f"The thread was not brought to rest. {described(error)}")
        self.finish(run, "stopped", "by the person")

    def _unsaved(self) -> Unsaved:
        """Give what the stream has told and the state may not have."""
        outputs = {}
        for call, output in self._translator.outputs.items():
            update = output.update if isinstance(output, Command) else {"messages": [output]}
            outputs[call] = list(update.items()) if isinstance(update, dict) else []
        partial = {i: "".join(parts) for i, parts in self._translator.partial.items()}
        return Unsaved(outputs, [AIMessage(text, id=i) for i, text in partial.items() if text])

    async def _end_failed(self, run: Run, error: Exception) -> None:
        if refused := refusal(error):
            self.tell("error", type=type(refused).__name__, text=str(refused))
            self._reopen_refused(await self.graph.state())
            self._wait(run)
            return
        self.can_resume = True
        text = described(error)
        self.tell("error", type=type(error).__name__, text=text)
        self.finish(run, "failed", text)

    def finish(self, run: Run, status: Status, text: str = "") -> None:
        """End a run."""
        seconds = time.monotonic() - self._began
        self._translator.end_subagents("stopped" if status == "stopped" else "error")
        self.tell("run_ended", status=status, text=text, seconds=seconds)
        try:
            self.record.move_ask(run.id, "ended")
            if not self.can_resume:
                self.record.settle()
            if status != "done":
                self.drop_queue(NOT_STARTED)
        except ThreadError as error:  # a full disk must not leave somebody waiting
            status, text = "failed", str(error)
        finally:
            self.current = None
            run.move(status, text)

    def drop_queue(self, reason: str) -> None:
        """End what is queued and was not started."""
        for ask in self.record.asks("queued"):
            if ask.steer and self.can_resume:
                continue  # it will be heard then
            self.record.move_ask(ask.id, "ended")
            if not ask.steer:
                text = f"not started: {reason}"
                data = {"status": "stopped", "text": text, "seconds": 0.0}
                self.record.log.append("run_ended", run=ask.id, data=data)
                self.runs[ask.id].move("stopped", text)

    def tell(self, kind: Kind, **data: Any) -> Event:
        """Append an event of the root agent."""
        return self._translator.say(kind, data=data)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _input(ask: Ask) -> Any:
    return {"messages": [said(ask.text, ask.id)]} if ask.input is None else unpacked(ask.input)
