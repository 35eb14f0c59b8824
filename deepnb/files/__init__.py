"""Where files live.

An agent sees one tree of paths; behind it are a folder on disk, the reader's browser, a store and
graph state. This room exists so that nothing else has to know which is which, and so that there
is one place where a path from a model, or an answer from a client, is trusted or refused.
"""

from deepnb.files.client import Client, tool_call
from deepnb.files.folder import Folder
from deepnb.files.mounts import OWN_MEMORY, Mounts, mounts
from deepnb.files.paths import safe_parts

__all__ = ["OWN_MEMORY", "Client", "Folder", "Mounts", "mounts", "safe_parts", "tool_call"]
