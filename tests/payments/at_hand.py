"""A mint for notebooks: `pytest -p tests.payments.at_hand` has one at DEEPNB_TEST_MINT."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.payments.mints import RealMint

KEY = pytest.StashKey[tuple[TemporaryDirectory[str], RealMint]]()


def pytest_configure(config: pytest.Config) -> None:
    folder = TemporaryDirectory()
    mint = RealMint(Path(folder.name))
    config.stash[KEY] = folder, mint
    mint.start()
    mint.wait()
    os.environ["DEEPNB_TEST_MINT"] = mint.url


def pytest_unconfigure(config: pytest.Config) -> None:
    folder, mint = config.stash[KEY]
    mint.kill()
    folder.cleanup()
