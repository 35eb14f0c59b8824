"""Vectors: the packaged model, other people's, and none."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from deepnb.knowledge import Knowledge, Note
from tests.knowledge.embedders import Failing, Hashed

BLOCKED = """
    import sys

    class Block:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in {"faiss", "torch", "sentence_transformers"}:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, Block())
    from deepnb.knowledge import Knowledge
    with Knowledge(sys.argv[1]) as kb:
        print([each.location for each in kb.wait().find("tapirs")])
        print(kb)
"""


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "tapirs.txt").write_text("Tapirs swim well.")
    (tmp_path / "cars.txt").write_text("A doctor drives a car.")
    return tmp_path


def test_without_the_extra_words_still_work(papers):
    command = [sys.executable, "-c", textwrap.dedent(BLOCKED), str(papers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found, shown = done.stdout.splitlines()
    assert found == "['tapirs.txt']"
    assert "2 documents, 2 passages" in shown
    assert "pip install 'deepnb[knowledge]'" in shown


def test_another_model_makes_vectors_anew_and_keeps_the_text(papers):
    with Knowledge(papers, embeddings=Hashed("one")) as kb:
        read = kb.wait().documents["read"].tolist()
    other = Hashed("two")
    with Knowledge(papers, embeddings=other) as kb:
        assert kb.wait().documents["read"].tolist() == read
        assert kb.find("physician")[0].location == "cars.txt"
    assert len(other.embedded) == 2
    with Knowledge(papers, embeddings=False) as kb:
        assert kb.documents["embedded"].tolist() == [1, 1], "who wants no vectors deletes none"


def test_a_service_that_fails_leaves_words(papers):
    with Knowledge(papers, embeddings=Failing()) as kb:
        assert kb.wait().find("tapirs")[0].found_by == "words"
        reason = kb.problems["reason"].tolist()
        assert len(reason) == 1
        assert "no such host" in reason[0]
        assert "kb.refresh() tries again" in repr(kb)


def test_a_service_that_fails_later(papers, monkeypatch):
    embeddings = Hashed()
    with Knowledge(papers, embeddings=embeddings) as kb:
        kb.wait()
        monkeypatch.setattr(embeddings, "embed_query", Failing().embed_query)
        assert kb.find("tapirs")[0].found_by == "words"
        assert "by words alone" in repr(kb)
        monkeypatch.undo()
        kb.refresh()
        assert kb.find("tapirs")[0].found_by == "both"
        assert kb.problems.empty


def test_what_is_embedded_says_what_it_stands_under(tmp_path):
    embeddings = Hashed()
    with Knowledge(embeddings=embeddings) as kb:
        kb.add(Note("## Food\n\nLeaves and fruit.", title="Tapirs")).wait()
        assert kb.find("food of tapirs")[0].text.endswith("Leaves and fruit.")
    assert embeddings.embedded == ["Tapirs\n## Food\n\nLeaves and fruit."]


def test_the_packaged_model_needs_no_network(papers):
    with Knowledge(papers) as kb:
        assert kb.wait().find("automobile")[0].location == "cars.txt"
        assert kb.find("animals in the water")[0].location == "tapirs.txt"
        assert "all embedded" in repr(kb)
        assert kb.problems.empty
