"""What the command's exit codes mean."""

from __future__ import annotations

DONE = 0
FAILED = 2
WAITING = 3
INTERRUPTED = 130  # 128 and the number of the signal, as shells report it
