"""Money in the panel: a token goes to the kernel, a refund to whoever asks, and none stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepnb import Cashu, Session
from deepnb.payments import parse
from deepnb.payments.config import LARGEST
from deepnb.widgets import protocol
from tests.pages import Page
from tests.payments.mints import redeem, token
from tests.sessions import ask, kinds, opening, settle

PLACE = {"id": "1", "view": "v", "thread": "main"}


@pytest.fixture
def paid(tmp_path: Path, free: str) -> Iterator[Callable[..., Session]]:
    """Opens sessions that are paid for, with a wallet beside their workspace."""
    cashu = Cashu([free], price_sats=2, wallet=tmp_path / "wallet")
    (tmp_path / "work").mkdir()
    with opening(tmp_path / "work") as open_session:
        yield lambda script, **more: open_session(script, **{"payment": cashu, **more})


def told(page: Page) -> str:
    """All that pages are told, asked or not."""
    pushed = page.board.news(everything=True, settled=True)
    return json.dumps([page.hello(), page.pull(), pushed])


def left_behind(session: Session, page: Page, folder: Path) -> str:
    """All that stays: in the log, in the notebook, on the disk but for the wallet, in memory."""
    exported = [page.do("export", format=form)["result"] for form in ("md", "html")]
    transcript = page.do("transcribe", panel="p")["result"]
    traits = session.panel().get_state()
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    events = [event._asdict() for event in session.events()]
    return f"{events} {exported} {transcript} {traits} {files} {vars(page.board)}"


def has(text: str, money: str) -> bool:
    """Whether a token, or the secret of one of its coins, can be read in a text."""
    return any(each in text for each in (money, *(proof.secret for proof in parse(money).proofs)))


def test_a_session_that_nobody_pays_for_says_nothing_of_money(tmp_path):
    with opening(tmp_path) as open_session:
        page = Page(open_session(["Hi."]))
        assert page.hello()["facts"]["payment"] is None
        for request in ({"kind": "fund", "token": "cashuBx"}, {"kind": "settle_payment"}):
            kind = request.pop("kind")
            assert page.do(kind, **request)["error"]["kind"].endswith("Error")
        assert page.do("reveal_refund")["result"] is None


def test_a_run_that_waits_for_money_goes_on_when_a_page_pays(paid, free, tmp_path):
    session = paid(["The answer."])
    page = Page(session)
    run = ask(session)
    facts = page.hello()["facts"]["payment"]
    assert (facts["price"], facts["balance"], facts["status"]) == (2, 0, "unfunded")
    assert (facts["mints"], facts["refund"]) == ([free], None)
    assert session.questions[0].type == "payment_exhausted"
    money = token(free, 20).written()
    assert page.say("fund", token=f" {money}\n")["later"]
    assert page.do("fund", token=money)["error"] is None  # the same money again is no more money
    assert settle(run).answer == "The answer."
    facts = page.pull()["facts"]["payment"]
    assert (facts["balance"], facts["spent"], facts["status"]) == (18, 2, "active")
    (closed,) = kinds(session, "interrupt_closed")
    assert closed.data["answer"]["token"].startswith("cashu:")
    assert not has(told(page), money)
    assert not has(left_behind(session, page, tmp_path / "work"), money)


def test_a_token_that_is_no_good_leaves_the_question_open(paid, free):
    session = paid(["The answer."])
    page = Page(session)
    ask(session)
    spent = token(free, 4)
    redeem(free, spent)
    for text, kind in (("cashuBnonsense", "TokenError"), (spent.written(), "SpentTokenError")):
        error = page.do("fund", token=text)["error"]
        assert error["kind"] == kind
        assert text not in error["text"]
    assert session.status == "waiting"
    page.say("respond", question=session.questions[0].id, answer={"stop": True})
    settle(session.runs[-1])
    assert not session.questions


def test_a_refund_is_for_the_page_that_asks_and_is_not_kept(paid, free, tmp_path):
    session = paid(["The answer."])
    page = Page(session)
    assert page.do("reveal_refund")["error"]["kind"] == "SessionError"
    assert page.do("fund", token=token(free, 20).written())["error"] is None
    ask(session)
    settled = page.do("settle_payment")
    assert (settled["result"], settled["error"]) == (None, None)
    facts = page.pull()["facts"]["payment"]
    assert (facts["balance"], facts["status"]) == (0, "settled")
    refund = {key: facts["refund"][key] for key in ("amount", "kept", "fee")}
    assert refund == {"amount": 18, "kept": 2, "fee": 0}
    reply = page.say("reveal_refund")
    (money,) = reply["result"]["tokens"]
    assert money.startswith("cashuB")
    assert not reply["later"]
    assert not has(told(page), money)
    assert not has(left_behind(session, page, tmp_path / "work"), money)
    assert redeem(free, parse(money)) == 18


def test_a_wallet_that_cannot_be_read_leaves_the_rest_to_be_seen(paid):
    session = paid(["Hi."])
    session._core.purse.till.close()
    page = Page(session)
    assert page.hello()["facts"]["payment"] is None
    assert page.do("fund", token="cashuBx")["error"]["text"]


def test_a_token_may_be_as_large_as_a_till_takes_it():
    request = {**PLACE, "type": "fund", "token": "x" * LARGEST}
    assert protocol.REQUEST.validate_python(request)
    with pytest.raises(ValueError, match="at most"):
        protocol.REQUEST.validate_python({**request, "token": "x" * (LARGEST + 1)})


def test_what_a_mint_was_not_there_for_is_told(paid, between, tmp_path):
    cashu = Cashu([between.url], price_sats=2, wallet=tmp_path / "other")
    session = paid(["The answer."], payment=cashu)
    page = Page(session)
    page.do("fund", token=token(between.url, 20).written())
    between.lost.add("/v1/swap")
    assert page.do("settle_payment")["error"]["kind"] == "MintUnreachableError"
    refund = page.pull()["facts"]["payment"]["refund"]
    told = (refund["amount"], refund["waiting"], refund["lost"], refund["claimed"])
    assert told == (0, 20, 0, False)


def test_a_token_is_in_no_description_and_in_no_refusal(paid):
    request: Any = protocol.REQUEST.validate_python({**PLACE, "type": "fund", "token": "cashuBx"})
    assert "cashuB" not in repr(request)
    board = Page(paid(["Hi."])).board
    for wrong in ({"token": ["cashuBx"]}, {"token": "cashuBx", "more": "cashuBx"}):
        reply, _ = board.receive({**PLACE, "type": "fund", **wrong})
        assert reply["error"]["kind"] == "ProtocolError"
        assert "cashuB" not in json.dumps(reply)
