"""What a tool call would write, where, and what the file will be like then."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deepagents.backends import CompositeBackend
from pydantic import TypeAdapter, ValidationError

from deepnb.errors import PathError
from deepnb.files import Folder, Mounts, safe_parts
from deepnb.files.disk import LARGEST
from deepnb.files.paths import join
from deepnb.files.text import substitute
from deepnb.middleware.diffs import diff

if TYPE_CHECKING:
    from deepagents.backends.protocol import BackendProtocol
    from langchain_core.messages import ToolCall

ARGUMENTS = {
    "write_file": ("file_path", None, "content", None),
    "edit_file": ("file_path", "old_string", "new_string", None),
    "patch_file": ("file_id", "search", "replace", "description"),
}
"""By tool, the arguments that say where, what it was, what it will be, and why.

Each tool's own and no other's: an argument that a tool ignores must not decide about approval.
"""

_LONGEST_SHOWN = 262_144  # of a longer file, the change is shown by itself


@dataclass(frozen=True)
class Write:
    """What a tool call would write; `old` is None if it replaces all there is."""

    path: str
    old: str | None
    new: str
    reason: str
    everywhere: bool

    @classmethod
    def of(cls, call: ToolCall) -> Write:
        """Read a call, whatever a model has put into it."""
        path, old, new, reason = (
            None if name is None else str(call["args"].get(name, ""))
            for name in ARGUMENTS[call["name"]]
        )
        try:  # as the tool's own schema will read it: "yes" is True
            everywhere = TypeAdapter(bool).validate_python(call["args"].get("replace_all", False))
        except ValidationError:
            everywhere = False
        return cls(path or "", old, new or "", " ".join((reason or "").split())[:500], everywhere)

    @property
    def clean_path(self) -> str | None:
        """The path in its one spelling; None if it will be refused."""
        try:
            return join(safe_parts(self.path))
        except PathError:
            return None

    def change(self, before: str | None) -> tuple[str, str]:
        """Give the text before and after.

        Where the place is not known, as with the client, the change stands by itself.
        """
        if self.old is None:
            return before or "", self.new
        if before:
            with suppress(ValueError):  # the tool will refuse it too
                return before, substitute(before, self.old, self.new, every=self.everywhere)[0]
        return self.old, self.new


@dataclass(frozen=True)
class Change:
    """What a write does to a file in a folder, worked out before it is made.

    Attributes:
        before: Fingerprint of the file as it is; None if there is none.
        after: Fingerprint of the file as it will be.
        event: What a `file` event says about it.
    """

    before: str | None
    after: str
    event: dict[str, Any]

    @classmethod
    def of(cls, write: Write, path: str, folder: Folder, inner: str) -> Change:
        """Work it out; `inner` is where the file of `path` is in the folder."""
        before = folder.fingerprint(inner)
        old, new = write.change(text_of(folder.content(inner, LARGEST)))
        data = new.encode(errors="replace")
        shown = (old, new) if len(old) <= _LONGEST_SHOWN else write.change(None)
        event = {
            "path": path,
            "action": "created" if before is None else "changed",
            "diff": diff(*shown, path),
            "size": len(data),
        }
        return cls(before, hashlib.sha256(data).hexdigest(), event)


def home_of(files: BackendProtocol, path: str) -> BackendProtocol | None:
    """Tell which backend holds `path`; None if that cannot be told."""
    if isinstance(files, Mounts):
        try:
            first = safe_parts(path)[:1]
        except PathError:
            return None
        return files.routes.get(join(first) + "/", files.default)
    return None if isinstance(files, CompositeBackend) else files


def folder_at(files: BackendProtocol, path: str) -> tuple[Folder, str] | None:
    """Tell which folder on disk holds `path`, and where; None for other homes."""
    if isinstance(files, Folder):
        return files, path
    return files.folder_at(path) if isinstance(files, Mounts) else None


def text_of(raw: bytes | None) -> str | None:
    """Read bytes as text; None if they are none."""
    try:
        return None if raw is None or b"\0" in raw else raw.decode()
    except UnicodeDecodeError:
        return None
