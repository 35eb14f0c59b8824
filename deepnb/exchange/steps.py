"""What has to be done to bring the two sides of a mapping into step.

Three are compared for each file: what is here (in the browser), what is there (in the workspace),
and what both had when they last agreed. Whoever has not changed since then takes from the other;
where both have, or something is gone, the person decides. Nothing is done here.
"""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Literal, NamedTuple

from typing_extensions import TypedDict  # typing's own is beyond pydantic on 3.11

from deepnb.errors import PathError
from deepnb.files.paths import safe_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Do = Literal["send", "take", "conflict", "gone_here", "gone_there"]
Mode = Literal["copy", "sync"]
_ON_WINDOWS = os.name == "nt"


class Seen(NamedTuple):
    """A file as one side has it; `path` is below the mapping, empty for the mapped file itself."""

    path: str
    size: int
    sha256: str


class Step(TypedDict):
    """What has to be done to one file of a mapping.

    `send` it to the workspace, `take` it from there, or ask the person: `conflict` where both sides
    have changed, `gone_here` where the browser's was deleted, `gone_there` the workspace's.
    `here` and `there` are hashes, empty where nothing is; `agreed` is what both had last.
    """

    path: str
    do: Do
    here: str
    there: str
    agreed: str
    size: int


class Comparison(TypedDict):
    """All that has to be done, and how many files need nothing; `unusable` ones say why."""

    steps: list[Step]
    same: int
    unusable: list[str]


@dataclass
class Verdict:
    """What came of a comparison: what to do, and what is to be remembered from now on."""

    steps: list[Step] = field(default_factory=list)
    agreed: dict[str, str] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)


def compare(
    mode: Mode,
    here: Mapping[str, Seen],
    there: Mapping[str, Seen],
    agreed: Mapping[str, str],
    unusable: Mapping[str, str],
) -> Verdict:
    """Compare both sides with what they agreed on last.

    Args:
        mode: A copy is sent once; what becomes of it afterwards is not followed.
        here: The browser's files, by path.
        there: The workspace's.
        agreed: The hash that both had last.
        unusable: Files that cannot be told, with the reason: nothing is done about them.
    """
    reasons = _collisions({*here, *there}, {*agreed}) | dict(unusable)
    verdict = Verdict(unusable=reasons)
    for path in sorted({*here, *there, *agreed} - reasons.keys()):
        mine, theirs = here.get(path), there.get(path)
        known = agreed.get(path, "")
        if mine is None and theirs is None:
            if mode == "sync":
                verdict.forgotten.append(path)
            continue
        if mine and theirs and mine.sha256 == theirs.sha256:
            verdict.agreed[path] = mine.sha256
            continue
        if do := (_to_copy if mode == "copy" else _to_sync)(
            mine.sha256 if mine else "", theirs.sha256 if theirs else "", known
        ):
            verdict.steps.append(_step(path, do, mine, theirs, known))
    return verdict


def _to_sync(here: str, there: str, agreed: str) -> Do:
    """What to do where the sides differ."""
    if not here:
        return "gone_here" if agreed else "take"
    if not there:
        return "gone_there" if agreed else "send"
    if here == agreed:
        return "take"
    return "send" if there == agreed else "conflict"


def _to_copy(here: str, there: str, agreed: str) -> Do | None:
    if agreed or not here:
        return None
    return "conflict" if there else "send"


def _step(path: str, do: Do, mine: Seen | None, theirs: Seen | None, agreed: str) -> Step:
    moves = theirs if do in ("take", "gone_here") else mine
    return {
        "path": path,
        "do": do,
        "here": mine.sha256 if mine else "",
        "there": theirs.sha256 if theirs else "",
        "agreed": agreed,
        "size": moves.size if moves else 0,
    }


def checked(files: Iterable[Seen], *, is_folder: bool) -> tuple[dict[str, Seen], dict[str, str]]:
    """Tell the files of a browser that have a usable path from those that have none, and why."""
    usable: dict[str, Seen] = {}
    unusable: dict[str, str] = {}
    for file in files:
        reason = problem(file.path, is_folder=is_folder)
        if reason is None and file.path in usable:
            reason = "was named twice"
        if reason:
            unusable[file.path] = reason
        else:
            usable[file.path] = file
    return {path: usable[path] for path in usable if path not in unusable}, unusable


def problem(path: str, *, is_folder: bool) -> str | None:
    """What is wrong with the path of a file of a mapping, if anything."""
    if not is_folder:
        return "is not the file that was mapped" if path else None
    try:
        parts = safe_parts(path)
    except PathError as error:
        return f"cannot be used: {error}"
    if not parts or "/".join(parts) != path:
        return "is not spelled as a path below a folder"
    return "has a name that Windows keeps for a device. Rename it" if is_device(parts) else None


def is_device(parts: Iterable[str]) -> bool:
    """Whether one of these names is no file's here: what is written to it would be lost."""
    return _ON_WINDOWS and any(PureWindowsPath(part).is_reserved() for part in parts)


def folded(name: str) -> str:
    """What is the same for names that some disk takes for one: those of another case or form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _collisions(paths: set[str], agreed: set[str]) -> dict[str, str]:
    """The paths that a disk could take for another one, and why.

    Disks differ in this, and files move between them, so it does not depend on the disk. What both
    sides have had before goes on.
    """
    spellings: dict[str, set[str]] = defaultdict(set)
    settled: dict[str, set[str]] = defaultdict(set)
    for names, found in ((paths, spellings), (agreed & paths, settled)):
        for path in names:
            for each in (path, *parents(path)):
                found[folded(each)].add(each)
    reasons: dict[str, str] = {}
    for path in paths:
        for each in (path, *parents(path)):
            others = spellings[folded(each)] - {each}
            if others and settled[folded(each)] != {each}:
                reasons[path] = (
                    f"differs from {min(others)!r} only in case or accents, which some disks take "
                    "for the same. Rename one of them"
                )
            elif each != path and each in paths:
                reasons[path] = f"is in a folder, but on the other side {each!r} is a file"
                if each not in agreed:
                    reasons[each] = "is a folder on the other side. Rename one of them"
    return reasons


def parents(path: str) -> list[str]:
    """The folders that a path goes through."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
