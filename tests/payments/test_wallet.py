"""The wallet file, its accounts, and charging them."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import deepnb
from deepnb.errors import (
    MintError,
    MintUnreachableError,
    PaymentError,
    PaymentExhaustedError,
    WalletError,
)
from deepnb.payments import Cashu
from deepnb.payments.config import address
from tests.payments import mints
from tests.payments.mints import issue, locked, redeem

# the configuration


def test_the_configuration_shows_mints_and_price_and_cannot_be_changed():
    cashu = deepnb.Cashu(mints=["HTTPS://Mint.Example:443/Bitcoin/"], price_sats=3, wallet="secret")
    assert repr(cashu) == "Cashu(mints=('https://mint.example/Bitcoin',), price_sats=3)"
    with pytest.raises(AttributeError):
        cashu.price_sats = 0
    assert deepnb.Cashu(mints=["https://mint.example"]).price_sats == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"mints": []},
        {"mints": "https://mint.example"},
        {"mints": ["mint.example"]},
        {"mints": ["http://mint.example"]},
        {"mints": ["https://mint.example?x=1"]},
        {"mints": ["https://mint.example#x"]},
        {"mints": ["https://user@mint.example"]},
        {"mints": ["https://mint.example:port"]},
        {"mints": ["https://mìnt.example"]},
        {"mints": ["https://mint.example/../x"]},
        {"mints": [7]},
        {"mints": ["https://mint.example"], "price_sats": 0},
        {"mints": ["https://mint.example"], "price_sats": 1.5},
        {"mints": ["https://mint.example"], "price_sats": True},
    ],
    ids=str,
)
def test_a_configuration_that_makes_no_sense_is_refused(settings):
    with pytest.raises(PaymentError):
        Cashu(**settings)


def test_addresses_are_written_in_one_way():
    same = ["https://Mint.example", "https://mint.example.:443/", " https://MINT.example// "]
    assert {address(each) for each in same} == {"https://mint.example"}
    assert address("http://[::1]:3338/") == "http://[::1]:3338"
    assert address("https://mint.example/A") != address("https://mint.example/a")


def test_all_names_of_the_room_can_be_had():
    assert dir(deepnb.payments) == deepnb.payments.__all__
    assert all(getattr(deepnb.payments, name) for name in deepnb.payments.__all__)


def test_importing_and_configuring_load_no_cryptography():
    code = (
        "import sys, deepnb; deepnb.Cashu(mints=['https://mint.example']); deepnb.payments.Cashu;"
        "print({'coincurve', 'cbor2', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("package", ["coincurve", "cbor2"])
def test_a_missing_extra_is_one_error_with_the_command(package, tmp_path):
    code = (
        f"import sys, deepnb; sys.modules[{package!r}] = None\n"
        f"cashu = deepnb.Cashu(mints=['https://m.example'], wallet={str(tmp_path / 'w')!r})\n"
        "try:\n"
        "    cashu.open().deposit('a', 'cashuBoA')\n"
        "except deepnb.errors.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{package} is needed" in done.stdout
    assert "pip install 'deepnb[cashu]'" in done.stdout


# the file


def test_the_wallet_is_for_its_owner_alone(free, opened, tmp_path):
    before = os.umask(0)
    try:
        opened(free).deposit("a", mints.token(free, 8).written())
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("wallet*")}
    assert modes.pop("wallet") == 0o700
    assert "wallet.sqlite" in modes
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(("name", "mode"), [("wallet", 0o750), ("wallet/wallet.sqlite", 0o604)])
def test_a_wallet_that_others_can_read_is_refused(free, opened, tmp_path, name, mode):
    opened(free).close()
    (tmp_path / name).chmod(mode)
    with pytest.raises(WalletError, match="Run: chmod [67]00 "):
        opened(free)


def test_a_wallet_that_is_a_link_is_refused(free, opened, tmp_path):
    opened(free, wallet="real").close()
    (tmp_path / "wallet").mkdir(mode=0o700)
    (tmp_path / "wallet/wallet.sqlite").symlink_to(tmp_path / "real/wallet.sqlite")
    with pytest.raises(WalletError, match="cannot be used"):
        opened(free)


def test_a_till_that_is_closed_says_so(free, opened):
    till = opened(free)
    till.close()
    for use in (lambda: till.balance("a"), lambda: till.settle("a")):
        with pytest.raises(WalletError, match="till is closed"):
            use()


def test_a_damaged_wallet_is_not_thrown_away(free, opened, tmp_path):
    opened(free).close()
    file = tmp_path / "wallet/wallet.sqlite"
    file.write_bytes(b"not a database, though it may hold money" * 200)
    with pytest.raises(WalletError, match="keep a copy"):
        opened(free)
    assert file.read_bytes().startswith(b"not a database")


def test_a_wallet_of_a_newer_deepnb_is_left_alone(free, opened, tmp_path):
    opened(free).close()
    with sqlite3.connect(tmp_path / "wallet/wallet.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(WalletError, match="newer deepnb"):
        opened(free)


def test_without_a_folder_the_wallet_is_in_the_home_directory(free, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with Cashu([free]).open() as till:
        assert (tmp_path / ".local/share/deepnb/wallet/wallet.sqlite").exists()
    with Cashu([free]).open() as again:
        assert again.pubkey == till.pubkey


def test_what_was_paid_in_is_there_when_the_wallet_is_opened_again(free, opened):
    till = opened(free)
    till.deposit("a", mints.token(free, 8).written())
    till.charge("a", "one")
    till.close()
    again = opened(free)
    assert (again.balance("a"), again.spent("a")) == (6, 2)


# charging


def test_a_call_is_charged_once_and_never_below_the_price(free, opened):
    till = opened(free)
    till.deposit("a", mints.token(free, 5).written())
    assert [till.charge("a", key) for key in ("one", "one", "two", "one")] == [3, 3, 1, 1]
    with pytest.raises(PaymentExhaustedError, match="costs 2 sat, and 1 sat are left") as none:
        till.charge("a", "three")
    assert (none.value.price, none.value.balance) == (2, 1)
    assert (till.balance("a"), till.spent("a")) == (1, 4)
    till.deposit("a", mints.token(free, 8).written())
    assert till.charge("a", "three") == 7  # one of the old token, and one of the new


def test_another_account_has_nothing_and_its_keys_are_its_own(free, opened):
    till = opened(free)
    till.deposit("a", mints.token(free, 8).written())
    till.charge("a", "one")
    with pytest.raises(PaymentExhaustedError):
        till.charge("a branch of a", "one")
    assert till.balance("a branch of a") == till.spent("a branch of a") == 0


def test_a_plain_token_is_looked_at_before_it_is_charged_and_a_locked_one_is_not(between, opened):
    till = opened(between.url)
    till.deposit("plain", replace(mints.token(between.mint, 8), mint=between.url).written())
    ours = issue(between.mint, 8, lambda: locked(till.pubkey))
    till.deposit("locked", replace(ours, mint=between.url).written())
    ending = issue(
        between.mint, 8, lambda: locked(till.pubkey, ["locktime", str(int(time.time()) + 30)])
    )
    till.deposit("ending", replace(ending, mint=between.url).written())
    looks = []
    for account in ("plain", "plain", "locked", "ending"):
        before = between.count("/v1/checkstate")
        till.charge(account, f"key {len(looks)}")
        looks.append(between.count("/v1/checkstate") - before)
    assert looks == [1, 1, 0, 1]
    till.charge("plain", "key 0")  # which was charged
    assert between.count("/v1/checkstate") == 3 + sum(looks)


def test_a_token_that_its_payer_spends_meanwhile_is_not_counted_any_more(free, opened):
    till, token = opened(free), mints.token(free, 12)
    till.deposit("a", token.written())
    till.charge("a", "one")
    redeem(free, token)
    with pytest.raises(PaymentExhaustedError, match="0 sat are left"):
        till.charge("a", "two")
    assert (till.balance("a"), till.spent("a")) == (0, 2)
    till.deposit("a", mints.token(free, 12).written())
    assert till.charge("a", "two") == 10  # the new token does not pay for the old one
    refund = till.settle("a")
    assert (refund.total, refund.kept, refund.amount, refund.lost) == (24, 2, 10, 12)


def test_a_token_of_which_a_part_is_spent_meanwhile_is_worth_the_rest(costly, opened):
    till, token = opened(costly), mints.token(costly, 12)  # 8 + 4
    till.deposit("a", token.written())
    till.charge("a", "one")
    redeem(costly, replace(token, proofs=token.proofs[:1]))
    with pytest.raises(PaymentExhaustedError, match="and 1 sat are left"):  # 4 - 1 - 2
        till.charge("a", "two")
    refund = till.settle("a")
    assert (refund.total, refund.lost, refund.fee) == (12, 8, 1)
    assert (refund.kept, refund.amount) == (2, 1)


def test_a_call_is_not_charged_while_nobody_knows_whether_the_money_is_there(between, opened):
    till = opened(between.url)
    till.deposit("a", replace(mints.token(between.mint, 8), mint=between.url).written())
    between.lost.add("/v1/checkstate")
    with pytest.raises(MintUnreachableError):
        till.charge("a", "one")
    between.lost.clear()

    def pending(_, answer):
        answer[1]["states"][0]["state"] = "PENDING"
        return answer

    between.changes["/v1/checkstate"] = pending
    with pytest.raises(MintError, match="is spending the token"):
        till.charge("a", "one")
    assert (till.balance("a"), till.spent("a")) == (7, 0)
    between.changes.clear()
    assert till.charge("a", "one") == 5


@pytest.mark.parametrize("problem", ["pending", "down"])
def test_a_token_that_nobody_knows_about_is_left_alone_where_others_pay(
    between, free, opened, problem
):
    till = opened(between.url, free)
    first = till.deposit("a", replace(mints.token(between.mint, 8), mint=between.url).written())

    def pending(_, answer):
        answer[1]["states"][0]["state"] = "PENDING"
        return answer

    if problem == "down":
        between.lost.add("/v1/checkstate")
    else:
        between.changes["/v1/checkstate"] = pending
    with pytest.raises(MintError):
        till.charge("a", "one")
    second = till.deposit("a", mints.token(free, 5).written())
    assert [till.charge("a", "one"), till.charge("a", "two")] == [10, 8]
    spent = {each.handle: each.spent for each in till.deposits("a")}
    assert spent == {first.handle: 0, second.handle: 4}
    with pytest.raises(MintError):  # 1 sat is left of the one that is known
        till.charge("a", "three")
    between.lost.clear()
    between.changes.clear()
    assert till.charge("a", "three") == 6


def test_a_token_that_nobody_knows_about_is_not_waited_for_where_it_would_not_do(between, opened):
    till = opened(between.url)
    till.deposit("a", replace(mints.token(between.mint, 4), mint=between.url).written())
    till.charge("a", "one")
    between.lost.add("/v1/checkstate")
    with pytest.raises(PaymentExhaustedError):  # 1 sat is left, there or not
        till.charge("a", "two")


def charging(url: str, wallet: Path, lap: int, out: object) -> None:
    """Charge in another process, in several threads, some keys as others do."""
    outcomes = []
    with Cashu([url], price_sats=1, wallet=wallet).open() as till:

        def work(thread: int) -> None:
            for call in range(12):
                shared = call % 2 == 0
                key = f"shared {call}" if shared else f"{lap} {thread} {call}"
                try:
                    till.charge("a", key)
                    outcomes.append(key)
                except PaymentExhaustedError:
                    pass

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    out.send(outcomes)


def test_threads_and_processes_charge_exactly_what_there_is(free, opened, tmp_path):
    till = opened(free, price=1)
    token = issue(free, 40, lambda: locked(till.pubkey))
    till.deposit("a", token.written())
    context = multiprocessing.get_context("forkserver")
    pipes, processes = [], []
    for lap in range(3):
        ours, theirs = context.Pipe()
        args = (free, tmp_path / "wallet", lap, theirs)
        processes.append(context.Process(target=charging, args=args, daemon=True))
        processes[-1].start()
        pipes.append(ours)
    charged = {key for pipe in pipes for key in pipe.recv()}
    for process in processes:
        process.join()
    assert till.balance("a") == 0  # 6 keys that all share, and 54 of their own: more than there is
    assert till.spent("a") == len(charged) == 40
