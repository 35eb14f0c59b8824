"""The files of whoever is attached, a browser most of all, reached by asking.

Each backend call is one `client_tool_execution` interrupt: the run is saved and rests until the
answer comes, in this process or the next. The files stay with their owner, and only what a tool
asked for crosses the wire. `deepnb.files.wire` says what may come back.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from deepagents.backends.protocol import (
    BackendProtocol,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)

from deepnb.errors import DeepnbError, PathError, RunConfigError
from deepnb.files import wire
from deepnb.files.paths import join, safe_parts
from deepnb.interrupts import ClientToolAnswer, ClientToolRequest, ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel, JsonValue

    from deepnb.files.search import Passage

Answer = TypeVar("Answer", bound=ClientToolAnswer[Any])

_TEXT_ONLY = "Whole files cannot be sent to or from the client. Read or write them as text."


@dataclass
class _ToolCall:
    id: str
    pause: Exception | None = None


_current: ContextVar[_ToolCall | None] = ContextVar("deepnb_tool_call", default=None)


@contextmanager
def tool_call(tool_call_id: str) -> Iterator[None]:
    """Say which tool call the backend calls inside belong to; a middleware wraps each one in it.

    It also lets a question through that the tool swallowed: deepagents' glob catches every
    exception, and a run pauses by raising one.
    """
    call = _ToolCall(tool_call_id)
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)
    if call.pause is not None:
        raise call.pause


class Client(BackendProtocol):
    """Files that only the client can reach; every call pauses the run until it is answered.

    What the client gets wrong is refused and stays asked; what it reports as an error becomes
    the error of the result. Use it within `tool_call`, in a graph that has a checkpointer.
    """

    def __repr__(self) -> str:
        return "Client()"

    def ls(self, path: str) -> LsResult:
        """List a folder."""
        return LsResult(**_fields(self._ask("list_files", ClientToolAnswer[wire.Listing], path)))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Read lines."""
        args: dict[str, JsonValue] = {"offset": max(offset, 0), "limit": max(limit, 0)}
        answer = self._ask("read_file", ClientToolAnswer[wire.Content], file_path, args)
        return ReadResult(error=answer.error) if answer.error else answer.result.to_result()

    def write(self, file_path: str, content: str) -> WriteResult:
        """Create or replace a file."""
        answer = self._ask(
            "write_file", ClientToolAnswer[wire.Written], file_path, {"content": content}
        )
        return WriteResult(**_fields(answer))

    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,  # noqa: FBT001, FBT002  # the protocol's signature
    ) -> EditResult:
        """Replace an exact text."""
        args: dict[str, JsonValue] = {"search": old_string, "replace": new_string}
        args["replace_all"] = replace_all
        answer = self._ask("patch_file", ClientToolAnswer[wire.Patched], file_path, args)
        return EditResult(**_fields(answer))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Find files by name."""
        answer = self._ask("glob_files", ClientToolAnswer[wire.Files], path, {"pattern": pattern})
        return GlobResult(**_fields(answer))

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
        case_sensitive: bool = True,
    ) -> GrepResult:
        """Find lines with a literal text."""
        args: dict[str, JsonValue] = {"pattern": pattern, "glob": glob}
        args |= {"case_sensitive": case_sensitive, "max_count": max_count}
        answer = self._ask("grep_files", ClientToolAnswer[wire.Lines], path, args)
        return GrepResult(**_fields(answer))

    def search(self, query: str, path: str = "/", top_k: int = 5) -> list[Passage]:
        """Find the passages that fit `query` best.

        Raises:
            DeepnbError: If the client reports an error.
        """
        args: dict[str, JsonValue] = {"query": query, "top_k": top_k}
        answer = self._ask("search_files", ClientToolAnswer[wire.Passages], path, args)
        if answer.error:
            raise DeepnbError(answer.error)
        return [
            {"path": found.path, "line": found.line, "text": found.text, "score": found.score}
            for found in answer.result.matches
        ]

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Refuse, since the wire carries text only."""
        return [FileUploadResponse(path=path, error=_TEXT_ONLY) for path, _ in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Refuse, since the wire carries text only."""
        return [FileDownloadResponse(path=path, error=_TEXT_ONLY) for path in paths]

    # Asking never blocks, it raises; so the asynchronous twins need no thread.

    async def als(self, path: str) -> LsResult:
        """Do the same as `ls`."""
        return self.ls(path)

    async def aread(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Do the same as `read`."""
        return self.read(file_path, offset, limit)

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        """Do the same as `write`."""
        return self.write(file_path, content)

    async def aedit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,  # noqa: FBT001, FBT002  # the protocol's signature
    ) -> EditResult:
        """Do the same as `edit`."""
        return self.edit(file_path, old_string, new_string, replace_all)

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Do the same as `glob`."""
        return self.glob(pattern, path)

    async def agrep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """Do the same as `grep`."""
        return self.grep(pattern, path, glob, max_count=max_count)

    def _ask(
        self,
        tool: str,
        answer_type: type[Answer],
        path: str | None,
        args: dict[str, JsonValue] | None = None,
    ) -> Answer:
        """Put one question to the client; a bad path is answered without asking."""
        call = _current.get()
        if call is None:
            raise RunConfigError(
                "The client's files were used outside a tool call. Wrap tool calls in "
                "deepnb.files.tool_call(id); deepnb's agents do so by themselves."
            )
        try:
            clean = join(safe_parts(path or "/"))
        except PathError as error:
            return answer_type(error=str(error))
        request = ClientToolRequest(
            type="client_tool_execution",
            tool=tool,
            tool_call_id=call.id,
            args={"path": clean, **(args or {})},
        )
        try:
            return ask(request, answer_type)
        except Exception as pause:
            call.pause = pause
            raise


def _fields(answer: ClientToolAnswer[Any]) -> dict[str, Any]:
    """What to build the protocol's result from."""
    if answer.error:
        return {"error": answer.error}
    result: BaseModel = answer.result
    return result.model_dump()
