"""Files that pass between a workspace and browsers: the kernel's half of the file explorer.

A page can list and change the workspace, send files into it, and tie places of its own to places
there. This room exists so that all of that goes through one door, `Exchange`, which believes
nothing that a page says, overwrites nothing that nobody has seen, and keeps what it knows in the
workspace's record, beside the files and not among them. There is no agent in it, and no panel.
"""

from __future__ import annotations

from deepnb.exchange.exchange import Exchange, Stored, carried_on, exchange_of
from deepnb.exchange.mappings import MappedFile, Mapping
from deepnb.exchange.steps import Comparison, Seen
from deepnb.exchange.uploads import Sending
from deepnb.exchange.watch import Watch
from deepnb.exchange.workspace import WorkspaceFiles

__all__ = [
    "Comparison",
    "Exchange",
    "MappedFile",
    "Mapping",
    "Seen",
    "Sending",
    "Stored",
    "Watch",
    "WorkspaceFiles",
    "carried_on",
    "exchange_of",
]
