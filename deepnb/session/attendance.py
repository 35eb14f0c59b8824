"""Whether a page is there that answers by itself, from the files in its browser."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deepnb.session.desk import Desk

_SILENT = 10.0
"""Seconds without a word after which a page is not there."""
_GRACE = 3.0
"""Seconds that a page has to begin: one that was silent may be there, and has just been told."""
_PATIENCE = 60.0
"""Seconds after which a page that is there is taken not to answer."""


class Attendance:
    """Knows when a page was heard last; any thread may call.

    Args:
        desk: Where the questions are that it might answer.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._heard = -math.inf

    def hear(self) -> None:
        """Note that a page is there."""
        self._heard = time.monotonic()

    def is_served(self, waited: float) -> bool:
        """Whether a page is about to answer all that is open, which has waited for so long."""
        asked = list(self._desk.open.values())
        if not asked or any(one.type != "client_tool_execution" for one in asked):
            return False
        silent = time.monotonic() - self._heard
        is_there = silent < _SILENT or (waited < _GRACE and silent < math.inf)
        return is_there and waited <= _PATIENCE
