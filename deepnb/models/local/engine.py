"""Loaded weights, and the conversation with llama.cpp."""

from __future__ import annotations

import json
import queue
import secrets
import threading
import urllib.request
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.exceptions import ContextOverflowError

from deepnb.errors import MissingExtraError, ModelError, UnknownModelError
from deepnb.models.local.loading import failures, key_of, loading, under_way
from deepnb.models.readiness import Readiness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.models.local.loading import Key

# llama.cpp would keep up to 8 GB of earlier prompts in memory: too much for a notebook's machine.
_PROMPT_CACHE_MIB = 1024
# How llama.cpp ends a reply whose tool call it cannot read: what came before stands as it is.
_MALFORMED = "does not match the expected"

_loading = threading.Lock()
_loaded: weakref.WeakValueDictionary[Key, Engine]
_loaded = weakref.WeakValueDictionary()


def shared_engine(path: str, context: int, threads: int | None) -> Engine:
    """The engine for this file, loaded if nobody holds it yet.

    It lives as long as somebody holds it, so that memory is free again when the last model of a
    file is gone. Another context size needs an engine of its own.
    """
    key = key_of(path, context, threads)
    with _loading:
        engine = _loaded.get(key)
        if engine is None:
            with loading(key):
                engine = _loaded[key] = Engine(path, context, threads)
        return engine


def readiness_of(path: str, context: int, threads: int | None) -> Readiness:
    """How the weights of a file stand; llama.cpp does not tell how many it has read."""
    key = key_of(path, context, threads)
    if key in _loaded:
        return Readiness("ready")
    if key in under_way:
        return Readiness("loading", "its weights are being read")
    if key in failures:
        return Readiness("failed", failures[key])
    return Readiness("ready", "its weights are read with the first question")


class Engine:
    """One llama.cpp server inside this process.

    It queues its callers itself, so any number of threads may ask at once.

    Attributes:
        knows_tools: Whether the model's chat template has a place for tools.
    """

    def __init__(self, path: str, context: int, threads: int | None) -> None:
        try:
            import xllamacpp  # type: ignore[import-untyped]  # it ships no types
        except ImportError as error:
            raise MissingExtraError("xllamacpp", "'deepnb[local]'") from error
        params = xllamacpp.CommonParams()
        params.model.path = str(Path(path).expanduser())
        params.n_ctx = context
        params.cache_ram_mib = _PROMPT_CACHE_MIB
        params.verbosity = -1
        if threads is not None:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        # The server also listens on a loopback port, which other users of this machine, and the
        # web pages it shows, can reach: nobody but us gets the key.
        key = secrets.token_urlsafe()
        params.api_keys = [key]
        params.ui = False
        try:
            server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise UnknownModelError(
                f"llama.cpp could not load {path}. The file may be damaged, need more memory than "
                "there is (try a smaller context), or be newer than the installed xllamacpp "
                "(pip install -U xllamacpp)."
            ) from error
        self._servers = [server]
        # Also at the end of the program: else its threads go on while the interpreter is taken
        # apart around them.
        weakref.finalize(self, self._servers.clear)
        capabilities = _properties(server.listening_address, key)["chat_template_caps"]
        self.knows_tools = bool(capabilities["supports_tools"])

    def events(self, body: dict[str, Any], abandoned: threading.Event) -> Iterator[dict[str, Any]]:
        """Ask for a chat completion, and yield its events as they come.

        llama.cpp calls back from the thread that asks it, hence the thread here. The generation
        stops at the next token once the iterator is closed or `abandoned` is set.
        """
        events: queue.SimpleQueue[dict[str, Any] | Exception | None] = queue.SimpleQueue()

        def on_event(event: dict[str, Any]) -> bool:
            events.put(event)
            # An answer that nobody waits for must not hold up the end of the program either.
            return abandoned.is_set() or not threading.main_thread().is_alive()

        def ask() -> None:
            try:
                self._servers[0].handle_chat_completions({**body, "stream": True}, on_event)
            except Exception as error:  # noqa: BLE001  # raised again below, in the caller's thread
                events.put(error)
            finally:
                events.put(None)

        # Never a daemon: the interpreter must not end under llama.cpp's feet.
        threading.Thread(target=ask, name="deepnb-local-model", daemon=False).start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, Exception):
                    raise ModelError(f"llama.cpp refused the request: {event}") from event
                if "error" in event:
                    if _MALFORMED in event["error"].get("message", ""):
                        return
                    raise _explained(event["error"])
                yield event
        finally:
            abandoned.set()


def _properties(address: str, key: str) -> dict[str, Any]:
    """What the server knows about the model; it tells this over HTTP only."""
    request = urllib.request.Request(  # noqa: S310  # the address is our own server's
        f"{address}/props", headers={"Authorization": f"Bearer {key}"}
    )
    # A proxy configured in the environment does not serve this process's loopback port.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request) as response:
        properties: dict[str, Any] = json.load(response)
        return properties


def _explained(error: dict[str, Any]) -> Exception:
    if error.get("type") == "exceed_context_size_error":
        return ContextOverflowError(
            f"The conversation has {error['n_prompt_tokens']} tokens and the model's window "
            f"{error['n_ctx']}. Shorten the conversation, or give LocalModel a larger context."
        )
    return ModelError(f"llama.cpp refused the request: {error.get('message', error)}")
