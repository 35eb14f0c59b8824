"""Secrets stay out of recordings."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MASK = "[secret]"

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS_JSON")
_SHORTEST = 8
_LOOKS_SECRET = re.compile(
    r"\bsk-[\w-]{16,}"
    r"|\bcashu[AB][\w-]{16,}=*"
    r"|(?<=\b[Bb]earer )[\w.~+/=-]{8,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----",
    re.DOTALL,
)


def mask(value: Any) -> Any:
    """The same data with secrets masked in all its texts.

    A secret is the value of an environment variable that is named like one, or what looks like a
    key. Requests are masked alike when they are recorded and when they are looked up.
    """
    known = _known_secrets()
    return map_texts(value, lambda text: _mask_text(text, known))


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Apply `change` to every text in nested lists and dictionaries, keys excepted."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: map_texts(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(each, change) for each in value]
    return value


def _known_secrets() -> list[str]:
    values = {
        value
        for name, value in os.environ.items()
        if name.upper().endswith(_SECRET_NAMES) and len(value) >= _SHORTEST
    }
    # As they are, and as they look inside JSON; the longest first, lest a part unmask the rest.
    spellings = values | {json.dumps(value)[1:-1] for value in values}
    return sorted(spellings, key=len, reverse=True)


def _mask_text(text: str, known: list[str]) -> str:
    for secret in known:
        text = text.replace(secret, MASK)
    return _LOOKS_SECRET.sub(MASK, text)
