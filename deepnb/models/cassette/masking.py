"""Secrets stay out of recordings.

Two kinds are known: the values of environment variables that are named like secrets, and what
looks like one wherever it comes from. A value that any text may contain ("notebook" is a common
Jupyter token) is no secret worth a garbled recording.
"""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deepnb.interrupts import MONEY

if TYPE_CHECKING:
    from collections.abc import Callable

MASK = "[secret]"

_SECRET_NAME = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIAL)S?\d*(?:_|$)"
    r"|(?:^|_)(?:PASS|PAT|AUTH|COOKIE)S?\d*(?:_|$)",
    re.IGNORECASE,
)
_SHORTEST = 8
_CERTAINLY_NO_WORD = 16

_VALUE = r"[^\s\"'\\,;&<>(){}\[\]]"
# What is in the group `kept` stays: it tells the reader what was masked.
_LOOKS_SECRET = re.compile(
    # Keys that providers made recognisable.
    rf"{MONEY.pattern}"
    r"|(?<![A-Za-z0-9])(?:sk-[\w-]{16,}|AIza[\w-]{30,}|gh[oprsu]_\w{16,}"
    r"|github_pat_\w{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}\b|hf_[A-Za-z0-9]{16,}|gsk_\w{16,}"
    r"|tvly-[\w-]{12,}|xox[a-z]-[\w-]{10,}|glpat-[\w-]{12,}|xai-\w{16,}|pplx-\w{16,}"
    r"|nvapi-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----BEGIN).)*?-----END [A-Z ]*PRIVATE KEY-----"
    # Headers. Without the header's name, "bearer" may be a word: what follows must be no word.
    r"|(?P<header>\b(?i:authorization[\"'\\]*\s*[:=]\s*[\"'\\]*(?:basic|bearer|token))\s+)[^\s\"'\\]+"
    r"|(?P<bearer>\b(?i:bearer)\s+)(?=[a-z-]*[^\sa-z-]\w|[\w-]{16})[\w.~+/=-]{8,}"
    # URLs with a user and a password, or with a token alone.
    r"|(?<=://)[^/\s:@?#]*:[^/\s@]+(?=@)"
    r"|(?<=://)[^/\s:@?#]{8,}(?=@)"
    # Assignments, in any language. A token of a page is no secret, and needed to turn it.
    r"|(?P<name>(?i:api[ _-]?key|(?<!page_)(?<!page)token|secret|access_key|passw(?:or)?d"
    r"|passphrase)[\"'\\]*\s*[:=]\s*[\"'\\]*)"
    r"(?:(?<=[\"'])[^\s\"'\\]{8,}(?=\\?[\"'])"
    rf"|(?={_VALUE}{{0,99}}\d)(?={_VALUE}{{0,99}}[A-Za-z]){_VALUE}{{8,}})",
    re.DOTALL,
)
_SECRET_FIELD = re.compile(
    r"(?i:(?:.*[_-])?(?:api[_-]?key|(?<!page_)token|secret|access_key|passw(?:or)?d|passphrase))"
)


def mask(value: Any, known: tuple[str, ...] | None = None) -> Any:
    """The same data with secrets masked in all its texts.

    Requests are masked alike when they are recorded and when they are looked up.

    Args:
        value: Nested lists and dictionaries.
        known: The result of `known_secrets`, for whoever masks many things at once.
    """
    known = known_secrets() if known is None else known
    return map_texts(_mask_fields(value), lambda text: _mask_text(text, known))


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Apply `change` to every text in nested lists and dictionaries, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {map_texts(key, change): map_texts(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(each, change) for each in value]
    return value


def same_but_for_masks(one: Any, other: Any) -> bool:
    """Whether two requests are equal where neither is masked.

    Another machine has other variables, and so masks other texts. What is masked here may be any
    run of characters without a space there.
    """
    if isinstance(one, str) and isinstance(other, str):
        if one == other:
            return True
        words, others = re.split(r"(\s+)", one), re.split(r"(\s+)", other)
        return len(words) == len(others) and all(map(_same_word, words, others))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same_but_for_masks(one[key], other[key]) for key in one
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_but_for_masks, one, other))
    return bool(one == other)


def _same_word(one: str, other: str) -> bool:
    return one == other or _covers(one, other) or _covers(other, one)


def _covers(masked: str, word: str) -> bool:
    first, *others = masked.split(MASK)
    if not others or not word.startswith(first):
        return False
    *inner, last = others
    end = len(first)
    for part in inner:
        # A mask stands for one character at least.
        start = word.find(part, end + 1)
        if start < 0:
            return False
        end = start + len(part)
    return word.endswith(last) and len(word) - len(last) > end


def known_secrets() -> tuple[str, ...]:
    """The secrets in the environment as it is now."""
    values = {
        value.strip()
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name) and _is_no_word(value.strip())
    }
    # As they are, and as they look inside JSON; the longest first, lest a part unmask the rest.
    spellings = values | {json.dumps(value)[1:-1] for value in values}
    return tuple(sorted(spellings, key=lambda text: (-len(text), text)))


def _is_no_word(value: str) -> bool:
    varied = any(each.isdigit() for each in value) or value not in (value.lower(), value.upper())
    return len(value) >= (_SHORTEST if varied else _CERTAINLY_NO_WORD)


def _mask_fields(value: Any) -> Any:
    """Mask what stands under a name like `password`, in the arguments of a call for example."""
    if isinstance(value, dict):
        return {
            key: MASK
            if isinstance(each, str)
            and _SECRET_FIELD.fullmatch(str(key))
            and _is_no_word(each)
            and not re.search(r"\s", each)
            else _mask_fields(each)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_mask_fields(each) for each in value]
    return value


# A conversation repeats itself: each request has all the texts of the one before.
@lru_cache(maxsize=4096)
def _mask_text(text: str, known: tuple[str, ...]) -> str:
    for secret in known:
        text = text.replace(secret, MASK)
    return _LOOKS_SECRET.sub(_keep_name, text)


def _keep_name(match: re.Match[str]) -> str:
    return next((match[name] for name in ("header", "bearer", "name") if match[name]), "") + MASK
