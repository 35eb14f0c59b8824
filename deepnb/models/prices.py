"""What a model call costs, where the price is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_FREE = frozenset(
    {"deepnb-offline", "deepnb-local", "deepnb-replay", "deepnb-scripted", "chat-ollama"}
)


def model_name(model: BaseChatModel) -> str:
    """Give the name that a model's provider knows it by."""
    for field in ("model_name", "model"):
        if isinstance(name := getattr(model, field, None), str) and name:
            return name.removeprefix("models/")  # Google's prefix
    return type(model).__name__


def price(model: BaseChatModel, tokens_in: int, tokens_out: int) -> float | None:
    """Give the price in US dollars; 0 for a model that runs here, None where nobody knows it."""
    if model._llm_type in _FREE:  # noqa: SLF001  # langchain's own hook for telling models apart
        return 0.0
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        return float(calc_price(usage, model_ref=model_name(model)).total_price)
    except LookupError:
        return None
