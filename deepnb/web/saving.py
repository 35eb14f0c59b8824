"""A page of the web, kept as a file of the workspace."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from deepnb.errors import ChangedError, FetchError
from deepnb.exchange import Sending
from deepnb.web.pages import fetch

if TYPE_CHECKING:
    from deepnb.exchange import Exchange, Stored

_FOLDER = "/pages"
_LONGEST = 80
_MOST_NAMES = 100
_ENDINGS = {"text/html": ".html", "application/xhtml+xml": ".html", "application/pdf": ".pdf"}


def save_page(files: Exchange, address: str, *, private: bool = False) -> Stored:
    """Fetch a page into the workspace's `pages/`, beside what is there.

    Args:
        files: The workspace.
        address: Of the page.
        private: Also reach this machine and private networks.

    Raises:
        FetchError: It cannot be had; the message says why.
    """
    page = fetch(address, private=private)
    stem, ending = _name(page.address, page.content_type)
    for number in range(1, _MOST_NAMES):
        path = f"{_FOLDER}/{stem}{f' {number}' if number > 1 else ''}{ending}"
        try:
            return _stored(files, path, page.content)
        except ChangedError:
            continue  # something is there
    raise FetchError(f"There are {_MOST_NAMES} pages called {stem!r} already. Delete some of them.")


def _stored(files: Exchange, path: str, content: bytes) -> Stored:
    sha256 = hashlib.sha256(content).hexdigest()
    sending = Sending("copy", path, len(content), sha256, "", None, path)
    upload, received = files.begin_upload(sending)
    files.add_to_upload(upload, received, content[received:])
    try:
        return files.finish_upload(upload, sha256)
    except ChangedError:
        files.cancel_upload(upload)
        raise


def _name(address: str, kind: str) -> tuple[str, str]:
    """What to call the file: the site and the last of the address, with an ending that fits."""
    parts = urlsplit(address)
    last = unquote(parts.path).rstrip("/").rpartition("/")[2]
    ending = _ENDINGS.get(kind, "")
    words = re.sub(r"[^\w.-]+", "-", f"{parts.hostname or 'page'} {last}".strip())
    stem = words.removesuffix(ending).strip("-.")[:_LONGEST]
    return stem or "page", ending or ("" if "." in last else ".txt")
