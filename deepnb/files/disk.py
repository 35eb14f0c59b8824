"""The few things that are done to a disk, and what its refusals mean."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import threading
import time
import unicodedata
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from deepnb.errors import PathError
from deepnb.files.paths import is_shown_broken

if TYPE_CHECKING:
    from io import BufferedReader

    from deepagents.backends.protocol import FileInfo

_REASONS = {
    errno.ENOENT: "does not exist. Use ls or glob to see what is there.",
    errno.EISDIR: "is a folder, not a file. Use ls to see what is in it.",
    errno.ENOTDIR: "is not a folder, or goes through a file as if that were a folder. Use ls.",
    errno.EEXIST: "would need a folder where there is a file. Choose another path.",
    errno.EACCES: "may not be used: no permission. Choose another file, or tell the person.",
    errno.EPERM: "may not be used: no permission. Choose another file, or tell the person.",
    errno.EROFS: "may not be changed: it is read-only. Write elsewhere, or tell the person.",
    errno.ELOOP: "is a link that leads in a circle. Choose another file.",
    errno.EINVAL: "is not an ordinary file but a pipe, socket or device. Choose another file.",
    errno.ENXIO: "is not an ordinary file but a pipe, socket or device. Choose another file.",
    errno.ENAMETOOLONG: "is too long a path. Use a shorter one.",
    errno.ENOSPC: "could not be written: the disk is full. Nothing was changed; tell the person.",
    errno.EDQUOT: "could not be written: the disk is full. Nothing was changed; tell the person.",
    errno.EFBIG: "is too large for this. Nothing was changed; use a smaller file.",
}

LARGEST = 64 * 1024 * 1024  # the most of one file that is held in memory, or hashed
_LOCKS = tuple(threading.Lock() for _ in range(64))


def change_lock(path: Path) -> threading.Lock:
    """What to hold while a file is changed, so that no other change in this process is lost.

    A fixed table, which cannot leak; that some files share a lock costs a short wait. So may all
    spellings of a name that some file system takes for the same file.
    """
    return _LOCKS[hash(unicodedata.normalize("NFC", str(path)).casefold()) % len(_LOCKS)]


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading, and nothing else: no link, and no pipe or device that would block.

    Raises:
        OSError: If there is no such file, it is something else, or it may not be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISREG(mode):
        return file
    file.close()
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    raise OSError(errno.EINVAL, "is not a regular file")


def read_whole(path: Path, most: int) -> bytes:
    """The bytes of a file of at most that many.

    Raises:
        OSError: If it is larger, or cannot be opened.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= most:
            return file.read(size)
    raise OSError(errno.EFBIG, "is too large")


def fingerprint(path: Path) -> str | None:
    """What changes when what is at `path` does; None if there is nothing.

    A hash of the content, or what the system notes about a file that is too large or unreadable.
    """
    with suppress(OSError):
        return hashlib.sha256(read_whole(path, LARGEST)).hexdigest()
    try:
        status = path.lstat()
    except OSError:
        return None
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"


_TEMPORARY = re.compile(r"\.([0-9]+)-[0-9a-f]{16}\.tmp")


def replace(path: Path, content: bytes) -> None:
    """Give a file new content, all or nothing: whoever looks sees the old file or the new one.

    Raises:
        OSError: If it cannot be done; then nothing has changed, except that its folder may exist.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _mode_to_keep(path)
    temporary = path.with_name(f".{os.getpid()}-{secrets.token_hex(8)}.tmp")
    # A secret stays one while it is copied; a new file gets what the umask allows.
    opener = partial(os.open, mode=0o666 if mode is None else 0o600)
    try:
        with open(temporary, "xb", opener=opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def sha256_of(path: Path) -> str:
    """The hash of a file of any size.

    Raises:
        OSError: If it cannot be read.
    """
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(path: Path) -> None:
    """Have the content of a file on the disk, also if the power fails."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def put(source: Path, path: Path) -> None:
    """Move a file to a place, all or nothing; one that is there is replaced and keeps its mode.

    `settle` it first.

    Raises:
        OSError: If it cannot be done; then nothing has changed, except that its folder may exist.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _mode_to_keep(path)
    if mode is not None:
        source.chmod(mode)
    try:
        source.replace(path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _put_from_afar(source, path)


def _put_from_afar(source: Path, path: Path) -> None:
    """Copy a file from another disk to beside its place first, since only then it moves at once."""
    copy = path.with_name(f".{os.getpid()}-{secrets.token_hex(8)}.tmp")
    try:
        with (
            source.open("rb") as file,
            open(copy, "xb", opener=partial(os.open, mode=0o600)) as written,
        ):
            shutil.copyfileobj(file, written)
            written.flush()
            os.fsync(written.fileno())
        shutil.copymode(source, copy)
        copy.replace(path)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    source.unlink(missing_ok=True)


def move(source: Path, target: Path) -> None:
    """Move a file or folder to where nothing is: at once, or on another disk by copying it first.

    Raises:
        OSError: If it cannot be done; then the source is still there.
    """
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(source, target)


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that is just being written, and will get another name."""
    return _TEMPORARY.fullmatch(name) is not None


def sweep(folder: Path) -> None:
    """Remove what a write has left behind whose process was killed in the middle of it."""
    for left in folder.glob(".*.tmp"):
        name = _TEMPORARY.fullmatch(left.name)
        if name and _is_gone(int(name[1])):
            left.unlink(missing_ok=True)


def _is_gone(process: int) -> bool:
    if os.name != "posix":
        return False  # where to ask is to kill
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _mode_to_keep(path: Path) -> int | None:
    """The permissions of the file that is to be replaced, if there is one and it may be."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is not a regular file")
    if not mode & 0o222:  # replacing would get round a protection that writing respects
        raise PermissionError(errno.EROFS, "is read-only")
    return stat.S_IMODE(mode)


def listing(path: str, file: str | Path) -> list[FileInfo]:
    """A listing's line for a file or folder; none for pipes and for what has vanished."""
    try:
        status = Path(file).stat(follow_symlinks=False)
    except OSError:
        return []
    is_dir = stat.S_ISDIR(status.st_mode)
    if not is_dir and not stat.S_ISREG(status.st_mode):
        return []
    return [
        {
            "path": f"{path}/" if is_dir else path,
            "is_dir": is_dir,
            "size": 0 if is_dir else status.st_size,
            "modified_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(status.st_mtime)),
        }
    ]


def explain(error: Exception, path: str) -> str:
    """What went wrong, for an agent; the real place of the file stays out of it."""
    if isinstance(error, UnicodeDecodeError):
        return "The file is not UTF-8 text, so an edit could damage it. Write a new file instead."
    if isinstance(error, UnicodeEncodeError):
        return "The content has half of a character (a lone surrogate). Write it again without."
    if not isinstance(error, OSError):
        return str(error)
    name = PurePosixPath(path).name or "/"
    if error.errno == errno.ENOENT and is_shown_broken(name):
        return f"{name!r} has a name that cannot be used here. Ask the person to rename the file."
    reason = _REASONS.get(error.errno or 0)
    return f"{name!r} {reason or f'could not be used: {error.strerror}. Try another file.'}"


def error_code(error: Exception, path: str) -> str:
    """The protocol's word for an error where it has one."""
    from deepagents.backends import protocol  # here, since who only reads files needs no agents

    codes = {
        PathError: protocol.INVALID_PATH,
        FileNotFoundError: protocol.FILE_NOT_FOUND,
        IsADirectoryError: protocol.IS_DIRECTORY,
        PermissionError: protocol.PERMISSION_DENIED,
    }
    return codes.get(type(error)) or explain(error, path)
