"""A kernel that dies while it pays for a model call; test_paying.py starts it."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import BaseMessage

import deepnb
from deepnb.payments import Till
from deepnb.testing import ScriptedModel
from tests.sessions import subagent, task


def work(workspace: Path, cashu: deepnb.Cashu, token: str, dies_at: str, call: int) -> None:
    """Pay in, ask, and die when it has paid for a call, or makes it; the second is a subagent's."""
    moments: Counter[str] = Counter()
    charge = Till.charge

    def reach(moment: str) -> None:
        moments[moment] += 1
        if moment == dies_at and moments[moment] == call:
            os.kill(os.getpid(), signal.SIGKILL)

    def charging(till: Till, account: str, key: str) -> int:
        left = charge(till, account, key)
        reach("charge")
        return left

    def answering(messages: Sequence[BaseMessage]) -> object:
        reach("answer")
        return task("one")

    Till.charge = charging
    session = deepnb.Session(
        "deep",
        model=ScriptedModel(answering),
        subagents=[subagent("one", answering)],
        workspace=workspace,
        payment=cashu,
    )
    session.fund(token)
    session.ask("go").wait()
