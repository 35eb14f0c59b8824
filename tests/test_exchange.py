"""What a page can have done in a workspace, and what no page can."""

from __future__ import annotations

import errno
import gc
import hashlib
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from itertools import pairwise
from pathlib import Path

import pytest

from deepnb.errors import ChangedError, DeepnbError, PathError
from deepnb.exchange import Exchange, Seen, exchange_of
from deepnb.exchange.uploads import KEPT, Sending
from deepnb.files import Folder


@pytest.fixture
def root(tmp_path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("outside")
    return root


@pytest.fixture
def exchange(root) -> Exchange:
    return Exchange(Folder(root), root / ".deepnb")


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sending(path: str, content: bytes, **fields) -> Sending:
    given = {"purpose": "copy", "expects": "", "mapping": None, "mark": sha(content), **fields}
    return Sending(path=path, size=len(content), source=path, **given)


def sent(exchange: Exchange, path: str, content: bytes, **fields):
    upload, received = exchange.begin_upload(sending(path, content, **fields))
    exchange.add_to_upload(upload, received, content[received:])
    return exchange.finish_upload(upload, sha(content))


def paths(exchange: Exchange) -> list[str]:
    return [file["path"] for file in exchange.list()["files"]]


def snapshot(top: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else None
        for path in sorted(top.rglob("*"))
        if ".deepnb" not in path.parts
    }


def seen(files: dict[str, bytes]) -> list[Seen]:
    return [Seen(path, len(content), sha(content)) for path, content in files.items()]


def mapped(exchange: Exchange, source="/notes", target="/notes", **fields):
    given = {"is_folder": True, "mode": "sync", **fields}
    return exchange.map("me", source, target, **given)


def done(comparison) -> dict[str, str]:
    return {step["path"]: step["do"] for step in comparison["steps"]}


# Looking


def test_everything_is_listed_but_the_record(exchange, root):
    (root / "b" / "deep").mkdir(parents=True)
    (root / "b" / "deep" / "x.md").write_text("hello")
    (root / ".hidden").write_text("")
    (root / ".123-0123456789abcdef.tmp").write_text("being written")
    exchange.make_record()
    listing = exchange.list()
    assert [(f["path"], f["is_dir"], f["size"]) for f in listing["files"]] == [
        ("/.hidden", False, 0),
        ("/b", True, 0),
        ("/b/deep", True, 0),
        ("/b/deep/x.md", False, 5),
    ]
    assert not listing["truncated"]


def test_a_listing_has_an_end(exchange, root, monkeypatch):
    monkeypatch.setattr("deepnb.exchange.workspace.MOST", 3)
    (root / "a").mkdir()
    for number in range(5):
        (root / "a" / f"{number}").write_text("")
    (root / "z").write_text("")
    listing = exchange.list()
    assert listing["truncated"]
    assert [file["path"] for file in listing["files"]] == ["/a", "/a/0", "/z"]


def test_links_lead_nowhere_else(exchange, root, tmp_path):
    (root / "real").mkdir()
    (root / "real" / "x").write_text("1")
    (root / "to-file").symlink_to(root / "real" / "x")
    (root / "to-folder").symlink_to(root / "real")
    (root / "circle").symlink_to(root)
    (root / "out").symlink_to(tmp_path / "secret.txt")
    (root / "out-folder").symlink_to(tmp_path)
    exchange.make_record()
    (root / "record").symlink_to(root / ".deepnb")
    os.mkfifo(root / "pipe")
    assert paths(exchange) == ["/real", "/real/x", "/to-file"]
    for path in ("/out", "/out-folder/secret.txt", "/record/.gitignore", "/pipe"):
        with pytest.raises(PathError):
            exchange.chunk(path, 0, 10, "")
    for path in ("/out", "/out-folder/new", "/record/new"):
        with pytest.raises(PathError):
            exchange.begin_upload(sending(path, b"x"))
    with pytest.raises(PathError):
        mapped(exchange, target="/out-folder/deep")


HOSTILE = ["/../secret.txt", "../secret.txt", "/a/../../secret.txt", "/.deepnb/mappings.sqlite"]
HOSTILE += ["/.DeepNB", "/x/.deepnb/y", "a\\..\\b", "/a\0b", "C:/x", "~/x", "/" + "x" * 256, "/"]
HOSTILE += ["/a\u202eb", "/\uff0e\uff0e/secret.txt"]


@pytest.mark.parametrize("path", HOSTILE)
def test_no_message_reaches_outside_the_workspace(exchange, root, tmp_path, path):
    (root / "a").write_text("mine")
    exchange.make_record()
    before = snapshot(tmp_path)
    for attempt in (
        lambda: exchange.make_folder(path),
        lambda: exchange.move("/a", path),
        lambda: exchange.move(path, "/b"),
        lambda: exchange.delete(path),
        lambda: exchange.chunk(path, 0, 10, ""),
        lambda: exchange.hash_of(path),
        lambda: exchange.begin_upload(sending(path, b"x")),
        lambda: exchange.begin_upload(sending(path, b"x", purpose="index")),
        lambda: exchange.path_of(path),
    ):
        with pytest.raises(DeepnbError):
            attempt()
    assert exchange.carried(path) is None
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("deleted", ["", "..", "../uploads", "0" * 32, "a" * 31 + "/"])
def test_no_made_up_id_restores_anything(exchange, root, deleted):
    for place in (root / ".deepnb" / "trash", root / ".deepnb" / "uploads"):
        place.mkdir(parents=True)
        (place / "path.json").write_text('"/a"')
    (root / ".deepnb" / "path.json").write_text('"/a"')
    with pytest.raises(DeepnbError, match="too long ago"):
        exchange.restore(deleted)


# Changing


def test_folders_are_made_and_files_moved(exchange, root):
    exchange.make_folder("/a/b")
    (root / "x.md").write_text("x")
    exchange.move("/x.md", "/a/b/y.md")
    exchange.move("/a", "/c")
    assert snapshot(root) == {"c": None, "c/b": None, "c/b/y.md": b"x"}


def test_nothing_is_overwritten_by_a_move(exchange, root):
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    (root / "folder").mkdir()
    (root / "dangling").symlink_to(root / "nothing")
    before = snapshot(root)
    for to in ("/b", "/folder", "/dangling"):
        with pytest.raises(PathError, match="already something"):
            exchange.move("/a", to)
    with pytest.raises(PathError, match="already something"):
        exchange.make_folder("/folder")
    with pytest.raises(PathError, match="into itself"):
        exchange.move("/folder", "/folder/in/it")
    with pytest.raises(PathError, match="goes through a file|where there is a file"):
        exchange.move("/a", "/b/c")
    with pytest.raises(PathError, match="not in the workspace"):
        exchange.move("/gone", "/new")
    assert snapshot(root) == before


@pytest.mark.parametrize("name", ["😀.md", "ü" * 127, "a.b..c", "NUL.txt", "with space "])
def test_odd_names_are_just_names(exchange, root, name):
    sent(exchange, f"/{name}", b"1")
    exchange.move(f"/{name}", "/plain")
    exchange.move("/plain", f"/in/{name}")
    exchange.restore(exchange.delete(f"/in/{name}"))
    assert paths(exchange) == ["/in", f"/in/{name}"]
    assert exchange.chunk(f"/in/{name}", 0, 10, "").data == b"1"


def test_a_deletion_can_be_undone(exchange, root):
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "x").write_text("x")
    before = snapshot(root)
    deleted = exchange.delete("/a")
    assert snapshot(root) == {}
    assert exchange.restore(deleted) == "/a"
    assert snapshot(root) == before
    with pytest.raises(DeepnbError, match="is back already"):
        exchange.restore(deleted)


def test_a_restored_file_overwrites_nothing_and_can_be_restored_later(exchange, root):
    (root / "a").write_text("old")
    deleted = exchange.delete("/a")
    (root / "a").write_text("new")
    with pytest.raises(PathError, match="already something"):
        exchange.restore(deleted)
    exchange.move("/a", "/b")
    exchange.restore(deleted)
    assert snapshot(root) == {"a": b"old", "b": b"new"}


def test_the_folder_of_a_restored_file_comes_back_too(exchange, root):
    (root / "a").mkdir()
    (root / "a" / "x").write_text("x")
    first, second = exchange.delete("/a/x"), exchange.delete("/a")
    exchange.restore(first)
    assert snapshot(root) == {"a": None, "a/x": b"x"}
    with pytest.raises(PathError, match="already something"):
        exchange.restore(second)


def test_to_delete_a_link_leaves_what_it_leads_to(exchange, root, tmp_path):
    (root / "link").symlink_to(tmp_path / "secret.txt")
    deleted = exchange.delete("/link")
    assert (tmp_path / "secret.txt").read_text() == "outside"
    assert not (root / "link").is_symlink()
    exchange.restore(deleted)
    assert (root / "link").is_symlink()


def test_what_was_deleted_long_ago_is_let_go_of(exchange, root):
    for name in ("old", "new"):
        (root / name).write_text(name)
    old, new = exchange.delete("/old"), exchange.delete("/new")
    long_ago = time.time() - KEPT - 10
    os.utime(root / ".deepnb" / "trash" / old, (long_ago, long_ago))
    later = Exchange(Folder(root), root / ".deepnb")
    with pytest.raises(DeepnbError, match="too long ago"):
        later.restore(old)
    later.restore(new)
    assert snapshot(root) == {"new": b"new"}


def test_what_is_moved_to_another_disk_is_copied(exchange, root, monkeypatch):
    def refuse(self, target):
        raise OSError(errno.EXDEV, "another disk")

    (root / "a").mkdir()
    (root / "a" / "x").write_text("x")
    monkeypatch.setattr(Path, "rename", refuse)
    exchange.move("/a", "/b")
    exchange.restore(exchange.delete("/b"))
    assert snapshot(root) == {"b": None, "b/x": b"x"}


# Reading


def test_a_file_is_read_in_parts_of_one_version(exchange, root):
    (root / "a").write_bytes(b"0123456789")
    first = exchange.chunk("/a", 0, 4, "")
    assert (first.size, first.data) == (10, b"0123")
    assert exchange.chunk("/a", 8, 4, first.version).data == b"89"
    assert exchange.chunk("/a", 20, 4, first.version).data == b""
    (root / "a").write_bytes(b"012345678x")
    os.utime(root / "a", (5, 5))
    with pytest.raises(ChangedError, match="changed while it was read"):
        exchange.chunk("/a", 4, 4, first.version)
    with pytest.raises(PathError, match="not in the workspace"):
        exchange.chunk("/gone", 0, 4, "")
    (root / "folder").mkdir()
    with pytest.raises(PathError, match="is a folder"):
        exchange.chunk("/folder", 0, 4, "")


# Uploading


def test_an_upload_ends_where_it_belongs(exchange, root):
    stored = sent(exchange, "/new/folder/a.bin", b"hello")
    assert (stored.place, stored.sha256) == (root / "new/folder/a.bin", sha(b"hello"))
    assert snapshot(root)["new/folder/a.bin"] == b"hello"
    assert list((root / ".deepnb" / "uploads").iterdir()) == []
    assert (root / ".deepnb" / ".gitignore").read_text() == "*\n"


def test_an_upload_replaces_only_what_it_expects(exchange, root):
    (root / "a").write_bytes(b"theirs")
    with pytest.raises(ChangedError, match="has changed"):
        sent(exchange, "/a", b"mine")
    with pytest.raises(ChangedError, match="has changed"):
        sent(exchange, "/a", b"mine", expects=sha(b"older"))
    with pytest.raises(ChangedError, match="was deleted"):
        sent(exchange, "/gone", b"mine", expects=sha(b"older"))
    assert snapshot(root) == {"a": b"theirs"}
    # What was sent is kept: it need not be sent again once the reader has decided.
    upload, received = exchange.begin_upload(sending("/a", b"mine", expects=sha(b"theirs")))
    assert received == 4
    exchange.finish_upload(upload, sha(b"mine"))
    assert snapshot(root) == {"a": b"mine"}


def test_an_upload_that_was_stored_before_its_reply_was_lost_is_no_conflict(exchange, root):
    sent(exchange, "/a", b"mine")
    sent(exchange, "/a", b"mine")
    assert snapshot(root) == {"a": b"mine"}
    assert list((root / ".deepnb" / "uploads").iterdir()) == []


def test_a_file_keeps_its_permissions(exchange, root):
    (root / "secret").write_bytes(b"old")
    (root / "secret").chmod(0o600)
    (root / "plain").write_bytes(b"")
    sent(exchange, "/secret", b"new", expects=sha(b"old"))
    sent(exchange, "/fresh", b"new")
    assert (root / "secret").stat().st_mode & 0o777 == 0o600
    assert (root / "fresh").stat().st_mode == (root / "plain").stat().st_mode
    assert (root / ".deepnb" / "uploads").stat().st_mode & 0o077 == 0


def test_a_read_only_file_is_left_alone_and_the_part_kept(exchange, root):
    (root / "a").write_bytes(b"old")
    (root / "a").chmod(0o444)
    with pytest.raises(PathError, match="read-only"):
        sent(exchange, "/a", b"new", expects=sha(b"old"))
    (root / "a").chmod(0o644)
    upload, received = exchange.begin_upload(sending("/a", b"new", expects=sha(b"old")))
    assert received == 3
    exchange.finish_upload(upload, sha(b"new"))
    assert snapshot(root) == {"a": b"new"}


def earlier(root, path: str) -> list[bytes]:
    """Give what is kept of the earlier versions of a file, the oldest first."""
    return [each.read_bytes() for each in sorted((root / ".deepnb" / "replaced" / path).iterdir())]


@pytest.mark.parametrize("can_link", [True, False])
def test_what_an_upload_replaces_is_kept(exchange, root, monkeypatch, can_link):
    if not can_link:
        monkeypatch.setattr("os.link", _another_disk)
    contents = [b"%d" % number for number in range(14)]
    sent(exchange, "/in/a.md", contents[0])
    for before, after in pairwise(contents):
        sent(exchange, "/in/a.md", after, expects=sha(before))
    assert snapshot(root) == {"in": None, "in/a.md": b"13"}
    assert earlier(root, "in/a.md") == contents[3:13], "the last ten"
    (root / "in" / "a.md").write_bytes(b"by a program")
    assert earlier(root, "in/a.md")[-1] == b"12"


def _another_disk(*_args):
    raise OSError(errno.EXDEV, "another disk")


def test_what_was_replaced_long_ago_is_let_go_of(exchange, root, monkeypatch):
    for name in ("/old", "/in/new"):
        sent(exchange, name, b"1")
    sent(exchange, "/old", b"2", expects=sha(b"1"))
    now = time.time_ns()
    monkeypatch.setattr("time.time_ns", lambda: now + (KEPT + 10) * 10**9)
    sent(exchange, "/in/new", b"2", expects=sha(b"1"))
    Exchange(Folder(root), root / ".deepnb")
    assert earlier(root, "in/new") == [b"1"]
    assert not (root / ".deepnb" / "replaced" / "old").exists()


def test_an_upload_does_not_replace_a_folder(exchange, root):
    (root / "a").mkdir()
    with pytest.raises(PathError, match="is a folder"):
        exchange.begin_upload(sending("/a", b"x"))
    upload, _ = exchange.begin_upload(sending("/b", b"x"))
    exchange.add_to_upload(upload, 0, b"x")
    (root / "b").mkdir()
    with pytest.raises(PathError, match="is a folder"):
        exchange.finish_upload(upload, sha(b"x"))


def test_a_link_that_appears_meanwhile_leads_nowhere(exchange, root, tmp_path):
    upload, _ = exchange.begin_upload(sending("/a/b", b"x"))
    exchange.add_to_upload(upload, 0, b"x")
    (root / "a").symlink_to(tmp_path)
    with pytest.raises(PathError, match="outside"):
        exchange.finish_upload(upload, sha(b"x"))
    assert not (tmp_path / "b").exists()


def test_an_upload_to_another_disk_is_all_or_nothing_too(exchange, root, monkeypatch):
    replace = Path.replace

    def refuse(self, target):
        if self.suffix == ".part":
            raise OSError(errno.EXDEV, "another disk")
        return replace(self, target)

    (root / "a").write_bytes(b"old")
    (root / "a").chmod(0o640)
    monkeypatch.setattr(Path, "replace", refuse)
    sent(exchange, "/a", b"hello", expects=sha(b"old"))
    assert snapshot(root) == {"a": b"hello"}
    assert (root / "a").stat().st_mode & 0o777 == 0o640
    assert list((root / ".deepnb" / "uploads").iterdir()) == []
    upload, _ = exchange.begin_upload(sending("/b", b"x"))
    exchange.add_to_upload(upload, 0, b"x")
    monkeypatch.setattr(
        "shutil.copymode", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, ""))
    )
    with pytest.raises(PathError, match="disk is full"):
        exchange.finish_upload(upload, sha(b"x"))
    assert snapshot(root) == {"a": b"hello"}
    assert exchange.begin_upload(sending("/b", b"x")) == (upload, 1)


def test_a_file_for_the_index_does_not_enter_the_workspace(exchange, root):
    stored = sent(exchange, "/private/a.md", b"text", purpose="index")
    assert stored.place == root / ".deepnb" / "indexed" / "private" / "a.md"
    assert stored.place.read_bytes() == b"text"
    assert snapshot(root) == {}
    assert sent(exchange, "/private/a.md", b"newer", purpose="index").place.read_bytes() == b"newer"


def test_two_threads_cannot_both_be_first(exchange, root):
    contents = [f"content {number}".encode() for number in range(8)]
    refused: list[bytes] = []

    def send(content):
        try:
            sent(exchange, "/a", content)
        except ChangedError:
            refused.append(content)

    threads = [threading.Thread(target=send, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
    assert (root / "a").read_bytes() in set(contents) - set(refused)


# Mapping


def test_files_come_into_step(exchange, root):
    mapping = mapped(exchange)
    (root / "notes").mkdir()
    (root / "notes" / "theirs").write_bytes(b"theirs")
    here = {"mine": b"mine", "deep/mine": b"mine too"}
    comparison = exchange.compare(mapping["id"], "me", seen(here))
    assert done(comparison) == {"deep/mine": "send", "mine": "send", "theirs": "take"}
    for path, content in here.items():
        fields = {"purpose": "sync", "mapping": mapping["id"]}
        sent(exchange, f"/notes/{path}", content, **fields)
    exchange.agree(mapping["id"], "theirs", sha(b"theirs"))
    here["theirs"] = b"theirs"
    comparison = exchange.compare(mapping["id"], "me", seen(here))
    assert comparison == {"steps": [], "same": 3, "unusable": []}
    (root / "notes" / "mine").unlink()
    (root / "notes" / "theirs").write_bytes(b"newer")
    comparison = exchange.compare(mapping["id"], "me", seen(here))
    assert done(comparison) == {"mine": "gone_there", "theirs": "take"}
    assert {row["state"] for row in exchange.mapped_files()} == {
        "in step",
        "to be fetched",
        "deleted in the workspace",
    }


def test_a_mapping_is_there_after_a_restart(exchange, root):
    mapping = mapped(exchange)
    sent(exchange, "/notes/a", b"1", purpose="sync", mapping=mapping["id"])
    later = Exchange(Folder(root), root / ".deepnb")
    assert later.mappings() == [mapping]
    comparison = later.compare(mapping["id"], "me", seen({"a": b"2"}))
    assert done(comparison) == {"a": "send"}
    assert comparison["steps"][0]["agreed"] == sha(b"1")


def test_only_the_browser_that_has_the_files_compares_them(exchange):
    mapping = mapped(exchange)
    with pytest.raises(DeepnbError, match="another browser"):
        exchange.compare(mapping["id"], "someone else", [])
    with pytest.raises(DeepnbError, match="not mapped any more"):
        exchange.compare("nothing", "me", [])


def test_a_sync_stays_in_the_place_that_was_mapped(exchange, root):
    folder = mapped(exchange)["id"]
    file = mapped(exchange, "/a.md", "/b.md", is_folder=False)["id"]
    for path, mapping in (
        ("/other", folder),
        ("/notes2/x", folder),
        ("/notes", folder),
        ("/notes/x", file),
        ("/b.md/x", file),
    ):
        with pytest.raises(PathError, match="not in the place"):
            exchange.begin_upload(sending(path, b"x", purpose="sync", mapping=mapping))
    with pytest.raises(DeepnbError, match="by a mapping only"):
        exchange.begin_upload(sending("/notes/x", b"x", purpose="sync"))
    for path in ("../x", "/x", ""):
        with pytest.raises(PathError):
            exchange.agree(folder, path, sha(b"x"))
    sent(exchange, "/b.md", b"x", purpose="sync", mapping=file)
    assert exchange.compare(file, "me", seen({"": b"x"}))["same"] == 1


def test_what_is_no_longer_mapped_is_not_stored(exchange, root):
    mapping = mapped(exchange)["id"]
    upload, _ = exchange.begin_upload(sending("/notes/a", b"x", purpose="sync", mapping=mapping))
    exchange.add_to_upload(upload, 0, b"x")
    exchange.unmap(mapping)
    with pytest.raises(DeepnbError, match="not mapped any more"):
        exchange.finish_upload(upload, sha(b"x"))
    assert snapshot(root) == {}


def test_places_of_the_wrong_kind_are_not_mapped(exchange, root):
    (root / "file").write_text("")
    (root / "folder").mkdir()
    with pytest.raises(PathError, match="is a file"):
        mapped(exchange, target="/file")
    with pytest.raises(PathError, match="is a folder"):
        mapped(exchange, "/a", "/folder", is_folder=False)


def test_a_mapping_through_a_link_is_one_of_the_real_place(exchange, root):
    (root / "real").mkdir()
    (root / "link").symlink_to(root / "real")
    assert mapped(exchange, target="/link")["target"] == "/real"
    with pytest.raises(PathError, match="kept in step already"):
        mapped(exchange, "/others", "/real")


def test_a_copy_reads_nothing_but_what_it_is_about(exchange, root, monkeypatch):
    for name in ("a", "b"):
        (root / name).write_bytes(b"there")
    mapping = mapped(exchange, target="/", mode="copy")
    taken = []
    take = exchange._hashes.take
    monkeypatch.setattr(exchange._hashes, "take", lambda place: taken.append(place) or take(place))
    comparison = exchange.compare(mapping["id"], "me", seen({"a": b"here", "c": b"c", "B": b"x"}))
    assert done(comparison) == {"a": "conflict", "c": "send"}
    assert comparison["unusable"][0].startswith("B ")
    assert taken == [root / "a"]


def test_an_unchanged_file_is_not_read_again(exchange, root, monkeypatch):
    now = time.time()
    monkeypatch.setattr("deepnb.exchange.hashes.time.time", lambda: now + 60)
    mapping = mapped(exchange)
    (root / "notes").mkdir()
    files = {f"{number}.md": str(number).encode() for number in range(50)}
    for name, content in files.items():
        (root / "notes" / name).write_bytes(content)
    assert exchange.compare(mapping["id"], "me", seen(files))["same"] == 50
    taken = []
    take = exchange._hashes.take
    monkeypatch.setattr(exchange._hashes, "take", lambda place: taken.append(place) or take(place))
    assert exchange.compare(mapping["id"], "me", seen(files))["same"] == 50
    assert taken == []
    (root / "notes" / "7.md").write_bytes(b"8")
    assert done(exchange.compare(mapping["id"], "me", seen(files))) == {"7.md": "take"}
    assert taken == [root / "notes" / "7.md"]


def test_the_hash_of_a_file_that_was_changed_just_now_is_not_kept(exchange, root):
    mapped(exchange)
    (root / "a").write_bytes(b"1")
    exchange.hash_of("/a")
    assert exchange._hashes.known() == {}


def test_a_change_within_one_tick_of_the_clock_is_seen(exchange, root):
    mapping = mapped(exchange, "/a", "/a", is_folder=False)
    for number in range(50):
        content = f"{number:03}".encode()
        (root / "a").write_bytes(content)
        assert exchange.hash_of("/a") == sha(content)
        assert exchange.compare(mapping["id"], "me", seen({"": content}))["same"] == 1


def test_a_folder_without_permission_is_not_taken_for_deleted(exchange, root, monkeypatch):
    mapping = mapped(exchange)
    (root / "notes" / "locked").mkdir(parents=True)
    (root / "notes" / "locked" / "a").write_bytes(b"1")
    here = seen({"locked/a": b"1"})
    exchange.compare(mapping["id"], "me", here)
    scandir = os.scandir

    def refuse(place):
        if Path(place).name == "locked":
            raise PermissionError(errno.EACCES, "no permission")
        return scandir(place)

    monkeypatch.setattr("os.scandir", refuse)
    comparison = exchange.compare(mapping["id"], "me", here)
    assert comparison["steps"] == []
    assert any("locked/a may not be read" in each for each in comparison["unusable"])


def test_a_workspace_that_is_gone_is_not_taken_for_an_empty_one(exchange, root):
    mapping = mapped(exchange)
    (root / "notes").mkdir()
    (root / "notes" / "a").write_bytes(b"1")
    exchange.compare(mapping["id"], "me", seen({"a": b"1"}))
    root.rename(root.with_name("moved"))
    with pytest.raises(DeepnbError, match="is gone"):
        exchange.compare(mapping["id"], "me", seen({"a": b"1"}))
    root.with_name("moved").rename(root)


def test_names_that_cannot_be_used_are_named(exchange, root):
    mapping = mapped(exchange)
    (root / "notes" / "bad\n").mkdir(parents=True)
    (root / "notes" / "bad\n" / "x").write_bytes(b"1")
    (root / "notes" / os.fsdecode(b"\xff")).mkdir()
    (root / "notes" / "ok").write_bytes(b"1")
    comparison = exchange.compare(mapping["id"], "me", [])
    assert done(comparison) == {"ok": "take"}
    assert len(comparison["unusable"]) == 2


def test_a_kernel_that_dies_in_the_middle_of_a_sync_loses_nothing(exchange, root):
    contents = {f"{n:03}": random.Random(n).randbytes(20_000) for n in range(100)}
    mapping = mapped(exchange)["id"]
    code = """
        from pathlib import Path
        from deepnb.files import Folder
        from deepnb.exchange import Exchange
        from tests.test_exchange import random, sent
        import sys
        root, mapping = Path(sys.argv[1]), sys.argv[2]
        exchange = Exchange(Folder(root), root / ".deepnb")
        for n in range(100):
            content = random.Random(n).randbytes(20_000)
            sent(exchange, f"/notes/{n:03}", content, purpose="sync", mapping=mapping)
            print(n, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(root), mapping]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) >= 20:
            break
    child.send_signal(signal.SIGKILL)
    child.communicate()
    comparison = exchange.compare(mapping, "me", seen(contents))
    left = done(comparison)
    assert set(left.values()) <= {"send"}
    assert comparison["same"] >= 21
    assert comparison["same"] + len(left) == 100
    for path in left:
        sent(exchange, f"/notes/{path}", contents[path], purpose="sync", mapping=mapping)
    assert exchange.compare(mapping, "me", seen(contents))["same"] == 100
    assert snapshot(root / "notes") == contents


# Finding


def test_a_mapped_file_has_a_real_path(exchange, root):
    mapping = mapped(exchange, "/my/data", "/in")
    (root / "in" / "deep").mkdir(parents=True)
    place = root / "in" / "deep" / "data.csv"
    place.write_bytes(b"1")
    exchange.compare(mapping["id"], "me", seen({"deep/data.csv": b"1"}))
    for name in (
        "data.csv",
        "/my/data/deep/data.csv",
        "my/data/deep/data.csv",
        "/files/my/data/deep/data.csv",
        "/in/deep/data.csv",
        "/workspace/in/deep/data.csv",
    ):
        assert exchange.path_of(name) == place
    assert exchange.path_of("/my/data") == root / "in"


def test_a_file_that_is_not_mapped_says_how_to_map_it(exchange, root):
    with pytest.raises(PathError, match="map it to the workspace"):
        exchange.path_of("data.csv")
    mapping = mapped(exchange, "/data.csv", "/in/data.csv", is_folder=False)
    with pytest.raises(PathError, match="wait until it has arrived"):
        exchange.path_of("/data.csv")
    sent(exchange, "/in/data.csv", b"1", purpose="sync", mapping=mapping["id"])
    assert exchange.path_of("data.csv") == root / "in" / "data.csv"


def test_a_name_that_two_files_have_is_not_guessed(exchange, root):
    mapping = mapped(exchange)
    here = {"a/data.csv": b"1", "b/data.csv": b"2"}
    for path, content in here.items():
        sent(exchange, f"/notes/{path}", content, purpose="sync", mapping=mapping["id"])
    with pytest.raises(PathError, match="/workspace/notes/a/data.csv, /workspace/notes/b/data.csv"):
        exchange.path_of("data.csv")
    assert exchange.path_of("/workspace/notes/b/data.csv") == root / "notes/b/data.csv"


def test_a_file_of_the_workspace_needs_no_mapping(exchange, root):
    (root / "own.csv").write_text("")
    assert exchange.path_of("own.csv") == exchange.path_of("/workspace/own.csv") == root / "own.csv"


def test_a_write_that_is_carried_on_names_the_other_place(exchange):
    mapped(exchange, "/mine", "/theirs")
    mapped(exchange, "/a.md", "/b.md", is_folder=False)
    mapped(exchange, "/copied", "/copied", mode="copy")
    assert exchange.carried("/files/mine/deep/x.md") == "/workspace/theirs/deep/x.md"
    assert exchange.carried("/workspace/theirs/x.md") == "/files/mine/x.md"
    assert exchange.carried("/workspace/b.md") == "/files/a.md"
    for path in (
        "/files/theirs/x",
        "/files/a.md/x",
        "/files/copied/x",
        "/scratch/mine/x",
        "/",
        "/../x",
    ):
        assert exchange.carried(path) is None


# Noticing


def test_changes_are_noticed_whoever_makes_them(exchange, root):
    told = []
    end = exchange.changes.on_change(lambda: told.append(exchange.changes.version))
    exchange.list()
    before = exchange.changes.version
    exchange.changes.look()
    assert (exchange.changes.version, told) == (before, [])
    (root / "a").write_text("1")
    exchange.changes.look()
    os.utime(root / "a", (1, 1))
    exchange.changes.look()
    (root / "a").unlink()
    exchange.list()
    assert told == [before + 1, before + 2, before + 3]
    end()
    (root / "b").write_text("")
    exchange.changes.look()
    assert len(told) == 3
    assert Exchange(Folder(root), root / ".deepnb").changes.version >= before


def test_the_record_is_no_change(exchange, root):
    exchange.list()
    before = exchange.changes.version
    mapped(exchange)
    exchange.begin_upload(sending("/a", b"x"))
    exchange.changes.look()
    assert exchange.changes.version == before


def test_the_background_looks_while_somebody_watches(exchange, root):
    noticed = threading.Event()
    exchange.list()
    exchange.changes.on_change(noticed.set)
    exchange.changes.start()
    exchange.changes.start()
    exchange.make_folder("/new")
    assert noticed.wait(20)
    exchange.changes.stop()
    thread = exchange.changes._thread
    assert thread.is_alive()
    exchange.changes.stop()
    thread.join(20)
    assert not thread.is_alive()


def test_a_process_has_one_exchange_for_a_workspace(root):
    one = exchange_of(Folder(root), root / ".deepnb")
    assert exchange_of(Folder(str(root)), root / ".deepnb") is one
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_to_look_leaves_no_trace(exchange, root):
    exchange.list()
    exchange.mappings()
    exchange.mapped_files()
    exchange.hash_of("/nothing")
    assert list(root.iterdir()) == []
