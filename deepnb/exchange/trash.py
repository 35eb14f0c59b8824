"""What was deleted from a workspace, and can be had back for a while."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from deepnb.errors import DeepnbError
from deepnb.exchange.uploads import KEPT
from deepnb.files.disk import move

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{32}")


class Trash:
    """Deleted files and folders, each in a folder of its own beside a note of where it was.

    Args:
        folder: Made when it is needed; on the disk of the workspace, so that deleting only renames.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with suppress(OSError):
            self._sweep()

    def put(self, place: Path, path: str) -> str:
        """Take away what is at a place, and give an id to have it back by.

        Raises:
            OSError: It cannot be done; then it is still there.
        """
        name = secrets.token_hex(16)
        home = self._folder / name
        home.mkdir(parents=True, mode=0o700)
        try:
            (home / "path.json").write_text(json.dumps(path))
            move(place, home / "it")
        except OSError:
            if not os.path.lexists(home / "it"):  # what was begun to be moved is not thrown away
                shutil.rmtree(home, ignore_errors=True)
            raise
        return name

    def path(self, name: str) -> str:
        """Where something was.

        Raises:
            DeepnbError: It cannot be had back any more.
        """
        if _NAME.fullmatch(name):
            with suppress(OSError, ValueError):
                return str(json.loads((self._folder / name / "path.json").read_text()))
        raise DeepnbError("That was deleted too long ago, or is back already.")

    def take(self, name: str, place: Path) -> None:
        """Put something to a place where nothing is.

        Raises:
            OSError: It cannot be done; then it is still in the trash.
        """
        place.parent.mkdir(parents=True, exist_ok=True)
        move(self._folder / name / "it", place)
        shutil.rmtree(self._folder / name, ignore_errors=True)

    def _sweep(self) -> None:
        """Let go of what was deleted long ago."""
        for home in self._folder.iterdir():
            if _NAME.fullmatch(home.name) and home.stat().st_mtime < time.time() - KEPT:
                shutil.rmtree(home, ignore_errors=True)
