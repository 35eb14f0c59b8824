"""What becomes of a node that raises what nobody expected: it leaves an entry all the same.

LangGraph keeps nothing that a failing node writes. Its entry is therefore told with the exception,
which the trace has at once, and goes into the state with what is written next in that thread: by
the same node when the run is resumed, or by another.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp

from deepnb.agents.research.state import entry
from deepnb.models.cassette.masking import mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.agents.research.state import Entry


class Failures:
    """The entries of nodes that have failed, by thread, until they are in the state."""

    def __init__(self) -> None:
        self._entries: defaultdict[str, list[Entry]] = defaultdict(list)

    def noted(self, name: str, node: Callable[[Any], Any]) -> Any:
        """Give a node that does the same, and leaves an entry also if it fails."""

        async def run(given: Any) -> dict[str, Any]:
            thread = get_config().get("configurable", {}).get("thread_id", "")
            try:
                update = await run_node(node, given)
            except GraphBubbleUp:  # it waits for a person, and has not failed
                raise
            except Exception as error:
                why = mask(f"{type(error).__name__}: {error}")
                self._entries[thread] += entry(name, f"Failed: {why}", aside=True)
                raise
            entries = [*self._entries.pop(thread, []), *update.get("reasoning", [])]
            return {**update, "reasoning": entries} if entries else update

        return run


async def run_node(node: Callable[[Any], Any], given: Any) -> dict[str, Any]:
    """Run a node, and one that is not asynchronous in a thread of its own."""
    if inspect.iscoroutinefunction(node):
        update: dict[str, Any] = await node(given)
    else:
        update = await asyncio.to_thread(node, given)
    return update
