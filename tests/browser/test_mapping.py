"""Files of the reader's that are mapped to the workspace: kept in step, and nothing is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import (
    add_folder,
    choose,
    disk,
    map_to,
    replace,
    row,
    shelf,
    side,
    tie,
    unfold,
    until,
    write,
)
from tests.browser.lab import approve_button, replies, say
from tests.browser.shelf import add, told

SETUP = """
import deepnb
from deepnb.testing import ScriptedModel, call

def model(messages):
    last = messages[-1]
    if last.type == "tool":
        return f"so {last.text}"
    return call("write_file", file_path="/workspace/texts/agent.md", content=last.text)

session = deepnb.Session("deep", workspace=".", client=True, model=ScriptedModel(model))
session.explorer()
"""


@pytest.fixture
def papers(tmp_path):
    """Give a folder of the reader's own, on their disk."""
    return write(tmp_path / "papers", {"a.md": "a one\n", "deep/b.csv": "b,1\n"})


@pytest.fixture
def there(lab):
    """Give where the folder is mapped to."""
    return lab.folder / "texts"


def opened(lab, *more):
    lab.open_notebook([SETUP, *more])
    lab.run_cell(0)
    panel = lab.panel(0)
    expect(side(panel, "mine")).to_be_visible()
    return panel


def in_step(lab, papers, *more):
    """Open the explorer, add the folder and have it kept in step."""
    panel = opened(lab, *more)
    add_folder(panel, papers)
    map_to(panel, "/papers", "texts")
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")
    return panel


def mine(lab):
    """Give the browser's side of the mapped folder."""
    files = shelf(lab).items()
    return {path.removeprefix("/papers/"): text for path, text in files if "/papers/" in path}


@pytest.mark.essentials("7.4", "6.31")
def test_a_folder_is_kept_in_step_both_ways_and_a_copy_is_not_followed(lab, papers, there):
    panel = in_step(
        lab,
        papers,
        "print(session.path('a.md').read_text(), session.path('papers/deep/b.csv'))\n"
        "print(session.files[['path', 'home', 'state', 'other']].to_csv())",
        "session.path('papers/a.md').write_text('a three')\n"
        "session.path('/workspace/texts/deep').joinpath('new.md').write_text('new')",
    )
    expect(tie(panel, "workspace", "/texts")).to_have_text("in step")
    assert disk(there) == {"a.md": "a one\n", "deep/b.csv": "b,1\n"}
    lab.run_cell(1)
    expect(lab.outputs(1)).to_contain_text(f"a one\n {there}/deep/b.csv")
    for line in (
        "/workspace/texts/a.md,workspace,in step,/files/papers/a.md",
        "/files/papers/a.md,browser,in step,/workspace/texts/a.md",
    ):
        expect(lab.outputs(1)).to_contain_text(line)

    add_folder(panel, write(papers, {"a.md": "a two\n"}))
    replace(panel)
    until(lab, lambda: disk(there)["a.md"] == "a two\n")
    lab.run_cell(2)
    until(lab, lambda: mine(lab) == disk(there))
    assert mine(lab) == {"a.md": "a three", "deep/b.csv": "b,1\n", "deep/new.md": "new"}

    add(panel, ("once.md", b"first"))
    map_to(panel, "/once.md", "once.md", mode="Copy once")
    expect(tie(panel, "mine", "/once.md")).to_have_text("copied")
    expect(tie(panel, "workspace", "/once.md")).to_have_text("from browser")
    add(panel, ("once.md", b"second"))
    replace(panel)
    until(lab, lambda: shelf(lab)["/once.md"] == "second")

    panel.get_by_role("tab", name="Chat").click()
    say(panel, "from the agent")
    expect(panel).to_contain_text("/workspace/texts/agent.md")
    expect(panel).to_contain_text("/files/papers/agent.md will be changed in the same way")
    approve_button(panel).click()
    expect(replies(panel).last).to_contain_text("so ")
    until(lab, lambda: mine(lab).get("agent.md") == "from the agent")
    assert (lab.folder / "once.md").read_text() == "first"  # a copy is not followed

    panel.get_by_role("tab", name="Files").click()
    choose(panel, "mine", "/papers", "Unmap")
    told(panel, "Both sides keep their files")
    (there / "a.md").write_text("a four")
    unfold(panel, "workspace", "/texts")
    expect(row(panel, "workspace", "/texts/a.md")).to_contain_text("6 bytes")
    assert mine(lab)["a.md"] == "a three"


@pytest.mark.essentials("7.4", "6.31")
def test_a_single_file_is_kept_in_step_opened_in_a_cell_and_had_back(lab):
    reading = "print(session.path('notes.md').read_text())"
    panel = opened(lab, reading, "session.path('other.md')")
    add(panel, ("notes.md", b"one\n"), ("other.md", b"other\n"))
    map_to(panel, "/notes.md", "texts/mine.md")
    expect(tie(panel, "mine", "/notes.md")).to_have_text("in step")
    lab.run_cell(1)
    expect(lab.outputs(1)).to_have_text("one")
    lab.run_cell(2, wait=False)
    expect(lab.outputs(2)).to_contain_text(
        "PathError: 'other.md' is not in the workspace. To have it there, open the panel's files, "
        "choose it under My computer and map it to the workspace"
    )
    there = lab.folder / "texts" / "mine.md"

    def comes(text):
        until(lab, lambda: there.read_text() == shelf(lab)["/notes.md"] == text)

    add(panel, ("notes.md", b"two\n"))
    replace(panel)
    comes("two\n")
    there.write_text("three\n")
    comes("three\n")
    choose(panel, "mine", "/notes.md", "Bring back the earlier version")
    told(panel, "notes.md is as it was before.")
    comes("two\n")
    notes = panel.locator(".dn-files-notes > *", has_text="notes.md is as it was before.")
    notes.get_by_role("button", name="Undo").click()
    comes("three\n")
    expect(tie(panel, "mine", "/notes.md")).to_have_text("in step")
    earlier = disk(lab.folder / ".deepnb" / "replaced" / "texts" / "mine.md")
    assert list(earlier.values()) == ["one\n", "three\n", "two\n"]
    assert not list(lab.folder.rglob("other.md"))


@pytest.mark.essentials("7.4", "6.31")
def test_conflicts_and_deletions_are_decided_by_the_reader(lab, papers, there):
    write(papers, {name: f"{name} one\n" for name in ("a.md", "b.md", "c.md")})
    panel = in_step(lab, papers)
    with lab.frozen_kernel():
        write(there, {name: f"{name} theirs\n" for name in ("a.md", "b.md", "c.md")})
        add_folder(panel, write(papers, {n: f"{n} mine\n" for n in ("a.md", "b.md", "c.md")}))
        replace(panel)
        told(panel, "Replaced 4 files.")
    for name in ("a.md", "b.md", "c.md"):
        expect(conflict(panel, name)).to_be_visible()
    expect(tie(panel, "mine", "/papers")).to_have_text("conflict")
    first = conflict(panel, "a.md")
    expect(first).to_contain_text("a.md mine")
    expect(first).to_contain_text("a.md theirs")

    # What has changed since it was seen is not decided.
    with lab.frozen_kernel():
        first.get_by_role("button", name="Keep mine").click()
        write(there, {"a.md": "a.md theirs, later\n"})
    expect(panel.locator(".dn-files-notes")).to_contain_text("has changed meanwhile")
    expect(conflict(panel, "a.md")).to_contain_text("a.md theirs, later")
    assert disk(there)["a.md"] == "a.md theirs, later\n"

    conflict(panel, "a.md").get_by_role("button", name="Keep mine").click()
    expect(conflict(panel, "a.md")).to_have_count(0)
    conflict(panel, "b.md").get_by_role("button", name="Keep theirs").click()
    expect(conflict(panel, "b.md")).to_have_count(0)
    conflict(panel, "c.md").get_by_role("button", name="Keep both").click()
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")
    until(lab, lambda: mine(lab) == disk(there))
    assert mine(lab) == {
        "a.md": "a.md mine\n",
        "b.md": "b.md theirs\n",
        "c.md": "c.md mine\n",
        "c (theirs).md": "c.md theirs\n",
        "deep/b.csv": "b,1\n",
    }
    decide_about_deletions(lab, panel, there)


def decide_about_deletions(lab, panel, there):
    """See that what is gone on one side is proposed for the other, and not done."""
    both = mine(lab)
    elsewhere = panel.get_by_role("group", name="Deleted in the workspace")
    here = panel.get_by_role("group", name="Deleted in My computer")

    (there / "a.md").unlink()
    expect(elsewhere).to_contain_text("papers/a.md")
    assert mine(lab) == both
    elsewhere.get_by_role("button", name="Send it again").click()
    until(lab, lambda: disk(there) == both)

    unfold(panel, "mine", "/papers")
    choose(panel, "mine", "/papers/a.md", "Delete")
    expect(here).to_contain_text("texts/a.md")
    assert disk(there) == both
    here.get_by_role("button", name="Take it back").click()
    until(lab, lambda: mine(lab) == both)
    expect(here).to_have_count(0)

    choose(panel, "mine", "/papers/a.md", "Delete")
    here.get_by_role("button", name="Delete it in the workspace too").click()
    del both["a.md"]
    until(lab, lambda: disk(there) == both)
    (there / "deep" / "b.csv").unlink()
    elsewhere.get_by_role("button", name="Delete it here too").click()
    del both["deep/b.csv"]
    until(lab, lambda: mine(lab) == both)
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")
    assert disk(there) == both


def conflict(panel, name):
    return panel.get_by_role("group", name=f"Conflict in papers/{name}")


@pytest.mark.essentials("7.4", "6.31")
def test_a_mapping_outlives_a_kernel_that_dies_in_mid_sync_a_reload_and_a_restart(
    lab, papers, there
):
    write(papers, {f"many/{number:03}.md": f"note {number}\n" * 50 for number in range(120)})
    (papers / "large.txt").write_text("x" * 5_000_000)
    panel = opened(lab)
    add_folder(panel, papers)
    told(panel, "Added 123 files.")
    map_to(panel, "/papers", "texts")
    until(lab, lambda: there.is_dir() and len(disk(there)) > 10)
    lab.kill_kernel()
    assert len(disk(there)) < 123  # or else it was no test
    expect(panel.get_by_role("group", name="Upload of").first).to_contain_text("waiting")
    lab.run_cell(0)
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")
    everything = disk(papers)  # nothing is lost, and nothing is there twice
    assert disk(there) == everything
    assert set(mine(lab)) == set(everything)
    assert not any((lab.folder / ".deepnb" / "uploads").iterdir())

    lab.reload()
    (there / "a.md").write_text("after the reload")  # and nobody has clicked on anything
    until(lab, lambda: mine(lab)["a.md"] == "after the reload")
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")

    lab.restart_kernel()
    expect(panel.get_by_role("alert")).to_be_visible()
    (there / "new.md").write_text("new there")
    add_folder(panel, write(papers.parent / "later" / "papers", {"deep/b.csv": "b,2\n"}))
    replace(panel)
    told(panel, "Replaced b.csv.")
    lab.run_cell(0)
    changed = {"a.md": "after the reload", "deep/b.csv": "b,2\n", "new.md": "new there"}
    until(lab, lambda: disk(there) == everything | changed)
    until(lab, lambda: set(mine(lab)) == set(everything | changed))
    assert mine(lab).items() >= changed.items()
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")


@pytest.mark.essentials("7.4", "6.31")
def test_two_tabs_work_together(lab, papers, there):
    names = [f"{number}.md" for number in range(30)]
    write(papers, {name: f"{name} one\n" for name in names})
    counting = "told = session.disclosures; told = told[told.detail == 'kept in step']\n"
    counting += "print(told.files.sum(), 'sent')"
    panel = opened(lab, counting)
    other = lab.second_view().panel(0)
    expect(side(other, "mine")).to_be_visible()
    lab.page.bring_to_front()
    add_folder(panel, papers)
    expect(row(other, "mine", "/papers")).to_be_visible()
    map_to(other, "/papers", "texts")
    for each in (panel, other):
        expect(tie(each, "mine", "/papers")).to_have_text("in step")
    assert disk(there) == disk(papers)

    def sent():
        lab.run_cell(1)
        return lab.outputs(1).inner_text().strip()

    until(lab, lambda: sent() == "32 sent")
    add_folder(panel, write(papers, {"a.md": "a two\n"}))
    replace(panel)
    until(lab, lambda: disk(there) == disk(papers))
    until(lab, lambda: sent() == "33 sent")
    for each in (panel, other):
        expect(tie(each, "mine", "/papers")).to_have_text("in step")
    (there / "a.md").unlink()
    for each in (panel, other):
        expect(each.get_by_role("group", name="Deleted in the workspace")).to_be_visible()
    other.get_by_role("button", name="Send it again").click()
    for each in (panel, other):
        expect(each.get_by_role("group", name="Deleted in the workspace")).to_have_count(0)
        expect(tie(each, "mine", "/papers")).to_have_text("in step")
    until(lab, lambda: disk(there) == disk(papers))
    until(lab, lambda: sent() == "34 sent")


def test_what_cannot_be_mapped_is_told_and_the_rest_goes_on_and_is_tried_again(lab, papers, there):
    strange = {"Straße \N{PARTY POPPER}.md": "1", "\u05d0.md": "2", "none": ""}
    write(papers, {**strange, "\u202egnp.md": "3", "Read.md": "4", "read.md": "5"})
    strange["_gnp.md"] = "3"  # no name may turn what is read
    write(there, {"deep": "no folder"})
    panel = opened(lab)
    add_folder(panel, papers)
    map_to(panel, "/papers", "texts")
    alert = panel.get_by_role("alert")
    expect(alert).to_contain_text("differs from")
    expect(alert).to_contain_text("3 more")
    expect(tie(panel, "mine", "/papers")).to_have_text("failed")
    assert disk(there) == {**strange, "a.md": "a one\n", "deep": "no folder"}

    (there / "deep").unlink()
    expect(alert).to_contain_text("1 more")
    unfold(panel, "mine", "/papers")
    choose(panel, "mine", "/papers/read.md", "Delete")
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")
    assert disk(there) == {**strange, "a.md": "a one\n", "Read.md": "4", "deep/b.csv": "b,1\n"}

    choose(panel, "mine", "/papers", "Unmap")
    uploads = lab.folder / ".deepnb" / "uploads"
    uploads.rmdir()
    uploads.write_text("where a folder should be")
    map_to(panel, "/papers", "refused")
    expect(alert.first).to_contain_text("cannot be kept in the workspace")
    uploads.unlink()
    alert.first.get_by_role("button", name="Try again").click()
    expect(tie(panel, "mine", "/papers")).to_have_text("in step")
    expect(alert).to_have_count(0)
    assert disk(lab.folder / "refused") == disk(there) == mine(lab)
