"""What a graph is to be given, as bytes that the record can keep."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from deepnb.errors import SessionError

_SERDE = JsonPlusSerializer(allowed_msgpack_modules=None)  # a thread may come from anybody


def packed(values: Any) -> bytes:
    """Serialise what a graph is to be given.

    Raises:
        SessionError: It cannot be kept.
    """
    try:
        kind, data = _SERDE.dumps_typed(values)
    except (TypeError, ValueError) as error:
        raise SessionError(f"This input cannot be stored: {error}. Use plain values.") from error
    return kind.encode() + b"\n" + data


def unpacked(data: bytes | None) -> Any:
    """Give back what was packed."""
    if data is None:
        return {}
    kind, _, rest = data.partition(b"\n")
    return _SERDE.loads_typed((kind.decode(), rest))
