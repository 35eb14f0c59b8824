"""A dozen invented documents about a small lake, to try things on.

They are files of the package; `copy` gives the reader a folder of their own, which they may edit.
"""

from __future__ import annotations

from pathlib import Path

from deepnb.errors import PathError

__all__ = ["copy"]

_DOCUMENTS = Path(__file__).with_name("lake")


def copy(to: str | Path) -> Path:
    """Copy the sample documents into a folder, and never over something else.

    Args:
        to: The folder; it is made if it does not exist.

    Returns:
        The folder.

    Raises:
        PathError: If a file of the same name but with other content is already there, if `to` is
            no folder (nothing has been copied then), or if the disk refuses.
    """
    folder = Path(to).expanduser()
    if folder.exists() and not folder.is_dir():
        raise PathError(f"'{folder}' is a file. Name a folder for the sample documents.")
    try:
        _copy_into(folder)
    except OSError as error:
        raise PathError(
            f"The sample documents cannot be copied to '{folder}': {error.strerror}. "
            "Name a folder that you may write to."
        ) from error
    return folder


def _copy_into(folder: Path) -> None:
    documents = sorted(path for path in _DOCUMENTS.iterdir() if path.is_file())
    for document in documents:
        target = folder / document.name
        if target.exists() and not _same(document, target):
            raise PathError(
                f"'{target}' is there already and differs from the sample document of that name. "
                "Move it away, or copy the samples to another folder."
            )
    folder.mkdir(parents=True, exist_ok=True)
    for document in documents:
        (folder / document.name).write_bytes(document.read_bytes())


def _same(document: Path, target: Path) -> bool:
    return target.is_file() and target.read_bytes() == document.read_bytes()
