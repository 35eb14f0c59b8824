"""What a change that was carried over has replaced in a workspace, kept for a while."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deepnb.exchange.uploads import KEPT
from deepnb.files.paths import safe_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 10
"""Versions of one file: one that a program saves every minute would fill the disk."""

_LONGEST_ENDING = 16


class Replaced:
    """Earlier versions of files: a person finds them by the file's own path, called by their time.

    Args:
        folder: Made when it is needed; on the disk of the workspace, where to keep copies nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with suppress(OSError):
            self._sweep()

    @contextmanager
    def keeping(self, place: Path, path: str) -> Iterator[None]:
        """Have what is at a place kept, if something is, while it is replaced.

        Raises:
            OSError: It cannot be kept; then it must not be replaced.
        """
        if not place.exists():
            yield
            return
        home = self._folder.joinpath(*safe_parts(path))
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        ending = place.suffix if len(place.suffix) <= _LONGEST_ENDING else ""
        kept = home / f"{_called(time.time_ns())}{ending}"
        try:
            os.link(place, kept)
        except OSError:  # not every disk can give a file two names
            shutil.copy2(place, kept)
        try:
            yield
        except BaseException:
            kept.unlink(missing_ok=True)  # it is the file itself, and will change with it
            raise
        versions = sorted(each for each in home.iterdir() if each.is_file())
        for old in versions[:-_MOST]:
            old.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Let go of what was replaced long ago."""
        oldest = _called(time.time_ns() - KEPT * 10**9)
        for home, _, names in os.walk(self._folder, topdown=False):
            for name in names:
                if name < oldest:
                    Path(home, name).unlink(missing_ok=True)
            with suppress(OSError):  # something is in it
                Path(home).rmdir()


def _called(nanoseconds: int) -> str:
    """A name that says when, such that later ones come later."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(seconds))}-{rest:09}"
