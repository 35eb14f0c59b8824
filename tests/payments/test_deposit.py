"""Paying in: what is good is taken once, and all else stays with its owner, untouched."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from deepnb.errors import (
    DuplicateTokenError,
    MintError,
    MintUnreachableError,
    PendingTokenError,
    SpentTokenError,
    TokenError,
)
from deepnb.payments import Till, Token
from deepnb.payments import mint as mint_module
from deepnb.payments.mint import Mint
from tests.payments import mints
from tests.payments.mints import (
    NUTSHELL,
    RealMint,
    free_port,
    issue,
    locked,
    plain,
    points,
    redeem,
)


def states(url: str, token: Token) -> set[str]:
    return set(Mint(url).states(points(token)))


@pytest.mark.parametrize("version", [3, 4])
def test_a_good_token_is_taken_and_not_redeemed(mint, opened, version):
    till, token = opened(mint), mints.token(mint, 100)
    deposit = till.deposit("a", token.written(version))
    assert (deposit.total, till.balance("a"), till.spent("a")) == (100, 100 - deposit.fee, 0)
    assert re.fullmatch("cashu:[0-9a-f]{32}", deposit.handle)
    assert states(mint, token) == {"UNSPENT"}


def test_what_is_shown_of_a_deposit_and_a_till_is_no_money(free, opened):
    till, token = opened(free), mints.token(free, 9)
    shown = repr(till) + repr(till.deposit("a", token.written())) + str(vars(till))
    assert not any(proof.secret in shown or proof.signature in shown for proof in token.proofs)


def test_the_fee_is_not_part_of_the_balance(costly, opened):
    till = opened(costly)
    assert till.deposit("a", mints.token(costly, 100).written()).fee == 1
    assert till.balance("a") == 99
    assert (
        till.deposit("b", issue(costly, 11, coins=[1] * 11).written()).fee == 2
    )  # 11 coins, 1.1 sat
    assert till.balance("b") == 9


def refused(till: Till, token: Token | str, error: type[Exception], words: str) -> None:
    """A token is refused, and neither the wallet nor the mint has anything of it."""
    written = token if isinstance(token, str) else token.written()
    with pytest.raises(error, match=words) as raised:
        till.deposit("a", written)
    assert till.balance("a") == 0
    assert till.settle("a").total == 0
    if isinstance(token, Token):
        assert not any(proof.secret in str(raised.value) for proof in token.proofs)


# forged, foreign, odd


def test_a_malformed_token_is_refused(free, opened):
    refused(opened(free), "cashuBnonsense", TokenError, "Copy the whole token")


@pytest.mark.parametrize(
    "foreign",
    [
        "https://mint.example",
        "http://127.0.0.1:1",
        "http://127.0.0.1@evil.example",
        "file:///etc/passwd",
        "http://[::1",
        "",
        "x",
    ],
)
def test_a_token_of_a_mint_that_is_not_taken_is_refused_and_its_address_is_not_asked(
    free, opened, foreign
):
    token = replace(mints.token(free, 8), mint=foreign or "/")
    refused(opened(free), token, TokenError, f"a mint that is not taken here. Send one of {free}")


def test_a_mint_is_known_by_its_address_however_it_is_written(free, opened):
    token = replace(mints.token(free, 8), mint=free.replace("http://", " HTTP://") + "/")
    assert opened(free).deposit("a", token.written()).mint == free


def test_a_token_of_another_unit_is_refused(free, opened):
    refused(
        opened(free), replace(mints.token(free, 8), unit="usd"), TokenError, "only 'sat' is taken"
    )


def test_a_keyset_of_another_unit_is_refused_whatever_the_token_says(between, opened):
    token = replace(mints.token(between.mint, 8), mint=between.url)
    between.changes["/v1/keysets"] = with_keysets(unit="msat")
    refused(opened(between.url), token, TokenError, "in 'msat', and only 'sat'")


def test_a_token_of_an_unknown_keyset_is_refused(free, costly, opened):
    theirs = replace(mints.token(costly, 8), mint=free)
    refused(opened(free), theirs, TokenError, "a keyset that .* does not know")


def test_a_token_without_dleq_is_refused_if_only_one_coin_lacks_it(free, opened):
    token = mints.token(free, 7)
    for lacking in (token.proofs, token.proofs[2:]):
        proofs = tuple(
            replace(proof, dleq=None) if proof in lacking else proof for proof in token.proofs
        )
        refused(opened(free), replace(token, proofs=proofs), TokenError, "cashu send --dleq")


FORGERIES: dict[str, Callable[[Token], Token]] = {
    "a larger amount": lambda token: last(token, amount=token.proofs[-1].amount * 2),
    "another secret": lambda token: last(token, secret=plain()),
    "another signature": lambda token: last(token, signature=token.proofs[0].signature),
    "no point": lambda token: last(token, signature="02" + "00" * 32),
    "another proof": lambda token: last(token, dleq=token.proofs[0].dleq),
    "no scalar": lambda token: last(token, dleq=replace(token.proofs[0].dleq, r="00" * 32)),
    "too large a scalar": lambda token: last(
        token, dleq=replace(token.proofs[0].dleq, e="ff" * 32)
    ),
    "an amount that there is no key for": lambda token: last(token, amount=3),
}


def last(token: Token, **changes: object) -> Token:
    return replace(token, proofs=(*token.proofs[:-1], replace(token.proofs[-1], **changes)))


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_is_refused_before_the_mint_hears_of_it(between, opened, forgery):
    token = FORGERIES[forgery](replace(mints.token(between.mint, 7), mint=between.url))
    refused(opened(between.url), token, TokenError, "forged")
    assert not between.count("/v1/checkstate")


def test_a_coin_twice_in_a_token_is_refused(free, opened):
    token = mints.token(free, 7)
    twice = replace(token, proofs=(*token.proofs, token.proofs[0]))
    refused(opened(free), twice, TokenError, "the same coin in it twice")


# spent, pending, here already, too small


def test_a_spent_token_is_refused_if_only_a_part_is_spent(free, opened):
    token = mints.token(free, 7)
    redeem(free, replace(token, proofs=token.proofs[:1]))
    refused(opened(free), token, SpentTokenError, "a part of it, was spent already")


def test_a_token_that_is_being_spent_is_refused_and_can_be_tried_again(between, opened):
    token = replace(mints.token(between.mint, 7), mint=between.url)

    def pending(_, answer):
        answer[1]["states"][-1]["state"] = "PENDING"
        return answer

    between.changes["/v1/checkstate"] = pending
    till = opened(between.url)
    refused(till, token, PendingTokenError, "try again in a minute")
    between.changes.clear()
    assert till.deposit("a", token.written()).total == 7


def test_a_token_is_taken_once_whoever_it_is_paid_to(free, opened):
    till, token = opened(free), mints.token(free, 8)
    deposit = till.deposit("a", token.written())
    with pytest.raises(DuplicateTokenError, match="this session already") as again:
        till.deposit("a", token.written(3))
    assert again.value.handle == deposit.handle
    part = replace(token, proofs=(*mints.token(free, 4).proofs, *token.proofs[:1]))
    with pytest.raises(DuplicateTokenError, match="another session already") as other:
        opened(free).deposit("b", part.written())
    assert other.value.handle is None
    assert (till.balance("a"), till.balance("b")) == (8, 0)


def test_of_many_who_pay_with_the_same_token_at_once_one_has_paid(free, opened):
    token = mints.token(free, 64).written()
    tills = [opened(free) for _ in range(4)]
    outcomes = []

    def pay(number: int) -> None:
        try:
            outcomes.append(tills[number % 4].deposit(f"account {number}", token))
        except DuplicateTokenError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=pay, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 12
    assert sum(isinstance(each, DuplicateTokenError) for each in outcomes) == 11
    assert sum(tills[0].balance(f"account {number}") for number in range(12)) == 64


def test_a_token_below_the_price_is_refused_unless_it_tops_up_enough(costly, opened):
    till = opened(costly, price=10)
    refused(
        till, mints.token(costly, 10), TokenError, "worth 9 sat here, after the mint's fee of 1"
    )
    till.deposit("a", mints.token(costly, 15).written())
    till.charge("a", "one")
    assert till.balance("a") == 4
    with pytest.raises(TokenError, match="Send a larger one"):
        till.deposit("a", mints.token(costly, 6).written())
    till.deposit("a", mints.token(costly, 7).written())
    assert till.charge("a", "two") == 0


def test_a_token_that_the_fee_eats_up_is_refused(costly, opened):
    refused(opened(costly, price=1), mints.token(costly, 1), TokenError, "worth 0 sat here")


# locked


def test_a_token_that_is_locked_to_the_wallet_is_taken(mint, opened):
    till = opened(mint)
    forever = issue(mint, 10, lambda: locked(till.pubkey))
    end = int(time.time()) + 3600
    for_a_while = issue(
        mint,
        10,
        lambda: locked(
            till.pubkey, ["sigflag", "SIG_INPUTS"], ["locktime", str(end)], ["refund", "02" * 33]
        ),
    )
    assert till.deposit("a", forever.written()).safe_until == float("inf")
    assert till.deposit("b", for_a_while.written()).safe_until == end
    mixed = replace(forever, proofs=(*mints.token(mint, 2).proofs, *mints.token(mint, 2).proofs))
    assert till.deposit("c", mixed.written()).safe_until == 0


CONDITIONS: dict[str, Callable[[str], str]] = {
    "of all outputs": lambda key: locked(key, ["sigflag", "SIG_ALL"]),
    "of two keys": lambda key: locked(key, ["pubkeys", "02" * 33]),
    "of two signatures": lambda key: locked(key, ["n_sigs", "2"]),
    "said twice": lambda key: locked(key, ["n_sigs", "1"], ["n_sigs", "2"]),
    "of a hash": lambda key: locked(key, kind="HTLC"),
    "of an unknown kind": lambda key: locked(key, kind="P2PX"),
    "of an unknown tag": lambda key: locked(key, ["weather", "fine"]),
    "of no number": lambda key: locked(key, ["locktime", "noon"]),
    "of a tag that is none": lambda key: locked(key, []),
    "without a nonce": lambda key: f'["P2PK", {{"data": "{key}"}}]',
    "of nothing": lambda _: "[]",
    "of a mapping": lambda _: "{}",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_token_under_conditions_that_are_not_known_is_refused(free, opened, condition):
    till = opened(free)
    token = issue(free, 1, lambda: CONDITIONS[condition](till.pubkey))
    token = replace(token, proofs=(*mints.token(free, 4).proofs, *token.proofs))
    refused(till, token, TokenError, f"conditions that are not known.*{till.pubkey}")


def test_a_token_that_is_locked_to_another_key_is_refused(free, opened):
    till, other = opened(free), opened(free, wallet="other")
    assert till.pubkey != other.pubkey
    refused(till, issue(free, 4, lambda: locked(other.pubkey)), TokenError, "somebody else's key")


# mints that are down, slow or lie


def test_a_mint_that_is_down_leaves_the_token_with_its_owner(free, opened):
    gone = f"http://127.0.0.1:{free_port()}"
    token = replace(mints.token(free, 8), mint=gone)
    refused(opened(gone), token, MintUnreachableError, "did not answer. .* still yours")


def test_a_mint_that_is_slow_is_given_up_and_can_be_tried_again(between, opened, monkeypatch):
    token = replace(mints.token(between.mint, 8), mint=between.url)
    monkeypatch.setattr(mint_module, "PATIENCE", 0.5)
    going_on = threading.Event()

    def slow(_, answer):
        going_on.wait(20)
        return answer

    between.changes["/v1/checkstate"] = slow
    till = opened(between.url)
    refused(till, token, MintUnreachableError, "took too long")
    going_on.set()
    between.changes.clear()
    monkeypatch.setattr(mint_module, "PATIENCE", 20)
    assert opened(between.url).deposit("a", token.written()).total == 8


def with_keysets(**changes: object):
    def change(_, answer):
        for keyset in answer[1]["keysets"]:
            keyset.update(changes)
        return answer

    return change


def swapped_keys(_, answer):
    keys = answer[1]["keysets"][0]["keys"]
    keys["1"], keys["2"] = keys["2"], keys["1"]
    return answer


def other_points(_, answer):
    for state in answer[1]["states"]:
        state["Y"] = "02" + "ab" * 32
    return answer


def fewer(_, answer):
    answer[1]["states"].pop()
    return answer


def unheard_of(_, answer):
    answer[1]["states"][0]["state"] = "FINE"
    return answer


LIES = {
    "keys of another size": ("/v1/keys/", swapped_keys),
    "keys of another keyset": ("/v1/keys/", with_keysets(id="00" + "ab" * 7)),
    "no keys": ("/v1/keys/", with_keysets(keys={})),
    "keys that are none": ("/v1/keys/", with_keysets(keys={"1": "zz"})),
    "a fee that is not in the id": ("/v1/keysets", with_keysets(input_fee_ppk=7)),
    "a fee below zero": ("/v1/keysets", with_keysets(input_fee_ppk=-100)),
    "a fee that is no number": ("/v1/keysets", with_keysets(input_fee_ppk="all")),
    "no keysets": ("/v1/keysets", lambda *_: (200, {"keysets": None})),
    "the states of others": ("/v1/checkstate", other_points),
    "too few states": ("/v1/checkstate", fewer),
    "a state that there is not": ("/v1/checkstate", unheard_of),
    "no states": ("/v1/checkstate", lambda *_: (200, {})),
    "a list": ("/v1/checkstate", lambda *_: (200, [])),
    "no JSON": ("/v1/checkstate", lambda *_: (200, b"<html>")),
    "deep JSON": ("/v1/checkstate", lambda *_: (200, b"[" * 100_000)),
    "an answer without end": ("/v1/checkstate", lambda *_: (200, b" " * 3_000_000)),
    "somewhere else": ("/v1/checkstate", lambda *_: (307, {"Location": "http://127.0.0.1:1/"})),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_mint_that_lies_is_not_believed(between, opened, lie):
    token = replace(mints.token(between.mint, 7), mint=between.url)
    path, change = LIES[lie]
    between.changes[path] = change
    refused(opened(between.url), token, MintError, "cannot be believed")


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ((400, {"code": 11001, "detail": "cashuBsecret"}), MintError, "spent already"),
        ((400, {"code": 11002}), MintError, "being spent at this moment"),
        ((400, {"code": 11003}), MintError, "signed these outputs already"),
        ((400, {"code": {"a": 1}}), MintError, "for a reason of its own"),
        ((422, {"detail": "cashuBsecret"}), MintError, "for a reason of its own"),
        ((429, {}), MintUnreachableError, "try again later"),
        ((500, b"oops"), MintUnreachableError, "try again later"),
        (None, MintUnreachableError, "did not answer"),
    ],
)
def test_a_mint_that_refuses_is_quoted_by_its_code_and_not_in_its_words(
    between, opened, answer, error, words
):
    between.changes["/v1/checkstate"] = lambda *_: answer
    token = replace(mints.token(between.mint, 7), mint=between.url)
    with pytest.raises(MintError, match=words) as raised:
        opened(between.url).deposit("a", token.written())
    assert type(raised.value) is error
    assert "secret" not in str(raised.value)


def test_a_missing_nutshell_fails_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.payments.mints.NUTSHELL", NUTSHELL / "nowhere")
    with pytest.raises(FileNotFoundError, match="make mint"):
        RealMint(tmp_path / "mint").start()
