"""An index that is damaged, of another version, or used by two at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
import time

import pytest
from filelock import FileLock

from deepnb.errors import KnowledgeError
from deepnb.knowledge import Knowledge, Note
from tests.knowledge.embedders import Hashed


@pytest.fixture
def papers(tmp_path):
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text(f"Document {number} is about tapirs. " * 30)
    return tmp_path


@pytest.fixture
def index(papers):
    with Knowledge(papers, embeddings=Hashed()) as kb:
        kb.add(Note("Feed the okapi.", title="Zoo")).wait()
    return papers / ".deepnb" / "knowledge" / "index.sqlite"


def test_a_damaged_index_is_set_aside_and_made_anew(papers, index):
    index.write_bytes(b"this is no database" * 1000)
    with Knowledge(papers, embeddings=False) as kb:
        assert len(kb.find("tapirs", k=100)) > 40
        assert kb.find("okapi"), "a note is nowhere else, so it is kept apart"
        assert "damaged" in repr(kb)
    assert (index.parent / "damaged-1" / index.name).read_bytes().startswith(b"this is no")


def test_an_index_that_is_damaged_inside(papers, index):
    content = bytearray(index.read_bytes())
    for page in range(2, len(content) // 4096):
        content[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    index.write_bytes(content)
    with Knowledge(papers, embeddings=Hashed()) as kb:
        assert kb.find("tapirs")
        assert kb.wait().find("okapi")
        assert "damaged" in repr(kb)
        kb.refresh()
        assert len(kb.documents) == 41


def test_an_index_of_a_newer_deepnb_is_left_alone(papers, index):
    with sqlite3.connect(index) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = index.read_bytes()
    with pytest.raises(KnowledgeError, match="pip install --upgrade deepnb"):
        Knowledge(papers)
    assert index.read_bytes() == before


def test_an_older_index_is_made_anew(papers, index):
    with sqlite3.connect(index) as connection:
        connection.execute("DROP TABLE posting")
        connection.execute("PRAGMA user_version = 0")
    connection.close()
    with Knowledge(papers, embeddings=False) as kb:
        assert kb.find("tapirs")
        assert kb.find("okapi")


def test_two_in_one_process_share_an_index(papers):
    first, second = Hashed(pause=0.02), Hashed(pause=0.02)
    with Knowledge(papers, embeddings=first) as one, Knowledge(papers, embeddings=second) as two:
        one.wait()
        two.wait()
        assert sorted(first.embedded + second.embedded) == sorted(
            set(first.embedded + second.embedded)
        ), "no passage was embedded twice"
        one.add(Note("Feed the okapi."))
        assert one.wait().find("okapi")
        assert two.find("okapi")[0].kind == "note", "what one has added the other finds"
        one.remove(two.find("okapi")[0].location)
        assert not [each for each in two.find("okapi") if each.kind == "note"]


def test_who_finds_the_index_in_use_reads_it_and_says_so(papers, index):
    with FileLock(index.parent / "lock"), Knowledge(papers, embeddings=False) as kb:
        while kb.progress.phase != "waiting":
            time.sleep(0.01)
        assert "another process" in str(kb.progress)
        assert "another process" in repr(kb)
        assert kb.find("tapirs"), "what is there can be read"


WRITER = """
    import sys
    from deepnb.knowledge import Knowledge, Note
    from tests.knowledge.embedders import Hashed
    with Knowledge(sys.argv[1], embeddings=Hashed()) as kb:
        for number in range(10):
            kb.add(Note(f"Note {number} of {sys.argv[2]}"))
        kb.wait()
"""


def test_two_processes_write_and_nothing_is_lost(papers):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(papers)]
    children = [subprocess.Popen([*command, name]) for name in ("Anna", "Bert")]
    assert [child.wait(timeout=60) for child in children] == [0, 0]
    with Knowledge(papers, embeddings=Hashed()) as kb:
        documents = kb.wait().documents
    assert len(documents) == 60
    assert (documents["passages"] == documents["embedded"]).all()
    with sqlite3.connect(papers / ".deepnb" / "knowledge" / "index.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
