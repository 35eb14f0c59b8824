"""The threads of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.errors import ThreadInUseError
from deepnb.record import ThreadFolder
from deepnb.record.reading import summaries
from deepnb.session.core import checked_workspace
from deepnb.session.session import open_session

if TYPE_CHECKING:
    import os

    import pandas as pd


def threads(workspace: str | os.PathLike[str] = ".") -> pd.DataFrame:
    """List the threads in a workspace, the latest first."""
    from deepnb import frames

    return frames.threads(summaries(checked_workspace(workspace)))


def forget(thread: str, workspace: str | os.PathLike[str] = ".") -> None:
    """Delete a thread for good: the conversation, its checkpoints, its record.

    Raises:
        ThreadError: There is no such thread, or it is open in another kernel or running.
    """
    folder = checked_workspace(workspace)
    if session := open_session(folder, thread):
        if session.status == "running":
            raise ThreadInUseError(
                f"The thread {thread!r} is running. Stop it first: session.stop()."
            )
        session.close()
    ThreadFolder(folder, thread).delete()
