"""Cashu tokens as people send them: V3 (`cashuA`, JSON) and V4 (`cashuB`, CBOR), read and written.

What comes in is hostile, and so is its size; what goes out is money, and shows itself masked.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from deepnb.errors import MissingExtraError, TokenError
from deepnb.payments.config import LARGEST
from deepnb.payments.curve import SHORT

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_PROOFS = 256
MOST_SATS = 2**53
LONGEST_SECRET = 1024
_DEEPEST = 8

_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_COPY_AGAIN = "Copy the whole token from the wallet that made it: it begins with cashuA or cashuB."


@dataclass(frozen=True)
class Dleq:
    """A mint's proof that a signature is its own, with the blinding factor r that opens it."""

    e: str
    s: str
    r: str

    def __repr__(self) -> str:
        return "Dleq(…)"


@dataclass(frozen=True)
class Proof:
    """One coin: who knows its secret can spend it."""

    amount: int
    keyset: str
    secret: str
    signature: str
    dleq: Dleq | None = None

    def __repr__(self) -> str:
        return f"Proof({self.amount} sat)"


@dataclass(frozen=True)
class Token:
    """Coins of one mint, as they are sent."""

    mint: str
    proofs: tuple[Proof, ...]
    unit: str = "sat"
    memo: str = ""

    @property
    def amount(self) -> int:
        """What its coins add up to."""
        return sum(proof.amount for proof in self.proofs)

    def __repr__(self) -> str:
        return f"Token({self.amount} {self.unit:.20}, {self.mint:.200})"

    def written(self, version: Literal[3, 4] = 4) -> str:
        """Write it out: whoever reads this has the money."""
        raw = _v4(self) if version == 4 else _v3(self)  # noqa: PLR2004  # the newest
        prefix = "cashuB" if version == 4 else "cashuA"  # noqa: PLR2004
        return prefix + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def parse(text: str) -> Token:
    """Read a token.

    Raises:
        TokenError: It is malformed, too large, or of several mints; the message says what to do.
    """
    if len(text) > LARGEST:
        raise TokenError(f"A token is a text of at most {LARGEST // 1024} KB. {_COPY_AGAIN}")
    bare = "".join(text.split()).removeprefix("cashu:")
    reader = {"cashuA": _read_v3, "cashuB": _read_v4}.get(bare[:6])
    if reader is None:
        raise TokenError(f"This is no Cashu token. {_COPY_AGAIN}")
    token = _read(reader, bare[6:])
    if token is None:  # raised out here, since the parsers' own errors carry the text along
        raise TokenError(f"The token is damaged or cut off. {_COPY_AGAIN}")
    return token


def _read(reader: Any, encoded: str) -> Token | None:
    try:
        raw = base64.urlsafe_b64decode(
            encoded.translate({43: 45, 47: 95}).rstrip("=") + "=" * (-len(encoded.rstrip("=")) % 4)
        )
        token: Token = reader(raw)
    except (binascii.Error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return token


def _read_v3(raw: bytes) -> Token:
    whole = json.loads(raw)
    parts = _items(whole["token"])
    mints = {_string(part["mint"]) for part in parts}
    if len(mints) > 1:
        raise TokenError(
            "The token holds money of several mints. Send one token for each mint instead."
        )
    proofs = [_proof_v3(each) for part in parts for each in _items(part["proofs"])]
    return _checked(mints.pop(), proofs, whole.get("unit") or "sat", whole.get("memo"))


def _proof_v3(proof: dict[str, Any]) -> Proof:
    dleq = proof.get("dleq")
    return Proof(
        proof["amount"],
        proof["id"],
        proof["secret"],
        proof["C"],
        Dleq(dleq["e"], dleq["s"], dleq["r"]) if dleq and dleq.get("r") else None,
    )


def _read_v4(raw: bytes) -> Token:
    try:
        import cbor2
    except ModuleNotFoundError:
        raise MissingExtraError("cbor2", "'deepnb[cashu]'") from None
    try:
        whole = cbor2.loads(
            raw, max_depth=_DEEPEST, allow_duplicate_keys=False, strict_hashable_types=True
        )
    except cbor2.CBORError as error:
        raise ValueError from error
    proofs = [_proof_v4(each, part["i"]) for part in _items(whole["t"]) for each in part["p"]]
    return _checked(whole["m"], proofs, whole["u"], whole.get("d"))


def _proof_v4(proof: dict[str, Any], keyset: bytes) -> Proof:
    dleq = proof.get("d")
    return Proof(
        proof["a"],
        keyset.hex(),
        proof["s"],
        proof["c"].hex(),
        Dleq(*(dleq[name].hex() for name in "esr")) if dleq and dleq.get("r") else None,
    )


def _checked(mint: Any, proofs: Iterable[Proof], unit: Any, memo: Any) -> Token:
    checked = tuple(map(_checked_proof, proofs))
    if len(checked) > MOST_PROOFS:
        raise TokenError(
            f"The token is made of {len(checked)} coins, and at most {MOST_PROOFS} are taken. "
            "Receive it in a wallet, which makes larger coins of them, and send it from there."
        )
    if not checked or sum(proof.amount for proof in checked) > MOST_SATS:
        raise ValueError
    return Token(_string(mint), checked, _string(unit), memo if isinstance(memo, str) else "")


def _checked_proof(proof: Proof) -> Proof:
    if type(proof.amount) is not int or not 0 < proof.amount <= MOST_SATS:
        raise ValueError
    secret = _string(proof.secret)
    if len(secret.encode()) > LONGEST_SECRET:
        raise ValueError
    dleq = proof.dleq and Dleq(
        *(_hex(each, 64) for each in (proof.dleq.e, proof.dleq.s, proof.dleq.r))
    )
    return replace(
        proof, keyset=_hex(proof.keyset, 66), signature=_hex(proof.signature, 66), dleq=dleq
    )


def _hex(value: Any, longest: int) -> str:
    lowered = _string(value).lower()
    if len(lowered) > longest or not _HEX.fullmatch(lowered):
        raise ValueError
    return lowered


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _v3(token: Token) -> bytes:
    proofs = [
        {
            "amount": proof.amount,
            "id": proof.keyset,
            "secret": proof.secret,
            "C": proof.signature,
            **({"dleq": vars(proof.dleq)} if proof.dleq else {}),
        }
        for proof in token.proofs
    ]
    whole: dict[str, Any] = {"token": [{"mint": token.mint, "proofs": proofs}], "unit": token.unit}
    if token.memo:
        whole["memo"] = token.memo
    return json.dumps(whole, separators=(",", ":")).encode()


def _v4(token: Token) -> bytes:
    import cbor2

    keysets: dict[str, list[dict[str, Any]]] = {}
    for proof in token.proofs:
        coin: dict[str, Any] = {
            "a": proof.amount,
            "s": proof.secret,
            "c": bytes.fromhex(proof.signature),
        }
        if proof.dleq:
            coin["d"] = {name: bytes.fromhex(number) for name, number in vars(proof.dleq).items()}
        keysets.setdefault(proof.keyset[:SHORT], []).append(coin)
    whole: dict[str, Any] = {
        "m": token.mint,
        "u": token.unit,
        "t": [{"i": bytes.fromhex(keyset), "p": coins} for keyset, coins in keysets.items()],
    }
    if token.memo:
        whole["d"] = token.memo
    return cbor2.dumps(whole)
