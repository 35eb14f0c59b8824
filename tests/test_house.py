"""Imports point down the house, and only so."""

from __future__ import annotations

import ast
from pathlib import Path

import deepnb

ROOT = Path(deepnb.__file__).parent
ROOMS = [
    "cli",
    "notebook",
    "widgets",
    "session",
    "agents",
    "middleware",
    "knowledge",
    "web",
    "tutoring",
    "citations",
    "transcript",
    "exchange",
    "files",
    "payments",
    "testing",
    "models",
    "samples",
    "record",
    "frames",
    "summaries",
    "interrupts",
    "events",
    "sqlite",
    "chunks",
    "sentences",
    "keywords",
    "errors",
    "_lazy",
]

DOOR = (ROOT / "session" / "showing.py", "widgets")
"""The one way up: a session reaches its panel when it is displayed."""


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "deepnb":
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("deepnb."):
            yield node.module.split(".")[1]


def test_imports_point_down():
    elsewhere = (ROOT / "samples" / "lake", ROOT / "widgets" / "frontend")
    modules = [p for p in ROOT.rglob("*.py") if not any(map(p.is_relative_to, elsewhere))]
    seen = set()
    for path in modules:
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        seen.add(room)
        for other in imported_rooms(path):
            if other == "__version__" or (path, other) == DOOR:
                continue
            assert ROOMS.index(other) >= ROOMS.index(room), f"{path.name} reaches up to {other}"
    assert seen == set(ROOMS)
