"""Kernels that can end while a run is under way: what a session holds, without the session."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import deepnb
from deepnb.middleware.supervision import IN_RUN as SUPERVISOR
from deepnb.middleware.supervision import Supervisor
from deepnb.record.record import IN_RUN as RECORD
from deepnb.record.record import Record
from deepnb.testing import ScriptedModel

GO = {"messages": [("user", "go")]}


@dataclass
class Kernel:
    """A kernel; the files in `home` outlive it."""

    home: Path
    saver: AsyncSqliteSaver
    record: Record
    supervisor: Supervisor

    def agent(self, script, *tools, **options):
        self.model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
        options = {"workspace": self.home / "papers", "interrupt_on": {}, **options}
        return deepnb.agents.get(
            "deep", model=self.model, tools=tools, checkpointer=self.saver, **options
        )

    async def run(self, graph, given=GO):
        values = {"thread_id": "1", RECORD: self.record, SUPERVISOR: self.supervisor}
        return await graph.ainvoke(given, {"configurable": values}, durability="sync")

    @property
    def written(self):
        return [event for event in self.record.log.since(0) if event.kind == "file"]

    @property
    def heard(self):
        return [m for m in self.model.calls[-1].messages if m.type == "tool"]


@asynccontextmanager
async def kernel(home, **limits):
    (home / "papers").mkdir(exist_ok=True)
    record = Record(home / "record.sqlite")
    supervisor = Supervisor(record, **limits)
    supervisor.run = "run-1"
    try:
        async with AsyncSqliteSaver.from_conn_string(str(home / "checkpoints.sqlite")) as saver:
            yield Kernel(home, saver, record, supervisor)
    finally:
        record.close()
