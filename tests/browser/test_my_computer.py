"""The reader's own files: how they come, what is done with them, and how they look."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import add_folder, disk, map_to, row, shelf, side, tie, unfold, write
from tests.browser.shelf import (
    add,
    dialog,
    drop,
    drop_from_disk,
    item,
    my_computer,
    names,
    show,
    told,
)
from tests.browser.test_hostile import PIXEL

PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99]>> endobj
trailer <</Root 1 0 R>>
"""

SETUP = """
import deepnb
from deepnb.testing import ScriptedModel

session = deepnb.Session("deep", workspace=".", client=True, model=ScriptedModel(["hello"]))
"""


@pytest.mark.essentials("7.4", "6.31")
def test_files_come_in_every_way_and_stay(lab, tmp_path):
    (tmp_path / "thesis" / "data").mkdir(parents=True)
    (tmp_path / "thesis" / "plan.md").write_text("# Plan\n")
    (tmp_path / "thesis" / "data" / "levels.csv").write_text("day,level\n1,2\n")
    (tmp_path / "dropped").mkdir()
    (tmp_path / "dropped" / "inside.txt").write_text("inside")
    panel = show(lab, SETUP)
    mine = my_computer(panel)
    expect(mine).to_contain_text("kept in this browser")
    add(panel, ("a.md", b"# A\n"), ("empty.txt", b""))
    told(panel, "Added 2 files.")
    panel.locator("[data-pick=folder]").set_input_files(tmp_path / "thesis")
    expect(item(panel, "thesis")).to_be_visible()
    drop(item(panel, "thesis"), ("b.txt", "B"))
    drop_from_disk(mine, tmp_path / "dropped")
    item(panel, "thesis").click()
    item(panel, "dropped").click()
    for name in ("thesis/b.txt", "thesis/data", "thesis/plan.md", "dropped/inside.txt"):
        expect(item(panel, name)).to_be_visible()

    drop(mine, text="Ask Ada about the pump")
    note = dialog(panel, "New note")
    expect(note.get_by_label("Text")).to_have_value("Ask Ada about the pump")
    note.get_by_label("Name").fill("ada.md")
    note.get_by_role("button", name="Keep").click()
    expect(item(panel, "ada.md")).to_be_visible()

    add(panel, ("a.md", b"# Another A\n"), ("a 2.md", b"2"))  # one name is taken, one will be
    taken = dialog(panel, "a.md is there already")
    taken.get_by_role("button", name="Keep both").click()
    expect(item(panel, "a 2.md")).to_be_visible()
    expect(item(panel, "a 2 2.md")).to_be_visible()
    add(panel, ("a.md", b"# The third A\n"))
    taken.get_by_role("button", name="Replace").click()
    item(panel, "a.md").click()
    look = panel.get_by_role("region", name="Preview of a.md")
    expect(look).to_contain_text("The third A")
    panel.locator(".dn-files-notes").get_by_role("button", name="Undo").click()
    expect(look).not_to_contain_text("The third A")
    expect(look.get_by_role("heading", name="A", exact=True)).to_be_visible()

    lab.reload()
    expect(item(panel, "a.md")).to_be_visible()
    everything = names(panel)
    assert everything == [
        "dropped", "dropped/inside.txt", "thesis", "thesis/data", "thesis/data/levels.csv",
        "thesis/b.txt", "thesis/plan.md", "a 2 2.md", "a 2.md", "a.md", "ada.md", "empty.txt",
    ]  # fmt: skip
    expect(panel.locator(".dn-private")).to_have_text("Nothing has left this browser.")
    assert lab.errors == []


# What the browser keeps for a workspace, other than the name of the store.
LEFT = """async name => {
  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const database = await done(indexedDB.open(`deepnb:${name}`));
  const tables = [...database.objectStoreNames].filter(table => table !== "meta");
  const rows = database.transaction(tables);
  const counts = await Promise.all(tables.map(table => done(rows.objectStore(table).count())));
  database.close();
  return counts.reduce((sum, count) => sum + count);
}"""


@pytest.mark.essentials("7.4", "6.31")
def test_what_programs_leave_stays_out_and_all_that_is_kept_is_forgotten(lab, tmp_path):
    litter = {".DS_Store": "x", "old/Thumbs.db": "x"}
    trip = write(tmp_path / "trip", {"a.md": "# A\n", "old/b.md": "b\n", **litter})
    photos = write(tmp_path / "photos", {"c.md": "c\n", ".DS_Store": "x"})
    there = write(lab.folder / "texts", {".DS_Store": "x"})
    panel = show(lab, SETUP, "print(*session.files.path, *session.files.state, sep='\\n')")
    mine = my_computer(panel)
    add_folder(panel, trip)
    told(panel, "Added 2 files. 2 system files (.DS_Store and the like) were left out.")
    drop_from_disk(mine, photos)
    told(panel, "Added c.md. 1 system file (.DS_Store and the like) was left out.")
    kept = {"/trip/a.md": "# A\n", "/trip/old/b.md": "b\n", "/photos/c.md": "c\n"}
    assert shelf(lab) == kept
    map_to(panel, "/trip", "texts")
    expect(tie(panel, "mine", "/trip")).to_have_text("in step")
    assert disk(there) == {".DS_Store": "x", "a.md": "# A\n", "old/b.md": "b\n"}
    expect(side(panel, "workspace")).to_contain_text(re.compile("system files? (is|are) not shown"))
    expect(row(panel, "workspace", "/texts/.DS_Store")).to_have_count(0)
    assert shelf(lab) == kept

    item(panel, "photos").click()
    lab.page.keyboard.press("Delete")
    told(panel, "Deleted photos.")
    forget = dialog(panel, "Forget everything kept in this browser?")
    for decision in ("Cancel", "Forget"):
        assert lab.page.evaluate(LEFT, shelf_name(lab)) > 0
        mine.get_by_role("button", name="More about My computer").click()
        panel.get_by_role("menuitem", name="Forget everything kept in this browser").click()
        expect(forget).to_contain_text("2 files, 6 bytes, of this workspace go")
        expect(forget).to_contain_text("The mapping ends")
        forget.get_by_role("button", name=decision, exact=True).click()
        expect(forget).to_have_count(0)
    notes = panel.locator(".dn-files-notes")
    expect(notes).to_have_text("This browser keeps nothing of this workspace any more.")
    expect(mine.locator("[data-path]")).to_have_count(0)
    expect(tie(panel, "workspace", "/texts")).to_have_count(0)
    (there / "a.md").write_text("changed later")
    unfold(panel, "workspace", "/texts")
    expect(row(panel, "workspace", "/texts/a.md")).to_contain_text("13 bytes")
    lab.reload()
    expect(mine).to_contain_text("What you add is kept in this browser.")
    assert lab.page.evaluate(LEFT, shelf_name(lab)) == 0
    lab.run_cell(2)
    expect(lab.outputs(2)).to_contain_text("/workspace/texts/a.md")
    expect(lab.outputs(2)).not_to_contain_text("in step")
    expect(panel.locator(".dn-private")).to_contain_text("2 files kept in step")  # which has left
    assert lab.errors == []


def shelf_name(lab):
    return (lab.folder / ".deepnb" / "shelf").read_text().strip()


class Hands:
    """A person who uses the keyboard alone, and sees where the focus is."""

    def __init__(self, panel):
        self._panel = panel
        self._keyboard = panel.page.keyboard

    def press(self, *keys):
        for key in keys:
            self._keyboard.press(key)

    def enter(self, text):
        """Type, and end it with Enter."""
        self._keyboard.type(text)
        self._keyboard.press("Enter")

    def are_on(self, name):
        expect(item(self._panel, name)).to_be_focused()

    def walk_to(self, target, key="Tab"):
        for _ in range(30):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.press(key)
        raise AssertionError(f"{key} does not lead there.")

    def pick(self, command):
        """Choose from the menu that is open."""
        expect(self._panel.get_by_role("menuitem").first).to_be_focused()
        self.walk_to(self._panel.get_by_role("menuitem", name=command), "ArrowDown")
        self.press("Enter")


def test_files_are_kept_in_order_by_keyboard_alone(lab):
    panel = show(lab, SETUP)
    hands = Hands(panel)
    add(panel, *[(name, b"a text\n") for name in ("notes.md", "old.txt", "table.csv")])
    expect(item(panel, "notes.md")).to_be_visible()
    add_button = my_computer(panel).get_by_role("button", name="Add")
    add_button.focus()
    hands.press("Enter")
    hands.pick("New folder")
    expect(dialog(panel, "New folder").get_by_label("Name")).to_be_focused()
    hands.enter("archive")
    expect(item(panel, "archive")).to_be_visible()
    expect(add_button).to_be_focused()

    hands.press("Tab", "Home")
    hands.are_on("archive")
    hands.press("o")  # the name begins so
    hands.are_on("old.txt")
    hands.press("F2")
    hands.enter("older")
    hands.are_on("older.txt")
    hands.press("F2", "x", "Escape")
    hands.are_on("older.txt")
    hands.press("Shift+F10")
    hands.pick("Move to")
    expect(dialog(panel, "Move older.txt").get_by_label("Into")).to_be_focused()
    lab.page.keyboard.type("archive")
    hands.press("Tab", "Enter")
    told(panel, "Moved older.txt to archive/older.txt.")
    expect(item(panel, "older.txt")).to_have_count(0)

    hands.press("Home")
    hands.are_on("archive")
    hands.press("Delete")
    told(panel, "Deleted archive.")
    hands.are_on("notes.md")  # which stands there now
    assert names(panel) == ["notes.md", "table.csv"]
    lines = panel.locator(".dn-files-notes > *", has_text="Deleted archive.")
    hands.walk_to(lines.get_by_role("button", name="Undo"))
    hands.press("Enter")
    expect(item(panel, "archive")).to_be_visible()
    assert lab.errors == []


def test_files_are_found_and_read_by_keyboard_alone(lab, tmp_path):
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "older.txt").write_text("a text\n")
    panel = show(lab, SETUP)
    hands = Hands(panel)
    add(panel, ("notes.md", b"notes\n"), ("table.csv", b"1\n"))
    panel.locator("[data-pick=folder]").set_input_files(tmp_path / "archive")
    expect(item(panel, "archive")).to_be_visible()
    my_computer(panel).get_by_role("button", name="Add").focus()
    hands.press("Tab", "Home", "ArrowRight")
    expect(item(panel, "archive/older.txt")).to_be_visible()
    hands.press("ArrowRight")
    hands.are_on("archive/older.txt")
    hands.press("Enter")
    look = panel.get_by_role("region", name="Preview of older.txt")
    expect(look).to_be_focused()
    expect(look).to_contain_text("a text")
    hands.press("Escape")
    hands.are_on("archive/older.txt")
    hands.press("ArrowLeft")
    hands.are_on("archive")

    my_computer(panel).get_by_role("button", name="Filter").focus()
    hands.press("Enter")
    expect(my_computer(panel).get_by_role("searchbox")).to_be_focused()
    lab.page.keyboard.type("OLD")
    expect(item(panel, "notes.md")).to_have_count(0)
    assert names(panel) == ["archive", "archive/older.txt"]
    hands.press("Tab")
    lab.page.keyboard.type("Tables")
    expect(my_computer(panel)).to_contain_text("No name fits this filter.")
    hands.press("Shift+Tab", "ControlOrMeta+A", "Delete")
    expect(item(panel, "table.csv")).to_be_visible()
    assert names(panel) == ["table.csv"]
    hands.press("Escape")
    expect(item(panel, "notes.md")).to_be_visible()
    assert lab.errors == []


NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Levels\n", "of the lake"]},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "source": "sum(levels)",
            "outputs": [
                {
                    "output_type": "execute_result",
                    "execution_count": 1,
                    "metadata": {},
                    "data": {"text/plain": "42", "text/html": "<img src=x onerror=__hit(1)>"},
                }
            ],
        },
    ],
}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>__hit(1)</script></svg>'


def test_every_kind_of_file_can_be_looked_at(lab):
    panel = show(lab, SETUP)
    add(
        panel,
        ("a.txt", "grüß\n".encode("cp1252") + b"an old text"),
        ("b.csv", b'day;level\n1;"2; and <b>3</b>"\n'),
        ("c.ipynb", json.dumps(NOTEBOOK).encode()),
        ("d.png", PIXEL),
        ("e.svg", SVG.encode()),
        ("f.pdf", PDF),
        ("g.bin", bytes(range(256))),
        ("h.txt", b""),
        ("i.md", b"# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("j.txt", b"long line\n" * 100_000),
        ("k.png", b"this is no picture"),
        ("l.ipynb", b"{broken"),
    )
    expect(item(panel, "l.ipynb")).to_be_visible()

    def look(name):
        item(panel, name).click()
        return panel.get_by_role("region", name=f"Content of {name}")

    expect(look("a.txt")).to_have_text("grüß an old text")
    table = look("b.csv").get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["day", "level"])
    expect(table.get_by_role("cell")).to_have_text(["1", "2; and <b>3</b>"])
    notebook = look("c.ipynb")
    expect(notebook.get_by_role("heading", name="Levels")).to_be_visible()
    expect(notebook).to_contain_text("sum(levels)")
    expect(notebook).to_contain_text("42")
    expect(notebook.locator("img")).to_have_count(0)
    for name in ("d.png", "e.svg"):
        picture = look(name).get_by_role("img", name=name)
        expect(picture).to_be_visible()
        assert picture.evaluate("async image => (await image.decode(), image.naturalWidth)") > 0
    pdf = look("f.pdf")
    if lab.page.evaluate("() => navigator.pdfViewerEnabled"):
        expect(pdf.locator("embed[type='application/pdf']")).to_be_visible()
    else:
        expect(pdf).to_contain_text("cannot show PDF here")
    expect(look("g.bin")).to_contain_text("which is no text. Its first bytes:0000  00 01 02 03")
    expect(look("h.txt")).to_have_text("The file is empty.")
    expect(look("i.md").get_by_role("heading", name="Head")).to_be_visible()
    expect(look("i.md").get_by_role("table")).to_contain_text("1")
    expect(look("j.txt")).to_contain_text("Only its beginning is shown.")
    expect(look("k.png")).to_contain_text("cannot show this image")
    expect(look("l.ipynb")).to_contain_text("{broken")
    assert lab.errors == []
