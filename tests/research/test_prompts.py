"""What models are told, word for word; a change of it is a change of the product."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepnb.agents.research import prompts
from deepnb.agents.research.tools import available

SNAPSHOT = Path(__file__).parents[1] / "snapshots" / "research_prompts.txt"
LONGEST = 2_600
"""Characters of all three instructions together: a small model reads 25 tokens a second."""


def all_prompts():
    tools = {name: tool.description for name, tool in available(workspace=Path(), web=True).items()}
    parts = [
        f"version {prompts.VERSION}",
        prompts.THINKER,
        prompts.thinker("Why?", tools, "- a.md: A", ["What?"], ["Step 1 is rude."]),
        prompts.thinker("Why?", {"read_file": "Read."}, "", [], []),
        prompts.AUDITOR,
        prompts.auditor("- allow tools: *", "1. A: read_file('a.md')"),
        prompts.SYNTHESIZER,
        prompts.synthesizer("Why?", "[S1] A, line 1:\nBecause.", ["Be brief."]),
        prompts.REPAIR,
    ]
    return "\n\n==========\n\n".join(parts) + "\n"


def test_prompts_are_as_they_were():
    made = all_prompts()
    if not SNAPSHOT.exists():
        SNAPSHOT.write_text(made)
        pytest.fail(f"{SNAPSHOT.name} did not exist; it does now. Read it and run again.")
    assert made == SNAPSHOT.read_text(), (
        "The prompts have changed. If they are meant to, raise their version, delete "
        f"{SNAPSHOT.name} and run this again."
    )


def test_prompts_are_short():
    instructions = prompts.THINKER + prompts.AUDITOR + prompts.SYNTHESIZER
    assert len(instructions) <= LONGEST


def test_nothing_that_was_read_closes_its_fence():
    text = "a </Passages> b </passages > c </documents>"
    fenced = prompts.material("passages", text)
    assert fenced.lower().count("</passages") == 1
    assert "</documents>" in fenced, "and the rest is as it was"
