"""The tools of MCP servers.

A server is started, or connected to, when its tools are asked for, and lives as long as they do:
some servers keep something between calls, such as an open browser. All servers live on a thread
and an event loop of their own, so that a cell can ask for them although a notebook's loop is
running, and any other loop can call them.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import tempfile
import threading
import weakref
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from deepnb.errors import McpError, MissingExtraError
from deepnb.models.cassette.masking import mask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
    from typing import TextIO

    from langchain_core.tools import BaseTool
    from mcp import ClientSession

Result = TypeVar("Result")
_START = 60.0  # seconds: a server may have to be downloaded first
_LISTING = 30.0
_FAREWELL = 6.0
_LAST_WORDS = 300


def mcp_tools(connections: Mapping[str, Mapping[str, Any]]) -> list[BaseTool]:
    """Give the tools of MCP servers, for any agent.

    Args:
        connections: What to start or connect to, by name: `{"command": "python", "args": [...]}`,
            with `env` and `cwd` if needed, for a server on this machine; `{"url": "https://..."}`,
            with `headers` if needed, for one elsewhere.

    Raises:
        McpError: A server is described wrongly, does not start or does not answer.
        MissingExtraError: What is needed for MCP is not installed.
    """
    try:
        from langchain_mcp_adapters.tools import load_mcp_tools
    except ImportError:
        raise MissingExtraError("langchain-mcp-adapters", "'deepnb[mcp]'") from None
    servers = [_Server(name, _checked(name, each)) for name, each in connections.items()]

    async def load() -> list[list[BaseTool] | BaseException]:
        # A server is all that is needed here of a session.
        work = (load_mcp_tools(server) for server in servers)  # type: ignore[arg-type]
        return await asyncio.gather(*work, return_exceptions=True)

    found: list[tuple[_Server, list[BaseTool]]] = []
    for server, tools in zip(servers, _wait(load()), strict=True):
        if isinstance(tools, BaseException):
            for other in servers:  # none of them is left running for nothing
                other.close()
            raise tools
        found.append((server, tools))
    names = Counter(tool.name for _, tools in found for tool in tools)
    for server, tools in found:
        for tool in tools:
            _add_sync(tool)
            if names[tool.name] > 1:  # two servers have one of that name
                tool.name = f"{server.name}_{tool.name}"
    return [tool for _, tools in found for tool in tools]


def _checked(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A connection in the words of the library that makes it."""
    connection = dict(given)
    if "command" in connection:
        return {"transport": "stdio", "args": [], **connection}
    if "url" in connection:
        return {"transport": "http", **connection}
    raise McpError(
        f"The MCP server {name!r} needs a 'command' (and 'args') to start it, or a 'url' to "
        "connect to."
    )


def _add_sync(tool: BaseTool) -> None:
    """Let the tool be called where nothing is awaited, too."""
    coroutine: Callable[..., Coroutine[Any, Any, Any]] = tool.coroutine  # type: ignore[attr-defined]  # a StructuredTool

    @functools.wraps(coroutine)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _wait(coroutine(*args, **kwargs))

    tool.func = call


class _Server:
    """One server: as much of a `ClientSession` as tools need, for callers on any loop."""

    def __init__(self, name: str, connection: dict[str, Any]) -> None:
        self.name = name
        self._connection = connection
        self._life: _Life | None = None
        self._starting = asyncio.Lock()

    async def list_tools(self, cursor: str | None = None) -> Any:
        """Ask which tools it has."""
        try:
            async with asyncio.timeout(_START + _LISTING):
                return await self._elsewhere("list_tools", cursor)
        except TimeoutError:
            raise McpError(
                f"The MCP server {self.name!r} does not say which tools it has. Try it in a "
                "terminal."
            ) from None

    async def call_tool(self, name: str, arguments: dict[str, Any], **_: Any) -> Any:
        """Have it call one of them."""
        return await self._elsewhere("call_tool", name, arguments)

    async def _elsewhere(self, method: str, *args: Any) -> Any:
        """Ask on the servers' own loop; giving up here gives up there."""
        asked = asyncio.run_coroutine_threadsafe(self._ask(method, *args), _loop())
        return await asyncio.wrap_future(asked)

    async def _ask(self, method: str, *args: Any) -> Any:
        life = await self._alive()
        answer = asyncio.ensure_future(getattr(life.session, method)(*args))
        try:
            # A server that has died since the last call may leave its answer waiting for ever.
            await asyncio.wait({answer, life.task}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done() and answer.exception() is None:
                return answer.result()
        finally:
            answer.cancel()
        error = answer.exception() if answer.done() else None
        await life.end()
        raise McpError(
            f"The MCP server {self.name!r} has failed{life.last_words(error)}. It is started "
            "anew with the next call; if that does not help, try it in a terminal."
        )

    async def _alive(self) -> _Life:
        async with self._starting:
            if self._life is None or self._life.task.done():
                self._life = await self._start()
            return self._life

    async def _start(self) -> _Life:
        life = _Life(self._connection)
        # It ends with its tools: they know this server, and nothing else does.
        weakref.finalize(self, _loop().call_soon_threadsafe, life.stop.set)
        try:
            async with asyncio.timeout(_START):
                await life.ready
        except Exception as error:  # noqa: BLE001  # a server may be anybody's
            await life.end()
            raise McpError(
                f"The MCP server {self.name!r} could not be started or reached"
                f"{life.last_words(error)}. Check its command or url, and try it in a terminal."
            ) from None
        return life

    def close(self) -> None:
        """End it; a later call starts it anew."""
        if self._life:
            _loop().call_soon_threadsafe(self._life.stop.set)


class _Life:
    """A server from its start to its end, on the servers' loop."""

    session: ClientSession

    def __init__(self, connection: dict[str, Any]) -> None:
        self.stop = asyncio.Event()
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # closed with it
        self.task = asyncio.create_task(self._live(connection))
        _lives.add(self)

    async def _live(self, connection: dict[str, Any]) -> None:
        try:
            async with _connected(connection, self._log) as session:
                await session.initialize()
                self.session = session
                self.ready.set_result(None)
                await self.stop.wait()
        except Exception as error:  # noqa: BLE001  # a server may be anybody's
            if not self.ready.done():
                self.ready.set_exception(error)
        finally:
            _lives.discard(self)

    async def end(self) -> None:
        """End it, by force if it was never ready."""
        self.stop.set()
        if not self.ready.done() or self.ready.cancelled():
            self.task.cancel()
        await asyncio.wait({self.task}, timeout=_FAREWELL)

    def last_words(self, error: BaseException | None) -> str:
        """What the server has written last, or else what went wrong here."""
        self._log.seek(0, 2)
        self._log.seek(max(0, self._log.tell() - 4 * _LAST_WORDS))
        written = self._log.read().strip()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        words = mask(" ".join((written or str(error or "")).split()))[-_LAST_WORDS:]
        return f": {words.rstrip('.')}" if words else ""


_lives: set[_Life] = set()
_one_at_a_time = threading.Lock()


@asynccontextmanager
async def _connected(connection: dict[str, Any], log: TextIO) -> AsyncIterator[ClientSession]:
    from langchain_mcp_adapters.sessions import create_session
    from mcp import ClientSession, StdioServerParameters, stdio_client

    if connection["transport"] != "stdio":
        async with create_session(connection) as session:  # type: ignore[arg-type]  # checked there
            yield session
        return
    # By itself it would write to a notebook's stderr, which not every kernel can lend out.
    options = {name: value for name, value in connection.items() if name != "transport"}
    async with (
        stdio_client(StdioServerParameters(**options), errlog=log) as (read, write),
        ClientSession(read, write) as session,
    ):
        yield session


def _wait(work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


def _loop() -> asyncio.AbstractEventLoop:
    """The loop that all servers live on; it begins with the first of them."""
    with _one_at_a_time:
        return _new_loop()


@functools.cache
def _new_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="deepnb-mcp", daemon=True).start()
    atexit.register(lambda: _wait(_end_all()))
    return loop


async def _end_all() -> None:
    """End every server before this process ends, so that none is left behind."""
    await asyncio.gather(*(life.end() for life in list(_lives)))
