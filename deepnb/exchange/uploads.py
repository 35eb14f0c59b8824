"""Files on their way in: kept in parts until all of one is here and its hash is right.

An upload is found again by what it is, so one that was cut off goes on where it stopped, also in
the next process. A chunk that comes twice does no harm. How much of one was asked for as `news` is
noted beside its part, so that a process that is killed leaves nothing untold.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from deepnb.errors import DeepnbError
from deepnb.files.text import size_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGEST = 4 * 1024**3
"""Bytes of one file."""

KEPT = 7 * 24 * 3600
"""Seconds for which what was cut off, or deleted, can be had back."""

_BLOCK = 1024 * 1024
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Purpose = Literal["copy", "sync", "index"]


@dataclass(frozen=True)
class Sending:
    """What a page wants to send, and where to.

    Attributes:
        purpose: An `index` takes a file under its own `path`; the others put it into the workspace.
        path: Where it goes.
        size: Of all of it.
        mark: The same for the same content of the same file.
        expects: Hash of what the page believes to be there; empty for nothing.
        mapping: What it is sent for, if anything.
        source: Where it is in the browser.
    """

    purpose: Purpose
    path: str
    size: int
    mark: str
    expects: str
    mapping: str | None
    source: str

    @property
    def id(self) -> str:
        """The same for whoever sends the same to the same place."""
        key = [self.purpose, self.path, self.size, self.mark, self.mapping]
        return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]


@dataclass
class _Upload:
    """One file on its way; `hashed` bytes of it are in `digest`, which may lag behind the part."""

    part: Path
    about: Sending
    hashed: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Uploads:
    """The uploads of a workspace; any thread may call.

    Args:
        folder: Where their parts are kept. Made when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, _Upload] = {}
        self._lock = threading.Lock()
        with suppress(OSError):
            self._sweep()

    def begin(self, about: Sending) -> int:
        """Begin an upload, or find it again; it is known by its id from now on.

        Returns:
            How much of it is here.

        Raises:
            DeepnbError: It is too large, or the disk has no room for it.
        """
        size = about.size
        if size > LARGEST:
            raise DeepnbError(
                f"A file may have at most {size_in_words(LARGEST)} here; this one has "
                f"{size_in_words(size)}. Bring it to the workspace by other means."
            )
        part = self._folder / f"{about.id}.part"
        with self._lock, _explained():
            # Nobody else may look into it: the file that it becomes may be a secret.
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            part.touch()
            received = part.stat().st_size
            if received > size:  # none of ours
                part.unlink()
                part.touch()
                received = 0
            if shutil.disk_usage(self._folder).free < size - received:
                raise OSError(errno.ENOSPC, "no room")
            known = self._open.get(about.id)
            if known and known.hashed <= received:
                known.about = about
            else:
                self._open[about.id] = _Upload(part, about)
        return received

    def about(self, upload: str) -> Sending:
        """What `begin` was told about an upload.

        Raises:
            DeepnbError: There is no such upload.
        """
        return self._get(upload).about

    def add(self, upload: str, offset: int, data: bytes | memoryview) -> int:
        """Add bytes; those that are here already are passed over.

        Returns:
            How many bytes have arrived, without a gap.

        Raises:
            DeepnbError: There would be a gap, or too much; or it cannot be written.
        """
        one = self._get(upload)
        if offset + len(data) > one.about.size:
            raise DeepnbError("More has come than the file is large. Send it again.")
        with one.lock, _explained(), one.part.open("r+b", buffering=0) as file:
            received = file.seek(0, 2)
            if offset > received:
                raise DeepnbError(
                    f"Something is missing before byte {offset}: go on from byte {received}."
                )
            new = memoryview(data)[received - offset :]
            try:
                _write(file, new)
            except OSError:
                file.truncate(received)
                raise
            if one.hashed == received:
                one.digest.update(new)
                one.hashed += len(new)
            return received + len(new)

    def news(self, upload: str, least: int = 1) -> int:
        """How many bytes have come since this was last asked, also of another process.

        Args:
            upload: Its id.
            least: If there are fewer, it is as if there were none, but for the first ones.

        Raises:
            DeepnbError: There is no such upload, or its part is gone.
        """
        one = self._get(upload)
        with one.lock, _explained():
            return _news(one.part, one.about, least)

    def cut_off(self) -> list[tuple[Sending, int]]:
        """The uploads that were begun by other processes and have news, with how much."""
        found = []
        for note in self._folder.glob("*.json"):
            with suppress(OSError, ValueError, KeyError, TypeError):  # not as we have left it
                about = Sending(**json.loads(note.read_text())["about"])
                if about.id not in self._open and (news := _news(note.with_suffix(".part"), about)):
                    found.append((about, news))
        return found

    def finish(self, upload: str, sha256: str) -> Path:
        """Give the file that holds all of an upload, to be moved to where it belongs.

        Raises:
            DeepnbError: Something is missing, or damaged.
        """
        one = self._get(upload)
        with one.lock, _explained():
            received = one.part.stat().st_size
            if received < one.about.size:
                raise DeepnbError(
                    f"The file is not complete: {received} of {one.about.size} bytes have arrived. "
                    "Send the rest."
                )
            self._catch_up(one)
            if one.digest.hexdigest() == sha256:
                return one.part
        self.cancel(upload)
        raise DeepnbError(
            "The file has not arrived as it was sent: it was damaged on its way, or has changed "
            "meanwhile. Send it again."
        )

    def done(self, upload: str) -> None:
        """Forget an upload whose file has been moved to its place."""
        with self._lock:
            self._open.pop(upload, None)
        with suppress(OSError):
            (self._folder / f"{upload}.json").unlink(missing_ok=True)

    def cancel(self, upload: str) -> tuple[Sending, int]:
        """Give up an upload; gives what it was, and how much of it had arrived.

        Raises:
            DeepnbError: There is no such upload, or not any more.
        """
        one = self._get(upload)
        self.done(upload)
        with one.lock, _explained():
            received = one.part.stat().st_size
            one.part.unlink()
        return one.about, received

    def _get(self, upload: str) -> _Upload:
        one = self._open.get(upload)
        if one is None:
            raise DeepnbError("Nothing is known of this upload any more. Begin it again.")
        return one

    def _catch_up(self, one: _Upload) -> None:
        """Hash what came to another process, or before a restart."""
        if one.hashed == one.about.size:
            return
        with one.part.open("rb") as file:
            file.seek(one.hashed)
            while block := file.read(_BLOCK):
                one.digest.update(block)
                one.hashed += len(block)

    def _sweep(self) -> None:
        """Remove what was cut off long ago."""
        for left in self._folder.iterdir():
            if left.stat().st_mtime < time.time() - KEPT:
                left.unlink(missing_ok=True)


def _news(part: Path, about: Sending, least: int = 1) -> int:
    """What has come since the last time; where that cannot be noted, it is news again."""
    note = part.with_suffix(".json")
    received, told = part.stat().st_size, 0
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = min(int(json.loads(note.read_text())["told"]), received)
    if received - told < (least if told else 1):
        return 0
    with suppress(OSError):
        note.write_text(json.dumps({"about": asdict(about), "told": received}))
    return received - told


def _write(file: Any, data: memoryview) -> None:
    """Write all of it: a disk that is nearly full takes a part without complaint."""
    while data:
        data = data[file.write(data) :]


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DeepnbError("What had arrived of the file is gone. Send it again.") from None
    except OSError as error:
        if error.errno in _FULL:
            raise DeepnbError(
                "The workspace's disk is full. Free some space there and go on; what has arrived "
                "is kept."
            ) from error
        raise DeepnbError(
            f"The file cannot be kept in the workspace ({error.strerror}). Make its folder "
            "writable, and send it again."
        ) from error
