"""How tools are offered to a local model, and how its calls are read back.

Two ways. A model whose chat template knows tools gets them that way, in the format it was trained
on, and llama.cpp reads its calls. Every other model is told in plain words to write a call as one
JSON object, and a grammar lets it write nothing else that starts like one. A call that
is *demanded* goes the second way for every model: that grammar holds the whole of the tools'
schemas, so even the smallest model's call is valid.

Some models that know tools forget their format and write the plain JSON, in a fence or not. A
reply that is nothing but a call of an offered tool is therefore taken as that call, either way.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from deepnb.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import ToolCall

_OFFER = (
    "You can use the tools below. To call one, reply with this JSON object and nothing else:\n"
    '{"name": "TOOL", "arguments": {...}}\n'
    "The result comes in the next message. When you need no tool, reply in plain text.\n\n"
)
_DEMAND = (
    "Reply with a call of one of the tools below, as this JSON object and nothing else:\n"
    '{"name": "TOOL", "arguments": {...}}\n\n'
)
_FENCE = r"\s*(?:```[a-z]*\s*)?"
_HEAD_OF_CALL = re.compile(
    _FENCE + r'\{\s*"name"\s*:\s*(?P<name>"(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*', re.DOTALL
)
_START_OF_CALL = re.compile(r"\s*`{0,2}|" + _FENCE + r"(?:\{.*)?", re.DOTALL)


@dataclass(frozen=True)
class Request:
    """What to send, and how to read the reply.

    Attributes:
        body: The part of the request that this module decides.
        offered: The names of the tools that the reply may call.
        demanded: The reply is a call, whatever llama.cpp takes it for.
    """

    body: dict[str, Any]
    offered: frozenset[str] = frozenset()
    demanded: bool = False

    def may_be_call(self, text: str) -> bool:
        """Whether a reply that starts like this may turn out to be a call."""
        return bool(self.offered and _START_OF_CALL.fullmatch(text))

    def read_call(self, text: str) -> tuple[str, str] | None:
        """The tool's name and its arguments, as JSON text, if that is what the reply is.

        The arguments of a call that was cut off are unfinished: for the caller to refuse.
        """
        head = _HEAD_OF_CALL.match(text)
        if not head:
            return None
        try:
            name = json.loads(head["name"])
        except ValueError:
            return None
        return (name, _arguments(text[head.end() :])) if name in self.offered else None


def _arguments(text: str) -> str:
    """The JSON at the start of `text`, if nothing but the end of a call follows; else all of it."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text.rstrip()
    return text[:end] if "".join(text[end:].split()) in {"", "}", "```", "}```"} else text.rstrip()


def compose(
    messages: Sequence[BaseMessage],
    tools: Sequence[dict[str, Any]],
    choice: str | None,
    *,
    native: bool,
) -> Request:
    """Make the request for this conversation.

    Args:
        messages: The conversation.
        tools: OpenAI tool descriptions; the only ones that may be called.
        choice: "required" demands a call, "none" forbids one.
        native: Whether the model's chat template knows tools.
    """
    if choice == "none":
        tools = []
    demanded = bool(tools) and choice == "required"
    offered = frozenset(str(tool["function"]["name"]) for tool in tools)
    if native and not demanded:
        body: dict[str, Any] = {"messages": [_as_openai(message) for message in messages]}
        if tools:
            body |= {"tools": list(tools), "parallel_tool_calls": True}
        return Request(body, offered)
    spoken = _as_text(messages)
    if not tools:
        return Request({"messages": spoken})
    offer = (_DEMAND if demanded else _OFFER) + "\n".join(
        json.dumps(tool["function"], ensure_ascii=False) for tool in tools
    )
    if spoken and spoken[0]["role"] == "system":
        spoken[0]["content"] += f"\n\n{offer}"
    else:
        spoken.insert(0, {"role": "system", "content": offer})
    body = {"messages": spoken, "grammar": _grammar(tools, text=not demanded)}
    if demanded:
        # The grammar leaves a reasoning model no room to think.
        body["chat_template_kwargs"] = {"enable_thinking": False}
    return Request(body, offered, demanded)


def _grammar(tools: Sequence[dict[str, Any]], *, text: bool) -> str:
    """A Lark grammar for llama.cpp's LLGuidance: one of the calls, or also text."""
    starts = [f"call_{index}" for index in range(len(tools))] + (["text"] if text else [])
    lines = ["%llguidance {}", "start: " + " | ".join(starts)]
    for index, tool in enumerate(tools):
        function = tool["function"]
        schema = {
            "type": "object",
            "additionalProperties": False,
            **function.get("parameters", {}),
            # Keywords that it does not know are left to whoever validates the arguments; free
            # whitespace is what small models lose themselves in.
            "x-guidance": {"lenient": True, "whitespace_flexible": False},
        }
        head = f'{{"name": {json.dumps(function["name"])}, "arguments": '
        lines += [
            f'call_{index}: {json.dumps(head)} args_{index} "}}"',
            f"args_{index}: %json {json.dumps(schema)}",
        ]
    if text:
        lines.append(r"text: /([^{`\s](.|\n)*)?/")
    return "\n".join(lines)


def _as_openai(message: BaseMessage) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": _role(message), "content": _text(message)}
    if isinstance(message, ToolMessage):
        entry["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage) and message.tool_calls:
        entry["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for call in message.tool_calls
        ]
    return entry


def _as_text(messages: Sequence[BaseMessage]) -> list[dict[str, str]]:
    """The conversation with its calls and results spelled out, for any template.

    Neighbours of one role are joined, as some templates insist that roles alternate.
    """
    called: dict[str | None, str] = {}
    spoken: list[dict[str, str]] = []
    for message in messages:
        role, content = _role(message), _text(message)
        if isinstance(message, ToolMessage):
            role = "user"
            content = f"Result of {called.get(message.tool_call_id, 'the tool')}:\n{content}"
        if isinstance(message, AIMessage):
            called |= {call["id"]: call["name"] for call in message.tool_calls}
            lines = [content, *(_spelled(call) for call in message.tool_calls)]
            content = "\n".join(line for line in lines if line)
        if spoken and spoken[-1]["role"] == role:
            spoken[-1]["content"] += f"\n\n{content}"
        else:
            spoken.append({"role": role, "content": content})
    return spoken


def _spelled(call: ToolCall) -> str:
    return json.dumps({"name": call["name"], "arguments": call["args"]}, ensure_ascii=False)


def _role(message: BaseMessage) -> str:
    roles: list[tuple[type[BaseMessage], str]] = [
        (SystemMessage, "system"),
        (HumanMessage, "user"),
        (AIMessage, "assistant"),
        (ToolMessage, "tool"),
    ]
    for kind, role in roles:
        if isinstance(message, kind):
            return role
    if isinstance(message, ChatMessage):
        return message.role
    raise ModelError(
        f"A local model cannot be sent a {type(message).__name__}. "
        "Use system, human, AI and tool messages."
    )


def _text(message: BaseMessage) -> str:
    parts = []
    for block in message.content_blocks:
        if block["type"] == "text":
            parts.append(block["text"])
        elif block["type"] not in {"reasoning", "tool_call", "invalid_tool_call"}:
            parts.append(f"[{block['type']} left out: this model reads text only]")
    return "\n".join(parts)
