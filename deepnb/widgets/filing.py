"""Does what a page asks for about files, and notes what has left the browser for it."""

from __future__ import annotations

import threading
import time
from base64 import b64decode, b64encode
from binascii import Error as NoBase64
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deepnb.errors import DeepnbError, SessionError
from deepnb.exchange import Seen, Sending
from deepnb.files.namespace import FILES
from deepnb.files.text import size_in_words
from deepnb.session.disclosing import of_answer
from deepnb.summaries import mapping_of, text_of
from deepnb.web.saving import save_page
from deepnb.widgets import file_protocol as protocol
from deepnb.widgets.facts import searched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Mapping as Map

    from deepnb.exchange import Comparison, Exchange, Mapping, Stored, Watch
    from deepnb.session.session import Session

_SLOW = (
    protocol.ListWorkspace
    | protocol.MoveFile
    | protocol.DeleteFile
    | protocol.RestoreFile
    | protocol.CompareFiles
    | protocol.FetchPage
)
"""What may take longer than a moment."""
_LARGE = 4 * protocol.CHUNK
_NOTED = 16 * protocol.CHUNK
"""Bytes of a large file after which it is noted again that they have left the browser."""
_MOST_PATHS = 20
_IN_VAIN = "sent, and not stored"
_EARLIER = "an earlier question"
_SENT = {"copy": "copied to the workspace", "sync": "kept in step", "index": "put into the index"}


class Bytes(NamedTuple):
    """A result whose bytes go beside the message."""

    result: dict[str, Any]
    data: bytes


class Filing:
    """Answers requests about the files of a session.

    Args:
        session: Whose workspace it is.
        takes_bytes: Says of a view whether bytes beside a message have ever come from it.
    """

    def __init__(self, session: Session, takes_bytes: Callable[[str], bool]) -> None:
        self._session = session
        self._takes_bytes = takes_bytes
        self._watched: Watch | None = None
        self._lock = threading.Lock()  # what is slow is done on other threads
        self._do: dict[str, Callable[[Any], Any]] = {
            "load_files": lambda _: {"code": _code()},
            "claim": self._claim,
            "client_answer": self._answer,
            "list_workspace": lambda _: self._files.list(),
            "make_folder": lambda request: self._files.make_folder(request.path),
            "move_file": lambda request: self._files.move(request.path, request.to),
            "delete_file": lambda r: {"deleted": self._files.delete(r.path, r.expects)},
            "restore_file": self._restore,
            "begin_upload": self._begin,
            "send_files": self._send,
            "end_upload": self._end,
            "cancel_upload": self._cancel,
            "download_chunk": self._chunk,
            "map_files": self._map,
            "unmap_files": lambda request: self._files.unmap(request.mapping),
            "compare_files": self._compare,
            "agree_file": lambda r: self._files.agree(r.mapping, r.path, r.sha256),
            "finish_copy": lambda request: self._files.finish_copy(request.mapping),
            "fetch_page": self._fetch,
        }

    def do(self, request: protocol.FileRequest, buffers: Sequence[Any] = ()) -> Any:
        """Do what a request asks for, and give the result, or `Bytes`, or None.

        Raises:
            DeepnbError: It cannot be done; the message says why and what to do.
        """
        self._watch()
        if isinstance(request, protocol.UploadChunk):
            return self._add(request, buffers)
        return self._do[request.type](request)

    def is_slow(self, request: protocol.FileRequest) -> bool:
        """Whether it may take longer than a moment."""
        if isinstance(request, protocol.EndUpload):
            return self._files.upload(request.upload).size > _LARGE
        return isinstance(request, _SLOW)

    def close(self) -> None:
        """Look at the workspace no longer."""
        watched, self._watched = self._watched, None
        if watched:
            watched.stop()

    def _watch(self) -> None:
        """Have changes of the workspace noticed, as soon as a page has to do with files.

        What a killed kernel has left, it has not told of to its end.
        """
        with self._lock:
            if self._watched is None:
                self._watched = self._files.changes
                self._watched.start()
                for sending, news in self._files.cut_off_uploads():
                    self._sent_part(sending, news)

    @property
    def _files(self) -> Exchange:
        return self._session.exchange

    # What the agent asks for

    def _claim(self, request: protocol.Claim) -> protocol.Claimed:
        is_mapping = any(request.what == each["id"] for each in self._files.mappings())
        thread = "" if is_mapping else self._session.key
        return {"granted": _CLAIMS.take(f"{thread} {request.what}", request.view)}

    def _answer(self, request: protocol.ClientAnswer) -> None:
        run, asked = self._asked(request.question)
        tool = text_of(asked.get("tool")) or _EARLIER
        # Whether or not it is wanted any more: it has left the browser.
        self._session.note("disclosed", run=run, name=tool, **of_answer(asked, request.answer))
        self._session.respond(request.question, request.answer)

    def _asked(self, question: str) -> tuple[str, Map[str, Any]]:
        """The run that has asked a question, which may be closed by now, and what it asked for."""
        for event in reversed(self._session.events()):
            if event.kind == "interrupt_opened" and event.data["id"] == question:
                return event.run, mapping_of(event.data["request"])
        return "", {}

    # Into the workspace

    def _begin(self, request: protocol.BeginUpload) -> protocol.Upload:
        upload, received = self._begun(_sending(request, request.mark))
        buffers = self._takes_bytes(request.view)
        return {"upload": upload, "received": received, "buffers": buffers}

    def _send(self, request: protocol.SendFiles) -> protocol.Sent:
        told = [(file, self._stored(file)) for file in request.files]
        for purpose, done in _SENT.items():
            mine = [
                (file, "kind" not in result) for file, result in told if file.purpose == purpose
            ]
            self._note_files(purpose, [file for file, is_stored in mine if is_stored], done)
            self._note_files(purpose, [file for file, is_stored in mine if not is_stored], _IN_VAIN)
        return {"files": [result for _, result in told]}

    def _note_files(self, purpose: str, files: list[protocol.SmallFile], detail: str) -> None:
        if files:
            paths = [FILES.rstrip("/") + file.source for file in files[:_MOST_PATHS]]
            self._note(purpose, paths, len(files), sum(file.size for file in files), detail)

    def _stored(self, file: protocol.SmallFile) -> protocol.Stored | protocol.Unsent:
        """Store a file; what is wrong with one is not wrong with the others."""
        try:
            upload, _ = self._begun(_sending(file, file.sha256))
            self._files.add_to_upload(upload, 0, _decoded(file.data))
            return self._finished(upload, file.sha256)
        except DeepnbError as error:
            return {"kind": type(error).__name__, "text": str(error)}

    def _begun(self, sending: Sending) -> tuple[str, int]:
        if sending.purpose == "index" and searched(self._session) is None:
            raise SessionError("This session has no index that a file could be put into.")
        return self._files.begin_upload(sending)

    def _add(self, request: protocol.UploadChunk, buffers: Sequence[Any]) -> protocol.Received:
        if request.data is None and not buffers:
            raise DeepnbError("The bytes of a file were lost on their way. Send them as text.")
        data = _decoded(buffers[0] if buffers else request.data)
        received = self._files.add_to_upload(request.upload, request.offset, data)
        self._note_part(request.upload, received)
        return {"received": received}

    def _note_part(self, upload: str, received: int) -> None:
        """Note what has come of a file so far: it has left the browser, whatever comes of it."""
        sending = self._files.upload(upload)
        if received < sending.size and (news := self._files.news_of_upload(upload, _NOTED)):
            self._sent_part(sending, news)

    def _end(self, request: protocol.EndUpload) -> protocol.Stored:
        sending = self._files.upload(request.upload)
        with self._told(sending, self._files.news_of_upload(request.upload)):
            return self._finished(request.upload, request.sha256)

    def _finished(self, upload: str, sha256: str) -> protocol.Stored:
        stored = self._files.finish_upload(upload, sha256)
        if stored.sending.purpose == "index" and (knowledge := searched(self._session)):
            knowledge.add(stored.place)
        return _stored(stored)

    @contextmanager
    def _told(self, sending: Sending, size: int) -> Iterator[None]:
        """Note that a file has left the browser, also if it cannot be stored."""
        try:
            yield
        except DeepnbError:
            self._sent(sending, size, _IN_VAIN)
            raise
        self._sent(sending, size, _SENT[sending.purpose])

    def _cancel(self, request: protocol.CancelUpload) -> None:
        news = self._files.news_of_upload(request.upload)
        sending, received = self._files.cancel_upload(request.upload)
        if news:
            whole = size_in_words(sending.size)
            self._sent(sending, news, f"cancelled, {size_in_words(received)} of {whole}")

    def _sent_part(self, sending: Sending, size: int) -> None:
        self._sent(sending, size, f"a part of {size_in_words(sending.size)}")

    def _sent(self, sending: Sending, size: int, detail: str) -> None:
        self._note(sending.purpose, [FILES.rstrip("/") + sending.source], 1, size, detail)

    def _note(self, what: str, paths: list[str], files: int, size: int, detail: str) -> None:
        self._session.note(
            "disclosed", what=what, paths=paths, files=files, bytes=size, detail=detail
        )

    def _restore(self, request: protocol.RestoreFile) -> None:
        self._files.restore(request.deleted)

    def _fetch(self, request: protocol.FetchPage) -> protocol.Stored:
        private = self._session.options.get("private") is True  # as a research agent may have it
        size = len(request.url.encode())
        self._note("copy", [], 0, size, "1 address of a page")
        return _stored(save_page(self._files, request.url, private=private))

    # Out of the workspace

    def _chunk(self, request: protocol.DownloadChunk) -> Bytes | protocol.Chunk:
        part = self._files.chunk(request.path, request.offset, request.length, request.seen)
        about: protocol.Chunk = {
            "size": part.size,
            "modified": part.modified,
            "version": part.version,
        }
        if request.as_text:
            return {**about, "data": b64encode(part.data).decode()}
        return Bytes({**about}, part.data)

    # Ties

    def _map(self, request: protocol.MapFiles) -> Mapping:
        return self._files.map(
            request.browser,
            request.source,
            request.target,
            is_folder=request.is_folder,
            mode=request.mode,
        )

    def _compare(self, request: protocol.CompareFiles) -> Comparison:
        self._note_names(request)
        seen = [Seen(file.path, file.size, file.sha256) for file in request.files]
        return self._files.compare(request.mapping, request.browser, seen)

    def _note_names(self, request: protocol.CompareFiles) -> None:
        """Note the names and hashes of mapped files that the kernel is told for the first time."""
        tied = (each for each in self._files.mappings() if each["id"] == request.mapping)
        if (mapping := next(tied, None)) is None:
            return  # another page has untied it meanwhile
        known = {each["source"] for each in self._files.mapped_files()}
        told = {f"{mapping['source']}/{file.path}".rstrip("/"): file for file in request.files}
        new = sorted(told.keys() - known)
        if new and not mapping["done"]:
            paths = [FILES.rstrip("/") + path for path in new[:_MOST_PATHS]]
            size = sum(len(told[path].model_dump_json().encode()) for path in new)
            names = f"{len(new)} name{'' if len(new) == 1 else 's'}"
            self._note(mapping["mode"], paths, len(new), size, names)


def _sending(request: protocol.BeginUpload | protocol.SmallFile, mark: str) -> Sending:
    return Sending(
        purpose=request.purpose,
        path=request.path,
        size=request.size,
        mark=mark,
        expects=request.expects,
        mapping=request.mapping,
        source=request.source,
    )


def _decoded(data: Any) -> bytes | memoryview:
    """Take bytes as they come: beside a message, or as text in it."""
    try:
        return b64decode(data, validate=True) if isinstance(data, str) else memoryview(data)
    except (NoBase64, TypeError):
        raise DeepnbError("The bytes of a file cannot be read. Send them again.") from None


def _stored(stored: Stored) -> protocol.Stored:
    sending = stored.sending
    return {"path": sending.path, "size": sending.size, "sha256": stored.sha256}


class _Claims:
    """Which page does what only one is to do; they may belong to different panels."""

    LASTS = 20.0
    """Seconds after which a page that has claimed nothing is taken to be gone."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def take(self, what: str, view: str) -> bool:
        with self._lock:
            now = time.monotonic()
            self._held = {k: held for k, held in self._held.items() if now - held[1] < self.LASTS}
            if self._held.get(what, (view, 0.0))[0] != view:
                return False
            self._held[what] = (view, now)
            return True


_CLAIMS = _Claims()


@cache
def _code() -> str:
    return (Path(__file__).parent / "static" / "files.js").read_text(encoding="utf-8")
