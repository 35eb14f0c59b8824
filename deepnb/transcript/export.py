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
    target = Path(path).expanduser()
    form = _FORMS.get(target.suffix.lower())
    if form is None:
        raise ExportError(
            f"{target.name!r} does not say what to write. End it in .md, .html or .ipynb."
        )
    if os.path.lexists(target) and not overwrite:
        raise ExportError(
            f"{target} exists, and is left as it is. Choose another name, or pass overwrite=True."
        )
    try:
        _create(target, form(turns(events), title))
    except OSError as error:
        raise ExportError(
            f"{target} could not be written: {error.strerror or error}. Choose another place."
        ) from error
    return target


def _notebook(read: Sequence[Turn], title: str) -> str:
    import nbformat

    return str(nbformat.writes(to_notebook(read, title))) + "\n"  # type: ignore[no-untyped-call]  # nbformat


_FORMS: dict[str, Callable[[Sequence[Turn], str], str]] = {
    ".md": to_markdown,
    ".html": to_html,
    ".ipynb": _notebook,
}


def _create(path: Path, text: str) -> None:
    """Write all of a file or nothing: a half is worse than none."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
