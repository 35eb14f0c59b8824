"""Text from models, tools and files, made fit to be stored and looked at.

It holds whatever somebody put into it: half characters that no file takes, escape sequences, and
marks that turn the direction of what stands beside them. They are spelled out: a reader shall see
that they are there, and they shall do nothing.
"""

from __future__ import annotations

import re
from typing import Any

_UNFIT = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, all but line feed and tab
    r"\u2028-\u202e\u2066-\u2069"  # ends of line and changes of direction that nobody sees
    r"\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"  # no characters, and halves of characters
)
_DEEPEST = 40
_MOST_BITS = 1000


def legible(text: object) -> str:
    """Give any value as text in which every character can be seen, or is a space."""
    if text is None:
        return ""
    if isinstance(text, str) and text.isprintable():  # most is, and this is quick
        return text
    lines = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return _UNFIT.sub(lambda match: f"\\u{ord(match[0]):04x}", lines)


def legible_json(value: Any, depth: int = 0) -> Any:
    """The same for all texts of a JSON value, which may have been nested to do harm."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {legible(key): legible_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [legible_json(item, depth + 1) for item in value]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "…"  # no float holds it, and Python may refuse to write it
    return value if isinstance(value, bool | int | float | None) else legible(value)


def one_line(text: object, longest: int = 120) -> str:
    """The beginning of a text, without line ends."""
    line = " ".join(legible(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
