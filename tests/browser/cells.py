"""What the tests' notebooks have in their cells."""

from __future__ import annotations

SETUP = """
import deepnb
from deepnb.testing import ScriptedModel, call

def model(messages):
    "Say what was said, and write a file if told to."
    last = messages[-1]
    if last.type == "tool":
        return f"so {last.text}"
    if last.text == "write":
        return call("write_file", file_path="/workspace/new.md", content="hello")
    return f"answer to **{last.text}**"

def opened(thread):
    return deepnb.Session("deep", workspace=".", thread=thread, model=ScriptedModel(model))
"""


def showing(thread):
    """Give two cells: one that opens a thread, and one that shows it."""
    return [f"{SETUP}\nsession = opened({thread!r})", "session"]
