"""`deepnb threads`: the conversations in a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepnb.cli.paint import Paint, fitted, width
from deepnb.errors import PathError
from deepnb.record import summaries
from deepnb.transcript.legible import one_line
from deepnb.transcript.wording import moment

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADER = ("THREAD", "STATUS", "RUNS", "UPDATED", "SIZE", "QUESTION")
_ON_THE_RIGHT = ("RUNS", "SIZE")
_THOUSAND = 1000


def folder(workspace: str) -> Path:
    """Give the folder of a workspace.

    Raises:
        PathError: It is none.
    """
    path = Path(workspace).expanduser()
    if not path.is_dir():
        raise PathError(f"{workspace!r} is not a folder. Name another with --workspace.")
    return path.resolve()


def list_threads(workspace: str) -> None:
    """Print the threads of a workspace as a table, the latest first."""
    paint = Paint(sys.stdout)
    rows = [_HEADER, *map(_row, summaries(folder(workspace)))]
    if len(rows) == 1:
        print('There are no threads here yet. Begin one: deepnb ask "your question"')
        return
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [_padded(*cell) for cell in zip(_HEADER, row, widths, strict=True)]
        line = "  ".join(cells).rstrip()
        line = fitted(line, paint.columns) if paint.is_terminal else line
        print(paint.dim(line) if row is _HEADER else line)


def _padded(column: str, text: str, columns: int) -> str:
    room = " " * (columns - width(text))
    return room + text if column in _ON_THE_RIGHT else text + room


def _row(summary: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        one_line(summary["thread"]),
        summary["status"],
        str(summary.get("runs", "")),
        moment(summary["updated"]) if summary["updated"] else "",
        _size(summary["size"]),
        one_line(summary.get("question")),
    )


def _size(size: float) -> str:
    """How much disk something takes, in a unit that gives at most three digits."""
    units = ["B", "kB", "MB"]
    while size >= _THOUSAND and units[1:]:
        size, units = size / _THOUSAND, units[1:]
    return f"{size:,.0f} {units[0]}"
