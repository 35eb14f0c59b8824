"""The arithmetic of blind signatures on secp256k1: NUT-00, NUT-02 and NUT-12.

A mint signs a point without seeing which secret it belongs to: Y is the secret's point, B_ = Y + rG
what the mint sees, C_ = aB_ what it gives back, and C = C_ - rA the signature on Y. A DLEQ proof
(e, s) shows that it used the key that everybody knows; with r, anybody can check it on (Y, C).
"""

from __future__ import annotations

import hashlib
import hmac
from itertools import count
from typing import TYPE_CHECKING

from deepnb.errors import MissingExtraError

try:
    from coincurve import PrivateKey, PublicKey
except ModuleNotFoundError as error:
    raise MissingExtraError(str(error.name), "'deepnb[cashu]'") from None

if TYPE_CHECKING:
    from collections.abc import Mapping

Point = PublicKey
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_DOMAIN = b"Secp256k1_HashToCurve_Cashu_"
SHORT = 16
"""Digits of a keyset id as tokens may carry it."""


def point(hexadecimal: str) -> Point:
    """Read a point.

    Raises:
        ValueError: It is none.
    """
    return Point(bytes.fromhex(hexadecimal))


def text(of: Point) -> str:
    """Write a point."""
    return of.format().hex()


def secret_point(secret: str) -> Point:
    """Give a secret's Y, by which a mint knows it without being told."""
    start = hashlib.sha256(_DOMAIN + secret.encode()).digest()
    for number in count():
        digest = hashlib.sha256(start + number.to_bytes(4, "little")).digest()
        try:
            return Point(b"\x02" + digest)
        except ValueError:  # half of all numbers are on the curve
            continue
    raise AssertionError


def derived_scalar(seed: bytes, name: str) -> str:
    """Give the number that a seed has for a name, always the same."""
    digest = hmac.digest(seed, name.encode(), "sha256")
    return f"{int.from_bytes(digest) % (ORDER - 1) + 1:064x}"


def blind(secret: str, r: str) -> Point:
    """Give B_, what a mint is shown in place of a secret."""
    return secret_point(secret).combine([_times_generator(r)])


def unblind(blinded: Point, r: str, key: Point) -> Point:
    """Give the signature on the secret, from the one on B_."""
    return blinded.combine([key.multiply(_negative(r))])


def is_signed(key: Point, shown: Point, signed: Point, e: str, s: str) -> bool:
    """Check that a mint signed B_ with this very key."""
    try:
        one = _times_generator(s).combine([key.multiply(_negative(e))])
        two = shown.multiply(_scalar(s)).combine([signed.multiply(_negative(e))])
    except ValueError:  # a number out of range, or a sum that is no point
        return False
    points = "".join(each.format(compressed=False).hex() for each in (one, two, key, signed))
    return hashlib.sha256(points.encode()).digest() == _scalar(e)


def is_genuine(key: Point, secret: str, signature: str, *, e: str, s: str, r: str) -> bool:
    """Check that a mint signed a secret with this very key, without asking it."""
    try:
        signed = point(signature).combine([key.multiply(_scalar(r))])
        return is_signed(key, blind(secret, r), signed, e, s)
    except ValueError:
        return False


def keyset_id(
    identity: str, keys: Mapping[int, Point], unit: str, fee_ppk: int, expiry: int | None
) -> str:
    """Derive a keyset's id from what it holds, in the version that `identity` is of.

    Raises:
        ValueError: There is no such version.
    """
    ordered = sorted(keys.items())
    if identity.startswith("00"):
        return "00" + hashlib.sha256(b"".join(key.format() for _, key in ordered)).hexdigest()[:14]
    if not identity.startswith("01"):
        raise ValueError(identity)
    whole = ",".join(f"{amount}:{text(key)}" for amount, key in ordered) + f"|unit:{unit}"
    whole += f"|input_fee_ppk:{fee_ppk}" if fee_ppk else ""
    whole += f"|final_expiry:{expiry}" if expiry is not None else ""
    return "01" + hashlib.sha256(whole.encode()).hexdigest()


def public_key(private: str) -> str:
    """Give the public half of a key."""
    return text(_times_generator(private))


def signature(private: str, message: str) -> str:
    """Sign a message (Schnorr, BIP-340)."""
    return PrivateKey(_scalar(private)).sign_schnorr(_digest(message)).hex()


def _digest(message: str) -> bytes:
    return hashlib.sha256(message.encode()).digest()


def _scalar(hexadecimal: str) -> bytes:
    number = int(hexadecimal, 16)
    if not 0 < number < ORDER:
        raise ValueError
    return number.to_bytes(32)


def _negative(hexadecimal: str) -> bytes:
    return (ORDER - int.from_bytes(_scalar(hexadecimal))).to_bytes(32)


def _times_generator(hexadecimal: str) -> Point:
    return Point.from_valid_secret(_scalar(hexadecimal))
