"""A knowledge base as its user sees it."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import deepnb
from deepnb.errors import KnowledgeError
from deepnb.knowledge import Knowledge, Note, Passage
from tests.knowledge.embedders import Hashed

LAKE = "# Lake Mirror\n\n## Oxygen\n\nIn August the deep water had 2.1 mg/l of oxygen.\n"
CARS = "A car needs fuel.\n\nAn engine that is cold needs more of it.\n"


@pytest.fixture
def papers(tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lake.md").write_text(LAKE)
    (folder / "cars.txt").write_text(CARS)
    return folder


@pytest.fixture
def kb(papers):
    with Knowledge(papers, embeddings=Hashed()) as kb:
        yield kb


def locations(found: list[Passage]) -> list[str]:
    return [passage.location for passage in found]


def test_what_is_found_says_where_it_stands(kb):
    found = kb.search("how much oxygen in the deep water", k=1)

    assert list(found.columns) == [
        *("rank", "score", "text", "title", "place", "page", "first", "last"),
        *("location", "kind", "found_by"),
    ]
    row = found.iloc[0]
    assert (row["location"], row["title"], row["kind"]) == ("lake.md", "Lake Mirror", "file")
    assert "2.1 mg/l" in row["text"]
    assert row["place"].startswith("line")
    assert LAKE.splitlines()[row["last"] - 1].endswith("oxygen.")


def test_meaning_is_found_when_words_are_not(kb):
    assert kb.wait().find("automobile")[0].found_by == "meaning"
    assert "car" in kb.find("automobile")[0].text
    assert {each.found_by for each in kb.find("car")[:1]} == {"both"}


def test_keywords_alone(papers):
    with Knowledge(papers, embeddings=False) as kb:
        assert kb.find("automobile") == []
        assert kb.wait().find("oxygen")[0].found_by == "words"
        assert kb.documents["embedded"].tolist() == [0, 0]


def test_files_that_change_move_or_go(papers, kb):
    (papers / "lake.md").write_text("Nothing but zebras.")
    (papers / "cars.txt").rename(papers / "engines.txt")
    (papers / "new.md").write_text("Penguins.")
    kb.refresh()

    assert not [each for each in kb.find("oxygen") if each.found_by != "meaning"]
    assert kb.wait().find("zebra")[0].location == "lake.md"
    assert kb.find("engine")[0].location == "engines.txt"
    assert kb.find("penguins")[0].location == "new.md"
    (papers / "new.md").unlink()
    kb.refresh()
    assert kb.documents["location"].tolist() == ["engines.txt", "lake.md"]


def test_what_is_unchanged_costs_nothing(papers):
    with Knowledge(papers, embeddings=Hashed()) as kb:
        before = kb.wait().documents
    (papers / "cars.txt").touch()
    (papers / "lake.md").rename(papers / "mirror.md")
    again = Hashed()
    with Knowledge(papers, embeddings=again) as kb:
        after = kb.wait().documents

    assert again.embedded == []
    assert after["location"].tolist() == ["cars.txt", "mirror.md"]
    assert after["read"].tolist() == before["read"].tolist()


def test_a_folder_can_be_moved_with_its_index(papers, tmp_path):
    Knowledge(papers, embeddings=Hashed()).wait().close()
    moved = papers.rename(tmp_path / "elsewhere")
    again = Hashed()
    with Knowledge(moved, embeddings=again) as kb:
        assert kb.wait().find("oxygen")[0].location == "lake.md"
    assert again.embedded == []


def test_notes_and_files_from_elsewhere_are_kept(papers, tmp_path):
    other = tmp_path / "other.md"
    other.write_text("Walruses.")
    note = Note("Ask Anna about the pump.", title="Tasks")
    with Knowledge(papers, embeddings=False) as kb:
        kb.add(note, other).add(note)
        assert kb.find("pump")[0].title == "Tasks"
    with Knowledge(papers, embeddings=False) as kb:
        assert kb.find("pump")[0].kind == "note"
        assert locations(kb.find("walruses")) == [str(other)]
        assert len(kb.documents) == 4
        kb.add(Note("Another text.", title="Tasks"))
        assert len(kb.find("tasks")) == 2


def test_removed_stays_out_until_it_is_added_again(papers, kb):
    kb.remove("lake.md")
    kb.refresh()
    assert "lake.md" not in locations(kb.find("oxygen"))
    kb.add(papers / "lake.md")
    assert locations(kb.find("oxygen"))[0] == "lake.md"
    assert (papers / "lake.md").read_text() == LAKE


def test_problems_are_named_and_the_rest_goes_on(papers):
    (papers / "empty.txt").touch()
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    with Knowledge(papers, embeddings=False) as kb:
        assert kb.find("oxygen")
        problems = kb.problems.set_index("location")["reason"]
        assert sorted(problems.index) == ["broken.pdf", "empty.txt"]
        assert "empty" in problems["empty.txt"]
        assert "2 documents, " in repr(kb)
        assert "2 problems: see kb.problems" in repr(kb)
        assert "broken.pdf" in kb._repr_html_()
        (papers / "empty.txt").write_text("Not any more.")
        kb.refresh()
        assert kb.problems["location"].tolist() == ["broken.pdf"]


def test_reading_a_document_in_order(papers, kb):
    (papers / "long.txt").write_text("".join(f"Sentence number {n}. " for n in range(200)))
    kb.refresh()
    text = " ".join(each.text for each in kb.read(papers / "long.txt"))
    places = [text.index(f"number {n}.") for n in range(200)]
    assert places == sorted(places)


def test_an_overview_for_a_planner(kb):
    lake = kb.overview()[1]
    assert (lake.title, lake.location) == ("Lake Mirror", "lake.md")
    assert any("Oxygen" in heading for heading in lake.headings)


class _Page(BaseHTTPRequestHandler):
    text = "Gorillas"

    def do_GET(self):
        body = f"<html><title>Apes</title><body><p>{self.text} live here.</p></body></html>"
        self.send_response(200 if self.text else 500)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/apes"
    server.shutdown()
    server.server_close()


def test_pages_are_really_fetched(address, monkeypatch):
    with Knowledge(embeddings=False, private=True) as kb:
        kb.add(address)
        assert kb.find("gorillas")[0].location == address
        monkeypatch.setattr(_Page, "text", "Lemurs")
        kb.add(address)
        assert kb.find("gorillas") == []
        assert kb.find("lemurs")[0].kind == "page"
        monkeypatch.setattr(_Page, "text", "")
        kb.add(address)
        assert kb.find("lemurs"), "what was read before is kept"
        assert kb.problems["location"].tolist() == [address]


def test_private_addresses_are_refused(address):
    with Knowledge(embeddings=False) as kb:
        kb.add(address)
        assert kb.find("gorillas") == []
        assert kb.problems["location"].tolist() == [address]


def test_an_index_of_several_files_at_a_place_of_ones_own(papers, tmp_path):
    files = [papers / "lake.md", papers / "cars.txt"]
    with Knowledge(files, at=tmp_path / "index", embeddings=False) as kb:
        assert locations(kb.find("oxygen")) == [str(papers / "lake.md")]
    assert not (papers / ".deepnb").exists()
    assert (tmp_path / "index").exists()


def test_a_folder_that_cannot_be_written(papers):
    (papers / ".deepnb").write_text("in the way")
    with Knowledge(papers, embeddings=False) as kb:
        assert kb.find("oxygen")
        assert "at= to keep it elsewhere" in repr(kb)
        assert kb.problems["location"].tolist() == ["index"]
    assert (papers / ".deepnb").read_text() == "in the way"


def test_names_and_words_that_are_odd(papers):
    odd = papers / "<b>caf\u00e9 \u2603.txt"
    odd.write_text("Snowmen \ud83d\ude00 & friends", encoding="utf-8", errors="surrogatepass")
    (papers / "inner").mkdir()
    (papers / "inner" / "deep.md").write_text("Narwhals.")
    (papers / "node_modules").mkdir()
    (papers / "node_modules" / "README.md").write_text("Narwhals.")
    (papers / "out.md").symlink_to("/etc/hostname")
    with Knowledge(papers, embeddings=False) as kb:
        assert locations(kb.find("snowmen")) == [odd.name]
        assert locations(kb.find("narwhals")) == ["inner/deep.md"]
        assert "out.md" not in kb.documents["location"].tolist()
        assert kb.find("\ud800 ' \" OR * (") == []
        assert kb.find("") == []
        assert "<b>caf" not in kb._repr_html_()


def test_errors_say_what_to_do(papers, kb):
    with pytest.raises(KnowledgeError, match="Make it, or pass"):
        Knowledge(papers / "nowhere")
    with pytest.raises(KnowledgeError, match="https://"):
        kb.add("nowhere.md")
    with pytest.raises(KnowledgeError, match=r"kb\.documents"):
        kb.remove("nowhere.md")
    with pytest.raises(ValueError, match="at least 1"):
        kb.find("oxygen", k=0)
    for k in (None, "3", 2.5):
        with pytest.raises(ValueError, match="a whole number"):
            kb.search("oxygen", k=k)
    with pytest.raises(KnowledgeError, match="Pass a text"):
        kb.search(5)
    with pytest.raises(TypeError, match="LangChain Embeddings"):
        Knowledge(papers, embeddings="MiniLM")
    kb.close()
    kb.close()
    with pytest.raises(KnowledgeError, match="closed"):
        kb.find("oxygen")
    assert repr(kb) == "Knowledge(closed)"


@pytest.mark.parametrize("nothing", ["", " \n", 5, None, b"lake.md"])
def test_what_is_no_path_adds_nothing(papers, kb, monkeypatch, nothing):
    monkeypatch.chdir(papers.parent)
    (papers.parent / "outside.md").write_text("Walruses.")
    for use in (kb.add, kb.read, kb.remove):
        with pytest.raises(KnowledgeError, match="Pass the path"):
            use(nothing)
    if nothing is not None:  # which is how to begin with nothing
        with pytest.raises(KnowledgeError, match="Pass the path"):
            Knowledge(nothing)
    assert sorted(kb.refresh().documents["location"]) == ["cars.txt", "lake.md"]


def test_search_waits_for_text_and_not_for_vectors(papers):
    slow = Hashed(pause=0.5)
    for number in range(300):
        (papers / f"{number}.txt").write_text(f"Document {number} is about tapirs.")
    with Knowledge(papers, embeddings=slow) as kb:
        assert len(kb.find("tapirs", k=400)) == 300
        assert kb.progress.phase != "ready"


def test_many_threads_may_search_while_documents_come_in(papers, kb):
    errors = []

    def search():
        try:
            for _ in range(20):
                assert kb.find("oxygen")
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20):
        kb.add(Note(f"Note number {number} about oxygen."))
    for thread in threads:
        thread.join()
    assert not errors
    assert len(kb.wait().documents) == 22


def test_it_is_at_hand():
    assert deepnb.Knowledge is Knowledge
    assert deepnb.Note is Note
