"""Only plain names below a root pass."""

from __future__ import annotations

import random
import unicodedata

import pytest

from deepnb.errors import PathError
from deepnb.files.paths import join, looks_like, safe_parts, shown


@pytest.mark.parametrize("path", ["/a/b", "a/b", "//a//b", "/./a/./b/", "a/b/"])
def test_spellings_of_one_path_are_one_path(path):
    assert safe_parts(path) == ("a", "b")


@pytest.mark.parametrize("path", ["", "/", ".", "./", "//"])
def test_the_root_has_no_parts(path):
    assert safe_parts(path) == ()
    assert join(safe_parts(path)) == "/"


@pytest.mark.parametrize(
    "name",
    [
        "report..final.md",
        "[...slug].md",
        "a...b",
        ".env",
        "..hidden",
        "notes..",
        "10 % (draft), v2.md",
        "caf\u00e9.md",
        unicodedata.normalize("NFD", "caf\u00e9.md"),
        "\u4e2d\u6587.md",
        "r\u00e9sum\u00e9 \u2013 1\u00bd.md",
        "deepnb",
        ".deepnb-notes",
        "a~b",
        "~$lock.docx",
        "x" * 255,
    ],
)
def test_ordinary_names_pass_as_they_are(name):
    assert safe_parts(f"/folder/{name}") == ("folder", name)


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "/../etc/passwd",
        "a/../b",
        "a/..",
        ".. /x",
        ". ./x",
        "...",
        " ",
        "a\0b",
        "a\nb",
        "a\x7fb",
        "a\x85b",
        "..\\x",
        "a\\b",
        "\\\\server\\share",
        "C:",
        "c:/x",
        "C:x",
        "a/C:/x",
        "~",
        "~/x",
        "~root/x",
        "/~/x",
        "~some-one",
        "a\ud800b",
        "\u2024\u2024/x",
        "\u2025/x",
        "\uff0e\uff0e/x",
        "a\uff0fb",
        "a\uff3cb",
        "a\u2100b",
        "\uff23\uff1a/x",
        "a\u200bb",
        "a\u200db",
        "a\ufeffb",
        "a\u202eb",
        "a\u2066b",
        "a\u2028b",
        *[f"a{invisible}b" for invisible in "\u034f\u115f\u1160\u17b4\u180b\u180f\u2065\u2800"],
        *[f"a{invisible}" for invisible in "\u3164\ufe00\ufe0f\uffa0\ufff0\U000e0001\U000e0fff"],
        ".deepnb",
        "/.deepnb/log.db",
        "a/.DeepNB/x",
        "/\uff0edeepnb/x",
        "/.deepn\uff42",
        ".deepnb.",
        ".deepnb ",
        ".deepnb::$INDEX_ALLOCATION",
        "x" * 256,
        "\u4e2d" * 86,
        "a/" * 3000,
        None,
        7,
    ],
)
def test_hostile_paths_are_refused_with_a_reason(path):
    with pytest.raises(PathError) as caught:
        safe_parts(path)
    assert len(str(caught.value)) > 20
    assert str(caught.value).isprintable()


def test_whatever_passes_is_harmless():
    """Random strings of dangerous pieces: none that passes can climb, hide or reach the record."""
    pieces = ["..", ".", "/", "\\", "~", "C:", "\0", "\u202e", "\u2024", "\uff0f", "\ud800", "a"]
    pieces += [".deepnb", ".DEEPNB", " ", "\n", "\u200b", "\u00e9", "e\u0301", "x.md", "\u2100"]
    chance = random.Random(7)
    passed = 0
    for _ in range(20_000):
        path = "".join(chance.choices(pieces, k=chance.randint(1, 6)))
        try:
            parts = safe_parts(path)
        except PathError:
            continue
        passed += 1
        for part in parts:
            normal = unicodedata.normalize("NFKC", part).casefold()
            assert part.isprintable()
            assert part.encode()
            assert normal.strip(" .")
            assert not set(normal) & set("/\\\0")
            assert normal.rstrip(" .") != ".deepnb"
    assert passed > 500


def test_names_on_disk_are_shown_in_a_form_that_is_a_path():
    assert shown("a b.md") == "a b.md"
    assert shown("caf\udce9.txt") == "caf\ufffd.txt"
    assert shown("a\nb\\c") == "a\ufffdb\ufffdc"
    assert shown(".deepnb") is None
    assert shown("heart\ufe0f.md") == "heart\ufffd.md"
    assert shown("C:") is None


@pytest.mark.parametrize(
    "name",
    [
        "Files",
        " files.",
        "\uff46iles",
        "\U0001d405iles",
        "fi\u0301les",
        "f\u00eeles",
        "file\u0455",
        "\u03dd\u03b9l\u0435s",
        "f\u0131les",
    ],
)
def test_a_name_is_taken_for_the_ascii_that_it_looks_like(name):
    assert looks_like(name) == "files"


def test_letters_of_other_alphabets_are_themselves():
    assert looks_like("\u4e2d\u6587 \u0436") == "\u4e2d\u6587 \u0436"
    assert looks_like("profiles") != "files"
