"""Text from models, tools and files, made fit to be stored and looked at.

It holds whatever somebody put into it: half characters that no file takes, escape sequences, and
marks that turn the direction of what stands beside them. They are spelled out: a reader shall see
that they are there, and they shall do nothing.
"""

from __future__ import annotations

import re
from typing import Any

_UNFIT = re.compile(  # the same as in the panel, widgets/frontend/src/parts/legible.ts
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, all but line feed and tab
    r"\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f"  # ends of line and changes of direction
    r"\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u3164\ufeff\uffa0\ufff0-\ufffb"  # unseen
    r"\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"  # none, halves, and tags
    r"|(?<![^\x00-\x7f])[\u200c\u200d]"  # joiners, but behind letters of scripts that need them
)
_DEEPEST = 40
_MOST_BITS = 1000


def legible(text: object) -> str:
    """Give any value as text in which every character can be seen, or is a space."""
    if text is None:
        return ""
    if isinstance(text, str) and text.isascii() and text.isprintable():  # most is: this is quick
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
