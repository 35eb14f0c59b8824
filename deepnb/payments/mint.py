"""One mint, over its HTTP API: NUT-02 keysets, NUT-03 swap, NUT-07 state, NUT-09 restore.

A mint is believed in nothing that can be checked: what it signs is verified, its answers must be
about what was asked, and keys must hash to the id that they go by.
"""

from __future__ import annotations

import json
import math
import queue
import re
import threading
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import httpx

from deepnb.errors import MintError, MintUnreachableError
from deepnb.payments import curve
from deepnb.payments.tokens import MOST_SATS, Dleq, Proof

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence

PATIENCE = 20.0
"""Seconds that a mint may take for an answer, from looking up its name to the last byte."""

LARGEST = 2_000_000
SPENT, PENDING, SIGNED = 11001, 11002, 11003
_BUSY = 429
_CODES = 100_000
_ID = re.compile("00[0-9a-f]{14}|01[0-9a-f]{64}")
_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)
_WORDS = {
    SPENT: "these coins were spent already",
    PENDING: "these coins are being spent at this moment",
    SIGNED: "it has signed these outputs already",
    11004: "it is signing these outputs at this moment",
    11005: "what goes in is not what comes out; its fees may have changed",
    12001: "it does not know the keyset",
    12002: "the keyset is not in use any more",
}
State = Literal["UNSPENT", "PENDING", "SPENT"]
_STATES = frozenset(get_args(State))


@dataclass(frozen=True)
class Keyset:
    """The keys of a mint for one unit, one for each size of coin."""

    id: str
    unit: str
    is_active: bool
    fee_ppk: int
    expiry: int | None


@dataclass(frozen=True)
class Output:
    """A coin that a mint is asked to sign."""

    amount: int
    keyset: str
    secret: str
    r: str

    @cached_property
    def shown(self) -> str:
        """What the mint sees of it: B_."""
        return curve.text(curve.blind(self.secret, self.r))

    def __repr__(self) -> str:
        return f"Output({self.amount} sat)"


class Mint:
    """A mint that is on the list of those that are taken.

    Args:
        url: Its address.
        patience: Seconds that it may take for an answer.
    """

    def __init__(self, url: str, patience: float | None = None) -> None:
        self.url = url
        self._patience = patience or PATIENCE
        self._http = httpx.Client(
            # Nobody but the mint is to see what is sent, so no proxy of the environment's.
            trust_env=False,
            verify=_tls() if url.startswith("https") else False,
            timeout=self._patience,
            headers={"Accept-Encoding": "identity", "User-Agent": "deepnb"},
            limits=httpx.Limits(keepalive_expiry=3.0),
        )
        self._known: dict[str, Keyset] = {}
        self._keys: dict[Keyset, Mapping[int, curve.Point]] = {}

    def close(self) -> None:
        """Let go of its connections."""
        self._http.close()

    # keysets

    def keysets(self) -> dict[str, Keyset]:
        """Ask for all keysets, those that are only taken back included."""
        answer = self._ask("GET", "/v1/keysets")
        try:
            # Ids of an older kind say nothing about the keys; there is no checking them.
            found = [_keyset(each) for each in answer["keysets"] if _ID.fullmatch(each["id"])]
        except (KeyError, TypeError, ValueError):
            raise self._lie("its list of keysets makes no sense") from None
        self._known = {each.id: each for each in found}
        return self._known

    def find(self, identity: str) -> Keyset | None:
        """Find a keyset by its id, or by the short one that tokens carry."""
        return _fitting(self._known, identity) or _fitting(self.keysets(), identity)

    def keyset(self, identity: str) -> Keyset:
        """Give a keyset that the mint is known to have had."""
        found = self.find(identity)
        if found is None:
            raise self._lie(f"it does not know its own keyset {identity} any more")
        return found

    def newest(self) -> Keyset:
        """Ask which keyset to have coins signed with: of those in use, the one of lowest fees."""
        active = [each for each in self.keysets().values() if each.is_active and each.unit == "sat"]
        if not active:
            raise MintError(f"{self.url} signs no new coins. Ask those who run it.")
        return min(active, key=lambda each: (each.fee_ppk, each.id))

    def keys(self, keyset: Keyset) -> Mapping[int, curve.Point]:
        """Give a keyset's keys by the amount of the coins, once they were found to be its own."""
        if keyset not in self._keys:
            answer = self._ask("GET", f"/v1/keys/{keyset.id}")
            try:
                (found,) = [each for each in answer["keysets"] if each["id"] == keyset.id]
                keys = {int(amount): curve.point(key) for amount, key in found["keys"].items()}
                derived = curve.keyset_id(
                    keyset.id, keys, keyset.unit, keyset.fee_ppk, keyset.expiry
                )
            except (KeyError, TypeError, ValueError, AttributeError):
                raise self._lie("its keys make no sense") from None
            if derived != keyset.id or not all(amount > 0 for amount in keys):
                raise self._lie("its keys are not those of the keyset that it says they are")
            self._keys[keyset] = keys
        return self._keys[keyset]

    def fee(self, proofs: Sequence[Proof]) -> int:
        """Say what it costs to swap these coins, by what the mint last said."""
        keysets = [self.keyset(proof.keyset) for proof in proofs]
        for keyset in set(keysets):
            self.keys(keyset)  # newer ids bind the fee too
        return math.ceil(sum(keyset.fee_ppk for keyset in keysets) / 1000)

    # coins

    def states(self, points: Sequence[str]) -> list[State]:
        """Ask whether coins were spent, by the points of their secrets."""
        answer = self._ask("POST", "/v1/checkstate", {"Ys": list(points)})
        try:
            told = [(each["Y"], each["state"]) for each in answer["states"]]
        except (KeyError, TypeError):
            raise self._lie("its answer about the state of coins makes no sense") from None
        states = [state for _, state in told]
        if [y for y, _ in told] != list(points) or not set(states) <= _STATES:
            raise self._lie("it answered about other coins than it was asked about")
        return states

    def swap(
        self, inputs: Sequence[tuple[Proof, str | None]], outputs: Sequence[Output]
    ) -> list[Proof]:
        """Have new coins signed for old ones, each with the witness that its lock calls for.

        Raises:
            MintError: It refuses; `code` says why. Or what it signed is not what it was asked for.
            MintUnreachableError: Nobody knows whether it did: `restore` tells.
        """
        body = {
            "inputs": [_spent(proof, witness) for proof, witness in inputs],
            "outputs": [_asked(each) for each in outputs],
        }
        return self._all_signed(outputs, self._ask("POST", "/v1/swap", body))

    def restore(self, outputs: Sequence[Output]) -> list[Proof] | None:
        """Have the signatures of an earlier swap again; None if there was none.

        Raises:
            MintError: It has some of them and not all, which no swap leaves behind.
        """
        answer = self._ask("POST", "/v1/restore", {"outputs": [_asked(each) for each in outputs]})
        try:
            shown = [each["B_"] for each in answer["outputs"]]
            signatures = dict(zip(shown, answer["signatures"], strict=True))
        except (KeyError, TypeError, ValueError):
            raise self._lie("its answer about earlier signatures makes no sense") from None
        if not signatures:
            return None
        if set(signatures) != {each.shown for each in outputs} or len(shown) != len(outputs):
            raise self._lie("it has a part of what it signed, or something else")
        return [self._signed(each, signatures[each.shown]) for each in outputs]

    # new money

    def invoice(self, amount: int) -> str:
        """Ask for an invoice over so many sat, and give the name that it goes by at the mint."""
        quote = self._ask("POST", "/v1/mint/quote/bolt11", {"amount": amount, "unit": "sat"})
        if not isinstance(name := quote.get("quote"), str) or not _NAME.fullmatch(name):
            raise self._lie("its invoice makes no sense")
        return name

    def is_paid(self, invoice: str) -> bool:
        """Ask whether somebody has paid an invoice."""
        return bool(self._ask("GET", f"/v1/mint/quote/bolt11/{invoice}").get("state") == "PAID")

    def issue(self, invoice: str, outputs: Sequence[Output]) -> list[Proof]:
        """Have coins signed for an invoice that was paid."""
        body = {"quote": invoice, "outputs": [_asked(each) for each in outputs]}
        return self._all_signed(outputs, self._ask("POST", "/v1/mint/bolt11", body))

    def _all_signed(self, outputs: Sequence[Output], answer: dict[str, Any]) -> list[Proof]:
        signatures = answer.get("signatures")
        if not isinstance(signatures, list) or len(signatures) != len(outputs):
            raise self._lie("it did not sign as many coins as it was asked for")
        return [self._signed(*pair) for pair in zip(outputs, signatures, strict=True)]

    def _signed(self, output: Output, signature: Any) -> Proof:
        key = self.keys(self.keyset(output.keyset)).get(output.amount)
        try:
            e, s = signature["dleq"]["e"], signature["dleq"]["s"]
            blinded = curve.point(signature["C_"])
            is_right = (
                key is not None
                and signature["id"] == output.keyset
                and signature["amount"] == output.amount
                and curve.is_signed(key, curve.point(output.shown), blinded, e, s)
            )
            if not is_right or key is None:
                raise ValueError  # noqa: TRY301  # all that is wrong with it ends alike
            signed = curve.text(curve.unblind(blinded, output.r, key))
        except (KeyError, TypeError, ValueError):
            raise self._lie("a coin that it signed is not what it was asked for") from None
        return Proof(
            output.amount,
            output.keyset,
            output.secret,
            signed,
            Dleq(f"{int(e, 16):064x}", f"{int(s, 16):064x}", output.r),
        )

    # the wire

    def _lie(self, what: str) -> MintError:
        return MintError(
            f"{self.url} cannot be believed: {what}. Nothing was lost here; ask those who run it, "
            "and take no more of its tokens until then."
        )

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        status, content = self._within_patience(method, path, body)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        if status == _BUSY or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise self._unreachable(f"answered {status}")
        if status >= httpx.codes.BAD_REQUEST and isinstance(answer, dict):
            code = answer.get("code")
            code = code if type(code) is int and 0 <= code < _CODES else 0
            # Its own words are left out: they may repeat what was sent.
            why = _WORDS.get(code, "for a reason of its own")
            raise MintError(
                f"{self.url} refused, with code {code}: {why}. Nothing was lost; try again later.",
                code,
            )
        if status != httpx.codes.OK or not isinstance(answer, dict):
            raise self._lie(f"it answered {status} with something that is no mint's answer")
        return answer

    def _within_patience(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        """Send a request, and give up on it in time.

        In a thread of its own, for a name can take for ever to be looked up, and a mint can send
        one byte of its answer after another.
        """
        outcome: queue.SimpleQueue[tuple[int, bytes] | Exception] = queue.SimpleQueue()

        def send() -> None:
            try:
                outcome.put(self._send(method, path, body))
            except Exception as error:  # noqa: BLE001  # it is raised where it is waited for
                outcome.put(error)

        threading.Thread(target=send, daemon=True).start()
        try:
            result = outcome.get(timeout=self._patience)
        except queue.Empty:
            raise self._unreachable("took too long") from None
        if isinstance(result, httpx.TimeoutException):
            raise self._unreachable("took too long") from None
        if isinstance(result, httpx.HTTPError):
            raise self._unreachable("did not answer") from None
        if isinstance(result, Exception):
            raise result
        return result

    def _send(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        content = bytearray()
        with self._http.stream(method, self.url + path, json=body) as response:
            for piece in response.iter_raw():
                content += piece
                if len(content) > LARGEST:
                    raise self._lie("its answer has no end")
        return response.status_code, bytes(content)

    def _unreachable(self, what: str) -> MintUnreachableError:
        return MintUnreachableError(
            f"{self.url} {what}. Nothing is lost: what was paid in is kept, and a token that was "
            "not is still yours. Please try again later."
        )


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # it reads all certificates, which takes a while


def _keyset(told: dict[str, Any]) -> Keyset:
    identity, unit, fee, expiry = (
        told["id"],
        told["unit"],
        told.get("input_fee_ppk") or 0,
        told.get("final_expiry"),
    )
    is_sound = (
        isinstance(unit, str)
        and type(fee) is int
        and 0 <= fee < MOST_SATS
        and (expiry is None or type(expiry) is int)
    )
    if not is_sound:
        raise ValueError
    return Keyset(identity, unit, told["active"] is True, fee, expiry)


def _fitting(keysets: Mapping[str, Keyset], identity: str) -> Keyset | None:
    if len(identity) != curve.SHORT:
        return keysets.get(identity)
    found = [each for name, each in keysets.items() if name.startswith(identity)]
    return found[0] if len(found) == 1 else None


def _asked(output: Output) -> dict[str, Any]:
    return {"amount": output.amount, "id": output.keyset, "B_": output.shown}


def _spent(proof: Proof, witness: str | None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "amount": proof.amount,
        "id": proof.keyset,
        "secret": proof.secret,
        "C": proof.signature,
    }
    return said | ({"witness": witness} if witness else {})
