"""Documents in, text with places out: one small file for each family of formats.

Each reader takes an open file, gives blocks one after the other, and knows where each stands. A
document is hostile until read: sizes are bounded, archives and XML are not believed, nothing in it
is followed or run. What cannot be read says why, and what to do about it, in an UnreadableError.
"""

from __future__ import annotations

import errno
import io
import re
from contextlib import closing
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from deepnb.chunks import Block
from deepnb.errors import UnreadableError
from deepnb.files.disk import open_regular
from deepnb.knowledge.readers.document import Document
from deepnb.knowledge.readers.formats import (
    MEDIA_TYPES,
    OUTDATED,
    READERS,
    is_document,
    kind_of,
    suffixes,
)
from deepnb.knowledge.readers.html import read_html
from deepnb.knowledge.readers.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

__all__ = [
    "Block",
    "Document",
    "is_document",
    "read",
    "read_html",
    "read_note",
    "read_page",
    "suffixes",
]

_REASONS = {
    errno.ENOENT: "does not exist. Check how it is spelled, and which folder it is in.",
    errno.EISDIR: "is a folder. Name a file in it, or add the folder itself.",
    errno.EACCES: "may not be read: no permission. Ask whoever owns it.",
    errno.EPERM: "may not be read: no permission. Ask whoever owns it.",
    errno.ELOOP: "is a link, and links are not followed. Name the file that it leads to.",
    errno.EINVAL: "is a pipe, socket or device, not a file. Save what comes out of it in a file.",
    errno.ENXIO: "is a pipe, socket or device, not a file. Save what comes out of it in a file.",
}


def read(path: Path, name: str | None = None) -> Document:
    """Read a document; its format is told by the ending of its name.

    Args:
        path: A regular file. A link is refused, so that none leads out of a folder.
        name: What to call it, if not as its file is called.

    Raises:
        UnreadableError: If it cannot be read. Some of that shows only while its blocks are read.
        MissingExtraError: If what reads this format is not installed.
    """
    name = path.name if name is None else name
    try:
        file = open_regular(path)
    except (OSError, ValueError) as error:
        code = error.errno if isinstance(error, OSError) else None
        raise UnreadableError(name, _REASONS.get(code or 0, f"cannot be read: {error}.")) from None
    return _read(file, name)


def read_page(
    data: bytes, address: str, content_type: str = "", charset: str | None = None
) -> Document:
    """Read what was fetched from an address, of whatever format it says it is.

    Raises:
        UnreadableError: If it cannot be read.
        MissingExtraError: If what reads this format is not installed.
    """
    suffix = MEDIA_TYPES.get(content_type.partition(";")[0].strip().lower(), "")
    file = PurePosixPath(unquote(urlsplit(address).path)).name
    if data.startswith(b"%PDF-"):
        suffix = ".pdf"
    if suffix == ".html" or (not suffix and re.match(rb"\W{0,3}\s*<", data)):
        return read_html(data, address, charset)
    return _read(io.BytesIO(data), address, kind_of(file) if not suffix else kind_of(f"x{suffix}"))


def read_note(text: str, title: str = "Note") -> Document:
    """Read what someone has written down, as Markdown."""
    clean = text.encode("utf-8", "replace").replace(b"\0", b" ")
    document = read_text(io.BytesIO(clean), title, "Markdown")
    return Document(title, "Note", document.blocks)


def _read(file: BinaryIO, name: str, kind: str | None = None) -> Document:
    kind = kind or kind_of(name)
    try:
        _refuse_outdated(name)
        read_it = READERS.get(kind)
        document = read_it(file, name) if read_it else read_text(file, name, kind)
    except BaseException:
        file.close()
        raise
    if document.title == name:
        document.title = PurePosixPath(name).stem if "://" not in name else name
    document.blocks = _closing(file, document.blocks)
    return document


def _refuse_outdated(name: str) -> None:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in OUTDATED:
        raise UnreadableError(name, OUTDATED[suffix])


def _closing(file: BinaryIO, blocks: Iterator[Block]) -> Iterator[Block]:
    with closing(file):
        yield from blocks
