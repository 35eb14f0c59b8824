"""Where a policy is found. One that is there and cannot be read is an error, never passed over."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from deepnb.agents.research.rules import LARGEST
from deepnb.agents.research.spellings import shown
from deepnb.errors import PolicyError
from deepnb.files.disk import read_whole

FILE_NAME = "POLICY.md"
_DEFAULT = Path(__file__).with_name(FILE_NAME)


def is_policy(location: str) -> bool:
    """Whether a document is a policy: it tells what may be done, and nothing about the world."""
    return PurePosixPath(location).name == FILE_NAME


def located(given: str | Path | None, workspace: Path | None) -> tuple[str, str]:
    """Give the text of the policy that applies, and in words which one it is.

    Raises:
        PolicyError: It is not there although it was given, or it cannot be read.
    """
    if isinstance(given, str) and "\n" in given:
        return given, "the given policy"
    if given is not None:
        return _text(Path(given), str(given)), str(given)
    places = [(Path.cwd() / FILE_NAME, f"./{FILE_NAME}")]
    if workspace is not None:
        places.append((workspace / FILE_NAME, f"workspace {FILE_NAME}"))
    for path, name in places:
        if _is_there(path, name):
            return _text(path, name), name
    return _text(_DEFAULT, str(_DEFAULT)), "deepnb's default policy"


def _is_there(path: Path, name: str) -> bool:
    """Whether there is anything of that name, also what cannot be read: that is then an error."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise PolicyError(_unreadable(name, error)) from error
    return True


def _text(path: Path, name: str) -> str:
    try:
        if path.is_symlink():  # open() below refuses it too, but says less
            raise PolicyError(f"{name} is a link. Put the policy itself there, as a plain file.")
        return read_whole(path, LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyError(f"{name} is not UTF-8 text. Save it as UTF-8.") from error
    except (OSError, ValueError) as error:
        raise PolicyError(_unreadable(name, error)) from error


def _unreadable(name: str, error: Exception) -> str:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return (
        f"The policy {shown(name)} cannot be read, so nothing is approved: {why}. "
        f"It has to be a plain file of at most {LARGEST // 1024} KB."
    )
