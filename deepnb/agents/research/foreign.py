"""Tools that others have made: any LangChain tool, called with the one text that a step has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pydantic import ValidationError

from deepnb.errors import StepError

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_LONGEST_SCHEMA = 1000


async def call_langchain(tool: BaseTool, given: str) -> str:
    """Call a tool, and give its answer as text.

    Raises:
        StepError: The text does not fit what the tool takes, or the tool says that it has failed.
    """
    from langchain_core.messages import ToolMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool

    schema = convert_to_openai_tool(tool)["function"].get("parameters", {})
    call = {
        "type": "tool_call",
        "id": uuid4().hex,
        "name": tool.name,
        "args": _arguments(tool.name, schema, given.strip()),
    }
    try:
        message = await tool.ainvoke(call)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise _misfit(tool.name, schema, f"{where}: {problem['msg']}") from None
    if not isinstance(message, ToolMessage):
        raise StepError(f"{tool.name} gave no text, so there is nothing to read.")
    if message.status == "error":
        raise StepError(f"{tool.name} has failed: {message.text}")
    return message.text


def _arguments(name: str, schema: dict[str, Any], given: str) -> dict[str, Any]:
    """Make arguments of a text: itself, if the tool takes one text, else the object it spells."""
    properties: dict[str, Any] = schema.get("properties", {})
    if not properties:
        return {}
    try:
        spelled = json.loads(given)
    except (ValueError, RecursionError):
        spelled = None
    is_object = isinstance(spelled, dict) and set(spelled) <= set(properties)
    required = schema.get("required") or list(properties)
    if not is_object and len(required) == 1 and properties[required[0]].get("type") == "string":
        return {required[0]: given}
    if not isinstance(spelled, dict):
        raise _misfit(name, schema, "it is not a JSON object")
    if unknown := sorted(set(spelled) - set(properties)):
        raise _misfit(name, schema, f"it takes no {unknown[0]!r:.60}")
    if missing := [each for each in schema.get("required", []) if each not in spelled]:
        raise _misfit(name, schema, f"{missing[0]!r} is missing")
    return spelled


def _misfit(name: str, schema: dict[str, Any], problem: str) -> StepError:
    form = json.dumps(schema.get("properties", {}), ensure_ascii=False)[:_LONGEST_SCHEMA]
    needed = ", ".join(schema.get("required", [])) or "none of them"
    return StepError(
        f"The input does not fit {name}: {problem}. Write a JSON object with these properties: "
        f"{form}. Needed: {needed}."
    )
