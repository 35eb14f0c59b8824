"""What drives a session's runs, on the loop's own thread.

One worker, and one place where it waits: a run goes on until its stream ends; then it is done, or
it has questions. Answers that come while it runs are kept until the stream has ended, since a
graph that is resumed earlier runs the siblings of a waiting task twice.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import Command

from deepnb import agents
from deepnb.errors import AnswerError, PaymentError, SessionError, ThreadError
from deepnb.interrupts import refusal
from deepnb.session.attendance import Attendance
from deepnb.session.desk import Desk
from deepnb.session.failures import described
from deepnb.session.graph import (
    Unsaved,
    checkpoint_of,
    is_at_rest,
    said,
    unanswered,
    was_cut_at_input,
)
from deepnb.session.packing import unpacked
from deepnb.session.paying import exchanged
from deepnb.session.run import Run
from deepnb.session.stoppable import Stoppable, StoppedError
from deepnb.session.stream import Translator, messages_of, told_plan

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from deepnb.events import Event, Kind
    from deepnb.middleware.supervision import Supervisor
    from deepnb.models.prices import Prices
    from deepnb.record import Ask, Record
    from deepnb.session.graph import ThreadGraph
    from deepnb.session.paying import Purse
    from deepnb.session.questions import Policy, Question
    from deepnb.session.run import Status
    from deepnb.session.stream import Namespace

STOPPED = "The person stopped the run; it may or may not have taken effect."
LEFT = "The run before this one ended early; it may or may not have taken effect."
BEFORE = "before"
"""Under this name the record knows which run was begun last, and where the thread stood before."""
TAKEN_BACK = "taken back by the person"
NOT_STARTED = "the run before it did not end well"


@dataclass(frozen=True)
class _Move:
    """What a graph is given next, and whether it is to take one step only."""

    given: Any
    one_step: bool = False


class Engine:
    """Runs what is asked, one after the other.

    `accept` may be called from any thread; all else belongs to the loop's.
    """

    def __init__(
        self,
        graph: ThreadGraph,
        record: Record,
        supervisor: Supervisor,
        policy: Policy,
        agent: str,
        *,
        prices: Prices,
        purse: Purse | None = None,
    ) -> None:
        self.graph = graph
        self.record = record
        self.agent = agent
        self.runs: dict[str, Run] = {}
        self.current: Run | None = None
        self.last: Run | None = None  # that was begun, whatever is queued behind it
        self.can_resume = False
        self.desk = Desk(record, supervisor)
        self.attendance = Attendance(self.desk)
        self._supervisor = supervisor
        self._policy = policy
        self._prices = prices
        self._purse = purse
        self._translator = Translator(record.log, agent, "", prices)
        self._lock = threading.RLock()  # of who waits, and who behind whom
        self._worker: asyncio.Task[None] | None = None
        self._stoppable = Stoppable()
        self._control = RunControl()
        self._waiting_for_end: list[asyncio.Future[None]] = []
        self._steered: set[str] = set()
        self._waits = False
        self._waits_in: StateSnapshot | None = None
        self._leaving = False
        self._unasked = False
        self._resuming = False
        self._began: float | None = None
        self._waits_since: float | None = None

    # What the session calls

    def wake(self) -> None:
        """Look for something to do."""
        if self._worker is None or self._worker.done():
            self._worker = asyncio.get_running_loop().create_task(self._work())
            self._worker.add_done_callback(self._check_worker)

    def _check_worker(self, worker: asyncio.Task[None]) -> None:
        """End a run that nothing drives any more: whoever waits for it would wait for ever."""
        error = asyncio.CancelledError() if worker.cancelled() else worker.exception()
        if error and self.current:
            self._waits, self.can_resume = False, True
            self._fail(self.current, error)
        elif error:
            for run in self._queued():
                self.end_unstarted(run, described(error))

    def nudge(self) -> None:
        """Deliver what is meant for the run under way, at its next step."""
        if self.current and self.current.status == "running" and not self._translator.is_nested:
            self._control.request_drain()
        self.wake()

    async def resume(self) -> Run:
        """Go on with a run that was cut off or has failed."""
        if self.current:
            waits = f" for {self.desk}: answer that" if self._waits else ""
            raise SessionError(
                f"There is nothing to resume: the run is {self.current.status}{waits}."
            )
        if not self.can_resume or self.last is None:
            raise SessionError("There is nothing to resume: ask something instead.")
        run = self.last
        self.current, self._resuming = run, True
        run.move("queued")
        self.wake()
        return run

    async def stop(self) -> None:
        """End the run, and whatever is queued behind it."""
        self.drop_queue()
        if self.current is None:
            return
        if self._waits and (self._worker is None or self._worker.done()):
            await self._end_stopped(self.current)
            return
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting_for_end.append(ended)
        self._stoppable.stop()
        await ended

    async def shut_down(self) -> None:
        """Leave the thread: a run is stopped, and a question stays open."""
        self._leaving = True
        if self._waits:
            self._stoppable.stop()
            if self._worker:
                await asyncio.wait({self._worker})
        if not self._waits:
            await self.stop()

    def stop_waiting(self, call: str) -> None:
        """Let a subagent that waits for a person be stopped, and the others go on."""
        self._supervisor.stop_waiting(self._translator.caller_of(call), call)
        self.desk.pass_over(call)
        self.wake()

    def exchanged(self, identity: str, answer: Any) -> Any:
        """Give an answer as it may be kept, see `paying.exchanged`; it may have to ask a mint."""
        closed = self.desk.closed.get(str(identity))
        question = closed.question if closed else self.desk.open.get(str(identity))
        if question is None:  # which is for the desk to say
            return answer
        return exchanged(answer, question, self._purse, is_open=closed is None)

    def accept(self, identity: str, answer: Any, by: str) -> None:
        """Take an answer, once; see `Desk.accept`."""
        new = self.desk.accept(identity, answer, by)
        with self._lock:
            if new and self.current and self.current.status == "waiting":
                self._end_waiting(self.current)  # whoever waits for it next must not pass

    def _end_waiting(self, run: Run) -> None:
        run.move("running")
        for queued in self._queued():
            queued.move("queued")  # behind a run that no longer waits

    @property
    def under_way(self) -> Run | None:
        """The run that is running or waiting, or about to be."""
        return self.current or next(iter(self._queued()), None)

    def new_run(self, identity: str, question: str) -> Run:
        """Make the run of an ask, and know it from now on."""

        def read() -> list[Event]:
            return [event for event in self.record.log.since(0) if event.run == identity]

        def extra(name: str) -> Any:
            found = agents.run_views(self.agent).get(name)
            if found is None:
                raise AttributeError(f"This run has no {name!r}.")
            return found(self.record.log.since(0), identity)

        with self._lock:
            run = self.runs[identity] = Run(
                identity, question, read, extra, is_served=self.attendance.is_served
            )
            if self.current and self.current.status == "waiting":
                run.move("queued", self._held_up())
        return run

    async def take_back(self, identity: str) -> None:
        """End a run that waits for its turn, and nothing else.

        Here on the loop's thread it has either begun or it will not: between finding a run and
        making it the current one, the worker awaits nothing.
        """
        run = self.runs.get(identity)
        if run is None:
            raise SessionError(f"There is no run {identity!r:.60}. session.runs has them.")
        if run is self.current or run.status != "queued":
            raise SessionError(f"It is too late to take that back: the run is {run.status}.")
        with suppress(ThreadError):  # it is dropped when the thread is opened next
            self.record.move_ask(identity, "ended")
        self._end_early(run, TAKEN_BACK, withdrawn=True)

    def end_unstarted(self, run: Run, reason: str = "") -> None:
        """End a run that was not begun; without a reason, it was stopped by the person."""
        self._end_early(run, f"before it began: {reason}" if reason else "before it began")

    def _end_early(self, run: Run, text: str, **more: bool) -> None:
        with self._lock:  # whoever lets the queue go on must not bring it back
            run.status, run.reason = "stopped", text
        data = {"status": "stopped", "text": text, "seconds": 0.0, **more}
        self.record.log.append("run_ended", run=run.id, data=data)
        run.move("stopped", text)

    def _held_up(self) -> str:
        return f"behind a run that waits for {self.desk}"

    def _queued(self) -> list[Run]:
        return [run for run in list(self.runs.values()) if run.status == "queued"]

    def take_up(self, run: Run, state: StateSnapshot | None = None) -> None:
        """Have what is told from now on belong to a run."""
        self.current = self.last = run
        self._supervisor.begin(run.id)
        self._translator = Translator(self.record.log, self.agent, run.id, self._prices)
        if state:
            self._translator.know(state)

    def wait_again(self, run: Run) -> None:
        """Go on waiting with a run that waited for a person when its kernel ended."""
        self._wait(run)
        if self._policy.is_given:  # another one, perhaps, than the session had that asked
            self._unasked = True
            run.move("running")
            self.wake()

    # The worker

    async def _work(self) -> None:
        while run := self._next():
            try:
                await self._advance(run)
            except StoppedError as stopped:
                if self._leaving and self._waits:
                    return
                if stopped.is_left:
                    self.tell("warning", text="Something did not stop, and may run on for a while.")
                await self._end_stopped(run)
            except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001  # a graph's
                await self._end_failed(run, error)
                if self.record.log.failure:
                    return  # what cannot be noted is not begun, or it would be so for ever

    def _next(self) -> Run | None:
        if run := self.current:
            unasked, self._unasked = self._unasked, False
            go_on = self._waits and (unasked or self.desk.is_answered)
            return run if self._resuming or go_on else None
        queued = [self.runs[ask.id] for ask in self.record.asks("queued") if not ask.steer]
        return next((run for run in queued if run.status == "queued"), None)

    async def _advance(self, run: Run) -> None:
        move = await (self._going_on(run) if self._waits else self._beginning(run))
        while move:
            paused = await self._stoppable.run(self._pump(move))
            move = await self._after_stream(run, paused=paused or move.one_step)

    async def _after_stream(self, run: Run, *, paused: bool) -> _Move | None:
        """Decide how a run goes on whose stream has ended; None if it does not, for now."""
        if self.record.log.failure:
            raise self.record.log.failure
        state = await self.graph.state()
        self._translator.catch_up(state.values)
        self._translator.finish()
        self._delivered(state)
        if state.interrupts:
            answers = await self._answers(state)
            if answers is None:
                self._wait(run, state)
            return answers
        at_breakpoint = self.graph.is_breakpoint(state, set(self._translator.last_tasks.values()))
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
            self._check_said_something(state)
            self.finish(run, "done")
        return None

    def _check_said_something(self, state: StateSnapshot) -> None:
        last = messages_of(state.values)[-1:]
        if any(isinstance(m, AIMessage) and not m.text.strip() and not m.tool_calls for m in last):
            text = 'The model has said nothing. Try session.ask("Go on."), or another model.'
            self.tell("warning", text=text)

    async def _going_on(self, run: Run) -> _Move | None:
        """Go on with a run that waits, if there is an answer."""
        # Nothing changes a thread that waits, and whoever has answered waits for what comes next.
        state = self._waits_in or await self.graph.state()
        answers = await self._answers(state)
        if not self.desk.has_news(state) and answers is None:
            self._wait(run, state)
            return None
        self._waits = False
        self._leave_out_waiting()
        with self._lock:
            self._end_waiting(run)
        return answers or _Move(None)

    async def _beginning(self, run: Run) -> _Move:
        """Begin, or resume."""
        resuming, self._resuming = self._resuming, False
        earlier = self.last
        # Nothing is awaited up to here: a stop is for this run from now on.
        self.take_up(run)
        self._began, self._waits_since = time.monotonic(), None
        self.desk.forget_sent()
        if not resuming:
            self._give_up_earlier()
        self.record.move_ask(run.id, "started")
        run.move("running")
        ask = next(ask for ask in self.record.asks("started") if ask.id == run.id)
        state = await self.graph.state()
        self._translator.know(state)
        if not resuming and (not is_at_rest(state) or unanswered(state.values)):
            self.desk.withdraw()
            lost = [earlier] if earlier and was_cut_at_input(state) else []
            asked: list[BaseMessage] = [said(each.question, each.id) for each in lost]
            await self.graph.close_off(LEFT, Unsaved(said=asked))
            state = await self.graph.state()
            self._translator.know(state)
        begins = not resuming or was_cut_at_input(state) or self.is_untouched(run, state)
        if begins:
            self.record.note({BEFORE: f"{run.id} {checkpoint_of(state)}"})
        self.can_resume = False
        self.tell("run_started", text=run.question, resumed=resuming)
        if not begins:
            return self._steering(state) or _Move(None)
        if not self._is_told(run.id):
            self._translator.hold("message", id=run.id, role="user", text=run.question)
        return _Move(_input(ask))

    def _give_up_earlier(self) -> None:
        for ask in self.record.asks("started"):
            self.record.move_ask(ask.id, "ended")

    def _is_told(self, message: str) -> bool:
        events = self.record.log.since(0)
        return any(e.kind == "message" and e.data.get("id") == message for e in events)

    def is_untouched(self, run: Run, state: StateSnapshot) -> bool:
        """Whether the graph has not even taken the input of the last run."""
        begun, _, checkpoint = self.record.about.get(BEFORE, "").partition(" ")
        if begun == run.id:
            return checkpoint == checkpoint_of(state)
        events = self.record.log.since(0)  # a branch has them, and not the note
        return all(event.kind != "run_started" or event.run != run.id for event in events)

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
                        self.desk.put(interrupt, scope)
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
            # The checkpoint is on disk, else no step would begin, and has what they have given.
            self.record.drop_calls(self._translator.last_tasks)
        if steerable and self._steers():
            self.nudge()

    # Questions

    async def _answers(self, state: StateSnapshot) -> _Move | None:
        """Open what is asked, let the policy answer, and give the answers that are new."""
        self.desk.reconcile(state, self.agent)
        for question in list(self.desk.open.values()):
            await self._let_policy_answer(question)
        answers = self.desk.to_send(state)
        return _Move(Command(resume=answers)) if answers else None

    async def _let_policy_answer(self, question: Question) -> None:
        try:
            answer = await self._stoppable.run(self._policys_answer(question))
            if answer is not None:
                self.accept(question.id, answer, "policy")
        except (AnswerError, PaymentError) as error:
            self.tell("error", type=type(error).__name__, text=str(error))
        except StoppedError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody else's function
            text = f"respond= raised {described(error)} The question is still open."
            self.tell("error", type=type(error).__name__, text=text)

    async def _policys_answer(self, question: Question) -> Any:
        answer = await self._policy.answer(question)
        if answer is None:
            return None
        return await asyncio.to_thread(self.exchanged, question.id, answer)

    def _wait(self, run: Run, state: StateSnapshot | None = None) -> None:
        self._waits, self._waits_in = True, state
        self._waits_since = self._waits_since or time.monotonic()
        if self._waiting_for_end:  # a stop has come in the moment before
            raise StoppedError(is_left=False)
        with self._lock:
            run.move("waiting", str(self.desk))
            for queued in self._queued():
                queued.move("queued", self._held_up())

    def _leave_out_waiting(self) -> None:
        """Have the time in which a person was waited for not counted as the run's."""
        if self._began is not None and self._waits_since is not None:
            self._began += time.monotonic() - self._waits_since
        self._waits_since = None

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
            given = unpacked(ask.input)
            values.update(given)
            if "todos" in given and given["todos"] != told_plan(self.record.log.since(0)):
                self._translator.hold("todos", todos=given["todos"], by="person")
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
        self.desk.forget_delivered(state)

    # Endings

    async def _end_stopped(self, run: Run) -> None:
        self._stoppable.reset()
        self._waits = False
        self.desk.withdraw()
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
        partial = self._translator.partial
        return Unsaved(outputs, [AIMessage(text, id=i) for i, text in partial.items() if text])

    async def _end_failed(self, run: Run, error: BaseException) -> None:
        if refused := refusal(error):
            self.tell("error", type=type(refused).__name__, text=str(refused))
            self.desk.put_again(await self.graph.state())
            self._wait(run)
            return
        self.can_resume = True
        self._fail(run, error)

    def _fail(self, run: Run, error: BaseException) -> None:
        text, kind = described(error), type(error).__name__
        self.tell("error", type=kind, text=text.removeprefix(f"{kind}: "))
        self.finish(run, "failed", text)

    def finish(self, run: Run, status: Status, text: str = "") -> None:
        """End a run; whoever is told of it finds the session as it will be."""
        self._leave_out_waiting()
        seconds = None if self._began is None else time.monotonic() - self._began
        self._translator.end_subagents("stopped" if status == "stopped" else "error")
        try:
            if status != "done":
                self.drop_queue(NOT_STARTED)
        except ThreadError as error:  # a full disk must not leave somebody waiting
            status, text = "failed", str(error)
        self.current = None
        run.status, run.reason = status, text
        told = self.tell("run_ended", status=status, text=text, seconds=seconds)
        self.tidy_up(run)
        run.move(status, told.data["text"])  # without the keys that a provider has repeated
        for ended in self._waiting_for_end:
            ended.set_result(None)
        self._waiting_for_end.clear()
        self._stoppable.reset()  # a stop that came while the run was ending is not for the next

    def tidy_up(self, run: Run) -> None:
        """Let go of what was kept for a run that has ended for good."""
        if not self.can_resume:
            with suppress(ThreadError):  # it will be tidied up when the thread is opened next
                self.record.move_ask(run.id, "ended")
                self.record.settle()

    def drop_queue(self, reason: str = "") -> None:
        """End what is queued and was not started."""
        for ask in self.record.asks("queued"):
            if ask.steer and (self.can_resume or ask.input):
                continue  # it will be heard then; a list that a person has edited is not lost
            with suppress(ThreadError):  # it is dropped when the thread is opened next
                self.record.move_ask(ask.id, "ended")
            if not ask.steer:
                self.end_unstarted(self.runs[ask.id], reason)

    def tell(self, kind: Kind, **data: Any) -> Event:
        """Append an event of the root agent."""
        return self._translator.say(kind, data=data)


def _input(ask: Ask) -> Any:
    return {"messages": [said(ask.text, ask.id)]} if ask.input is None else unpacked(ask.input)
