"""Nutshell's own wallet pays us, and redeems what we give back."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from deepnb.payments import parse
from tests.payments.mints import NUTSHELL, issue


class Purse:
    """Nutshell's wallet, at a mint of ours: its own default is a public one."""

    def __init__(self, folder: Path, url: str) -> None:
        folder.mkdir()
        self._folder = folder
        self._settings = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CASHU_DIR": str(folder),
            "MINT_URL": url,
            "TOR": "FALSE",
        }

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            [NUTSHELL / "cashu", "--yes", *words],
            cwd=self._folder,
            env=self._settings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def send(self, amount: int, *options: str) -> str:
        return re.search(r"cashu[AB][\w-]+", self("send", str(amount), "--dleq", *options))[0]

    def receive(self, token: str) -> int:
        return int(re.search(r"Received (\d+) sat", self("receive", token))[1])


def test_nutshell_pays_us_and_redeems_our_refund(costly, opened, tmp_path):
    purse = Purse(tmp_path / "purse", costly)
    till = opened(costly, price=10)
    assert purse.receive(issue(costly, 200).written(3)) == 199

    plain = purse.send(64)
    locked = purse.send(50, "--legacy", "--lock", f"P2PK:{till.pubkey}")
    assert (plain[:6], locked[:6]) == ("cashuB", "cashuA")
    assert till.deposit("a", plain).safe_until == 0
    assert till.deposit("a", locked).safe_until > 0
    total, fees = 114, 114 - till.balance("a")
    for call in range(7):
        till.charge("a", f"call {call}")

    refund = till.settle("a")
    assert (refund.total, refund.kept, refund.fee) == (total, 70, fees)
    assert refund.amount == total - 70 - fees
    (token,) = refund.token.split()
    fee = -(-len(parse(token).proofs) // 10)
    assert purse.receive(token) == refund.amount - fee
    assert till.is_claimed(refund.handle)
