"""A folder on disk: what agents may see and change there, and what they must not."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from deepagents.backends.utils import _EXTENSION_TO_FILE_TYPE

from deepnb.errors import PathError
from deepnb.files import Folder
from deepnb.files.disk import change_lock
from deepnb.files.search import Grep, ripgrep
from deepnb.files.text import substitute


@pytest.fixture
def root(tmp_path) -> Path:
    inside = tmp_path / "root"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("outside secret\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.md").write_text("outside secret\n")
    return inside


@pytest.fixture
def folder(root) -> Folder:
    return Folder(root)


def paths(entries) -> list[str]:
    return [entry["path"] for entry in entries]


def content(result) -> str:
    assert result.error is None
    return result.file_data["content"]


def snapshot(top: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else None
        for path in sorted(top.rglob("*"))
    }


def test_only_a_folder_can_be_a_root(tmp_path):
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file", tmp_path / "missing"):
        with pytest.raises(PathError, match="not a folder"):
            Folder(bad)


def test_paths_are_virtual(folder):
    folder.write("/sub/a.md", "text")
    assert content(folder.read("sub/a.md")) == content(folder.read("/sub/a.md")) == "text"


def test_no_message_tells_where_the_folder_is(folder, root):
    (root / "dir").mkdir()
    os.mkfifo(root / "pipe")
    (root / "out").symlink_to(root.parent / "secret.txt")
    (root / "loop").symlink_to("loop")
    for path in ("missing", "dir", "pipe", "out", "loop", "../x", "\0", "dir/missing/x"):
        results = [folder.read(path), folder.edit(path, "a", "b"), folder.grep("x", path)]
        results += [folder.ls(path), folder.glob("*", path), folder.write(path, "x")]
        errors = [result.error for result in results if result.error]
        assert len(errors) >= 3
        for error in errors:
            assert str(root.parent) not in error
            assert error.endswith((".", "?"))


class TestLinks:
    def test_a_link_that_leads_outside_is_invisible_and_unusable(self, folder, root):
        (root / "file").symlink_to("../secret.txt")
        (root / "dir").symlink_to(root.parent / "elsewhere")
        (root / "new").symlink_to("../not-there-yet")
        before = snapshot(root.parent)
        for path in ("file", "dir/secret.md", "new", "dir/new.md"):
            assert "outside" in folder.read(path).error
            assert "outside" in folder.write(path, "x").error
            assert "outside" in folder.edit(path, "secret", "x").error
        assert folder.ls("/").entries == []
        assert folder.glob("**").matches == []
        assert folder.grep("secret").matches == []
        assert folder.ls("dir").error
        assert folder.grep("secret", "dir").error
        assert folder.download_files(["file"])[0].error == "invalid_path"
        assert folder.upload_files([("file", b"x")])[0].error == "invalid_path"
        assert snapshot(root.parent) == before

    def test_a_link_inside_is_followed_and_survives_a_write(self, folder, root):
        (root / "real.md").write_text("one\n")
        (root / "alias.md").symlink_to("real.md")
        assert paths(folder.ls("/").entries) == ["/alias.md", "/real.md"]
        assert folder.edit("alias.md", "one", "two").error is None
        assert (root / "alias.md").is_symlink()
        assert (root / "real.md").read_text() == "two\n"
        assert paths(folder.grep("two", "/alias.md").matches) == ["/real.md"]

    def test_a_link_is_no_way_to_the_record(self, folder, root):
        (root / ".deepnb").mkdir()
        (root / ".deepnb" / "log").write_text("record\n")
        (root / "alias").symlink_to(".deepnb")
        assert "off limits" in folder.read("alias/log").error
        assert folder.ls("/").entries == []
        assert folder.glob("*").matches == []
        assert folder.glob(".*").matches == []
        assert folder.grep("record").matches == []

    def test_loops_and_dangling_links_are_explained(self, folder, root):
        (root / "loop").symlink_to("loop")
        (root / "dangling").symlink_to("missing.md")
        assert "circle" in folder.read("loop").error
        assert "circle" in folder.write("loop/x", "x").error or folder.read("loop/x").error
        assert "does not exist" in folder.read("dangling").error
        assert folder.ls("/").entries == []


class TestOddFiles:
    def test_pipes_and_sockets_are_refused_without_waiting(self, folder, root):
        os.mkfifo(root / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            here = Path.cwd()
            os.chdir(root)  # the path of a socket is short
            try:
                server.bind("socket")
            finally:
                os.chdir(here)
            for name in ("pipe", "socket"):
                assert "ordinary file" in folder.read(name).error
                assert "ordinary file" in folder.write(name, "x").error
                assert "ordinary file" in folder.edit(name, "a", "b").error
                assert "ordinary file" in folder.grep("x", name).error
            assert folder.grep("x").matches == []
            assert folder.ls("/").entries == []

    def test_a_folder_is_not_a_file_and_a_file_is_not_a_folder(self, folder, root):
        (root / "dir").mkdir()
        (root / "file").write_text("x")
        assert "is a folder" in folder.read("dir").error
        assert "is a folder" in folder.write("dir", "x").error
        assert "is a folder" in folder.write("/", "x").error
        assert "not a folder" in folder.ls("file").error
        assert folder.write("file/below", "x").error
        assert folder.download_files(["dir", "no"])[0].error == "is_directory"
        assert folder.download_files(["dir", "no"])[1].error == "file_not_found"

    def test_a_read_only_file_is_not_replaced(self, folder, root):
        (root / "kept.md").write_text("kept")
        (root / "kept.md").chmod(0o444)
        assert "read-only" in folder.write("kept.md", "x").error
        assert "read-only" in folder.edit("kept.md", "kept", "x").error
        assert (root / "kept.md").read_text() == "kept"

    def test_a_name_that_is_not_utf_8_is_shown_and_explained(self, folder, root):
        Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.txt")).write_text("needle\n")
        assert paths(folder.ls("/").entries) == ["/caf\ufffd.txt"]
        assert paths(folder.glob("*.txt").matches) == ["/caf\ufffd.txt"]
        assert paths(folder.grep("needle").matches) == ["/caf\ufffd.txt"]
        assert "rename" in folder.read("/caf\ufffd.txt").error

    def test_any_bytes_go_up_and_come_down(self, folder):
        data = bytes(range(256))
        assert folder.upload_files([("d/x.bin", data)])[0].error is None
        assert folder.download_files(["d/x.bin"])[0].content == data


class TestRead:
    def test_old_encodings_and_marks_become_plain_text(self, folder, root):
        (root / "bom.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
        (root / "old.txt").write_bytes(b"caf\xe9 \x96 ok\n")
        assert content(folder.read("bom.md")) == "one\ntwo\n"
        assert content(folder.read("old.txt")) == "café \u2013 ok\n"

    @pytest.mark.parametrize(
        ("name", "data", "said"),
        [
            ("x.png", b"\x89PNG" + b"\0" * 34_000, "'x.png' is a PNG image (34 KB), not text"),
            ("x.PDF", b"plain", "PDF document"),
            ("x.docx", b"PK\x03\x04", "DOCX document"),
            ("paper", b"%PDF-1.7\n", "PDF document"),
            ("data", b"a\0b", "binary file (3 bytes)"),
            ("late", b"text\n" * 3000 + b"\0", "binary file"),
            ("wide.txt", "x".encode("utf-16"), "UTF-16 text"),
        ],
    )
    def test_what_is_not_text_is_named(self, folder, root, name, data, said):
        (root / name).write_bytes(data)
        assert said in folder.read(name, limit=10_000).error
        assert said in folder.edit(name, "a", "b").error

    def test_nothing_that_deepagents_takes_for_media_passes_as_text(self, folder, root):
        for suffix in _EXTENSION_TO_FILE_TYPE:
            (root / f"x{suffix}").write_text("text")
            assert "not text" in folder.read(f"x{suffix}").error
            assert "only text" in folder.write(f"y{suffix}", "text").error

    def test_degenerate_windows_are_answered(self, folder):
        folder.write("a", "1\n2\n3")
        assert content(folder.read("a", offset=-5, limit=1)) == "1\n"
        assert folder.read("a", limit=0).no_lines_requested
        assert folder.read("a", offset=2).total_lines == 3
        assert "3 lines" in folder.read("a", offset=3).error

    def test_a_page_is_bounded_in_bytes_and_can_be_continued(self, folder, root):
        lines = [f"{n} " + "x" * 1000 for n in range(3000)]
        (root / "big.txt").write_text("\n".join(lines))
        seen, offset = [], 0
        while offset is not None:
            page = folder.read("big.txt", offset=offset, limit=5000)
            assert len(content(page)) < 300_000
            assert page.start_line == len(seen) + 1
            seen += content(page).removesuffix("\n").split("\n")
            offset = page.next_offset
        assert seen == lines

    def test_a_giant_line_is_cut_with_a_note(self, folder, root):
        (root / "giant.json").write_text("é" * 500_000 + "\nnext\n")
        page = folder.read("giant.json")
        first, second = content(page).splitlines()
        assert first.startswith("éé")
        assert "more bytes of this line are not shown" in first
        assert "\ufffd" not in first
        assert (second, page.end_line, page.total_lines) == ("next", 2, 2)

    def test_a_gigabyte_is_read_page_by_page_in_little_memory(self, root):
        with (root / "huge.log").open("wb") as file:
            file.write(b"".join(b"line %07d\n" % n for n in range(1, 400_001)))
            file.truncate(1 << 30)  # the rest is a hole
        script = f"""
            import resource
            from deepnb.files import Folder
            folder = Folder({str(root)!r})
            folder.read("huge.log", limit=1)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            page = folder.read("huge.log", offset=300_000, limit=3)
            assert page.file_data["content"].startswith("line 0300001\\n"), page
            assert (page.start_line, page.next_offset) == (300_001, 300_003), page
            past = folder.read("huge.log", offset=10_000_000)
            assert "400001 lines" in past.error, past
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
        grown = int(run_python(script)) * (1 if sys.platform == "darwin" else 1024)
        assert grown < 32 * 1024 * 1024


class TestWrite:
    def test_parents_are_made_and_the_mode_is_kept(self, folder, root):
        assert folder.write("/a/b/c.sh", "one").path == "/a/b/c.sh"
        (root / "a/b/c.sh").chmod(0o750)
        folder.write("/a/b/c.sh", "two")
        folder.edit("/a/b/c.sh", "two", "three")
        assert (root / "a/b/c.sh").read_text() == "three"
        assert (root / "a/b/c.sh").stat().st_mode & 0o777 == 0o750
        assert list(snapshot(root / "a/b")) == ["c.sh"]

    def test_a_private_file_is_private_while_it_is_copied(self, folder, root, monkeypatch):
        (root / "secret.md").write_text("old")
        (root / "secret.md").chmod(0o600)
        modes = []
        flush = os.fsync
        monkeypatch.setattr(
            os, "fsync", lambda fd: modes.append(os.fstat(fd).st_mode & 0o777) or flush(fd)
        )
        folder.write("secret.md", "new")
        assert modes == [0o600]
        assert (root / "secret.md").stat().st_mode & 0o777 == 0o600

    def test_a_new_file_gets_what_the_umask_allows(self, folder, root):
        before = os.umask(0o027)
        try:
            folder.write("new.md", "x")
        finally:
            os.umask(before)
        assert (root / "new.md").stat().st_mode & 0o777 == 0o640

    def test_half_a_character_is_refused(self, folder, root):
        assert "surrogate" in folder.write("x.md", "a\ud800").error
        assert list(root.iterdir()) == []

    def test_a_full_disk_changes_nothing(self, root):
        (root / "kept.md").write_text("kept " * 100)
        script = f"""
            import resource
            from deepnb.files import Folder
            folder = Folder({str(root)!r})
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            print(folder.write("kept.md", "x" * 5000).error)
            print(folder.write("new.md", "x" * 5000).error)
            print(folder.edit("kept.md", "kept", "x" * 5000, True).error)
        """
        assert run_python(script).count("too large") == 3
        assert snapshot(root) == {"kept.md": b"kept " * 100}

    def test_a_notebook_stays_a_notebook(self, folder, root):
        notebook = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        assert folder.write("a.ipynb", notebook).error is None
        for bad in ("# Title", "[]", '{"cells": {}}', '{"cells": []}', "[" * 100_000):
            assert "notebook" in folder.write("a.ipynb", bad).error
            assert "notebook" in folder.write("b.ipynb", bad).error
        assert "notebook" in folder.edit("a.ipynb", '"cells": []', '"cells": ').error
        assert folder.edit("a.ipynb", '"nbformat_minor": 5', '"nbformat_minor": 4').error is None
        assert json.loads((root / "a.ipynb").read_text())["nbformat_minor"] == 4
        assert content(folder.read("a.ipynb")).startswith('{"cells"')
        assert list(snapshot(root)) == ["a.ipynb"]


class TestParallelChanges:
    @pytest.mark.parametrize("same_folder", [True, False])
    def test_no_edit_is_lost(self, folder, root, same_folder):
        count = 40
        (root / "a.md").write_text("".join(f"<line {n}>\n" for n in range(count)))
        (root / "alias.md").symlink_to("a.md")
        folders = [folder if same_folder else Folder(root) for _ in range(count)]
        names = ["a.md" if n % 2 else "alias.md" for n in range(count)]
        start = threading.Barrier(count)

        def edit(n):
            start.wait()
            assert folders[n].edit(names[n], f"<line {n}>", f"<done {n}>").error is None

        threads = [threading.Thread(target=edit, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (root / "a.md").read_text() == "".join(f"<done {n}>\n" for n in range(count))

    @pytest.mark.parametrize(
        "change",
        [
            lambda folder: folder.write("a.md", "new"),
            lambda folder: folder.edit("a.md", "old", "new"),
            lambda folder: folder.upload_files([("a.md", b"new")]),
        ],
    )
    def test_every_change_waits_for_the_one_before(self, folder, root, change):
        (root / "a.md").write_text("old")
        thread = threading.Thread(target=change, args=(folder,))
        with change_lock(folder.root / "a.md"):
            thread.start()
            thread.join(0.2)
            assert (root / "a.md").read_text() == "old"
        thread.join()
        assert (root / "a.md").read_text() == "new"


class TestFingerprint:
    def test_it_changes_with_the_content_and_only_then(self, folder, root):
        assert folder.fingerprint("a.md") is None
        seen = set()
        for data in (b"one", b"two", b"\0binary", "wide".encode("utf-16"), b""):
            (root / "a.md").write_bytes(data)
            os.utime(root / "a.md", (0, 0))
            seen.add(folder.fingerprint("/a.md"))
            os.utime(root / "a.md", (1, 1))
            assert folder.fingerprint("a.md") in seen
        assert len(seen) == 5
        assert None not in seen

    def test_what_cannot_be_hashed_still_has_one(self, folder, root):
        (root / "dir").mkdir()
        os.mkfifo(root / "pipe")
        with (root / "huge").open("wb") as file:
            file.truncate(65 * 1024 * 1024)
        before = folder.fingerprint("huge")
        assert before
        assert folder.fingerprint("dir")
        assert folder.fingerprint("pipe")
        with (root / "huge").open("ab") as file:
            file.write(b"x")
        assert folder.fingerprint("huge") != before

    def test_content_is_the_bytes_of_a_small_file(self, folder, root):
        (root / "a.md").write_bytes(b"one\r\ntwo\n\0\xff")
        (root / "dir").mkdir()
        assert folder.content("a.md") == b"one\r\ntwo\n\0\xff"
        assert folder.content("a.md", most=10) is None
        assert folder.content("dir") is None
        assert folder.content("missing") is None

    @pytest.mark.parametrize(
        "path", ["../secret.txt", "out", "a\0b", "\ud800", ".deepnb/x", 5, None]
    )
    def test_a_bad_path_is_none(self, folder, root, path):
        (root / "out").symlink_to(root.parent / "secret.txt")
        assert folder.fingerprint(path) is None
        assert folder.content(path) is None


class TestEdit:
    def test_windows_line_ends_and_the_mark_stay(self, folder, root):
        (root / "w.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
        assert folder.edit("w.txt", "one\ntwo\n", "1\n2\nand\n").occurrences == 1
        assert (root / "w.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\nand\r\nthree\r\n"

    def test_lines_that_are_not_edited_keep_their_ends(self, folder, root):
        (root / "mixed.txt").write_bytes(b"a\r\nb\nc\n")
        folder.edit("mixed.txt", "b\n", "x\n")
        assert (root / "mixed.txt").read_bytes() == b"a\r\nx\nc\n"

    def test_a_replaced_line_keeps_its_end_in_a_mixed_file(self, folder, root):
        (root / "mixed.txt").write_bytes(b"a\nb\nc\r\nd\n\r\r\n")
        folder.edit("mixed.txt", "c\nd\n", "c\ne\nf\n")
        assert (root / "mixed.txt").read_bytes() == b"a\nb\nc\r\ne\nf\n\r\r\n"

    def test_every_place_gets_its_own_line_ends(self, folder, root):
        (root / "mixed.txt").write_bytes(b"x\r\ny\nx\ny\r\nx\r\n")
        assert folder.edit("mixed.txt", "x\ny", "1\n2", replace_all=True).occurrences == 2
        assert (root / "mixed.txt").read_bytes() == b"1\r\n2\n1\n2\r\nx\r\n"

    def test_half_a_line_end_is_not_replaced(self, folder, root):
        (root / "w.txt").write_bytes(b"a\r\nb\r\n")
        assert "not in the file" in folder.edit("w.txt", "\r", "x", replace_all=True).error
        assert "surrogate" in folder.edit("w.txt", "a", "\ud800").error
        assert (root / "w.txt").read_bytes() == b"a\r\nb\r\n"

    def test_any_edit_of_windows_text_is_the_edit_of_its_plain_text(self):
        chance = random.Random(5)
        changes = 0
        for _ in range(5000):
            plain = "".join(chance.choices("ab\n", k=12))
            old, new = ("".join(chance.choices("ab\n", k=chance.randint(1, 3))) for _ in "12")
            windows = plain.replace("\n", "\r\n")
            mixed = "".join(chance.choice(["\n", "\r\n"]) if c == "\n" else c for c in plain)
            if old == new or old not in plain or "\n" not in plain:
                continue
            changes += 1
            expected = substitute(plain, old, new, every=True)
            assert expected == (plain.replace(old, new), plain.count(old))
            changed = expected[0].replace("\n", "\r\n")
            assert substitute(windows, old, new, every=True) == (changed, expected[1])
            text, count = substitute(mixed, old, new, every=True)
            assert (text.replace("\r\n", "\n"), count) == expected
        assert changes > 1000

    def test_a_giant_text_to_replace_costs_little(self):
        run_python("""
            import resource
            from deepnb.files.text import substitute
            used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
            resource.setrlimit(resource.RLIMIT_CPU, (used + 5, used + 5))
            for content, old in [
                ("x" * 10, "y" * 5_000_000),
                ("\\n" * 1_000_000, "\\n" * 500_000 + "x"),
                ("\\r\\n" * 1_000_000, "\\n" * 500_000 + "x"),
            ]:
                try:
                    substitute(content, old, "z", every=False)
                except ValueError as error:
                    assert "not in the file" in str(error)
            text, count = substitute("a\\r\\n" * 1_000_000, "a\\n", "b\\n", every=True)
            assert (count, text) == (1_000_000, "b\\r\\n" * 1_000_000)
            text, count = substitute("\\n" + "a\\r\\n" * 100_000, "a\\n", "b\\n", every=True)
            assert (count, text) == (100_000, "\\n" + "b\\r\\n" * 100_000)
        """)

    def test_what_is_replaced_is_never_a_pattern(self, folder, root):
        (root / "a.txt").write_text(r"(a+)\1 $")
        folder.edit("a.txt", r"(a+)\1", r"\g<0>\n")
        assert (root / "a.txt").read_text() == r"\g<0>\n $"

    @pytest.mark.parametrize(("old", "new"), [("", "x"), ("one", "one"), ("o", "0"), ("no", "x")])
    def test_a_refused_edit_changes_nothing(self, folder, root, old, new):
        (root / "a.txt").write_text("one two\n")
        assert folder.edit("a.txt", old, new).error
        assert (root / "a.txt").read_text() == "one two\n"

    def test_text_that_is_not_utf_8_is_not_edited(self, folder, root):
        (root / "old.txt").write_bytes(b"caf\xe9\n")
        assert "UTF-8" in folder.edit("old.txt", "caf", "x").error
        assert (root / "old.txt").read_bytes() == b"caf\xe9\n"


class TestGrep:
    @pytest.fixture(params=["ripgrep", "python"])
    def grep(self, request, root):
        """The same search both ways."""

        def run(text, most=None, target=".", keep=lambda _path: True, case_sensitive=True):
            query = Grep(text, root, target, "/", keep, case_sensitive)
            return query.run(ripgrep() if request.param == "ripgrep" else None, most)

        assert ripgrep()
        return run

    def test_ignore_files_hide_nothing_but_hidden_files_are_skipped(self, grep, root):
        (root / ".gitignore").write_text("*.md\nneedle\n")
        (root / ".ignore").write_text("*\n")
        (root / "paper.md").write_text("a needle\n")
        (root / ".hidden").mkdir()
        (root / ".hidden" / "x.md").write_text("needle\n")
        assert paths(grep("needle").matches) == ["/paper.md"]

    def test_lines_are_numbered_cleaned_and_cut(self, grep, root):
        (root / "a.txt").write_bytes(b"\xef\xbb\xbfneedle: 1\r\nno\r\nx:needle\0"[:-1] + b"\r\n")
        (root / "b.txt").write_bytes(b"caf\xe9 needle")
        (root / "c.txt").write_text("needle" + "ä" * 9000 + "\n")
        (root / "d.txt").write_text("needle" + "ä" * 1500 + "\n")
        found = [(m["path"], m["line"], m["text"]) for m in grep("needle").matches]
        cut = "needle" + "ä" * 994 + " ... [line cut]"
        assert found == [
            ("/a.txt", 1, "needle: 1"),
            ("/a.txt", 3, "x:needle"),
            ("/b.txt", 1, "café needle"),
            ("/c.txt", 1, cut),
            ("/d.txt", 1, cut),
        ]

    def test_binary_files_are_skipped_wherever_they_turn_binary(self, grep, root):
        (root / "early").write_bytes(b"needle\0\n")
        (root / "late").write_bytes(b"needle\n" + b"x\n" * 200_000 + b"\0needle\n")
        (root / "text").write_text("needle\n")
        assert paths(grep("needle").matches) == ["/text"]
        assert grep("needle", target="late").matches == []

    def test_case_can_be_ignored_in_any_alphabet(self, grep, root):
        (root / "a").write_text("ÜBER Needle\nüber\n")
        assert len(grep("über", case_sensitive=False).matches) == 2
        assert len(grep("über").matches) == 1

    def test_matches_are_in_order_and_capped_over_all_files(self, grep, root):
        for n in range(30):
            (root / f"f{n:02}").write_text("needle\nneedle\n")
        everything = grep("needle")
        assert len(everything.matches) == 60
        assert not grep("needle", most=60).truncated
        capped = grep("needle", most=7)
        assert capped.truncated
        assert capped.matches == everything.matches[:7]

    def test_a_pattern_is_never_an_option(self, grep, root):
        (root / "a").write_text("--files\n-e\n")
        assert len(grep("--files").matches) == 1
        assert len(grep("-e").matches) == 1

    def test_a_line_break_in_a_name_points_to_no_other_file(self, grep, root):
        (root / "a\n.").mkdir()
        (root / "a\n." / "trusted.md").write_text("needle from elsewhere\n")
        (root / "trusted.md: binary file matches\nx").write_text("needle\n")
        (root / "b\nc").write_bytes(b"needle\n" + b"x\n" * 200_000 + b"\0")
        (root / "trusted.md").write_text("needle\n")
        assert [(match["path"], match["text"]) for match in grep("needle").matches] == [
            ("/a\ufffd./trusted.md", "needle from elsewhere"),
            ("/trusted.md", "needle"),
            ("/trusted.md: binary file matches\ufffdx", "needle"),
        ]

    def test_only_wanted_files_count(self, grep, root):
        (root / "a.md").write_text("needle\n")
        (root / "a.csv").write_text("needle\n")
        assert paths(grep("needle", keep=lambda p: p.endswith(".md")).matches) == ["/a.md"]


def test_ripgrep_is_found_without_a_path():
    script = "from deepnb.files.search import ripgrep; print(ripgrep())"
    found = run_python(script, PATH="").strip()
    assert Path(found).parent == Path(sys.executable).parent


def test_grep_refuses_what_cannot_match(folder):
    for pattern in ("", "a\nb", "a\0b", "a\ud800"):
        assert folder.grep(pattern).error


def test_grep_works_below_a_path_and_in_one_hidden_file(folder):
    folder.write("sub/a.md", "needle")
    folder.write(".env", "needle")
    assert paths(folder.grep("needle", "sub", "*.md").matches) == ["/sub/a.md"]
    assert paths(folder.grep("needle", "/.env").matches) == ["/.env"]
    assert "does not exist" in folder.grep("needle", "nowhere").error


@pytest.mark.parametrize(
    "ask",
    [
        lambda folder: folder.ls(5),
        lambda folder: folder.read("a.md", "1", 2),
        lambda folder: folder.read("a.md", 0, 1.5),
        lambda folder: folder.read(None),
        lambda folder: folder.write("a.md", 5),
        lambda folder: folder.write("a.md", None),
        lambda folder: folder.edit("a.md", 5, "x"),
        lambda folder: folder.edit("a.md", "x", None),
        lambda folder: folder.edit("a.md", "text", "x", "no"),
        lambda folder: folder.glob(None),
        lambda folder: folder.glob("*", 5),
        lambda folder: folder.grep(5),
        lambda folder: folder.grep("x", 5),
        lambda folder: folder.grep("x", None, 5),
        lambda folder: folder.grep("x", max_count="2"),
        lambda folder: folder.upload_files([("a.md", "text")])[0],
        lambda folder: folder.download_files([5])[0],
    ],
)
def test_a_wrong_type_is_an_error_and_no_exception(folder, root, ask):
    (root / "a.md").write_text("text")
    assert ask(folder).error
    assert (root / "a.md").read_text() == "text"


def test_glob_is_bounded(folder, root):
    for n in range(10_001):
        (root / f"f{n}").touch()
    result = folder.glob("*")
    assert len(result.matches) == 10_000
    assert (result.truncated, result.truncation_reason) == (True, "budget")


def test_glob_of_one_file_and_of_bad_patterns(folder):
    folder.write("sub/a.md", "x")
    assert paths(folder.glob("*.md", "/sub/a.md").matches) == ["/sub/a.md"]
    assert folder.glob("*.csv", "/sub/a.md").matches == []
    assert folder.glob("../*").error
    assert folder.glob("{1..100000}").error
    assert folder.glob("*", "nowhere").error


class TestSearch:
    def test_the_best_passage_comes_first_with_its_place(self, folder, root):
        folder.write("lake.md", "# Lakes\n\nIce melts.\n\nPhosphorus feeds algae\nin warm lakes.\n")
        folder.write("other/b.md", "Nothing about that.\n")
        (root / "x.bin").write_bytes(b"phosphorus\0")
        best, *rest = folder.search("phosphorus and algae", top_k=3)
        assert (best["path"], best["line"]) == ("/lake.md", 5)
        assert best["text"] == "Phosphorus feeds algae\nin warm lakes."
        assert best["score"] > 0
        assert all(best["score"] >= other["score"] for other in rest)

    def test_no_words_in_common_means_nothing_found(self, folder):
        folder.write("a.md", "text")
        assert folder.search("unrelated") == []
        with pytest.raises(PathError, match="does not exist"):
            folder.search("text", "nowhere")


class TestAnswer:
    def ask(self, folder, tool, **args):
        request = {"type": "client_tool_execution", "tool": tool, "tool_call_id": "c", "args": args}
        answer = folder.answer(request)
        assert json.loads(json.dumps(answer)) == answer
        return answer

    def test_every_tool_is_answered(self, folder):
        assert self.ask(folder, "write_file", path="a.md", content="one\ntwo\n")["result"]
        patch = self.ask(folder, "patch_file", path="/a.md", search="two", replace="2")
        assert patch == {"result": {"path": "/a.md", "occurrences": 1}}
        read = self.ask(folder, "read_file", path="/a.md", offset=1)["result"]
        assert (read["content"], read["start_line"]) == ("2\n", 2)
        assert paths(self.ask(folder, "list_files")["result"]["entries"]) == ["/a.md"]
        assert paths(self.ask(folder, "glob_files", pattern="*")["result"]["matches"]) == ["/a.md"]
        grep = self.ask(folder, "grep_files", pattern="ONE", case_sensitive=False)
        assert grep["result"]["matches"] == [{"path": "/a.md", "line": 1, "text": "one"}]
        found = self.ask(folder, "search_files", query="one")["result"]["matches"]
        assert paths(found) == ["/a.md"]

    @pytest.mark.parametrize(
        "request_",
        [
            None,
            {},
            {"tool": "rm"},
            {"tool": ["read_file"]},
            {"tool": "read_file"},
            {"tool": "read_file", "args": {}},
            {"tool": "read_file", "args": {"path": 1}},
            {"tool": "read_file", "args": {"path": "../x"}},
            {"tool": "read_file", "args": {"path": "missing"}},
            {"tool": "read_file", "args": {"path": "a", "offset": "1"}},
            {"tool": "write_file", "args": {"path": "a", "content": "x", "mode": 1}},
            {"tool": "search_files", "args": {"query": "x", "path": "missing"}},
            {"tool": "search_files", "args": {"query": "x", "top_k": 101}},
        ],
    )
    def test_a_bad_request_is_an_error_and_no_exception(self, folder, root, request_):
        answer = folder.answer(request_)
        assert list(answer) == ["error"]
        assert answer["error"]
        assert list(root.iterdir()) == []


def test_no_hostile_path_reaches_anything_outside(folder, root):
    """Whatever is asked in whatever order: outside, nothing is read, made or changed."""
    (root / "out").symlink_to("..")
    (root / "deep").mkdir()
    (root / "deep" / "up").symlink_to("../../elsewhere")
    (root / ".deepnb").mkdir()
    (root / ".deepnb" / "log").write_text("outside secret\n")
    names = ["..", ".", "", "out", "deep", "up", "secret.txt", "secret.md", "elsewhere", "~", "C:"]
    names += ["\0", "..\\..", "\u2024\u2024", "\uff0e\uff0e", ".deepnb", ".DEEPNB", "log", "new.md"]
    names += [str(root.parent), "/etc/passwd", "%2e%2e", "root"]
    outside = {name: data for name, data in snapshot(root.parent).items() if "root" not in name}
    chance = random.Random(11)
    for _ in range(1500):
        path = "/".join(chance.choices(names, k=chance.randint(1, 5)))
        path = chance.choice(["", "/", "//"]) + path
        seen = [folder.read(path), folder.write(path, "mine"), folder.edit(path, "secret", "x")]
        seen += [folder.ls(path), folder.glob("*", path)]
        assert "outside secret" not in repr(seen)
    assert folder.grep("outside secret").matches == []
    after = {name: data for name, data in snapshot(root.parent).items() if "root" not in name}
    assert after == outside
    assert (root / ".deepnb" / "log").read_text() == "outside secret\n"


def run_python(script: str, **environment: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(script)]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
