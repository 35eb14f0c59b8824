"""Which strings are paths.

Paths come from language models, browsers and file names on disk: from nobody who can be trusted.
They are virtual, so "/a/b" and "a/b" both mean a/b under some root. `safe_parts` is the only
door; what passes it can be joined to a root, shown to a person and sent over a wire as it is.
"""

from __future__ import annotations

import re
import unicodedata

from deepnb.errors import PathError

_LONGEST_PART = 255  # bytes: what nearly every file system allows
_LONGEST_PATH = 4096
_ORDINARY = re.compile(r"[A-Za-z0-9_-](?:[A-Za-z0-9_. -]*[A-Za-z0-9_-])?")
_HOME = re.compile(r"~[\w-]*")
_DRIVE = re.compile(r"[A-Za-z]:")
_RECORD = ".deepnb"  # deepnb's own record of a session: no agent may read or write it
_UNUSABLE = "\N{REPLACEMENT CHARACTER}"
# What Unicode lets a renderer leave out and does not call a format character; a blank of braille.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_LOOKALIKES = str.maketrans(
    # Cyrillic, Greek, Latin letters of another shape, and the Armenian o.
    "\u0430\u0441\u0435\u04bb\u0456\u043a\u04cf\u043c\u043e\u0440\u0433\u0455\u0442\u051d\u0443"
    "\u03b1\u03c3\u03b5\u03dd\u03b9\u03ba\u03bc\u03bf\u03c1\u03c4\u03c5\u03c9"
    "\u0251\u0192\u0131\u0585",
    "acehiklmoprstwyacefikmoptuwafio",
)


def safe_parts(path: str) -> tuple[str, ...]:
    """Split a virtual path into names that stay under their root.

    Names are returned as they were given: the same word in another Unicode form is another file.

    Raises:
        PathError: If the path could be read as anything but plain names below a root.
    """
    if not isinstance(path, str):
        raise PathError(f"A path is a text, not {type(path).__name__}.")
    if len(path) > _LONGEST_PATH:
        raise PathError(f"The path is longer than {_LONGEST_PATH} characters. Use a shorter one.")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if parts and _HOME.fullmatch(parts[0]):
        raise PathError(f"{path!r} starts with '~': there is no home folder here. Start with '/'.")
    for part in parts:
        if not _ORDINARY.fullmatch(part):
            _check(part)
        if len(part.encode()) > _LONGEST_PART:
            raise PathError(f"A name is longer than {_LONGEST_PART} bytes. Use a shorter one.")
    return parts


def join(parts: tuple[str, ...]) -> str:
    """The absolute virtual path of these names."""
    return "/" + "/".join(parts)


def shown(name: str) -> str | None:
    """A name on disk as agents see it, or None where they must not see it at all.

    What cannot be written in a path is shown as a replacement character, so that a file with a
    broken name is noticed rather than missing, even though it cannot be opened.
    """
    if _ORDINARY.fullmatch(name):
        return name
    visible = "".join(_UNUSABLE if _is_unusable(character) else character for character in name)
    try:
        safe_parts(visible)
    except PathError:
        return None
    return visible


def is_shown_broken(name: str) -> bool:
    """Whether `shown` may have put replacement characters into this name."""
    return _UNUSABLE in name


def looks_like(name: str) -> str:
    """What a reader may take a name for: without case, accents, borders and foreign letters."""
    decomposed = unicodedata.normalize("NFKD", name).casefold()
    bare = "".join(each for each in decomposed if not unicodedata.category(each).startswith("M"))
    return bare.translate(_LOOKALIKES).strip(" .")


def _is_unusable(character: str) -> bool:
    if character == "\\" or _INVISIBLE.match(character):
        return True
    # Control, format (zero-width, bidirectional) and surrogate characters, line separators.
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _check(part: str) -> None:
    """Raise unless `part` is a plain name, also in the eyes of other systems."""
    if any(_is_unusable(character) for character in part):
        raise PathError(
            f"{part!a} has a backslash or an invisible character. "
            "Use '/' between folders and visible characters in names."
        )
    normal = unicodedata.normalize("NFKC", part)
    if "/" in normal or "\\" in normal:
        raise PathError(f"{part!r} has a character that can be taken for a slash. Use plain '/'.")
    if not normal.strip(" ."):
        raise PathError(f"{part!r} is not a name: paths cannot go up. Write the full path instead.")
    if _DRIVE.match(normal):
        raise PathError(f"{part!r} looks like a drive letter. Start the path with '/' instead.")
    # Windows ignores what follows a colon and trailing dots and spaces; other systems ignore case.
    if normal.casefold().partition(":")[0].rstrip(" .") == _RECORD:
        raise PathError(f"{part!r} is deepnb's own record and off limits. Choose another path.")
