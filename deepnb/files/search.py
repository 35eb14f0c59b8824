"""Finding files by name, lines by text and passages by words, under one folder.

Nothing here follows links: what a link leads to inside the folder is found under its own name,
and what it leads to outside must not be found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from deepagents.backends.protocol import GrepMatch, GrepResult

from deepnb import keywords
from deepnb.chunks import Block, Chunk, chunks
from deepnb.files.disk import LARGEST, read_whole
from deepnb.files.paths import shown
from deepnb.files.text import decode, kind_of_content, kind_of_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SECONDS = 8.0  # deepagents gives up on a glob after ten
MOST_FOUND = 10_000
_LONGEST_LINE = 1000
_LARGEST_RANKED = 4 * 1024 * 1024  # of one file
_ALL_RANKED = 16 * 1024 * 1024  # of all files
# ripgrep repeats the folder it is given before each name. No name is empty, so this comes up at
# the beginning of a path and nowhere else, whatever a name has in it.
_START = b".//"
_BINARY_MESSAGE = re.compile(
    rb"\.//(.*): (?:WARNING: stopped searching binary file|binary file matches)", re.DOTALL
)


@dataclass
class Walk:
    """The regular files below a folder, with a note of what had to be left out.

    `target` is "." for all of them, or the name of one file in the folder.
    """

    folder: Path
    target: str
    hidden: bool
    unreadable: bool = False
    out_of_time: bool = False
    _deadline: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    def __iter__(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield each file with its path below the root, as agents see it."""
        waiting = [("", os.fspath(self.folder))]
        while waiting:
            prefix, folder = waiting.pop()
            if time.monotonic() > self._deadline:
                self.out_of_time = True
                return
            try:
                with os.scandir(folder) as entries:
                    inside = sorted(entries, key=lambda entry: entry.name)
            except OSError:  # no permission, or gone since its parent was read
                self.unreadable = True
                continue
            for entry in inside:
                name = shown(entry.name)
                if name is None or not self._counts(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{prefix}{name}/", entry.path))
                elif entry.is_file(follow_symlinks=False):
                    yield prefix + name, entry

    def _counts(self, name: str) -> bool:
        if self.target == ".":
            return self.hidden or not name.startswith(".")
        return name == self.target


@dataclass(frozen=True)
class Grep:
    """A literal text to look for in `target`: a name in `folder`, or "." for all that is there.

    `keep` says which files count, by their path below `folder`; `prefix` goes before that path.
    """

    text: str
    folder: Path
    target: str
    prefix: str
    keep: Callable[[str], bool]
    case_sensitive: bool = True

    def run(self, rg: str | None, most: int | None) -> GrepResult:
        """Search with the ripgrep at `rg`, or without one in Python; the result is the same."""
        result = (self._with_ripgrep(rg) if rg else None) or self._in_python()
        matches = result.matches or []
        # ripgrep answers as its threads finish, and a page of results must not change by chance.
        matches.sort(key=lambda match: (match["path"], match["line"]))
        cut = most is not None and len(matches) > most
        return GrepResult(matches=matches[:most], truncated=result.truncated or cut)

    def _with_ripgrep(self, rg: str) -> GrepResult | None:
        """The unsorted matches, or None if ripgrep could not be run."""
        command = [rg, "--no-config", "--no-ignore", "--no-messages", "--no-mmap"]
        command += ["--encoding=none", "--null", "--line-number", "--no-heading"]
        command += ["--with-filename", "--color=never", "--max-columns=4000"]
        command += ["--max-columns-preview", "--fixed-strings"]
        command += [] if self.case_sensitive else ["--ignore-case"]
        command += ["-e", self.text, "--", ".//" if self.target == "." else f".//{self.target}"]
        try:
            process = subprocess.Popen(  # noqa: S603  # what an agent typed is behind -e and --
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None
        alarm = threading.Timer(SECONDS, process.kill)
        alarm.start()
        with process:
            result = self._parse(process.stdout or ())
            if result.truncated:
                process.kill()
        alarm.cancel()
        if process.returncode > 1 and not result.matches:
            return None
        result.truncated |= process.returncode < 0  # killed: by us, or by the alarm
        return result

    def _parse(self, output: Iterable[bytes]) -> GrepResult:
        """Read records of the form `.//path NUL number : text`, and messages on binary files."""
        matches: list[GrepMatch] = []
        paths: dict[bytes, str | None] = {}
        binary: set[bytes] = set()
        truncated = False
        for record in _records(output):
            name, separator, rest = record.partition(b"\0")
            if not separator:
                if message := _BINARY_MESSAGE.match(record):
                    binary.add(message[1])
                continue
            if name not in paths:
                paths[name] = self._path(name.removeprefix(_START))
            path = paths[name]
            if path is None:
                continue
            number, _, text = rest.partition(b":")
            matches.append({"path": path, "line": int(number), "text": _clean(text)})
            if len(matches) > MOST_FOUND:
                truncated = True
                break
        if binary:
            skip = {self._path(name) for name in binary}
            matches = [match for match in matches if match["path"] not in skip]
        return GrepResult(matches=matches[:MOST_FOUND], truncated=truncated)

    def _path(self, raw: bytes) -> str | None:
        """The path to report for a file that ripgrep names, or None if it does not count."""
        names = [shown(name) for name in os.fsdecode(raw).split("/")]
        path = "/".join(name for name in names if name is not None)
        return self.prefix + path if None not in names and self.keep(path) else None

    def _in_python(self) -> GrepResult:
        walk = Walk(self.folder, self.target, hidden=False)
        matches: list[GrepMatch] = []
        truncated = False
        for path, entry in walk:
            if not self.keep(path):
                continue
            data = _content(entry, LARGEST)
            truncated |= data is None
            for number, line in self._matching_lines(data or b""):
                matches.append({"path": self.prefix + path, "line": number, "text": _clean(line)})
            if len(matches) > MOST_FOUND:
                truncated = True
                break
        return GrepResult(matches=matches[:MOST_FOUND], truncated=truncated or walk.out_of_time)

    def _matching_lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        if b"\0" in data:
            return
        needle = self.text.encode()
        if self.case_sensitive:
            if needle in data:
                for number, line in enumerate(data.split(b"\n"), 1):
                    if needle in line:
                        yield number, line
            return
        pattern = re.compile(re.escape(self.text), re.IGNORECASE)
        for number, line in enumerate(data.split(b"\n"), 1):
            if pattern.search(line.decode(errors="replace")):
                yield number, line


def _records(output: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of output; those that a line break in a name has torn apart are put together."""
    record = b""
    for line in output:
        if record and line.startswith(_START):
            yield record
            record = b""
        record += line
    if record:
        yield record


@cache
def ripgrep() -> str | None:
    """The rg beside this Python, or else on the PATH, which a notebook's kernel often lacks."""
    return shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg")


class Passage(TypedDict):
    """A passage that shares words with a question, and the line it starts at."""

    path: str
    line: int
    text: str
    score: float


def rank_passages(walk: Walk, prefix: str, query: str, top_k: int) -> list[Passage]:
    """The passages of the text files among these that fit the query best, by keywords."""
    where: list[tuple[str, int]] = []
    texts: list[str] = []
    left = _ALL_RANKED
    for path, entry in walk:
        data = None if kind_of_name(path) else _content(entry, min(left, _LARGEST_RANKED))
        if not data or kind_of_content(data):
            continue
        left -= len(data)
        for chunk in passages(decode(data.removeprefix(b"\xef\xbb\xbf"))):
            where.append((prefix + path, chunk.first or 1))
            texts.append(chunk.text)
    best = keywords.rank(query, texts)[: max(top_k, 0)]
    return [
        {"path": where[i][0], "line": where[i][1], "text": texts[i], "score": round(score, 4)}
        for i, score in best
    ]


def passages(text: str) -> Iterator[Chunk]:
    """Split a text into its paragraphs, and those that are too long into chunks."""
    lines: list[str] = []
    for number, raw in enumerate(chain(text.split("\n"), ("",)), 1):
        if line := raw.rstrip():
            lines.append(line)
        elif lines:
            yield from chunks([Block("\n".join(lines), "line", number - len(lines), number - 1)])
            lines = []


def _content(entry: os.DirEntry[str], most: int) -> bytes | None:
    """The bytes of a file, or None if it is larger than `most` or cannot be read."""
    try:
        return read_whole(Path(entry.path), most)
    except OSError:
        return None


def _clean(line: bytes) -> str:
    text = decode(line.rstrip(b"\r\n")).removeprefix("\ufeff")
    return text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + " ... [line cut]"
