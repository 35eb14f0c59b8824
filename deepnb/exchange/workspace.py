"""What a page can have done to the files of a workspace.

Every path passes `Folder`, so that nothing outside the workspace's folder and nothing of deepnb's
own record can be reached, whatever a message claims. Nothing is overwritten, and what is deleted
can be had back.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import TypedDict  # typing's own is beyond pydantic on 3.11

from deepnb.errors import ChangedError, PathError
from deepnb.exchange.scan import scan, version_of
from deepnb.exchange.steps import folded, is_device
from deepnb.exchange.trash import Trash
from deepnb.exchange.watch import MOST, Watch
from deepnb.files.disk import change_lock, explain, move, open_regular, sha256_of
from deepnb.files.paths import join, safe_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.files.folder import Folder

_REASONS = {
    errno.ENOENT: "is not in the workspace, or not any more",
    errno.EISDIR: "is a folder, not a file",
    errno.ENOTDIR: "is not a folder, or goes through a file as if that were one",
    errno.EEXIST: "would need a folder where there is a file. Choose another name",
    errno.EACCES: "may not be used: the kernel has no permission. Change that, or choose another",
    errno.EPERM: "may not be used: the kernel has no permission. Change that, or choose another",
    errno.EROFS: "may not be changed: it is read-only. Make it writable, or choose another",
    errno.ENAMETOOLONG: "has too long a name for this disk. Choose a shorter one",
    errno.ENOSPC: "cannot be written: the workspace's disk is full. Free some space and try again",
    errno.EDQUOT: "cannot be written: the workspace's disk is full. Free some space and try again",
    errno.ENOTEMPTY: "is there already, with something in it. Choose another name",
}


class WorkspaceFile(TypedDict):
    """A file or folder of the workspace; `modified` is in seconds since 1970."""

    path: str
    is_dir: bool
    size: int
    modified: float


class WorkspaceFiles(TypedDict):
    """What is in the workspace, sorted by path; not all of it if it is `truncated`."""

    files: list[WorkspaceFile]
    truncated: bool


class Chunk(NamedTuple):
    """A part of a file, and of which version of it."""

    size: int
    modified: float
    version: str
    data: bytes


class Workspace:
    """The files of a workspace; any thread may call.

    All errors are `DeepnbError`s for a reader of the panel.

    Args:
        folder: The workspace's.
        record: Where to keep what was deleted. Made when it is needed.

    Attributes:
        changes: Tells when something has changed, whoever has changed it.
    """

    def __init__(self, folder: Folder, record: Path) -> None:
        self.folder = folder
        self.changes = Watch(folder)
        self._record = record
        self._trash = Trash(record / "trash")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.folder!r})"

    def list(self) -> WorkspaceFiles:
        """Everything that is in the workspace."""
        with explained("/"):
            result = scan(self.folder, "/", MOST)
        self.changes.saw(result)
        files: list[WorkspaceFile] = [
            {"path": f.path, "is_dir": f.is_dir, "size": f.size, "modified": f.modified}
            for f in result.found
        ]
        return {"files": files, "truncated": result.truncated}

    def make_folder(self, path: str) -> None:
        """Make a folder, with those that it is in."""
        place = self._place(path)
        with explained(path), change_lock(place):
            _refuse_if_taken(place, path)
            place.mkdir(parents=True)
        self.changes.look_soon()

    def move(self, path: str, to: str) -> None:
        """Move or rename a file or folder to where nothing is."""
        source, target = self._place(path), self._place(to)
        if source == target:
            return
        if target.is_relative_to(source):
            raise PathError(f"{source.name!r} cannot be moved into itself. Choose another folder.")
        with explained(path), _both_locked(source, target):
            source.lstat()
            if not _is_respelled(source, target):
                _refuse_if_taken(target, to)
            target.parent.mkdir(parents=True, exist_ok=True)
            move(source, target)
        self.changes.look_soon()

    def delete(self, path: str, expects: str | None = None) -> str:
        """Delete a file or folder, and give an id to `restore` it by for some days.

        Args:
            path: Of the file or folder.
            expects: The hash that the file must have; left out, whatever is there is deleted.

        Raises:
            ChangedError: The file is another one by now.
        """
        place = self._place(path)
        self.make_record()
        with explained(path), change_lock(place):
            place.lstat()
            if expects is not None and sha256_of(place) != expects:
                raise ChangedError(
                    f"{place.name!r} has changed in the workspace meanwhile, so it was not "
                    "deleted. Look at it, and decide again."
                )
            deleted = self._trash.put(place, join(safe_parts(path)))
        self.changes.look_soon()
        return deleted

    def restore(self, deleted: str) -> str:
        """Undo a deletion, and give the path that is back."""
        path = self._trash.path(deleted)
        place = self._place(path)
        with explained(path), change_lock(place):
            _refuse_if_taken(place, path)
            self._trash.take(deleted, place)
        self.changes.look_soon()
        return path

    def chunk(self, path: str, offset: int, length: int, seen: str) -> Chunk:
        """Read a part of a file; `seen` is the version of the parts before, if there were any.

        Raises:
            ChangedError: The file is another one by now.
        """
        with explained(path), open_regular(self.folder.locate(path)) as file:
            before = os.fstat(file.fileno())
            file.seek(offset)
            data = file.read(length)
            version = version_of(before)
            if version_of(os.fstat(file.fileno())) != version or seen not in ("", version):
                raise ChangedError(
                    f"{PurePosixPath(path).name!r} has changed while it was read. Read it again."
                )
        return Chunk(before.st_size, before.st_mtime, version, data)

    def make_record(self) -> None:
        """Make the folder for what is not the reader's, where version control passes it over."""
        with explained(self._record.name):
            self._record.mkdir(parents=True, exist_ok=True)
            ignore = self._record / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")

    def _place(self, path: str) -> Path:
        """Where something is that may be a link: what is done is done to the link, not through it.

        Raises:
            PathError: The path is malformed, leads outside, or is the workspace itself.
        """
        *folders, name = require_name(path)
        return self.folder.locate(join(tuple(folders))) / name


def require_name(path: str) -> tuple[str, ...]:
    """The parts of a path to something in the workspace.

    Raises:
        PathError: It is malformed, no name for a file here, or the workspace itself.
    """
    parts = safe_parts(path)
    if not parts:
        raise PathError("That is the whole workspace. Choose a file or folder in it.")
    if is_device(parts):
        raise PathError(f"{parts[-1]!r} is no name for a file here. Choose another one.")
    return parts


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Say what a disk's refusal means, to a reader of the panel."""
    try:
        yield
    except OSError as error:
        name = PurePosixPath(path).name or "The workspace"
        reason = _REASONS.get(error.errno or 0)
        raise PathError(f"{name!r} {reason}." if reason else explain(error, path)) from error


def _refuse_if_taken(place: Path, path: str) -> None:
    if os.path.lexists(place):
        raise PathError(
            f"There is already something called {join(safe_parts(path))!r}. Nothing was changed; "
            "choose another name."
        )


def _is_respelled(source: Path, target: Path) -> bool:
    """Whether a name only gets another spelling, and the disk takes both for the same file."""
    return (
        folded(str(source)) == folded(str(target))
        and target.exists()
        and source.samefile(target)
        and target.name not in os.listdir(target.parent)  # noqa: PTH208  # names alone
    )


@contextmanager
def _both_locked(one: Path, other: Path) -> Iterator[None]:
    """Hold the locks of two files: in a fixed order, so that two threads never wait for another."""
    with ExitStack() as stack:
        for lock in sorted({change_lock(one), change_lock(other)}, key=id):
            stack.enter_context(lock)
        yield
