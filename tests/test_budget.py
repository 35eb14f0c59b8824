"""A cap that holds over all subagents, and asks instead of dying."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

import deepnb
from deepnb.errors import AgentError, ModelError
from deepnb.middleware.budget import STOPPED
from deepnb.middleware.ledger import Amount, Exhausted, Ledger
from deepnb.testing import ScriptedModel, call

THREAD = {"configurable": {"thread_id": "1"}}
REQUEST = {"messages": [("user", "go")]}


def ping() -> str:
    """Answer."""
    return "pong"


def pinging(times):
    return ScriptedModel([*[call("ping")] * times, "done"])


def agent(model, budget, **options):
    return deepnb.create_deep_agent(
        model, [ping], budget=budget, checkpointer=InMemorySaver(), **options
    )


def said(result):
    return result["messages"][-1].text


def test_at_the_limit_it_asks_and_goes_on_where_it_was():
    model = pinging(4)
    graph = agent(model, deepnb.Budget(calls=3))
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    assert question.value == {
        "type": "budget_exhausted",
        "unit": "calls",
        "limit": 3,
        "spent": 3,
    }
    assert len(model.calls) == 3
    assert said(graph.invoke(Command(resume={"raise_to": 5}), THREAD)) == "done"
    assert len(model.calls) == 5


def test_it_asks_again_at_the_new_limit():
    model = pinging(9)
    graph = agent(model, deepnb.Budget(calls=3))
    graph.invoke(REQUEST, THREAD)
    (again,) = graph.invoke(Command(resume={"raise_to": 6}), THREAD)["__interrupt__"]
    assert (again.value["limit"], again.value["spent"]) == (6, 6)


def test_a_limit_that_is_still_too_low_asks_again():
    graph = agent(pinging(4), deepnb.Budget(calls=3))
    graph.invoke(REQUEST, THREAD)
    (again,) = graph.invoke(Command(resume={"raise_to": 2}), THREAD)["__interrupt__"]
    assert again.value["limit"] == 3
    assert said(graph.invoke(Command(resume={again.id: {"raise_to": 5}}), THREAD)) == "done"


@pytest.mark.parametrize("answer", [{}, {"stop": True, "raise_to": 9}, {"raise_to": -1}, "more"])
def test_a_malformed_answer_is_refused_and_the_question_stays_open(answer):
    graph = agent(pinging(4), deepnb.Budget(calls=3))
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    with pytest.raises(ValueError, match="validation error"):
        graph.invoke(Command(resume={question.id: answer}), THREAD)
    assert said(graph.invoke(Command(resume={question.id: {"raise_to": 9}}), THREAD)) == "done"


def test_stopping_ends_the_run_in_order_and_the_thread_can_go_on():
    model = pinging(9)
    graph = agent(model, deepnb.Budget(calls=3))
    graph.invoke(REQUEST, THREAD)
    assert said(graph.invoke(Command(resume={"stop": True}), THREAD)) == STOPPED
    assert len(model.calls) == 3
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]  # a new run asks again
    assert question.value["spent"] == 3
    graph.invoke(Command(resume={"raise_to": 20}), THREAD)
    assert len(model.calls) == 10


async def test_it_holds_async_too():
    model = pinging(4)
    graph = agent(model, deepnb.Budget(calls=3))
    (question,) = (await graph.ainvoke(REQUEST, THREAD))["__interrupt__"]
    assert question.value["spent"] == 3
    assert said(await graph.ainvoke(Command(resume={"raise_to": 5}), THREAD)) == "done"


def parallel(budget, helpers=3):
    """Three subagents at once, each with a model of its own that makes five calls."""
    started = threading.Barrier(helpers, timeout=10)

    def slow(messages):
        if messages[-1].type == "human":
            started.wait()
        return call("ping") if sum(m.type == "ai" for m in messages) < 4 else "worked"

    models = [ScriptedModel(slow) for _ in range(helpers)]
    subagents = [
        {"name": f"s{n}", "description": "works", "model": model} for n, model in enumerate(models)
    ]
    tasks = [call("task", description="work", subagent_type=spec["name"]) for spec in subagents]
    main = ScriptedModel(lambda messages: tasks if messages[-1].type == "human" else "all done")
    return models, agent(main, budget, subagents=subagents)


def answer_all(graph, result, answer):
    """Answer one question after the other until none is open; those beside it may ask again."""
    rounds = 0
    while questions := result.get("__interrupt__"):
        rounds += 1
        assert rounds <= 3
        result = graph.invoke(Command(resume={questions[0].id: answer}), THREAD)
    return result


def test_parallel_subagents_together_never_spend_more_than_the_limit():
    budget = deepnb.Budget(calls=9)
    models, graph = parallel(budget)
    result = graph.invoke(REQUEST, THREAD)
    assert 1 <= len(result["__interrupt__"]) <= 3
    assert sum(len(model.calls) for model in models) == 8  # and one by the main agent
    assert budget.ledger.spent("1").calls == 9
    assert said(answer_all(graph, result, {"raise_to": 100})) == "all done"
    assert sum(len(model.calls) for model in models) == 15


def test_stopping_stops_the_subagents_and_their_parent():
    models, graph = parallel(deepnb.Budget(calls=9))
    result = answer_all(graph, graph.invoke(REQUEST, THREAD), {"stop": True})
    assert said(result) == STOPPED
    assert sum(len(model.calls) for model in models) == 8


def call_model() -> str:
    """Ask a model of the tool's own."""
    return ScriptedModel(["from a tool"]).invoke("hi").text


@pytest.mark.parametrize("use_async", [False, True])
async def test_compiled_subagents_and_models_inside_tools_are_charged_too(use_async):
    compiled = create_agent(ScriptedModel([call("ping"), call("ping"), "worked"]), [ping])
    subagents = [
        {"name": "compiled", "description": "c", "runnable": compiled},
        {"name": "declared", "description": "d", "model": pinging(1)},
    ]
    script = [
        [call("task", description="x", subagent_type=s["name"]) for s in subagents],
        call("call_model"),
        "done",
    ]
    budget = deepnb.Budget(calls=100)
    graph = deepnb.create_deep_agent(
        ScriptedModel(script),
        [call_model, ping],
        subagents=subagents,
        budget=budget,
        checkpointer=InMemorySaver(),
    )
    result = await graph.ainvoke(REQUEST, THREAD) if use_async else graph.invoke(REQUEST, THREAD)
    assert said(result) == "done"
    assert budget.ledger.spent("1").calls == 3 + 2 + 1 + 3  # compiled, declared, tool, main


def test_after_a_compiled_subagent_has_spent_it_all_the_agent_asks():
    compiled = create_agent(pinging(5), [ping])
    subagents = [{"name": "c", "description": "c", "runnable": compiled}]
    model = ScriptedModel([call("task", description="x", subagent_type="c"), "done"])
    graph = agent(model, deepnb.Budget(calls=4), subagents=subagents)
    (question,) = graph.invoke(REQUEST, THREAD)["__interrupt__"]
    assert question.value["spent"] == 7
    assert said(graph.invoke(Command(resume={"raise_to": 8}), THREAD)) == "done"


def test_a_subagent_built_with_the_same_budget_is_charged_once():
    budget = deepnb.Budget(calls=100)
    inner = deepnb.create_deep_agent(pinging(2), [ping], budget=budget)
    subagents = [{"name": "c", "description": "c", "runnable": inner}]
    model = ScriptedModel([call("task", description="x", subagent_type="c"), "done"])
    agent(model, budget, subagents=subagents).invoke(REQUEST, THREAD)
    assert budget.ledger.spent("1").calls == 3 + 2


def reply(text, tokens_in, tokens_out):
    usage = {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }
    return AIMessage(text, usage_metadata=usage)


NO_LIMITS = [
    {},
    *({"calls": value} for value in (-1, 0, 1.5, "5", True)),
    *({"usd": value} for value in (float("nan"), float("inf"), "1")),
    {"tokens": float("nan")},
]


@pytest.mark.parametrize("limits", NO_LIMITS)
def test_a_limit_is_a_positive_number(limits):
    with pytest.raises(AgentError, match="limit"):
        deepnb.Budget(**limits)


def test_a_models_longest_reply_is_not_held_against_the_budget():
    model = ScriptedModel([reply("done", 1_200, 34)])
    object.__setattr__(model, "max_tokens", 128_000)
    budget = deepnb.Budget(tokens=50_000)
    assert said(agent(model, budget).invoke(REQUEST, THREAD)) == "done"


def test_without_a_checkpointer_it_stops_and_says_so():
    model = pinging(9)
    graph = deepnb.create_deep_agent(model, [ping], budget=deepnb.Budget(calls=3))
    assert said(graph.invoke(REQUEST)) == STOPPED
    assert len(model.calls) == 3


def test_an_agent_inside_a_larger_graph_asks_again_in_its_next_run():
    inner = deepnb.create_deep_agent(pinging(9), [ping], budget=deepnb.Budget(calls=3))
    builder = StateGraph(MessagesState).add_node("agent", inner).add_edge(START, "agent")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke(REQUEST, THREAD)
    assert said(graph.invoke(Command(resume={"stop": True}), THREAD)) == STOPPED
    assert graph.invoke(REQUEST, THREAD)["__interrupt__"]


def test_tokens_are_reserved_at_the_most_and_settled_at_what_was_used():
    budget = deepnb.Budget(tokens=100_000)
    agent(ScriptedModel([reply("done", 1_200, 34)]), budget).invoke(REQUEST, THREAD)
    assert budget.ledger.spent("1") == Amount(calls=1, tokens=1_234)


def test_a_reservation_alone_can_break_the_limit():
    model = ScriptedModel(["never said"])
    result = agent(model, deepnb.Budget(tokens=1_000)).invoke(REQUEST, THREAD)
    assert result["__interrupt__"][0].value["unit"] == "tokens"
    assert model.calls == []


def test_money_is_counted_at_the_given_price():
    budget = deepnb.Budget(usd=1.0, prices={"ScriptedModel": (3.0, 15.0)})
    agent(ScriptedModel([reply("done", 100_000, 10_000)]), budget).invoke(REQUEST, THREAD)
    assert budget.ledger.spent("1").usd == pytest.approx(0.45)


def test_money_is_counted_at_the_list_price(monkeypatch):
    from deepnb.models.prices import price

    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    model = deepnb.models.resolve("anthropic:claude-sonnet-5-5")
    assert price(model, 1_000_000, 0) == pytest.approx(2.0)
    assert price(ScriptedModel([]), 1_000_000, 0) == 0.0


def test_a_limit_in_dollars_needs_a_price(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    graph = agent("openai:no-such-model", deepnb.Budget(usd=1.0))
    with pytest.raises(ModelError, match="No price is known for no-such-model"):
        graph.invoke(REQUEST, THREAD)


def test_a_failed_call_counts_as_a_call_and_no_more():
    budget = deepnb.Budget(tokens=100_000)
    with pytest.raises(OSError, match="down"):
        agent(ScriptedModel([OSError("down")]), budget).invoke(REQUEST, THREAD)
    assert budget.ledger.spent("1") == Amount(calls=1)


def test_threads_have_accounts_of_their_own():
    budget = deepnb.Budget(calls=2)
    graph = agent(ScriptedModel(lambda _: "done"), budget)
    for thread in ("a", "b", "a", "b"):
        graph.invoke(REQUEST, {"configurable": {"thread_id": thread}})
    assert budget.ledger.spent("a").calls == budget.ledger.spent("b").calls == 2


def test_a_summary_is_charged_like_any_call():
    budget = deepnb.Budget(calls=100)
    model = ScriptedModel(
        lambda messages: (
            "a summary"
            if "<conversation>" in messages[0].text
            else (call("ping") if messages[-1].type == "human" else "done")
        ),
        window=10_000,
    )
    graph = agent(model, budget)
    for _ in range(12):
        graph.invoke({"messages": [("user", "words " * 800)]}, THREAD)
    summaries = [c for c in model.calls if "<conversation>" in c.messages[0].text]
    assert summaries
    assert budget.ledger.spent("1").calls == len(model.calls)


def test_a_summary_is_not_paid_again_when_the_run_goes_on():
    budget = deepnb.Budget(calls=4)
    model = ScriptedModel(
        lambda messages: "a summary" if "<conversation>" in messages[0].text else "done",
        window=10_000,
    )
    graph = agent(model, budget)
    limit = 4
    for _ in range(12):
        result = graph.invoke({"messages": [("user", "words " * 800)]}, THREAD)
        while result.get("__interrupt__"):
            limit += 1
            assert limit < 40
            result = graph.invoke(Command(resume={"raise_to": limit}), THREAD)
    prompts = [c.messages[0].text for c in model.calls if "<conversation>" in c.messages[0].text]
    assert len(prompts) == len(set(prompts)) > 0


def test_the_ledger_survives_in_its_file(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.reserve("t", Amount(calls=2), {"calls": 2})
    ledger.raise_limit("t", "calls", 3)
    again = Ledger(path)
    assert again.spent("t") == Amount()  # reserved, and not yet spent
    assert isinstance(again.reserve("t", Amount(calls=1), {"calls": 2}), int)
    assert again.reserve("t", Amount(calls=1), {"calls": 2}) == Exhausted("calls", 3, 0)
    again.settle(1, Amount(calls=2))
    assert Ledger(path).spent("t") == Amount(calls=2)


def test_threads_at_once_cannot_reserve_more_than_there_is():
    ledger = Ledger()
    with ThreadPoolExecutor(16) as pool:
        entries = list(
            pool.map(lambda _: ledger.reserve("t", Amount(calls=1), {"calls": 50}), range(200))
        )
    assert sum(isinstance(entry, int) for entry in entries) == 50


def test_what_a_budget_counts_is_what_is_shown(tmp_path):
    class Mine(ScriptedModel):
        model_name: str = "Mine"

    budget = deepnb.Budget(usd=1.0, prices={"Mine": (3.0, 15.0)})
    used = {"input_tokens": 2_000, "output_tokens": 100, "total_tokens": 2_100}
    model = Mine([AIMessage("Done.", usage_metadata=used)])
    with deepnb.Session("deep", model=model, workspace=tmp_path, budget=budget) as session:
        session.ask("go").wait(30)
        (limit,) = session.limits
        assert session.usage["cost"].sum() == pytest.approx(limit.spent)
        assert limit.spent > 0
