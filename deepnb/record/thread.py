"""Where a thread lies on disk, and who may write to it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from filelock import FileLock, Timeout

from deepnb.errors import StorageError, ThreadError, ThreadInUseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = ".deepnb"
_LONGEST_NAME = 240  # bytes; file systems allow 255
_PATIENCE = 0.5  # seconds: whoever only looks whether a thread is in use is done long before
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WHAT_TO_DO = (
    "Make the folder writable, choose another workspace, or pass persist=False to keep the thread "
    "in memory."
)


class ThreadFolder:
    """The folder of one thread in a workspace; nothing is made before it is locked.

    Args:
        workspace: The folder whose `.deepnb/` it is in.
        name: The thread's.

    Raises:
        ThreadError: A thread cannot be called that.
    """

    def __init__(self, workspace: Path, name: str) -> None:
        self.name = name
        self.workspace = workspace
        self.path = workspace / FOLDER / "threads" / _file_name(name)
        self._lock: FileLock | None = None

    @property
    def record(self) -> Path:
        """The file of its record."""
        return self.path / "record.sqlite"

    @property
    def checkpoints(self) -> Path:
        """The file of its checkpoints."""
        return self.path / "checkpoints.sqlite"

    @property
    def budget(self) -> Path:
        """The file of what it has spent."""
        return self.path / "budget.sqlite"

    @property
    def _unfinished(self) -> Path:
        return self.path / "unfinished"

    @property
    def exists(self) -> bool:
        """Whether there is such a thread, all of it."""
        return self.record.exists() and not self._unfinished.exists()

    def complete(self) -> None:
        """Say that the thread has all it is to begin with."""
        self._unfinished.unlink(missing_ok=True)

    def lock(self, *, is_new: bool = False) -> None:
        """Take the thread for this process, which no other can do until it ends or lets go.

        Args:
            is_new: Whether it is none before `complete` says so: a branch is whole or not there.

        Raises:
            ThreadInUseError: Another one has it.
            StorageError: The folder cannot be written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            ignore = self.path.parent.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")  # conversations are nobody's source code
            lock = FileLock(self.path / "lock", thread_local=False)
            lock.acquire(timeout=_PATIENCE)
            owner = {"pid": os.getpid(), "host": socket.gethostname()}
            (self.path / "owner").write_text(json.dumps(owner))
        except Timeout:
            raise ThreadInUseError(
                f"The thread {self.name!r} in {self.workspace} is open in {self._owner()}. "
                "Close it there (its session ends with its kernel), or use another thread here, "
                f"for example thread={self.name + '-2'!r}."
            ) from None
        except OSError as error:
            what_to_do = "Free some disk space." if error.errno in _FULL else _WHAT_TO_DO
            raise StorageError(
                f"{self.path} cannot be written ({error.strerror}). {what_to_do}"
            ) from error
        self._lock = lock
        if self._unfinished.exists():  # whoever began it has died
            for file in (self.record, self.checkpoints, self.budget):
                for part in self.path.glob(f"{file.name}*"):
                    part.unlink()
        if is_new:
            self._unfinished.touch()

    def unlock(self) -> None:
        """Let others have it."""
        if self._lock:
            self._lock.release()
            self._lock = None

    @property
    def in_use(self) -> bool:
        """Whether some process has the thread."""
        if not (self.path / "lock").exists():
            return False
        lock = FileLock(self.path / "lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False  # where nobody can write, nobody does
        lock.release()
        return False

    @property
    def size(self) -> int:
        """How much disk it takes."""
        total = 0
        with suppress(OSError):  # SQLite's own files come and go
            for file in self.path.iterdir():
                with suppress(OSError):
                    total += file.stat().st_size
        return total

    def delete(self) -> None:
        """Delete the thread for good.

        Raises:
            ThreadError: There is no such thread, or somebody has it open.
        """
        if not self.path.is_dir():
            raise self.unknown()
        self.lock()
        try:
            self._unfinished.touch()  # half a thread is no thread
            shutil.rmtree(self.path)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be deleted ({error.strerror}).") from error
        finally:
            self.unlock()

    def unknown(self) -> ThreadError:
        """Make the error that there is no such thread, and which ones there are."""
        known = ", ".join(repr(each.name) for each in thread_folders(self.workspace)) or "none"
        return ThreadError(
            f"There is no thread {self.name!r} in {self.workspace}. There are: {known}."
        )

    def _owner(self) -> str:
        try:
            owner = json.loads((self.path / "owner").read_text())
            return f"another session (process {owner['pid']} on {owner['host']})"
        except (OSError, ValueError, KeyError):
            return "another session"


def thread_folders(workspace: Path) -> Iterator[ThreadFolder]:
    """Find the threads of a workspace."""
    folder = workspace / FOLDER / "threads"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        thread = ThreadFolder(workspace, unquote(path.name))
        if thread.exists:
            yield thread


def _file_name(name: object) -> str:
    """Give a file name that says which thread it is, on every file system.

    Raises:
        ThreadError: There is none.
    """
    if not isinstance(name, str) or not name.strip():
        raise ThreadError(f"A thread's name is a text, for example 'thesis', not {name!r:.40}.")
    try:
        # A dot at either end is hidden, or means something, or gets lost.
        encoded = quote(name, safe="").replace(".", "%2E")
    except UnicodeEncodeError:
        raise ThreadError(f"A thread cannot be called {name!a}: that is no valid text.") from None
    if len(encoded) > _LONGEST_NAME:
        raise ThreadError(f"The thread's name is too long ({name[:40]!r}…). Choose a shorter one.")
    return encoded
