"""Rankings: by words, by meaning, and fused."""

from __future__ import annotations

import numpy as np
import pytest

from deepnb.keywords import bm25
from deepnb.knowledge import Knowledge, Note, vectors, words
from deepnb.knowledge.search import Rankings, fused
from deepnb.knowledge.vectors import Vectors
from tests.knowledge.embedders import Hashed


def random_vectors(count: int) -> np.ndarray:
    made = np.random.default_rng(1).standard_normal((count, 32)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def filled(rows: np.ndarray) -> Vectors:
    held = Vectors()
    for start in range(0, len(rows), 700):
        ids = np.arange(start, min(start + 700, len(rows))) + 10
        held.add(ids, rows[start : start + 700])
    return held


def test_the_nearest_are_found_exactly_in_any_block():
    rows = random_vectors(9000)
    held = filled(rows)
    assert len(held) == 9000
    for query in rows[[0, 4095, 4096, 8999]]:
        expected = np.argsort(-(rows @ query))[:20] + 10
        assert held.near(query, 20).tolist() == expected.tolist()


def test_above_the_limit_a_graph_is_as_good_while_it_is_made_and_after(monkeypatch, tmp_path):
    monkeypatch.setattr(vectors, "EXACT", 2000)
    rows = random_vectors(4500)
    held = filled(rows)
    queries = rows[::300]
    expected = [set((np.argsort(-(rows @ query))[:10] + 10).tolist()) for query in queries]

    def recall(held: Vectors) -> float:
        found = [set(held.near(query, 10).tolist()) for query in queries]
        return sum(len(a & b) for a, b in zip(expected, found, strict=True)) / 10 / len(queries)

    assert held.link_some()
    assert recall(held) == 1.0
    while held.link_some():
        pass
    assert len(held) == 4500
    assert recall(held) > 0.9
    held.save(tmp_path, "epoch", 4500)
    again = Vectors()
    assert again.load(tmp_path, "epoch", 10_000) == 4500
    assert recall(again) == recall(held)
    assert Vectors().load(tmp_path, "another", 10_000) == 0
    (saved,) = tmp_path.iterdir()
    saved.write_bytes(saved.read_bytes()[:1000])
    assert Vectors().load(tmp_path, "epoch", 10_000) == 0, "a damaged one is not read"


def test_a_knowledge_base_above_the_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(vectors, "EXACT", 100)
    for number in range(150):
        (tmp_path / f"{number}.txt").write_text(f"Number {number} physician {number}")
    with Knowledge(tmp_path, embeddings=Hashed()) as kb:
        assert len(kb.wait().find("doctor", k=150)) > 100
    assert list((tmp_path / ".deepnb" / "knowledge").glob("near-*.faiss"))
    with Knowledge(tmp_path, embeddings=Hashed()) as kb:
        kb.wait().add(Note("Another physician")).wait()
        assert "note" in {each.kind for each in kb.find("doctor", k=151)}


def test_words_are_ranked_as_bm25_does(tmp_path):
    texts = ["tapir " * n + "filler words here " * (9 - n) + "okapi " * (n % 2) for n in range(9)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text)
    with Knowledge(tmp_path, embeddings=False) as kb:
        found = [int(each.title) for each in kb.find("tapirs and okapis", k=9)]
    terms = [[str(number), *words.terms(text)] for number, text in enumerate(texts)]
    expected = [number for number, _ in bm25(words.query_terms("tapirs and okapis"), terms)]
    assert found == expected


def test_segments_are_searched_alike(monkeypatch, tmp_path):
    monkeypatch.setattr(words, "SEGMENT", 7)
    with Knowledge(at=tmp_path, embeddings=False) as kb:
        kb.add(*(Note(f"Tapir number {n}.", title=f"n{n}") for n in range(40)))
        assert {each.title for each in kb.find("tapir", k=50)} == {f"n{n}" for n in range(40)}
        for passage in kb.find("tapir", k=50)[:30]:
            kb.remove(passage.location)
        assert len(kb.find("tapir", k=50)) == 10


@pytest.mark.parametrize("count", [1, 3])
def test_what_both_find_comes_first(count):
    owners = np.array([0, 1, 2, 3])
    hits = fused(Rankings([1, 2], [2, 3], [2, 1], owners))
    assert [hit.chunk for hit in hits][:count] == [2, 1, 3][:count]
    assert [hit.found_by for hit in hits][:count] == ["both", "words", "meaning"][:count]


def test_a_document_speaks_for_its_passages():
    owners = np.array([0, 1, 2])
    alone, together = Rankings([1, 2], [], [1, 2], owners), Rankings([1, 2], [], [2], owners)
    assert [hit.chunk for hit in fused(alone)] == [1, 2]
    assert [hit.chunk for hit in fused(together)] == [2, 1]


def test_a_search_among_some_documents_is_not_crowded_out_by_others(tmp_path):
    (tmp_path / "loud.md").write_text("\n\n".join(f"# Pump {n}\n\nThe pump." for n in range(300)))
    (tmp_path / "quiet.md").write_text("Somewhere a pump is mentioned.")
    with Knowledge(tmp_path, embeddings=False) as kb:
        found = kb.find("pump", 3, among=lambda kind, location: location != "loud.md")
        assert [each.location for each in found] == ["quiet.md"]
        assert kb.find("pump", 3)[0].location == "loud.md"
