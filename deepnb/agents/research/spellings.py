"""The ways in which one text can be written, so that a rule is not evaded by spelling."""

from __future__ import annotations

import json
import re
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from deepnb.files.paths import looks_like
from deepnb.keywords import unspaced

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_DECODINGS = 5
_UNSEEN_LETTERS = re.compile("[\u115f\u1160]")  # letters, says Unicode, but nobody sees them
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_LONGEST_SHOWN = 80


def spellings(text: str) -> list[str]:
    """A text, the texts in it if it is JSON, and all of them with percent signs decoded.

    Raises:
        ValueError: It was encoded again and again.
    """
    texts = [text]
    with suppress(ValueError, RecursionError):
        values: list[Any] = [json.loads(text)]
        while values:
            value = values.pop()
            if isinstance(value, str):
                texts.append(value)
            elif isinstance(value, dict):
                values += [*value, *value.values()]
            elif isinstance(value, list):
                values += value
    return [spelling for each in texts for spelling in decoded(each, unquote_plus)]


def decoded(text: str, decode: Callable[[str], str]) -> list[str]:
    """A text, and what it becomes as its percent signs are decoded.

    Raises:
        ValueError: It was encoded again and again, as nobody does who means well.
    """
    found = [text]
    while (plain := decode(found[-1])) != found[-1]:
        found.append(plain)
        if len(found) > _MOST_DECODINGS:
            raise ValueError(f"{shown(text)} is encoded too often. Write it plainly.")
    return found


def fold(text: str) -> str:
    """Give the words of a text with one blank between them, however they are spelled.

    Case, accents, look-alike letters, invisible characters and punctuation make no difference.
    """
    visible = "".join(each for each in looks_like(text) if unicodedata.category(each) != "Cf")
    return " ".join(_BETWEEN_WORDS.sub(" ", _UNSEEN_LETTERS.sub("", visible)).split())


def has_words(folded: str, words: str) -> bool:
    """Whether the words are in a text, one after another; both are folded."""
    return words in folded if unspaced(words) else f" {words} " in f" {folded} "


def fold_path(path: str) -> str:
    """A path as the most forgiving file system compares it."""
    normal = unicodedata.normalize("NFKC", path).casefold()
    return "/".join(name.rstrip(" .") for name in normal.split("/"))


def shown(text: str) -> str:
    """A text as it can be put into a sentence: short, and with nothing invisible in it."""
    legible = text if text.isprintable() else ascii(text)
    return legible if len(legible) <= _LONGEST_SHOWN else f"{legible[: _LONGEST_SHOWN - 1]}…"
