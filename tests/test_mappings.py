"""What ties files in a browser to files in the workspace, and what is done to keep them in step."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import threading

import pytest

from deepnb.errors import DeepnbError, PathError, StorageError
from deepnb.exchange import mappings, steps
from deepnb.exchange.ledger import Ledger
from deepnb.exchange.mappings import Mappings, below, part_below
from deepnb.exchange.steps import Seen


@pytest.fixture
def kept(tmp_path) -> Mappings:
    ledger = Ledger(tmp_path / "m.sqlite", mappings.TABLES, version=1)
    yield Mappings(ledger)
    ledger.close()


def mapped(kept: Mappings, mode="sync", **fields):
    given = {"source": "/notes", "target": "/notes", "is_folder": True, **fields}
    return kept.add("me", given["source"], given["target"], is_folder=given["is_folder"], mode=mode)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def side(files: dict[str, str]) -> dict[str, Seen]:
    return {path: Seen(path, len(text), sha(text)) for path, text in files.items()}


def compared(kept, mapping, here, there, unreadable=None):
    return kept.compare(mapping, side(here).values(), side(there), unreadable)


def done(comparison) -> dict[str, str]:
    return {step["path"]: step["do"] for step in comparison["steps"]}


# The rules

BEFORE = {"a": "1"}
RULES = [
    # here, there, agreed → what to do
    ({"a": "1"}, {}, {}, "send"),
    ({}, {"a": "1"}, {}, "take"),
    ({"a": "1"}, {"a": "2"}, {}, "conflict"),
    ({"a": "2"}, {"a": "1"}, BEFORE, "send"),
    ({"a": "1"}, {"a": "2"}, BEFORE, "take"),
    ({"a": "2"}, {"a": "3"}, BEFORE, "conflict"),
    ({}, {"a": "1"}, BEFORE, "gone_here"),
    ({}, {"a": "2"}, BEFORE, "gone_here"),
    ({"a": "1"}, {}, BEFORE, "gone_there"),
    ({"a": "2"}, {}, BEFORE, "gone_there"),
    ({"a": "1"}, {"a": "1"}, BEFORE, None),
    ({"a": "2"}, {"a": "2"}, BEFORE, None),
    ({"a": "2"}, {"a": "2"}, {}, None),
    ({}, {}, BEFORE, None),
]


@pytest.mark.parametrize(("here", "there", "before", "do"), RULES)
def test_what_has_to_be_done(kept, here, there, before, do):
    mapping = mapped(kept)
    compared(kept, mapping, before, before)
    comparison = compared(kept, mapping, here, there)
    assert done(comparison) == ({"a": do} if do else {})
    for step in comparison["steps"]:
        assert step["here"] == (sha(here["a"]) if here else "")
        assert step["there"] == (sha(there["a"]) if there else "")
        assert step["agreed"] == (sha("1") if before else "")


def test_what_is_gone_on_both_sides_is_forgotten(kept):
    mapping = mapped(kept)
    compared(kept, mapping, BEFORE, BEFORE)
    compared(kept, mapping, {}, {})
    assert kept.rows() == []
    assert done(compared(kept, mapping, {"a": "1"}, {})) == {"a": "send"}


def test_a_copy_is_sent_once_and_not_followed(kept):
    mapping = mapped(kept, "copy")
    assert done(compared(kept, mapping, BEFORE, {})) == {"a": "send"}
    kept.agree(mapping, "a", sha("1"), 1)
    for here, there in (
        ({"a": "2"}, BEFORE),
        ({}, BEFORE),
        (BEFORE, {}),
        ({}, {}),
        (BEFORE, {"a": "3"}),
    ):
        comparison = compared(kept, mapping, here, there)
        assert comparison == {"steps": [], "same": 1, "unusable": []}


def test_a_copy_is_one_again_when_it_can_be_read_again(kept):
    mapping = mapped(kept, "copy")
    kept.agree(mapping, "a", sha("1"), 1)
    assert compared(kept, mapping, {}, {}, {"a": "may not be read"})["same"] == 0
    assert compared(kept, mapping, {}, {"a": "2"})["same"] == 1


def test_a_copy_takes_nothing_and_overwrites_nothing(kept):
    mapping = mapped(kept, "copy")
    assert done(compared(kept, mapping, BEFORE, {"a": "2", "b": "x"})) == {"a": "conflict"}


def test_a_decision_settles_it(kept):
    mapping = mapped(kept)
    compared(kept, mapping, BEFORE, BEFORE)
    assert done(compared(kept, mapping, {}, BEFORE)) == {"a": "gone_here"}
    kept.agree(mapping, "a", "", 0)
    assert compared(kept, mapping, {}, {})["steps"] == []
    kept.agree(mapping, "a", sha("9"), 1)
    assert done(compared(kept, mapping, {"a": "9"}, {"a": "8"})) == {"a": "take"}


def test_the_mapped_file_itself_has_an_empty_path(kept):
    mapping = mapped(kept, source="/a.md", target="/b.md", is_folder=False)
    assert done(compared(kept, mapping, {"": "1"}, {})) == {"": "send"}
    comparison = compared(kept, mapping, {"../x": "1"}, {})
    assert comparison["steps"] == []
    assert "not the file that was mapped" in comparison["unusable"][0]


# Names

HOSTILE = [
    "../a",
    "a/../../b",
    "/abs",
    "a//b",
    "a/./b",
    "",
    "a\\b",
    "a\0b",
    "C:",
    "~",
    "x/.deepnb/y",
]
HOSTILE += [".DEEPNB/mappings.sqlite", "a\u202egpj.exe", "x" * 256, "a/", "\uff0fetc", "\ud800"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_path_is_named_and_nothing_is_done_about_it(kept, name):
    mapping = mapped(kept)
    here = [Seen(name, 1, sha("x")), Seen("ok.md", 1, sha("x"))]
    comparison = kept.compare(mapping, here, {})
    assert done(comparison) == {"ok.md": "send"}
    assert len(comparison["unusable"]) == 1
    assert [row["source"] for row in kept.rows()] == ["/notes/ok.md"]


def test_honest_names_are_not_refused(kept):
    names = [
        "😀.md",
        "report..final.md",
        "[...slug].md",
        "ü" * 127,
        ".hidden/x",
        "a b",
        "日本語/レポート",
    ]
    assert done(compared(kept, mapped(kept), dict.fromkeys(names, "x"), {})) == dict.fromkeys(
        names, "send"
    )


def test_a_path_named_twice_is_not_used(kept):
    twice = [Seen("a", 1, sha("1")), Seen("a", 1, sha("2"))]
    comparison = kept.compare(mapped(kept), twice, {})
    assert comparison["steps"] == []
    assert "twice" in comparison["unusable"][0]


def test_device_names_are_refused_where_they_are_devices(kept, monkeypatch):
    files = {"NUL.txt": "x", "con/a": "x", "console": "x"}
    assert len(compared(kept, mapped(kept), files, {})["steps"]) == 3
    monkeypatch.setattr(steps, "_ON_WINDOWS", True)
    assert done(compared(kept, mapped(kept), files, {})) == {"console": "send"}


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.md", "A.md"), ("é.md", "e\u0301.md"), ("Dir/x", "dir/y"), ("straße", "STRASSE")],
)
def test_names_that_a_disk_may_take_for_the_same_are_named(kept, one, other):
    mapping = mapped(kept)
    for here, there in (({one: "1", other: "2"}, {}), ({one: "1"}, {other: "2"})):
        comparison = compared(kept, mapping, {**here, "z": "z"}, there)
        assert done(comparison) == {"z": "send"}
        assert len(comparison["unusable"]) == 2


def test_a_file_in_step_goes_on_when_another_of_its_name_comes(kept):
    mapping = mapped(kept)
    compared(kept, mapping, {"a.md": "1"}, {"a.md": "1"})
    comparison = compared(kept, mapping, {"a.md": "2", "A.md": "x"}, {"a.md": "1"})
    assert done(comparison) == {"a.md": "send"}
    assert comparison["unusable"][0].startswith("A.md ")


def test_a_file_where_the_other_side_has_a_folder_is_named(kept):
    mapping = mapped(kept)
    comparison = compared(kept, mapping, {"a": "1"}, {"a/b": "2"})
    assert comparison["steps"] == []
    assert len(comparison["unusable"]) == 2
    compared(kept, mapping, {"a": "1"}, {"a": "1"})
    comparison = compared(kept, mapping, {"a": "1"}, {"a/b": "2"})
    assert done(comparison) == {"a": "gone_there"}


def test_what_cannot_be_read_is_not_gone(kept):
    mapping = mapped(kept)
    both = {"locked/a": "1", "locked/b": "2", "c": "3"}
    compared(kept, mapping, both, both)
    comparison = compared(kept, mapping, both, {"c": "3"}, {"locked": "may not be read"})
    assert comparison["steps"] == []
    assert comparison["same"] == 1
    assert compared(kept, mapping, both, both)["same"] == 3


# What is kept


def test_mappings_and_agreements_outlive_the_process(kept, tmp_path):
    mapping = mapped(kept)
    compared(kept, mapping, BEFORE, BEFORE)
    later = Ledger(tmp_path / "m.sqlite", mappings.TABLES, version=1)
    assert Mappings(later).all() == [mapping]
    assert done(compared(Mappings(later), mapping, {"a": "2"}, BEFORE)) == {"a": "send"}
    later.close()


def test_nothing_is_written_before_something_is_mapped(kept, tmp_path):
    assert (kept.all(), kept.rows()) == ([], [])
    kept.remove("nothing")
    with pytest.raises(DeepnbError, match="not mapped any more"):
        kept.get("nothing")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_listed_with_its_state(kept):
    mapping = mapped(kept, source="/in", target="/out/deep")
    compared(kept, mapping, {"a": "1", "b": "2", "x": "1"}, {"b": "2", "x": "2"})
    rows = {row["source"]: (row["target"], row["state"]) for row in kept.rows()}
    assert rows == {
        "/in/a": ("/out/deep/a", "to be sent"),
        "/in/b": ("/out/deep/b", "in step"),
        "/in/x": ("/out/deep/x", "conflict"),
    }


def test_places_in_step_do_not_overlap(kept):
    mapped(kept, source="/a/b", target="/x/y")
    for source, target in (("/a", "/q"), ("/a/b/c", "/q"), ("/q", "/x"), ("/q", "/X/Y/z")):
        with pytest.raises(PathError, match="kept in step already"):
            mapped(kept, source=source, target=target)
    mapped(kept, source="/a/bb", target="/x/yy")
    mapped(kept, "copy", source="/a", target="/x")
    kept.add("another", "/a/b", "/x/y", is_folder=True, mode="sync")
    assert len(kept.all()) == 4


def test_the_same_mapping_again_is_the_same_one(kept):
    assert mapped(kept) == mapped(kept)
    assert len(kept.all()) == 1


def test_a_copy_again_is_a_new_copy(kept):
    first = mapped(kept, "copy")
    kept.agree(first, "a", sha("1"), 1)
    second = mapped(kept, "copy")
    assert kept.all() == [second]
    assert done(compared(kept, second, BEFORE, {})) == {"a": "send"}


def test_unmapping_forgets_the_files(kept):
    mapping = mapped(kept)
    compared(kept, mapping, BEFORE, BEFORE)
    kept.remove(mapping["id"])
    assert (kept.all(), kept.rows()) == ([], [])


def test_a_path_and_its_parts():
    assert below("/a", "b/c") == "/a/b/c"
    assert below("/", "b") == "/b"
    assert below("/a.md", "") == "/a.md"
    assert part_below("/a", "/a/b/c") == "b/c"
    assert part_below("/a", "/ab") is None
    assert part_below("/a", "/a") == ""


def test_a_damaged_file_is_told(kept, tmp_path):
    (tmp_path / "m.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match="map your files again"):
        kept.all()


def test_a_newer_file_is_left_alone(kept, tmp_path):
    with sqlite3.connect(tmp_path / "m.sqlite") as db:
        db.execute("PRAGMA user_version = 2")
    db.close()
    with pytest.raises(StorageError, match="newer deepnb"):
        mapped(kept)


def test_two_processes_may_open_it_at_once(tmp_path):
    ledgers = [Ledger(tmp_path / "m.sqlite", mappings.TABLES, version=1) for _ in range(4)]
    problems: list[BaseException] = []

    def use(ledger, number):
        try:
            for count in range(5):
                mapped(Mappings(ledger), source=f"/{number}-{count}", target=f"/{number}-{count}")
        except DeepnbError as error:
            problems.append(error)

    threads = [threading.Thread(target=use, args=(each, n)) for n, each in enumerate(ledgers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(Mappings(ledgers[0]).all()) == 20
    for ledger in ledgers:
        ledger.close()


# Whatever happens, both sides come into step, and nothing is lost


class Sides:
    """Two sides as dictionaries, a person who decides by chance, and all that was ever written.

    A step may be cut off after it was done and before that was noted, as when a process dies.
    """

    def __init__(self, kept: Mappings, seed: int) -> None:
        self.kept, self.chance = kept, random.Random(seed)
        self.mapping = mapped(kept)
        self.here: dict[str, str] = {}
        self.there: dict[str, str] = {}
        self.overwritten: set[str] = set()
        self.discarded: set[str] = set()
        self.number = 0

    def edit(self, files: dict[str, str]) -> None:
        path = self.chance.choice("abcd")
        if self.chance.random() < 0.3:
            if text := files.pop(path, None):
                self.discarded.add(text)
            return
        if path in files:
            self.discarded.add(files[path])
        self.number += 1
        files[path] = f"text {self.number}"

    def put(self, files: dict[str, str], path: str, text: str, expected: str) -> None:
        """Write as both sides do: what is there is only replaced if it was expected."""
        before = files.get(path)
        assert (sha(before) if before else "") == expected
        if before and before != text:
            self.overwritten.add(before)
        files[path] = text

    def carry_out(self, step) -> None:
        path, do = step["path"], step["do"]
        keeps_mine = self.chance.random() < 0.5
        if do == "conflict" and self.chance.random() < 0.3:
            theirs = self.there[path]
            self.here[f"{path} (theirs {self.number})"] = theirs
            self.put(self.there, path, self.here[path], step["there"])
            self.discarded.add(theirs)
        elif do == "send" or (do in ("conflict", "gone_there") and keeps_mine):
            self.decided(do, self.there.get(path))
            self.put(self.there, path, self.here[path], step["there"])
        elif do in ("take", "conflict") or (do == "gone_here" and not keeps_mine):
            self.decided(do, self.here.get(path))
            self.put(self.here, path, self.there[path], step["here"])
        else:
            files = self.there if do == "gone_here" else self.here
            self.discarded.add(files.pop(path))
        if self.chance.random() < 0.7:
            now = self.here.get(path, "")
            self.kept.agree(self.mapping, path, sha(now) if now else "", len(now))

    def decided(self, do: str, text: str | None) -> None:
        if text and do not in ("send", "take"):
            self.discarded.add(text)

    def compare(self):
        return compared(self.kept, self.mapping, self.here, self.there)

    def run(self, *, to_the_end: bool) -> None:
        for step in self.compare()["steps"]:
            if not to_the_end and self.chance.random() < 0.3:
                return
            self.carry_out(step)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_edited_both_sides_converge_and_nothing_is_lost(kept, seed):
    sides = Sides(kept, seed)
    for _ in range(25):
        for _ in range(sides.chance.randrange(4)):
            sides.edit(sides.chance.choice([sides.here, sides.there]))
        sides.run(to_the_end=False)
    for _ in range(4):
        sides.run(to_the_end=True)
    assert sides.here == sides.there
    comparison = sides.compare()
    assert comparison["steps"] == []
    assert comparison["same"] == len(sides.here)
    # What was replaced without a question was replaced by whoever had it before them: a person
    # had already changed or deleted it on the other side.
    assert sides.overwritten <= sides.discarded
