"""How well a search finds what is relevant: nDCG@10 and recall@10, by method.

    python benchmarks/retrieval.py [--light] [--cloze] PATH [INDEX]

PATH is a collection in BEIR's format: corpus.jsonl, queries.jsonl and qrels.tsv. Each text becomes
a Markdown file that is indexed like any other, so passages are what is searched; a document is
ranked by its best passage. With INDEX, the documents and their index are kept in that folder, and
the next run embeds nothing. With --light, the model is run as where there is no torch. With
--cloze, nobody's queries are used: 400 texts lose their last sentence, and are to be found by it.
Whatever is to be chosen is chosen with that; the queries are there to measure.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import random
import re
import sys
import tempfile
from argparse import RawDescriptionHelpFormatter as RawText
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from deepnb.knowledge import Knowledge
from deepnb.knowledge.minilm import packaged
from deepnb.knowledge.opening import FOLDER
from deepnb.knowledge.search import View, fused
from deepnb.knowledge.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DEPTH = 400
BEST = 10
GOAL = (0.715, 0.845)
USUAL_CONSTANT = 60
SENTENCE_END = re.compile(r"(?<=[a-z)][.!?])\s*(?=[A-Z])")


def main() -> int:
    """Print a line for each method; 1 if what deepnb does misses the goal."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=RawText)
    options.add_argument("collection", metavar="PATH", type=Path)
    options.add_argument("index", metavar="INDEX", type=Path, nargs="?")
    options.add_argument("--light", action="store_true")
    options.add_argument("--cloze", action="store_true")
    given = options.parse_args()
    if given.light:
        sys.modules["sentence_transformers"] = None  # type: ignore[assignment]  # as if not there
    collection = given.collection
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.index or Path(scratch)
        corpus, queries = list(rows(collection / "corpus.jsonl")), collection / "queries.jsonl"
        asked = without_last_sentences(corpus) if given.cloze else list(rows(queries))
        fill(folder, corpus)
        with Knowledge(folder) as kb:
            kb.wait()
            print(kb)
            results = rankings(kb, folder, asked)
    own = {query["_id"]: {query["_id"]: 1} for query in asked}
    relevant = own if given.cloze else judgements(collection / "qrels.tsv")
    scores = {method: measure(found, relevant) for method, found in results.items()}
    for method, (ndcg, recall) in scores.items():
        print(f"{method:24} nDCG@{BEST} {ndcg:.4f}   recall@{BEST} {recall:.4f}")
    print(f"goal: {GOAL[0]} and {GOAL[1]}")
    return int(any(got < goal for got, goal in zip(scores["deepnb"], GOAL, strict=True)))


def rows(path: Path) -> Iterable[dict[str, str]]:
    """The objects of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def without_last_sentences(corpus: list[dict[str, str]], count: int = 400) -> list[dict[str, str]]:
    """Take the last sentences out of some texts, and give them as queries for these."""
    cut = {row["_id"]: SENTENCE_END.split(row["text"].strip()) for row in corpus}
    fit = [
        key for key, parts in cut.items() if len(parts) > 4 and 8 <= len(parts[-1].split()) <= 30
    ]
    chosen = set(random.Random(7).sample(fit, count))
    queries = []
    for row in corpus:
        if row["_id"] in chosen:
            *rest, last = cut[row["_id"]]
            row["text"] = " ".join(rest)
            queries.append({"_id": row["_id"], "text": last})
    return queries


def judgements(path: Path) -> dict[str, dict[str, int]]:
    """How relevant which document is to which query."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if int(row["score"]) > 0:
                found[row["query-id"]][row["corpus-id"]] = int(row["score"])
    return found


def fill(folder: Path, corpus: Iterable[dict[str, str]]) -> None:
    """Write each document as a file, if it is not there."""
    folder.mkdir(exist_ok=True, parents=True)
    for row in corpus:
        path = folder / f"{row['_id']}.md"
        if not path.exists():
            path.write_text(f"# {row['title']}\n\n{row['text']}\n", encoding="utf-8")


def rankings(
    kb: Knowledge, folder: Path, queries: Sequence[dict[str, str]]
) -> dict[str, dict[str, list[str]]]:
    """For each method and query, the documents in order."""
    store = Store(folder / FOLDER)
    embedder = packaged()
    view = View(store, embedder.name)
    names = {row: Path(name).stem for row, name in store.rows("SELECT id, location FROM document")}
    results: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for query in queries:
        text, key = query["text"], query["_id"]
        found = view.rankings(text, embedder.query(text), DEPTH)
        by_words, by_meaning = (
            [names[document] for document in dict.fromkeys(found.owners[chunks].tolist())]
            for chunks in (found.by_words, found.by_meaning)
        )
        whole = [names[document] for document in found.documents_by_words]
        results["words of passages"][key] = by_words
        results["words of documents"][key] = whole
        results["meaning"][key] = by_meaning
        results["plain fusion"][key] = fuse(whole, by_meaning)
        hits = [names[found.owners[hit.chunk]] for hit in fused(found)]
        results["deepnb, all ranks"][key] = list(dict.fromkeys(hits))
        passages = kb.find(text, k=100)
        results["deepnb"][key] = list(dict.fromkeys(Path(each.location).stem for each in passages))
    store.close()
    return results


def fuse(*lists: Sequence[str]) -> list[str]:
    """Reciprocal rank fusion of documents, for comparison."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in lists:
        for rank, document in enumerate(ranking, 1):
            scores[document] += 1 / (USUAL_CONSTANT + rank)
    return sorted(scores, key=lambda document: -scores[document])


def measure(
    found: dict[str, list[str]], relevant: dict[str, dict[str, int]]
) -> tuple[float, float]:
    """NDCG and recall, averaged over the queries that have an answer."""
    judged: list[tuple[list[str], dict[str, Any]]] = [
        (ranking[:BEST], relevant[query]) for query, ranking in found.items() if query in relevant
    ]
    return (
        mean(gain(map(grades.get, best)) / ideal(grades) for best, grades in judged),
        mean(len(grades.keys() & set(best)) / len(grades) for best, grades in judged),
    )


def gain(grades: Iterable[int | None]) -> float:
    """Discounted cumulative gain."""
    return sum((grade or 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def ideal(grades: dict[str, int]) -> float:
    """The gain of the best ranking there is."""
    return gain(sorted(grades.values(), reverse=True)[:BEST])


if __name__ == "__main__":
    sys.exit(main())
