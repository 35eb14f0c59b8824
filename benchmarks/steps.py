"""What a step of a long run costs, and what its checkpoints grow to.

The same scripted loop through deepnb's deep agent, deepagents' and langchain's plain agent, in
turn, in one process. A step is a model call and the tool call that follows it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepagents import create_deep_agent as create_deepagents_agent
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

import deepnb
from deepnb.testing import ScriptedModel, call

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 200
ROUNDS = 5
CPU_LIMIT = 0.6
GROWTH_LIMIT = 2.2
FILES_LIMIT_MB = 10.0


def noop() -> str:
    """Do nothing."""
    return "ok"


def loop(steps: int) -> ScriptedModel:
    """Make a model that calls the tool so often, and then is done."""
    return ScriptedModel([*[call("noop")] * steps, "done"])


def run(agent: Any, **state: Any) -> None:
    """Run the agent to its end."""
    config = {"configurable": {"thread_id": "bench"}, "recursion_limit": 10_000}
    agent.invoke({"messages": [("user", "go")], **state}, config)


def deepnb_agent(steps: int, saver: Any, budget: deepnb.Budget | None = None) -> Any:
    """Build the whole stack, over a folder on disk and with approvals."""
    files = deepnb.files.mounts(workspace=tempfile.gettempdir())
    return deepnb.create_deep_agent(
        loop(steps), [noop], backend=files, budget=budget, checkpointer=saver
    )


def deepnb_agent_with_budget(steps: int, saver: Any) -> Any:
    """Build it with a budget as well, which neither of the others has."""
    return deepnb_agent(steps, saver, deepnb.Budget(calls=10 * steps))


def deepagents_agent(steps: int, saver: Any) -> Any:
    """Build deepagents' own agent, as it comes."""
    return create_deepagents_agent(loop(steps), [noop], checkpointer=saver)


def plain_agent(steps: int, saver: Any) -> Any:
    """Build langchain's agent, as it comes."""
    return create_agent(loop(steps), [noop], checkpointer=saver)


def cpu_per_step(build: Callable[[int, Any], Any]) -> float:
    """Give the CPU milliseconds of one step."""
    agent = build(STEPS, InMemorySaver())
    start = time.process_time()
    run(agent)
    return (time.process_time() - start) / STEPS * 1000


def checkpoint_bytes(steps: int, **state: Any) -> int:
    """Give the size of the SQLite file that deepnb's checkpoints make."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoints.sqlite"
        with SqliteSaver.from_conn_string(str(path)) as saver:
            run(deepnb_agent(steps, saver), **state)
            saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return path.stat().st_size


def main() -> int:
    """Print the ratios; fail above a limit."""
    builds = {
        "deepnb": deepnb_agent,
        "with a budget": deepnb_agent_with_budget,
        "deepagents": deepagents_agent,
        "create_agent": plain_agent,
    }
    times: dict[str, list[float]] = {name: [] for name in builds}
    for _ in range(ROUNDS):
        for name, build in builds.items():
            times[name].append(cpu_per_step(build))
    ms = {name: statistics.median(values) for name, values in times.items()}
    ratio = ms["deepnb"] / ms["deepagents"]
    shown = ", ".join(f"{name} {value:.1f} ms" for name, value in ms.items())
    print(
        f"CPU per step, {STEPS} steps: {shown}, ratio to deepagents {ratio:.2f} (limit {CPU_LIMIT})"
    )
    short, long = checkpoint_bytes(STEPS), checkpoint_bytes(2 * STEPS)
    growth = long / short
    print(
        f"checkpoints: {STEPS} steps {short / 1e6:.2f} MB, {2 * STEPS} steps {long / 1e6:.2f} MB, "
        f"ratio {growth:.2f} (limit {GROWTH_LIMIT})"
    )
    files = {
        f"/scratch/{number}.txt": {"content": "x" * 20_000, "encoding": "utf-8"}
        for number in range(200)
    }
    size = checkpoint_bytes(100, files=files) / 1e6
    print(f"checkpoints: 200 files of 20 KB, 100 steps {size:.1f} MB (limit {FILES_LIMIT_MB})")
    return int(ratio > CPU_LIMIT or growth > GROWTH_LIMIT or size > FILES_LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
