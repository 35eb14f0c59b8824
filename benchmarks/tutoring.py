"""How often the rules of a seminar are right on examples that were labelled by hand.

python benchmarks/tutoring.py              precision and recall of each rule
python benchmarks/tutoring.py one_question     also what it judges wrongly, of the tuned half
"""

from __future__ import annotations

import sys

from tests.tutoring.labelled import FOUND, judged, scores


def table() -> None:
    """Print a row for each rule: of the examples it was tuned on, and of those held out."""
    print("| rule | examples | precision | recall | held out: examples | precision | recall |")
    print("|---|---|---|---|---|---|---|")
    for name in FOUND:
        tuned, held = scores(name, held_out=False), scores(name, held_out=True)
        for rule in tuned:
            cells = [
                f"{s.examples} | {s.precision:.2f} ({s.right} of {s.found}) | {s.recall:.2f}"
                for s in (tuned[rule], held[rule])
            ]
            print(f"| {rule} | {' | '.join(cells)} |")


def mistakes(name: str) -> None:
    """Print what a rule misses and what it finds wrongly; those held out stay unseen."""
    for example, real, found in judged(name):
        if real != found and not example["held_out"]:
            print(f"  should be {sorted(real)}, is {sorted(found)}: {example}")


if __name__ == "__main__":
    for rule in sys.argv[1:]:
        mistakes(rule)
    table()
