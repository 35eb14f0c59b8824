"""Embeddings that are small and know what they have embedded."""

from __future__ import annotations

import time
import zlib

from langchain_core.embeddings import Embeddings

from deepnb.keywords import terms

ALIKE = {"automobil": "car", "physician": "doctor"}


class Hashed(Embeddings):
    """A vector counts hashed terms; words that are alike in `ALIKE` count as one."""

    def __init__(self, model: str = "hashed", pause: float = 0.0, say: str = "") -> None:
        self.model = model
        self.pause = pause
        self.say = say
        self.embedded: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.say:
            print(self.say, flush=True)  # noqa: T201  # to whoever has started this process
        time.sleep(self.pause)
        self.embedded += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * 256
        for term in terms(text):
            vector[zlib.crc32(ALIKE.get(term, term).encode()) % 256] += 1
        return vector


class Failing(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ConnectionError("no such host")

    def embed_query(self, text: str) -> list[float]:
        raise ConnectionError("no such host")
