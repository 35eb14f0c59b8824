"""How long deepnb takes to import, next to `import deepagents`; CPU seconds, fresh interpreters."""

from __future__ import annotations

import statistics
import subprocess
import sys

LIMIT = 0.25
ROUNDS = 7
THEIRS = "import deepagents"
OURS = ("import deepnb", "from deepnb import Knowledge")


def cpu_of(statement: str) -> float:
    """Give the CPU seconds that a fresh interpreter spends on one statement."""
    code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    """Alternate them, so that a noisy moment hits all."""
    rounds = [[cpu_of(statement) for statement in (THEIRS, *OURS)] for _ in range(ROUNDS)]
    theirs, *ours = (statistics.median(each) * 1000 for each in zip(*rounds, strict=True))
    print(f"{THEIRS}: {theirs:.0f} ms")
    for statement, took in zip(OURS, ours, strict=True):
        print(f"{statement}: {took:.0f} ms, ratio {took / theirs:.2f} (limit {LIMIT})")
    return int(max(ours) / theirs > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
