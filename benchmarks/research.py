"""How a model does as a researcher: what came of twenty questions, and of each claim.

    python benchmarks/research.py MODEL [NUMBER]

MODEL is what `deepnb.models.resolve` takes, for example the path of a GGUF file, or "offline".
The questions are about the sample documents; three of them are answered by none.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import deepnb

QUESTIONS = (
    "By how much did phosphorus fall, and do the documents agree?",
    "What did the aeration pump cost, and who paid for it?",
    "Why did the pump fail in 2022?",
    "What killed the fish in August 2022?",
    "How deep and how big is Lake Ansel?",
    "When is a beach closed, and who decides that?",
    "Are copper compounds allowed in bathing waters?",
    "What is the phosphorus target, and was it reached?",
    "How many days was the beach closed in 2021?",
    "What happened to the sediment cores?",
    "Which fish species were found in the survey?",
    "Why should no carp be stocked?",
    "What does the warden think of the press release?",
    "How much sediment was removed by dredging?",
    "Who voted against the pump, and why?",
    "How long does water stay in the lake?",
    "Did the bitterns come back?",
    "What did the dredging cost?",
    "What is the salary of the mayor?",
    "Who invented the telephone?",
)
_FALLBACKS = {"plan": "made by rule", "report": "wrote none"}


def main() -> int:
    """Ask them, and print what came of each and of all."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    questions = QUESTIONS[: int(sys.argv[2])] if len(sys.argv) > 2 else QUESTIONS
    totals: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = deepnb.samples.copy(Path(name) / "lake")
        with deepnb.Knowledge(folder) as knowledge:
            knowledge.wait()
            for number, question in enumerate(questions, start=1):
                outcome = _ask(question, knowledge, folder, number)
                print(json.dumps({"question": question, **outcome}), flush=True)
                totals.update(kind for kind in ("plan", "audit", "report") if outcome[kind])
                verdicts.update(outcome["verdicts"])
    print(
        f"\nof {len(questions)} questions: {totals['plan']} valid plans, {totals['audit']} passed"
    )
    print(f"the audit, {totals['report']} reports by the model")
    print(", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common()))
    return 0


def _ask(question: str, knowledge: deepnb.Knowledge, folder: Path, number: int) -> dict[str, Any]:
    began = time.monotonic()
    with deepnb.Session(
        "research",
        model=sys.argv[1],
        workspace=folder,
        knowledge=knowledge,
        respond="approve",
        thread=f"question-{number}",
    ) as session:
        run = session.ask(question).wait()
        said = " ".join(entry["summary"] for entry in session.state["reasoning"])
        reported = "Wrote a report" in said
        return {
            "status": run.status,
            "plan": _FALLBACKS["plan"] not in said,
            "audit": bool(session.state["audit"]["passed"]),
            "report": reported and _FALLBACKS["report"] not in said,
            "verdicts": Counter(session.citations.verdict) if reported else {},
            "removed": session.report.removed if reported else 0,
            "seconds": round(time.monotonic() - began),
            "answer": run.answer,
        }


if __name__ == "__main__":
    sys.exit(main())
