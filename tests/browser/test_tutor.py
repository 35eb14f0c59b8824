"""A dialogue with the tutor that is paid for as it goes, from a vague request to the refund."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from deepnb.payments import play_money
from tests.browser.explorer import shelf
from tests.browser.lab import approve_button, replies, say
from tests.browser.shelf import add, item, show
from tests.payments.mints import RealMint
from tests.payments.test_nutshell import Purse

SETUP = """
import deepnb
from deepnb.testing import ScriptedModel, call

OPTIONS = [{{"id": "style", "label": "The style"}}, {{"id": "thesis", "label": "The thesis"}}]
STEPS = [
    call("ask_choices", question="What is to be improved?", options=OPTIONS),
    call("read_file", file_path="/files/essay.md"),
    call("patch_file", file_id="/files/essay.md", search="is good", replace="is scarce",
         description="Says what makes it sound."),
    "Who would deny it?",
]

def model(messages):
    return STEPS[sum(message.type == "tool" for message in messages)]

session = deepnb.Session(
    "tutor", workspace=".", client=True, model=ScriptedModel(model),
    payment=deepnb.Cashu([{mint!r}], price_sats=2, wallet={wallet!r}),
)
"""
ESSAY = "# Thesis\n\nSound money is good.\n"
SAID = """
left = session.settle()
print(left.kept, left.amount, left.fee, session.balance, session.spent)
print(session.state["payment_status"], session.questions)
"""
STORED = "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.title])"


@pytest.fixture(scope="module")
def mint(tmp_path_factory):
    mint = RealMint(tmp_path_factory.mktemp("mint"), fee=100)
    mint.start()
    try:
        mint.wait()
        yield mint.url
    finally:
        mint.kill()


def pay(panel, token, button):
    panel.get_by_label("Cashu token").fill(token)
    panel.get_by_role("button", name=button, exact=True).click()


def account(panel):
    return panel.get_by_role("button", name="Balance: ")


def settle(panel):
    """Have the rest given back, and give the token as it is shown."""
    account(panel).click()
    paid = panel.get_by_role("dialog", name="Payment")
    expect(paid).to_contain_text("8 sat spent")
    paid.get_by_role("button", name="Settle", exact=True).click()
    expect(paid).to_contain_text("for you to take back")
    paid.get_by_role("button", name="Show the token").click()
    expect(paid.get_by_role("img", name="Refund as a QR code")).to_be_visible()
    refund = paid.get_by_role("group", name="Refund token").inner_text().strip()
    paid.get_by_role("button", name="Hide the token").click()
    return refund


def kept(lab):
    """Give all that outlives the dialogue: of the page, the notebook and the thread."""
    lab.save()
    files = [path for path in (lab.folder / ".deepnb").rglob("*") if path.is_file()]
    page = lab.page.evaluate(STORED) + repr(lab.console) + lab.page.url
    return [page.encode(), *(path.read_bytes() for path in [lab.path, *files])]


@pytest.mark.essentials("7.4", "6.31")
def test_a_dialogue_is_paid_for_as_it_goes_and_the_rest_given_back(lab, mint, tmp_path):
    panel = show(lab, SETUP.format(mint=mint, wallet=str(tmp_path / "wallet")), SAID)
    add(panel, ("essay.md", ESSAY.encode()))
    expect(item(panel, "essay.md")).to_be_visible()
    panel.get_by_role("tab", name="Chat").click()
    expect(account(panel)).to_contain_text("0 sat")

    say(panel, "Improve this")
    money = panel.get_by_role("group", name="This needs money")
    expect(money).to_contain_text("A call costs 2 sat")
    pay(money, "cashuBnonsense", "Pay and go on")
    expect(money.get_by_role("alert")).to_be_visible()
    first = play_money(mint, 7).written()  # three coins, so a fee of 1: good for three calls
    pay(money, first, "Pay and go on")

    question = panel.get_by_role("group", name="A question before it goes on")
    question.get_by_role("radio", name="The thesis").check()
    question.get_by_role("button", name="Answer", exact=True).click()
    change = panel.locator(".dn-ask").get_by_role("region", name="Changes")
    expect(change).to_contain_text("Sound money is scarce.")
    assert shelf(lab) == {"/essay.md": ESSAY}
    expect(account(panel)).to_contain_text("0 sat")
    approve_button(panel).click()

    expect(money).to_contain_text("nothing is left")
    lab.reload()
    panel.get_by_role("tab", name="Chat").click()
    expect(money).to_contain_text("nothing is left")
    assert shelf(lab) == {"/essay.md": ESSAY.replace("good", "scarce")}
    pay(money, first, "Pay and go on")
    expect(money.get_by_role("alert")).to_contain_text("already")
    pay(money, play_money(mint, 8).written(), "Pay and go on")
    expect(replies(panel).last).to_contain_text("Who would deny it?")
    expect(panel).to_contain_text("The thesis")

    expect(account(panel)).to_contain_text("5 sat")
    refund = settle(panel)
    lab.run_cell(2)
    sums, state = lab.outputs(2).inner_text().strip().split("\n")
    earned, amount, fee, balance, spent = map(int, sums.split())
    assert (earned, earned + amount + fee, balance, spent) == (8, 15, 0, 8)
    assert state == "settled []"
    purse = Purse(tmp_path / "purse", mint)
    assert 0 < purse.receive(refund) <= amount

    assert not any(re.search(rb"cashu[AB]\w{40}", each) for each in kept(lab))
    assert lab.errors == []
