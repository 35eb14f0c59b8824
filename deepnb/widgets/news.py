"""What has happened in a session, as the browser is told it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from deepnb.summaries import summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.events import Event
    from deepnb.widgets.protocol import WireEvent

_MOST = 4_000
"""Events in one message: a browser shows the first thousands while it asks for the next."""
_DEEPEST = 60
_PIECES = frozenset({"token", "reasoning"})
_PLACES = ("run", "agent", "parent", "call", "node", "step", "name")


def page_of(events: Sequence[Event], most: int = _MOST) -> tuple[list[WireEvent], int | None, bool]:
    """Give the next events for the wire, the number of the last one they cover, and if more follow.

    The pieces of a message that is complete are left out: the message has them.
    """
    complete = {str(event.data.get("id")) for event in events if event.kind == "message"}
    told: list[WireEvent] = []
    last: int | None = None
    for event in events:
        if len(told) == most:
            return told, last, True
        last = event.seq
        if event.kind not in _PIECES or str(event.data.get("id")) not in complete:
            told.append(_wired(event))
    return told, last, False


def _wired(event: Event) -> WireEvent:
    wired: dict[str, Any] = {"seq": event.seq, "time": event.time, "kind": event.kind}
    for place in _PLACES:
        value = getattr(event, place)
        if value not in ("", None):
            wired[place] = plain(value)
    if event.kind not in _PIECES:
        wired["line"] = plain(summary_of(event))
    wired["data"] = plain(event.data)
    return wired  # type: ignore[return-value]  # made of its keys


def plain(value: Any, depth: int = 0) -> Any:
    """Make a value that JSON has: it was written by models, and by foreign graphs."""
    if isinstance(value, str):
        return value if _is_sound(value) else value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int | None):
        return value
    if isinstance(value, dict | list | tuple):
        return _nested(value, depth + 1) if depth < _DEEPEST else "…"
    return plain(str(value))


def _nested(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return {plain(str(key)): plain(item, depth) for key, item in value.items()}
    return [plain(item, depth) for item in value]


def _is_sound(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, which could not be sent."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
