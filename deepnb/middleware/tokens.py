"""Counting tokens without reading the whole conversation again at every step."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from langchain_core.messages.utils import count_tokens_approximately

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage


class TokenCounter:
    """Counts roughly, and each message only once.

    A conversation grows by a message or two per step, while the rest are the same objects as
    before; counting those afresh is where a long run's time would go. A count is forgotten with
    its message.
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._refs: dict[int, weakref.ref[BaseMessage]] = {}
        self._tools: dict[tuple[tuple[str, int], ...], int] = {}

    def __call__(self, messages: Sequence[BaseMessage], tools: Sequence[Any] | None = None) -> int:
        """Count the tokens of messages and of tool descriptions."""
        for message in reversed(messages):  # what is new is at the end
            if id(message) in self._counts:
                break
            self._remember(message)
        try:
            known = sum(map(self._counts.__getitem__, map(id, messages)))
        except KeyError:  # something further up was replaced
            for message in messages:
                self._remember(message)
            known = sum(map(self._counts.__getitem__, map(id, messages)))
        return known + self._count_tools(tools or ())

    def _remember(self, message: BaseMessage) -> None:
        key = id(message)

        def forget(_: object) -> None:
            # Before the id can be another message's.
            self._counts.pop(key, None)
            self._refs.pop(key, None)

        self._refs[key] = weakref.ref(message, forget)
        try:
            self._counts[key] = count_tokens_approximately([message])
        except TypeError:  # a block of text without a text, and other nonsense
            self._counts[key] = len(str(message.content)) // 4

    def _count_tools(self, tools: Sequence[Any]) -> int:
        if not tools:
            return 0
        key = tuple(_tool_key(tool) for tool in tools)
        if key not in self._tools:
            self._tools[key] = count_tokens_approximately([], tools=list(tools))
        return self._tools[key]


def _tool_key(tool: Any) -> tuple[str, int]:
    if isinstance(tool, dict):
        return repr(tool), 0
    return getattr(tool, "name", ""), len(getattr(tool, "description", ""))
