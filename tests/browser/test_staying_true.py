"""What is shown is what is so: after a reload, without a kernel, and in every view."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.cells import showing
from tests.browser.lab import approve_button, replies, say

GONE = "The kernel is gone"
WRITTEN = "so Updated file /workspace/new.md"
HELD = """
import asyncio, pathlib
import deepnb
from deepnb.testing import ScriptedModel

class Held(ScriptedModel):
    "Stops in the middle of its answer, until there is a file."
    async def _astream(self, *args, **kwargs):
        count = 0
        async for chunk in super()._astream(*args, **kwargs):
            yield chunk
            count += 1
            while count == 5 and not pathlib.Path("go").exists():
                await asyncio.sleep(0.02)

words = " ".join(f"word{number}" for number in range(20))
session = deepnb.Session("deep", workspace=".", thread="held", model=Held(lambda messages: words))
"""


def twin(lab, index):
    """Give the transcript that is saved in a cell's output."""
    return lab.cell(index).locator(".dnt-saved")


def test_a_reload_brings_everything_back_and_the_approval_can_be_given(lab):
    lab.open_notebook(showing("reloaded"))
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    say(panel, "write")
    expect(approve_button(panel)).to_be_enabled()
    lab.reload()
    expect(replies(panel)).to_have_count(2)
    expect(replies(panel).first).to_contain_text("answer to hello")
    expect(panel).to_contain_text("new.md")
    expect(twin(lab, 1)).to_be_hidden()
    approve_button(panel).click()
    expect(panel).to_contain_text(WRITTEN)
    assert (lab.folder / "new.md").read_text() == "hello"
    expect(approve_button(panel)).to_have_count(0)
    lab.reload()  # what was decided stays
    expect(panel).to_contain_text(WRITTEN)
    expect(panel).to_contain_text("You approved")
    expect(approve_button(panel)).to_have_count(0)


def test_a_reload_in_the_middle_of_an_answer_loses_nothing(lab):
    lab.open_notebook([HELD, "session"])
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "go")
    expect(panel).to_contain_text("word3")
    lab.reload()
    expect(panel).to_contain_text("word3")
    expect(panel.get_by_role("button", name="Stop the run")).to_be_enabled()
    expect(panel).not_to_contain_text("word9")
    (lab.folder / "go").touch()
    words = " ".join(f"word{number}" for number in range(20))
    expect(replies(panel)).to_contain_text(words)
    expect(panel.get_by_role("button", name="Stop the run")).to_have_count(0)


def test_a_panel_whose_kernel_died_says_so_and_comes_back_by_itself(lab):
    lab.open_notebook(showing("killed"))
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    say(panel, "write")
    approve = approve_button(panel)
    expect(approve).to_be_enabled()
    panel.get_by_role("textbox", name="Message").fill("half a thought")
    lab.kill_kernel()
    expect(panel.get_by_role("alert")).to_contain_text(GONE)
    expect(panel).to_contain_text("answer to hello")  # all of it can still be read
    expect(approve).to_be_disabled()
    expect(panel).to_contain_text("Can be answered once reconnected")
    box = panel.get_by_role("textbox", name="Message")
    expect(box).to_have_value("half a thought")
    box.press("Enter")
    expect(box).to_have_value("half a thought")
    expect(replies(panel)).to_have_count(2)
    expect(twin(lab, 1)).to_be_hidden()

    lab.run_cell(0)  # opens the session; the panel is in the other cell's output
    expect(panel).not_to_contain_text(GONE)
    expect(box).to_have_value("half a thought")
    approve.click()
    expect(panel).to_contain_text(WRITTEN)
    assert (lab.folder / "new.md").read_text() == "hello"
    box.press("Enter")
    expect(panel).to_contain_text("answer to half a thought")


def test_a_restarted_kernel_is_noticed_and_the_session_found_again(lab):
    lab.open_notebook(showing("restarted"))
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    lab.restart_kernel()
    expect(panel.get_by_role("alert")).to_contain_text(GONE)
    lab.run_cell(0)
    expect(panel.get_by_role("alert")).to_have_count(0)
    say(panel, "again")
    expect(panel).to_contain_text("answer to again")
    expect(replies(panel)).to_have_count(2)


def test_after_a_reload_without_the_kernel_the_transcript_is_seen(lab):
    lab.open_notebook(showing("static"))
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    expect(twin(lab, 1)).to_contain_text("answer to hello")
    expect(twin(lab, 1)).to_be_hidden()
    lab.save()
    lab.restart_kernel()
    lab.reload(save=False)
    expect(twin(lab, 1)).to_be_visible()
    expect(twin(lab, 1)).to_contain_text("answer to hello")


def test_two_views_of_a_session_agree(lab):
    lab.open_notebook([*showing("twice"), "session"])
    lab.run_all()
    upper, lower = lab.panel(1), lab.panel(2)
    say(upper, "hello")
    expect(replies(upper)).to_contain_text("answer to hello")
    expect(replies(lower)).to_contain_text("answer to hello")
    other = lab.second_view().panel(1)
    expect(replies(other)).to_contain_text("answer to hello")
    say(other, "write")
    for view in (upper, lower, other):
        expect(approve_button(view)).to_be_enabled()
    approve_button(lower).click()
    for view in (upper, lower, other):
        expect(view).to_contain_text(WRITTEN)
        expect(approve_button(view)).to_have_count(0)
        expect(view).to_contain_text("You approved")
    assert (lab.folder / "new.md").read_text() == "hello"


@pytest.mark.essentials("7.4", "6.31")
def test_everything_works_where_nothing_is_pushed(lab):
    lab.open_notebook([showing("pulled")[0], "session.panel(push=False)"])
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(replies(panel)).to_contain_text("answer to hello")
    say(panel, "write")
    approve_button(panel).click()
    expect(panel).to_contain_text(WRITTEN)
    assert (lab.folder / "new.md").read_text() == "hello"
    panel.get_by_role("button", name="Thread history").click()
    panel.get_by_role("button", name="New", exact=True).click()  # its reply comes late
    expect(panel.get_by_role("button", name="Thread: New thread")).to_be_visible()
    say(panel, "there")
    expect(panel).to_contain_text("answer to there")
    assert lab.errors == []


def test_a_session_that_is_closed_is_not_asked_until_it_is_opened_again(lab):
    lab.open_notebook([*showing("closed"), "session.close()", 'session = opened("closed")'])
    for index in (0, 1):
        lab.run_cell(index)
    panel = lab.panel(1)
    say(panel, "write")
    expect(approve_button(panel)).to_be_enabled()
    lab.run_cell(2)
    expect(panel.get_by_role("alert")).to_contain_text("This session was closed")
    expect(panel.get_by_role("textbox", name="Message")).not_to_be_editable()
    lab.run_cell(3)
    expect(panel.get_by_role("alert")).to_have_count(0)
    approve_button(panel).click()
    expect(panel).to_contain_text(WRITTEN)


def test_a_panel_shows_the_conversation_while_the_next_cell_keeps_the_kernel_busy(lab, kernel):
    wait = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"
    ask = 'session.ask("hello").wait(30)'
    lab.open_notebook([showing("busy at once")[0], f"{ask}\nsession", wait])
    lab.run_cell(0)
    lab.page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    panel = lab.panel(1)
    expect(replies(panel)).to_contain_text("answer to hello")
    expect(lab.cell(2).locator(".jp-InputPrompt")).to_contain_text("*")
    (lab.folder / "go").touch()
    lab.wait_for_prompt(2)
    say(panel, "again")
    expect(panel).to_contain_text("answer to again")
