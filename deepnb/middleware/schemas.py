"""What arguments a tool takes, for a person who is to change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LONGEST = 300  # characters of a description; longer ones are written for models


def schemas_of(tools: Iterable[Any], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Give the JSON schemas of some tools' arguments, by name.

    Without what a run adds to a call by itself, such as its state. A tool that has no schema, or
    that its provider runs, is left out.
    """
    wanted = set(names)
    found = {}
    for each in tools:
        name = getattr(each, "name", None) or getattr(each, "__name__", None)
        if name and name not in wanted:
            continue
        try:
            known = each if isinstance(each, BaseTool | dict) else tool(each)
            described: Mapping[str, Any] = convert_to_openai_tool(known)["function"]
        except Exception:  # noqa: BLE001, S112  # a tool of somebody else's; it has a form of its own
            continue
        if described["name"] in wanted and isinstance(described.get("parameters"), dict):
            found[str(described["name"])] = _brief(described["parameters"])
    return found


def _brief(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _brief(value)
            for key, value in schema.items()
            if not (key == "description" and isinstance(value, str) and len(value) > _LONGEST)
        }
    return [_brief(item) for item in schema] if isinstance(schema, list) else schema
