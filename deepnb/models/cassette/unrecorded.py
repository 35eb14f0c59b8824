"""What to say about a request that was not recorded: how it differs from the nearest one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from deepnb.errors import UnrecordedRequestError
from deepnb.models.cassette.exchange import Plain, key_of
from deepnb.models.cassette.tape import render

if TYPE_CHECKING:
    from deepnb.models.cassette.tape import Tape

_DIFF_LINES = 24
_DIFF_WIDTH = 160
# Comparing whole texts is slow: only so many that have equally many messages in common.
_COMPARED = 8


def unrecorded(request: Plain, tape: Tape) -> UnrecordedRequestError:
    """The error for this request."""
    message = f"This request is not in the recording {tape.path}."
    if tape.exchanges:
        diff = _shortest_difference(request, tape)
        shown = [line[:_DIFF_WIDTH] for line in diff[:_DIFF_LINES]]
        if len(diff) > _DIFF_LINES:
            shown.append(f"… and {len(diff) - _DIFF_LINES} more lines")
        message += " The nearest one differs:\n" + "\n".join(shown) + "\n"
    else:
        message += " It is empty.\n"
    return UnrecordedRequestError(
        f"{message}To record it, run this once with the model "
        f"deepnb.models.record(model, {str(tape.path)!r})."
    )


def _shortest_difference(request: Plain, tape: Tape) -> list[str]:
    asked = {key_of(each) for each in request["messages"]}

    def in_common(recorded: Plain) -> float:
        messages = recorded["messages"]
        shared = sum(key_of(each) in asked for each in messages)
        return shared / (len(messages) + len(request["messages"]))

    nearest = sorted(tape.requests(), key=in_common, reverse=True)[:_COMPARED]
    pairs = [
        _different_parts(each, request)
        for each in nearest
        if in_common(each) == in_common(nearest[0])
    ]
    before, after = max(pairs, key=lambda pair: difflib.SequenceMatcher(None, *pair).quick_ratio())
    return list(difflib.unified_diff(before, after, "recorded", "asked", n=1, lineterm=""))


def _different_parts(recorded: Plain, asked: Plain) -> tuple[list[str], list[str]]:
    """The lines of both, without the tools and the first messages if they are the same."""
    pairs = zip(recorded["messages"], asked["messages"], strict=False)
    same = next((i for i, (one, other) in enumerate(pairs) if one != other), None)
    if same is None:
        same = min(len(recorded["messages"]), len(asked["messages"]))
    start = max(same - 1, 0)
    left_out = {"tools"} if recorded.get("tools") == asked.get("tools") else set()
    one, other = (
        {
            **{name: value for name, value in each.items() if name not in left_out},
            "messages": each["messages"][start:],
        }
        for each in (recorded, asked)
    )
    return render(one).splitlines(), render(other).splitlines()
