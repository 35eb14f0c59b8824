"""Where the other side of a mapped file is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deepnb.errors import PathError
from deepnb.exchange.mappings import below, part_below
from deepnb.files.paths import join, safe_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from deepnb.exchange.mappings import MappedFile, Mapping
    from deepnb.files.folder import Folder

Side = Literal["source", "target"]
_SIDES: dict[str, Side] = {"files": "source", "workspace": "target"}


def carried(mappings: Iterable[Mapping], path: str) -> str | None:
    """Where a write to an agent's path will be carried on to: the path of the other side, if any.

    Args:
        mappings: Those of the workspace.
        path: Below `/files/` or `/workspace/`.
    """
    try:
        home, *names = safe_parts(path)
    except ValueError:
        return None
    if home not in _SIDES:
        return None
    side = _SIDES[home]
    for mapping in mappings:
        rest = _rest(mapping, side, join(tuple(names)))
        if rest is not None and mapping["mode"] == "sync":
            if side == "source":
                return f"/workspace{below(mapping['target'], rest)}"
            return f"/files{below(mapping['source'], rest)}"
    return None


def path_of(
    folder: Folder, mappings: Sequence[Mapping], files: Iterable[MappedFile], name: str
) -> Path:
    """Where a mapped file really is, for code that wants to open it.

    Args:
        folder: The workspace.
        mappings: Those of the workspace.
        files: The mapped files that are known.
        name: A path in the browser or in the workspace, with or without the agent's `/files/` or
            `/workspace/`, or the bare name of a file.

    Raises:
        PathError: There is none, or more than one; the message says what to do.
    """
    parts = safe_parts(name)
    asked = list(_asked(parts))
    found = list(_mapped(mappings, asked))
    here = _existing(folder, found)
    if not here and len(parts) == 1:
        here = _existing(folder, [file["target"] for file in files if parts[0] in _names(file)])
    if len(here) > 1:
        places = ", ".join(f"/workspace{path}" for path in here)
        raise PathError(f"{name!r} may be any of these: {places}. Ask for one of them.")
    if not here:  # one that is in the workspace anyway needs no mapping
        own = [path for side, path in asked if side == "target" and path != "/"]
        here = _existing(folder, own)
    if here:
        return folder.locate(here[0])
    if found:
        raise PathError(
            f"{name!r} would be kept in step, but is not in the workspace. Open the panel's files "
            "in the browser that has it, wait until it has arrived, and run this again."
        )
    raise PathError(
        f"{name!r} is not in the workspace. To have it there, open the panel's files, choose it "
        "under My computer and map it to the workspace; then run this again: a cell cannot wait "
        "for the browser."
    )


def _existing(folder: Folder, paths: Iterable[str]) -> list[str]:
    return [path for path in dict.fromkeys(paths) if folder.locate(path).exists()]


def _asked(parts: tuple[str, ...]) -> Iterator[tuple[Side, str]]:
    """What a path may mean: a place on one side or the other."""
    if parts and parts[0] in _SIDES:
        yield _SIDES[parts[0]], join(parts[1:])
    yield "source", join(parts)
    yield "target", join(parts)


def _mapped(mappings: Sequence[Mapping], asked: list[tuple[Side, str]]) -> Iterator[str]:
    for side, path in asked:
        for mapping in mappings:
            rest = _rest(mapping, side, path)
            if rest is not None:
                yield below(mapping["target"], rest)


def _rest(mapping: Mapping, side: Side, path: str) -> str | None:
    """The path below a mapping; None if the mapping is not about it."""
    rest = part_below(mapping[side], path)
    return None if rest and not mapping["is_folder"] else rest


def _names(file: MappedFile) -> set[str]:
    return {file[side].rpartition("/")[2] for side in _SIDES.values()}
