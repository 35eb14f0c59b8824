"""A finished message as the chunks a streaming model would have sent.

Models that know their whole reply at once (offline, replayed, scripted) still stream it, so that
nothing downstream has to tell them from a model that thinks as it speaks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

if TYPE_CHECKING:
    from collections.abc import Iterator

Content: TypeAlias = str | list[str | dict[str, Any]]


def stream_message(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Yield `message` word by word, then its tool calls, then what is known only at the end."""
    for content in _pieces(message.content):
        yield _chunk(content=content, id=message.id)
    for index, call in enumerate(message.tool_calls):
        yield _chunk(
            id=message.id,
            tool_call_chunks=[
                tool_call_chunk(
                    name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index
                )
            ],
        )
    yield _chunk(
        id=message.id,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )


def _pieces(
    content: str | list[str | dict[str, Any]],
) -> Iterator[str | list[str | dict[str, Any]]]:
    if isinstance(content, str):
        yield from re.findall(r"\S+\s*|\s+", content)
    else:
        for index, block in enumerate(content):
            yield [{"index": index, **block} if isinstance(block, dict) else block]


def _chunk(*, content: Content = "", **fields: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content=content, **fields))
