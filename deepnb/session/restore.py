"""What a thread says when it is opened again, after whatever ended it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage

from deepnb.session.graph import was_cut_at_input
from deepnb.session.questions import Closed, Question
from deepnb.session.stream import messages_of

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from deepnb.events import Event
    from deepnb.session.engine import Engine

CUT_OFF = "its kernel ended; session.resume() goes on"
BRANCHED = "the branch begins here; session.resume() goes on as before, session.ask() otherwise"


async def restore(engine: Engine, cut_off: str = CUT_OFF) -> None:
    """Bring an engine to where its thread stands.

    The checkpoints and the log are two files, and a process can die between writing the one and
    the other. The checkpoints are what the graph goes on from, so the log is made to agree.
    """
    events = engine.record.log.since(0)
    state = await engine.graph.state()
    _restore_runs(engine, events)
    _restore_questions(engine, events, state)
    _catch_up(engine, events, state)
    _settle_last_run(engine, state, cut_off)


def _restore_runs(engine: Engine, events: list[Event]) -> None:
    for event in events:
        data = event.data
        is_queued = event.kind == "queued" and not data.get("steer")
        if event.run not in engine.runs and (is_queued or event.kind == "run_started"):
            engine.new_run(event.run, str(data.get("text")))
        elif event.kind == "run_ended" and event.run in engine.runs:
            engine.runs[event.run].move(data["status"], data.get("text", ""))
    # What a branch has seen queued, and its past has not seen started, is not for the branch.
    for run in [run for run in engine.runs.values() if run.status == "queued"]:
        if all(ask.id != run.id for ask in engine.record.asks("queued", "started")):
            del engine.runs[run.id]
    # Asked in the moment before the kernel ended, and not even in the log.
    for ask in engine.record.asks("queued", "started"):
        if not ask.steer and ask.id not in engine.runs:
            engine.new_run(ask.id, ask.text)


def _restore_questions(engine: Engine, events: list[Event], state: StateSnapshot) -> None:
    for event in events:
        identity = event.data.get("id", "")
        if event.kind == "interrupt_opened":
            engine.questions[identity] = Question(identity, event.data["request"], *event[4:7])
        elif event.kind == "interrupt_closed" and identity in engine.questions:
            question = engine.questions.pop(identity)
            if event.data["by"] != "stop":
                engine.closed[identity] = Closed(question, event.data["answer"])
    engine.reconcile(state)


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
    told: Any = next((e.data["todos"] for e in reversed(events) if _is_own_plan(e)), None)
    if todos and todos != told:
        engine.tell("todos", todos=todos, by=engine.agent)


def _is_own_plan(event: Event) -> bool:
    return event.kind == "todos" and not event.parent


def _settle_last_run(engine: Engine, state: StateSnapshot, cut_off: str) -> None:
    unfinished = [ask for ask in engine.record.asks("started") if not ask.steer]
    rests = not state.next and not was_cut_at_input(state) and not state.interrupts
    if not unfinished:
        engine.can_resume = bool(engine.runs) and not rests
    else:
        run = engine.runs[unfinished[-1].id]
        if engine.questions:
            engine.wait_again(run)
            return
        engine.can_resume = not rests or engine.is_untouched(state)
        if engine.can_resume:
            engine.finish(run, "stopped", cut_off)
        else:
            engine.finish(run, "done")
    engine.drop_queue("the kernel ended")
