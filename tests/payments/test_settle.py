"""Settling: kept + refund + fee = total, once, whatever the mint, the payer or the network do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from deepnb.errors import (
    MintError,
    MintUnreachableError,
    PaymentError,
    PaymentExhaustedError,
)
from deepnb.payments import Refund, Till, parse
from tests.payments import mints
from tests.payments.mints import RealMint, issue, locked, redeem


def exact(refund: Refund) -> tuple[int, int, int, int]:
    """A refund adds up, and its text is the money that it says it is."""
    assert refund.kept + refund.amount + refund.fee + refund.lost + refund.waiting == refund.total
    assert sum(parse(line).amount for line in refund.token.split()) == refund.amount
    return refund.kept, refund.amount, refund.fee, refund.lost


def paid(till: Till, url: str, amount: int, calls: int, account: str = "a") -> None:
    """Pay a token in, by whatever address the till knows its mint, and make some calls."""
    real = getattr(url, "mint", url)
    till.deposit(account, replace(mints.token(real, amount), mint=till.mints[0]).written())
    for call in range(calls):
        till.charge(account, f"call {call}")


def test_a_hundred_sats_are_shared_out_to_the_last(mint, opened):
    till = opened(mint, price=10)
    paid(till, mint, 100, 3)
    fee = 100 - till.balance("a") - 30
    refund = till.settle("a")
    assert exact(refund) == (30, 70 - fee, fee, 0)
    assert till.earned == 30
    assert till.balance("a") == 0
    (token,) = refund.tokens
    assert not till.is_claimed(refund.handle)
    assert redeem(mint, token) == refund.amount - fee
    assert till.is_claimed(refund.handle)
    assert [each.amount for each in till.collect()] == [30]
    assert (till.earned, till.collect()) == (0, ())
    assert redeem(mint, *till.collected()) == 30 - fee


def test_settling_again_gives_the_same_refund_to_the_byte_and_asks_nobody(between, opened):
    till = opened(between.url)
    paid(till, between, 50, 2)
    first = till.settle("a")
    requests = len(between.seen)
    assert till.settle("a") == first
    assert opened(between.url).settle("a").token == first.token
    assert till.reveal(first.handle) == till.refund("a") == first
    assert len(between.seen) == requests
    assert between.count("/v1/swap") == 1


def test_what_is_shown_of_a_refund_is_no_money(free, opened):
    till = opened(free)
    paid(till, free, 9, 1)
    refund = till.settle("a")
    assert repr(refund) == "Refund(7 of 9 sat: 2 kept, 0 fee)"
    shown = repr(refund) + str(refund) + repr(refund.tokens)
    assert not any(proof.secret in shown for proof in refund.tokens[0].proofs)


def test_nothing_spent_is_all_refunded_and_all_spent_leaves_no_token(costly, opened):
    till = opened(costly, price=3)
    paid(till, costly, 10, 0, "idle")
    assert exact(till.settle("idle")) == (0, 9, 1, 0)
    paid(till, costly, 10, 3, "busy")
    refund = till.settle("busy")
    assert exact(refund) == (9, 0, 1, 0)
    assert (refund.token, refund.tokens) == ("", ())
    assert till.is_claimed(refund.handle)


def test_an_account_that_never_paid_has_nothing_to_settle(free, opened):
    till = opened(free)
    assert exact(till.settle("nobody")) == (0, 0, 0, 0)
    assert till.refund("nobody") is None
    with pytest.raises(PaymentError, match="no refund of that handle"):
        till.reveal("cashu:" + "0" * 32)


def test_an_account_goes_on_after_it_was_settled(free, opened):
    till = opened(free)
    paid(till, free, 9, 1)
    first = till.settle("a")
    with pytest.raises(PaymentExhaustedError):
        till.charge("a", "later")
    till.deposit("a", first.token)  # a refund is as good as any token
    till.charge("a", "later")
    second = till.settle("a")
    assert exact(second) == (2, 5, 0, 0)
    assert second.handle != first.handle
    assert till.spent("a") == till.earned == 4


def test_refunds_are_given_together_until_they_are_claimed(free, opened):
    till = opened(free)
    refunds = []
    for amount in (9, 2, 5):
        till.deposit("a", mints.token(free, amount).written())
        till.charge("a", f"of {amount}")
        refunds.append(till.settle("a"))
    first, second, last = refunds
    assert second.token == first.token
    assert exact(last) == (4, 10, 0, 0)
    assert last.token.split() == [first.token, till.reveal(last.handle).token]
    assert opened(free).refund("a") == till.settle("a") == last
    redeem(free, last.tokens[0])
    assert till.refund("a") == last  # nobody was asked
    till.look_for_claims("a")
    assert exact(till.refund("a")) == (2, 3, 0, 0)
    assert opened(free).refund("a") == till.settle("a") == till.reveal(last.handle)
    redeem(free, last.tokens[1])
    till.look_for_claims("a")
    assert till.refund("a") == replace(till.reveal(last.handle), claimed=True)


def test_what_is_not_settled_yet_is_not_claimed(free, between, opened):
    till = opened(free, between.url)
    till.deposit("a", replace(mints.token(between.mint, 20), mint=between.url).written())
    till.deposit("a", mints.token(free, 10).written())
    between.lost |= {"/v1/checkstate", "/v1/swap"}
    with pytest.raises(MintUnreachableError):
        till.settle("a")
    part = till.refund("a")
    redeem(free, *part.tokens)
    assert not till.is_claimed(part.handle)
    between.lost.clear()
    assert till.settle("a").amount == 29
    assert not till.is_claimed(part.handle)


def test_the_accounts_with_money_are_known_without_their_threads(free, opened):
    till = opened(free)
    assert till.accounts() == []
    for account in ("kept", "used up", "given back", "claimed", "paid in again"):
        till.deposit(account, mints.token(free, 4).written())
    for key in ("one", "two"):
        till.charge("used up", key)
    for account in ("used up", "given back", "claimed", "paid in again"):
        till.settle(account)
    redeem(free, *till.refund("claimed").tokens)
    assert till.is_claimed(till.refund("claimed").handle)
    till.deposit("kept", till.refund("paid in again").token)
    till.look_for_claims("paid in again")
    assert opened(free).accounts() == ["kept", "given back"]
    assert sum(till.settle(account).amount for account in till.accounts()) == 12


def test_several_deposits_of_several_mints_are_settled_together(free, costly, opened):
    till = opened(free, costly)
    for url, amount in ((free, 3), (costly, 20), (free, 16)):
        till.deposit("a", mints.token(url, amount).written())
    for call in range(3):
        till.charge("a", f"call {call}")
    refund = till.settle("a")
    assert exact(refund) == (6, 32, 1, 0)  # 3 of the first, 3 of the second, none of the third
    assert [token.amount for token in refund.tokens] == [16, 16]
    assert redeem(free, refund.tokens[1]) == 16


def test_a_token_that_is_locked_to_the_wallet_is_settled(mint, opened):
    till = opened(mint)
    token = issue(mint, 20, lambda: locked(till.pubkey, ["sigflag", "SIG_INPUTS"]))
    till.deposit("a", token.written())
    till.charge("a", "one")
    with pytest.raises(MintError, match="refused"):
        redeem(mint, token)  # its payer cannot spend it
    kept, amount, fee, lost = exact(till.settle("a"))
    assert (kept, amount + fee, lost) == (2, 18, 0)


def test_a_token_that_its_payer_spent_is_lost_and_said_to_be(free, opened):
    till, token = opened(free), mints.token(free, 16)
    till.deposit("a", token.written())
    till.charge("a", "one")
    redeem(free, token)
    refund = till.settle("a")
    assert exact(refund) == (0, 0, 0, 16)
    assert repr(refund) == "Refund(0 of 16 sat: 0 kept, 0 fee, 16 lost)"
    assert till.settle("a") == refund


def test_a_token_of_which_its_payer_spent_a_part_is_settled_for_the_rest(costly, opened):
    till, token = opened(costly), mints.token(costly, 14)  # 8 + 4 + 2
    till.deposit("a", token.written())
    for call in range(5):
        till.charge("a", f"call {call}")
    redeem(costly, replace(token, proofs=token.proofs[:1]))
    assert exact(till.settle("a")) == (5, 0, 1, 8)  # 10 were owed, and 6 are there


def test_what_is_left_of_a_token_below_the_fee_is_lost_too(costly, opened):
    till, token = opened(costly), mints.token(costly, 9)  # 8 + 1
    till.deposit("a", token.written())
    redeem(costly, replace(token, proofs=token.proofs[:1]))
    assert exact(till.settle("a")) == (0, 0, 0, 9)


# mints that are down, slow, lie or rotate their keys


def test_a_mint_that_is_down_when_it_is_to_settle_leaves_the_deposit_to_be_used(between, opened):
    till = opened(between.url)
    paid(till, between, 10, 1)
    between.lost |= {"/v1/keysets", "/v1/checkstate"}
    with pytest.raises(MintUnreachableError, match="paid in is kept"):
        till.settle("a")
    waiting = till.refund("a")
    assert (waiting.waiting, waiting.token, till.balance("a")) == (10, "", 7)
    between.lost.clear()
    till.charge("a", "one more")
    assert exact(till.settle("a")) == (4, 5, 1, 0)


def lose_answer(*_: object) -> None:
    return None


def test_an_answer_that_got_lost_is_repaired_into_the_same_refund_to_the_byte(between, opened):
    till = opened(between.url)
    paid(till, between, 70, 4)
    between.changes["/v1/swap"] = lose_answer
    with pytest.raises(MintUnreachableError):
        till.settle("a")
    assert till.balance("a") == 0  # it may be gone, so nothing can be charged to it
    with pytest.raises(PaymentExhaustedError):
        till.charge("a", "one more")
    with pytest.raises(MintUnreachableError):
        between.lost.add("/v1/restore")
        till.settle("a")
    between.lost.clear()
    refund = till.settle("a")
    assert exact(refund) == (8, 61, 1, 0)
    assert between.count("/v1/swap") == 1
    (token,) = refund.tokens
    signed = between.swapped[0][1]["signatures"][-len(token.proofs) :]
    assert [proof.dleq.e for proof in token.proofs] == [each["dleq"]["e"] for each in signed]
    assert redeem(between.mint, token) == 60


def test_a_request_that_got_lost_is_made_again(between, opened):
    till = opened(between.url)
    paid(till, between, 70, 4)
    between.lost.add("/v1/swap")
    with pytest.raises(MintUnreachableError):
        till.settle("a")
    between.lost.clear()
    assert exact(till.settle("a")) == (8, 61, 1, 0)


def of_signature(**changes: object):
    def change(_, answer):
        answer[1]["signatures"][-1].update(changes)
        return answer

    return change


def fewer(_, answer):
    for signed in answer[1].values():
        signed.pop()
    return answer


def twisted(_, answer):
    one, two, *_ = answer[1]["signatures"]
    one["C_"], two["C_"] = two["C_"], one["C_"]
    return answer


LIES = {
    "fewer coins": fewer,
    "a larger coin": of_signature(amount=64),
    "a coin of another keyset": of_signature(id="00" + "ab" * 7),
    "no proof": of_signature(dleq=None),
    "a wrong proof": of_signature(dleq={"e": "ab" * 32, "s": "cd" * 32}),
    "a proof that is none": of_signature(dleq={"e": 1, "s": "zz"}),
    "signatures of one another": twisted,
    "no point": of_signature(C_="02" + "00" * 32),
    "nothing": lambda *_: (200, {}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_mint_that_lies_about_a_swap_is_not_believed_and_nothing_is_lost(between, opened, lie):
    till = opened(between.url)
    paid(till, between, 70, 4)
    between.changes["/v1/swap"] = LIES[lie]
    with pytest.raises(MintError, match="cannot be believed"):
        till.settle("a")
    between.changes["/v1/restore"] = LIES[lie]
    with pytest.raises(MintError, match="cannot be believed"):
        till.settle("a")
    assert (till.refund("a").waiting, till.earned) == (70, 0)
    between.changes.clear()
    assert exact(till.settle("a")) == (8, 61, 1, 0)


def test_a_mint_that_raises_the_fee_of_a_keyset_is_not_believed_for_the_id_binds_it(
    between, opened
):
    till = opened(between.url)
    paid(till, between, 70, 4)

    def greedy(_, answer):
        for keyset in answer[1]["keysets"]:
            keyset["input_fee_ppk"] = 10**9
        return answer

    between.changes["/v1/keysets"] = greedy
    with pytest.raises(MintError, match="cannot be believed"):
        till.settle("a")
    between.changes.clear()
    assert exact(till.settle("a")) == (8, 61, 1, 0)


def test_a_mint_that_is_busy_with_the_coins_is_asked_again_for_a_while(between, opened):
    till = opened(between.url)
    paid(till, between, 70, 4)
    times = []

    def pending(_, answer):
        times.append(1)
        for state in answer[1]["states"]:
            state["state"] = "PENDING" if len(times) < 3 else state["state"]
        return answer

    between.changes["/v1/checkstate"] = pending
    assert exact(till.settle("a")) == (8, 61, 1, 0)
    assert len(times) == 3


@pytest.mark.parametrize("code", [11003, 0])
def test_a_mint_that_keeps_refusing_is_told_of_and_the_deposit_is_kept(
    between, opened, code, monkeypatch
):
    monkeypatch.setattr("deepnb.payments.settle._PAUSE", 0)
    till = opened(between.url)
    paid(till, between, 70, 4)
    between.lost.add("/v1/swap")
    with pytest.raises(MintUnreachableError):
        till.settle("a")
    between.lost.clear()
    answer = between.answer
    between.answer = lambda method, path, body: (  # the mint itself never hears of the swap
        (400, {"code": code}) if path == "/v1/swap" else answer(method, path, body)
    )
    with pytest.raises(MintError, match=f"refused, with code {code}"):
        till.settle("a")
    between.answer = answer
    assert exact(till.settle("a")) == (8, 61, 1, 0)


def test_of_two_mints_of_which_one_is_gone_the_other_is_settled(free, between, opened):
    till = opened(free, between.url)
    till.deposit("a", replace(mints.token(between.mint, 20), mint=between.url).written())
    till.deposit("a", mints.token(free, 10).written())
    till.charge("a", "one")
    between.lost |= {"/v1/keysets", "/v1/checkstate", "/v1/swap"}
    with pytest.raises(MintUnreachableError):
        till.settle("a")
    part = till.refund("a")
    assert exact(part) == (0, 10, 0, 0)
    assert part.waiting == 20
    assert redeem(free, *part.tokens) == 10
    between.lost.clear()
    whole = till.settle("a")
    assert exact(whole) == (2, 27, 1, 0)
    assert part.token in whole.token


def test_many_who_settle_the_same_account_at_once_have_the_same_refund(mint, opened):
    tills = [opened(mint) for _ in range(4)]
    paid(tills[0], mint, 77, 5)
    with ThreadPoolExecutor(8) as threads:
        refunds = list(threads.map(lambda number: tills[number % 4].settle("a"), range(8)))
    assert len({refund.token for refund in refunds}) == 1
    assert exact(refunds[0])[0] == 10
    assert tills[0].earned == 10


def test_charges_that_race_with_settling_are_kept_or_refused_and_never_forgotten(free, opened):
    till = opened(free, price=1)
    token = issue(free, 40, lambda: locked(till.pubkey))
    till.deposit("a", token.written())
    charged = []

    def charge() -> None:
        for call in range(40):
            try:
                till.charge("a", f"call {call}")
            except PaymentExhaustedError:
                return
            charged.append(call)

    thread = threading.Thread(target=charge)
    thread.start()
    while not charged:
        pass
    refund = till.settle("a")
    thread.join()
    assert exact(refund) == (len(charged), 40 - len(charged), 0, 0)


def test_twenty_sessions_pay_and_settle_at_once_with_exact_totals(free, costly, opened):
    till = opened(free, costly)
    tokens = [issue((free, costly)[number % 2], 50 + number) for number in range(20)]

    def pay(number: int) -> Refund:
        account = f"session {number}"
        till.deposit(account, tokens[number].written())
        for call in range(number % 7):
            till.charge(account, f"call {call}")
        return till.settle(account)

    with ThreadPoolExecutor(20) as threads:
        refunds = list(threads.map(pay, range(20)))
    for number, refund in enumerate(refunds):
        kept, amount, fee, lost = exact(refund)
        assert (refund.total, kept, fee, lost) == (50 + number, 2 * (number % 7), number % 2, 0)
        assert amount == 50 + number - kept - fee
    assert till.earned == sum(refund.kept for refund in refunds)
    for index, url in enumerate((free, costly)):
        given = [token for refund in refunds[index::2] for token in refund.tokens]
        fee = -(-sum(len(token.proofs) for token in given) * 100 * index // 1000)
        assert redeem(url, *given) == sum(token.amount for token in given) - fee


# a mint of its own, that dies and comes back


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[RealMint]:
    mint = RealMint(tmp_path / "mortal", fee=100)
    mint.start()
    mint.wait()
    yield mint
    mint.kill()


def test_a_mint_that_dies_and_comes_back_with_other_keys(mortal, opened):
    till = opened(mortal.url)
    paid(till, mortal.url, 30, 1, "before")
    paid(till, mortal.url, 30, 1, "planned")
    other = issue(mortal.url, 30)

    with pytest.raises(MintUnreachableError):  # planned with the old keys, and not swapped
        settle_until_the_swap(till, mortal)
    mortal.rotate()
    mortal.wait()
    old = other.proofs[0].keyset

    planned = till.settle("planned")
    assert exact(planned) == (2, 27, 1, 0)
    assert all(proof.keyset != old for proof in planned.tokens[0].proofs)
    assert exact(till.settle("before")) == (2, 27, 1, 0)
    till.deposit("after", other.written())  # the old keys still count
    till.charge("after", "one")
    assert exact(till.settle("after")) == (2, 27, 1, 0)
    new = issue(mortal.url, 30)
    assert new.proofs[0].keyset != old
    till.deposit("new", new.written())  # and the new ones are found
    assert redeem(mortal.url, *till.settle("new").tokens) > 0


def settle_until_the_swap(till: Till, mint: RealMint) -> None:
    """The mint dies after it was asked for its keys and before it is asked to swap."""
    living = till._mint(mint.url)
    swap = living.swap

    def dying(*args: object) -> object:
        mint.kill()
        living.swap = swap
        return swap(*args)

    living.swap = dying
    till.settle("planned")
