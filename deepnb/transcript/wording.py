"""Times, amounts and states in words, the same in every format."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deepnb.transcript.steps import Notice

if TYPE_CHECKING:
    from deepnb.transcript.steps import Turn, Usage

STATUS = {
    "idle": "Ready",
    "queued": "Queued",
    "running": "Running",
    "waiting": "Waiting for an answer",
    "done": "Done",
    "stopped": "Stopped",
    "failed": "Failed",
}
MARKS = {
    "idle": "○",
    "queued": "○",
    "running": "●",
    "waiting": "?",
    "done": "✓",
    "stopped": "■",
    "failed": "✗",
}
TONES = {
    "idle": "muted",
    "queued": "muted",
    "running": "muted",
    "waiting": "ask",
    "done": "ok",
    "stopped": "warn",
    "failed": "bad",
}
SHORTENED = "long arguments and results of tools are shortened"
_SHORTEST, _WHOLE = 0.1, 10
_CENT, _LEAST = 0.01, 0.0001


def duration(seconds: float | None) -> str:
    """How long something took: 0.4 s, 41 s, 1:52 or 1:02:09; nothing if that is not known."""
    if seconds is None:
        return ""
    if 0 < seconds < _SHORTEST:
        return f"< {_SHORTEST} s"
    if seconds < _WHOLE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment(when: float) -> str:
    """A time, in the zone that `Session.trace` has too; nothing if it is none."""
    try:
        return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return ""


def number_of(count: int, what: str) -> str:
    """A number of things; nothing if there are none."""
    return f"{count:,} {what}{'' if count == 1 else 's'}" if count else ""


def price(cost: float) -> str:
    """An amount of dollars, in as many digits as it needs."""
    if 0 < cost < _LEAST:
        return f"< ${_LEAST}"
    return f"${cost:,.2f}" if cost >= _CENT or not cost else f"${cost:.4f}"


def used(usage: Usage) -> list[str]:
    """What models used, as far as they have said it."""
    if not usage.tokens_in and not usage.tokens_out:
        return list(filter(None, [number_of(usage.calls, "model call")]))
    tokens = [f"{usage.tokens_in:,} tokens in", f"{usage.tokens_out:,} out"]
    return [*tokens, "price not known" if usage.cost is None else price(usage.cost)]


def facts(turn: Turn) -> list[str]:
    """How a turn ended, how long it took and what it used."""
    return [STATUS[turn.status], *filter(None, [duration(turn.seconds)]), *used(turn.usage)]


def explanation(turn: Turn) -> str:
    """Why a turn has ended as it did, unless it is done or an error has said so already."""
    said = {step.text for step in turn.steps if isinstance(step, Notice)}
    return "" if turn.status == "done" or turn.why in said else turn.why
