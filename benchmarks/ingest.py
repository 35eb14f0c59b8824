"""What indexing and searching cost, as ratios to the bare parts in the same run.

    python benchmarks/ingest.py

Five measurements: indexing compared with the embedding model alone; a PDF of 200 pages until it can
be searched, compared with pypdfium2 alone; a search among 100,000 passages; reopening an index of
10,000; and how peak memory grows when there are four times as many documents.
"""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
import tempfile
import textwrap
import time
from functools import partial
from itertools import accumulate, cycle
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.embeddings import Embeddings

from deepnb.knowledge import Knowledge
from deepnb.knowledge.minilm import packaged
from deepnb.knowledge.search import View
from deepnb.knowledge.store import Store, note
from deepnb.knowledge.words import Postings
from deepnb.knowledge.write import keep_vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.knowledge.minilm import Matrix

DIMENSION = 384
PAGES = 200
FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>"
ROUNDS = 5
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
VOCABULARY = [f"{a}{b}{c}n" for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES[::8]]
SPREAD = list(accumulate(1 / rank for rank in range(10, len(VOCABULARY) + 10)))
"""How often words occur in real texts, without the stop words."""


def main() -> int:
    """Print each measurement with its limit; 1 if one is missed."""
    checks = [throughput, pdf, search, reopen, memory]
    with tempfile.TemporaryDirectory() as name:
        results = [check(Path(name) / check.__name__) for check in checks]
    return int(not all(results))


def throughput(folder: Path) -> bool:
    """Reading, embedding and storing, compared with `encode` on the same passages."""
    write_documents(folder, 40)
    embedder: Any = packaged()
    embedder.load()
    model = embedder._model  # noqa: SLF001  # the bare model is what we compare with
    ratios = []
    for round_ in range(3):
        with Knowledge(folder, at=folder / f".{round_}") as kb:
            ours = timed(kb.wait)
            locations = kb.documents["location"]
            texts = [each.text for name in locations for each in kb.read(name)]
        bare = timed(partial(model.encode, texts))
        ratios.append(bare / ours)
    rate = len(texts) / ours
    return verdict(
        f"indexing {len(texts)} passages: {rate:.0f} a second, {median(ratios):.2f} of the bare "
        "model's rate",
        median(ratios) >= 0.9,
        "at least 0.9",
    )


def pdf(folder: Path) -> bool:
    """A PDF until it can be searched, compared with the extraction of its text alone."""
    import pypdfium2  # type: ignore[import-untyped]  # it has no types

    folder.mkdir()
    path = folder / "pages.pdf"
    path.write_bytes(a_pdf())

    def bare() -> None:
        document = pypdfium2.PdfDocument(path)
        for page in document:
            page.get_textpage().get_text_bounded()  # the one that knows all of Unicode
        document.close()

    def ours() -> None:
        with Knowledge([path], embeddings=False) as kb:
            assert kb.find("statement")

    ours()
    bare()
    ratio = median(timed(ours) / timed(bare) for _ in range(ROUNDS))
    return verdict(
        f"a PDF of {PAGES} pages: {ratio:.2f} x pypdfium2 alone", ratio <= 2, "at most 2"
    )


def search(folder: Path) -> bool:
    """A question to 100,000 passages, besides embedding it."""
    store = Store(folder)
    generator, chooser = np.random.default_rng(1), random.Random(1)
    postings = Postings()
    for start in range(1, 100_001, 10_000):
        ids = list(range(start, start + 10_000))
        with store.transaction() as cursor:
            note(cursor, "model", "random")
            texts = [sentence(chooser, 60) for _ in ids]
            for number, text in zip(ids, texts, strict=True):
                postings.add(number, text)
            terms = postings.write(cursor)
            for number, text, count in zip(ids, texts, terms, strict=True):
                if number % 100 == 1:
                    document = number // 100 + 1
                    cursor.execute(
                        "INSERT INTO document VALUES (?, ?, 'file', '', '', 0, 0, '', 0, '', 0)",
                        (document, str(document)),
                    )
                cursor.execute(
                    "INSERT INTO chunk VALUES (?, ?, ?, '', NULL, NULL, '', '', ?, 0)",
                    (number, document, text, count),
                )
            keep_vectors(cursor, ids, vectors(generator, len(ids)))
    view = View(store, "random")
    view.refresh()
    queries = [(sentence(chooser, 10), vectors(generator, 1)[0]) for _ in range(50)]
    seconds = [timed(partial(view.find, text, vector, 8)) for text, vector in queries]
    store.close()
    return verdict(
        f"a search among 100,000 passages: {1000 * median(seconds):.1f} ms (slowest "
        f"{1000 * max(seconds):.1f})",
        median(seconds) <= 0.025,
        "at most 25 ms",
    )


def reopen(folder: Path) -> bool:
    """An unchanged index of 10,000 passages, until it has answered."""
    write_documents(folder, 700)
    with Knowledge(folder, embeddings=Instant()) as kb:
        passages = int(kb.wait().documents["passages"].sum())

    def again() -> None:
        with Knowledge(folder, embeddings=Instant()) as kb:
            assert kb.wait().find(VOCABULARY[0])

    seconds = median(timed(again) for _ in range(ROUNDS))
    return verdict(
        f"reopening an unchanged index of {passages:,} passages: {seconds:.2f} s",
        seconds <= 1 and passages >= 10_000,
        "at most 1 s",
    )


def memory(folder: Path) -> bool:
    """Peak memory of building an index, of a corpus and of one four times as large."""
    peaks, passages = [], []
    for documents in (500, 2000):
        inner = folder / str(documents)
        write_documents(inner, documents)
        command = [sys.executable, __file__, "--build", str(inner)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        peak, count = map(int, output.split()[-2:])
        peaks.append(peak)
        passages.append(count)
    grown = peaks[1] - peaks[0]
    allowed = (passages[1] - passages[0]) * DIMENSION * 4
    megabytes = [round(each / 1e6) for each in (*peaks, grown, allowed)]
    return verdict(
        f"peak memory: {megabytes[0]} MB for {passages[0]:,} passages, {megabytes[1]} MB for "
        f"{passages[1]:,}: {megabytes[2]} MB more, of which vectors {megabytes[3]} MB",
        grown <= 1.25 * allowed,
        "at most the vectors, and a quarter for chance",
    )


def build(folder: Path) -> None:
    """Index a folder, for `memory`; prints the peak in bytes, and the passages."""
    with Knowledge(folder, embeddings=Instant()) as kb:
        passages = int(kb.wait().documents["passages"].sum())
        kb.find(VOCABULARY[0])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, passages)


class Instant(Embeddings):
    """Vectors that cost nothing, and mean nothing."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One for each text."""
        made: list[list[float]] = vectors(np.random.default_rng(len(texts)), len(texts)).tolist()
        return made

    def embed_query(self, text: str) -> list[float]:
        """One."""
        return self.embed_documents([text])[0]


def vectors(generator: np.random.Generator, count: int) -> Matrix:
    """Random ones, of length 1."""
    made = generator.standard_normal((count, DIMENSION), dtype=np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def sentence(chooser: random.Random, words: int) -> str:
    """Words that are as common and as rare as in real texts."""
    return " ".join(chooser.choices(VOCABULARY, cum_weights=SPREAD, k=words)).capitalize() + "."


def write_documents(folder: Path, count: int) -> None:
    """Text files of about 15 passages each."""
    folder.mkdir(parents=True)
    chooser = random.Random(count)
    for number in range(count):
        text = " ".join(sentence(chooser, chooser.randint(5, 30)) for _ in range(70))
        (folder / f"{number}.txt").write_text(text)


def a_pdf() -> bytes:
    """A PDF of plain English, 40 lines a page, as small as the format allows."""
    prose = " ".join(" ".join(topics.values()).encode("ascii", "ignore").decode().split())
    wrapped = cycle(textwrap.wrap(re.sub(r"[()\\]", "", prose), 90))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        FONT,
    ]
    for _ in range(PAGES):
        lines = " T* ".join(f"({next(wrapped)}) Tj" for _ in range(40))
        stream = f"BT /F1 10 Tf 14 TL 60 780 Td {lines} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
    kids = " ".join(f"{number} 0 R" for number in range(5, len(objects) + 1, 2))
    objects[1] = f"<< /Type /Pages /Count {PAGES} /Kids [{kids}] >>"
    body, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode("latin-1")


def timed(work: Callable[[], object]) -> float:
    """Seconds by the clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def verdict(what: str, good: bool, limit: str) -> bool:  # noqa: FBT001  # a fact, not an option
    """Print a measurement; gives back whether it is within its limit."""
    print(f"{what} (limit: {limit}){'' if good else '  MISSED'}", flush=True)
    return good


if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        build(Path(sys.argv[2]))
    else:
        sys.exit(main())
