"""A folder on disk as a home for files.

deepagents has a backend for this; it refuses names with two dots, lets exceptions escape, edits
in place, loses Windows line ends and reads whole files. This one is for other people's documents:
it changes a file completely or not at all, and says what is wrong without naming the real folder.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepagents.backends.protocol import (
    BackendProtocol,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import InvalidGlobPatternError, compile_grep_include_glob

from deepnb.errors import PathError
from deepnb.files import text, wire
from deepnb.files.disk import (
    LARGEST,
    change_lock,
    error_code,
    explain,
    fingerprint,
    listing,
    open_regular,
    read_whole,
    replace,
    sweep,
)
from deepnb.files.paths import join, safe_parts, shown
from deepnb.files.search import MOST_FOUND, Grep, Walk, rank_passages, ripgrep

if TYPE_CHECKING:
    from deepnb.files.search import Passage


class Folder(BackendProtocol):
    """The files of one folder; "/x" and "x" both mean x in it, and nothing outside is reachable.

    Whatever an agent asks for, the answer is a result: a failure is an `error` that says what is
    wrong and what to do.

    Args:
        root: An existing folder.

    Raises:
        PathError: If `root` is not a folder.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        if not isinstance(root, str | os.PathLike):
            raise PathError(f"A folder is named by its path, not by {root!r:.60}.")
        path = Path(root).expanduser()
        if not path.is_dir():
            raise PathError(f"{str(path)!r} is not a folder. Create it, or name another one.")
        self.root = path.resolve()

    def __repr__(self) -> str:
        return f"Folder({str(self.root)!r})"

    def locate(self, path: str) -> Path:
        """Where a file really is, for who reads it by other means.

        Raises:
            PathError: If the path is malformed, leads outside or to what is off limits.
        """
        return self._resolve(path)

    def ls(self, path: str) -> LsResult:
        """List what is directly in a folder; a link counts as what it leads to."""
        try:
            prefix = join(safe_parts(path)).rstrip("/")
            with os.scandir(self._resolve(path)) as entries:
                found = [info for entry in entries for info in self._entry(prefix, entry)]
        except (PathError, OSError) as error:
            return LsResult(error=explain(error, path))
        return LsResult(entries=sorted(found, key=lambda info: info["path"]))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Read lines; `deepnb.files.text` says how much fits into one page."""
        try:
            _require(int, offset=offset, limit=limit)
            if limit <= 0:
                return wire.Content(content="", no_lines_requested=True).to_result()
            offset = max(offset, 0)
            with open_regular(self._resolve(file_path)) as file:
                size = os.fstat(file.fileno()).st_size
                text.refuse_binary(file_path, file.read(8192), size)
                file.seek(0)
                page = text.read_page(file, size, offset, limit)
                if isinstance(page, text.Page):
                    text.refuse_binary(file_path, page.text.encode(), size)
        except (ValueError, OSError) as error:
            return ReadResult(error=explain(error, file_path))
        if page == 0:
            return wire.Content(content="").to_result()
        if isinstance(page, int):
            return ReadResult(error=f"Line offset {offset} is past the end: it has {page} lines.")
        return ReadResult(
            file_data={"content": page.text, "encoding": "utf-8"},
            total_lines=page.total,
            start_line=page.first,
            end_line=page.last,
            next_offset=page.last if page.more else None,
        )

    def write(self, file_path: str, content: str) -> WriteResult:
        """Create a file, with its folders, or replace all that is in it."""
        try:
            _require(str, content=content)
            target = self._resolve(file_path)
            text.refuse_damage(file_path, content)
            data = content.encode()
            with change_lock(target):
                replace(target, data)
        except (ValueError, OSError) as error:
            return WriteResult(error=explain(error, file_path))
        return WriteResult(path=join(safe_parts(file_path)))

    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,  # noqa: FBT001, FBT002  # the protocol's signature
    ) -> EditResult:
        """Replace an exact text. Line ends and a byte order mark stay as they are."""
        try:
            _require(str, old_string=old_string, new_string=new_string)
            _require(bool, replace_all=replace_all)
            target = self._resolve(file_path)
            with change_lock(target):
                data = read_whole(target, LARGEST)
                text.refuse_binary(file_path, data, len(data))
                content, count = text.substitute(
                    data.decode(), old_string, new_string, every=replace_all
                )
                text.refuse_damage(file_path, content)
                replace(target, content.encode())
        except (ValueError, OSError) as error:
            return EditResult(error=explain(error, file_path))
        return EditResult(path=join(safe_parts(file_path)), occurrences=count)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Find files by name, by the protocol's rules, up to a bound of time and number."""
        try:
            _require(str, pattern=pattern)
            wanted = compile_grep_include_glob(pattern)
            walk, prefix = self._walk(path, hidden=True)
            found: list[FileInfo] = []
            for below, entry in walk:
                if len(found) > MOST_FOUND:
                    break
                if wanted(below):
                    found += listing(prefix + below, entry.path)
        except InvalidGlobPatternError as error:
            return GlobResult(error=f"{error}. Write the pattern in another way.")
        except (ValueError, OSError) as error:
            return GlobResult(error=explain(error, path or "/"))
        over = len(found) > MOST_FOUND or walk.out_of_time
        return GlobResult(
            matches=sorted(found[:MOST_FOUND], key=lambda info: info["path"]),
            truncated=over or walk.unreadable,
            truncation_reason="budget" if over else "unreadable" if walk.unreadable else None,
        )

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
        case_sensitive: bool = True,
    ) -> GrepResult:
        """Find lines with a literal text; ignore files do not count, hidden files are skipped."""
        try:
            _require(str, pattern=pattern, glob=glob or "")
            _require(int, max_count=max_count or 0)
            text.refuse_unsearchable(pattern)
            wanted = compile_grep_include_glob(glob) if glob else _everything
            walk, prefix = self._walk(path, hidden=False)
        except InvalidGlobPatternError as error:
            return GrepResult(error=f"{error}. Write the pattern in another way.")
        except (ValueError, OSError) as error:
            return GrepResult(error=explain(error, path or "/"))
        query = Grep(pattern, walk.folder, walk.target, prefix, wanted, case_sensitive)
        return query.run(ripgrep(), max_count)

    def search(self, query: str, path: str = "/", top_k: int = 5) -> list[Passage]:
        """Find the passages that share the most telling words with `query`, best first.

        Raises:
            PathError: If there is nothing at `path`.
        """
        try:
            walk, prefix = self._walk(path, hidden=False)
            return rank_passages(walk, prefix, query, top_k)
        except OSError as error:
            raise PathError(explain(error, path)) from None

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files of any kind, each all or nothing."""
        responses = []
        for path, content in files:
            error = None
            try:
                _require(bytes, content=content)
                target = self._resolve(path)
                with change_lock(target):
                    replace(target, content)
            except (ValueError, OSError) as caught:
                error = error_code(caught, path)
            responses.append(FileUploadResponse(path=path, error=error))
        return responses

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read whole files of any kind."""
        responses = []
        for path in paths:
            content = error = None
            try:
                with open_regular(self._resolve(path)) as file:
                    content = file.read()
            except (PathError, OSError) as caught:
                error = error_code(caught, path)
            responses.append(FileDownloadResponse(path=path, content=content, error=error))
        return responses

    def fingerprint(self, path: str) -> str | None:
        """What tells whether a file has changed, readable or not; None if nothing is there."""
        try:
            return fingerprint(self._resolve(path))
        except (PathError, OSError):
            return None

    def content(self, path: str, most: int = 262_144) -> bytes | None:
        """The bytes of a file as they are; None if it is missing, no file or larger than `most`."""
        try:
            return read_whole(self._resolve(path), most)
        except (PathError, OSError):
            return None

    def sweep(self, path: str) -> None:
        """Tidy up beside a file whose writing was cut off."""
        with suppress(PathError, OSError):
            sweep(self._resolve(path).parent)

    def answer(self, request: Any) -> dict[str, Any]:
        """Answer a `client_tool_execution` request in place of a browser."""
        return wire.answer(self, request)

    def _resolve(self, path: str) -> Path:
        return self._inside(self.root.joinpath(*safe_parts(path)))

    def _inside(self, path: Path) -> Path:
        """Where a path leads when its links are followed, as long as that is in this folder."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self.root):
            raise PathError(f"{path.name!r} leads outside its folder. Choose another file.")
        if any(shown(part) is None for part in real.relative_to(self.root).parts):
            raise PathError(f"{path.name!r} leads to what is off limits. Choose another file.")
        return real

    def _walk(self, path: str | None, *, hidden: bool) -> tuple[Walk, str]:
        """The files at or below `path`, and what goes before their names.

        A path through a link is searched, and reported, where it really is.
        """
        real = self._resolve(path or "/")
        if not real.is_dir():
            open_regular(real).close()  # raises for what is missing or would block
        folder, target = (real, ".") if real.is_dir() else (real.parent, real.name)
        prefix = join(folder.relative_to(self.root).parts).rstrip("/") + "/"
        return Walk(folder, target, hidden), prefix

    def _entry(self, prefix: str, entry: os.DirEntry[str]) -> list[FileInfo]:
        """What `ls` shows for an entry: nothing, if it is not for agents or leads outside."""
        name = shown(entry.name)
        if name is None:
            return []
        try:
            return listing(f"{prefix}/{name}", self._inside(Path(entry.path)))
        except PathError:
            return []


def _require(kind: type, **arguments: object) -> None:
    """Raise a ValueError for an argument of another type: a model can write anything."""
    for name, value in arguments.items():
        if not isinstance(value, kind):
            given = type(value).__name__
            raise ValueError(  # noqa: TRY004  # a bad request, and answered like any other
                f"{name} must be of type {kind.__name__}, not {given}. Call again with one."
            )


def _everything(_path: str) -> bool:
    return True
