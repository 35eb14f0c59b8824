"""Files on their way in: cut off, doubled, damaged, too large, and on a full disk."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace

import pytest

from deepnb.errors import DeepnbError
from deepnb.exchange.uploads import KEPT, LARGEST, Sending, Uploads

CONTENT = random.Random(7).randbytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = Sending("copy", "/a.bin", len(CONTENT), "a.bin|300000|1", "", None, "/a.bin")


@pytest.fixture
def uploads(tmp_path) -> Uploads:
    return Uploads(tmp_path / "uploads")


def begun(uploads: Uploads, sending: Sending = FILE) -> str:
    uploads.begin(sending)
    return sending.id


def test_what_was_sent_in_chunks_is_the_file(uploads):
    assert uploads.begin(FILE) == 0
    for offset in range(0, len(CONTENT), 70_000):
        chunk = CONTENT[offset : offset + 70_000]
        assert uploads.add(FILE.id, offset, chunk) == offset + len(chunk)
    assert uploads.finish(FILE.id, SHA256).read_bytes() == CONTENT


def test_an_empty_file_needs_no_chunk(uploads):
    empty = replace(FILE, size=0)
    assert uploads.begin(empty) == 0
    assert uploads.finish(empty.id, hashlib.sha256(b"").hexdigest()).read_bytes() == b""


def test_chunks_that_come_twice_or_overlap_do_no_harm(uploads):
    name = begun(uploads)
    uploads.add(name, 0, CONTENT[:100_000])
    assert uploads.add(name, 0, CONTENT[:100_000]) == 100_000
    assert uploads.add(name, 50_000, CONTENT[50_000:200_000]) == 200_000
    assert uploads.add(name, 10, CONTENT[10:20]) == 200_000
    uploads.add(name, 200_000, CONTENT[200_000:])
    assert uploads.finish(name, SHA256).read_bytes() == CONTENT


def test_a_gap_is_refused_and_says_where_to_go_on(uploads):
    name = begun(uploads)
    uploads.add(name, 0, CONTENT[:1000])
    with pytest.raises(DeepnbError, match="from byte 1000"):
        uploads.add(name, 2000, CONTENT[2000:3000])
    assert uploads.begin(FILE) == 1000


def test_more_than_was_announced_is_refused(uploads):
    name = begun(uploads)
    with pytest.raises(DeepnbError, match="than the file is large"):
        uploads.add(name, 0, CONTENT + b"x")
    assert uploads.begin(FILE) == 0


def test_an_incomplete_file_is_not_finished(uploads):
    name = begun(uploads)
    uploads.add(name, 0, CONTENT[:1000])
    with pytest.raises(DeepnbError, match="1000 of 300000"):
        uploads.finish(name, SHA256)
    assert uploads.begin(FILE) == 1000


def test_a_damaged_file_is_thrown_away_and_can_be_sent_again(uploads, tmp_path):
    name = begun(uploads)
    uploads.add(name, 0, CONTENT[:-1] + b"?")
    with pytest.raises(DeepnbError, match="Send it again"):
        uploads.finish(name, SHA256)
    assert list((tmp_path / "uploads").iterdir()) == []
    assert uploads.begin(FILE) == 0


def test_what_was_cut_off_is_found_by_the_next_process(uploads, tmp_path):
    uploads.add(begun(uploads), 0, CONTENT[:123_456])
    later = Uploads(tmp_path / "uploads")
    with pytest.raises(DeepnbError, match="Begin it again"):
        later.add(FILE.id, 123_456, CONTENT[123_456:])
    assert later.begin(FILE) == 123_456
    later.add(FILE.id, 123_456, CONTENT[123_456:])
    assert later.finish(FILE.id, SHA256).read_bytes() == CONTENT


def test_another_content_or_place_is_another_upload(uploads):
    uploads.add(begun(uploads), 0, CONTENT[:1000])
    for other in ({"mark": "newer"}, {"path": "/b.bin"}, {"size": 5}, {"mapping": "m"}):
        assert uploads.begin(replace(FILE, **other)) == 0
    assert uploads.begin(replace(FILE, expects="0" * 64)) == 1000


def test_a_cancelled_upload_leaves_nothing(uploads, tmp_path):
    name = begun(uploads)
    uploads.add(name, 0, CONTENT[:1000])
    assert uploads.cancel(name) == (FILE, 1000)
    assert list((tmp_path / "uploads").iterdir()) == []
    for attempt in (lambda: uploads.add(name, 1000, b"x"), lambda: uploads.cancel(name)):
        with pytest.raises(DeepnbError, match="Begin it again"):
            attempt()


def test_too_large_a_file_is_refused_before_it_is_sent(uploads):
    with pytest.raises(DeepnbError, match="at most 4 GB"):
        uploads.begin(replace(FILE, size=LARGEST + 1))


def test_a_file_that_the_disk_has_no_room_for_is_refused_before_it_is_sent(uploads, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: _usage(1000))
    with pytest.raises(DeepnbError, match="disk is full"):
        uploads.begin(FILE)


def _usage(free: int):
    return type("Usage", (), {"free": free})()


def test_old_parts_are_swept_and_new_ones_are_not(uploads, tmp_path):
    old, new = FILE, replace(FILE, path="/new.bin")
    for each in (old, new):
        uploads.add(begun(uploads, each), 0, b"begun")
    long_ago = time.time() - KEPT - 10
    os.utime(tmp_path / "uploads" / f"{old.id}.part", (long_ago, long_ago))
    later = Uploads(tmp_path / "uploads")
    assert (later.begin(old), later.begin(new)) == (0, 5)


def test_what_has_come_is_news_once_also_to_the_next_process(uploads, tmp_path):
    name = begun(uploads)
    assert uploads.news(name) == 0
    uploads.add(name, 0, CONTENT[:1000])
    assert uploads.news(name, least=5000) == 1000, "the first is news, however little"
    uploads.add(name, 1000, CONTENT[1000:3000])
    assert (uploads.news(name, least=5000), uploads.cut_off()) == (0, [])
    later = Uploads(tmp_path / "uploads")
    assert later.cut_off() == [(FILE, 2000)]
    assert later.cut_off() == []
    later.begin(FILE)
    later.add(FILE.id, 3000, CONTENT[3000:])
    assert later.news(FILE.id) == len(CONTENT) - 3000
    later.cancel(FILE.id)
    assert list((tmp_path / "uploads").iterdir()) == []


def test_two_threads_that_send_the_same_file_do_not_mix_it_up(uploads):
    name = begun(uploads)
    problems = []

    def send():
        try:
            for offset in range(0, len(CONTENT), 1000):
                uploads.add(name, offset, CONTENT[offset : offset + 1000])
        except DeepnbError as error:
            problems.append(error)

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert uploads.finish(name, SHA256).read_bytes() == CONTENT


def test_a_process_killed_in_the_middle_loses_nothing_that_it_has_acknowledged(uploads, tmp_path):
    child = _child(
        tmp_path,
        """
        uploads.begin(FILE)
        for offset in range(0, len(CONTENT), 1000):
            print(uploads.add(FILE.id, offset, CONTENT[offset : offset + 1000]), flush=True)
        """,
    )
    acknowledged = 0
    for line in child.stdout:
        acknowledged = int(line)
        if acknowledged >= 50_000:
            break
    child.send_signal(signal.SIGKILL)
    acknowledged = int((child.communicate()[0].split() or [acknowledged])[-1])
    received = uploads.begin(FILE)
    assert received >= acknowledged
    uploads.add(FILE.id, received, CONTENT[received:])
    assert uploads.finish(FILE.id, SHA256).read_bytes() == CONTENT


def test_a_full_disk_is_told_and_what_has_arrived_is_kept(uploads, tmp_path):
    child = _child(
        tmp_path,
        """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_500, resource.RLIM_INFINITY))
        uploads.begin(FILE)
        said = []
        for offset in range(0, len(CONTENT), 1000):
            try:
                uploads.add(FILE.id, offset, CONTENT[offset : offset + 1000])
            except DeepnbError as error:
                said.append(str(error))
                break
        print(json.dumps([uploads.begin(FILE), said]))
        """,
    )
    received, said = json.loads(child.communicate()[0])
    assert "disk is full" in said[0]
    assert received == uploads.begin(FILE) == 150_000
    uploads.add(FILE.id, received, CONTENT[received:])
    assert uploads.finish(FILE.id, SHA256).read_bytes() == CONTENT


def _child(folder, code: str) -> subprocess.Popen[str]:
    start = f"""
import json
from pathlib import Path
from deepnb.errors import DeepnbError
from deepnb.exchange.uploads import Uploads
from tests.test_uploads import CONTENT, FILE
uploads = Uploads(Path({str(folder / "uploads")!r}))
"""
    command = [sys.executable, "-c", start + textwrap.dedent(code)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
