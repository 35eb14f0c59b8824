"""Where an index is kept, and what is done when it cannot be kept there."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from deepnb.errors import KnowledgeError
from deepnb.knowledge import store
from deepnb.knowledge.gather import ADDED, text_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    Pathlike: TypeAlias = str | os.PathLike[str]

FOLDER = ".deepnb/knowledge"
"""Of the index, in the folder of the documents."""


def starts(documents: Pathlike | Sequence[Pathlike] | None) -> list[Path]:
    """The files and folders that somebody has named.

    Raises:
        KnowledgeError: One of them is not there, or is no path.
    """
    if documents is None:
        return []
    several = isinstance(documents, Iterable) and not isinstance(documents, str | bytes)
    given = cast("Iterable[Pathlike]", documents if several else [documents])
    named = [Path(text_of(each)).expanduser().absolute() for each in given]
    for path in named:
        if not path.exists():
            raise KnowledgeError(
                f"There is no folder or file {str(path)!r}. Make it, or pass the path of another."
            )
    return named


def home(at: Pathlike | None, root: Path | None) -> Path | None:
    """The folder for an index: where somebody wants it, or beside the documents."""
    if at is not None:
        return Path(text_of(at)).expanduser().absolute()
    return root / FOLDER if root else None


def opened(home: Path | None) -> tuple[store.Store, dict[str, str], Path | None]:
    """The index in a folder, or one that lasts until it is closed.

    Returns:
        The index, what people should know about it, and the folder to delete in the end, if any.
    """
    notices: dict[str, str] = {}
    if home:
        try:
            return _mended(home, notices), notices, None
        except (OSError, sqlite3.OperationalError) as error:
            notices["index"] = (
                f"It cannot be kept in {home} ({error}), so it lasts only until it is closed. "
                "Make the folder writable, or pass at= to keep it elsewhere."
            )
    scratch = Path(tempfile.mkdtemp(prefix="deepnb-knowledge-"))
    if home:
        for name in (store.NAME, ADDED):  # what can be read there need not be made again
            with suppress(OSError):
                shutil.copyfile(home / name, scratch / name)
    return _mended(scratch, notices), notices, scratch


def _mended(folder: Path, notices: dict[str, str]) -> store.Store:
    try:
        return store.Store(folder)
    except sqlite3.DatabaseError as error:
        if not store.is_damage(error):
            raise
        notices["index"] = store.damage_notice(error, store.set_aside(folder))
        return store.Store(folder)
