"""A session that is paid for: funding, running out, topping up and having the rest back."""

from __future__ import annotations

import logging
import multiprocessing
import signal
from contextlib import suppress
from dataclasses import replace

import pytest

import deepnb
from deepnb.errors import (
    AnswerError,
    DuplicateTokenError,
    MintUnreachableError,
    PaymentError,
    QuestionError,
    SessionError,
    SpentTokenError,
    ThreadError,
    TokenError,
)
from deepnb.middleware.payment import STOPPED
from deepnb.payments import Cashu, parse
from deepnb.testing import ScriptedModel, call
from tests.payments import paying_child
from tests.payments.mints import redeem, token
from tests.payments.test_nutshell import Purse
from tests.research.sessions import Scientist
from tests.sessions import Gate, ask, kinds, opening, settle, subagent, task, until

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["__main__", "tests.payments.paying_child"])


def echo(messages):
    return f"You said: {messages[-1].text}"


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def session(workspace, cashu):
    with opening(workspace) as opened:
        yield lambda *given, **options: opened(*given, **{"payment": cashu, **options})


@pytest.fixture
def cashu(free, tmp_path):
    return Cashu([free], price_sats=2, wallet=tmp_path / "wallet")


@pytest.fixture
def sats(free):
    """Give the text of a token that nobody has seen."""
    return lambda amount: token(free, amount).written()


# Funding


def test_a_session_is_funded_charged_and_shown(session, sats, free):
    s = session(echo)
    assert (s.balance, s.spent, s.refund, s.payment.status) == (0, 0, None, "unfunded")
    deposit = s.fund(sats(10))
    assert ask(s, "hello").answer == "You said: hello"
    assert (s.balance, s.spent) == (8, 2)
    shown = s.payment
    assert (shown.price, shown.mints, shown.balance, shown.spent) == (2, (free,), 8, 2)
    assert (shown.status, shown.refund, len(shown.pubkey)) == ("active", None, 66)
    assert s.state["payment_token"] == deposit.handle
    assert (s.state["payment_balance_sats"], s.state["payment_status"]) == (8, "active")
    (told,) = kinds(s, "payment")
    assert told.data == {"what": "deposit", "handle": deposit.handle, "amount": 10, "fee": 0}
    assert "paid in 10 sat" in s.trace.summary.to_list()[0]
    s.close()
    assert s.payment is None


def test_the_same_token_twice_is_one_deposit(session, sats):
    s, written = session(echo), sats(10)
    assert s.fund(written) == s.fund(written)
    assert (s.balance, len(kinds(s, "payment"))) == (10, 1)
    with pytest.raises(DuplicateTokenError, match="another session"):
        session(echo, thread="other").fund(written)


def test_a_token_with_old_coins_in_it_is_not_taken_for_the_old_one(session, free):
    s, old, new = session(echo), token(free, 4), token(free, 8)
    s.fund(old.written())
    with pytest.raises(DuplicateTokenError, match="not counted again"):
        s.fund(replace(new, proofs=old.proofs + new.proofs).written())
    assert s.balance == 4


def test_a_session_that_is_not_paid_for_says_so(session, sats):
    s = session(echo, payment=None)
    assert s.payment is None
    for use in (lambda: s.balance, lambda: s.refund, s.settle, lambda: s.fund(sats(2))):
        with pytest.raises(SessionError, match="not paid for"):
            use()
    assert ask(s).status == "done"


# Running out


def test_a_run_that_has_run_out_goes_on_when_it_is_funded(session, sats, free):
    s = session(echo)
    run = ask(s)
    assert (run.status, s.waiting_for) == ("waiting", "more money (2 sat a call, 0 left)")
    (question,) = s.questions
    assert question.request == {
        "type": "payment_exhausted", "price": 2, "balance": 0, "mints": [free],
    }  # fmt: skip
    assert "A call costs 2 sat, with 0 left" in s.pending.question[0]
    handle = s.fund(sats(4)).handle
    assert settle(run).answer == "You said: go"
    (closed,) = kinds(s, "interrupt_closed")
    assert (closed.data["answer"], closed.data["by"]) == ({"token": handle}, "person")
    assert s.balance == 2


@pytest.mark.parametrize("form", [lambda t: t, lambda t: {"token": t}, lambda t: f"cashu:{t}\n"])
def test_a_token_is_an_answer_and_its_handle_is_kept(session, sats, form):
    s, written = session(echo), sats(4)
    run = ask(s)
    (question,) = s.questions
    s.respond(question.id, form(written))
    assert settle(run).status == "done"
    (closed,) = kinds(s, "interrupt_closed")
    assert closed.data["answer"] == {"token": s.state["payment_token"]}
    s.respond(question.id, form(written))  # the same answer twice is one answer
    with pytest.raises(QuestionError, match="nothing was paid in now"):
        s.respond(question.id, sats(4))
    assert s.balance == 2


def test_a_token_that_is_not_taken_leaves_the_question_open(session, sats, free):
    s = session(echo)
    run = ask(s)
    (question,) = s.questions
    spent = token(free, 4)
    redeem(free, spent)
    for bad, error in (
        (spent.written(), SpentTokenError),
        (sats(1), TokenError),
        (sats(4)[:-30], TokenError),
        ("cashuBoA", TokenError),
    ):
        with pytest.raises(error):
            s.respond(question.id, bad)
        with pytest.raises(error):
            s.fund(bad)
    for wrong in ("more", {"token": "x"}, {"token": sats(2), "stop": True}, 3, {}):
        with pytest.raises(AnswerError, match="still open") as raised:
            s.respond(question.id, wrong)
        assert "cashuB" not in str(raised.value)
    assert (s.questions, run.status, s.balance) == ([question], "waiting", 0)


@pytest.mark.parametrize("stop", ["stop", {"stop": True}])
def test_a_run_that_is_not_paid_for_ends_in_order(session, sats, stop):
    s = session(echo)
    run = ask(s)
    s.respond(s.questions[0].id, stop)
    assert (settle(run).status, run.answer) == ("done", STOPPED)
    assert ask(s).status == "waiting"  # a new run asks again
    s.fund(sats(2))
    assert settle(s.runs[-1]).answer == "You said: go"


def test_one_token_answers_all_who_ask(session, sats):
    helpers = [subagent(name, ["worked"]) for name in ("one", "two")]
    s = session([[task("one"), task("two")], "done"], subagents=helpers)
    s.fund(sats(2))
    run = ask(s)
    assert [question.type for question in s.questions] == ["payment_exhausted"] * 2
    s.fund(sats(6))
    assert settle(run).answer == "done"
    assert (s.spent, s.balance) == (8, 0)


def test_who_answers_by_rule_can_pay(session, sats):
    tokens = [sats(2), sats(2)]
    s = session(echo, respond={"payment_exhausted": lambda _: tokens.pop(0)})
    assert ask(s).status == "done"
    assert ask(s).status == "done"
    assert (s.spent, [e.data["by"] for e in kinds(s, "interrupt_closed")]) == (4, ["policy"] * 2)


def test_a_rule_with_one_token_does_not_answer_for_ever(session, sats):
    s = session(echo, respond={"payment_exhausted": sats(2)})
    assert ask(s).status == "done"
    assert ask(s).status == "waiting"
    (error,) = kinds(s, "error")
    assert "Send another token" in error.data["text"]
    assert "cashuB" not in error.data["text"]
    s.fund(sats(2))
    assert settle(s.runs[-1]).status == "done"


def test_a_rule_that_rejects_pays_nothing(session):
    assert ask(session(echo, respond="reject")).answer == STOPPED


# When something goes wrong


def test_a_mint_that_does_not_answer_fails_the_run_and_resume_goes_on(session, between, tmp_path):
    cashu = Cashu([between.url], price_sats=2, wallet=tmp_path / "wallet")
    s = session(echo, payment=cashu)
    s.fund(token(between.url, 20).written())
    between.lost.add("/v1/checkstate")
    run = ask(s)
    assert run.status == "failed"
    assert between.url in run.reason
    between.lost.clear()
    assert settle(s.resume()).answer == "You said: go"
    assert s.spent == 2


@pytest.mark.parametrize("moment", [("charge", 1), ("answer", 1), ("charge", 2), ("answer", 2)])
def test_a_kernel_that_dies_has_not_to_pay_twice(session, cashu, sats, workspace, moment):
    args = (workspace, cashu, sats(10), *moment)
    child = PROCESSES.Process(target=paying_child.work, args=args)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    s = session(["done"], subagents=[subagent("one", ["worked"])])
    _, calls = moment
    assert (s.status, s.spent, s.can_resume) == ("stopped", 2 * calls, True)
    assert settle(s.resume()).answer == "done"
    assert s.spent == (2 if calls == 1 else 6)


def test_a_subagent_that_waits_for_a_person_is_not_paid_for_twice(session, sats):
    helper = subagent("one", [call("ls", path="/"), "worked"], interrupt_on={"ls": True})
    s = session([task("one"), "done"], subagents=[helper])
    s.fund(sats(10))
    run = ask(s)
    assert (s.questions[0].type, s.spent) == ("tool_approval", 4)
    s.respond(s.questions[0].id, "approve")
    assert settle(run).answer == "done"
    assert s.spent == 8


def test_it_waits_for_money_also_in_the_next_kernel(session, sats):
    s = session(echo)
    ask(s)
    s.close()
    again = session(echo)
    assert again.waiting_for.startswith("more money")
    again.fund(sats(2))
    assert settle(again.runs[-1]).answer == "You said: go"


# Branches


UNFUNDED = {
    "payment_token": None,
    "payment_balance_sats": 0,
    "payment_spent_sats": 0,
    "payment_refund_token": None,
    "payment_status": "unfunded",
    "payment_refund_claimed": False,
}


def said(state):
    """What a state says of money."""
    return {key: state[key] for key in UNFUNDED}


def test_a_branch_begins_with_nothing(session, sats):
    s = session(echo)
    s.fund(sats(10))
    ask(s, "one")
    with s.fork() as fork:
        assert (fork.balance, fork.spent, fork.payment.status) == (0, 0, "unfunded")
        assert said(fork.state) == UNFUNDED
        assert ask(fork, "two").status == "waiting"
        assert said(fork.state) == UNFUNDED
        fork.fund(sats(4))
        assert settle(fork.runs[-1]).status == "done"
        assert (fork.balance, s.balance) == (2, 8)


def test_a_branch_pays_for_a_call_that_the_other_has_paid_for(session, sats):
    failing = ScriptedModel(lambda _: ValueError("overloaded"))
    s = session(model=failing)
    s.fund(sats(10))
    assert ask(s).status == "failed"  # charged, and not answered
    s.use(ScriptedModel(echo))
    with s.fork() as fork:
        assert settle(fork.resume()).status == "waiting"
        fork.fund(sats(2))
        assert settle(fork.runs[-1]).answer == "You said: go"
        assert (fork.spent, s.spent) == (2, 2)
    assert settle(s.resume()).answer == "You said: go"
    assert s.spent == 2


def test_a_branch_off_a_run_that_was_cut_off_says_so_at_once_and_goes_on(session, sats):
    answers = iter([call("ls", path="/"), ValueError("overloaded"), "done"])
    s = session(lambda _: next(answers))
    s.fund(sats(10))
    assert ask(s).status == "failed"
    with s.fork() as fork:
        assert (said(fork.state), fork.can_resume) == (UNFUNDED, True)
        fork.fund(sats(2))
        assert settle(fork.resume()).answer == "done"
        assert fork.spent == 2


class Counted:
    """An agent with a subagent, and how many calls the two have made."""

    def __init__(self, **more):
        self.calls = 0
        self.helper = subagent("one", self._helper, **more)

    def root(self, messages):
        self.calls += 1
        return task("one") if messages[-1].type == "human" else "done"

    def _helper(self, messages):
        self.calls += 1
        return call("ls", path="/") if messages[-1].type == "human" else "worked"


def test_a_branch_pays_for_its_calls_once_wherever_it_begins(session, sats):
    agent = Counted()
    s = session(agent.root, subagents=[agent.helper])
    s.fund(sats(8))
    ask(s)
    assert (agent.calls, s.spent) == (4, 8)
    made = []
    for step in range(s.trace.step.max().astype(int)):
        agent.calls = 0
        with s.fork(step) as fork, suppress(SessionError):  # there may be nothing left to do
            run = settle(fork.resume())
            fork.fund(sats(8))
            assert settle(run).answer == "done"
            assert fork.spent == 2 * agent.calls
            made.append(agent.calls)
    assert set(made) == {0, 1, 3, 4}
    assert s.spent == 8


def test_a_branch_pays_for_a_subagent_that_has_begun_elsewhere(session, sats):
    agent = Counted(interrupt_on={"ls": True})
    s = session(agent.root, subagents=[agent.helper])
    s.fund(sats(8))
    ask(s)
    agent.calls = 0
    with s.fork() as fork:
        fork.fund(sats(8))
        fork.respond(fork.questions[0].id, "approve")
        assert settle(fork.runs[-1]).answer == "done"
        assert fork.spent == 2 * agent.calls == 4


def test_a_branch_pays_once_for_a_call_of_a_subagent_that_was_paid_for_elsewhere(session, sats):
    agent = Counted()
    s = session(agent.root, subagents=[agent.helper], budget=deepnb.Budget(calls=1))
    s.fund(sats(8))
    ask(s)
    assert (s.questions[0].type, agent.calls, s.spent) == ("budget_exhausted", 1, 4)
    with s.fork() as fork:
        fork.fund(sats(8))
        while fork.questions:  # its budget is its own as well
            fork.respond(fork.questions[0].id, 9)
            run = settle(fork.runs[-1])
        assert run.answer == "done"
        assert (agent.calls, fork.spent) == (4, 6)


# Having the rest back


def test_what_was_not_used_up_is_given_back_and_nutshell_takes_it(session, costly, tmp_path, sats):
    cashu = Cashu([costly], price_sats=2, wallet=tmp_path / "wallet")
    s = session(echo, payment=cashu)
    s.fund(token(costly, 100).written())
    ask(s)
    refund = s.settle()
    assert (refund.total, refund.kept, refund.fee, refund.amount) == (100, 2, 1, 97)
    assert (s.balance, s.payment.status, s.payment.refund.amount) == (0, "settled", 97)
    state = s.state
    assert (state["payment_refund_token"], state["payment_status"]) == (refund.handle, "settled")
    assert (state["payment_balance_sats"], state["payment_refund_claimed"]) == (0, False)
    assert [m.text for m in state["messages"]] == ["go", "You said: go"]
    assert kinds(s, "payment")[-1].data == {
        "what": "refund", "handle": refund.handle, "amount": 97, "kept": 2, "fee": 1,
    }  # fmt: skip
    s.close()

    again = session(echo, payment=cashu)
    assert again.settle() == again.refund == refund
    assert len(kinds(again, "payment")) == 2
    purse = Purse(tmp_path / "purse", costly)
    fee = -(-len(parse(refund.token).proofs) // 10)
    assert purse.receive(refund.token) == 97 - fee
    again.settle()
    assert again.state["payment_refund_claimed"] is True
    run = ask(again)
    assert run.status == "waiting"  # it has to be funded again
    again.fund(token(costly, 10).written())
    assert settle(run).status == "done"
    assert again.state["payment_refund_claimed"] is True


def test_nothing_is_settled_under_a_run(session, sats):
    gate = Gate()
    s = session([call("hold"), "done"], tools=[gate.tool()])
    s.fund(sats(10))
    run = s.ask("go")
    assert gate.reached.wait(30)
    with pytest.raises(SessionError, match="or stop it first"):
        s.settle()
    gate.opened.set()
    assert settle(run).status == "done"
    assert s.settle().amount == 6


def test_settling_leaves_alone_what_can_be_resumed(session, sats):
    answers = iter([call("ls", path="/"), ValueError("overloaded"), "done"])
    s = session(lambda _: next(answers))
    s.fund(sats(10))
    assert ask(s).status == "failed"
    assert s.settle().amount == 6
    assert settle(s.resume()).answer == "done"
    assert s.state["payment_status"] == "settled"


def test_settling_what_was_never_funded_gives_nothing(session):
    s = session(echo)
    assert (s.settle().amount, s.settle().token, kinds(s, "payment")) == (0, "", [])


def test_a_mint_that_does_not_answer_loses_nothing(session, between, tmp_path):
    cashu = Cashu([between.url], price_sats=2, wallet=tmp_path / "wallet")
    s = session(echo, payment=cashu)
    s.fund(token(between.url, 20).written())
    ask(s)
    between.lost.add("/v1/swap")
    with pytest.raises(MintUnreachableError):
        s.settle()
    refund = s.payment.refund
    assert (refund.amount, refund.waiting, refund.lost) == (0, 20, 0)
    assert said(s.state) == s._core.purse.account.keys()
    assert s.state["payment_balance_sats"] == 0
    between.lost.clear()
    assert s.settle().amount == 17


def test_money_that_its_payer_has_spent_elsewhere_is_said_to_be_lost(session, free):
    s, given = session(echo), token(free, 10)
    s.fund(given.written())
    redeem(free, given)
    s.settle()
    refund = s.payment.refund
    assert (refund.amount, refund.lost, refund.waiting) == (0, 10, 0)


def test_a_refund_that_was_not_claimed_is_given_with_the_next_one(session, sats, free):
    s = session(echo)
    given = []
    for amount in (10, 2, 6):
        s.fund(sats(amount))
        ask(s)
        given.append(s.settle())
    first, second, last = given
    assert second.token == first.token  # the second time, all was used up
    assert [token.amount for token in last.tokens] == [8, 4]
    assert (s.refund, s.payment.refund.amount, s.settle()) == (last, 12, last)
    told = [event.data["amount"] for event in kinds(s, "payment") if event.data["what"] == "refund"]
    assert told == [8, 0, 4]
    redeem(free, parse(first.token))
    assert s.settle().amount == s.payment.refund.amount == 4
    assert s.state["payment_refund_claimed"] is False
    redeem(free, *s.refund.tokens)
    s.settle()
    assert (s.refund.amount, s.payment.refund.claimed) == (4, True)
    assert s.state["payment_refund_claimed"] is True


def test_a_research_session_settles_claims_and_money(session, sats, workspace):
    (workspace / "pump.md").write_text("# The pump\n\nThe pump hums at night in June.\n")
    s = session("research", model=Scientist(), respond="approve")
    s.fund(sats(20))
    assert ask(s, "Does the pump hum?").status == "done"
    assert s.spent == 6  # to plan, to check the plan, to write
    assert (s.state["payment_balance_sats"], s.state["payment_status"]) == (14, "active")
    [first, *_] = s.citations.id
    s.settle(first, "I have seen it.")
    assert s.citations.note[0] == "I have seen it."
    assert s.settle().amount == 14
    assert s.state["payment_status"] == "settled"
    assert s.citations.note[0] == "I have seen it."
    run = ask(s, "Does it hum in July?")
    assert run.status == "waiting"
    s.respond(s.questions[0].id, "stop")
    assert settle(run).status == "done"
    with pytest.raises(SessionError, match="makes no claims"):
        session(echo, thread="deep").settle(first)


# Money that nobody would find again


def test_a_thread_that_is_not_kept_cannot_be_paid_for(session):
    with pytest.raises(PaymentError, match="Leave out persist=False"):
        session(echo, persist=False)


def test_a_thread_with_money_is_not_forgotten(session, sats, workspace, free, cashu):
    s = session(echo)
    with pytest.raises(TokenError):
        s.fund(sats(1))
    s.close()
    deepnb.forget("main", workspace)  # nothing was taken
    s = session(echo)
    s.fund(sats(10))
    ask(s)
    for _ in range(2):
        with pytest.raises(ThreadError, match=r"has money.*session\.settle"):
            deepnb.forget("main", workspace)
        assert ask(s, "on").status == "done"  # it is still open
        refund = s.settle() if s.balance else s.refund
        s.close()
        with pytest.raises(ThreadError, match="has money"):
            deepnb.forget("main", workspace)
        s = session(echo)
        s.fund(sats(2))
    redeem(free, *refund.tokens)
    ask(s)
    s.settle()
    deepnb.forget("main", workspace)
    with cashu.open() as till:
        assert till.accounts() == []


def test_a_thread_that_is_paid_for_is_not_gone_on_with_for_nothing(session):
    session(echo).close()
    with pytest.raises(ThreadError, match=r"is paid for.*payment=deepnb\.Cashu"):
        session(echo, payment=None)
    session(echo, payment=None, thread="other")
    assert session(echo, thread="other").payment.status == "unfunded"


@pytest.mark.parametrize("wallet", ["workspace", "workspace/.deepnb/wallet", "link/wallet"])
def test_a_wallet_is_not_where_the_agent_reads(session, workspace, free, tmp_path, wallet):
    (tmp_path / "link").symlink_to(workspace)
    with pytest.raises(PaymentError, match="is in the workspace"):
        session(echo, payment=Cashu([free], wallet=tmp_path / wallet))
    assert not [*workspace.iterdir()]


# Bearer money


@pytest.mark.parametrize("payment", [True, False])
def test_money_is_not_said(session, sats, cashu, payment):
    gate, written = Gate(), sats(4)
    where = call("ask_user", question="Where?")
    s = session(
        [call("hold"), where, "done"],
        tools=[gate.tool()],
        middleware=[deepnb.middleware.ClarifyMiddleware()],
        payment=cashu if payment else None,
    )
    if payment:
        s.fund(sats(20))
    for text in (f"Here: {written}", {"messages": [("user", written)]}):
        with pytest.raises(SessionError, match=r"session\.fund"):
            s.ask(text)
    run = s.ask("go")
    assert gate.reached.wait(30)
    with pytest.raises(SessionError, match="is money"):
        s.steer(written)
    gate.opened.set()
    settle(run)
    with pytest.raises(AnswerError, match="still open"):
        s.respond(s.questions[0].id, written)
    s.respond(s.questions[0].id, "Here")
    assert settle(run).status == "done"
    assert written[:12] not in str(s.events())


@pytest.mark.parametrize("payment", [True, False])
def test_no_refusal_repeats_money(session, sats, cashu, payment):
    written = sats(4)
    with pytest.raises(AnswerError, match="cannot be this str") as raised:
        session(echo, respond=written)
    assert written[:12] not in str(raised.value)
    script = [call("write_file", file_path="/workspace/a.txt", content="x"), "done"]
    s = session(script, payment=cashu if payment else None)
    if payment:
        s.fund(sats(4))
    ask(s)
    with pytest.raises(AnswerError, match="no decision") as raised:
        s.respond(s.questions[0].id, written)
    assert written[:12] not in str(raised.value)


def lines(text, width):
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


FORMS = {
    "in the other alphabet": lambda t: t.translate({ord("-"): "+", ord("_"): "/"}) + "==",
    "behind a letter": lambda t: f"x{t}",
    "in lines of 64": lambda t: lines(t, 64),
    "in lines of 76": lambda t: lines(t, 76),
    "in lines of 80": lambda t: lines(f"mine: {t}", 80),
    "in lines of another system": lambda t: lines(t, 76).replace("\n", "\r\n"),
    "in a letter": lambda t: "> " + lines(t, 72).replace("\n", "\n> "),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_money_is_known_in_all_the_forms_that_are_read(session, free, workspace, form):
    given = replace(token(free, 1), mint=f"https://{'ÿþ' * 6}.example").written()
    assert {"-", "_"} <= {*given}  # which the other alphabet writes otherwise
    money = form(given)
    (workspace / "mine.txt").write_bytes(f"Mine:\n{money}\nand no more.\n".encode())
    read = call("read_file", file_path="/workspace/mine.txt")
    s = session([read, f"It is {money}\n, as I said."], payment=None)
    with pytest.raises(SessionError, match="is money"):
        s.ask(f"Here: {money}")
    assert ask(s).status == "done"
    shown = str(s.events())
    assert "Mine:" in shown
    assert "as I said" in shown
    s.close()
    kept = b"".join(p.read_bytes() for p in (workspace / ".deepnb").rglob("*") if p.is_file())
    assert b"no more" in kept
    for at in range(20, len(money) - 20, 20):
        piece = money[at : at + 20]
        assert piece not in shown
        assert piece.encode() not in kept


def secrets(*tokens):
    """All that is worth something in tokens: their texts, and what they are made of."""
    for one in tokens:
        read = parse(one)
        yield one[6:40]
        for proof in read.proofs:
            yield proof.secret
            yield proof.signature
            yield from (proof.dleq.s, proof.dleq.r) if proof.dleq else ()


def test_no_money_is_anywhere_but_in_the_wallet(session, sats, workspace, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    given = [sats(4), sats(4), sats(4), sats(5)]
    found = sats(6)  # in a file that the agent reads, and tells of
    (workspace / "wallet.txt").write_text(f"mine: {found}")
    script = [
        call("read_file", file_path="/workspace/wallet.txt"),
        f"It says {found}.",
        *["yes"] * 4,
    ]
    policy = {"payment_exhausted": lambda _: given[3] if asked > 2 else None}
    asked = 0
    s = session(script, respond=policy)
    shown = [repr(s.fund(given[0]))]
    shown.append(repr(ask(s, "read").answer.replace(found, "")))
    asked = 1
    ask(s, "once")
    s.respond(s.questions[0].id, given[1])
    until(lambda: s.status == "done")
    with pytest.raises(TokenError) as raised:
        s.fund(given[1][:-8])
    ask(s, "twice")
    ask(s, "thrice")
    s.fund(given[2])
    until(lambda: s.status == "done")
    first = s.settle()
    asked = 3
    assert ask(s, "again").status == "done"
    refund = s.settle()
    with pytest.raises(DuplicateTokenError) as duplicate:
        session(echo, thread="other").fund(given[0])
    suffixes = (".md", ".html", ".ipynb")
    shown += [s.export(tmp_path / f"export{suffix}").read_text() for suffix in suffixes]
    shown += [str(s.events()), s.trace.to_csv(), s.messages.to_csv(), repr(refund), repr(s.payment)]
    shown += [repr(s.options), repr(s), s._repr_html_(), repr(vars(s._core.purse))]
    shown += [str({k: v for k, v in s.state.items() if k != "messages"})]
    shown += [str(raised.value), str(duplicate.value), caplog.text]
    s.close()
    again = session(echo)
    shown += [str(again.events()), str(again.state)]
    again.close()
    kept = b"".join(p.read_bytes() for p in (workspace / ".deepnb").rglob("*") if p.is_file())
    assert b"payment_exhausted" in kept
    assert refund.amount > 0
    for secret in secrets(*given, found, *first.token.split(), *refund.token.split()):
        assert secret.encode() not in kept
        assert not [text for text in shown if secret in text]
