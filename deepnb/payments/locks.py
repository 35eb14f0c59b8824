"""Coins that only a key can spend (P2PK: NUT-10, NUT-11): which of them are ours, and signing them.

A plain coin can be spent by all who have seen it, its payer included. One that is locked to the
wallet's key cannot, until its lock ends.
"""

from __future__ import annotations

import json
import math
from typing import Any

from deepnb.errors import TokenError
from deepnb.payments import curve

_KNOWN = frozenset(["sigflag", "n_sigs", "locktime", "refund", "n_sigs_refund"])


def safe_until(secret: str, pubkey: str) -> float:
    """Say until when nobody but us can spend a coin: 0 for a plain one.

    Raises:
        TokenError: It has conditions that we cannot meet, or do not know.
    """
    condition = _condition(secret)
    if condition is None:
        return 0.0
    try:
        kind, body = condition
        tags = {tag[0]: tag[1:] for tag in body.get("tags") or []}
        is_known = (
            kind == "P2PK"
            and isinstance(body["nonce"], str)
            and len(tags) == len(body.get("tags") or [])  # what is said twice means two things
            and _KNOWN.issuperset(tags)
            and tags.get("sigflag", ["SIG_INPUTS"]) == ["SIG_INPUTS"]
            and tags.get("n_sigs", ["1"]) == ["1"]
        )
        owner, end = body["data"].lower(), tags.get("locktime")
        until = int(end[0]) if end else math.inf
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        is_known, owner, until = False, "", 0
    if not is_known:
        raise TokenError(
            "The token can only be spent under conditions that are not known here. Send a plain "
            f"one, or one that is locked to the key {pubkey} and to no other."
        )
    if owner != pubkey:
        raise TokenError(
            "The token is locked to somebody else's key, so it could not be spent. Lock it to "
            f"{pubkey}, or send a plain one."
        )
    return until


def witness(secret: str, private: str) -> str | None:
    """Give what a mint wants to see before it lets a coin be spent; None for a plain one."""
    if _condition(secret) is None:
        return None
    return json.dumps({"signatures": [curve.signature(private, secret)]})


def _condition(secret: str) -> Any:
    """What a secret says about who may spend it; None if it is a mere secret."""
    try:
        said = json.loads(secret)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, list | dict) else None
