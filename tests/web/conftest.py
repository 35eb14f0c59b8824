from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.server import Web, web_server


@pytest.fixture
def web() -> Iterator[Web]:
    with web_server() as server:
        yield server
