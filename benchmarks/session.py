"""What a session costs on top of the graph it runs.

Tokens are measured against the bare graph's `astream` on the same model, in turn, in one process;
the rest has limits of its own, since no peer offers it.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import deepnb
from deepnb.frames import Frames
from deepnb.record import Record
from deepnb.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.events import Event

TOKENS = 5_000
ROUNDS = 7
TOKENS_LIMIT = 1.3
TRACE_LIMIT = 1.0
NEXT_TRACE_LIMIT = 0.05
OPEN_LIMIT = 1.0
FIRST_EVENT_LIMIT = 0.05
GROWTH_LIMIT = 2.2


def talker() -> Any:
    """Build a plain agent whose model says 5,000 words."""
    return create_agent(ScriptedModel(lambda _: "word " * TOKENS))


async def bare(folder: Path) -> None:
    """Stream the tokens of the bare graph, with checkpoints on disk as a session has them."""
    async with AsyncSqliteSaver.from_conn_string(str(folder / "bare.sqlite")) as saver:
        graph = talker().copy({"checkpointer": saver})
        config = {"configurable": {"thread_id": "bench"}}
        question = {"messages": [("user", "talk")]}
        async for _ in graph.astream(question, config, stream_mode="messages"):
            pass


def in_session(folder: Path) -> None:
    """Stream the same tokens through a session."""
    with deepnb.Session(talker(), workspace=folder) as session:
        assert session.ask("talk").wait().status == "done"


def cpu(work: Callable[[], object]) -> float:
    """Measure the CPU seconds of a piece of work, over all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def tokens() -> tuple[float, float]:
    """Give the median CPU of the bare graph and of the session."""
    pairs = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            pairs.append(
                (cpu(lambda: asyncio.run(bare(folder))), cpu(lambda: in_session(folder)))  # noqa: B023  # called at once
            )
    return statistics.median(one for one, _ in pairs), statistics.median(two for _, two in pairs)


def happen(record: Record, number: int) -> None:
    """Let so many things happen, of the kinds that happen most."""
    for index in range(0, number, 4):
        place: dict[str, Any] = {"run": "r", "agent": "deep", "step": index}
        call = f"call_{index}"
        args = {"file_path": f"/workspace/{index}.md"}
        usage = {"id": call, "model": "m", "tokens_in": 900, "tokens_out": 80, "cost": 0.01}
        result = {"id": call, "status": "ok", "text": "1\tline", "seconds": 0.2}
        log = record.log
        log.append("usage", **place, node="model", name="m", data=usage)
        log.append("tool_call", **place, node="tools", name="read_file", data={"args": args})
        log.append("tool_result", **place, node="tools", name="read_file", data=result)
        log.append("node", **place, node="tools", name="tools", data={"seconds": 0.3})


def seconds(work: Callable[[], object]) -> float:
    """Measure the seconds that a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def trace() -> tuple[float, float]:
    """Time the first trace of 100,000 events, and one after another event."""
    record = Record(None)
    happen(record, 100_000)
    frames = Frames(record.log.since)
    first = seconds(frames.trace)
    again = []
    for _ in range(ROUNDS):
        happen(record, 1)
        again.append(seconds(frames.trace))
    return first, statistics.median(again)


def opening(folder: Path) -> float:
    """Time the opening of a thread with 10,000 events."""
    with deepnb.Session(talker(), workspace=folder) as session:
        session.ask("talk").wait()
        happen(session._record, 10_000)  # noqa: SLF001  # no run makes so many in a bench's time
    return seconds(lambda: deepnb.Session(talker(), workspace=folder).close())


def first_event(folder: Path) -> float:
    """Time from an ask to its first event, at the median."""
    times = []
    with deepnb.Session(greeter(), workspace=folder, thread="first") as session:
        for _ in range(ROUNDS):
            seen: list[float] = []

            def note(event: Event, seen: list[float] = seen) -> None:
                if event.kind == "run_started":  # not that it was queued, which is told in `ask`
                    seen.append(time.perf_counter())

            end = session.subscribe(note)
            start = time.perf_counter()
            session.ask("hello").wait()
            end()
            times.append(seen[0] - start)
    return statistics.median(times)


def greeter() -> Any:
    """Build an agent that says one word."""
    return create_agent(ScriptedModel(lambda _: "hello"))


def memory(number: int) -> int:
    """Measure what so many events and their trace take."""
    tracemalloc.start()
    record = Record(None)
    happen(record, number)
    frames = Frames(record.log.since)
    frames.trace()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used


def main() -> int:
    """Print every number with its limit; 1 if one is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens()  # warm
        plain, session = tokens()
        first, again = trace()
        rows = [
            (f"CPU of {TOKENS:,} tokens, to the bare graph's", session / plain, TOKENS_LIMIT, "x"),
            ("first trace of 100,000 events", first, TRACE_LIMIT, "s"),
            ("trace after one more", again, NEXT_TRACE_LIMIT, "s"),
            ("opening a thread of 10,000 events", opening(folder), OPEN_LIMIT, "s"),
            ("from ask to its first event", first_event(folder), FIRST_EVENT_LIMIT, "s"),
            (
                "memory of 100,000 events, to 50,000",
                memory(100_000) / memory(50_000),
                GROWTH_LIMIT,
                "x",
            ),
        ]
    print(f"5,000 tokens: session {session * 1000:.0f} ms, bare graph {plain * 1000:.0f} ms of CPU")
    for what, value, limit, unit in rows:
        print(f"{what}: {value:.3f} {unit} (limit {limit} {unit})")
    return int(any(value > limit for _, value, limit, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
