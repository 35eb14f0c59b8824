"""Where files live.

An agent sees one tree of paths; behind it are a folder on disk, the reader's browser, a store and
graph state. This room exists so that nothing else has to know which is which, and so that there
is one place where a path from a model, or an answer from a client, is trusted or refused.

Everything here loads when it is first used: documents are read with no agent in sight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb.files.client import Client, tool_call
    from deepnb.files.folder import Folder
    from deepnb.files.namespace import OWN_MEMORY, Mounts, mounts
    from deepnb.files.paths import safe_parts

__all__ = ["OWN_MEMORY", "Client", "Folder", "Mounts", "mounts", "safe_parts", "tool_call"]

__getattr__ = lazy(
    __name__,
    {
        "OWN_MEMORY": "namespace",
        "Client": "client",
        "Folder": "folder",
        "Mounts": "namespace",
        "mounts": "namespace",
        "safe_parts": "paths",
        "tool_call": "client",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
