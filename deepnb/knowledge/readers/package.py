"""Office files are zip archives of XML; here they are opened without believing what they say."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from deepnb.errors import UnreadableError
from deepnb.files.text import size_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_MOST_PARTS = 10_000
_MOST_XML = 256 * 1000 * 1000
_BLOCK = 64 * 1024
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_BROKEN = "is broken: {}. Open it in its program, save it anew, and add that."

# What zipfile and expat raise for what is broken, or is written in an encoding that nobody knows.
_FAILURES = (
    zipfile.BadZipFile,
    zlib.error,
    expat.ExpatError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)

Event = tuple[str, str, dict[str, str]]
"""("start", tag, attributes), ("end", tag, {}) or ("text", text, {}), names without namespace."""


class Package:
    """The parts of an Office file.

    Only XML is ever unpacked, and of that no more than the archive's directory says, which is
    checked first; `zipfile` stops there even if there is more.

    Raises:
        UnreadableError: If it is encrypted, no archive, or made to grow when it is unpacked.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._refuse_other(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            raise self.broken("it cannot be opened as a zip archive") from None
        entries = self._zip.infolist()
        if len(entries) > _MOST_PARTS:
            raise self.broken(f"it has {len(entries):,} parts")
        by_offset = sorted(entries, key=lambda entry: entry.header_offset)
        if any(a.header_offset + a.compress_size > b.header_offset for a, b in pairwise(by_offset)):
            raise self.broken("its parts overlap, as in a zip bomb")
        self._parts = {entry.filename: entry for entry in entries if _is_xml(entry.filename)}
        self._refuse_bomb()

    def _refuse_other(self, file: BinaryIO) -> None:
        start = file.read(4)
        file.seek(0)
        if not start:
            raise UnreadableError(self.name, "is empty: the file has no bytes. Get it again.")
        if start == _OLD_OFFICE:
            raise UnreadableError(
                self.name,
                "is encrypted, or in the format of an old Office: open it, save a copy without a "
                "password in today's format, and add the copy.",
            )

    def _refuse_bomb(self) -> None:
        size = sum(part.file_size for part in self._parts.values())
        if size > _MOST_XML:
            raise UnreadableError(
                self.name,
                f"would unpack to {size_in_words(size)}, and at most {size_in_words(_MOST_XML)} "
                "are read: it is a zip bomb, or should be split.",
            )
        for part in self._parts.values():
            if part.flag_bits & 1 or part.compress_type not in {
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            }:
                raise self.broken("it is packed in a way that Office files are not")

    def __contains__(self, part: str) -> bool:
        return part in self._parts

    def broken(self, why: str) -> UnreadableError:
        """What to raise for a file that is not what it should be."""
        return UnreadableError(self.name, _BROKEN.format(why))

    def check(self) -> None:
        """Refuse a document type in any part, for a library that will read them all."""
        for part in self._parts:
            next(self.events(part), None)

    def events(self, part: str) -> Iterator[Event]:
        """What is in a part, as it is read; no part is held in memory."""
        if part not in self:
            raise self.broken(f"{part!r:.80} is missing in it")
        found: list[Event] = []
        parser = _parser(found, self)
        try:
            with self._zip.open(self._parts[part]) as stream:
                while block := stream.read(_BLOCK):
                    parser.Parse(block)
                    yield from found
                    found.clear()
                parser.Parse(b"", True)  # noqa: FBT003  # the end; it takes no keyword
        except _FAILURES as error:
            raise self.broken(f"{part!r:.80} cannot be read ({error})") from None

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """What a part refers to: id → (kind, part)."""
        folder, file = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{file}.rels")
        if listed not in self:
            return {}
        return {
            found["Id"]: (
                found["Type"].rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, found["Target"])).lstrip("/"),
            )
            for event, tag, found in self.events(listed)
            if (event, tag) == ("start", "Relationship") and {"Id", "Type", "Target"} <= {*found}
        }

    def main(self) -> str:
        """The part that the others hang from."""
        parts = [target for kind, target in self.related("").values() if kind == "officeDocument"]
        if not parts:
            raise self.broken("it does not say where its text is")
        return parts[0]

    def title(self) -> str:
        """The title in its properties."""
        part = "docProps/core.xml"
        inside = ""
        found = ""
        for event, value, _ in self.events(part) if part in self else ():
            if event == "text":
                found += value if inside == "title" else ""
            else:
                inside = value if event == "start" else ""
        return "" if found == "PowerPoint Presentation" else found


def _is_xml(part: str) -> bool:
    return part.endswith((".xml", ".rels"))


def _parser(found: list[Event], package: Package) -> Any:
    """A parser that knows no entities but those of XML itself."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_: Any) -> None:
        raise package.broken("it declares entities, which can be made to grow without end")

    def start(tag: str, attributes: dict[str, str]) -> None:
        plain = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        found.append(("start", tag.rpartition(" ")[2], plain))

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: found.append(("end", tag.rpartition(" ")[2], {}))
    parser.CharacterDataHandler = lambda text: found.append(("text", text, {}))
    return parser
