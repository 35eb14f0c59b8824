"""The offline model as langchain sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from deepnb.models.offline.moves import reply
from deepnb.models.offline.turn import Turn, Waiting
from deepnb.models.streaming import WholeReplyModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.language_models.model_profile import ModelProfile
    from langchain_core.runnables import Runnable


class OfflineModel(WholeReplyModel):
    """Answers from files in verbatim quotes, with no language model and no network.

    It has no memory: its next message is a function of the conversation and of the tools bound to
    it (but for the advice on how to configure a model, which depends on what is configured), so
    that one object serves any number of threads, forks and resumed runs.
    """

    @property
    def _llm_type(self) -> str:
        return "deepnb-offline"

    def _resolve_model_profile(self) -> ModelProfile | None:
        # It reads a conversation of any length, and could not write a summary of one.
        return {"max_input_tokens": 1_000_000_000}

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Offer tools; those it knows are used, whatever order their arguments come in."""
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        schemas = {each["name"]: each.get("parameters", {}) for each in functions}
        return self.bind(tool_schemas=schemas, **kwargs)

    def _reply(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> AIMessage:
        metadata = {"model_name": "deepnb-offline"}
        try:
            text = self._say(Turn(messages, options.get("tool_schemas", {})))
        except Waiting as waiting:
            return AIMessage("", tool_calls=waiting.calls, response_metadata=metadata)
        return AIMessage(text, response_metadata=metadata)

    def _say(self, turn: Turn) -> str:
        """Answer a turn; agents with rules of their own say it otherwise."""
        return reply(turn)
