"""One namespace of paths over several homes.

`/workspace/` is a folder on disk, `/files/` the client's files, `/memories/` a store that outlives
threads; all else is the agent's own memory in graph state. `read_file` then means one thing,
whoever owns the file, and the first segment of a path says whether a person does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deepagents.backends import CompositeBackend, StateBackend, StoreBackend
from deepagents.backends.protocol import (
    INVALID_PATH,
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import InvalidGlobPatternError, compile_grep_include_glob

from deepnb.errors import PathError, RunConfigError
from deepnb.files.client import Client
from deepnb.files.folder import Folder
from deepnb.files.paths import join, looks_like, safe_parts
from deepnb.files.tenant import memories_of_tenant

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

OWN_MEMORY = ("/scratch/", "/summaries/", "/analysis/")
WORKSPACE, FILES, MEMORIES = "/workspace/", "/files/", "/memories/"
_OWNED = (WORKSPACE, FILES)
_ABOUT = {
    WORKSPACE: f"- `{WORKSPACE}` is the person's folder. Read freely; they see every write first.",
    FILES: f"- `{FILES}` are files on the person's own computer. Read what you need, and no more; "
    "they see every write first.",
    MEMORIES: f"- `{MEMORIES}` outlives this conversation. Keep there what will matter in others.",
}
_ABOUT_OWN_MEMORY = (
    "- `/scratch/`, `/summaries/` and `/analysis/` are your own memory in this conversation. "
    "Write there as you like; the person need not see it."
)
_WILD = frozenset("*?[]{}\\")
# What a home raises becomes the error of a result: a bad path, or a run without what it needs.
_REFUSALS = (PathError, RunConfigError)


def mounts(
    *,
    workspace: str | os.PathLike[str] | Folder | None = None,
    client: bool | Folder = False,
    store: bool = False,
) -> Mounts:
    """Build the table of homes for an agent's files.

    Args:
        workspace: The folder behind `/workspace/`.
        client: True to ask whoever is attached for `/files/`, or a folder that stands in for
            them in a run without a browser.
        store: Whether the graph has a store, which then holds `/memories/`.

    Raises:
        PathError: If `workspace` is not a folder.
    """
    routes: dict[str, BackendProtocol] = {}
    if workspace is not None:
        routes[WORKSPACE] = workspace if isinstance(workspace, Folder) else Folder(workspace)
    if client:
        routes[FILES] = client if isinstance(client, Folder) else Client()
    if store:
        routes[MEMORIES] = StoreBackend(namespace=memories_of_tenant)
    return Mounts(routes)


@dataclass(frozen=True)
class _Part:
    """What one home contributes to a search of everything; `whole` decides where it is given."""

    prefix: str
    backend: BackendProtocol
    pattern: str
    whole: Callable[[str], bool] | None = None

    def glob(self) -> GlobResult:
        try:
            return self.backend.glob(self.pattern, "/")
        except _REFUSALS as error:
            return GlobResult(error=str(error))

    def grep(self, pattern: str, glob: str | None, max_count: int | None) -> GrepResult:
        try:
            return self.backend.grep(pattern, "/", glob, max_count=max_count)
        except _REFUSALS as error:
            return GrepResult(error=str(error))

    def keeps(self, path: str) -> bool:
        return self.whole is None or self.whole((self.prefix + path).lstrip("/"))


class Mounts(CompositeBackend):
    """The homes of an agent's files, and the one place where their paths are checked.

    The synchronous methods hold all there is to know; their asynchronous twins run them in a
    thread, as most backends of deepagents do.
    """

    def __init__(self, routes: dict[str, BackendProtocol]) -> None:
        super().__init__(default=StateBackend(), routes=routes)
        self.owned: tuple[str, ...] = tuple(prefix for prefix in _OWNED if prefix in routes)

    def __repr__(self) -> str:
        homes = ", ".join(f"{prefix}: {home!r}" for prefix, home in self.routes.items())
        return f"Mounts({homes or 'graph state only'})"

    def is_owned(self, path: str) -> bool:
        """Whether a person owns what is at `path`, so that changes need their consent.

        A path in doubt counts as owned: it will be refused, and asking too often does no harm.
        """
        try:
            parts = safe_parts(self._checked(path))
        except PathError:
            return True
        return bool(parts) and f"/{parts[0]}/" in self.owned

    def folder_at(self, path: str) -> tuple[Folder, str] | None:
        """The folder on disk that holds `path`, and the path in it; None for other homes."""
        try:
            home, inner = self._get_backend_and_key(self._checked(path))
        except PathError:
            return None
        return (home, inner) if isinstance(home, Folder) else None

    @property
    def client(self) -> Client | Folder:
        """Who holds the client's files.

        Raises:
            PathError: If there are none.
        """
        home = self.routes.get(FILES)
        if not isinstance(home, Client | Folder):
            raise PathError("No client's files are mounted. Use mounts(client=True).")
        return home

    @property
    def description(self) -> str:
        """What a model is told about the homes."""
        lines = [_ABOUT[prefix] for prefix in _ABOUT if prefix in self.routes]
        return "\n".join(["Files:", *lines, _ABOUT_OWN_MEMORY])

    def ls(self, path: str) -> LsResult:
        """List a folder; the root shows every mount and the agent's own places."""
        try:
            checked = self._checked(path)
            result = super().ls(checked)
        except _REFUSALS as error:
            return LsResult(error=str(error))
        if checked != "/" or result.entries is None:
            return result
        present = {entry["path"] for entry in result.entries}
        own: list[FileInfo] = [
            {"path": place, "is_dir": True} for place in OWN_MEMORY if place not in present
        ]
        return LsResult(entries=sorted(result.entries + own, key=lambda entry: entry["path"]))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Read lines of a file."""
        try:
            return super().read(self._checked_file(file_path), offset, limit)
        except _REFUSALS as error:
            return ReadResult(error=str(error))

    def write(self, file_path: str, content: str) -> WriteResult:
        """Create or replace a file."""
        try:
            return super().write(self._checked_file(file_path), content)
        except _REFUSALS as error:
            return WriteResult(error=str(error))

    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,  # noqa: FBT001, FBT002  # the protocol's signature
    ) -> EditResult:
        """Replace an exact text in a file."""
        try:
            checked = self._checked_file(file_path)
            return super().edit(checked, old_string, new_string, replace_all)
        except _REFUSALS as error:
            return EditResult(error=str(error))

    def delete(self, file_path: str) -> DeleteResult:
        """Delete what is in the agent's own memory; other homes do not allow it."""
        try:
            return super().delete(self._checked_file(file_path))
        except _REFUSALS as error:
            return DeleteResult(error=str(error))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Find files by name, at the root in every home that the pattern can reach."""
        try:
            base, below = self._narrow(path, pattern)
            if base != "/":
                return super().glob(below, base)
            results = [(part, part.glob()) for part in self._parts(below)]
        except (*_REFUSALS, InvalidGlobPatternError) as error:
            return GlobResult(error=str(error))
        failed = [result for _, result in results if result.error]
        if len(failed) == len(results):
            return failed[0]
        found: list[FileInfo] = [
            {**info, "path": part.prefix + info["path"]}
            for part, result in results
            for info in result.matches or []
            if part.keeps(info["path"])
        ]
        reasons = {result.truncation_reason for _, result in results if result.truncated}
        # The protocol has no partial error; "unreadable" tells the agent that some is missing.
        unreadable = bool(failed) or "unreadable" in reasons
        return GlobResult(
            matches=sorted(found, key=lambda info: info["path"]),
            truncated=unreadable or bool(reasons),
            truncation_reason="unreadable" if unreadable else "budget" if reasons else None,
        )

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """Find lines with a literal text, at the root in every home that `glob` can reach."""
        try:
            base, narrowed = self._narrow(path, glob or "*")
            if base != "/":
                return super().grep(pattern, base, narrowed if glob else None, max_count=max_count)
            parts = list(self._parts(narrowed))
        except (*_REFUSALS, InvalidGlobPatternError) as error:
            return GrepResult(error=str(error))
        matches: list[GrepMatch] = []
        problems = []
        truncated = False
        for part in parts:
            left = None if max_count is None else max_count - len(matches)
            if left == 0:
                truncated = True
                break
            result = part.grep(pattern, part.pattern if glob else None, left)
            if result.error:
                problems.append(f"{part.prefix or '/'}: {result.error}")
            truncated |= result.truncated
            for match in result.matches or []:
                if part.keeps(match["path"]):
                    match["path"] = part.prefix + match["path"]
                    matches.append(match)
        return GrepResult(error=" ".join(problems) or None, matches=matches, truncated=truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write whole files."""
        responses = []
        for path, content in files:
            try:
                error = super().upload_files([(self._checked_file(path), content)])[0].error
            except PathError:
                error = INVALID_PATH
            except RunConfigError as refusal:
                error = str(refusal)
            responses.append(FileUploadResponse(path=path, error=error))
        return responses

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read whole files."""
        responses = []
        for path in paths:
            try:
                response = super().download_files([self._checked_file(path)])[0]
            except PathError:
                response = FileDownloadResponse(path=path, error=INVALID_PATH)
            except RunConfigError as refusal:
                response = FileDownloadResponse(path=path, error=str(refusal))
            responses.append(response)
        return responses

    als = BackendProtocol.als
    aread = BackendProtocol.aread
    awrite = BackendProtocol.awrite
    aedit = BackendProtocol.aedit
    adelete = BackendProtocol.adelete
    aglob = BackendProtocol.aglob
    agrep = BackendProtocol.agrep
    aupload_files = BackendProtocol.aupload_files
    adownload_files = BackendProtocol.adownload_files

    def _checked(self, path: str) -> str:
        """The path in its one spelling.

        Raises:
            PathError: If it is malformed, or means a mount that is spelled otherwise and would
                land in graph state without anyone noticing.
        """
        parts = safe_parts(path)
        if parts:
            meant = f"/{looks_like(parts[0])}/"
            if meant in self.routes and meant != f"/{parts[0]}/":
                raise PathError(f"There is no folder {parts[0]!a} here. Did you mean {meant}?")
        return join(parts)

    def _checked_file(self, path: str) -> str:
        checked = self._checked(path)
        if checked == "/" or f"{checked}/" in self.routes:
            raise PathError(f"{checked} is a folder, not a file. Name a file in it.")
        return checked

    def _narrow(self, path: str | None, pattern: str) -> tuple[str, str]:
        """Where to search: a pattern at the root that starts with a name means that one place."""
        base = self._checked(path or "/")
        while base == "/":
            first, _, rest = pattern.lstrip("/").partition("/")
            if not rest or _WILD.intersection(first):
                break
            base, pattern = self._checked(first), f"/{rest}"
        return base, pattern

    def _parts(self, pattern: str) -> Iterator[_Part]:
        """The homes that a pattern at the root can reach; the client is not asked in vain.

        A home sees paths without its prefix, so it is given only the last part of a pattern with
        folders in it, and the pattern as a whole decides about what it finds.
        """
        if any(part.count("{") != part.count("}") for part in pattern.split("/")):
            raise InvalidGlobPatternError("Braces with '/' inside need a path. Search one folder.")
        yield _Part("", self.default, pattern)
        first, _, rest = pattern.lstrip("/").partition("/")
        whole = compile_grep_include_glob(pattern)
        for prefix, backend in self.routes.items():
            mount = prefix.rstrip("/")
            if "/" not in pattern:
                yield _Part(mount, backend, pattern)
            elif rest and compile_grep_include_glob(first)(mount[1:]):
                yield _Part(mount, backend, rest.rpartition("/")[2], whole)
