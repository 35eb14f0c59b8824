"""The recording and the replaying model."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from deepnb.errors import ModelError
from deepnb.models.cassette.exchange import (
    Placeholders,
    Plain,
    describe_reply,
    describe_request,
    revive_reply,
)
from deepnb.models.cassette.masking import mask
from deepnb.models.cassette.tape import Tape, open_tape
from deepnb.models.cassette.unrecorded import unrecorded
from deepnb.models.streaming import WholeReplyModel, stream_message

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Iterator, Sequence

    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.language_models.base import LangSmithParams
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.outputs import ChatGenerationChunk, ChatResult


def record(model: BaseChatModel, path: str | os.PathLike[str]) -> RecordingModel:
    """That model, with every exchange written to the file at `path`.

    Args:
        model: Any chat model. Structured output is asked of it as a tool call.
        path: A YAML file; it is added to if it exists.

    Raises:
        ModelError: The file exists and is not a recording.
    """
    return RecordingModel(model, open_tape(Path(path)))


def replay(path: str | os.PathLike[str]) -> ReplayModel:
    """A model that answers from the recording at `path`.

    Raises:
        UnknownModelError: There is no such file.
        ModelError: It is not a recording, is damaged, or comes from a newer deepnb.
    """
    return ReplayModel(Tape.read(Path(path)))


class _TapedModel(BaseChatModel):
    """What both have in common: tools are bound as data, so that they are part of a request.

    Structured output is LangChain's own, a demanded tool call, so that it is asked alike in a
    recording and in its replay, whichever provider was recorded.
    """

    _tape: Tape = PrivateAttr()
    _schemas: dict[tuple[int, str, str], tuple[BaseTool, Plain]] = PrivateAttr(default_factory=dict)

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools; the options are the recorded model's own."""
        return self.bind(tools=list(tools), **kwargs)

    def _describe(
        self, messages: list[BaseMessage], stop: list[str] | None, options: Plain
    ) -> tuple[Plain, Placeholders]:
        tools = [self._describe_tool(tool) for tool in options.get("tools", [])]
        return describe_request(messages, tools, {**options, "stop": stop})

    def _describe_tool(self, tool: Any) -> Plain:
        # An agent offers the same tools at every step, and making a schema takes a millisecond.
        if not isinstance(tool, BaseTool):
            return _tool_schema(tool)
        key = id(tool), tool.name, tool.description
        if key not in self._schemas:
            # The tool is kept with it, so that no other gets its id.
            self._schemas[key] = tool, _tool_schema(tool)
        return self._schemas[key][1]


class RecordingModel(_TapedModel):
    """Passes everything on to a model, and writes down what was said. Made by `record`."""

    inner: BaseChatModel

    _asked: set[str] = PrivateAttr(default_factory=set)

    def __init__(self, model: BaseChatModel, tape: Tape) -> None:
        fields = {
            name: getattr(model, name) for name in ("profile", "rate_limiter", "disable_streaming")
        }
        super().__init__(inner=model, **fields)  # type: ignore[call-arg]  # a pydantic field
        self._tape = tape

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type  # noqa: SLF001  # this class stands in for it

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop, **kwargs)  # noqa: SLF001  # traces name the real one

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        # Not `invoke`: that would report the call a second time to everyone who listens.
        result = self.inner._generate(  # noqa: SLF001
            messages, stop, run_manager, **self._options(kwargs)
        )
        self._keep(messages, stop, kwargs, _complete(result))
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        result = await self.inner._agenerate(  # noqa: SLF001  # as in _generate
            messages, stop, run_manager, **self._options(kwargs)
        )
        await asyncio.to_thread(self._keep, messages, stop, kwargs, _complete(result))
        return result

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        if not self._inner_streams(async_api=False):
            yield from _streamed(self._generate(messages, stop, run_manager, **kwargs))
            return
        chunks = []
        for chunk in self.inner._stream(  # noqa: SLF001  # as in _generate
            messages, stop, **self._options(kwargs)
        ):
            chunks.append(chunk)
            yield chunk
        self._keep(messages, stop, kwargs, _complete(generate_from_stream(iter(chunks))))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        if not self._inner_streams(async_api=True):
            result = await self._agenerate(messages, stop, run_manager, **kwargs)
            for chunk in _streamed(result):
                yield chunk
            return
        chunks = []
        async for chunk in self.inner._astream(  # noqa: SLF001  # as in _generate
            messages, stop, **self._options(kwargs)
        ):
            chunks.append(chunk)
            yield chunk
        reply = _complete(generate_from_stream(iter(chunks)))
        await asyncio.to_thread(self._keep, messages, stop, kwargs, reply)

    def _inner_streams(self, *, async_api: bool) -> bool:
        return self.inner._should_stream(async_api=async_api, stream=True)  # noqa: SLF001  # its own answer

    def _options(self, kwargs: Plain) -> Plain:
        """What the model itself makes of these tools and options."""
        if "tools" not in kwargs:
            return kwargs
        options = {name: value for name, value in kwargs.items() if name != "tools"}
        bound = self.inner.bind_tools(kwargs["tools"], **options)
        if not isinstance(bound, RunnableBinding):
            raise ModelError(
                f"{type(self.inner).__name__} binds tools in a way that cannot be recorded. "
                "Record with another model."
            )
        return cast("Plain", bound.kwargs)

    def _keep(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Plain, reply: AIMessage
    ) -> None:
        request, names = self._describe(messages, stop, kwargs)
        name = self._get_ls_params().get("ls_model_name") or type(self.inner).__name__
        profile = cast("Plain", self.profile or {})
        about = {
            "model": mask(name),
            "profile": {key: value for key, value in profile.items() if isinstance(value, int)},
        }
        kept = describe_reply(reply, names)
        self._tape.add(request, kept, about, self._asked)


class ReplayModel(_TapedModel, WholeReplyModel):
    """Answers from a recording. Made by `replay`."""

    model_name: str

    _given: Counter[int] = PrivateAttr(default_factory=Counter)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, tape: Tape) -> None:
        super().__init__(  # type: ignore[call-arg]  # pydantic fields
            model_name=str(tape.header.get("model")), profile=tape.header.get("profile") or None
        )
        self._tape = tape

    @property
    def _llm_type(self) -> str:
        return "deepnb-replay"

    def _reply(
        self, messages: list[BaseMessage], stop: list[str] | None, options: Plain
    ) -> AIMessage:
        request, names = self._describe(messages, stop, options)
        position = self._tape.find(request)
        if position is None:
            raise unrecorded(request, self._tape)
        with self._lock:
            turn = self._given[position]
            self._given[position] += 1
        replies = self._tape.exchanges[position]["replies"]
        last = len(replies) - 1
        return revive_reply(replies[min(turn, last)], names, turn=max(turn - last, 0))


def _tool_schema(tool: Any) -> Plain:
    function = convert_to_openai_tool(tool)
    return cast("Plain", function.get("function", function))


def _complete(result: ChatResult) -> AIMessage:
    """The reply with all its metadata, which LangChain puts together only after us."""
    generation = result.generations[0]
    reply = cast("AIMessage", generation.message)
    outside = {**(result.llm_output or {}), **(generation.generation_info or {})}
    return reply.model_copy(update={"response_metadata": outside | reply.response_metadata})


def _streamed(result: ChatResult) -> Iterator[ChatGenerationChunk]:
    return stream_message(cast("AIMessage", result.generations[0].message))
