"""What a session with the tutor shows of its argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb.agents.tutor.prompts import ARGUMENT

if TYPE_CHECKING:
    import pandas as pd


def argument(session: Any) -> pd.DataFrame:
    """Give the argument as far as it has come, with what is missing in its place."""
    from deepagents.backends.utils import file_data_to_string

    from deepnb.tutoring.document import parse
    from deepnb.tutoring.frames import argument_frame
    from deepnb.tutoring.gaps import gaps

    kept = (session.state.get("files") or {}).get(ARGUMENT)
    found = parse(file_data_to_string(kept) if kept else "")
    return argument_frame(found, gaps(found))
