"""What was asked and what was answered, as plain data that is the same in every run.

Ids are made anew in each run: of messages, of tool calls, of the files that long results and old
conversations are moved to. Message ids are left out; the others become placeholders, numbered in
the order they come up. A reply is stored with the same placeholders and gets the run's own ids
back, so that a replayed model asks for the file that is really there.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from deepnb.models.cassette.masking import known_secrets, map_texts, mask

Plain: TypeAlias = dict[str, Any]

_UUID = re.compile(
    r"(?<![0-9a-fA-F])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32})(?![0-9a-fA-F])"
)
# A shorter id may be part of a word.
_SHORTEST_ID = 8
# Of all options only these are looked at: the others may carry credentials, or differ by machine.
_OPTIONS = (
    "tool_choice",
    "response_format",
    "stop",
    "temperature",
    "top_p",
    "max_tokens",
    "reasoning_effort",
)
_METADATA = (
    "model_name",
    "model_provider",
    "output_version",
    "finish_reason",
    "stop_reason",
    "stop_sequence",
)
_NOT_SAID = frozenset({"reasoning", "thinking", "redacted_thinking", "tool_use", "tool_call"})


class Placeholders:
    """The ids of one request, and the names they go by in the recording."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._known: tuple[str, ...] = ()

    def call(self, call_id: str | None) -> str:
        """Name a tool call."""
        return self._name(call_id or "", "call")

    def hide(self, value: Any) -> Any:
        """Replace every id in the texts of `value`."""
        return map_texts(
            self.hide_known(value),
            lambda text: _UUID.sub(lambda match: self._name(match[0], "uuid"), text),
        )

    def hide_known(self, value: Any) -> Any:
        """Replace the ids that came up already; a reply's own ids are its own."""
        return map_texts(value, self._hide_in)

    def show(self, value: Any) -> Any:
        """Put this run's ids back."""
        ids = {name: actual for actual, name in self._names.items()}
        return map_texts(
            value, lambda text: re.sub(r"<(?:call|uuid)-\d+>", lambda m: ids.get(m[0], m[0]), text)
        )

    def _hide_in(self, text: str) -> str:
        for actual in _occurring(text, self._known):
            text = text.replace(actual, self._names[actual])
        return text

    def _name(self, actual: str, kind: str) -> str:
        if actual not in self._names:
            number = sum(name.startswith(f"<{kind}-") for name in self._names.values()) + 1
            self._names[actual] = f"<{kind}-{number}>"
            if len(actual) >= _SHORTEST_ID:
                self._known = (*self._known, actual)
        return self._names[actual]


# A conversation repeats itself: each request has all the texts of the one before.
@lru_cache(maxsize=4096)
def _occurring(text: str, ids: tuple[str, ...]) -> list[str]:
    return sorted((each for each in ids if each in text), key=len, reverse=True)


def describe_request(
    messages: list[BaseMessage], tools: list[Plain], options: Plain
) -> tuple[Plain, Placeholders]:
    """What identifies a request, and the ids that were taken out of it."""
    names, known = Placeholders(), known_secrets()
    described = [_describe_message(message, names, known) for message in messages]
    offered: Plain = {"tools": tools} if tools else {}
    for name in _OPTIONS:
        if options.get(name) is not None:
            offered[name] = options[name]
    return {"messages": described, **mask(_plain(offered), known)}, names


def key_of(request: Plain) -> str:
    """Equal for equal requests."""
    return json.dumps(request, sort_keys=True, ensure_ascii=False)


def describe_reply(message: AIMessage, names: Placeholders) -> Plain:
    """What to keep of a reply."""
    reply: Plain = {"content": names.hide_known(message.content)}
    if message.tool_calls:
        reply["calls"] = [
            {"id": call["id"], "name": call["name"], "args": names.hide_known(call["args"])}
            for call in message.tool_calls
        ]
    if thought := message.additional_kwargs.get("reasoning_content"):
        reply["reasoning"] = names.hide_known(thought)
    if message.usage_metadata:
        reply["usage"] = dict(message.usage_metadata)
    known = {name: message.response_metadata.get(name) for name in _METADATA}
    if metadata := {name: value for name, value in known.items() if value is not None}:
        reply["metadata"] = metadata
    plain: Plain = mask(_plain(reply))
    return plain


def revive_reply(reply: Plain, names: Placeholders, *, turn: int) -> AIMessage:
    """The message that was recorded, with the ids of this run.

    Args:
        reply: What `describe_reply` kept.
        names: The placeholders of the request it answers.
        turn: How often the reply was given before: each time, its calls need other ids.
    """
    suffix = f"-{turn}" if turn else ""
    thought = reply.get("reasoning")
    return AIMessage(
        content=names.show(reply["content"]),
        tool_calls=[
            {"id": f"{call['id']}{suffix}", "name": call["name"], "args": names.show(call["args"])}
            for call in reply.get("calls", [])
        ],
        additional_kwargs={"reasoning_content": names.show(thought)} if thought else {},
        usage_metadata=reply.get("usage"),
        response_metadata=dict(reply.get("metadata", {})),
    )


def _describe_message(message: BaseMessage, names: Placeholders, known: tuple[str, ...]) -> Plain:
    described: Plain = {"role": message.type.removesuffix("MessageChunk").lower()}
    # Masked first: a key may look like any other id.
    if text := names.hide(mask(_whole(_said(message)), known)):
        described["text"] = text
    if isinstance(message, AIMessage) and message.tool_calls:
        described["calls"] = [
            {
                "id": names.call(call["id"]),
                "name": call["name"],
                "args": names.hide(mask(_plain(call["args"]), known)),
            }
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        described["answers"] = names.call(message.tool_call_id)
    return described


def _said(message: BaseMessage) -> str:
    """All that a model would read in the message; other than text only by its hash."""
    if isinstance(message.content, str):
        return message.content
    parts = []
    for block in message.content:
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") == "text":
            parts.append(str(block["text"]))
        elif block.get("type") not in _NOT_SAID:
            named = {key: value for key, value in block.items() if key not in {"id", "index"}}
            digest = hashlib.sha256(json.dumps(_plain(named), sort_keys=True).encode())
            parts.append(f"[{block.get('type')} {digest.hexdigest()[:16]}]")
    return "".join(parts)


def _plain(value: Any) -> Any:
    return json.loads(_whole(json.dumps(value, default=str, ensure_ascii=False)))


def _whole(text: str) -> str:
    """Replace half a character, which a careless cut or decoding leaves and no file can hold."""
    return text.encode("utf-8", "replace").decode()
