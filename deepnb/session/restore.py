"""What a thread says when it is opened again, after whatever ended it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage

from deepnb.session.graph import is_at_rest
from deepnb.session.questions import Closed, Question
from deepnb.session.stream import messages_of, shown_plan, told_plan

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from deepnb.events import Event
    from deepnb.session.engine import Engine

CUT_OFF = "when its kernel ended; it can go on from there"
FORGOTTEN = (
    "The checkpoints of this thread are gone: the conversation is shown, but the agent does not "
    "remember it."
)
BRANCHED = "where the branch begins: go on as before, or ask something else"


async def restore(engine: Engine, cut_off: str = CUT_OFF) -> None:
    """Bring an engine to where its thread stands.

    The checkpoints and the log are two files, and a process can die between writing the one and
    the other. The checkpoints are what the graph goes on from, so the log is made to agree.
    """
    events = engine.record.log.since(0)
    state = await engine.graph.state()
    _restore_runs(engine, events)
    unfinished = [ask.id for ask in engine.record.asks("started") if not ask.steer]
    run = engine.runs[unfinished[-1]] if unfinished else None
    if run:
        engine.take_up(run, state)
    _restore_questions(engine, events, state)
    _catch_up(engine, events, state)
    if state.created_at is None and any(each.status == "done" for each in engine.runs.values()):
        engine.tell("warning", text=FORGOTTEN)
    has_ended = run is not None and run.status in ("stopped", "failed", "done")
    if run and engine.desk.open and not has_ended:
        engine.wait_again(run)
        return
    never_begun = run is not None and engine.is_untouched(run, state)
    engine.can_resume = bool(engine.runs) and (never_begun or not is_at_rest(state))
    if run and has_ended:
        engine.current = None
        engine.tidy_up(run)
    elif run and engine.can_resume:
        engine.finish(run, "stopped", cut_off)
    elif run:
        engine.finish(run, "done")
    engine.drop_queue("the kernel ended")


def _restore_runs(engine: Engine, events: list[Event]) -> None:
    for event in events:
        data = event.data
        is_queued = event.kind == "queued" and not data.get("steer")
        if event.run not in engine.runs and (is_queued or event.kind == "run_started"):
            engine.new_run(event.run, str(data.get("text")))
        if event.kind == "run_started":
            engine.last = engine.runs[event.run]
            engine.last.move("queued")  # it may have been resumed
        elif event.kind == "run_ended" and event.run in engine.runs:
            engine.runs[event.run].move(data["status"], data.get("text", ""))
    asked = [ask for ask in engine.record.asks("queued", "started") if not ask.steer]
    told = {event.run for event in events if event.kind in ("run_started", "run_ended")}
    known = told | {ask.id for ask in asked}
    # Asked in the moment before the kernel ended: in the log and not kept, or the other way round.
    for run in [run for identity, run in engine.runs.items() if identity not in known]:
        engine.end_unstarted(run, "the kernel ended")
    for ask in asked:
        if ask.id not in engine.runs:
            engine.new_run(ask.id, ask.text)
            data = {"text": ask.text, "steer": False}
            engine.record.log.append("queued", run=ask.id, data=data)


def _restore_questions(engine: Engine, events: list[Event], state: StateSnapshot) -> None:
    for event in events:
        identity = event.data.get("id", "")
        if event.kind == "interrupt_opened":
            engine.desk.open[identity] = Question(identity, event.data["request"], *event[4:7])
        elif event.kind == "interrupt_closed" and identity in engine.desk.open:
            question = engine.desk.open.pop(identity)
            if event.data["by"] != "stop":
                engine.desk.closed[identity] = Closed(question, event.data["answer"])
    engine.desk.reconcile(state, engine.agent)
    engine.desk.close_answered()


def _catch_up(engine: Engine, events: list[Event], state: StateSnapshot) -> None:
    """Tell what the graph had saved and the log had not."""
    logged = {e.data["id"] for e in events if e.kind == "message" and not e.parent}
    missing: list[AIMessage | HumanMessage] = []
    for message in reversed(messages_of(state.values)):
        if message.id in logged:
            break
        if isinstance(message, AIMessage | HumanMessage) and message.text:
            missing.append(message)
    for message in reversed(missing):
        role = "assistant" if isinstance(message, AIMessage) else "user"
        engine.tell("message", id=message.id, role=role, text=str(message.text))
    todos = state.values.get("todos") if isinstance(state.values, dict) else None
    if todos and shown_plan(todos) != told_plan(events):
        engine.tell("todos", todos=shown_plan(todos), by=engine.agent)
