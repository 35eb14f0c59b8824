"""What an answer from the browser has told the kernel, in a few words and numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deepnb.files.namespace import FILES
from deepnb.summaries import integer_of, mapping_of, mappings_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_PATHS = 20
_FOUND = {
    "list_files": "name",
    "glob_files": "name",
    "grep_files": "matching line",
    "search_files": "passage",
}
"""By tool, what it finds."""


def of_answer(request: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Give the data of a `disclosed` event for a client's tool and what came back."""
    tool = text_of(request.get("tool"))
    result = mapping_of(answer.get("result"))
    found = mappings_of(result.get("entries") or result.get("matches"))
    asked = mapping_of(request.get("args")).get("path")
    paths = list(dict.fromkeys(text_of(each.get("path")) for each in found))
    if not found and "content" in result:
        paths = [text_of(asked)]
    return {
        "what": "tool",
        "paths": [_shown(path) for path in paths[:_MOST_PATHS]],
        "files": len(paths),
        "bytes": len(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")),
        "detail": _detail(tool, result, len(found)),
    }


def _detail(tool: str, result: Mapping[str, Any], found: int) -> str:
    if tool in _FOUND:
        return f"{found} {_FOUND[tool]}{'' if found == 1 else 's'}"
    if first := integer_of(result.get("start_line")):
        last = integer_of(result.get("end_line"))
        return f"line {first}" if first == last else f"lines {first} to {last}"
    return "that it was done" if result else "that it could not be done"


def _shown(path: str) -> str:
    return FILES.rstrip("/") + path
