"""Sessions with the tutor over a folder of sources."""

from __future__ import annotations

from functools import partial

import pytest

from tests.sessions import opening
from tests.tutor.dialogues import SOURCES


@pytest.fixture
def essay(tmp_path):
    folder = tmp_path / "essay"
    folder.mkdir()
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def opened(essay):
    with opening(essay) as open_session:
        yield partial(open_session, "tutor", model="offline")
