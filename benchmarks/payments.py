"""What paying costs beside the mint, against a real one on this machine.

The peer is the mint's own state check (NUT-07), which is the least that finding out about a token
can cost; both are timed in turn, and medians are compared. Charging is timed on a token that is
locked to the wallet, where the mint is not asked, on a plain one, without the check in it, and in
the model calls of an agent, against the same agent for nothing. Twenty sessions then pay and settle
at once, and every sat is accounted for.

    python benchmarks/payments.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from deepnb import agents
from deepnb.payments import Cashu
from deepnb.payments.mint import Mint
from deepnb.payments.play import issue
from deepnb.testing import ScriptedModel, call
from tests.payments.mints import RealMint, locked, points

if TYPE_CHECKING:
    from collections.abc import Callable

    from langchain_core.runnables import RunnableConfig

    from deepnb.payments import Refund, Till, Token

ROUNDS = 15
SESSIONS = 20
CALLS = 5
LOOKS = 50
AGENTS = 5
VALIDATION_LIMIT = 3.0
CHARGE_LIMIT = 0.005
AMOUNT = 1_000


def seconds(work: Callable[[], object]) -> float:
    """Measure the seconds that a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def validation(till: Till, url: str) -> tuple[float, float]:
    """Give the median of paying in, and of the mint's own check of the same coins."""
    mint, pairs = Mint(url), []
    till.deposit("warm", issue(url, AMOUNT).written())
    for number in range(ROUNDS):
        token = issue(url, AMOUNT)
        asked, written = points(token), token.written()
        peer = seconds(lambda: mint.states(asked))  # noqa: B023  # called at once
        ours = seconds(lambda: till.deposit(f"valid {number}", written))  # noqa: B023
        pairs.append((ours, peer))
    mint.close()
    return statistics.median(one for one, _ in pairs), statistics.median(two for _, two in pairs)


def charging(till: Till, token: Token) -> float:
    """Give the median of a charge, without what the mint took to answer meanwhile."""
    account, asked = f"charge {token.proofs[0].signature}", points(token)
    till.deposit(account, token.written())
    mint = Mint(token.mint)
    is_locked = token.proofs[0].secret.startswith("[")
    mint.states(asked)
    times = []
    for number in range(ROUNDS * 3):
        whole = seconds(lambda: till.charge(account, f"call {number}"))  # noqa: B023
        times.append(whole if is_locked else whole - seconds(lambda: mint.states(asked)))
    mint.close()
    return statistics.median(times)


def in_an_agent(cashu: Cashu, till: Till, url: str) -> tuple[float, float]:
    """Give the median seconds of an agent's model call, with its tool's, paid for and not."""
    looks = [call("ls", path="/")] * LOOKS

    def run(payment: Cashu | None, thread: str) -> float:
        model = ScriptedModel([*looks, "done"])
        graph = agents.get("deep", model=model, payment=payment, checkpointer=InMemorySaver())
        asked = {"messages": [HumanMessage("go")]}
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        return seconds(lambda: graph.invoke(asked, config)) / (LOOKS + 1)

    pairs = []
    for number in range(AGENTS):
        thread = f"agent {number}"
        till.deposit(thread, issue(url, AMOUNT, lambda: locked(till.pubkey)).written())
        pairs.append((run(cashu, thread), run(None, thread)))
        assert till.spent(thread) == (LOOKS + 1) * till.price
    return statistics.median(one for one, _ in pairs), statistics.median(two for _, two in pairs)


def session(till: Till, token: Token) -> Refund:
    """Pay in, make some calls, and have the rest back."""
    account = f"session {token.amount}"
    till.deposit(account, token.written())
    for number in range(CALLS):
        till.charge(account, f"call {number}")
    return till.settle(account)


def at_once(till: Till, url: str) -> tuple[float, int]:
    """Time sessions that pay at once; give how many sats are not where they belong."""
    tokens = [issue(url, 50 + number) for number in range(SESSIONS)]
    with ThreadPoolExecutor(SESSIONS) as threads:
        start = time.perf_counter()
        refunds = list(threads.map(lambda token: session(till, token), tokens))
        took = time.perf_counter() - start
    astray = 0
    for number, refund in enumerate(refunds):
        astray += abs(refund.total - 50 - number)
        astray += abs(refund.kept - CALLS * till.price)
        astray += abs(refund.kept + refund.amount + refund.fee - refund.total)
    astray += abs(till.earned - SESSIONS * CALLS * till.price)
    return took, astray


def measure(mint: RealMint, wallet: Path) -> int:
    """Print every number with its limit; 1 if one is missed."""
    cashu = Cashu([mint.url], wallet=wallet)
    with cashu.open() as till:
        ours, peer = validation(till, mint.url)
        on_locked = charging(till, issue(mint.url, AMOUNT, lambda: locked(till.pubkey)))
        on_plain = charging(till, issue(mint.url, AMOUNT))
        paid, free = in_an_agent(cashu, till, mint.url)
        took, astray = at_once(till, mint.url)
    print(f"a model call of an agent: {paid * 1000:.1f} ms, for nothing {free * 1000:.1f} ms")
    print(f"taking a token in: {ours * 1000:.1f} ms; the mint's own check: {peer * 1000:.1f} ms")
    print(f"{SESSIONS} sessions pay, make {CALLS} calls each and settle at once: {took:.1f} s")
    rows = [
        ("taking a token in, to the mint's own check", ours / peer, VALIDATION_LIMIT, "x"),
        ("a charge on a locked token", on_locked, CHARGE_LIMIT, "s"),
        ("a charge on a plain token, beside the mint's check", on_plain, CHARGE_LIMIT, "s"),
        ("paying, in a model call of an agent", paid - free, CHARGE_LIMIT, "s"),
        (f"astray after {SESSIONS} sessions at once", float(astray), 0.0, "sat"),
    ]
    for what, value, limit, unit in rows:
        print(f"{what}: {value:.4f} {unit} (limit {limit} {unit})")
    return int(any(value > limit for _, value, limit, _ in rows))


def main() -> int:
    """Start a mint that takes fees, and measure."""
    with tempfile.TemporaryDirectory() as name:
        mint = RealMint(Path(name) / "mint", fee=100)
        mint.start()
        try:
            mint.wait()
            return measure(mint, Path(name) / "wallet")
        finally:
            mint.kill()


if __name__ == "__main__":
    sys.exit(main())
