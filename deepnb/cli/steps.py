"""What an agent looked for and what came back, a line each."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from deepnb.middleware.diffs import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_LONGEST_REMARK = 60
_SAYS_WHAT = ("pattern", "file_path", "file_id", "path", "query", "description")
_WINDOW = re.compile(r"@@ (lines? [\d-]+ of \d+)")
_CUT = re.compile(r"… \([\d,]+ characters\)\Z")  # how `deepnb.events.short` ends a long text


def step(name: str, args: Mapping[str, Any]) -> str:
    """Say what a tool was called for."""
    wanted = next((args[key] for key in _SAYS_WHAT if args.get(key)), "")
    return f"{_short(name)} {_short(str(wanted))}".rstrip()


def steps(calls: Iterable[Mapping[str, Any]], results: Mapping[str, str]) -> Iterator[str]:
    """Say what a round of tool calls has brought; spellings of one word are one line.

    Args:
        calls: Each with `id`, `name` and `args`, in order.
        results: What came back, by id.
    """
    found: dict[str, list[str]] = {}
    for call in calls:
        args = call["args"]
        line = step(call["name"], args)
        result = results[call["id"]]
        if isinstance(todos := args.get("todos"), list):
            result = f"{sum(_is_done(todo) for todo in todos)} of {len(todos)} done"
        found.setdefault(line.lower() if "pattern" in args else line, []).append(result)
    for line, texts in found.items():
        yield f"  {line} → {_remark(texts)}"


def _short(text: str) -> str:
    return visible(textwrap.shorten(text, _LONGEST_REMARK, placeholder=" …"))


def _is_done(todo: Any) -> bool:
    return isinstance(todo, dict) and todo.get("status") == "completed"


def _remark(texts: Sequence[str]) -> str:
    """How much came back: lines read, or lines and files found."""
    windows = [match[1] for match in map(_WINDOW.match, texts) if match]
    if windows:
        return ", ".join(dict.fromkeys(windows))
    path = ""
    lines: set[tuple[str, str]] = set()
    files: set[str] = set()
    for row in "\n".join(texts).split("\n"):
        if re.match(r" {2}\d+: ", row):
            lines.add((path, row))
        elif row.startswith("/") and row.endswith(":"):
            path = row
            files.add(row)
        else:
            files.update(re.findall(r"'/[^']*'", row))
    more = any(map(_CUT.search, texts))
    found = [_counted(len(lines), "line", more=more)] * bool(lines)
    found += [_counted(len(files), "file", more=more)] * bool(files)
    return " in ".join(found) or _short(texts[0])


def _counted(number: int, what: str, *, more: bool) -> str:
    return f"{number}{'+' * more} {what}{'s' * (number > 1 or more)}"
