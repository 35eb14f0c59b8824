"""What must work on every kernel that people have."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.cells import showing

pytestmark = pytest.mark.essentials
VERSION = "import ipykernel; print(ipykernel.__version__)"


def say(panel, text):
    box = panel.get_by_role("textbox", name="Message")
    box.fill(text)
    box.press("Enter")


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
