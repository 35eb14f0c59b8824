"""The few things that are done to a disk, and what its refusals mean."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from deepagents.backends.protocol import (
    FILE_NOT_FOUND,
    INVALID_PATH,
    IS_DIRECTORY,
    PERMISSION_DENIED,
)

from deepnb.errors import PathError
from deepnb.files.paths import is_shown_broken

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


def open_regular(path: Path) -> BinaryIO:
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


def replace(path: Path, content: bytes) -> None:
    """Give a file new content, all or nothing: whoever looks sees the old file or the new one.

    Raises:
        OSError: If it cannot be done; then nothing has changed, except that its folder may exist.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _mode_to_keep(path)
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
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
    codes = {
        PathError: INVALID_PATH,
        FileNotFoundError: FILE_NOT_FOUND,
        IsADirectoryError: IS_DIRECTORY,
        PermissionError: PERMISSION_DENIED,
    }
    return codes.get(type(error)) or explain(error, path)
