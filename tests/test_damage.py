"""Whatever is wrong with the disk is told, with what to do, and nothing is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import deepnb
from deepnb import Budget, Session
from deepnb.errors import (
    DamagedThreadError,
    NewerThreadError,
    StorageError,
    ThreadError,
)
from deepnb.record import read_events
from deepnb.testing import ScriptedModel
from tests.sessions import ask, echo, folder_of, kinds, listed, opening
from tests.storage_child import MOMENTS


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def thread(tmp_path_factory):
    """A workspace with a thread of three questions."""
    workspace = tmp_path_factory.mktemp("whole")
    model = ScriptedModel(lambda messages: "a rather long answer " * 20)
    with Session("deep", model=model, workspace=workspace) as s:
        for number in (1, 2, 3):
            ask(s, f"question {number}")
    return workspace


@pytest.fixture
def copy(thread, tmp_path):
    """A copy of it, beside a thread that nothing happens to."""
    shutil.copytree(thread, tmp_path, dirs_exist_ok=True)
    with Session("deep", model=ScriptedModel(echo), workspace=tmp_path, thread="sound") as s:
        ask(s)
    return folder_of(tmp_path)


def overwrite(path, at, data):
    content = bytearray(path.read_bytes())
    content[at : at + len(data)] = data
    path.write_bytes(content)


DAMAGES = {
    "random": lambda path: path.write_bytes(random.Random(1).randbytes(20_000)),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "header only": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "header": lambda path: overwrite(path, 0, b"not a database at all"),
}


@pytest.mark.parametrize("file", ["record.sqlite", "checkpoints.sqlite"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_thread_is_refused_and_nothing_is_deleted(session, tmp_path, copy, file, damage):
    DAMAGES[damage](copy / file)
    damaged = (copy / file).read_bytes()
    with pytest.raises(DamagedThreadError, match="Nothing was deleted") as refused:
        session(echo)
    assert "forget" in str(refused.value)
    assert (copy / file).read_bytes() == damaged
    assert listed(tmp_path)["sound"] == "done"
    assert ask(session(echo, thread="sound")).status == "done"
    deepnb.forget("main", tmp_path)
    assert session(echo).status == "idle"


def test_a_damaged_record_is_listed_as_damaged(tmp_path, copy):
    DAMAGES["half"](copy / "record.sqlite")
    assert listed(tmp_path) == {"main": "damaged", "sound": "done"}
    with pytest.raises(DamagedThreadError):
        read_events(tmp_path, "main")


@pytest.mark.parametrize("file", ["record.sqlite", "checkpoints.sqlite"])
def test_whatever_is_wrong_in_the_middle_of_a_file_is_explained(session, tmp_path, copy, file):
    whole = (copy / file).read_bytes()
    outcomes = set()
    for seed in range(25):
        chance = random.Random(seed)
        length = chance.choice([1, 20, 400])
        (copy / file).write_bytes(whole)
        overwrite(copy / file, chance.randrange(100, len(whole) - length), chance.randbytes(length))
        try:
            session(echo).close()
        except ThreadError as error:
            outcomes.add(type(error))
        assert listed(tmp_path)["sound"] == "done", seed
        for rest in copy.glob(f"{file}-*"):
            rest.unlink()
    assert outcomes <= {DamagedThreadError}


@pytest.mark.parametrize(
    "body", ["{", "[1]", "[]", "null", '"text"', "[1, 2, 3, 4, 5, 6, 7, 8, 9, 0]"]
)
def test_an_event_that_is_none_is_damage(session, tmp_path, copy, body):
    with sqlite3.connect(copy / "record.sqlite") as db:
        db.execute("UPDATE event SET body = ? WHERE seq = (SELECT max(seq) FROM event)", (body,))
    db.close()
    with pytest.raises(DamagedThreadError, match="Nothing was deleted"):
        session(echo)
    assert listed(tmp_path) == {"main": "damaged", "sound": "done"}


@pytest.mark.parametrize("table", ["event", "ask", "about"])
def test_a_table_that_is_missing_is_damage(session, tmp_path, copy, table):
    with sqlite3.connect(copy / "record.sqlite") as db:
        db.execute(f"DROP TABLE {table}")
    db.close()
    with pytest.raises(DamagedThreadError, match="Nothing was deleted"):
        session(echo)
    assert listed(tmp_path) == {"main": "damaged", "sound": "done"}


@pytest.mark.parametrize("empty", [True, False])
def test_a_thread_without_its_record_still_has_its_conversation(session, copy, empty):
    (copy / "record.sqlite").unlink()
    if empty:
        (copy / "record.sqlite").touch()
    s = session(echo)
    texts = list(s.messages.text)
    assert texts[::2] == ["question 1", "question 2", "question 3"]
    assert texts == [m.text for m in s.state["messages"]]
    assert ask(s, "four").status == "done"


@pytest.mark.parametrize("empty", [True, False])
def test_a_thread_without_its_checkpoints_does_not_pretend_to_remember(session, copy, empty):
    (copy / "checkpoints.sqlite").unlink()
    if empty:
        (copy / "checkpoints.sqlite").touch()
    try:
        s = session(echo)
    except DamagedThreadError:
        return
    assert "remember" in kinds(s, "warning")[-1].data["text"]


def test_a_thread_made_by_a_newer_version_is_left_alone(session, tmp_path, copy):
    with sqlite3.connect(copy / "record.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = (copy / "record.sqlite").read_bytes()
    for _ in range(2):
        with pytest.raises(NewerThreadError, match="pip install --upgrade deepnb"):
            session(echo)
    assert (copy / "record.sqlite").read_bytes() == before
    assert listed(tmp_path) == {"main": "newer", "sound": "done"}
    with pytest.raises(NewerThreadError):
        read_events(tmp_path, "main")
    assert ask(session(echo, thread="another")).status == "done"


@pytest.mark.parametrize("place", [".deepnb", ".deepnb/threads", ".deepnb/threads/main"])
def test_a_file_where_a_folder_should_be(session, tmp_path, place):
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("mine")
    with pytest.raises(StorageError, match="persist=False"):
        session(echo)
    assert (tmp_path / place).read_text() == "mine"
    assert listed(tmp_path) == {}
    assert ask(session(echo, persist=False)).status == "done"


@pytest.mark.parametrize("file", ["record.sqlite", "checkpoints.sqlite", "lock", "budget.sqlite"])
def test_a_folder_where_a_file_should_be(session, tmp_path, file):
    (folder_of(tmp_path) / file).mkdir(parents=True)
    with pytest.raises(StorageError, match="persist=False"):
        session(echo, budget=Budget(calls=9))
    assert ask(session(echo, thread="another", budget=Budget(calls=9))).status == "done"


def test_a_thread_that_could_not_be_opened_is_nobodys(session, copy):
    whole = (copy / "checkpoints.sqlite").read_bytes()
    DAMAGES["half"](copy / "checkpoints.sqlite")
    before = threading.active_count()
    with pytest.raises(DamagedThreadError):
        session(echo)
    assert threading.active_count() == before
    (copy / "checkpoints.sqlite").write_bytes(whole)
    assert len(session(echo).runs) == 3


# A folder or disk that cannot be written to


def in_child(name, workspace):
    """Run something of `tests.storage_child`; anything it does not expect fails the test."""
    command = [sys.executable, "-m", "tests.storage_child", name, str(workspace)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_read_only_folder_is_told_and_can_be_looked_at(tmp_path_factory):
    workspace = tmp_path_factory.mktemp("readonly")
    for above in workspace.parents:  # pytest's own folders are closed to other users
        if above.is_relative_to(tmp_path_factory.getbasetemp().parent) and os.getuid() == 0:
            above.chmod(0o755)
    found = in_child("read_only", workspace)
    for use in ("open", "open new", "forget"):
        assert found[use].startswith("StorageError"), use
    assert "persist=False" in found["open"]
    assert found["memory"] == "answer to one"
    assert found["threads"] == {"main": "done", "waits": "waiting"}
    assert found["events"] > 5


@pytest.fixture(scope="module")
def full_disk(tmp_path_factory):
    return in_child("full_disk", tmp_path_factory.mktemp("full"))


CONVERSATION = ["one", "answer to one", "write", "answer to write", "last", "answer to last"]


@pytest.mark.parametrize(
    "moment", [*MOMENTS, "asking", "answering", "opening", "closing", "forking"]
)
def test_a_full_disk_is_told_and_the_session_goes_on_when_there_is_space(full_disk, moment):
    found = full_disk[moment]
    ended = ("failed", "waiting", "done", "idle", "stopped")
    assert found["status"] in ended  # it does not hang
    if moment in MOMENTS:
        assert found["hit"] == [moment]
        assert found["grown"] == 0  # nor does it go round in circles
    if moment not in ("run_ended", "closing"):  # all is done by then, and nothing is missing
        assert "disk space" in str(found["said"])
    # Nothing is lost, and nothing is there twice.
    assert found["last"] == found["again is"] == "done"
    assert found["here"] == {"shown": CONVERSATION, "known": CONVERSATION}
    assert found["again"] == found["here"]
    assert found["file"] == "written\n"


def test_a_fork_that_found_no_space_leaves_its_name_free(full_disk):
    assert full_disk["forking"]["forked"] == CONVERSATION[:4]
