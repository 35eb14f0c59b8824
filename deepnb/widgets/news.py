"""What has happened in a session, as the browser is told it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb.events import plain
from deepnb.summaries import summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.events import Event
    from deepnb.widgets.protocol import WireEvent

_MOST = 8_000
"""Events in one message: a browser shows the first thousands while it asks for the next."""
_PIECES = frozenset({"token", "reasoning"})
_PLACES = ("run", "agent", "parent", "call", "node", "step", "name")


def page_of(events: Sequence[Event], most: int = _MOST) -> tuple[list[WireEvent], int | None, bool]:
    """Give the next events for the wire, the number of the last one they cover, and if more follow.

    The pieces of a message that is complete are left out: the message has them. So is a source that
    is told again, for it is told whole.
    """
    complete = {str(event.data.get("id")) for event in events if event.kind == "message"}
    sources = {str(event.data.get("id")): event.seq for event in events if event.kind == "source"}
    told: list[WireEvent] = []
    last: int | None = None
    for event in events:
        if len(told) == most:
            return told, last, True
        last = event.seq
        identity = str(event.data.get("id"))
        is_told_later = (event.kind in _PIECES and identity in complete) or (
            event.kind == "source" and sources[identity] != event.seq
        )
        if not is_told_later:
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
