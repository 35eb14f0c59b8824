"""A GGUF file as a LangChain chat model."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import (
    agenerate_from_stream,
    generate_from_stream,
)
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr, model_validator

from deepnb.errors import ModelError
from deepnb.models.local.dialect import compose
from deepnb.models.local.engine import Engine, readiness_of, shared_engine
from deepnb.models.local.gguf import trained_context
from deepnb.models.local.reply import Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import AIMessage, BaseMessage

    from deepnb.models.readiness import Readiness


class LocalModel(BaseChatModel):
    """A model that runs here, from one GGUF file; no key and no network.

    The file's header is read at once, its weights on first use. All models of one file and context
    share them.

    Args:
        path: The GGUF file.
        context: Tokens of prompt and answer together; never more than the model was trained for.
            A larger window takes more memory.
        max_tokens: Where an answer is cut off; None for no limit but the context.
        temperature: 0 gives the same answer every time.
        threads: CPU threads; llama.cpp's own choice unless given.

    Raises:
        UnknownModelError: The file is missing, unreadable or not a GGUF file.
    """

    path: str
    context: int = Field(default=16384, gt=0)
    max_tokens: int | None = Field(default=2048, gt=0)
    temperature: float = Field(default=0.0, ge=0)
    threads: int | None = Field(default=None, gt=0)

    _engine: Engine | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _read_header(self) -> LocalModel:
        self.context = min(self.context, trained_context(self.path) or self.context)
        if self.profile is None:
            self.profile = {"max_input_tokens": self.context, "tool_calling": True}
        return self

    @property
    def _llm_type(self) -> str:
        return "deepnb-local"

    @property
    def model_name(self) -> str:
        """The file's name, as traces show it."""
        return Path(self.path).stem

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in ("path", "context", "max_tokens", "temperature")
        }

    def load(self) -> None:
        """Load the weights now, so that the first answer does not wait for them."""
        self._loaded()

    @property
    def readiness(self) -> Readiness:
        """Whether its weights are loaded."""
        return readiness_of(self.path, self.context, self.threads)

    def _loaded(self) -> Engine:
        if self._engine is None:
            self._engine = shared_engine(self.path, self.context, self.threads)
        return self._engine

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools, or demand a call.

        Args:
            tools: Anything LangChain takes for a tool.
            tool_choice: "any", "required" or True demands a call; a tool's name, or OpenAI's
                dictionary with one, demands that tool; "none" forbids calls.
            **kwargs: Bound as they are.
        """
        offered = [convert_to_openai_tool(tool) for tool in tools]
        if isinstance(tool_choice, dict):
            tool_choice = str(tool_choice["function"]["name"])
        if tool_choice is True or tool_choice == "any":
            tool_choice = "required"
        if tool_choice and tool_choice not in {"auto", "none", "required"}:
            chosen = [tool for tool in offered if tool["function"]["name"] == tool_choice]
            if not chosen:
                names = ", ".join(tool["function"]["name"] for tool in offered)
                raise ModelError(f"tool_choice {tool_choice!r} is none of the tools: {names}.")
            offered, tool_choice = chosen, "required"
        return self.bind(tools=offered, tool_choice=tool_choice or None, **kwargs)

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, Any]:
        """Answer with data of this shape: a demanded call, held to the schema by a grammar.

        LangChain returns None for a call that was cut off; here that is an error.
        """
        chain = super().with_structured_output(schema, include_raw=True, **kwargs)

        def check(result: dict[str, Any]) -> Any:
            if result["parsed"] is None and result["parsing_error"] is None:
                result["parsing_error"] = ModelError(
                    "The model's answer does not fit the schema or was cut off at "
                    f"{self.max_tokens} tokens. Raise max_tokens, or bound the schema's texts "
                    "and lists (maxLength, maxItems)."
                )
            if include_raw:
                return result
            if result["parsing_error"]:
                raise result["parsing_error"]
            return result["parsed"]

        return chain | RunnableLambda(check)

    def _chunks(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        options: dict[str, Any],
        abandoned: threading.Event,
    ) -> Iterator[ChatGenerationChunk]:
        engine = self._loaded()
        request = compose(
            messages,
            options.get("tools") or [],
            options.get("tool_choice"),
            native=engine.knows_tools,
        )
        reply = Reply(request)
        body = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens or -1,
            "stop": stop or [],
            "stream_options": {"include_usage": True},
            **request.body,
        }
        for event in engine.events(body, abandoned):
            for message in reply.take(event):
                yield ChatGenerationChunk(message=message)
        yield ChatGenerationChunk(message=reply.end(self.model_name))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from self._chunks(messages, stop, kwargs, threading.Event())

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        abandoned = threading.Event()
        chunks = self._chunks(messages, stop, kwargs, abandoned)
        try:
            while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
                yield chunk
        finally:
            # A generator that runs in another thread cannot be closed from here.
            abandoned.set()

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        # Through the stream, so that a cancelled task also stops the generation.
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))
