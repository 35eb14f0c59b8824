"""The threads of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.record import ThreadFolder
from deepnb.record.reading import summaries
from deepnb.session.session import checked_workspace, open_session

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
        session.close()
    ThreadFolder(folder, thread).delete()
