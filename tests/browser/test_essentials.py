"""What must work on every kernel that people have."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.cells import showing
from tests.browser.lab import say

VERSION = "import ipykernel; print(ipykernel.__version__)"


@pytest.mark.essentials
def test_a_question_is_answered_and_a_change_approved(lab, kernel):
    lab.open_notebook([VERSION, *showing("asked")])
    lab.run_all()
    expect(lab.outputs(0)).to_contain_text(kernel)
    panel = lab.panel(2)
    say(panel, "hello")
    expect(panel.get_by_role("article")).to_contain_text("answer to hello")
    say(panel, "write")
    panel.get_by_role("button", name="Approve", exact=True).click()
    expect(panel).to_contain_text("so Updated file /workspace/new.md")
    assert (lab.folder / "new.md").read_text() == "hello"
    assert lab.strangers == []
    assert lab.errors == []


@pytest.mark.essentials
def test_a_click_while_a_cell_is_busy_is_taken_as_soon_as_the_kernel_can(lab, kernel):
    hold = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"
    lab.open_notebook([*showing("busy"), hold])
    lab.run_cell(0)
    lab.run_cell(1)
    panel = lab.panel(1)
    say(panel, "write")
    approve = panel.get_by_role("button", name="Approve", exact=True)
    expect(approve).to_be_enabled()
    lab.run_cell(2, wait=False)
    approve.click()
    done = panel.get_by_role("article").get_by_text("so Updated file /workspace/new.md")
    busy = panel.get_by_text("The kernel is busy with a cell")
    # 7.3 has a thread for such messages, 6.31 has none, and 7.4 has one that may be taken.
    expect({"7.3": done, "6.31": busy}.get(kernel, done.or_(busy).first)).to_be_visible()
    if kernel == "6.31":
        assert not (lab.folder / "new.md").exists()
    (lab.folder / "go").touch()
    lab.wait_for_prompt(2)
    expect(done).to_be_visible()
    expect(busy).to_be_hidden()


@pytest.mark.essentials("7.4", "6.31")
def test_a_pending_approval_outlives_a_reload_and_the_death_of_the_kernel(lab):
    lab.open_notebook(showing("outlives"))
    lab.run_all()
    panel = lab.panel(1)
    approve = panel.get_by_role("button", name="Approve", exact=True)
    say(panel, "write")
    expect(approve).to_be_enabled()
    lab.reload()
    expect(approve).to_be_enabled()
    lab.kill_kernel()
    expect(panel).to_contain_text("The kernel is gone")
    expect(approve).to_be_disabled()
    assert not (lab.folder / "new.md").exists()
    lab.run_cell(0)  # opens the thread again; the panel is still in the second cell's output
    approve.click()
    expect(panel).to_contain_text("so Updated file /workspace/new.md")
    assert (lab.folder / "new.md").read_text() == "hello"
