"""A kernel that is killed while a plan waits for its approval."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import deepnb
from tests.sessions import PATIENCE

KERNEL = """
import sys, time, deepnb
knowledge = deepnb.Knowledge(sys.argv[1], embeddings=False)
session = deepnb.Session("research", model="offline", workspace=sys.argv[1], knowledge=knowledge)
session.ask("What did the aeration pump cost?").wait(30)
print(session.status, session.questions[0].id, flush=True)
time.sleep(600)
"""


def test_an_approval_waits_for_the_next_kernel(tmp_path):
    folder = deepnb.samples.copy(tmp_path / "lake")
    command = [sys.executable, "-c", textwrap.dedent(KERNEL), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as kernel:
        status, question = kernel.stdout.readline().split()
        kernel.kill()
    assert status == "waiting"
    with (
        deepnb.Knowledge(folder, embeddings=False) as knowledge,
        deepnb.Session(
            "research", model="offline", workspace=folder, knowledge=knowledge
        ) as session,
    ):
        [run] = session.runs
        assert session.status == "waiting"
        assert [each.id for each in session.questions] == [question]
        assert session.plan.status.tolist() == ["pending"] * len(session.plan)
        session.respond(question, {"approved": True})
        assert run.wait(PATIENCE).status == "done"
        assert "46,500" in run.report.text
