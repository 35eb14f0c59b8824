"""A test mint gives money away; no other mint does."""

from __future__ import annotations

import pytest

from deepnb.errors import MintError, MintUnreachableError
from deepnb.payments import play, play_money
from tests.payments.mints import free_port


def test_play_money_pays(mint, opened):
    till = opened(mint)
    deposit = till.deposit("a", play_money(f"{mint}/", 20).written())
    assert till.balance("a") == 20 - deposit.fee
    assert till.settle("a").amount == 20 - deposit.fee


def test_a_mint_that_waits_for_somebody_to_pay_is_no_test_mint(between, monkeypatch):
    monkeypatch.setattr(play, "_PATIENCE", 0.2)
    between.changes["/v1/mint/quote/bolt11/"] = lambda _, answer: (
        answer[0],
        answer[1] | {"state": "UNPAID"},
    )
    with pytest.raises(MintError, match="no test mint. Have your wallet send a token instead"):
        play_money(between.url, 20)


def test_an_invoice_with_a_hostile_name_is_not_asked_about(between):
    between.changes["/v1/mint/quote/bolt11"] = lambda _, answer: (
        answer[0],
        answer[1] | {"quote": "../../v1/swap"},
    )
    with pytest.raises(MintError, match="its invoice makes no sense"):
        play_money(between.url, 20)


def test_a_mint_that_is_not_there_is_unreachable():
    with pytest.raises(MintUnreachableError, match="no play money. Is there a network"):
        play_money(f"http://127.0.0.1:{free_port()}", 20)
