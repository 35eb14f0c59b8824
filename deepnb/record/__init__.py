"""What is known about a thread, and is still known after the kernel has died.

One folder per thread in the workspace's `.deepnb/`: the graph's checkpoints, which LangGraph
writes, and beside them in a file of its own the record: every event, what was asked and waits,
answers that have not been used yet, which tool calls were begun and which are done, and what a
person has allowed for good. A file of its own, because events that share one with the checkpoints
hold up their commits; a folder per thread, because then two kernels meet only where they must,
damage stays where it is, and forgetting a thread is deleting a folder.
"""

from __future__ import annotations

from deepnb.record.reading import agent_of, read_events, summaries
from deepnb.record.record import Ask, Call, Record, current_record
from deepnb.record.thread import ThreadFolder

__all__ = [
    "Ask",
    "Call",
    "Record",
    "ThreadFolder",
    "agent_of",
    "current_record",
    "read_events",
    "summaries",
]
