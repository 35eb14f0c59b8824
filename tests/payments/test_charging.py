"""Each model call of an agent is paid for once, whoever makes it and however often it is tried."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap
import threading

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import deepnb
from deepnb.errors import AgentError, MintUnreachableError, PaymentError
from deepnb.interrupts import refusal
from deepnb.middleware import payment
from deepnb.middleware.payment import STOPPED, Payment
from deepnb.payments import Cashu
from deepnb.testing import ScriptedModel, call
from tests.payments.mints import token

THREAD = {"configurable": {"thread_id": "a"}}
REQUEST = {"messages": [("user", "go")]}


def ping() -> str:
    """Answer."""
    return "pong"


def pinging(times):
    return ScriptedModel([*[call("ping")] * times, "done"])


@pytest.fixture
def cashu(free, tmp_path):
    return Cashu([free], price_sats=2, wallet=tmp_path / "wallet")


@pytest.fixture
def till(opened, free):
    return opened(free)


@pytest.fixture
def pay(till, free):
    """Pay into the account of the thread, and give the handle."""
    return lambda sats: till.deposit("a", token(free, sats).written()).handle


def agent(model, cashu, **options):
    return deepnb.agents.get(
        "deep", model=model, tools=[ping], payment=cashu, checkpointer=InMemorySaver(), **options
    )


def said(result):
    return result["messages"][-1].text


def money(result):
    return (result["payment_balance_sats"], result["payment_spent_sats"], result["payment_status"])


def test_a_model_call_costs_its_price_and_a_tool_call_nothing(cashu, till, pay):
    handle = pay(20)
    result = agent(pinging(3), cashu).invoke(REQUEST, THREAD)
    assert said(result) == "done"
    assert (till.spent("a"), till.balance("a")) == (8, 12)
    assert money(result) == (12, 8, "active")
    assert (result["payment_token"], result["payment_refund_token"]) == (handle, None)
    assert result["payment_refund_claimed"] is False


@pytest.mark.parametrize("name", ["simple", "deep"])
def test_an_agent_that_is_not_paid_for_says_nothing_of_money(name):
    graph = deepnb.agents.get(name, model=ScriptedModel(["done"]))
    assert not [key for key in graph.invoke(REQUEST) if key.startswith("payment")]


def test_the_simple_agent_is_paid_for_too(cashu, till, pay):
    pay(8)
    model = pinging(1)
    graph = deepnb.agents.get("simple", model=model, tools=[ping], payment=cashu)
    assert money(graph.invoke(REQUEST, THREAD)) == (4, 4, "active")


def test_below_the_price_it_asks_and_goes_on_where_it_was(cashu, free, till, pay):
    model = pinging(3)
    graph = agent(model, cashu)
    result = graph.invoke(REQUEST, THREAD)
    (question,) = result["__interrupt__"]
    request = {"type": "payment_exhausted", "price": 2, "balance": 0, "mints": [free]}
    assert question.value == request
    assert money(result) == (0, 0, "unfunded")
    (again,) = graph.invoke(Command(resume={"token": pay(5)}), THREAD)["__interrupt__"]
    assert again.value == request | {"balance": 1}
    assert len(model.calls) == 2
    result = graph.invoke(Command(resume={"token": pay(3)}), THREAD)
    assert said(result) == "done"
    assert money(result) == (0, 8, "exhausted")
    assert len(model.calls) == 4


async def test_it_charges_async_too(cashu, till, pay):
    graph = agent(pinging(3), cashu)
    pay(4)
    (question,) = (await graph.ainvoke(REQUEST, THREAD))["__interrupt__"]
    assert question.value["balance"] == 0
    result = await graph.ainvoke(Command(resume={question.id: {"token": pay(4)}}), THREAD)
    assert (said(result), money(result)) == ("done", (0, 8, "exhausted"))


def test_a_handle_that_pays_for_nothing_asks_again(cashu, pay):
    graph = agent(pinging(0), cashu)
    graph.invoke(REQUEST, THREAD)
    made_up = f"cashu:{'0' * 32}"
    (again,) = graph.invoke(Command(resume={"token": made_up}), THREAD)["__interrupt__"]
    result = graph.invoke(Command(resume={again.id: {"token": pay(2)}}), THREAD)
    assert said(result) == "done"


def test_stopping_ends_the_run_in_order_and_a_new_one_asks_again(cashu, pay):
    model = pinging(3)
    graph = agent(model, cashu)
    pay(4)
    graph.invoke(REQUEST, THREAD)
    result = graph.invoke(Command(resume={"stop": True}), THREAD)
    assert (said(result), money(result)) == (STOPPED, (0, 4, "exhausted"))
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    assert said(graph.invoke(Command(resume={question.id: {"token": pay(8)}}), THREAD)) == "done"
    assert len(model.calls) == 4


def test_a_token_is_no_answer_and_no_error_repeats_it(cashu, free):
    graph = agent(pinging(0), cashu)
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    written = token(free, 2).written()
    for answer in (written, {"token": written}, {"token": "x", "more": [written]}, b"x", {}, 3):
        with pytest.raises(ValueError, match="validation error") as raised:
            graph.invoke(Command(resume={question.id: answer}), THREAD)
        assert written[:12] not in str(raised.value) + repr(raised.value.errors())
        refused = str(refusal(raised.value))
        assert "still open" in refused
        assert ("till.deposit" in refused) == (written in str(answer))
    kept = repr(list(graph.checkpointer.list(THREAD)))
    assert written[6:20] not in kept


# Subagents and summaries


def parallel(cashu, helpers=3):
    """Three subagents at once, each with a model of its own that makes five calls."""
    started = threading.Barrier(helpers, timeout=30)

    def slow(messages):
        if messages[-1].type == "human":
            started.wait()
        return call("ping") if sum(m.type == "ai" for m in messages) < 4 else "worked"

    models = [ScriptedModel(slow) for _ in range(helpers)]
    subagents = [
        {"name": f"s{n}", "description": "works", "system_prompt": "Work.", "model": model}
        for n, model in enumerate(models)
    ]
    tasks = [call("task", description="work", subagent_type=spec["name"]) for spec in subagents]
    main = ScriptedModel(lambda messages: tasks if messages[-1].type == "human" else "all done")
    return [main, *models], agent(main, cashu, subagents=subagents)


def calls(models):
    return sum(len(model.calls) for model in models)


def test_subagents_pay_from_the_same_account(cashu, till, pay):
    models, graph = parallel(cashu)
    pay(40)
    result = graph.invoke(REQUEST, THREAD)
    assert (said(result), calls(models)) == ("all done", 17)
    assert money(result) == (6, 34, "active")


def test_several_that_ask_at_once_are_answered_one_by_one(cashu, till, pay):
    models, graph = parallel(cashu)
    pay(18)
    result = graph.invoke(REQUEST, THREAD)
    assert till.spent("a") == 2 * calls(models) == 18
    questions = result["__interrupt__"]
    pay(16)
    for asked in questions:
        answer = {"token": pay(2)}
        result = graph.invoke(Command(resume={asked.id: answer}), THREAD)
    assert "__interrupt__" not in result
    assert (said(result), calls(models), till.spent("a")) == ("all done", 17, 34)


def test_stopping_stops_the_subagents_and_their_parent(cashu, till, pay):
    models, graph = parallel(cashu)
    pay(18)
    result = graph.invoke(REQUEST, THREAD)
    while questions := result.get("__interrupt__"):
        result = graph.invoke(Command(resume={questions[0].id: {"stop": True}}), THREAD)
    assert (said(result), calls(models), till.spent("a")) == (STOPPED, 9, 18)


def test_a_summary_is_a_call(cashu, till, pay):
    model = ScriptedModel(
        lambda messages: "a summary" if "<conversation>" in messages[0].text else "done",
        window=10_000,
    )
    graph = agent(model, cashu)
    pay(100)
    for _ in range(12):
        result = graph.invoke({"messages": [("user", "words " * 800)]}, THREAD)
    assert [c for c in model.calls if "<conversation>" in c.messages[0].text]
    spent = 2 * len(model.calls)
    assert (till.spent("a"), money(result)) == (spent, (100 - spent, spent, "active"))


# Whose money


def test_money_belongs_to_a_thread(cashu):
    graph = deepnb.agents.get("deep", model=pinging(0), payment=cashu)
    with pytest.raises(PaymentError, match="belong to a thread"):
        graph.invoke(REQUEST)


def test_another_thread_has_another_account(cashu, till, pay):
    pay(20)
    graph = agent(pinging(0), cashu)
    assert graph.invoke(REQUEST, {"configurable": {"thread_id": "b"}})["__interrupt__"]
    assert till.balance("a") == 20


# When something goes wrong


def test_a_call_that_fails_is_tried_again_for_nothing(cashu, till, pay):
    pay(6)
    answers = iter([ValueError("overloaded"), "done"])
    model = ScriptedModel(lambda _: next(answers))
    graph = agent(model, cashu)
    with pytest.raises(ValueError, match="overloaded"):
        graph.invoke(REQUEST, THREAD)
    assert till.spent("a") == 2
    assert said(graph.invoke(None, THREAD)) == "done"
    assert till.spent("a") == 2


def test_a_question_of_another_kind_in_the_same_step_charges_nothing_again(cashu, till, pay):
    pay(20)
    graph = agent(pinging(2), cashu, budget=deepnb.Budget(calls=1))
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    assert question.value["type"] == "budget_exhausted"
    spent = till.spent("a")
    (question,) = graph.invoke(Command(resume={"raise_to": 2}), THREAD)["__interrupt__"]
    assert question.value["type"] == "budget_exhausted"
    assert said(graph.invoke(Command(resume={question.id: {"raise_to": 9}}), THREAD)) == "done"
    assert (spent, till.spent("a")) == (4, 6)


def test_approvals_charge_nothing_again(cashu, till, pay):
    pay(20)
    graph = agent(pinging(1), cashu, interrupt_on={"ping": True})
    assert graph.invoke(REQUEST, THREAD)["__interrupt__"]
    assert till.spent("a") == 2
    result = graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert (said(result), till.spent("a")) == ("done", 4)


def test_a_mint_that_does_not_answer_fails_the_run_and_it_goes_on_later(between, opened, tmp_path):
    till = opened(between.url)
    till.deposit("a", token(between.url, 20).written())
    cashu = Cashu([between.url], price_sats=2, wallet=tmp_path / "wallet")
    model = pinging(0)
    graph = agent(model, cashu)
    between.lost.add("/v1/checkstate")
    with pytest.raises(MintUnreachableError):
        graph.invoke(REQUEST, THREAD)
    assert (model.calls, till.spent("a")) == ([], 0)
    between.lost.clear()
    assert said(graph.invoke(None, THREAD)) == "done"
    assert till.spent("a") == 2


# What is refused at once


def test_what_is_no_payment_is_refused():
    with pytest.raises(AgentError, match="Cashu"):
        deepnb.agents.get("deep", model=pinging(0), payment="https://mint.example")


def test_without_the_extra_it_says_what_to_install():
    script = (
        "import sys; sys.modules['coincurve'] = None\n"
        "import deepnb\n"
        "cashu = deepnb.Cashu(['https://mint.example'])\n"
        "try: deepnb.agents.get('deep', model='offline', payment=cashu)\n"
        "except deepnb.errors.MissingExtraError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "'deepnb[cashu]'" in done.stdout


def test_the_examples_run(monkeypatch, free, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")
    config = {"configurable": {"thread_id": "b"}}
    known = {"InMemorySaver": InMemorySaver, "Command": Command, "config": config, "thread_id": "b"}
    code = f"{inspect.cleandoc(payment.__doc__)}\n".replace("https://mint.example", free)
    blocks = re.findall(r"(?:^ {4}.*\n|^\n)+", code, re.MULTILINE)
    first, second = (textwrap.dedent(block) for block in blocks if "    " in block)
    exec(first.replace("cashuB…", token(free, 100).written()), known)
    with known["session"] as session:
        assert 0 < session.spent == 100 - session.refund.amount
    made, _, paid = second.partition("with ")
    exec(made, known)
    known["graph"].invoke(REQUEST, config)
    exec(f"with {paid}".replace("cashuB…", token(free, 2).written()), known)
    assert said(known["graph"].get_state(config).values) not in ("go", STOPPED)


def test_a_payment_by_itself_shows_no_wallet(cashu):
    assert str(cashu.wallet) not in repr(cashu) + repr(Payment(cashu))


def test_an_answer_of_the_model_is_not_touched(cashu, pay):
    pay(2)
    answer = AIMessage("done", id="m1")
    result = agent(ScriptedModel([answer]), cashu).invoke(REQUEST, THREAD)
    assert result["messages"][-1].id == "m1"
