"""A conversation as a file."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deepnb.errors import ExportError
from deepnb.transcript.html import to_html
from deepnb.transcript.markdown import to_markdown
from deepnb.transcript.notebook import to_notebook
from deepnb.transcript.reader import turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from deepnb.events import Event
    from deepnb.transcript.steps import Turn


def write(
    path: str | os.PathLike[str], events: Iterable[Event], title: str, *, overwrite: bool = False
) -> Path:
    """Write the transcript of a session to a file; its suffix says what kind.

    Args:
        path: Ends in .md, .html or .ipynb.
        events: The session's, in their order.
        title: What to put above it.
        overwrite: Whether to replace a file that is there.

    Returns:
        Where it is.

    Raises:
        ExportError: The suffix is another one, the file exists, or it cannot be written; then
            nothing has changed.
    """
    target = destination(path, _FORMS, overwrite=overwrite)
    save(target, _FORMS[target.suffix.lower()](turns(events), title))
    return target


def destination(
    path: str | os.PathLike[str], suffixes: Iterable[str], *, overwrite: bool = False
) -> Path:
    """Where a file may be written.

    Raises:
        ExportError: Its suffix is none of these, or it exists and is not to be replaced.
    """
    target = Path(path).expanduser()
    *most, last = suffixes
    if target.suffix.lower() not in {*most, last}:
        raise ExportError(
            f"{target.name!r} does not say what to write. End it in {', '.join(most)} or {last}."
        )
    if os.path.lexists(target) and not overwrite:
        raise ExportError(
            f"{target} exists, and is left as it is. Choose another name, or pass overwrite=True."
        )
    return target


def save(target: Path, content: str | bytes) -> None:
    """Write all of a file or nothing.

    Raises:
        ExportError: It cannot be written; then nothing has changed.
    """
    try:
        _create(target, content.encode("utf-8") if isinstance(content, str) else content)
    except OSError as error:
        raise ExportError(
            f"{target} could not be written: {error.strerror or error}. Choose another place."
        ) from error


def _notebook(read: Sequence[Turn], title: str) -> str:
    import nbformat

    return str(nbformat.writes(to_notebook(read, title))) + "\n"  # type: ignore[no-untyped-call]  # nbformat


_FORMS: dict[str, Callable[[Sequence[Turn], str], str]] = {
    ".md": to_markdown,
    ".html": to_html,
    ".ipynb": _notebook,
}


def _create(path: Path, content: bytes) -> None:
    """Write all of a file or nothing: a half is worse than none."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
