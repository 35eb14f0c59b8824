"""How often two sentences that are called a possible conflict really contradict each other.

    python benchmarks/conflicts.py                     pairs that were labelled by hand
    python benchmarks/conflicts.py ../scifact          also list what the rule finds in abstracts

The second form takes a folder with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`. For each of 200
claims it puts together the abstracts that keywords find for it, as a session would, and prints what
the rule finds between them, for a person to judge.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

from deepnb.citations.conflicts import compare, conflicts
from deepnb.citations.shapes import Passage, Source
from deepnb.citations.statements import Statement
from deepnb.keywords import terms

PAIRS = Path(__file__).parents[1] / "tests" / "citations" / "conflict_pairs.json"
GROUPS, ABSTRACTS, SEED = 200, 10, 7


def labelled() -> None:
    """Print precision and recall by set, and every pair that was judged wrongly.

    The rule was made with the first set at hand, and mended with the second and the third; the
    last was written afterwards.
    """
    every = json.loads(PAIRS.read_text("utf-8"))
    for name in dict.fromkeys(pair["set"] for pair in every):
        measure(name, [pair for pair in every if pair["set"] == name])


def measure(name: str, pairs: list[dict[str, Any]]) -> None:
    """Print precision and recall on one set of pairs."""
    right = found = 0
    for pair in pairs:
        one, other = Statement(pair["one"], ""), Statement(pair["other"], "")
        _, why = compare(one, other)
        found += why is not None
        right += why is not None and pair["conflict"]
        if (why is not None) != pair["conflict"]:
            print(f"  {'missed' if why is None else why}: {pair['one']} | {pair['other']}")
    real = sum(pair["conflict"] for pair in pairs)
    print(
        f"{name}, {len(pairs)} pairs: precision {right / found:.2f} ({right} of {found}), "
        f"recall {right / real:.2f} ({right} of {real})"
    )


def abstracts(folder: Path) -> None:
    """Print what is found between abstracts that a question brings together."""
    import bm25s  # type: ignore[import-untyped]  # it has no types

    lines = (folder / "corpus.jsonl").read_text("utf-8").splitlines()
    corpus = [json.loads(line) for line in lines]
    questions = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    asked = random.Random(SEED).sample([json.loads(line)["text"] for line in questions], GROUPS)
    index = bm25s.BM25()
    index.index([terms(f"{d['title']} {d['text']}") for d in corpus], show_progress=False)
    total, seconds = 0, 0.0
    for question in asked:
        best, _ = index.retrieve([terms(question)], k=ABSTRACTS, show_progress=False)
        sources = {f"S{n}": _source(f"S{n}", corpus[i]) for n, i in enumerate(best[0], 1)}
        start = time.perf_counter()
        found = conflicts(sources)
        seconds += time.perf_counter() - start
        total += len(found)
        for conflict in found:
            one, other = conflict["sides"]
            print(f"\n[{conflict['why']}] {', '.join(conflict['about'])}")
            print(f"  {one['text']}\n  {other['text']}")
    print(f"\n{GROUPS} groups of {ABSTRACTS} abstracts: {total} possible conflicts, ", end="")
    print(f"{1000 * seconds / GROUPS:.0f} ms a group")


def _source(key: str, document: dict[str, str]) -> Source:
    # Sentences of these abstracts are joined without a space.
    text = re.sub(r"(?<=[a-z)\]])\.(?=[A-Z])", ". ", document["text"])
    passages = [Passage(text=text, place="")]
    return Source(
        id=key,
        kind="file",
        title=document["title"],
        location=document["_id"],
        passages=passages,
        read=0.0,
    )


if __name__ == "__main__":
    labelled()
    if len(sys.argv) > 1:
        abstracts(Path(sys.argv[1]))
