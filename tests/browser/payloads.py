"""What hostile texts try: scripts to be run, pages to be opened, and addresses to be asked for.

The texts are in payloads.json, by technique, since the panel's own tests read them too. Each that
is obeyed calls `__hit`, or asks the host `EVIL` for something.
"""

from __future__ import annotations

import json
from pathlib import Path

PATH = Path(__file__).with_name("payloads.json")


def payloads(evil: str) -> list[str]:
    """Give all of them, with a host of the test's own in the place of `EVIL`."""
    groups = json.loads(PATH.read_text("utf-8")).values()
    return [text.replace("EVIL", evil) for group in groups for text in group]
