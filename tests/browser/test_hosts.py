"""Where else the panel is shown."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.cells import showing
from tests.browser.lab import approve_button, replies, say


def test_notebook_7_shows_it_too_and_the_doctor_knows_the_page(lab):
    lab.alone()
    lab.open_notebook([*showing("notebook"), "print(deepnb.doctor())"], app="notebook")
    lab.run_cell(0)
    lab.run_cell(1)
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    lab.run_cell(2)
    for measured in ("Host +jupyter ", "Push +yes, measured ", "Buffers +yes, measured "):
        expect(lab.outputs(2)).to_contain_text(re.compile(measured))
    say(panel, "write")
    expect(approve_button(panel)).to_be_enabled()
    lab.reload()
    expect(replies(panel).first).to_contain_text("answer to hello")
    approve_button(panel).click()
    expect(panel).to_contain_text("so Updated file /workspace/new.md")
    assert (lab.folder / "new.md").read_text() == "hello"
    assert lab.strangers == []
