"""Where two conversations differ."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, ToolMessage

from deepnb.events import short
from deepnb.session.stream import messages_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Row = tuple[str, str, str | None, str | None]


def differences(here: Any, there: Any) -> Iterator[Row]:
    """Compare two states: what, where, how it is here and how it is there."""
    pairs = zip_longest(_lines(here), _lines(there))
    for position, (one, other) in enumerate(pairs, start=1):
        if one != other:
            yield "message", str(position), one, other
    yield from _by_key("todo", _todos(here), _todos(there))
    yield from _by_key("file", _files(here), _files(there))


def _by_key(what: str, here: Mapping[str, str], there: Mapping[str, str]) -> Iterator[Row]:
    for key in dict.fromkeys([*here, *there]):
        if here.get(key) != there.get(key):
            yield what, key, here.get(key), there.get(key)


def _lines(state: Any) -> list[str]:
    """Give the messages of a conversation, each as a line; ids and timing do not count."""
    lines = []
    for message in messages_of(state):
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        parts = [str(message.text), *(f"{call['name']}({short(call['args'])})" for call in calls)]
        who = message.name if isinstance(message, ToolMessage) else message.type
        lines.append(f"{who}: {' '.join(part for part in parts if part)}")
    return lines


def _todos(state: Any) -> dict[str, str]:
    todos = state.get("todos") if isinstance(state, dict) else None
    items = [todo for todo in todos if isinstance(todo, dict)] if isinstance(todos, list) else []
    return {str(todo.get("content")): str(todo.get("status")) for todo in items}


def _files(state: Any) -> dict[str, str]:
    files = state.get("files") if isinstance(state, dict) else None
    found = files.items() if isinstance(files, dict) else ()
    return {str(path): str(file.get("content")) for path, file in found if isinstance(file, dict)}
