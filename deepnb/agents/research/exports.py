"""Reports that were written among the documents: they are no documents, and must not be cited.

Their paths are kept in the workspace, so that the next session leaves them out as well.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FILE = ".deepnb/reports.jsonl"


def remember(workspace: Path, report: Path) -> None:
    """Keep in mind that a file is a report, if it is in the workspace."""
    workspace, report = workspace.resolve(), report.resolve()
    if not report.is_relative_to(workspace):
        return
    file = workspace / _FILE
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(str(report.relative_to(workspace))) + "\n")


def reports(workspace: Path | None) -> frozenset[Path]:
    """The files in a workspace that are known to be reports."""
    found: set[Path] = set()
    if workspace is None:
        return frozenset()
    with suppress(OSError), (workspace / _FILE).open(encoding="utf-8") as lines:
        for line in lines:
            with suppress(ValueError, TypeError):  # it was cut off, or somebody has edited it
                found.add((workspace / json.loads(line)).resolve())
    return frozenset(found)
