"""Two real mints for all tests: one that takes no fees, and one that takes 100 ppk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deepnb.payments import Cashu, Till
from tests.payments.mints import Proxy, RealMint, proxy


@pytest.fixture(scope="session")
def mints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealMint, RealMint]]:
    both = tuple(RealMint(tmp_path_factory.mktemp(f"mint{fee}"), fee) for fee in (0, 100))
    try:
        for mint in both:  # both at once: each takes seconds to start
            mint.start()
        for mint in both:
            mint.wait()
        yield both
    finally:
        for mint in both:
            mint.kill()


@pytest.fixture
def free(mints) -> str:
    return mints[0].url


@pytest.fixture
def costly(mints) -> str:
    return mints[1].url


@pytest.fixture(params=[0, 1], ids=["no fee", "100 ppk"])
def mint(request, mints) -> str:
    return mints[request.param].url


@pytest.fixture
def between(costly) -> Iterator[Proxy]:
    """A proxy in front of the mint that takes fees."""
    with proxy(costly) as stand_in:
        yield stand_in


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Till]]:
    """Opens tills, all on one wallet unless they are told otherwise."""
    tills: list[Till] = []

    def opening(*urls: str, price: int = 2, wallet: str = "wallet") -> Till:
        tills.append(Cashu(urls, price_sats=price, wallet=tmp_path / wallet).open())
        return tills[-1]

    yield opening
    for till in tills:
        till.close()
