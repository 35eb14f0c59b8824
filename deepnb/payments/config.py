"""Which mints are taken, and what a call costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deepnb.errors import PaymentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.payments.till import Till

WALLET = Path("~/.local/share/deepnb/wallet")
LARGEST = 256 * 1024
"""Characters of a token that is still read."""
_LOOPBACK = frozenset(["localhost", "127.0.0.1", "::1"])
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Cashu:
    """How calls are paid for, in Cashu ecash.

    Args:
        mints: The addresses of the mints whose tokens are taken. A token of any other is refused:
            its money may be worth nothing, and its address may lead anywhere.
        price_sats: What one model call costs.
        wallet: The folder of the wallet file, which holds money and is for its owner's eyes only,
            so not in a session's workspace; None is `~/.local/share/deepnb/wallet`.

    Raises:
        PaymentError: A mint's address or the price makes no sense.
    """

    mints: Sequence[str]
    price_sats: int = field(default=2, kw_only=True)
    wallet: str | Path | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        """Check everything, and write the addresses in one way."""
        if isinstance(self.mints, str) or not self.mints:
            raise PaymentError('Name the mints to take: Cashu(mints=["https://mint.example"]).')
        object.__setattr__(self, "mints", tuple(dict.fromkeys(map(address, self.mints))))
        if type(self.price_sats) is not int or self.price_sats < 1:
            raise PaymentError("price_sats is a whole number of satoshis, 1 or more.")

    @property
    def folder(self) -> Path:
        """Where the wallet file is."""
        return Path(self.wallet or WALLET).expanduser().absolute()

    def open(self) -> Till:
        """Open the wallet, and everything that is done with it.

        Raises:
            MissingExtraError: The packages for it are not installed.
            WalletError: The wallet file cannot be opened, or others can read it.
        """
        from deepnb.payments.till import Till

        return Till(self)


def address(url: str) -> str:
    """Write a mint's address in the one way in which addresses are compared.

    Raises:
        PaymentError: It is none, or money sent there could be read on the way.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except (ValueError, AttributeError):
        raise PaymentError("A mint's address looks like https://mint.example.") from None
    if parts.scheme not in _PORTS or not host or not url.isascii() or "@" in parts.netloc:
        raise PaymentError("A mint's address looks like https://mint.example, in plain letters.")
    if parts.query or parts.fragment or ".." in parts.path.split("/"):
        raise PaymentError("A mint's address has no '?', no '#' and no '..' in it.")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise PaymentError(
            "A mint is spoken to by https:// alone, except on this machine: on the way there, "
            "anybody could read the money."
        )
    shown = f"[{host}]" if ":" in host else host
    behind = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{shown}{behind}{parts.path.rstrip('/')}"
