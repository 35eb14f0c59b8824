"""`deepnb ask` takes no money: it says where to pay, and can be told to stop."""

from __future__ import annotations

import pytest

from deepnb.cli import main
from deepnb.middleware.payment import STOPPED
from deepnb.payments import Cashu
from tests.sessions import opening
from tests.test_cli import Terminal


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def terminal(workspace, tmp_path):
    wallet = str(tmp_path / "wallet")
    cashu = f"__import__('deepnb').Cashu(['https://mint.example'], wallet={wallet!r})"
    return Terminal(
        ["ask", "Hello", "--workspace", str(workspace)],
        model="ScriptedModel(['done'])",
        more=f"{{'payment': {cashu}}}",
    )


def test_it_says_where_to_pay_and_stops(terminal):
    terminal.until("A model call costs 2 sat, and 0 are left").until("session.fund(token)")
    terminal.until("[s]top").type("s\n").until(STOPPED)
    assert terminal.end() == 0


def test_the_question_can_be_left_open(terminal):
    terminal.until("[s]top").type("l\n").until("To answer, on a terminal")
    assert terminal.end() == 3


def test_a_thread_that_is_paid_for_is_not_gone_on_with(workspace, tmp_path, capsys):
    cashu = Cashu(["https://mint.example"], wallet=tmp_path / "wallet")
    with opening(workspace) as opened:
        opened(["done"], payment=cashu)
    code = main(["ask", "Hello", "--thread", "main", "--workspace", str(workspace)])
    assert (code, "is paid for. Open it with" in capsys.readouterr().err) == (2, True)
