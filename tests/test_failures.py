"""What goes wrong in a run ends where a person can see it and go on from; and tells no secrets."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import StructuredTool, tool
from langchain_openai import ChatOpenAI
from langgraph.types import Command

import deepnb
from deepnb.errors import AnswerError, RunError
from deepnb.models.streaming import stream_message
from deepnb.testing import ScriptedModel, allow_model_calls, call
from tests.sessions import (
    PATIENCE,
    Gate,
    ask,
    check_conversation,
    kinds,
    opening,
    scripted,
    subagent,
    task,
    tool_texts,
)

WRITE = call("write_file", file_path="/workspace/a.md", content="hello\n")
LOOK = call("ls", path="/workspace/")


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def reasons(session):
    """Everything that tells a person that something is not as it should be."""
    return [e.data["text"] for e in kinds(session, "error", "warning")]


# Models


def test_a_model_that_raises_fails_the_run_and_says_what_to_do(opened):
    _, session = scripted(opened, RuntimeError("the server is on fire"), "fine")
    run = ask(session)
    assert run.status == session.status == "failed"
    assert "RuntimeError: the server is on fire" in run.error
    assert "session.resume()" in run.error
    assert "session.ask(" in run.error
    with pytest.raises(RunError, match="on fire"):
        _ = run.answer
    (error,) = kinds(session, "error")
    assert run.error == f"{error.data['type']}: {error.data['text']}"
    assert kinds(session, "run_ended")[-1].data["text"] == run.error


def test_resume_goes_on_where_it_failed(opened):
    model, session = scripted(opened, LOOK, RuntimeError("no"), "found")
    run = ask(session, "What is there?")
    assert session.can_resume
    again = session.resume()
    assert again is run
    assert run.wait(PATIENCE).answer == "found"
    assert len(session.runs) == 1
    assert not session.can_resume
    assert len([e for e in kinds(session, "tool_call") if e.name == "ls"]) == 1
    assert [m.type for m in model.calls[-1].messages if m.type != "system"] == [
        "human", "ai", "tool",
    ]  # fmt: skip
    assert [e.data["resumed"] for e in kinds(session, "run_started")] == [False, True]
    assert session.messages["text"].tolist() == ["What is there?", "found"]


def test_asking_something_else_starts_afresh(opened):
    model, session = scripted(opened, LOOK, RuntimeError("no"), "other answer")
    ask(session, "first")
    run = ask(session, "second")
    assert run.answer == "other answer"
    assert not session.can_resume
    check_conversation(model.calls[-1].messages)
    assert [m.text for m in model.calls[-1].messages if m.type == "human"] == ["first", "second"]


def test_resuming_can_fail_again_and_again(opened):
    _, session = scripted(opened, *[RuntimeError(f"no {n}") for n in range(3)], "at last")
    run = ask(session)
    for number in (1, 2):
        session.resume().wait(PATIENCE)
        assert f"no {number}" in run.error
    assert session.resume().wait(PATIENCE).answer == "at last"
    assert run.error is None
    check_conversation(session.state["messages"])


def test_what_is_queued_behind_a_failure_is_not_started(opened, gate):
    model, session = scripted(opened, call("hold"), RuntimeError("no"), "fine", tools=[gate.tool()])
    run, behind = session.ask("go"), session.ask("then")
    gate.opened.set()
    assert run.wait(PATIENCE).status == "failed"
    assert behind.wait(PATIENCE).status == "stopped"
    assert behind.reason == "before it began: the run before it did not end well"
    assert len(model.calls) == 2


def test_a_failed_thread_can_be_resumed_when_it_is_opened_again(opened):
    model, session = scripted(opened, LOOK, RuntimeError("no"), "found")
    ask(session)
    before = session.events()
    session.close()
    again = opened("deep", model=model)
    assert again.events() == before
    (run,) = again.runs
    assert again.status == run.status == "failed"
    assert "RuntimeError: no" in run.error
    assert again.can_resume
    assert again.resume().wait(PATIENCE).answer == "found"
    check_conversation(again.state["messages"])


class NastyError(Exception):
    def __str__(self):
        raise ValueError("no words")

    __repr__ = __str__


ERRORS = {
    "no text": RuntimeError(),
    "no words": NastyError(),
    "long": RuntimeError("<html>" + "x" * 1_000_000),
    "several": ExceptionGroup("all of it", [ValueError("one"), KeyError("two")]),
    "surrogate": RuntimeError("bad \ud800 text\x00"),
    "no serialising": type("Odd", (Exception,), {})(threading.Lock()),
    "steers the terminal": RuntimeError("\x1b[2Jgone\r\n\x07"),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_whatever_is_raised_can_be_told(opened, kind):
    model, session = scripted(opened, ERRORS[kind], "fine")
    run = session.ask("go").wait(10)
    assert run.status == "failed", "It hangs."
    assert "session.resume()" in run.error
    assert len(repr(run)) < 1_000
    assert repr(run).isprintable()
    assert all(len(str(event.data)) < 100_000 for event in session.events())
    assert run._repr_html_()
    assert session.resume().wait(PATIENCE).answer == "fine"
    check_conversation(model.calls[-1].messages)


class Breaking(ScriptedModel):
    """Breaks off in the middle of its first reply."""

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        first = not self.calls
        for number, chunk in enumerate(stream_message(self._next(messages, kwargs))):
            if first and number == 3:
                raise ConnectionError("the line went dead")
            yield ChatGenerationChunk(message=chunk.message)


@pytest.mark.parametrize("then", ["resume", "ask"])
def test_a_model_that_breaks_off_in_mid_sentence(opened, then):
    model = Breaking(["one two three four five six", "the whole answer"])
    session = opened("deep", model=model)
    run = ask(session)
    assert run.status == "failed"
    assert "the line went dead" in run.error
    assert "".join(e.data["text"] for e in kinds(session, "token")).startswith("one two")
    run = session.resume().wait(PATIENCE) if then == "resume" else ask(session, "again")
    assert run.answer == "the whole answer"
    assert [m.text for m in session.state["messages"] if m.type == "ai"] == ["the whole answer"]
    assert session.messages["text"].tolist().count("the whole answer") == 1
    check_conversation(model.calls[-1].messages)


def test_a_model_that_times_out(opened):
    _, session = scripted(opened, TimeoutError(), "fine")
    run = ask(session)
    assert run.status == "failed"
    assert "TimeoutError" in run.error
    assert session.resume().wait(PATIENCE).answer == "fine"


def test_a_model_that_times_out_in_a_subagent_is_an_error_its_caller_reads(opened):
    helper = subagent("helper", [TimeoutError("no answer in time")])
    model, session = scripted(opened, task("helper"), "without it", subagents=[helper])
    assert ask(session).answer == "without it"
    assert "no answer in time" in tool_texts(model.calls[-1])[0]
    (end,) = kinds(session, "subagent_ended")
    assert end.data["status"] == "error"


def test_a_tool_that_nobody_knows(opened):
    model, session = scripted(opened, call("fly", to="the moon"), "I cannot fly.")
    assert ask(session).answer == "I cannot fly."
    assert "fly" in tool_texts(model.calls[-1])[0]
    (result,) = kinds(session, "tool_result")
    assert (result.name, result.data["status"]) == ("fly", "error")
    check_conversation(session.state["messages"])


def broken(**fields):
    lost = {"name": "ls", "args": '{"path": oops}', "id": "call_x", "error": "cut off"}
    return AIMessage("", invalid_tool_calls=[{**lost, "type": "invalid_tool_call"}], **fields)


def test_broken_json_is_asked_for_again(opened):
    _, session = scripted(opened, broken(), LOOK, "found")
    assert ask(session).answer == "found"
    check_conversation(session.state["messages"])


@pytest.mark.parametrize(
    "reply", [broken, lambda: AIMessage(""), lambda: AIMessage([]), lambda: AIMessage("  \n")]
)
def test_a_model_that_says_nothing_is_not_taken_for_an_answer(opened, reply):
    replies = []

    def say(messages):
        replies.append(messages)
        return "here I am" if messages[-1].text == "hello?" else reply()

    session = opened(say)
    run = ask(session)
    assert run.status in ("done", "failed")
    assert "session.ask(" in " ".join([*reasons(session), run.reason])
    assert len(replies) < 10
    assert ask(session, "hello?").answer == "here I am"
    check_conversation(replies[-1])


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text"}],
        [{"type": "text", "text": None}],
        [{"what": "is this"}],
        ["plain", {"type": "text", "text": " and not"}],
        [{"type": "image", "url": "data:,"}],
        [{"type": "reasoning"}, {"type": "text", "text": "x"}],
        [{}],
    ],
)
def test_content_that_makes_no_sense_harms_nobody(opened, content):
    _, session = scripted(opened, AIMessage(content), "sorry")
    run = ask(session)
    assert run.status in ("done", "failed")
    assert ask(session, "what?").answer == "sorry"


def test_a_model_that_goes_round_in_circles_is_stopped_and_can_go_on(opened):
    model = ScriptedModel(lambda messages: "enough" if len(messages) > 9 else LOOK)
    graph = deepnb.create_deep_agent(model).with_config(recursion_limit=6)
    session = opened(graph)
    run = ask(session)
    assert run.status == "failed"
    assert "circles" in run.error
    assert "session.resume()" in run.error
    while run.status == "failed" and len(model.calls) < 20:
        session.resume().wait(PATIENCE)
    assert run.answer == "enough"
    check_conversation(session.state["messages"])


def test_a_model_that_goes_round_in_circles_can_be_told_something_else(opened):
    model = ScriptedModel(lambda messages: "well" if messages[-1].text == "stop it" else LOOK)
    session = opened(deepnb.create_deep_agent(model).with_config(recursion_limit=6))
    assert ask(session).status == "failed"
    assert ask(session, "stop it").answer == "well"
    check_conversation(model.calls[-1].messages)


def test_a_model_that_uses_its_call_ids_again(opened, gate):
    """Some count from one in each reply."""

    def again(*names):
        calls = [{"name": name, "args": {}, "id": "call_1"} for name in names]
        return AIMessage("", tool_calls=calls)

    model, session = scripted(
        opened, again("ls"), again("ls"), "found", again("hold"), "fine", tools=[gate.tool()]
    )
    assert ask(session).answer == "found"
    assert [e.kind for e in kinds(session, "tool_call", "tool_result")] == [
        "tool_call", "tool_result", "tool_call", "tool_result",
    ]  # fmt: skip
    session.ask("again")
    gate.reached.wait(PATIENCE)
    session.stop()
    assert ask(session, "and now?").answer == "fine"
    check_conversation(model.calls[-1].messages)


def test_a_model_that_gives_two_calls_one_id(opened):
    calls = [
        {"name": "ls", "args": {"path": "/workspace/"}, "id": "same"},
        {"name": "glob", "args": {"pattern": "*.md"}, "id": "same"},
    ]
    _, session = scripted(opened, AIMessage("", tool_calls=calls), "found", "fine")
    run = ask(session)
    assert run.status in ("done", "failed")
    assert ask(session, "and now?").status == "done"


# Tools


@tool
def burn() -> str:
    """Fail."""
    raise ValueError("it burns")


@tool
async def burn_later() -> str:
    """Fail, a little later."""
    await asyncio.sleep(0)
    raise ValueError("it burns")


@pytest.mark.parametrize("bad", [burn, burn_later])
@pytest.mark.parametrize("agent", ["deep", "simple"])
def test_a_tool_that_raises_is_an_error_the_model_reads(opened, bad, agent):
    model = ScriptedModel([call(bad.name), "I could not."])
    session = opened(agent, model=model, tools=[bad])
    assert ask(session).answer == "I could not."
    assert "it burns" in tool_texts(model.calls[-1])[0]
    (result,) = kinds(session, "tool_result")
    assert result.data["status"] == "error"


def test_a_tool_that_raises_in_a_graph_without_our_middleware_fails_the_run(opened):
    model = ScriptedModel([call("burn"), "I could not."])
    session = opened(create_agent(model, [burn]))
    run = ask(session)
    if run.status == "failed":
        assert "it burns" in run.error
        run = ask(session, "never mind")
    assert run.answer == "I could not."
    check_conversation(model.calls[-1].messages)


@tool
def leave() -> str:
    """End the program, as command line tools do when they are not pleased."""
    sys.exit(2)


@tool
async def leave_later() -> str:
    """The same on the event loop."""
    sys.exit(2)


@tool
async def cancel() -> str:
    """Be cancelled by nobody in particular."""
    raise asyncio.CancelledError


@tool
def run_out() -> str:
    """Take what is not there."""
    return next(iter([]))


@pytest.mark.parametrize("bad", [leave, leave_later, cancel, run_out], ids=lambda bad: bad.name)
def test_a_tool_that_tries_to_end_everything_ends_nothing(opened, bad):
    model, session = scripted(opened, call(bad.name), "It did not work.", "fine", tools=[bad])
    run = session.ask("go").wait(5)
    assert run.status in ("done", "failed", "stopped"), "It hangs."
    assert ask(session, "and now?").answer in ("It did not work.", "fine")
    check_conversation(model.calls[-1].messages)


class Opaque:
    """What no checkpoint can hold."""

    def __init__(self):
        self.lock = threading.Lock()


def circular():
    ring = []
    ring.append(ring)
    return ring


ODD = {
    "object": Opaque,
    "set": lambda: {1, 2},
    "bytes": lambda: b"\xff\x00",
    "nothing": lambda: None,
    "number": lambda: float("nan"),
    "large number": lambda: 2**200,
    "circle": circular,
    "generator": lambda: (n for n in range(3)),
    "surrogate": lambda: "a \ud800 b",
    "control characters": lambda: "\x00\x1b[2J\x07",
    "odd keys": lambda: {(1, 2): Opaque(), None: 3},
    "class": lambda: Opaque,
    "error": lambda: ValueError("returned, not raised"),
}


@pytest.mark.parametrize("kind", ODD)
def test_whatever_a_tool_returns_the_conversation_can_go_on(opened, kind):
    @tool
    def odd() -> object:
        """Return something."""
        return ODD[kind]()

    model, session = scripted(opened, call("odd"), "done", "still here", tools=[odd])
    run = ask(session)
    assert (run.status, run.answer) == ("done", "done"), run
    assert ask(session).answer == "still here"
    check_conversation(model.calls[-1].messages)
    json.dumps(tool_texts(model.calls[-1])).encode()


def test_an_artifact_that_cannot_be_stored_is_no_reason_to_lose_the_conversation(opened):
    @tool(response_format="content_and_artifact")
    def plot() -> tuple[str, object]:
        """Draw."""
        return "drawn", Opaque()

    model, session = scripted(opened, call("plot"), "done", "still here", tools=[plot])
    run = ask(session)
    if run.status == "failed":  # it says why, and what to do
        assert "plot" in run.error
    assert ask(session, "and now?").answer in ("done", "still here")
    check_conversation(model.calls[-1].messages)


@pytest.mark.parametrize(
    "command",
    [
        Command(update={"messages": []}),
        Command(update={"nonsense": 1}),
        Command(update={"messages": [ToolMessage("x", tool_call_id="another")]}),
        Command(goto="nowhere"),
        Command(update=3),
    ],
    ids=["no answer", "unknown channel", "another's answer", "nowhere", "no update"],
)
def test_a_tool_that_commands_nonsense(opened, command):
    @tool
    def odd() -> Command:
        """Return a command."""
        return command

    model, session = scripted(opened, call("odd"), "done", "still here", tools=[odd])
    run = ask(session)
    assert run.status in ("done", "failed")
    if run.status == "failed":
        assert "session.ask(" in run.error
    assert ask(session, "and now?").answer in ("done", "still here")
    check_conversation(model.calls[-1].messages)


# Policies and subscribers


@pytest.mark.parametrize("bad", [lambda q: next(iter([])), lambda q: sys.exit(2)])
def test_a_policy_that_runs_out_or_leaves_does_not_take_the_session_with_it(opened, bad):
    _, session = scripted(opened, WRITE, "done", respond=bad)
    run = session.ask("go").wait(5)
    assert run.status == "waiting", "It hangs."
    assert "still open" in kinds(session, "error")[-1].data["text"]
    session.respond(session.questions[0].id, "approve")
    assert run.wait(PATIENCE).answer == "done"


def test_a_subscriber_that_leaves_does_not_take_the_session_with_it(opened):
    _, session = scripted(opened, LOOK, "done")

    def leave(event):
        if event.kind == "tool_call":
            sys.exit(2)

    session.subscribe(leave)
    assert session.ask("go").wait(5).status == "done", "It hangs."


# What a person may ask, and what a model may say

ABSURD = {
    "surrogate": "what is \ud83d?",
    "only a surrogate": "\udcff",
    "long": "why?" * 250_000,
    "control characters": "\x00\x01\x1b[2J\x1b]0;owned\x07\r\x08 what?",
    "direction": "\u202egnihtemos\u202c",
    "markup": "<script>alert(1)</script> </div> ``` {{x}} %s %d {0}",
    "sql": "'); DROP TABLE event; --",
    "line breaks": "a\r\nb\u2028c\u2029d\x85e",
    "everything": "".join(map(chr, [*range(1, 300), 0xD800, 0xFFFE, 0x1F600])),
}


@pytest.mark.parametrize("kind", ABSURD)
def test_anything_can_be_asked_and_said(opened, kind, tmp_path):
    text = ABSURD[kind]
    model, session = scripted(opened, text, "fine")
    run = ask(session, text)
    assert run.status == "done", run
    assert ask(session, "and now?").answer == "fine"
    for message in model.calls[-1].messages:
        message.text.encode()  # as any provider will
    shown = session.messages["text"].tolist()
    stored = [m.text for m in session.state["messages"]]
    # What is no character may be told by one sign or another.
    assert [t.replace("\ufffd", "?") for t in shown] == [t.replace("\ufffd", "?") for t in stored]
    assert len(repr(run)) < 200
    assert repr(run).isprintable()
    for card in (run._repr_html_(), session._repr_html_()):
        assert "<script>alert" not in card
        card.encode()
    events = session.events()
    session.close()
    again = opened("deep", model=model)
    assert again.events() == events
    assert again.messages["text"].tolist() == shown
    assert again.status == "done"
    for suffix in (".md", ".html", ".ipynb"):
        again.export(tmp_path / f"all{suffix}")


@pytest.mark.parametrize("kind", ABSURD)
def test_anything_can_be_answered_or_is_refused(opened, kind):
    text = ABSURD[kind][:90_000]
    question = call("ask_user", question=text.encode(errors="replace").decode())
    clarify = deepnb.middleware.ClarifyMiddleware()
    model, session = scripted(opened, question, "fine", middleware=[clarify])
    run = ask(session)
    (question,) = session.questions
    assert repr(run).isprintable()
    try:
        session.respond(question.id, text)
    except AnswerError:
        assert "surrogate" in kind or kind == "everything"
        session.respond(question.id, "in plain words")
    assert run.wait(PATIENCE).answer == "fine"
    for message in model.calls[-1].messages:
        message.text.encode()


# Secrets

KEY = "sk-proj-Zk4uYc81hQ0vLr7sWm2xTb9nPd6eGa3f"
PLAIN = "Correct7Horse-battery"
"""Nothing about it looks like a key; it is one, since the environment says so."""


@pytest.fixture(params=[KEY, PLAIN])
def key(request, monkeypatch):
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", PLAIN)
    return request.param


def check_secret(session, workspace, key):
    """Assert that a key is nowhere where a person, a notebook or a disk could show it."""
    run = session.runs[-1]
    session.flush()
    places = {
        "events": "\n".join(map(repr, session.events())),
        "reprs": repr(session) + repr(run) + run.reason + str(run.error),
        "cards": session._repr_html_() + run._repr_html_(),
        "trace": session.trace.to_csv() + session.messages.to_csv(),
        "conversation": repr(session.state["messages"]),
    }
    for file in (workspace / ".deepnb").rglob("*"):
        if file.is_file():
            places[file.name] = file.read_bytes().decode("latin-1")
    assert len(places) > 6
    assert [place for place, text in places.items() if key in text] == []


def refused(key):
    return RuntimeError(f"401: Incorrect API key provided: {key}. Get one at example.org.")


def test_a_key_in_a_models_error_is_shown_nowhere(opened, tmp_path, key):
    _, session = scripted(opened, refused(key), "fine")
    run = ask(session)
    assert run.status == "failed"
    assert "401" in run.error
    check_secret(session, tmp_path, key)
    assert session.resume().wait(PATIENCE).answer == "fine"
    check_secret(session, tmp_path, key)


def test_a_key_in_the_error_of_a_subagents_model_is_shown_nowhere(opened, tmp_path, key):
    helper = subagent("helper", [refused(key)])
    model, session = scripted(opened, task("helper"), "without it", subagents=[helper])
    assert ask(session).answer == "without it"
    assert "401" in tool_texts(model.calls[-1])[0]
    check_secret(session, tmp_path, key)


def test_a_key_in_a_tools_error_is_shown_nowhere(opened, tmp_path, key):
    async def search() -> str:
        raise ConnectionError(f"GET https://example.org/search?q=x&api_key={key}: refused")

    searching = StructuredTool.from_function(coroutine=search, name="search", description="Search.")
    model, session = scripted(opened, call("search"), "without it", tools=[searching])
    assert ask(session).answer == "without it"
    assert "refused" in tool_texts(model.calls[-1])[0]
    check_secret(session, tmp_path, key)


def test_a_key_in_a_policys_or_subscribers_error_is_shown_nowhere(opened, tmp_path, key):
    def fail(_):
        raise refused(key)

    _, session = scripted(opened, WRITE, "fine", respond=fail)
    session.subscribe(fail)
    assert ask(session).status == "waiting"
    assert len(reasons(session)) == 2
    check_secret(session, tmp_path, key)


def test_a_key_in_the_error_of_a_foreign_graph_is_shown_nowhere(opened, tmp_path, key):
    model = ScriptedModel([refused(key), "fine"])
    session = opened(create_agent(model))
    assert ask(session).status == "failed"
    check_secret(session, tmp_path, key)


@contextmanager
def provider(status, body, wait=None):
    """Serve what a provider might answer, over real HTTP."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            if wait:
                wait.wait(PATIENCE)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        if wait:
            wait.set()
        server.shutdown()
        server.server_close()


def chat(url, **options):
    return ChatOpenAI(model="m", base_url=url, api_key=KEY, max_retries=0, **options)


def test_a_real_provider_that_refuses_a_key(opened, tmp_path):
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}.", "code": "x"}})
    with provider(401, body) as url, allow_model_calls():
        session = opened("deep", model=chat(url))
        run = ask(session)
    assert run.status == "failed"
    assert "AuthenticationError" in run.error
    assert "session.resume()" in run.error
    check_secret(session, tmp_path, KEY)


@pytest.mark.parametrize("body", ["", "{", "null", "[]", '{"choices": []}', "<html>sorry</html>"])
def test_a_real_provider_that_answers_nonsense(opened, body):
    with provider(200, body) as url, allow_model_calls():
        session = opened("deep", model=chat(url, disable_streaming=True))
        run = ask(session)
        assert run.status == "failed"
        assert "session.resume()" in run.error
        assert session.can_resume


def test_a_real_provider_that_does_not_answer(opened):
    silence = threading.Event()
    with provider(200, "{}", silence) as url, allow_model_calls():
        session = opened("deep", model=chat(url, timeout=0.2))
        run = ask(session)
        assert run.status == "failed"
        assert "Timeout" in run.error
        assert "session.resume()" in run.error
        again = session.ask("again")
        session.stop()
        assert again.wait(PATIENCE).status in ("stopped", "failed")
