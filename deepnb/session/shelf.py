"""The name under which browsers keep the reader's files of a workspace."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def shelf_name(record: Path) -> str:
    """Give the name, which is made up once: it stays if the workspace's folder is moved.

    Args:
        record: The workspace's `.deepnb/`.
    """
    file = record / "shelf"
    with suppress(OSError, UnicodeDecodeError):
        if name := file.read_text(encoding="utf-8").strip():
            return name
    new = record / f"shelf-{secrets.token_hex(8)}.tmp"
    new.write_text(secrets.token_hex(8), encoding="utf-8")
    new.replace(file)
    return file.read_text(encoding="utf-8")
