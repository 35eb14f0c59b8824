"""Where else the panel is shown."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.cells import showing
from tests.browser.test_essentials import say


def test_notebook_7_shows_it_too(lab):
    lab.open_notebook(showing("notebook"), app="notebook")
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(panel.get_by_role("article")).to_contain_text("answer to hello")
