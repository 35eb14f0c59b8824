"""Killed at any moment of settling: the same call repairs it, and not a sat is made or lost."""

from __future__ import annotations

import multiprocessing
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from deepnb.payments import Till, Token
from tests.payments import kill_child
from tests.payments.mints import issue, locked, redeem

COINS = [32, 8, 2, 1]
AT_RANDOM = 8
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["__main__", "tests.payments.kill_child"])


class Settling:
    """A process that settles an account."""

    def __init__(self, url: str, wallet: Path, account: str, dies_at: int | None = None) -> None:
        self.pipe, far_end = PROCESSES.Pipe()
        args = (url, wallet, account, dies_at, far_end)
        self.process = PROCESSES.Process(target=kill_child.settle, args=args, daemon=True)
        self.process.start()
        far_end.close()

    def hear(self) -> object:
        """What it says; None if it has died first."""
        try:
            assert self.pipe.poll(60), "it neither goes on nor dies"
            return self.pipe.recv()
        except EOFError:
            return None

    def kill(self) -> object:
        """Kill it, and give the refund if it had one."""
        self.process.kill()
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL
        said = None
        while self.pipe.poll():
            try:
                said = self.pipe.recv()
            except EOFError:
                break
        return said


def fund(till: Till, url: str, accounts: list[str]) -> None:
    """Pay a token of 43 sats into each account, locked for every other, and make some calls."""
    plain = issue(url, 43 * len(accounts), coins=COINS * len(accounts))
    ours = issue(url, 43 * len(accounts), lambda: locked(till.pubkey), coins=COINS * len(accounts))
    for number, account in enumerate(accounts):
        whole = (plain, ours)[number % 2]
        token = replace(whole, proofs=whole.proofs[4 * number : 4 * number + 4])
        till.deposit(account, token.written())
        for call in range(number % 4):
            till.charge(account, f"call {call}")


def finish(till: Till, number: int, account: str, seen: object) -> Token | None:
    """Settle what somebody died over, and see that it adds up."""
    refund = till.settle(account)
    assert (refund.kept, refund.lost, refund.waiting) == (2 * (number % 4), 0, 0)
    assert refund.kept + refund.amount + refund.fee == refund.total == 43
    assert refund == till.settle(account)
    if isinstance(seen, tuple):
        assert refund.token == seen[0]
    return refund.tokens[0] if refund.tokens else None


@pytest.mark.parametrize("index", [0, 1], ids=["no fee", "100 ppk"])
def test_settling_is_killed_at_any_moment(mints, opened, tmp_path, index):
    url, wallet = mints[index].url, tmp_path / "wallet"
    till, chance = opened(url), random.Random(index)
    accounts = [f"account {number}" for number in range(36)]
    fund(till, url, accounts)

    whole = Settling(url, wallet, accounts[0])
    assert whole.hear() == "begun"
    start = time.monotonic()
    _, moments = whole.hear()
    took = time.monotonic() - start
    seen: list[object] = [whole.kill()]

    # Some moments here and others on the other mint; and then any, by the clock.
    inside = range(index, moments, 3)
    assert len(accounts) > len(inside) + AT_RANDOM, "pay in for more"
    for dies_at in inside:
        dying = Settling(url, wallet, accounts[len(seen)], dies_at)
        while dying.hear() is not None:
            pass
        dying.process.join()
        assert dying.process.exitcode == -signal.SIGKILL
        seen.append(None)
    for _ in range(AT_RANDOM):
        dying = Settling(url, wallet, accounts[len(seen)])
        assert dying.hear() == "begun"
        time.sleep(chance.uniform(0, took))
        seen.append(dying.kill())
    assert len(inside) + AT_RANDOM >= 15  # and as many on the other mint

    refunds = [finish(till, number, accounts[number], said) for number, said in enumerate(seen)]
    paid_back = [token for token in refunds if token]
    coins = sum(len(token.proofs) for token in paid_back)
    fee = -(-coins * mints[index].fee // 1000)
    assert redeem(url, *paid_back) == sum(token.amount for token in paid_back) - fee
    (earned,) = till.collect()
    assert earned.amount == sum(2 * (number % 4) for number in range(len(seen)))
    fee = -(-len(earned.proofs) * mints[index].fee // 1000)
    assert redeem(url, earned) == earned.amount - fee
