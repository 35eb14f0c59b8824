"""What there is to read: the files of a folder, and what was added by name."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from deepnb.errors import KnowledgeError
from deepnb.knowledge.passages import Note
from deepnb.knowledge.readers import is_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.knowledge.passages import Kind

ADDED = ".added.jsonl"  # hidden, so that it is never taken for a document
_LEFT_OUT = "left out"
_NOT_OURS = {"node_modules", "__pycache__", "site-packages", "venv"}
_INSTEAD = (
    "Pass the path of a file or folder, an address that begins with https://, or "
    "deepnb.Note('a text of your own')."
)


class Item(NamedTuple):
    """One document to be, before it is read."""

    location: str
    kind: Kind
    path: Path | None = None
    note: Note | None = None


@dataclass(frozen=True)
class Stamp:
    """By what a file is known to be unchanged without reading it."""

    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Look at a file."""
        seen = path.stat()
        return cls(seen.st_size, seen.st_mtime_ns)


def item(thing: str | os.PathLike[str] | Note, root: Path | None) -> Item:
    """Tell what somebody wants to add.

    Raises:
        KnowledgeError: It is nothing that can be read.
    """
    if isinstance(thing, Note):
        return Item(_note_location(thing), "note", note=thing)
    text = text_of(thing)
    if urlsplit(text).scheme.lower() in {"http", "https"}:
        return Item(text.strip(), "page")
    path = Path(text).expanduser()
    inside = root / path if root is not None else path
    found = path if path.exists() else inside
    if not found.exists():
        raise KnowledgeError(
            f"There is no file or folder {text!r}, seen from {Path.cwd()}. {_INSTEAD}"
        )
    return Item(location_of(found.absolute(), root), "file", path=found.absolute())


def text_of(thing: object) -> str:
    """A path or an address as a text.

    Raises:
        KnowledgeError: It is neither. An empty one would be the current folder, which nobody means.
    """
    text = os.fspath(thing) if isinstance(thing, str | os.PathLike) else None
    if not isinstance(text, str):  # a path may also be bytes
        raise KnowledgeError(f"{thing!r:.80} is no path and no address. {_INSTEAD}")
    if not text.strip():
        raise KnowledgeError(f"The path is empty; the current folder is '.'. {_INSTEAD}")
    return text


def _note_location(note: Note) -> str:
    """Two notes of one title are two notes, and the same note again is the same one."""
    digest = hashlib.blake2b(note.text.encode(errors="replace"), digest_size=4).hexdigest()
    return f"note:{title_of(note)} #{digest}"


def title_of(note: Note) -> str:
    """A note's title, or how it begins."""
    return " ".join((note.title or note.text[:200]).split())[:60] or "empty"


def location_of(path: Path, root: Path | None) -> str:
    """A path as it is shown: within the folder if it is there, so that the folder can be moved."""
    if root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    # A name that is no text in this file system's encoding must be shown, too.
    return path.as_posix().encode("utf-8", "replace").decode()


def files(start: Path, root: Path | None) -> Iterator[Item]:
    """Every document at or under a path, in order; links are not followed."""
    if not start.is_dir():
        yield Item(location_of(start, root), "file", path=start)
        return
    for folder, inner, names in os.walk(start):
        inner[:] = sorted(each for each in inner if each[0] != "." and each not in _NOT_OURS)
        for name in sorted(names):
            path = Path(folder, name)
            if name[0] == "." or not is_document(name):
                continue
            if path.is_file() and not path.is_symlink():
                yield Item(location_of(path, root), "file", path=path)


def digest(path: Path) -> str:
    """What tells a file's content from another."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:32]


class Added:
    """What was added by name, and what was left out. The index can be made anew; this cannot.

    A file of lines, to which lines are only ever added: the last one about a location counts.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ADDED

    def items(self, root: Path | None) -> list[Item]:
        """All that was added."""
        return [_item(entry, root) for entry in self._entries() if entry["kind"] != _LEFT_OUT]

    def left_out(self) -> set[str]:
        """The locations that somebody does not want."""
        return {each["location"] for each in self._entries() if each["kind"] == _LEFT_OUT}

    def keep(self, new: Item) -> None:
        """Remember that something was added."""
        entry: dict[str, str] = {"location": new.location, "kind": new.kind}
        if new.note:
            entry |= {"title": new.note.title, "text": new.note.text}
        self._append(entry)

    def leave_out(self, location: str) -> None:
        """Remember that something is not wanted."""
        self._append({"location": location, "kind": _LEFT_OUT})

    def _entries(self) -> list[dict[str, str]]:
        entries: dict[str, dict[str, str]] = {}
        with suppress(FileNotFoundError):
            for line in self._path.read_bytes().splitlines():
                with suppress(ValueError, KeyError, TypeError):  # the end of a write that was cut
                    entry = json.loads(line)
                    entries[entry["location"]] = entry
        return list(entries.values())

    def _append(self, entry: dict[str, str]) -> None:
        with self._path.open("ab") as file:
            file.write(b"\n" + json.dumps(entry).encode())


def _item(entry: dict[str, str], root: Path | None) -> Item:
    location = entry["location"]
    if entry["kind"] == "note":
        return Item(location, "note", note=Note(entry["text"], entry["title"]))
    if entry["kind"] == "page":
        return Item(location, "page")
    return Item(location, "file", path=(root or Path("/")) / location)
