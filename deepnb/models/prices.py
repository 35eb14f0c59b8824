"""What a model call costs, where the price is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Prices = Mapping[str, tuple[float, float]]
"""Dollars per million tokens, in and out, by model name."""

_FREE = frozenset(
    {"deepnb-offline", "deepnb-local", "deepnb-replay", "deepnb-scripted", "chat-ollama"}
)
_FREE_PROVIDERS = frozenset({"lm-studio"})
_KINDS_BY_PROVIDER = {
    "offlinemodel": "deepnb-offline",
    "localmodel": "deepnb-local",
    "replaymodel": "deepnb-replay",
    "scriptedmodel": "deepnb-scripted",
    "ollama": "chat-ollama",
}
"""How langchain's tracing calls the models that are free: by their class, or their own name."""

PROVIDER = "deepnb_provider"
"""Where `resolve` notes in a model's metadata whose it is, if its class does not tell.

A loopback address does not tell either: behind it may be a proxy to a provider that charges, and
a budget must not take that for free.
"""


def unwrapped(model: BaseChatModel) -> BaseChatModel:
    """Give the model that really answers: a recording model passes everything on to another."""
    while (inner := getattr(model, "inner", None)) is not None and hasattr(inner, "_llm_type"):
        model = inner
    return model


def model_name(model: BaseChatModel) -> str:
    """Give the name that a model's provider knows it by."""
    model = unwrapped(model)
    for field in ("model_name", "model"):
        if isinstance(name := getattr(model, field, None), str) and name:
            return name.removeprefix("models/")  # Google's prefix
    return type(model).__name__


def price(model: BaseChatModel, tokens_in: int, tokens_out: int) -> float | None:
    """Give the price in US dollars; 0 for a model that runs here, None where nobody knows it."""
    model = unwrapped(model)
    kind = model._llm_type  # noqa: SLF001  # langchain's own hook for telling models apart
    return list_price(kind, model_name(model), model.metadata, tokens_in, tokens_out)


def stream_name(metadata: Mapping[str, Any]) -> str:
    """As `model_name`, for a call of which only langchain's tracing metadata is known."""
    provider = str(metadata.get("ls_provider") or "unknown")
    kind = _KINDS_BY_PROVIDER.get(provider, provider).removeprefix("deepnb-")
    return str(metadata.get("ls_model_name") or kind).removeprefix("models/")


def stream_price(
    metadata: Mapping[str, Any], tokens_in: int, tokens_out: int, given: Prices
) -> float | None:
    """As `price`, for a call of which only langchain's tracing metadata is known."""
    if (name := stream_name(metadata)) in given:
        return given_price(given[name], tokens_in, tokens_out)
    kind = _KINDS_BY_PROVIDER.get(str(metadata.get("ls_provider")), "")
    return list_price(kind, name, metadata, tokens_in, tokens_out)


def given_price(per_million: tuple[float, float], tokens_in: int, tokens_out: int) -> float:
    """Give the price in US dollars at a price that somebody has told."""
    return (tokens_in * per_million[0] + tokens_out * per_million[1]) / 1_000_000


def list_price(
    kind: str, name: str, metadata: Mapping[str, Any] | None, tokens_in: int, tokens_out: int
) -> float | None:
    """As `price`, for a model of which only this much is known."""
    if kind in _FREE or (metadata or {}).get(PROVIDER) in _FREE_PROVIDERS:
        return 0.0
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        return float(calc_price(usage, model_ref=name).total_price)
    except LookupError:
        return None
