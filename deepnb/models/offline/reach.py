"""Which files there are, as far as the tools can tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.models.offline import results

if TYPE_CHECKING:
    from deepnb.models.offline.turn import Turn

_MOST_FOLDERS = 10


@dataclass(frozen=True)
class Reach:
    """The files there are: those that are searched, the others, and whether these are all."""

    files: list[str]
    others: list[str]
    complete: bool


def reach(turn: Turn) -> Reach:
    """The files within reach, without the agent's own."""
    if turn.can("glob"):
        answers = turn.do(turn.call("glob", pattern="**/*"))
        complete = True
    else:
        answers = turn.do(turn.call("list", path="/"))
        folders = [p for r in answers for p in results.paths(r) if p.endswith("/")]
        folders = [p for p in folders if not results.is_own(p)]
        below = turn.do(
            call for folder in folders[:_MOST_FOLDERS] for call in turn.call("list", path=folder)
        )
        deeper = any(p.endswith("/") for r in below for p in results.paths(r))
        complete = len(folders) <= _MOST_FOLDERS and not deeper
        answers += below
    listed = {p for r in answers for p in results.paths(r)}
    there = sorted(p for p in listed if not p.endswith("/") and not results.is_own(p))
    return Reach(
        [path for path in there if not results.unsearched(path)],
        [path for path in there if results.unsearched(path)],
        complete and not any(map(results.is_partial, answers)),
    )


def files(turn: Turn) -> list[str]:
    """The files that are searched."""
    return reach(turn).files


def locate(turn: Turn, name: str) -> list[str]:
    """The files that are called so, in whichever folder."""
    pattern = f"**/{PurePosixPath(name).name}"
    found = [p for r in turn.do(turn.call("glob", pattern=pattern)) for p in results.paths(r)]
    return [path for path in found if path.endswith(name) and not results.is_own(path)]
