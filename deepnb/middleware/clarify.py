"""Asking the person, when only the person can know.

The tools pause the run with a `clarification_request`; what the person says becomes the tool's
result. The answer belongs to one tool call by its id, so two open questions cannot be mixed up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import SystemMessage
from pydantic import BaseModel, Field, StringConstraints

from deepnb.interrupts import ChoiceAnswer, ClarificationRequest, Option, TextAnswer, ask

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse

PROMPT = """\
## Asking the person

`ask_user` and `ask_choices` put a question to the person you work for. Ask when the goal itself \
is unclear, when several readings would lead to different results, or when a preference of theirs \
decides what you do. One question at a time, and the most important one first; offer choices where \
you can foresee the answers.

Do not ask how to use your tools, whether to take an obvious next step, or for what their files or \
earlier messages already tell you: look it up, or choose sensibly and say what you chose."""

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Choice(BaseModel):
    """An answer to offer."""

    id: Line = Field(description="Short and unique among the options.")
    label: Line = Field(description="What the person reads.")


@tool
def ask_user(question: Line, runtime: ToolRuntime) -> str:
    """Ask the person a question that they answer in their own words.

    Args:
        question: The question, complete in itself.
        runtime: Injected.
    """
    request: ClarificationRequest = {
        "type": "clarification_request",
        "tool": "ask_user",
        "tool_call_id": runtime.tool_call_id or "",
        "question": question,
        "options": [],
        "allow_multiple": False,
        "allow_freeform": True,
    }
    return ask(request, TextAnswer).response


@tool
def ask_choices(
    question: Line,
    options: Annotated[list[Choice], Field(min_length=1, max_length=12)],
    runtime: ToolRuntime,
    allow_multiple: bool = False,  # noqa: FBT001, FBT002  # a model names its arguments
    allow_freeform: bool = True,  # noqa: FBT001, FBT002  # as above
) -> str:
    """Ask the person to choose among answers you can foresee.

    Args:
        question: The question, complete in itself.
        options: What to choose from.
        runtime: Injected.
        allow_multiple: Whether several may be chosen.
        allow_freeform: Whether the person may add or answer in their own words.
    """
    if len({option.id for option in options}) < len(options):
        return "Error: two options have the same id. Give each its own and ask again."
    labels = {option.id: option.label for option in options}
    request: ClarificationRequest = {
        "type": "clarification_request",
        "tool": "ask_choices",
        "tool_call_id": runtime.tool_call_id or "",
        "question": question,
        "options": [Option(id=option.id, label=option.label) for option in options],
        "allow_multiple": allow_multiple,
        "allow_freeform": allow_freeform,
    }
    answer = ask(request, ChoiceAnswer)
    chosen = "; ".join(labels[each] for each in answer.selected)
    return " | ".join(part for part in (chosen, answer.freeform) if part)


class ClarifyMiddleware(AgentMiddleware[Any, Any, Any]):
    """Give an agent `ask_user` and `ask_choices`, and the sense not to overuse them."""

    tools = (ask_user, ask_choices)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Tell the model when to ask."""
        return handler(_prompted(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Tell the model when to ask."""
        return await handler(_prompted(request))


def _prompted(request: ModelRequest[Any]) -> ModelRequest[Any]:
    return request.override(system_message=with_prompt(request.system_message, PROMPT))


def with_prompt(message: SystemMessage | None, prompt: str) -> SystemMessage:
    """Add a section to the system message."""
    sections = list(message.content_blocks) if message else []
    text = f"\n\n{prompt}" if sections else prompt
    return SystemMessage(content_blocks=[*sections, {"type": "text", "text": text}])
