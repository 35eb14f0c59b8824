"""The keys that a session knows of, and that nothing it writes may hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr

from deepnb.interrupts import MONEY
from deepnb.models.cassette.masking import MASK, known_secrets, map_texts, mask
from deepnb.record.log import Masks

if TYPE_CHECKING:
    from deepnb.events import Kind

_LOOKED_AT = frozenset(
    [
        "tool_call",
        "tool_result",
        "node",
        "file",
        "source",
        "report",
        "interrupt_opened",
        "error",
        "warning",
        "run_ended",
    ]
)
"""Kinds that hold what others have written, and not what was said in the conversation."""

_MONEY = re.compile(MONEY.pattern.encode())


class Secrets(Masks):
    """Takes keys out of what is about to be kept.

    Providers and tools like to repeat a key in their error messages, and agents to read a `.env`;
    those go into the log and into LangGraph's checkpoints. So does a Cashu token, which is money.

    Args:
        models: Chat models, whose own keys are secret too.
    """

    def __init__(self, *models: Any) -> None:
        self._own: list[str] = []
        self.add(*models)

    def add(self, *models: Any) -> None:
        """Know the keys of further models, beside those that are known."""
        values = [value for model in models for value in getattr(model, "__dict__", {}).values()]
        self._own += [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        self.refresh()

    def refresh(self) -> None:
        """Look at the environment again, where keys are put at any time."""
        self._known = tuple(known for known in (*self._own, *known_secrets()) if known)

    def mask(self, kind: Kind, data: dict[str, Any]) -> dict[str, Any]:
        """Give an event's data without the keys, and without what looks like one in a tool's."""
        if kind in _LOOKED_AT:
            masked: dict[str, Any] = mask(data, self._known)
            return masked
        text = repr(data)
        if not MONEY.search(text) and not any(secret in text for secret in self._known):
            return data
        replaced: dict[str, Any] = map_texts(data, self._masked)
        return replaced

    def _masked(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, MASK)
        return MONEY.sub(MASK, text)

    def mask_bytes(self, data: bytes) -> bytes:
        """Give serialised data without the keys, and as long as before."""
        for secret in self._known:
            raw = secret.encode()
            data = data.replace(raw, b"*" * len(raw))
        return _MONEY.sub(lambda found: b"*" * len(found[0]), data)


class MaskingSerializer(JsonPlusSerializer):
    """LangGraph's serialiser, with the keys taken out of what it has made."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__(allowed_msgpack_modules=None)  # a thread may come from anybody
        self._secrets = secrets

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Serialise."""
        kind, data = super().dumps_typed(obj)
        return kind, self._secrets.mask_bytes(data)
