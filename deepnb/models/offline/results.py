"""What the tools' texts mean.

Tools answer in text made for a language model. The formats read here are those of deepagents'
file tools, and JSON as client-side tools send it; what is not understood is nothing found.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.models.offline.turn import Result

# What read_file says above a file's lines, and what it says in their place.
_WINDOW = re.compile(r"(?:\[.*\]\n)*@@ lines? (\d+)(?:-(\d+))?.*@@(?:\n|$)")
_NO_LINES = re.compile(
    r"System reminder: (?:File exists but has empty contents|no lines were read because .*)$"
)
_PARTIAL = re.compile(r"^Note: |\[results truncated|^\(only the first ", re.MULTILINE)
_NUMBERED = re.compile(r"^ *(\d+)[\t\u2192](.*)$")
_GREP_LINE = re.compile(r"^ {2}(\d+): ?(.*)$")
_FLAT_LINE = re.compile(r"^(/?[^\s:][^:]*):(\d+):\s?(.*)$")
_PLACE = re.compile(r"^(/\S.*):(\d+)$")
_NO_LINE = re.compile(r"^/\S.*, (?:.*, )?(?:pp?\.|rows?|slides?|cells?|\u00b6+) [\d\u2013]+$")
_FOUND = re.compile(r"^\[\d+\] (.*) \| (.*) \| (.*)((?:\n> .*)+)$", re.MULTILINE)
_LONGEST_LINE = 4_000
# How deepnb's own folders end a line that goes on: in what they find, and in what they read.
_CUT = " ... [line cut]"
_UNSHOWN = re.compile(r" \.\.\. \[[\d,]+ more bytes of this line are not shown\]$")

# Where agents keep what they made themselves; quoting it would be quoting oneself.
_OWN = ("large_tool_results", "conversation_history", "scratch", "summaries", "analysis", ".deepnb")
_BINARY = {
    "a PDF": "pdf",
    "an image": "bmp gif heic ico jpeg jpg png psd tif tiff webp",
    "a sound file": "aac flac m4a mp3 ogg opus wav",
    "a video": "avi m4v mkv mov mp4 mpeg mpg webm wmv",
    "an office document": "doc docx epub odp ods odt ppt pptx xls xlsx",
    "an archive": "7z bz2 gz jar rar tar tgz whl xz zip zst",
    "a binary file": "bin db dll dylib exe feather h5 nc npy npz parquet pkl pyc so sqlite wasm",
}
BINARY = {suffix: kind for kind, suffixes in _BINARY.items() for suffix in suffixes.split()}
"""What a file is that is not text, by how its name ends."""


@dataclass(frozen=True)
class Hit:
    """A line that a search came up with.

    Attributes:
        path: Its file.
        line: Its number.
        text: The line, or how it begins.
        cut: Whether it goes on, so that what was searched for may not be in `text`.
        terms: Which terms of a question it has; filled in by the search.
    """

    path: str
    line: int
    text: str
    cut: bool = False
    terms: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Found:
    """A passage of a document in the knowledge base; `place` is for people, such as "p. 12"."""

    path: str
    place: str
    title: str
    lines: list[str]


@dataclass(frozen=True)
class Page:
    """A stretch of a file, as it is."""

    path: str
    first: int
    lines: list[str]


def is_own(path: str) -> bool:
    """Whether a file is one of the agent's own, which is not a source."""
    parts = PurePosixPath(path).parts
    first = next((part for part in parts if part != "/"), "")
    return first in _OWN or ".deepnb" in parts


def binary(path: str) -> str:
    """What a file is that cannot be read as text, such as "a PDF"; else nothing."""
    return BINARY.get(PurePosixPath(path).suffix.lower().removeprefix("."), "")


def unsearched(path: str) -> str:
    """Why no search looks into a file, if none does."""
    hidden = any(part.startswith(".") for part in PurePosixPath(path).parts)
    return binary(path) or ("hidden" if hidden else "")


def is_partial(result: Result) -> bool:
    """Whether an answer leaves something out, by what it says itself."""
    return result.failed or result.cut or _PARTIAL.search(result.text) is not None


def paths(result: Result) -> list[str]:
    """The paths in an answer of glob or ls."""
    if result.failed:
        return []
    listed = _data(result.text)
    if listed is None:
        listed = [line for line in result.text.split("\n") if line.startswith("/")]
    return [path for path in map(_path, listed) if path]


def hits(result: Result) -> list[Hit]:
    """The lines in an answer of grep or of a file search."""
    listed = _data(result.text)
    if listed is not None:
        found = [hit for hit in map(_hit, listed) if hit]
    else:
        found = list(_grouped(result.text))
    return [
        hit
        for hit in found
        if hit.path and hit.text.strip() and not is_own(hit.path) and not binary(hit.path)
    ]


def _grouped(text: str) -> Iterator[Hit]:
    """Lines under the path they are from, or under path and line, or after both."""
    path, line = "", 0
    for row in text.split("\n"):
        if match := _GREP_LINE.match(row):
            yield _cut(path, int(match[1]), match[2])
        elif match := _FLAT_LINE.match(row):
            yield _cut(match[1], int(match[2]), match[3])
        elif match := _PLACE.match(row):
            path, line = match[1], int(match[2])
        elif row.startswith("/") and row.endswith(":"):
            path, line = row[:-1], 0
        elif _NO_LINE.match(row):  # of a document that has no lines, and cannot be quoted by them
            line = 0
        elif line:
            yield _cut(path, line, row)
            line += 1


def found(result: Result) -> list[Found]:
    """The passages in an answer of `search_knowledge`."""
    return [
        Found(match[1], match[2], match[3], match[4].removeprefix("\n> ").split("\n> "))
        for match in _FOUND.finditer(result.text)
        if not result.failed
    ]


def page(result: Result, path: str) -> Page | None:
    """The stretch of `path` in an answer of read_file; an empty file has no lines."""
    if result.failed:
        return None
    text = result.text
    if _NO_LINES.match(text):
        return Page(path, 1, [])
    if match := _WINDOW.match(text):
        first = int(match[1])
        count = int(match[2] or first) - first + 1
        return Page(path, first, _unnumbered(_lines(text[match.end() :])[:count], first))
    lines = _lines(text)
    numbered = [match for match in map(_NUMBERED.match, lines) if match]
    if numbered and len(numbered) == len([line for line in lines if line.strip()]):
        return Page(path, int(numbered[0][1]), [match[2] for match in numbered])
    return Page(path, int(result.args.get("offset", 0)) + 1, lines)


def _unnumbered(lines: list[str], first: int) -> list[str]:
    """Lines without the numbers that deepnb's agents put before them."""
    marks = [f"{number}\t" for number in range(first, first + len(lines))]
    if not all(map(str.startswith, lines, marks)):
        return lines
    return [line.removeprefix(mark) for line, mark in zip(lines, marks, strict=True)]


def _lines(text: str) -> list[str]:
    # Not splitlines(): form feeds and the like do not end a line in the files' own numbering.
    return [_UNSHOWN.sub("", line).removesuffix("\r") for line in text.split("\n")]


def _data(text: str) -> list[Any] | None:
    """The list that an answer holds: JSON, JSON by lines, or as Python writes it; else None."""
    # A note about what was left out may follow the list.
    body = text.strip().split("\n\nNote:")[0]
    if not body.startswith(("[", "{")):
        return None
    for load in (json.loads, ast.literal_eval, _json_lines):
        try:
            value = load(body)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict):
            inner = [each for each in value.values() if isinstance(each, list)]
            value = inner[0] if inner else [value]
        return value if isinstance(value, list) else None
    return None


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _path(item: Any) -> str:
    if isinstance(item, dict):
        item = item.get("path") or item.get("file_path") or item.get("name") or item.get("id")
    return item if isinstance(item, str) and "\n" not in item and " truncated" not in item else ""


def _hit(item: Any) -> Hit | None:
    if not isinstance(item, dict) or not _path(item):
        return None
    line = item.get("line", item.get("line_number", 1))
    text = str(item.get("text", item.get("content", "")))
    return _cut(_path(item), line if isinstance(line, int) else 1, text)


def _cut(path: str, line: int, text: str) -> Hit:
    whole = text.removesuffix(_CUT)
    return Hit(path, line, whole[:_LONGEST_LINE], whole != text or len(whole) > _LONGEST_LINE)
