"""The threads of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb.errors import ThreadError, ThreadInUseError
from deepnb.record import ThreadFolder
from deepnb.record.reading import about, summaries
from deepnb.session.core import checked_workspace
from deepnb.session.paying import HELD, PAYMENT
from deepnb.session.session import open_session
from deepnb.session.titles import title_of

if TYPE_CHECKING:
    import os

    import pandas as pd


def threads(workspace: str | os.PathLike[str] = ".") -> pd.DataFrame:
    """List the threads in a workspace, the latest first."""
    from deepnb import frames

    return frames.threads(summaries(checked_workspace(workspace)))


def thread_list(workspace: str | os.PathLike[str] = ".") -> list[dict[str, Any]]:
    """List the threads in a workspace as `threads` does, for somebody who wants to open one.

    Beside what `record.summaries` says, each has a `title`, and `elsewhere` is whether another
    kernel has it open. What cannot be read has no `agent`.
    """
    folder = checked_workspace(workspace)
    return [
        {
            "forked_from": "",
            **row,
            "title": title_of(row.get("question")),
            "elsewhere": bool(row.get("in_use")) and open_session(folder, row["thread"]) is None,
        }
        for row in summaries(folder)
    ]


def forget(thread: str, workspace: str | os.PathLike[str] = ".") -> None:
    """Delete a thread for good: the conversation, its checkpoints, its record.

    Raises:
        ThreadError: There is no such thread, or it is open in another kernel or running, or it
            has money that was not had back.
    """
    folder = checked_workspace(workspace)
    if about(folder, thread).get(PAYMENT) == HELD:
        raise ThreadError(
            f"The thread {thread!r} in {folder} has money. Open it, settle it with "
            "session.settle(), receive the token in a wallet, and settle it once more: then it is "
            "known to be received, and the thread can be forgotten."
        )
    if session := open_session(folder, thread):
        if session.status == "running":
            raise ThreadInUseError(
                f"The thread {thread!r} in {folder} is running. Stop it first: session.stop()."
            )
        session.close()
    ThreadFolder(folder, thread).delete()
