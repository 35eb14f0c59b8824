"""All that is in a workspace: names, sizes and times, without opening a file."""

from __future__ import annotations

import os
import stat
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deepnb.errors import PathError
from deepnb.files.disk import is_temporary
from deepnb.files.paths import join, safe_parts, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.files.folder import Folder


class Found(NamedTuple):
    """A file or folder; one whose name `is_broken` can be seen, and not used."""

    path: str
    place: Path
    is_dir: bool
    size: int
    modified: float
    version: str
    is_broken: bool


@dataclass
class Scan:
    """What was found, and whether that is all of it."""

    found: list[Found] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    truncated: bool = False


def version_of(status: os.stat_result) -> str:
    """What changes when a file does, as far as the system notes it."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"


def scan(folder: Folder, top: str, most: int) -> Scan:
    """Look at what is in a folder of the workspace, at most at so much, nearest to `top` first.

    A link to a file in the workspace counts as that file. One to a folder does not count, since
    what it leads to is found under its own name; nor does one that leads outside.

    Raises:
        PathError: `top` is malformed, or leads outside.
        OSError: It is not a folder, or cannot be read.
    """
    result = Scan()
    waiting = deque([(join(safe_parts(top)).rstrip("/"), folder.locate(top))])
    is_first = True
    while waiting:
        prefix, place = waiting.popleft()
        try:
            entries = list(_entries(folder, prefix, place))
        except OSError:
            if is_first:
                raise
            result.unreadable.append(prefix)
            continue
        is_first = False
        if len(result.found) + len(entries) > most:
            result.truncated = True
            entries = entries[: most - len(result.found)]
            waiting.clear()
        result.found += entries
        if not result.truncated:
            inner = [entry for entry in entries if entry.is_dir and not entry.is_broken]
            waiting += [(entry.path, entry.place) for entry in inner]
    result.found.sort(key=lambda entry: entry.path)
    return result


def _entries(folder: Folder, prefix: str, place: Path) -> Iterator[Found]:
    with os.scandir(place) as entries:
        inside = sorted(entries, key=lambda entry: entry.name)
    for entry in inside:
        name = shown(entry.name)
        if name is None or is_temporary(entry.name):
            continue
        with suppress(OSError, PathError):  # gone since the folder was read, or leads outside
            path, real = f"{prefix}/{name}", Path(entry.path)
            status = entry.stat(follow_symlinks=False)
            is_link = stat.S_ISLNK(status.st_mode)
            if is_link:
                real = folder.locate(path)
                status = real.stat()
            is_dir = stat.S_ISDIR(status.st_mode)
            if stat.S_ISREG(status.st_mode) or (is_dir and not is_link):
                size = 0 if is_dir else status.st_size
                is_broken = name != entry.name
                yield Found(
                    path, real, is_dir, size, status.st_mtime, version_of(status), is_broken
                )
