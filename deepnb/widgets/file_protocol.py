"""What a page says about files: those it keeps, those of the workspace, and what ties them.

A path is virtual and absolute: "/notes/a.md" is in the browser's files, or in the workspace, as the
field says. The kernel reaches nothing but the workspace's folder, whatever a page writes here.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints
from typing_extensions import TypedDict  # typing's own is beyond pydantic on 3.11

from deepnb.exchange import Comparison, Mapping, WorkspaceFiles  # noqa: TC001  # pydantic reads it
from deepnb.widgets.request import Id, Name, Request, Words

CHUNK = 1024 * 1024
"""Bytes of a file in one message: servers lose messages of more than 10 MiB."""

Path = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Bytes = Annotated[int, Field(ge=0, le=2**53)]  # what JavaScript can count to
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Base64 = Annotated[str, StringConstraints(max_length=2 * CHUNK)]
Known = Hash | Literal[""]
"""The hash of what somebody saw in a place; empty if they saw that nothing is there."""


# From the browser


class LoadFiles(Request):
    """Asks for the code of the file explorer, which a panel loads when it is needed."""

    type: Literal["load_files"]


class Claim(Request):
    """Says that a page is about to run a client's tool or to sync; answered with `Claimed`.

    Two pages may show one session, and only one of them is to do what has to be done. `what` is the
    id of the question or of the mapping.
    """

    type: Literal["claim"]
    what: Id


class ClientAnswer(Request):
    """Answers a client's tool from the files in the browser, which is kept as a disclosure."""

    type: Literal["client_answer"]
    question: Id
    answer: dict[str, JsonValue]


class ListWorkspace(Request):
    """Asks for all that is in the workspace; answered with `WorkspaceFiles`."""

    type: Literal["list_workspace"]


class MakeFolder(Request):
    """Makes a folder in the workspace."""

    type: Literal["make_folder"]
    path: Path


class MoveFile(Request):
    """Moves or renames in the workspace; refused where something is in the way."""

    type: Literal["move_file"]
    path: Path
    to: Path


class DeleteFile(Request):
    """Deletes a file or folder of the workspace; answered with `Deleted`, which can be undone.

    If `expects` is given, only what has this hash is deleted.
    """

    type: Literal["delete_file"]
    path: Path
    expects: Hash | None = None


class RestoreFile(Request):
    """Undoes a deletion; refused where something else is there by now."""

    type: Literal["restore_file"]
    deleted: Id


class BeginUpload(Request):
    """Begins to send a file, or goes on where it was cut off; answered with `Upload`.

    `mark` is the same for the same content of the same file: so an upload is found again.
    `expects` is what the page believes to be at the place; if it is wrong, nothing is overwritten.
    For `index`, `path` is the file's own in the browser, and it goes into the index alone.
    """

    type: Literal["begin_upload"]
    purpose: Literal["copy", "sync", "index"]
    path: Path
    size: Bytes
    mark: Name
    expects: Known
    mapping: Id | None = None
    source: Path


class SmallFile(BaseModel):
    """A file that is sent whole: what `BeginUpload` says of it, and its content."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    purpose: Literal["copy", "sync", "index"]
    path: Path
    size: Bytes
    expects: Known
    mapping: Id | None = None
    source: Path
    sha256: Hash
    data: Base64


class SendFiles(Request):
    """Sends small files whole; answered with `Sent`.

    To say hundreds of files in three messages each takes a server ten times as long.
    """

    type: Literal["send_files"]
    files: Annotated[list[SmallFile], Field(max_length=64)]


class UploadChunk(Request):
    """The bytes from `offset` on, beside the message or in `data`; answered with `Received`."""

    type: Literal["upload_chunk"]
    upload: Id
    offset: Bytes
    data: Base64 | None = None


class EndUpload(Request):
    """All is sent, and this is its hash; answered with `Stored`."""

    type: Literal["end_upload"]
    upload: Id
    sha256: Hash


class CancelUpload(Request):
    """Gives up an upload, and what has arrived of it."""

    type: Literal["cancel_upload"]
    upload: Id


class DownloadChunk(Request):
    """Asks for a part of a file of the workspace; answered with `Chunk`.

    `seen` is the `version` of the part before, so that no file is put together from two.
    """

    type: Literal["download_chunk"]
    path: Path
    offset: Bytes
    length: Annotated[int, Field(ge=1, le=CHUNK)]
    seen: Annotated[str, StringConstraints(max_length=128)]
    as_text: bool


class MapFiles(Request):
    """Ties a file or folder of the browser to a place in the workspace; answered with `Mapping`."""

    type: Literal["map_files"]
    browser: Id
    source: Path
    target: Path
    is_folder: bool
    mode: Literal["copy", "sync"]


class UnmapFiles(Request):
    """Unties them; both sides keep their files."""

    type: Literal["unmap_files"]
    mapping: Id


class SeenFile(BaseModel):
    """A mapped file as the browser has it; `path` is below the mapping's source, "" for itself."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    path: Annotated[str, StringConstraints(max_length=4096)]
    size: Bytes
    sha256: Hash


class CompareFiles(Request):
    """Asks what has to be done to bring a mapping's sides into step; answered with `Comparison`."""

    type: Literal["compare_files"]
    mapping: Id
    browser: Id
    files: Annotated[list[SeenFile], Field(max_length=50_000)]


class AgreeFile(Request):
    """Says that both sides of a file are the same now, or (`sha256` is empty) that none is left."""

    type: Literal["agree_file"]
    mapping: Id
    path: Annotated[str, StringConstraints(max_length=4096)]
    sha256: Known


class FinishCopy(Request):
    """Says that all of a copy is there: what is added to its source later is not sent."""

    type: Literal["finish_copy"]
    mapping: Id


class FetchPage(Request):
    """Has the kernel fetch a page into the workspace; answered with `Stored`."""

    type: Literal["fetch_page"]
    url: Words


FileRequest = (
    LoadFiles
    | Claim
    | ClientAnswer
    | ListWorkspace
    | MakeFolder
    | MoveFile
    | DeleteFile
    | RestoreFile
    | BeginUpload
    | SendFiles
    | UploadChunk
    | EndUpload
    | CancelUpload
    | DownloadChunk
    | MapFiles
    | UnmapFiles
    | CompareFiles
    | AgreeFile
    | FinishCopy
    | FetchPage
)


# From the kernel


class Code(TypedDict):
    """A part of the panel that is loaded when it is needed."""

    code: str


class Claimed(TypedDict):
    """Whether the page is to do it; if not, another one does, which has to claim it again soon."""

    granted: bool


class Deleted(TypedDict):
    """What `restore_file` takes to undo a deletion."""

    deleted: str


class Upload(TypedDict):
    """An upload that was begun, how much of it is here, and if bytes beside messages arrive."""

    upload: str
    received: int
    buffers: bool


class Received(TypedDict):
    """How many bytes of an upload have arrived, in their order."""

    received: int


class Stored(TypedDict):
    """A file is where it belongs."""

    path: str
    size: int
    sha256: str


class Unsent(TypedDict):
    """Why a file was not stored; `kind` is the name of an error of `deepnb.errors`."""

    kind: str
    text: str


class Sent(TypedDict):
    """What has become of each file, in the order in which they were sent."""

    files: list[Stored | Unsent]


class Chunk(TypedDict):
    """A part of a file: its bytes are beside the message, or in `data` as base64."""

    size: int
    modified: float
    version: str
    data: NotRequired[str]


class FileFacts(TypedDict):
    """How files stand: changes of the workspace are counted in `version`.

    `shelf` names the browser's store of this workspace. `agent_reads` says whether the agent can
    reach the browser's files by itself.
    """

    shelf: str
    version: int
    mappings: list[Mapping]
    agent_reads: bool
    can_index: bool


class FileWire(TypedDict):
    """Everything about files, for the browser's types to be made from."""

    code: Code
    claimed: Claimed
    workspace_files: WorkspaceFiles
    deleted: Deleted
    upload: Upload
    received: Received
    stored: Stored
    sent: Sent
    chunk: Chunk
    mapping: Mapping
    comparison: Comparison
