"""`deepnb ask` asks for a token, and shows nothing of what is typed."""

from __future__ import annotations

import pytest

from deepnb.middleware.payment import STOPPED
from tests.test_cli import Terminal


@pytest.fixture
def terminal(tmp_path):
    wallet = str(tmp_path / "wallet")
    cashu = f"__import__('deepnb').Cashu(['https://mint.example'], wallet={wallet!r})"
    (tmp_path / "workspace").mkdir()
    return Terminal(
        ["ask", "Hello", "--workspace", str(tmp_path / "workspace")],
        model="ScriptedModel(['done'])",
        more=f"{{'payment': {cashu}}}",
    )


def test_a_token_is_typed_unseen_or_the_run_is_stopped(terminal):
    terminal.until("A model call costs 2 sat, and 0 are left").until("https://mint.example")
    long = f"cashuB{'o2F' * 2_000}"  # longer than a line that a terminal lets one edit
    terminal.until("[s]top").type(f"{long}\n").until("send the handle of a deposit")
    terminal.until("[s]top").type("s\n").until(STOPPED)
    assert terminal.end() == 0
    assert "o2F" not in terminal.shown


def test_the_question_can_be_left_open(terminal):
    terminal.until("[s]top").type("\x04\n").until("To answer, on a terminal")
    assert terminal.end() == 3
