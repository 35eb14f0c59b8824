"""A build that is killed goes on where it stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from deepnb.knowledge import Knowledge
from tests.knowledge.embedders import Hashed

CHILD = """
    import sys
    from deepnb.knowledge import Knowledge
    from tests.knowledge.embedders import Hashed

    kb = Knowledge(sys.argv[1], embeddings=Hashed(pause=0.05, say="batch"))
    kb.wait()
"""


@pytest.fixture
def papers(tmp_path):
    for number in range(60):
        text = "".join(f"Sentence {n} of document {number} is here. " for n in range(100))
        (tmp_path / f"{number:02}.txt").write_text(text)
    return tmp_path


def kill_after(papers, times: int) -> None:
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(papers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            times -= line.strip() == "batch"
            if not times:
                os.kill(child.pid, signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL


def test_killed_while_embedding(papers):
    kill_after(papers, 4)
    with Knowledge(papers, embeddings=False) as kb:
        before = kb.documents
        done = int(before["embedded"].sum())
        assert done >= 3 * 64, "what was embedded before the kill is there"
    rest = Hashed()
    with Knowledge(papers, embeddings=rest) as kb:
        kb.wait()
        after = kb.documents
    assert len(rest.embedded) == int(after["passages"].sum()) - done
    assert after["read"].tolist() == before["read"].tolist(), "nothing was read again"


def test_killed_again_and_again_while_reading(papers):
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(papers)]
    index = papers / ".deepnb" / "knowledge" / "index.sqlite-wal"
    for size in (1, 600_000):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while child.poll() is None and not (index.exists() and index.stat().st_size >= size):
            time.sleep(0.005)
        child.kill()
        child.wait()
    with Knowledge(papers, embeddings=False) as kb:
        documents = kb.documents
        assert len(documents) == 60
        assert documents["passages"].nunique() <= 2, "no document is there by half"
        assert len(kb.find("document 59", k=1000)) > 0
        whole = " ".join(each.text for each in kb.read("59.txt"))
        assert all(f"Sentence {n} of" in whole for n in range(100))
