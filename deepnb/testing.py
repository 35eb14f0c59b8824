"""What tests of agents need: a model that says what it is told, and no other.

`ScriptedModel` is the one stand-in deepnb's own tests use, and it is public because yours need
the same. `forbid_model_calls` makes sure that nothing else is asked: a test suite that can reach
a provider is slow, costs money and passes for the wrong reasons.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from pydantic import PrivateAttr

from deepnb.errors import ModelError
from deepnb.models.streaming import stream_message

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
    from langchain_core.runnables import Runnable


class ScriptError(ModelError, AssertionError):
    """A scripted model was called more often than its script has steps."""


class ForbiddenModelCallError(ModelError, AssertionError):
    """A real model was called where only scripted ones may be."""


@dataclass(frozen=True)
class Call:
    """A tool call for a script; written as `call(name, **args)`."""

    name: str
    args: dict[str, Any]


def call(name: str, /, **args: Any) -> Call:
    """Let a scripted model call the tool `name` with these arguments."""
    return Call(name, args)


@dataclass(frozen=True)
class Seen:
    """What one call of a scripted model was given."""

    messages: list[BaseMessage]
    tools: list[str]
    options: dict[str, Any] = field(default_factory=dict)


Reply: TypeAlias = str | Call | list[Call] | AIMessage | Exception
Step: TypeAlias = Reply | Callable[[list[BaseMessage]], Reply]
Script: TypeAlias = Sequence[Step] | Callable[[list[BaseMessage]], Reply]


class ScriptedModel(BaseChatModel):
    """A chat model that follows a script.

    A step is a text, a `call(...)`, a list of calls, an `AIMessage`, an exception to raise, or a
    function of the messages that returns one of these. A list of steps is used up, one step per
    model call, over all threads together. A function in place of the list is asked every time:
    that makes a model without memory, which says the same again after a restart or a fork.

    The ids of calls come from the conversation: the same one gives the same ids, whichever model
    object is asked, and none comes twice in a thread. Give an `AIMessage` to choose them yourself.

    Args:
        script: The steps, or one function.
        delay: Seconds to wait before each reply, and before each token of a streamed one.
        window: Context size to report, for what depends on it (summarisation).
    """

    script: Any
    delay: float = 0.0

    _calls: list[Seen] = PrivateAttr(default_factory=list)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, script: Script, *, delay: float = 0.0, window: int | None = None) -> None:
        fields: dict[str, Any] = {"script": script, "delay": delay}
        if window:
            fields["profile"] = {"max_input_tokens": window}
        super().__init__(**fields)

    @property
    def _llm_type(self) -> str:
        return "deepnb-scripted"

    @property
    def calls(self) -> list[Seen]:
        """What each call so far was given, in order."""
        return self._calls

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Note the tools, so that `calls` can tell which ones were offered."""
        return self.bind(tool_names=[_tool_name(tool) for tool in tools], **kwargs)

    def _next(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        names = options.pop("tool_names", [])
        with self._lock:
            position = len(self._calls)
            self._calls.append(Seen(list(messages), names, options))
        if callable(self.script):
            step = self.script
        elif position < len(self.script):
            step = self.script[position]
        else:
            raise ScriptError(
                f"The script has {len(self.script)} steps, and this is call {position + 1}. "
                f"Add a step. The last message was: {messages[-1].text[:200]!r}"
            )
        reply = step(messages) if callable(step) else step
        return _message(reply, messages)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.delay:
            time.sleep(self.delay)
        return _result(self._next(messages, kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.delay:
            await asyncio.sleep(self.delay)
        return _result(self._next(messages, kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in stream_message(self._next(messages, kwargs)):
            time.sleep(self.delay)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in stream_message(self._next(messages, kwargs)):
            await asyncio.sleep(self.delay)
            yield chunk


def _tool_name(tool: Any) -> str:
    # Converting the whole schema, as providers do, would cost more than the rest of a step.
    name = tool.get("name") if isinstance(tool, dict) else getattr(tool, "name", None)
    return str(name or convert_to_openai_tool(tool)["function"]["name"])


def _message(reply: Reply, messages: list[BaseMessage]) -> AIMessage:
    if isinstance(reply, Exception):
        raise reply
    if isinstance(reply, AIMessage):
        return reply
    if isinstance(reply, str):
        return AIMessage(reply)
    calls = [reply] if isinstance(reply, Call) else reply
    place = _place(messages)
    return AIMessage(
        "",
        tool_calls=[
            {"name": each.name, "args": each.args, "id": f"call_{place}_{index}"}
            for index, each in enumerate(calls)
        ],
    )


def _place(messages: list[BaseMessage]) -> str:
    """Tell this point of a conversation from all others of its thread."""
    # Not their number alone, which comes again once a conversation was summed up.
    said = [
        (m.type, m.content, [each["id"] for each in getattr(m, "tool_calls", ())])
        for m in messages
        if m.type != "system"
    ]
    return hashlib.sha256(repr((_caller(), said)).encode(errors="replace")).hexdigest()[:8]


def _caller() -> str:
    """Give the task that a subagent works in: two of them may be told the same words."""
    try:
        namespace: str = get_config().get("configurable", {}).get("checkpoint_ns", "")
    except RuntimeError:  # in no graph
        return ""
    return namespace.rpartition("|")[0]


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


@contextmanager
def forbid_model_calls() -> Iterator[None]:
    """Let every model but deepnb's own harmless ones fail when it is called.

    Put it into an autouse fixture of your `conftest.py`. Scripted, offline and replayed models
    go on working; any other raises `ForbiddenModelCallError`, whichever way it is called.
    """
    # All other ways, such as `invoke`, `batch` and `transform`, lead through one of these.
    completions = [(BaseLLM, name) for name in ("generate", "agenerate", "stream", "astream")]
    chats = [(BaseChatModel, name) for _, name in completions]
    events = [(BaseChatModel, name) for name in ("stream_events", "astream_events")]
    with ExitStack() as undo:
        for owner, name in [*completions, *chats, *events]:
            original = getattr(owner, name)
            setattr(owner, name, _guarded(original))
            undo.callback(setattr, owner, name, original)
        yield


def _guarded(original: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: BaseChatModel | BaseLLM, *args: Any, **kwargs: Any) -> Any:
        _check_allowed(self)
        return original(self, *args, **kwargs)

    return method


@contextmanager
def allow_model_calls() -> Iterator[None]:
    """Let real models be called again, for a test that brings its own server or weights.

    For all threads: an agent's models are called from threads of its own.
    """
    _open_permits.append(None)
    try:
        yield
    finally:
        _open_permits.pop()


_open_permits: list[None] = []
_HARMLESS = frozenset({"deepnb-scripted", "deepnb-offline", "deepnb-replay"})


def _check_allowed(model: BaseChatModel | BaseLLM) -> None:
    kind = model._llm_type  # noqa: SLF001  # langchain's own hook for telling models apart
    if kind not in _HARMLESS and not _open_permits:
        raise ForbiddenModelCallError(
            f"{type(model).__name__} was called inside a test. Use deepnb.testing.ScriptedModel, a "
            "recording (deepnb.models.replay), or `with deepnb.testing.allow_model_calls():`."
        )
