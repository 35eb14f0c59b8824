"""What went wrong in a run, in words that say what to do."""

from __future__ import annotations

import sqlite3

from langgraph.errors import GraphRecursionError

from deepnb.errors import DeepnbError
from deepnb.events import short
from deepnb.middleware.diffs import visible
from deepnb.models.cassette.masking import known_secrets, mask
from deepnb.record.database import explain

_LONGEST = 2_000
GO_ON = "session.resume() tries again from where it stopped; session.ask(...) starts afresh."


def described(error: BaseException) -> str:
    """Describe a failure, without the keys that providers like to put into their messages."""
    if isinstance(error, sqlite3.Error):
        error = explain(error, "The thread's checkpoints")
    if isinstance(error, GraphRecursionError):
        text = (
            "The agent took as many steps as one run may take, which mostly means that it goes "
            "round in circles. session.resume() allows as many again; session.ask(...) can tell "
            "it what to do differently."
        )
    elif isinstance(error, DeepnbError):
        text = str(error)
    else:
        # It may be a page of HTML, or hold what steers a terminal.
        said = short(visible(" ".join(str(error).split())), _LONGEST).rstrip(".")
        text = f"{type(error).__name__}: {said or 'no details'}. {GO_ON}"
    masked: str = mask(text, known_secrets())
    return masked
