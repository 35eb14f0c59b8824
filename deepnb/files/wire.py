"""The seven tools of a client: what goes over the wire, and what may come back.

The same tools whoever answers, a browser or a folder on disk. What comes back is as untrusted as
what a model types: shapes are strict, sizes bounded, and every path passes the one door.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from deepagents.backends.protocol import ReadResult
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from deepnb.errors import DeepnbError
from deepnb.files.paths import join, safe_parts

if TYPE_CHECKING:
    from deepnb.files.folder import Folder


_MOST_ENTRIES = 100_000
_MOST_PASSAGES = 100


def _clean(path: str) -> str:
    """The path in its one spelling; a slash at the end marks a folder."""
    clean = join(safe_parts(path))
    return f"{clean}/" if path.endswith("/") and clean != "/" else clean


def _at_most(most: int) -> Any:
    return Field(max_length=most)


Path = Annotated[str, AfterValidator(_clean)]
Count = Annotated[int, Field(ge=0, le=2**53)]  # what JavaScript can count to
LineNumber = Annotated[int, Field(ge=1, le=2**53)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ListFiles(_Strict):
    """Arguments of `list_files`."""

    path: Path = "/"


class ReadFile(_Strict):
    """Arguments of `read_file`: `limit` lines after the first `offset`."""

    path: Path
    offset: Count = 0
    limit: Count = 2000


class WriteFile(_Strict):
    """Arguments of `write_file`."""

    path: Path
    content: str


class PatchFile(_Strict):
    """Arguments of `patch_file`: exact texts."""

    path: Path
    search: str
    replace: str
    replace_all: bool = False


class GlobFiles(_Strict):
    """Arguments of `glob_files`."""

    pattern: str
    path: Path = "/"


class GrepFiles(_Strict):
    """Arguments of `grep_files`: `pattern` is a literal text."""

    pattern: str
    path: Path = "/"
    glob: str | None = None
    case_sensitive: bool = True
    max_count: Count | None = None


class SearchFiles(_Strict):
    """Arguments of `search_files`."""

    query: str
    path: Path = "/"
    top_k: Annotated[int, Field(ge=0, le=_MOST_PASSAGES)] = 5


class Entry(_Strict):
    """A file or folder."""

    path: Path
    is_dir: bool = False
    size: Count = 0
    modified_at: Annotated[str, _at_most(40)] = ""


class Match(_Strict):
    """A line that contains the pattern."""

    path: Path
    line: LineNumber
    text: Annotated[str, _at_most(10_000)]


class Passage(Match):
    """A passage that fits the query, and how well."""

    score: Annotated[float, Field(allow_inf_nan=False)]


class Listing(_Strict):
    """Result of `list_files`."""

    entries: Annotated[list[Entry], _at_most(_MOST_ENTRIES)]


class Content(_Strict):
    """Result of `read_file`; without `start_line` the file is empty."""

    content: Annotated[str, _at_most(1_000_000)]
    start_line: LineNumber | None = None
    end_line: LineNumber | None = None
    total_lines: Count | None = None
    next_offset: Count | None = None
    no_lines_requested: bool = False

    @model_validator(mode="after")
    def _window_fits(self) -> Self:
        self.to_result()
        lines = self.content.removesuffix("\n").count("\n") + 1 if self.content else 0
        window = self.end_line - self.start_line + 1 if self.start_line and self.end_line else 0
        if lines != window:
            raise ValueError(f"content has {lines} lines, but the line numbers say {window}")
        return self

    def to_result(self) -> ReadResult:
        """The same in the terms of the backends, which also refuse impossible windows."""
        fields = self.model_dump(exclude={"content"})
        return ReadResult(file_data={"content": self.content, "encoding": "utf-8"}, **fields)


class Written(_Strict):
    """Result of `write_file`."""

    path: Path


class Patched(_Strict):
    """Result of `patch_file`."""

    path: Path
    occurrences: Annotated[int, Field(ge=1, le=2**53)]


class Files(_Strict):
    """Result of `glob_files`."""

    matches: Annotated[list[Entry], _at_most(_MOST_ENTRIES)]
    truncated: bool = False
    truncation_reason: Literal["budget", "unreadable", "transport"] | None = None


class Lines(_Strict):
    """Result of `grep_files`."""

    matches: Annotated[list[Match], _at_most(_MOST_ENTRIES)]
    truncated: bool = False


class Passages(_Strict):
    """Result of `search_files`."""

    matches: Annotated[list[Passage], _at_most(_MOST_PASSAGES)]


_ARGUMENTS: dict[str, type[_Strict]] = {
    "list_files": ListFiles,
    "read_file": ReadFile,
    "write_file": WriteFile,
    "patch_file": PatchFile,
    "glob_files": GlobFiles,
    "grep_files": GrepFiles,
    "search_files": SearchFiles,
}
_REQUEST = TypeAdapter(dict[str, Any])


def answer(folder: Folder, request: Any) -> dict[str, Any]:
    """Let a folder answer a `client_tool_execution` request, whatever is in it."""
    try:
        tool = _REQUEST.validate_python(request).get("tool")
        if not isinstance(tool, str) or tool not in _ARGUMENTS:
            return {"error": f"There is no tool {tool!r}. Use one of: {', '.join(_ARGUMENTS)}."}
        arguments = _ARGUMENTS[tool].model_validate(request.get("args"))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        return {"error": f"The request is malformed: {where} {problem['msg']}.".replace("  ", " ")}
    try:
        result = _run(folder, arguments)
    except DeepnbError as error:
        return {"error": str(error)}
    if error_text := result.pop("error", None):
        return {"error": error_text}
    return {"result": {key: value for key, value in result.items() if value is not None}}


def _run(folder: Folder, arguments: Any) -> dict[str, Any]:  # noqa: PLR0911  # one per tool
    a = arguments
    match arguments:
        case ListFiles():
            return asdict(folder.ls(a.path))
        case ReadFile():
            page = asdict(folder.read(a.path, a.offset, a.limit))
            return {"content": (page.pop("file_data") or {}).get("content"), **page}
        case WriteFile():
            return asdict(folder.write(a.path, a.content))
        case PatchFile():
            return asdict(folder.edit(a.path, a.search, a.replace, a.replace_all))
        case GlobFiles():
            return asdict(folder.glob(a.pattern, a.path))
        case GrepFiles():
            return asdict(
                folder.grep(
                    a.pattern,
                    a.path,
                    a.glob,
                    max_count=a.max_count,
                    case_sensitive=a.case_sensitive,
                )
            )
        case _:
            return {"matches": folder.search(a.query, a.path, a.top_k)}
