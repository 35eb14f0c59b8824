"""What models say, token by token, and what it takes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from langchain_core.messages import AIMessage, AIMessageChunk

from deepnb.events import DRAFT
from deepnb.models.prices import stream_name, stream_price

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.messages import BaseMessage

    from deepnb.events import Kind
    from deepnb.models.prices import Prices

    Namespace = tuple[str, ...]

_TICK = 0.025
"""Seconds that tokens are gathered for: nobody reads faster, and each event has its price."""


class Tell(Protocol):
    """Appends an event of the agent at a namespace."""

    def __call__(self, kind: Kind, namespace: Namespace, **fields: Any) -> None:
        """Append it."""


@dataclass
class _Usage:
    model: str
    metadata: Mapping[str, Any]
    node: str
    tokens_in: int | None = None
    tokens_out: int | None = None


class Words:
    """Tells the tokens and the usage of a stream of messages.

    Attributes:
        partial: The parts so far of the root's messages that are not complete, by message.
    """

    def __init__(self, tell: Tell, prices: Prices) -> None:
        self._prices = prices
        self.partial: dict[str, list[str]] = {}
        self._tell = tell
        self._usage: dict[Namespace, dict[str, _Usage]] = {}
        self._thoughts: dict[str, list[str]] = {}
        self._drafts: dict[tuple[Namespace, str], dict[str, None]] = {}  # in order, each once
        self._now: tuple[Kind, Namespace, str, str] | None = None
        self._gathered: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, namespace: Namespace, message: BaseMessage, metadata: Mapping[str, Any]) -> None:
        """Take a chunk of the stream, or a whole message."""
        if not isinstance(message, AIMessage):
            return
        node = str(metadata.get("langgraph_node", ""))
        if "ls_model_type" in metadata or message.usage_metadata:  # else a node has made it up
            self._note_usage(namespace, message, metadata, node)
        if metadata.get("lc_source") == "summarization":
            return  # a note from the agent to itself
        if not isinstance(message, AIMessageChunk) and message.id in self.partial:
            return  # the whole of what has been streamed
        thought, text = parts_of(message)
        identity = str(message.id)
        if DRAFT in metadata.get("tags", ()):
            thought, text = thought + text, ""
            self._drafts.setdefault((namespace, node), {})[identity] = None
        if thought:
            self._thoughts.setdefault(identity, []).append(thought)
            self._gather("reasoning", namespace, identity, node, thought)
        if text:
            if not namespace:
                self.partial.setdefault(identity, []).append(text)
            self._gather("token", namespace, identity, node, text)

    def complete(self, identity: str) -> str:
        """Note that a message is complete; gives what was thought for it."""
        self.partial.pop(identity, None)
        return "".join(self._thoughts.pop(identity, []))

    def take_drafts(self, namespace: Namespace, node: str) -> list[str]:
        """Give the messages that a node has drafted, now that it has ended."""
        drafts = list(self._drafts.pop((namespace, node), {}))
        for identity in drafts:
            self._thoughts.pop(identity, None)
        return drafts

    def finish(self) -> None:
        """Tell all that is left to tell."""
        self.flush()
        for namespace in list(self._usage):
            self.count(namespace)

    def _gather(
        self, kind: Kind, namespace: Namespace, identity: str, node: str, text: str
    ) -> None:
        if self._now != (kind, namespace, identity, node):
            self.flush()
            self._now = (kind, namespace, identity, node)
        self._gathered.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_TICK, self.flush)

    def flush(self) -> None:
        """Tell the tokens that were gathered."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._now and self._gathered:
            kind, namespace, identity, node = self._now
            text, self._gathered = "".join(self._gathered), []
            self._tell(kind, namespace, node=node, data={"id": identity, "text": text})

    def _note_usage(
        self, namespace: Namespace, message: AIMessage, metadata: Mapping[str, Any], node: str
    ) -> None:
        calls = self._usage.setdefault(namespace, {})
        usage = calls.get(str(message.id))
        if usage is None:
            usage = calls[str(message.id)] = _Usage(stream_name(metadata), metadata, node)
        if counted := message.usage_metadata:
            usage.tokens_in = (usage.tokens_in or 0) + counted["input_tokens"]
            usage.tokens_out = (usage.tokens_out or 0) + counted["output_tokens"]

    def count(self, namespace: Namespace) -> None:
        """Tell what the model calls of an agent have taken."""
        self.flush()
        for identity, usage in self._usage.pop(namespace, {}).items():
            cost = self._cost(usage)
            data = {
                "id": identity,
                "model": usage.model,
                "tokens_in": usage.tokens_in,
                "tokens_out": usage.tokens_out,
                "cost": cost,
            }
            self._tell("usage", namespace, node=usage.node, name=usage.model, data=data)

    def _cost(self, usage: _Usage) -> float | None:
        if usage.tokens_in is not None:
            tokens = (usage.tokens_in, usage.tokens_out or 0)
            return stream_price(usage.metadata, *tokens, self._prices)
        is_free = stream_price(usage.metadata, 1, 1, self._prices) == 0
        return 0.0 if is_free else None


def parts_of(message: AIMessage) -> tuple[str, str]:
    """Give what a message thinks and what it says."""
    if isinstance(message.content, str) and not message.additional_kwargs:
        return "", message.content  # most tokens by far
    thoughts = [
        str(block.get("reasoning", ""))
        for block in message.content_blocks
        if block["type"] == "reasoning"
    ]
    return "".join(thoughts), str(message.text)
