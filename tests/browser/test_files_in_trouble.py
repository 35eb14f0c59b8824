"""The reader's own files where things go wrong: hostile names, lost permission, no room."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Error, expect

from tests.browser.explorer import (
    choose,
    disk,
    map_to,
    row,
    tie,
    transfer,
    unfold,
    until,
    write,
)
from tests.browser.lab import replies, say
from tests.browser.payloads import payloads
from tests.browser.shelf import add, dialog, drop, item, my_computer, names, show, told
from tests.browser.test_hostile import DANGERS, PROVOKE, Evil

SETUP = """
import deepnb
from deepnb.testing import ScriptedModel, call

def model(messages):
    last = messages[-1]
    if last.type == "tool":
        return f"so {last.text}"
    tool, path = last.text.split()
    if tool == "grep":
        return call("grep", pattern=path, path="/files/", output_mode="content")
    return call(tool, file_path=f"/files/{path}")

session = deepnb.Session("deep", workspace=".", client=True, model=ScriptedModel(model))
"""

RIGHT_TO_LEFT = "report\u202egnp.exe"
LONGEST = "a" * 251 + ".txt"
NAMES = {
    "<img src=x onerror=__hit(1)>.md": "<img src=x onerror=__hit(1)>.md",
    RIGHT_TO_LEFT: "report_gnp.exe",
    LONGEST: LONGEST,
    "🦆 über.md": "🦆 über.md",
    "é.md": "é.md",
    "e\u0301.md": "e\u0301.md",
    "Case.md": "Case.md",
    "case.md": "case.md",
    "CON": "CON",
    "..": "_..",
    "line\nbreak.md": "line_break.md",
    ".deepnb": "_.deepnb",
    "~": "_~",
}
"""What is dropped, and as what it is kept."""


@pytest.fixture
def trap(lab):
    evil = Evil(lab)
    yield evil
    evil.close()


def test_hostile_names_and_contents_are_shown_and_not_obeyed(lab, trap):
    panel = show(lab, SETUP)
    address = lab.page.url
    texts = payloads(trap.host)
    drop(my_computer(panel), *[(name, f"in {name!a}") for name in NAMES])
    told(panel, f"Added {len(NAMES)} files. 5 names cannot be used here and were changed.")
    expect(my_computer(panel).locator("[data-path]")).to_have_count(len(NAMES))
    assert sorted(names(panel)) == sorted(NAMES.values())
    for dropped, kept in NAMES.items():
        item(panel, kept).click()
        expect(panel.locator(".dn-look-body")).to_contain_text(f"in {dropped!a}")
    cells = [{"cell_type": "markdown", "source": text, "metadata": {}} for text in texts]
    outputs = [{"data": {"text/html": text, "text/plain": text}} for text in texts]
    cells.append({"cell_type": "code", "source": "", "metadata": {}, "outputs": outputs})
    rows = "".join('"{}"\n'.format(text.replace('"', '""')) for text in texts)
    add(
        panel,
        ("all.md", "\n\n".join(texts).encode()),
        ("all.ipynb", json.dumps({"cells": cells}).encode()),
        ("all.csv", rows.encode()),
        ("all.html", "\n".join(texts).encode()),
    )
    for name in ("all.md", "all.ipynb", "all.csv", "all.html"):
        item(panel, name).click()
        content = panel.get_by_role("region", name=f"Content of {name}")
        expect(content).to_contain_text("__hit")
        panel.evaluate(PROVOKE)
        assert panel.evaluate(DANGERS) == []
    trap.check_nothing_happened(address)
    trap.check_trap()


# A folder that only this page can see, in the place of one on the reader's disk, and permission as
# the browser gives it: asked for by a click, and taken back at any time.
REAL_FOLDER = """
const isClosed = () => localStorage.getItem("closed") !== null;
const disk = {}; // as another program uses it
for (const [type, names] of [
  [FileSystemDirectoryHandle, ["entries", "getFileHandle", "getDirectoryHandle"]],
  [FileSystemFileHandle, ["getFile", "createWritable"]],
]) {
  for (const name of names) {
    const does = type.prototype[name];
    disk[name] = (handle, ...given) => does.apply(handle, given);
    type.prototype[name] = function (...given) {
      if (isClosed()) throw new DOMException("closed", "NotAllowedError");
      return does.apply(this, given);
    };
  }
}
window.showDirectoryPicker = async () => {
  const root = await navigator.storage.getDirectory();
  return disk.getDirectoryHandle(root, "thesis", { create: true });
};
FileSystemHandle.prototype.queryPermission = async () => isClosed() ? "prompt" : "granted";
FileSystemHandle.prototype.requestPermission = async () => {
  if (!navigator.userActivation.isActive) throw new DOMException("no click", "SecurityError");
  localStorage.removeItem("closed");
  return "granted";
};
window.onDisk = async (name, text) => {
  const folder = await window.showDirectoryPicker();
  if (text === null) return folder.removeEntry(name);
  const handle = await disk.getFileHandle(folder, name, { create: true });
  const file = await disk.createWritable(handle);
  await file.write(text);
  await file.close();
};
window.allOnDisk = async () => {
  const found = {};
  for await (const [name, handle] of disk.entries(await window.showDirectoryPicker()))
    found[name] = await (await disk.getFile(handle)).text();
  return found;
};
"""


def on_disk(lab, name, text):
    """Write a file of the real folder, or delete it, as another program does."""
    lab.page.evaluate("([name, text]) => window.onDisk(name, text)", [name, text])


def all_on_disk(lab):
    """Give what the folder holds; None while a file in it is just being replaced."""
    try:
        return lab.page.evaluate("() => window.allOnDisk()")
    except Error as error:
        if "NotFoundError" not in str(error):
            raise
        return None


def close_folder(lab):
    """Take permission back, as a reader does, or the browser by itself."""
    lab.page.evaluate("() => localStorage.setItem('closed', 'yes')")


def open_in_place(panel):
    my_computer(panel).get_by_role("button", name="Add").click()
    panel.get_by_role("menuitem", name="Open a folder in place").click()
    told(panel, "thesis is open. Its files are read from your disk.")


def come_back(lab):
    """Turn to the page again, as from another program."""
    lab.page.evaluate("() => window.dispatchEvent(new Event('focus'))")


@pytest.mark.essentials("7.4", "6.31")
def test_a_real_folder_is_opened_in_place_and_remembered(lab):
    lab.alone()
    lab.context.add_init_script(REAL_FOLDER)
    panel = show(lab, SETUP)
    on_disk(lab, "plan.md", "# The first plan\n")
    on_disk(lab, "levels.csv", "day,level\n1,2\n")
    open_in_place(panel)
    expect(item(panel, "thesis")).to_contain_text("real folder")
    item(panel, "thesis").click()
    item(panel, "thesis/plan.md").click()
    look = panel.get_by_role("region", name="Content of plan.md")
    expect(look).to_contain_text("The first plan")
    on_disk(lab, "plan.md", "# The second plan, which is longer\n")
    on_disk(lab, "new.md", "new\n")
    come_back(lab)
    expect(item(panel, "thesis/new.md")).to_be_visible()
    expect(look).to_contain_text("The second plan")
    on_disk(lab, "plan.md", None)  # while it is looked at
    come_back(lab)
    expect(look.get_by_role("alert")).to_contain_text("It is not there any more")
    expect(item(panel, "thesis/plan.md")).to_have_count(0)
    item(panel, "thesis/new.md").click()
    lab.page.keyboard.press("Delete")
    told(panel, "Deleted new.md.")
    panel.locator(".dn-files-notes").get_by_role("button", name="Undo").click()
    expect(item(panel, "thesis/new.md")).to_be_visible()

    close_folder(lab)
    lab.reload()
    expect(item(panel, "thesis")).to_contain_text("Open again")
    expect(item(panel, "thesis/new.md")).to_have_count(0)
    panel.get_by_role("tab", name="Chat").click()
    say(panel, "read_file thesis/new.md")
    card = panel.get_by_role("group", name="Waits for the files in your browser")
    expect(card).to_contain_text("The browser asks you before the folder thesis is read again")
    panel.get_by_role("tab", name="Files").click()
    waits = panel.get_by_role("alert").filter(has_text="The agent waits for the folder thesis")
    waits.get_by_role("button", name="Open again").click()
    expect(item(panel, "thesis/new.md")).to_be_visible()
    expect(waits).to_have_count(0)
    panel.get_by_role("tab", name="Chat").click()
    expect(replies(panel).last).to_contain_text("lines 1-1 of 1")

    say(panel, "read_file thesis/plan.md")  # which is gone
    expect(replies(panel).last).to_contain_text("'plan.md' does not exist")
    close_folder(lab)
    say(panel, "grep level")  # everywhere, and so in it
    card.get_by_role("button", name="Open the folder again").click()
    expect(replies(panel).last).to_contain_text("day,level")
    assert lab.errors == []


@pytest.mark.essentials("7.4", "6.31")
def test_a_real_folder_in_step_loses_nothing_when_permission_is_taken_back(lab):
    lab.alone()
    lab.context.add_init_script(REAL_FOLDER)
    panel = show(lab, SETUP)
    on_disk(lab, "plan.md", "one\n")
    open_in_place(panel)
    map_to(panel, "/thesis", "texts")
    expect(tie(panel, "mine", "/thesis")).to_have_text("in step")
    there = lab.folder / "texts"

    def both_are(files):
        until(lab, lambda: disk(there) == all_on_disk(lab) == files)

    on_disk(lab, "plan.md", "two, from the disk\n")
    come_back(lab)
    both_are({"plan.md": "two, from the disk\n"})
    write(there, {"plan.md": "three, from the workspace\n", "new.md": "new\n"})
    both_are({"plan.md": "three, from the workspace\n", "new.md": "new\n"})

    close_folder(lab)
    come_back(lab)
    expect(item(panel, "thesis")).to_contain_text("Open again")
    waiting = tie(panel, "workspace", "/texts")
    expect(waiting).to_have_text("waiting")
    expect(waiting).to_have_attribute("title", re.compile("asked for the folder .*thesis.* again"))
    on_disk(lab, "plan.md", "four, while it was closed\n")
    write(there, {"new.md": "newer\n"})
    unfold(panel, "workspace", "/texts")
    expect(row(panel, "workspace", "/texts/new.md")).to_contain_text("6 bytes")
    choose(panel, "workspace", "/texts", "Compare both sides now")
    expect(waiting).to_have_text("waiting")
    assert disk(there) == {"plan.md": "three, from the workspace\n", "new.md": "newer\n"}
    assert all_on_disk(lab) == {"plan.md": "four, while it was closed\n", "new.md": "new\n"}

    item(panel, "thesis").get_by_role("button", name="Open again").click()
    both_are({"plan.md": "four, while it was closed\n", "new.md": "newer\n"})
    expect(tie(panel, "mine", "/thesis")).to_have_text("in step")
    expect(panel.get_by_role("group", name="Deleted in")).to_have_count(0)
    assert lab.errors == []


def test_where_nothing_can_be_stored_it_is_said_and_all_works_until_the_page_goes(lab):
    lab.alone()
    lab.context.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); };"
    )
    panel = show(lab, SETUP)
    banner = panel.get_by_role("alert").filter(has_text="This browser keeps no files")
    expect(banner).to_be_visible()
    add(panel, ("a.md", b"a text\n"), ("b.bin", bytes(range(256))))
    item(panel, "a.md").click()
    expect(panel.get_by_role("region", name="Content of a.md")).to_contain_text("a text")
    item(panel, "b.bin").click()
    lab.page.keyboard.press("Delete")
    told(panel, "Deleted b.bin.")
    panel.locator(".dn-files-notes").get_by_role("button", name="Undo").click()
    expect(item(panel, "b.bin")).to_be_visible()
    panel.get_by_role("tab", name="Chat").click()
    say(panel, "read_file a.md")
    expect(replies(panel).last).to_contain_text("a text")
    say(panel, "read_file b.bin")
    expect(replies(panel).last).to_contain_text("'b.bin' is a binary file")
    lab.reload()
    panel.get_by_role("tab", name="Files").click()
    expect(banner).to_be_visible()
    expect(my_computer(panel)).to_contain_text("What you add is kept in this browser")
    assert lab.errors == []


# What a browser does that needs room, or a reader who clears the site's data.
EVICT = """name => new Promise((done, fail) => {
  const request = indexedDB.deleteDatabase(`deepnb:${name}`);
  request.onsuccess = () => done();
  request.onerror = () => fail(request.error);
})"""


def test_a_full_store_loses_nothing_and_one_that_is_emptied_says_so(lab):
    lab.alone()  # a browser looks at its quota now and then only
    quota = {"origin": lab.server.url.rstrip("/"), "quotaSize": 2_000_000}
    lab.context.new_cdp_session(lab.page).send("Storage.overrideQuotaForOrigin", quota)
    panel = show(lab, SETUP)
    add(panel, ("kept.bin", b"k" * 300_000))
    expect(item(panel, "kept.bin")).to_be_visible()
    add(panel, ("small.txt", b"small"), ("large.bin", b"l" * 4_000_000))
    alert = panel.locator(".dn-files-notes").get_by_role("alert")
    full = "This browser has no room left for files. Nothing was changed."
    expect(alert).to_contain_text(f"large.bin was not added. {full}")
    expect(alert).to_contain_text("1 file of 2 was added before.")
    add(panel, ("kept.bin", b"m" * 4_000_000))
    dialog(panel, "kept.bin is there already").get_by_role("button", name="Replace").click()
    expect(alert.filter(has_text=f"kept.bin was not added. {full}")).to_be_visible()
    lab.reload()
    expect(item(panel, "kept.bin")).to_contain_text("300 KB")
    item(panel, "kept.bin").click()
    expect(panel.get_by_role("region", name="Content of kept.bin")).to_contain_text("kkk")
    assert names(panel) == ["kept.bin", "small.txt"]

    lab.page.evaluate(EVICT, (lab.folder / ".deepnb" / "shelf").read_text().strip())
    emptied = panel.get_by_role("alert").filter(has_text="The browser has removed the files")
    expect(emptied).to_contain_text("Add the files again.")
    expect(my_computer(panel).locator("[data-path]")).to_have_count(0)
    add(panel, ("again.md", b"back"))
    item(panel, "again.md").click()
    expect(panel.get_by_role("region", name="Content of again.md")).to_contain_text("back")
    lab.reload()
    expect(item(panel, "again.md")).to_be_visible()
    expect(emptied).to_have_count(0)


# A notebook, for only as a whole can it be shown as one.
GIGABYTE = """async () => {
  const folder = await window.showDirectoryPicker();
  const file = await (await folder.getFileHandle("big.ipynb", { create: true })).createWritable();
  await file.truncate(2 ** 30);
  await file.close();
}"""


def test_a_file_of_a_gigabyte_leaves_page_and_kernel_well(lab, tmp_path):
    lab.alone()
    lab.context.add_init_script(REAL_FOLDER)
    panel = show(lab, SETUP, "print('well')")
    lab.page.evaluate(GIGABYTE)
    open_in_place(panel)
    item(panel, "thesis").click()
    expect(item(panel, "thesis/big.ipynb")).to_contain_text("1.1 GB")
    item(panel, "thesis/big.ipynb").click()
    look = panel.get_by_role("region", name="Content of big.ipynb")
    expect(look).to_contain_text("of 1.1 GB, which is no text. Its first bytes:")
    map_to(panel, "/thesis/big.ipynb", "big.ipynb", mode="Copy once")
    expect(tie(panel, "mine", "/thesis/big.ipynb")).to_have_text("copying")
    choose(panel, "mine", "/thesis/big.ipynb", "Unmap")
    told(panel, "Unmapped. Both sides keep their files.")
    expect(tie(panel, "mine", "/thesis/big.ipynb")).to_have_count(0)

    lost = tmp_path / "lost.bin"
    with lost.open("wb") as file:
        file.truncate(2**30)  # of which no byte is on the disk
    panel.locator("[data-pick=files]").set_input_files(lost)
    expect(transfer(panel, "lost.bin")).to_contain_text("of 1.1 GB")
    lost.unlink()  # while it is read
    expect(panel.get_by_role("alert")).to_contain_text("lost.bin was not added.")
    add(panel, ("small.txt", b"small"))
    item(panel, "small.txt").click()
    expect(panel.get_by_role("region", name="Content of small.txt")).to_contain_text("small")
    lab.run_cell(2)
    expect(lab.outputs(2)).to_have_text("well")
    assert not (lab.folder / "big.ipynb").exists()
    assert names(panel) == ["thesis", "thesis/big.ipynb", "small.txt"]
    assert lab.errors == []
