"""The keys that a session knows of, and that nothing it writes may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr

from deepnb.models.cassette.masking import MASK, known_secrets, map_texts

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class Secrets:
    """Takes keys out of what is about to be kept.

    Providers and tools like to repeat a key in their error messages, and those go into the log
    and into LangGraph's checkpoints.

    Args:
        model: A chat model, whose own keys are secret too.
    """

    def __init__(self, model: BaseChatModel | str | None) -> None:
        values = vars(model).values() if hasattr(model, "__dict__") else ()
        self._own = [v.get_secret_value() for v in values if isinstance(v, SecretStr)]
        self.refresh()

    def refresh(self) -> None:
        """Look at the environment again, where keys are put at any time."""
        self._known = tuple(known for known in (*self._own, *known_secrets()) if known)

    def mask(self, data: dict[str, Any]) -> dict[str, Any]:
        """Give data without the keys."""
        text = repr(data)
        if not any(secret in text for secret in self._known):
            return data
        masked: dict[str, Any] = map_texts(data, self._masked)
        return masked

    def _masked(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, MASK)
        return text

    def mask_bytes(self, data: bytes) -> bytes:
        """Give serialised data without the keys, and as long as before."""
        for secret in self._known:
            raw = secret.encode()
            data = data.replace(raw, b"*" * len(raw))
        return data


class MaskingSerializer(JsonPlusSerializer):
    """LangGraph's serialiser, with the keys taken out of what it has made."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Serialise."""
        kind, data = super().dumps_typed(obj)
        return kind, self._secrets.mask_bytes(data)
