"""All that a page can have done in a workspace: the one door for what a browser says.

Files arrive here, and are tied to files in browsers. Every write says what it expects to find, so
that nothing is overwritten which nobody has seen, whatever happened meanwhile.
"""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deepnb.errors import ChangedError, DeepnbError, PathError
from deepnb.exchange import finding, hashes, mappings
from deepnb.exchange.hashes import Hashes
from deepnb.exchange.ledger import Ledger
from deepnb.exchange.mappings import Mappings, below, part_below
from deepnb.exchange.replaced import Replaced
from deepnb.exchange.scan import scan
from deepnb.exchange.steps import Seen, is_device, problem
from deepnb.exchange.uploads import Sending, Uploads
from deepnb.exchange.workspace import Workspace, explained, require_name
from deepnb.files.disk import change_lock, put, settle
from deepnb.files.paths import join, safe_parts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from deepnb.exchange.mappings import MappedFile, Mapping
    from deepnb.exchange.scan import Scan
    from deepnb.exchange.steps import Comparison, Mode
    from deepnb.files.folder import Folder

_MOST_MAPPED = 50_000
_exchanges: weakref.WeakValueDictionary[tuple[Path, Path], Exchange] = weakref.WeakValueDictionary()
_exchanges_lock = threading.Lock()


def exchange_of(folder: Folder, record: Path) -> Exchange:
    """The exchange of a workspace: one for all of a process's sessions that share the folder."""
    with _exchanges_lock:
        key = (folder.root, record)
        found = _exchanges.get(key)
        if found is None:
            found = _exchanges[key] = Exchange(folder, record)
        return found


def carried_on(folder: Folder, path: str) -> str | None:
    """Where a mapping of an open workspace will carry a write on to, if anywhere.

    Args:
        folder: The workspace's.
        path: An agent's, below `/files/` or `/workspace/`.
    """
    with _exchanges_lock:
        opened = [each for each in _exchanges.values() if each.folder.root == folder.root]
    return next((other for each in opened if (other := each.carried(path))), None)


@dataclass(frozen=True)
class Stored:
    """A file that has arrived; `place` is where it really is."""

    sending: Sending
    place: Path
    sha256: str


class Exchange(Workspace):
    """The files of a workspace, and their ties to files in browsers.

    Args:
        folder: The workspace's.
        record: Where to keep what is not the reader's: parts, mappings, what was deleted or
            replaced. Made when it is needed.
    """

    def __init__(self, folder: Folder, record: Path) -> None:
        super().__init__(folder, record)
        tables = mappings.TABLES + hashes.TABLES
        ledger = Ledger(record / "mappings.sqlite", tables, version=1)
        weakref.finalize(self, ledger.close)
        self._mappings = Mappings(ledger)
        self._hashes = Hashes(ledger)
        self._uploads = Uploads(record / "uploads")
        self._replaced = Replaced(record / "replaced")

    # Uploads

    def begin_upload(self, sending: Sending) -> tuple[str, int]:
        """Begin an upload or find it again; gives its id, and how much of it is here."""
        if sending.purpose == "index":
            require_name(sending.path)
        else:
            self._destination(sending)
        self.make_record()
        return sending.id, self._uploads.begin(sending)

    def upload(self, upload: str) -> Sending:
        """What is being sent.

        Raises:
            DeepnbError: There is no such upload, or not any more.
        """
        return self._uploads.about(upload)

    def add_to_upload(self, upload: str, offset: int, data: bytes | memoryview) -> int:
        """Add bytes; gives how many have arrived."""
        return self._uploads.add(upload, offset, data)

    def news_of_upload(self, upload: str, least: int = 1) -> int:
        """How many bytes have come since this was last asked; 0 if they are less than `least`."""
        return self._uploads.news(upload, least)

    def cut_off_uploads(self) -> list[tuple[Sending, int]]:
        """What other kernels have left, with how many bytes of it nobody has asked for yet."""
        return self._uploads.cut_off()

    def cancel_upload(self, upload: str) -> tuple[Sending, int]:
        """Give up an upload; gives what it was, and how much of it had arrived."""
        return self._uploads.cancel(upload)

    def finish_upload(self, upload: str, sha256: str) -> Stored:
        """Put a file that has arrived where it belongs.

        Raises:
            ChangedError: Something else is there than the page believes. What has arrived is kept:
                the upload can be begun again with another expectation, and be finished at once.
        """
        sending = self._uploads.about(upload)
        part = self._uploads.finish(upload, sha256)
        if sending.purpose == "index":
            place = self._record.joinpath("indexed", *safe_parts(sending.path))
            with explained(sending.path), change_lock(place):
                settle(part)
                put(part, place)
        else:
            place, tie = self._destination(sending)
            with explained(sending.path), change_lock(place):
                self._put_expected(part, place, sending, sha256)
            if tie:
                self._mappings.agree(*tie, sha256, sending.size)
            self.changes.look_soon()
        self._uploads.done(upload)
        return Stored(sending, place, sha256)

    # Mappings

    def map(
        self, browser: str, source: str, target: str, *, is_folder: bool, mode: Mode
    ) -> Mapping:
        """Tie a file or folder of a browser to a place in the workspace."""
        place = self.folder.locate(target)
        if is_folder and place.exists() and not place.is_dir():
            raise PathError(f"{place.name!r} is a file in the workspace. Choose another folder.")
        if not is_folder and (place.is_dir() or not safe_parts(source)):
            raise PathError(f"{place.name!r} is a folder in the workspace. Name a file in it.")
        if is_device(place.parts):
            raise PathError(f"{place.name!r} is no name for a file here. Choose another one.")
        self.make_record()
        real = join(place.relative_to(self.folder.root).parts)
        mapping = self._mappings.add(browser, source, real, is_folder=is_folder, mode=mode)
        self.changes.tell()
        return mapping

    def unmap(self, mapping: str) -> None:
        """Untie them; both sides keep their files."""
        self._mappings.remove(mapping)
        self.changes.tell()

    def finish_copy(self, mapping: str) -> None:
        """Note that all of a copy is there; what is added to its source later is not part of it."""
        self._mappings.finish(mapping)
        self.changes.tell()

    def mappings(self) -> list[Mapping]:
        """All ties of the workspace, oldest first."""
        return self._mappings.all()

    def mapped_files(self) -> list[MappedFile]:
        """Every mapped file, as it was when its mapping was last looked at."""
        return self._mappings.rows()

    def compare(self, mapping: str, browser: str, files: Iterable[Seen]) -> Comparison:
        """Say what has to be done to bring a mapping's sides into step.

        Args:
            mapping: Its id.
            browser: Who asks: another browser has other files, which would look deleted.
            files: What the browser has below the mapping's source.
        """
        tie = self._mappings.get(mapping)
        if tie["browser"] != browser:
            raise DeepnbError("These files are mapped to another browser. Open the panel there.")
        if tie["done"]:
            return {"steps": [], "same": self._mappings.count(mapping), "unusable": []}
        here = list(files)
        wanted = {file.path for file in here} if tie["mode"] == "copy" else None
        with explained(tie["target"]):
            there, unreadable = self._there(tie, wanted)
        return self._mappings.compare(tie, here, there, unreadable)

    def agree(self, mapping: str, path: str, sha256: str) -> None:
        """Note that both sides of a file have had this content, or (empty) that none is left."""
        tie = self._mappings.get(mapping)
        if reason := problem(path, is_folder=tie["is_folder"]):
            raise PathError(f"{path!r} {reason}.")
        with explained(path):
            place = self.folder.locate(below(tie["target"], path))
            size = place.stat().st_size if place.exists() else 0
        self._mappings.agree(tie, path, sha256, size)

    def path_of(self, name: str) -> Path:
        """Where a mapped file really is; `deepnb.exchange.finding` says what it may be called."""
        return finding.path_of(self.folder, self.mappings(), self.mapped_files(), name)

    def carried(self, path: str) -> str | None:
        """Where a write to an agent's path will be carried on to by a mapping, if anywhere."""
        return finding.carried(self.mappings(), path)

    def hash_of(self, path: str) -> str:
        """The SHA-256 of a file of the workspace; empty if nothing is there."""
        with explained(path):
            place = self.folder.locate(path)
            return self._hashes.of(place) if place.exists() else ""

    def _destination(self, sending: Sending) -> tuple[Path, tuple[Mapping, str] | None]:
        """Where a file goes, and the mapping and the path below it, if it is sent for one.

        Raises:
            DeepnbError: It would leave the workspace, or its mapping; or it cannot go there.
        """
        require_name(sending.path)
        place = self.folder.locate(sending.path)
        if place.is_dir():
            raise PathError(f"{place.name!r} is a folder in the workspace. Choose another name.")
        if sending.mapping is None:
            if sending.purpose == "sync":
                raise DeepnbError("Files are kept in step by a mapping only. Map them first.")
            return place, None
        tie = self._mappings.get(sending.mapping)
        path = part_below(tie["target"], sending.path)
        if path is None or problem(path, is_folder=tie["is_folder"]):
            raise PathError(f"{place.name!r} is not in the place that was mapped.")
        return place, (tie, path)

    def _put_expected(self, part: Path, place: Path, sending: Sending, sha256: str) -> None:
        settle(part)  # which takes long for a large file: not between looking and overwriting
        # Taken anew: before something is overwritten, nothing is assumed.
        there = self._hashes.take(place)[0] if os.path.lexists(place) else ""
        if there == sha256:  # as if a first try got through whose reply did not
            part.unlink(missing_ok=True)
        elif there == sending.expects:
            with self._replaced.keeping(place, sending.path):
                put(part, place)
        else:
            what = "has changed" if there else "was deleted"
            raise ChangedError(
                f"{place.name!r} {what} in the workspace meanwhile, so it was left alone. "
                "Look at both and choose; what you have sent is kept."
            )

    def _there(
        self, tie: Mapping, wanted: set[str] | None
    ) -> tuple[dict[str, Seen], dict[str, str]]:
        """The workspace's side of a mapping, and what of it cannot be told, with the reason.

        Only the `wanted` files are hashed, if it is given; the others are there with no hash.
        """
        if not self.folder.root.is_dir():  # or else everything would look deleted
            raise DeepnbError("The workspace's folder is gone. Bring it back, or restart.")
        place = self.folder.locate(tie["target"])
        if place.is_dir() and not tie["is_folder"]:
            return {}, {"": "The mapped file is a folder in the workspace now"}
        if not place.exists():
            return {}, {}
        if not tie["is_folder"]:
            return {"": Seen("", place.stat().st_size, self._hashes.of(place))}, {}
        found = scan(self.folder, tie["target"], _MOST_MAPPED)
        if found.truncated:
            raise DeepnbError(
                f"More than {_MOST_MAPPED:,} files are in {tie['target']!r}: too many to be kept "
                "in step. Unmap it, and map folders in it."
            )
        return self._looked_at(tie["target"], found, wanted)

    def _looked_at(
        self, target: str, found: Scan, wanted: set[str] | None
    ) -> tuple[dict[str, Seen], dict[str, str]]:
        start = len(target.rstrip("/")) + 1
        known, new = self._hashes.known(), {}
        there: dict[str, Seen] = {}
        unreadable = {path[start:]: "may not be read in the workspace" for path in found.unreadable}
        for file in found.found:
            path = file.path[start:]
            if file.is_broken:
                unreadable[path] = "has a name that cannot be used. Rename it in the workspace"
                continue
            if file.is_dir:
                continue
            version, sha256 = known.get(str(file.place), ("", ""))
            if wanted is not None and path not in wanted:
                sha256 = ""
            elif version != file.version:
                try:
                    sha256, version = self._hashes.take(file.place)
                except (OSError, ChangedError):
                    unreadable[path] = "cannot be read in the workspace, or is being written to"
                    continue
                new[str(file.place)] = (version, sha256)
            there[path] = Seen(path, file.size, sha256)
        self._hashes.keep(new)
        return there, unreadable
