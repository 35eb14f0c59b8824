"""What a run can say: one small vocabulary, numbered.

Everything that happens in a session is an `Event` with a `seq` that only grows. A view asks for
what comes after the last `seq` it has seen, so that its first paint, a reload and a missed message
are one thing. Frames, transcripts and the panel are made of events and of nothing else.

What `data` holds, by kind (all JSON):

    queued              text, steer: a message that waits, for its turn or for the run's next step
    run_started         text, resumed: what was asked; a resumed run goes on where it was cut off
    message             id, role ("user" | "assistant"), text, reasoning?, cut_off?: now in the
                        conversation; cut off if somebody stopped it
    token               id, text: what has come of message `id` since the last token event
    reasoning           id, text: the same for what a model thinks aloud
    tool_call           id, args: long texts are cut, see `short`
    tool_result         id, status ("ok" | "error"), text, seconds: the same
    node                seconds, error?, text?, aside?, drafts?: a step of the graph that has ended,
                        and what it says of its reasoning (`aside` if others tell that, too), which
                        stands for the messages that it has drafted; `name` is the node's
    todos               todos [{content, status}], by: the whole list, after a change
    file                path, action ("created" | "changed" | "deleted"), diff, size
    source              a source, see `deepnb.citations.shapes`: something was read, or more of it
    report              a report after its check, see there; `message` is the id of the message
    settled             citation, by, note, checked?: a person has checked a claim of the run's
                        report, or (`checked` is false) has taken that back
    disclosed           what ("tool" | "copy" | "sync" | "index"), paths, files, bytes, detail:
                        something of the reader's files has left their browser, for the tool `name`
                        or because they have sent it; `paths` are some of the files
    payment             what ("deposit" | "refund"), handle, amount, fee, kept?: money was paid in,
                        or given back after `kept` was earned; in sat, and never the money itself
    subagent_started    id, text: `id` is the call that started it, `text` its task
    subagent_ended      id, status ("ok" | "error" | "stopped"), seconds
    interrupt_opened    id, request: a question to a person, see `deepnb.interrupts`
    interrupt_closed    id, answer, by ("person" | "policy" | "grant" | "stop"), request?
    usage               id, model, tokens_in, tokens_out, cost (null if nobody knows the price)
    warning             text
    error               type, text
    run_ended           status ("done" | "stopped" | "failed"), text (why), seconds (but for those
                        in which it waited for an answer), withdrawn?: the person has taken it back
                        before it began
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal[
    "queued",
    "run_started",
    "message",
    "token",
    "reasoning",
    "tool_call",
    "tool_result",
    "node",
    "todos",
    "file",
    "source",
    "report",
    "settled",
    "disclosed",
    "payment",
    "subagent_started",
    "subagent_ended",
    "interrupt_opened",
    "interrupt_closed",
    "usage",
    "warning",
    "error",
    "run_ended",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

DRAFT = "deepnb:draft"
"""A tag of model calls whose words are not for the conversation: they are told as reasoning."""

_LONGEST = 300
_DEEPEST = 60


class Event(NamedTuple):
    """One thing that happened.

    Attributes:
        seq: Its number in the session; later is higher.
        time: Seconds since 1970.
        kind: One of `KINDS`; says what is in `data`.
        run: Id of the run it belongs to; empty if to none.
        agent: Who did it: the name of the agent or subagent; empty for the session itself.
        parent: Who called that agent; empty for the session's own.
        call: Id of the tool call that started the subagent, which tells two of one name apart.
        node: The graph's node it happened in.
        step: Number of the root graph's last checkpoint at that time, as `Session.fork` takes it.
        checkpoint: Id of that checkpoint.
        name: Of the tool, node, model or file that it is about.
        data: The rest, by kind.
    """

    seq: int
    time: float
    kind: Kind
    run: str = ""
    agent: str = ""
    parent: str = ""
    call: str = ""
    node: str = ""
    step: int | None = None
    checkpoint: str = ""
    name: str = ""
    data: dict[str, Any] = {}  # noqa: RUF012  # events are never changed, nor is this


def short(value: Any, longest: int = _LONGEST) -> Any:
    """Cut the long texts in a JSON value.

    The log says what was done; the whole of what was read and written is in the checkpoint, where
    it is needed, and need not lie about twice.
    """
    if isinstance(value, str):
        if len(value) <= longest:
            return value
        return f"{value[:longest]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        return {str(key): short(item, longest) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [short(item, longest) for item in value]
    return value if isinstance(value, bool | int | float | None) else short(str(value), longest)


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
