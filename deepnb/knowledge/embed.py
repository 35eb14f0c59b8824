"""Texts as vectors: the packaged model, or any LangChain embeddings.

Loading a model may take many seconds, so it is done in the background.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from deepnb.knowledge.minilm import needed, packaged, unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.embeddings import Embeddings

    from deepnb.knowledge.minilm import Matrix


class Embedder(Protocol):
    """Makes vectors of length 1."""

    name: str
    """Vectors of another name cannot be compared with these."""
    batch: int
    """How many texts are best given to it at once."""

    def load(self) -> None:
        """Do what takes long before the first vector."""

    def documents(self, texts: Sequence[str]) -> Matrix:
        """One row for each text."""

    def query(self, text: str) -> Matrix:
        """The vector of a question."""


class FromLangChain:
    """Any LangChain embeddings."""

    batch = 64

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        kind = type(embeddings)
        called = (getattr(embeddings, each, None) for each in ("model", "model_name", "model_id"))
        model = next((each for each in called if isinstance(each, str)), "")
        self.name = f"{kind.__module__}.{kind.__qualname__} {model}".strip()

    def load(self) -> None:
        """See that what searches its vectors is there.

        Raises:
            MissingExtraError: It is not.
        """
        needed("faiss")

    def documents(self, texts: Sequence[str]) -> Matrix:
        """One row for each text."""
        return unit(np.array(self._embeddings.embed_documents(list(texts)), np.float32))

    def query(self, text: str) -> Matrix:
        """The vector of a question."""
        vector: Matrix = unit(np.array([self._embeddings.embed_query(text)], np.float32))[0]
        return vector


def chosen(embeddings: Embeddings | Literal[False] | None) -> Embedder | None:
    """The embedder that an option means: None is the packaged one, False is none at all."""
    if embeddings is False:
        return None
    if embeddings is None:
        return packaged()
    if not callable(getattr(embeddings, "embed_documents", None)):
        raise TypeError(
            f"embeddings is {embeddings!r}, which cannot embed. Pass a LangChain Embeddings "
            "object, None for the packaged model, or False for keywords only."
        )
    return FromLangChain(embeddings)
