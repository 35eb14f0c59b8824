"""How well the words of a claim tell the source that it cites from others.

    python benchmarks/paraphrases.py ../scifact

Which share counts as matched, for 100 claims, of the abstracts that are noted as evidence, of
those that keywords find and that are not noted (mostly about the same), and of random ones.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import defaultdict
from pathlib import Path

import bm25s  # type: ignore[import-untyped]  # it has no types

from deepnb.citations.registry import register
from deepnb.citations.shapes import Passage, Reading
from deepnb.citations.verdicts import check
from deepnb.keywords import terms
from deepnb.sentences import sentences

CLAIMS, OTHERS, SEED, SIZE = 100, 5, 3, 500


def main(folder: Path) -> None:
    """Print the shares."""
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    corpus = {document["_id"]: document for document in documents}
    claims = {c["_id"]: c["text"] for c in map(json.loads, (folder / "queries.jsonl").open())}
    evidence = defaultdict[str, list[str]](list)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        claim, document, relevance = line.split()
        if int(relevance):
            evidence[claim].append(document)
    index = bm25s.BM25()
    index.index([terms(f"{d['title']} {d['text']}") for d in documents], show_progress=False)
    rng, matched, total = (
        random.Random(SEED),
        defaultdict[str, int](int),
        defaultdict[str, int](int),
    )
    for key in rng.sample([key for key in claims if key in evidence], CLAIMS):
        best, _ = index.retrieve([terms(claims[key])], k=OTHERS + 10, show_progress=False)
        near = [documents[i]["_id"] for i in best[0] if documents[i]["_id"] not in evidence[key]]
        kinds = {"noted": evidence[key][:1], "near": near[:OTHERS]}
        kinds["random"] = rng.sample(list(corpus), OTHERS)
        every = [(kind, document) for kind, found in kinds.items() for document in found]
        sources = register(
            {}, [_reading(corpus[document], n) for n, (_, document) in enumerate(every)], 0
        )
        marks = [f"{claims[key].rstrip('.')} [{source}]." for source in sources]
        rows = [r for r in check("\n\n".join(marks), sources)["citations"] if r["source"]]
        for (kind, _), row in zip(every, rows, strict=True):
            total[kind] += 1
            matched[kind] += row["verdict"] in {"quoted", "source matched, support not verified"}
    for kind in total:
        print(f"{kind}: {matched[kind] / total[kind]:.1%} of {total[kind]} matched")


def _reading(document: dict[str, str], number: int) -> Reading:
    # Sentences of these abstracts are joined without a space.
    text = re.sub(r"(?<=[a-z)\]])\.(?=[A-Z])", ". ", document["text"])
    pieces = [""]
    for sentence in sentences(text):
        if len(pieces[-1]) + len(sentence) > SIZE:
            pieces.append("")
        pieces[-1] += f" {sentence}"
    passages = [Passage(text=piece, place="") for piece in pieces]
    return Reading(kind="file", title=document["title"], location=f"{number}", passages=passages)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
