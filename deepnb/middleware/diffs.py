"""Changes as a person can check them: every character visible, and no more than can be read."""

from __future__ import annotations

import re
import unicodedata
from difflib import unified_diff

_MOST_LINES = 400
_WIDEST = 500
_LARGEST = 1_000_000
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def diff(before: str, after: str, path: str) -> str:
    """Give a unified diff as a Markdown code block.

    Line ends count: a carriage return is shown as ␍, and a last line feed that comes or goes.
    """
    if len(before) + len(after) > _LARGEST:
        return f"The change is too large to be shown: {len(before):,} to {len(after):,} characters."
    note = bool(before and after) and before.endswith("\n") != after.endswith("\n")
    changes = unified_diff(
        _lines(before, note=note), _lines(after, note=note), path, path, lineterm=""
    )
    lines = [visible(line)[:_WIDEST] for line in changes]
    if not lines:
        return "This changes nothing."
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES} more lines"]
    text = "\n".join(lines)
    # A fence longer than any inside, so that the content cannot close it.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}diff\n{text}\n{fence}"


def visible(text: str) -> str:
    """Spell out what would not be seen, or would steer whatever shows the text."""
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.category(c) in _UNSEEN else c
        for c in text.replace("\r", "␍").replace("\t", "    ")
    )


def _lines(text: str, *, note: bool) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        return lines[:-1]
    return [*lines[:-1], f"{lines[-1]} (no line feed at the end)"] if note else lines
