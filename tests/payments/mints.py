"""Real mints on this machine, the tokens that they issue, and a proxy that changes what they say.

Nutshell lives in an environment of its own (`make mint`), since it cannot live in ours.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from deepnb.payments.curve import secret_point, text
from deepnb.payments.mint import Mint, Output
from deepnb.payments.play import issue
from deepnb.payments.settle import split
from deepnb.payments.tokens import Proof, Token

NUTSHELL = Path(__file__).parents[2] / ".venv" / "mint" / "bin"
PATIENCE = 60.0
HTTP = httpx.Client(trust_env=False, verify=False, timeout=PATIENCE)


class RealMint:
    """A nutshell mint with a wallet that pays all invoices at once."""

    def __init__(self, folder: Path, fee: int = 0) -> None:
        self.folder = folder
        self.fee = fee
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **more: str) -> None:
        """Start it, or start it again with all that it knew."""
        if not (NUTSHELL / "mint").exists():
            raise FileNotFoundError("No nutshell in .venv/mint. Run: make mint")
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CASHU_DIR": str(self.folder),
            "MINT_DATABASE": str(self.folder / "mint"),
            "MINT_BACKEND_BOLT11_SAT": "FakeWallet",
            "FAKEWALLET_DELAY_INCOMING_PAYMENT": "0",
            "MINT_QUOTE_BACKEND_CHECK_RATE_LIMIT": "0",
            "MINT_PRIVATE_KEY": "TEST_PRIVATE_KEY",
            "MINT_INPUT_FEE_PPK": str(self.fee),
            "MINT_RATE_LIMIT": "FALSE",
            "MINT_LISTEN_HOST": "127.0.0.1",
            "MINT_LISTEN_PORT": str(self.port),
            "TOR": "FALSE",
        }
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [NUTSHELL / "mint"],
                cwd=self.folder,
                env=settings | more,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                HTTP.get(f"{self.url}/v1/keysets").raise_for_status()
            except httpx.HTTPError:
                assert self._process, "it was not started"
                assert self._process.poll() is None, (self.folder / "log").read_text()[-2000:]
                assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.1)
            else:
                return

    def rotate(self) -> None:
        """Start it again with new keys; the old ones sign nothing any more."""
        with closing(sqlite3.connect(self.folder / "mint" / "mint.sqlite3")) as db, db:
            db.execute("UPDATE keysets SET active = 0")
        self.start(MINT_DERIVATION_PATH="m/0'/0'/1'")

    def kill(self) -> None:
        if self._process:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def plain() -> str:
    return secrets.token_hex(32)


def locked(pubkey: str, *tags: list[str], kind: str = "P2PK") -> str:
    return json.dumps([kind, {"nonce": plain(), "data": pubkey, "tags": list(tags)}])


_STOCK: dict[tuple[str, int], list[Token]] = {}
_AT_ONCE = 8


def token(url: str, amount: int) -> Token:
    """Give a plain token that nobody else was given, from several that were issued at once."""
    stock = _STOCK.setdefault((url, amount), [])
    if not stock:
        coins = [1 << bit for bit in reversed(range(amount.bit_length())) if amount >> bit & 1]
        proofs = issue(url, amount * _AT_ONCE, coins=coins * _AT_ONCE).proofs
        starts = range(0, len(proofs), len(coins))
        stock += [Token(url, proofs[start : start + len(coins)]) for start in starts]
    return stock.pop()


def fresh_outputs(mint: Mint, amount: int) -> list[Output]:
    keyset = mint.newest()
    coins = split(amount, mint.keys(keyset))
    return [Output(each, keyset.id, plain(), plain()) for each in coins]


def redeem(url: str, *tokens: Token) -> int:
    """Swap tokens for new coins, as their receiver would, and say what came out."""
    mint = Mint(url)
    proofs = [whole(proof, mint) for each in tokens for proof in each.proofs]
    value = sum(proof.amount for proof in proofs) - mint.fee(proofs)
    got = mint.swap([(proof, None) for proof in proofs], fresh_outputs(mint, value))
    mint.close()
    return sum(proof.amount for proof in got)


def whole(proof: Proof, mint: Mint) -> Proof:
    return replace(proof, keyset=mint.keyset(proof.keyset).id)


def points(of: Token) -> list[str]:
    return [text(secret_point(proof.secret)) for proof in of.proofs]


Answer = tuple[int, Any]
Change = Callable[[Any, Answer], "Answer | None"]


class Proxy:
    """Stands in front of a real mint.

    `changes` says what becomes of the answers on a path: a function of the request and of the
    mint's answer, which gives another one, or None to break off without any. What is in `lost` is
    not even passed on to the mint.
    """

    def __init__(self, url: str) -> None:
        self.mint = url
        self.url = ""
        self.changes: dict[str, Change] = {}
        self.lost: set[str] = set()
        self.seen: list[str] = []
        self.swapped: list[Any] = []

    def count(self, path: str) -> int:
        return sum(each.startswith(path) for each in self.seen)

    def answer(self, method: str, path: str, body: bytes) -> Answer | None:
        self.seen.append(path)
        request = json.loads(body) if body else None
        if path in self.lost:
            return None
        real = HTTP.request(
            method, self.mint + path, content=body, headers={"Content-Type": "application/json"}
        )
        answer = (real.status_code, real.json())
        if path == "/v1/swap":
            self.swapped.append(answer)
        change = next((self.changes[each] for each in self.changes if path.startswith(each)), None)
        return change(request, answer) if change else answer


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    stand_in = Proxy(url)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = stand_in.answer(self.command, self.path, body)
            if answer is None:
                self.close_connection = True
                return
            status, said = answer
            raw = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            if isinstance(said, Mapping) and "Location" in said:
                self.send_header("Location", said["Location"])
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    stand_in.url = f"http://127.0.0.1:{http.server_port}"
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield stand_in
    finally:
        http.shutdown()
        http.server_close()
