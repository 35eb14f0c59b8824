"""Which bytes are text, and one page of them at a time.

A page costs the memory of a page, however large its file is. Lines end at a line feed, as they
do for ripgrep, so that a line number from a search is the line number of a read.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE_BYTES = 256 * 1024
LINE_BYTES = 64 * 1024
_BLOCK = 1024 * 1024
_COUNTED = 8 * 1024 * 1024  # what is left of a file is counted to its end only up to here

# deepagents hands these to the model as media whatever their content is, so none may pass as text.
_BINARY = {
    "image": "png jpeg jpg webp gif heic heif bmp ico tif tiff psd",
    "video": "mp4 mpeg mov avi flv mpg webm wmv 3gpp mkv m4v",
    "audio": "wav mp3 aiff aac ogg flac m4a opus",
    "document": "pdf doc docx ppt pptx xls xlsx odt ods odp epub",
    "archive": "zip gz tgz bz2 xz zst 7z rar tar jar whl",
    "data file": "parquet feather npy npz pkl sqlite db h5 hdf5 nc",
    "program": "exe dll so dylib pyc class wasm",
}
_KINDS = {
    f".{suffix}": f"{suffix.upper()} {kind}"
    for kind, suffixes in _BINARY.items()
    for suffix in suffixes.split()
}
_SIGNATURES = {
    b"%PDF-": "PDF document",
    b"\x89PNG": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF8": "GIF image",
    b"PK\x03\x04": "ZIP archive or Office document",
    b"\x1f\x8b": "GZIP archive",
    codecs.BOM_UTF16_LE: "UTF-16 text, which must be saved as UTF-8 first",
    codecs.BOM_UTF16_BE: "UTF-16 text, which must be saved as UTF-8 first",
}
_CRLF = "\ud800"  # stands for a Windows line end: half a character, which decoded text cannot have


@dataclass(frozen=True)
class Page:
    """Lines of a file; `total` is None where counting to the end would cost too much."""

    text: str
    first: int
    last: int
    total: int | None
    more: bool


def kind_of_name(name: str) -> str | None:
    """What a file with this name holds, if that is not text."""
    return _KINDS.get(PurePosixPath(name).suffix.lower())


def kind_of_content(start: bytes) -> str | None:
    """What a file that starts with these bytes holds, if that is not text."""
    for signature, kind in _SIGNATURES.items():
        if start.startswith(signature):
            return kind
    return "binary file" if b"\0" in start else None


def size_in_words(size: int) -> str:
    """A size as people say it."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:  # noqa: PLR2004  # a factor of a thousand between units
            return f"{size:.0f} {unit}"
        size = round(size / 1000)
    return f"{size:.0f} GB"


def decode(line: bytes) -> str:
    """UTF-8, or else the encoding that old Windows files have."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", errors="replace")


def read_page(file: BinaryIO, size: int, offset: int, limit: int) -> Page | int:
    """Read `limit` lines after the first `offset` lines, or as many as fit into a page.

    Returns:
        The page, or, where the file ends before it, the number of lines that the file has.
    """
    if file.read(3) != codecs.BOM_UTF8:
        file.seek(0)
    skipped = _skip_lines(file, offset)
    lines: list[str] = []
    used = 0
    if skipped == offset:
        for line in _lines(file):
            lines.append(line)
            used += len(line)
            if len(lines) >= limit or used >= PAGE_BYTES:
                break
    if not lines:
        return skipped
    last = offset + len(lines)
    rest = size - file.tell()
    total: int | None = last
    if rest > 0:
        total = last + _skip_lines(file, rest) if rest <= _COUNTED else None
    return Page("".join(lines), offset + 1, last, total, more=rest > 0)


def _skip_lines(file: BinaryIO, count: int) -> int:
    """Move behind `count` lines; return how many there were."""
    seen = 0
    ended = True  # whether the last byte seen closed a line
    while seen < count and (block := file.read(_BLOCK)):
        breaks = block.count(b"\n")
        ended = block.endswith(b"\n")
        if seen + breaks >= count:
            end = -1
            for _ in range(count - seen):
                end = block.index(b"\n", end + 1)
            file.seek(end + 1 - len(block), 1)
            return count
        seen += breaks
    return seen if ended else seen + 1


def _lines(file: BinaryIO) -> Iterator[str]:
    while line := file.readline(LINE_BYTES):
        if len(line) < LINE_BYTES or line.endswith(b"\n"):
            text = decode(line)
            yield text[:-2] + "\n" if text.endswith("\r\n") else text
            continue
        cut = 0
        while (rest := file.readline(_BLOCK)) and not rest.endswith(b"\n"):
            cut += len(rest)
        cut += len(rest.rstrip(b"\r\n"))
        # The cut may fall inside a character: an incremental decoder leaves its bytes out.
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(line)
        note = f" ... [{cut:,} more bytes of this line are not shown]" if cut else ""
        yield text + note + ("\n" if rest.endswith(b"\n") else "")


def refuse_binary(path: str, start: bytes, size: int) -> None:
    """Raise a ValueError if a file that starts like this is not text."""
    if kind := kind_of_name(path) or kind_of_content(start):
        article = "an" if kind[0] in "AEIOUaeiou" else "a"
        raise ValueError(
            f"{PurePosixPath(path).name!r} is {article} {kind} ({size_in_words(size)}), not text: "
            "it cannot be read or edited as lines. Ask for its text in a text file."
        )


def refuse_damage(path: str, content: str) -> None:
    """Raise a ValueError if `content` would make a file that its own programs cannot open."""
    name = PurePosixPath(path).name
    if kind := kind_of_name(name):
        raise ValueError(f"{name!r} would be a broken {kind}: only text can be written.")
    if name.lower().endswith(".ipynb") and (problem := _notebook_problem(content)):
        raise ValueError(
            f"{name!r} would no longer open as a notebook: {problem}. Nothing was changed; "
            "write the complete, valid JSON of a notebook."
        )


def refuse_unsearchable(pattern: str) -> None:
    """Raise a ValueError if no line can contain `pattern`."""
    if not pattern or "\0" in pattern or "\n" in pattern:
        raise ValueError("Search for a part of one line: not empty, no line break.")
    pattern.encode()


def substitute(content: str, old: str, new: str, *, every: bool) -> tuple[str, int]:
    """Replace an exact text, and return how often; it must occur once unless `every` is wanted.

    Agents see line feeds only: one in `old` also stands for a Windows line end, and `new` gets
    the line ends of what it replaces. Plain searches, so that the time is linear.

    Raises:
        ValueError: If there is nothing to replace, or more than one place to do it.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old or old == new:
        raise ValueError("old_string is empty or the same as new_string. Say what to change.")
    marked = content.replace("\r\n", _CRLF)
    plain = marked.replace(_CRLF, "\n")  # each character is where it is in `marked`
    count = plain.count(old)
    if count == 0:
        raise ValueError(
            "old_string is not in the file. It must match exactly, with its spaces and line "
            "ends; read the file again. Nothing was changed."
        )
    if count > 1 and not every:
        raise ValueError(
            f"old_string occurs {count} times. Add lines around it to make it unique, or set "
            "replace_all to change every one. Nothing was changed."
        )
    if _CRLF not in marked:
        return plain.replace(old, new), count
    if "\n" not in marked:
        return plain.replace(old, new).replace("\n", "\r\n"), count
    return _substitute_mixed(marked, plain, old, new), count


def _substitute_mixed(marked: str, plain: str, old: str, new: str) -> str:
    """Replace each `old` of `plain` in `marked`, where every line keeps the end that it has."""
    pieces: list[str] = []
    usual = "\r\n" if marked.count(_CRLF) > marked.count("\n") else "\n"
    done = 0
    while (start := plain.find(old, done)) >= 0:
        pieces.append(marked[done:start].replace(_CRLF, "\r\n"))
        done = start + len(old)
        pieces.append(_with_ends(new, marked[start:done].replace(_CRLF, "\r\n"), usual))
    return "".join([*pieces, marked[done:].replace(_CRLF, "\r\n")])


def _with_ends(new: str, replaced: str, usual: str) -> str:
    """End the lines of `new` as those that it replaces; where it has more, as is usual."""
    *lines, last = new.split("\n")
    ends = chain(re.findall("\r?\n", replaced), repeat(usual))
    return "".join(line + end for line, end in zip(lines, ends, strict=False)) + last


def _notebook_problem(text: str) -> str | None:
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return "it is not valid JSON"
    if not isinstance(notebook, dict):
        return "it is not a JSON object"
    if not isinstance(notebook.get("cells"), list) or "nbformat" not in notebook:
        return "it has no list of 'cells' or no 'nbformat'"
    return None
