"""How long `import deepnb` takes, next to `import deepagents`; CPU seconds, fresh interpreters."""

from __future__ import annotations

import statistics
import subprocess
import sys

LIMIT = 0.25
ROUNDS = 7


def cpu_of(statement: str) -> float:
    """Give the CPU seconds that a fresh interpreter spends on one statement."""
    code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    """Alternate the two, so that a noisy moment hits both."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(cpu_of("import deepnb"))
        theirs.append(cpu_of("import deepagents"))
    ours_ms, theirs_ms = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
    ratio = ours_ms / theirs_ms
    print(
        f"import: deepnb {ours_ms:.0f} ms, deepagents {theirs_ms:.0f} ms, "
        f"ratio {ratio:.2f} (limit {LIMIT})"
    )
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
