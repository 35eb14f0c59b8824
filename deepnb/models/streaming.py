"""Models that know their whole reply at once, and stream it all the same.

Nothing downstream has to tell an offline, replayed or scripted model from one that thinks as it
speaks.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.callbacks import CallbackManagerForLLMRun

Content: TypeAlias = str | list[str | dict[str, Any]]


class WholeReplyModel(BaseChatModel):
    """A chat model that needs no more than a function from messages to the next one."""

    @abstractmethod
    def _reply(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> AIMessage:
        """Give the whole reply; `options` is what was bound, the tools among it."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = self._reply(messages, stop, kwargs)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from stream_message(self._reply(messages, stop, kwargs))


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
    for index, broken in enumerate(message.invalid_tool_calls, start=len(message.tool_calls)):
        yield _chunk(
            id=message.id,
            tool_call_chunks=[
                tool_call_chunk(
                    name=broken["name"], args=broken["args"] or "{", id=broken["id"], index=index
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
