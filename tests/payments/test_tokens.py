"""Tokens as text: all that goes in comes out, and nothing else gets in."""

from __future__ import annotations

import base64
import json
import random
from contextlib import suppress

import cbor2
import pytest

from deepnb.errors import TokenError
from deepnb.payments import Proof, Token, parse
from deepnb.payments.curve import keyset_id, point, secret_point, text
from deepnb.payments.tokens import LARGEST, MOST_PROOFS, Dleq


def some_proof(chance: random.Random, keyset: str) -> Proof:
    def number(size: int) -> str:
        return chance.randbytes(size).hex()

    secret = chance.choice(
        [number(32), "Ünïcödé ✓ 🥜", '["P2PK", {"nonce": "1", "data": "02"}]', "x"]
    )
    dleq = Dleq(number(32), number(32), number(32)) if chance.random() < 0.7 else None
    return Proof(2 ** chance.randrange(30), keyset, secret, "02" + number(32), dleq)


def some_token(seed: int) -> Token:
    chance = random.Random(seed)
    proofs = tuple(
        some_proof(chance, keyset)
        for keyset in ("00" + chance.randbytes(7).hex(), "01" + chance.randbytes(7).hex())
        for _ in range(chance.randrange(1, 8))
    )
    return Token("https://mint.example/Bitcoin", proofs, "sat", chance.choice(["", "Danke! ☕"]))


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("seed", range(25))
def test_what_is_written_is_read_again(seed, version):
    token = some_token(seed)
    written = token.written(version)
    assert written.startswith("cashuA" if version == 3 else "cashuB")
    assert parse(written) == token
    assert parse(parse(written).written(version)) == token


@pytest.mark.parametrize("seed", range(5))
def test_a_token_may_be_a_link_be_wrapped_be_padded_and_be_in_the_other_alphabet(seed):
    token = some_token(seed)
    written = token.written()
    padded = written + "=" * (-len(written[6:]) % 4)
    wrapped = "\n ".join(written[start : start + 76] for start in range(0, len(written), 76))
    other = written[:6] + written[6:].replace("-", "+").replace("_", "/")
    for way in (f"cashu:{written}", padded, wrapped, other, f"  {written}\n"):
        assert parse(way) == token


def test_a_long_keyset_id_is_shortened_in_v4_and_whole_in_v3():
    keyset = "01" + "ab" * 32
    token = Token("https://mint.example", (Proof(1, keyset, "s", "02" + "ab" * 32),))
    assert parse(token.written(3)).proofs[0].keyset == keyset
    assert parse(token.written(4)).proofs[0].keyset == keyset[:16]


@pytest.mark.parametrize("seed", range(200))
def test_a_damaged_token_is_refused_or_is_another_token_and_never_anything_else(seed):
    chance = random.Random(seed)
    written = list(some_token(seed).written(chance.choice([3, 4])))
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(written))
        written[place] = chance.choice("ABCabc012-_=/+ \x00é")
    cut = chance.choice([len(written), chance.randrange(len(written))])
    with suppress(TokenError):  # and no other
        assert parse("".join(written[:cut])).amount > 0


def v3(whole: object) -> str:
    return "cashuA" + base64.urlsafe_b64encode(json.dumps(whole).encode()).decode()


def v4(whole: object) -> str:
    raw = whole if isinstance(whole, bytes) else cbor2.dumps(whole)
    return "cashuB" + base64.urlsafe_b64encode(raw).decode()


COIN = {"amount": 1, "id": "00ad268c4d1f5826", "secret": "s", "C": "02" + "ab" * 32}
SMALL = {"a": 1, "s": "s", "c": b"\x02" * 33}


def of_v3(**changes: object) -> str:
    return v3({"token": [{"mint": "https://m.example", "proofs": [COIN | changes]}]})


def of_v4(**changes: object) -> str:
    return v4(
        {"m": "https://m.example", "u": "sat", "t": [{"i": b"\0" * 8, "p": [SMALL | changes]}]}
    )


def test_the_tokens_that_the_next_test_spoils_are_good():
    assert parse(of_v3()).amount == parse(of_v4()).amount == 1


@pytest.mark.parametrize(
    "written",
    [
        "",
        "lnbc1u1p405cw99qypqqq",
        "cashu:0123456789abcdef0123456789abcdef",
        "cashuC" + "ab" * 50,
        "cashuA",
        "cashuB",
        "cashuA!!!",
        v3([]),
        v3({"token": "x"}),
        v3({"token": []}),
        v3({"token": [{"mint": "https://m.example", "proofs": []}]}),
        v3({"token": [{"mint": 7, "proofs": [COIN]}]}),
        v3({"token": [{"proofs": [COIN]}]}),
        of_v3(amount=0),
        of_v3(amount=-1),
        of_v3(amount=1.0),
        of_v3(amount=True),
        of_v3(amount="1"),
        of_v3(amount=2**60),
        of_v3(id="../keys"),
        of_v3(id=""),
        of_v3(C="zz"),
        of_v3(C="02" * 40),
        of_v3(secret=""),
        of_v3(secret="s" * 1025),
        of_v3(secret=["P2PK"]),
        of_v3(dleq={"e": "zz", "s": "1", "r": "1"}),
        of_v3(dleq="yes"),
        "cashuA" + base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        "cashuA" + base64.urlsafe_b64encode(b'{"token":' + b"9" * 5000 + b"}").decode(),
        v4(b"\x9f" * 100_000),
        v4(b"\x5b\x00\xff\xff\xff\xff\xff\xff\xff"),
        v4({"m": "https://m.example", "u": "sat", "t": [{"i": b"\0" * 8, "p": 7}]}),
        v4({"m": "https://m.example", "u": "sat", "t": {"i": b"", "p": []}}),
        of_v4(a=cbor2.CBORTag(4, [1, 1])),
        of_v4(c="02" * 33),
        of_v4(s=b"s"),
        of_v4(d={"e": b"", "s": b"", "r": b"\1"}),
        of_v4(d=[]) + "A" * LARGEST,
    ],
    ids=lambda written: written[:40] or "nothing",
)
def test_a_malformed_token_is_refused_with_what_to_do(written):
    with pytest.raises(TokenError, match="it begins with cashuA or cashuB") as refused:
        parse(written)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None  # the parsers' errors carry the text along


def test_a_token_of_several_mints_is_refused_in_words():
    parts = [{"mint": f"https://{name}.example", "proofs": [COIN]} for name in "ab"]
    with pytest.raises(TokenError, match="one token for each mint"):
        parse(v3({"token": parts}))


def test_a_token_of_too_many_coins_is_refused_in_words():
    proofs = [COIN | {"secret": str(number)} for number in range(MOST_PROOFS + 1)]
    with pytest.raises(TokenError, match="makes larger coins"):
        parse(v3({"token": [{"mint": "https://m.example", "proofs": proofs}]}))


def test_nothing_that_is_shown_of_a_token_can_be_spent():
    token = some_token(3)
    for shown in (repr(token), str(token), repr(token.proofs), f"{token.proofs[0].dleq}"):
        for proof in token.proofs:
            assert proof.secret not in shown or proof.secret == "x"
            assert proof.signature not in shown
    assert repr(token) == f"Token({token.amount} sat, https://mint.example/Bitcoin)"


def test_a_secret_has_the_point_that_the_specification_gives_it():
    assert text(secret_point("\0" * 32)) == (
        "024cce997d3b518f739663b757deaec95bcd9473c30a14ac2fd04023a739d1a725"
    )
    assert text(secret_point("\0" * 31 + "\1")) == (
        "022e7158e11c9506f1aa4248bf531298daa7febd6194f003edcd9b93ade6253acf"
    )


def test_a_keyset_has_the_id_that_the_specification_gives_it():
    keys = {
        1: point("03a40f20667ed53513075dc51e715ff2046cad64eb68960632269ba7f0210e38bc"),
        2: point("03fd4ce5a16b65576145949e6f99f445f8249fee17c606b688b504a849cdc452de"),
        4: point("02648eccfa4c026960966276fa5a4cae46ce0fd432211a4f449bf84f13aa5f8303"),
        8: point("02fdfd6796bfeac490cbee12f778f867f0a2c68f6508d17c649759ea0dc3547528"),
    }
    assert keyset_id("00", keys, "sat", 0, None) == "00456a94ab4e1c46"
    with pytest.raises(ValueError, match="yjzQhxghPdrr"):
        keyset_id("yjzQhxghPdrr", keys, "sat", 0, None)
