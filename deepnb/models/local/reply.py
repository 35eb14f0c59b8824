"""What a local model says, as it says it."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.messages.tool import ToolCallChunk

    from deepnb.models.local.dialect import Request


class Reply:
    """Turns llama.cpp's events into message chunks.

    Text passes through at once. A call is kept back until it is whole: joining chunks, LangChain
    completes what is cut off, and half a file must not be written as if it were all of it.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._held = ""
        self._is_text = False
        self._calls: dict[int, dict[str, str]] = {}
        # Until llama.cpp says otherwise; it does not where it cannot read what the model wrote.
        self._finish = "malformed"
        self._usage: dict[str, Any] = {}

    def take(self, event: dict[str, Any]) -> Iterator[AIMessageChunk]:
        """The chunks that this event makes."""
        self._usage = event.get("usage") or self._usage
        for choice in event["choices"]:
            self._finish = choice["finish_reason"] or self._finish
            delta = choice["delta"]
            text, thought = delta.get("content") or "", delta.get("reasoning_content") or ""
            for part in delta.get("tool_calls") or []:
                self._add_to_call(part)
            if self._request.demanded:
                # Where the template opens a thought, llama.cpp takes all that follows for one.
                self._held += thought + text
                continue
            if thought:
                yield AIMessageChunk(content="", additional_kwargs={"reasoning_content": thought})
            if text:
                yield from self._pass_text(text)

    def _pass_text(self, text: str) -> Iterator[AIMessageChunk]:
        self._held += text
        self._is_text = self._is_text or not self._request.may_be_call(self._held)
        if self._is_text:
            text, self._held = self._held, ""
            yield AIMessageChunk(content=text)

    def end(self, model_name: str) -> AIMessageChunk:
        """The last chunk: calls, tokens used, and why the model stopped."""
        content = self._held
        if call := self._request.read_call(self._held):
            content = ""
            self._calls[len(self._calls)] = {"name": call[0], "arguments": call[1]}
        if self._finish == "malformed" and self._request.offered and not self._calls:
            # llama.cpp says nothing about it, but the agent must not take this for an answer.
            self._calls[0] = {"name": "", "arguments": ""}
        return AIMessageChunk(
            content=content,
            tool_call_chunks=[self._call_chunk(index) for index in self._calls],
            usage_metadata=_usage(self._usage),
            response_metadata={"model_name": model_name, "finish_reason": self._finish},
            chunk_position="last",
        )

    def _add_to_call(self, part: dict[str, Any]) -> None:
        call = self._calls.setdefault(part["index"], {"name": "", "arguments": ""})
        call["id"] = part.get("id") or call.get("id", "")
        function = part.get("function", {})
        call["name"] += function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""

    def _call_chunk(self, index: int) -> ToolCallChunk:
        call = self._calls[index]
        arguments = call["arguments"]
        if not arguments and self._finish == "tool_calls":
            arguments = "{}"
        try:
            whole = isinstance(json.loads(arguments), dict)
        except (ValueError, RecursionError):
            whole = False
        return tool_call_chunk(
            name=call["name"],
            # LangChain files what it cannot read under `invalid_tool_calls`. At a bracket that was
            # never opened it gives up; it would else try every shorter text, which takes minutes.
            args=arguments if whole else f"(incomplete] {arguments}",
            # Nine characters, as the templates of Mistral insist on.
            id=call.get("id") or secrets.token_hex(5)[:9],
            index=index,
        )


def _usage(usage: dict[str, Any]) -> UsageMetadata:
    read, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return UsageMetadata(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        input_token_details={"cache_read": cached},
    )
