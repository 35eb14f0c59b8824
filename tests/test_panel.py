"""The kernel's side of the panel: every request is answered, and nothing is missed."""

from __future__ import annotations

import json
import math
import sys
from base64 import b64decode
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.embeddings import Embeddings
from pydantic import TypeAdapter

import deepnb
from deepnb import events
from deepnb.errors import SessionError
from deepnb.events import Event, plain
from deepnb.testing import call
from deepnb.widgets import protocol
from deepnb.widgets.news import page_of
from deepnb.widgets.panel import Panel, panels
from deepnb.widgets.pusher import Pusher
from tests.pages import REPLY, Page
from tests.sessions import Gate, ask, kinds, opening, until

WRITE = call("write_file", file_path="/workspace/a.md", content="hello\n")
APPROVE = {"decisions": [{"type": "approve"}]}
PLAN = [{"content": "Read", "status": "in_progress"}, {"content": "Write", "status": "pending"}]


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


def test_a_page_that_comes_up_is_told_everything(opened):
    session = opened([WRITE, "Done."])
    ask(session)
    news = Page(session).hello()
    assert [e["kind"] for e in news["events"]] == [
        e.kind for e in session.events() if e.kind not in ("token", "reasoning")
    ]
    assert (news["after"], news["last"], news["more"]) == (0, session.events()[-1].seq, False)
    assert news["facts"]["status"] == "waiting"
    assert news["facts"]["title"] == "go"


def test_a_pull_gives_what_came_after(opened):
    session = opened(["One.", "Two."])
    ask(session)
    page = Page(session)
    last = page.hello()["last"]
    ask(session, "again")
    news = page.pull(last)
    assert news["after"] == last
    assert [e["seq"] for e in news["events"]] == [
        e.seq for e in session.events(last) if e.kind != "token"
    ]


def test_pieces_are_left_out_once_the_message_is_complete():
    pieces = [Event(n, 0.0, "token", data={"id": "m", "text": "x"}) for n in (1, 2)]
    other = Event(3, 0.0, "token", data={"id": "n", "text": "y"})
    whole = Event(4, 0.0, "message", data={"id": "m", "text": "xx"})
    assert [e["seq"] for e in page_of([*pieces, other])[0]] == [1, 2, 3]
    told, last, more = page_of([*pieces, other, whole])
    assert [e["seq"] for e in told] == [3, 4]
    assert (last, more) == (4, False)


def test_a_source_that_has_grown_is_told_once():
    told = [("S1", 1), ("S2", 1), ("S1", 2)]
    log = [
        Event(seq, 0.0, "source", data={"id": identity, "passages": [{}] * count})
        for seq, (identity, count) in enumerate(told, start=1)
    ]
    page, last, more = page_of(log)
    assert [(event["seq"], len(event["data"]["passages"])) for event in page] == [(2, 1), (3, 2)]
    assert (last, more) == (3, False)


def test_a_long_log_comes_in_pages():
    log = [Event(n, 0.0, "warning", data={"text": str(n)}) for n in range(1, 26)]
    seen, since = [], 0
    while True:
        told, last, more = page_of([e for e in log if e.seq > since], most=10)
        seen += [e["seq"] for e in told]
        since = last
        if not more:
            break
    assert seen == list(range(1, 26))


def test_an_approval_is_given_once(opened, tmp_path):
    session = opened([WRITE, "Done."])
    ask(session)
    page = Page(session)
    question = session.questions[0].id
    assert page.say("respond", question=question, answer=APPROVE)["error"] is None
    assert page.say("respond", question=question, answer=APPROVE)["error"] is None
    other = page.say("respond", question=question, answer={"decisions": [{"type": "reject"}]})
    assert other["error"]["kind"] == "QuestionError"
    assert "answered already" in other["error"]["text"]
    session.runs[-1].wait()
    assert len(kinds(session, "interrupt_closed")) == 1
    assert (tmp_path / "a.md").read_text() == "hello\n"


def test_an_answer_that_does_not_fit_leaves_the_question_open(opened):
    session = opened([WRITE, "Done."])
    ask(session)
    page = Page(session)
    question = session.questions[0].id
    for answer in ({}, "yes", [], {"decisions": []}, {"decisions": [{"type": "maybe"}]}, None):
        error = page.say("respond", question=question, answer=answer)["error"]
        assert error["kind"] == "AnswerError"
        assert "still open" in error["text"]
    assert session.status == "waiting"


MALFORMED = [
    None,
    "hello",
    7,
    [],
    {},
    {"type": "ask"},
    {"type": "explode", "id": "1", "view": "v", "thread": "main"},
    {"type": "ask", "id": "1", "view": "v", "thread": "main"},
    {"type": "ask", "id": "1", "view": "v", "thread": "main", "text": ""},
    {"type": "ask", "id": "1", "view": "v", "thread": "main", "text": 7},
    {"type": "ask", "id": "1", "view": "v", "thread": "main", "text": "x", "sudo": True},
    {"type": "ask", "id": 1, "view": "v", "thread": "main", "text": "x"},
    {"type": "ask", "id": "x" * 65, "view": "v", "thread": "main", "text": "x"},
    {"type": "pull", "id": "1", "view": "v", "thread": "main", "since": -1},
    {"type": "stop", "id": "1", "view": "v", "thread": "main", "subagent": ["a"]},
    {"type": "respond", "id": "1", "view": "v", "thread": "main", "question": "\ud800" * 65},
]


@pytest.mark.parametrize("content", MALFORMED)
def test_what_is_no_request_is_answered_and_changes_nothing(opened, content):
    session = opened(["Done."])
    board = Page(session).board
    reply = REPLY.validate_python(board.receive(content)[0])
    json.dumps(reply).encode()
    assert reply["error"]["kind"] == "ProtocolError"
    assert "Nothing was done" in reply["error"]["text"]
    assert session.events() == []


def test_a_request_that_comes_twice_is_carried_out_once(opened):
    session = opened(["One.", "Two."])
    page = Page(session)
    for _ in range(2):
        assert page.say("ask", id="same", text="go")["error"] is None
    until(lambda: session.status == "done")
    assert len(session.runs) == 1


def test_what_was_meant_for_another_thread_is_not_done(opened):
    session = opened(["Done."])
    reply = Page(session).say("ask", thread="elsewhere", text="go")
    assert reply["error"]["kind"] == "OtherThreadError"
    assert session.runs == []


def test_what_takes_a_while_is_answered_later(opened):
    gate = Gate()
    session = opened(lambda messages: gate.wait() or "Done.")
    page = Page(session)
    page.say("ask", text="go")
    gate.reached.wait()
    reply = page.say("stop", run=session.under_way.id)
    assert reply["later"]
    gate.opened.set()
    late = until(lambda: page.late(reply["id"]))
    assert late["error"] is None
    assert late["number"] == 1
    assert page.pull(replies_since=1)["replies"] == []
    assert session.status == "stopped"


def test_what_was_meant_for_a_run_that_is_over_is_not_done_to_the_next(opened):
    gate = Gate()
    session = opened(lambda messages: gate.wait() or "Done.")
    page = Page(session)
    page.say("ask", text="go")
    gate.reached.wait()
    for request in ({"what": "stop"}, {"what": "steer", "text": "faster"}):
        refused = page.do(request.pop("what"), run="another", **request)
        assert "has ended" in refused["error"]["text"]
    assert session.status == "running"
    gate.opened.set()


def test_a_page_of_another_version_is_sent_away(opened):
    reply = Page(opened(["Done."])).say("hello", version=protocol.VERSION + 1, host="test")
    assert reply["error"]["kind"] == "VersionError"


def test_late_replies_are_for_the_view_that_asked(opened):
    session = opened(["Done."])
    page = Page(session)
    reply = page.say("threads")
    until(lambda: page.late(reply["id"]))
    page.view = uuid4().hex
    assert page.pull()["replies"] == []


def test_an_error_of_ours_says_what_to_do(opened):
    reply = Page(opened(["Done."])).say("steer", run=None, text="faster")
    assert reply["error"]["kind"] == "SessionError"
    assert "ask(" in reply["error"]["text"]


def test_a_question_is_asked_again_in_a_branch(opened):
    session = opened(["One.", "Two."])
    run = ask(session)
    page = Page(session)
    assert page.do("resend", run=run.id, text="otherwise")["error"] is None
    branch = page.shown[-1]
    until(lambda: branch.status == "done")
    assert [r.question for r in branch.runs] == ["otherwise"]
    assert [r.question for r in session.runs] == ["go"]


def test_a_fork_is_shown(opened):
    session = opened(["One.", "Two."])
    ask(session)
    page = Page(session)
    assert page.do("fork", step=None, text="and then")["error"] is None
    branch = page.shown[-1]
    until(lambda: branch.status == "done")
    assert [r.question for r in branch.runs] == ["go", "and then"]
    assert page.pull()["facts"]["forked_from"].startswith(session.thread)


def test_threads_are_listed_and_opened(opened):
    session = opened(["One.", "Two."])
    ask(session)
    page = Page(session)
    assert page.do("new_thread")["error"] is None
    new = page.shown[-1]
    assert new is not session
    listed = page.do("threads")["result"]["threads"]
    assert {t["name"]: t["can_open"] for t in listed} == {session.thread: True, new.thread: True}
    assert page.do("open_thread", name=session.thread)["error"] is None
    assert page.shown[-1] is session


def test_an_edited_plan_is_refused_if_the_agent_has_changed_it(opened):
    session = opened([call("write_todos", todos=PLAN), "Done."])
    ask(session)
    page = Page(session)
    seen = kinds(session, "todos")[-1].seq
    refused = page.do("edit_todos", todos=PLAN, seen=seen - 1)
    assert refused["error"]["kind"] == "SessionError"
    assert page.do("edit_todos", todos=PLAN[1:], seen=seen)["error"] is None
    assert list(session.todos["content"]) == ["Write"]


def test_a_claim_is_settled_by_its_id_and_its_run(opened, tmp_path):
    (tmp_path / "minutes.md").write_text("The pump cost 15 pounds in the year 1858.\n")
    session = opened("research", respond=lambda question: {"approved": True})
    run = ask(session, "What did the pump cost?")
    page = Page(session)
    claim = {"run": run.id, "citation": "C1", "note": " I have looked. ", "checked": True}
    assert page.do("settle", **claim)["error"] is None
    (event,) = kinds(session, "settled")
    assert (event.run, event.data["citation"], event.data["by"]) == (run.id, "C1", "person")
    assert event.data["note"] == "I have looked."
    for other in ({"citation": "C99"}, {"run": "another"}):
        assert page.do("settle", **{**claim, **other})["error"]["kind"] == "SessionError"
    plain_session = opened(["Hi."], thread="plain")
    ask(plain_session)
    refused = Page(plain_session).do("settle", **claim)["error"]
    assert "no claims" in refused["text"]
    assert len(kinds(session, "settled")) == 1
    assert page.do("settle", **{**claim, "note": "", "checked": False})["error"] is None
    taken_back = kinds(session, "settled")[-1].data
    assert (taken_back["checked"], taken_back["note"]) == (False, "I have looked.")
    assert session.citations.settled.isna().all()


def test_a_report_can_be_taken_along_in_every_form(opened, tmp_path):
    (tmp_path / "minutes.md").write_text("The pump cost 15 pounds in the year 1858.\n")
    session = opened("research", respond="approve")
    run, nothing = ask(session, "What did the pump cost?"), ask(session, "Who ate the zebra?")
    page = Page(session)

    def exported(form, run=run.id):
        return page.do("export_report", run=run, format=form)

    for form in ("md", "html", "docx", "ipynb", "bib"):
        result = exported(form)["result"]
        assert result["name"] == f"main-report.{form}"
        content = b64decode(result["content"])
        assert content.startswith(b"PK") if form == "docx" else b"minutes" in content.lower()
    assert "Nothing was found" in exported("md", nothing.id)["error"]["text"]
    assert "no such report" in exported("md", "another")["error"]["text"]
    plain_session = opened(["Hi."], thread="plain")
    refused = Page(plain_session).do("export_report", run=ask(plain_session).id, format="md")
    assert "no such report" in refused["error"]["text"]


def test_what_is_done_to_documents_is_a_fact_while_it_is_done(opened, tmp_path):
    (tmp_path / "minutes.md").write_text("The pump cost 15 pounds in the year 1858.\n")
    gate = Gate()

    class Slow(Embeddings):
        def embed_documents(self, texts):
            gate.wait()
            return [[1.0, 0.0]] * len(texts)

        def embed_query(self, text):
            return [1.0, 0.0]

    told = []
    with deepnb.Knowledge(tmp_path, embeddings=Slow()) as knowledge:
        session = opened("research", knowledge=knowledge)
        page = Page(session)
        end = knowledge.on_progress(lambda: told.append(knowledge.progress.phase))
        assert gate.reached.wait(30)
        work = page.hello()["facts"]["knowledge"]
        assert work == {"phase": "embedding", "done": 0, "total": 1}
        gate.opened.set()
        knowledge.wait()
        assert page.pull()["facts"]["knowledge"] is None
        assert told[-1] == "ready"
        end()
        count = len(told)
        knowledge.refresh().wait()
        assert len(told) == count
    assert page.pull()["facts"]["knowledge"] is None


def test_a_conversation_can_be_taken_along(opened):
    session = opened(["The answer."])
    ask(session)
    exported = Page(session).do("export", format="md")["result"]
    assert exported["name"] == "main.md"
    assert "The answer." in exported["text"]
    kept = Page(session).do("transcribe", panel="p1")["result"]["text"]
    assert 'data-deepnb-static="p1"' in kept
    assert "The answer." in kept


def test_news_are_pushed_once(opened):
    session = opened(["Done."])
    board = Page(session).board
    first = board.news(everything=False, settled=True)
    assert first["facts"]["status"] == "idle"
    assert board.news(everything=False, settled=True) is None
    seen = 0
    session.subscribe(board.notice)
    ask(session)
    news = board.news(everything=False, settled=True)
    assert news["after"] == seen
    assert news["last"] == session.events()[-1].seq
    assert news["facts"]["status"] == "done"
    assert board.news(everything=False, settled=True) is None
    again = board.news(everything=True, settled=True)
    assert (again["after"], again["facts"]["status"]) == (0, "done")


def test_nothing_unsayable_is_sent():
    odd = {"a": math.nan, "b": [math.inf, "\ud800x"], 3: {"c": object}, "d": (1, None, True)}
    text = json.dumps(plain(odd), allow_nan=False, ensure_ascii=False)
    text.encode()
    assert json.loads(text)["a"] is None
    assert json.loads(text)["d"] == [1, None, True]


def test_what_is_nested_too_deeply_is_cut():
    deep: list = []
    for _ in range(5_000):
        deep = [deep]
    assert "…" in json.dumps(plain(deep), ensure_ascii=False)


def test_a_page_is_answered_whatever_goes_wrong(opened, monkeypatch):
    page = Page(opened(["Done."]))

    def fail(*_):
        raise OSError("The disk is gone.")

    monkeypatch.setattr("deepnb.widgets.switchboard.facts_of", fail)
    reply = page.say("hello", version=protocol.VERSION, host="test")
    assert reply["error"]["kind"] == "OSError"
    monkeypatch.undo()
    assert page.hello()["facts"]["status"] == "idle"


def test_a_push_that_fails_is_not_the_last_one():
    told = []

    def push(**_):
        told.append(1)
        if len(told) == 1:
            raise OSError("The socket is gone.")
        return 0

    pusher = Pusher(push, "test")
    pusher.start()
    pusher.heard()
    until(lambda: told)
    pusher.poke()
    until(lambda: len(told) > 1)
    pusher.stop()


KEY = "sk-proj-" + "a1B2c3D4" * 5


@pytest.mark.parametrize("number", [9007199254740993, 1.0, 3])
def test_what_nobody_has_edited_is_called_as_it_was(opened, number):
    called = []

    def fetch(url: str, token: str, number: Any) -> str:
        """Fetch."""
        called.append((url, token, number))
        return "fetched"

    script = [call("fetch", url="a", token=KEY, number=number), "Done."]
    session = opened(script, tools=[fetch], interrupt_on={"fetch": True})
    ask(session)
    page = Page(session)
    opened_event = next(e for e in page.hello()["events"] if e["kind"] == "interrupt_opened")
    (action,) = opened_event["data"]["request"]["action_requests"]
    assert KEY not in json.dumps(opened_event)
    seen = {**action["args"], "number": float(action["args"]["number"])}  # as JavaScript has it

    def answer(**changes):
        edited = {"name": "fetch", "args": {**seen, **changes}}
        decision = {"type": "edit", "edited_action": edited}
        return page.say(
            "respond", question=opened_event["data"]["id"], answer={"decisions": [decision]}
        )

    refused = answer(token=seen["token"] + "x")
    assert refused["error"]["kind"] == "AnswerError"
    assert "not shown" in refused["error"]["text"]
    assert answer(url="b")["error"] is None
    assert answer(url="b")["error"] is None  # the same once more
    until(lambda: session.status == "done")
    assert called == [("b", KEY, number)]


def test_a_wire_event_is_of_the_protocol(opened):
    session = opened([call("write_todos", todos=PLAN), WRITE, "Done."], respond="approve")
    ask(session)
    check = TypeAdapter(protocol.WireEvent)
    for event in page_of(session.events())[0]:
        check.validate_python(event, strict=True)
    assert set(protocol.WireEvent.__annotations__) - {"line"} == set(Event._fields) - {"checkpoint"}
    assert events.KINDS


# The widget


def test_traits_are_few_and_say_nothing(opened, tmp_path):
    session = opened(["Done."])
    panel = session.panel()
    state = panel.get_state()
    own = {k: v for k, v in state.items() if not k.startswith("_")}
    assert own.keys() <= {
        "panel",
        "key",
        "thread",
        "home",
        "opens",
        "layout",
        "tabbable",
        "tooltip",
    }
    assert str(tmp_path) not in json.dumps(own)


def test_a_browser_cannot_set_a_trait(opened):
    panel = opened(["Done."]).panel()
    before = panel.get_state(["panel", "key", "thread"])
    panel.set_state({"thread": "other", "key": "k", "panel": "p"})
    assert panel.get_state(["panel", "key", "thread"]) == before


def test_a_session_has_one_panel(opened):
    session = opened(["Done."])
    assert session.panel() is session.panel(starters={"Begin": "How?"})


def test_a_panel_shows_the_session_that_follows_a_closed_one(opened):
    first = opened(["Done."])
    panel = first.panel()
    second = opened(["Done."])
    assert first.is_closed
    assert panel.session is second
    assert second.panel() is panel


@pytest.fixture
def in_kernel(monkeypatch):
    monkeypatch.setattr("deepnb.session.showing.has_kernel", lambda: True)


def test_opening_a_session_again_leaves_one_panel(opened, in_kernel):
    before = len(panels())
    for _ in range(3):
        opened(["Done."]).panel()
    assert len(panels()) == before + 1


def test_a_thread_that_a_panel_opens_is_shown_there(opened, in_kernel):
    other = opened(["Done."], thread="other")
    other.panel()
    other.close()
    panel = opened(["Done."]).panel()
    before = len(panels())
    panel.show(panel.session.sibling("other"))
    assert len(panels()) == before
    assert panel.session.thread == "other"


def test_a_thread_opens_where_there_are_no_widgets(opened, in_kernel, monkeypatch):
    opened(["Done."]).panel()
    monkeypatch.setitem(sys.modules, "deepnb.widgets.panel", None)
    assert opened(["Done."]).status == "idle"


def test_a_session_that_was_opened_for_a_panel_is_closed_when_it_moves_on(opened):
    session = opened(["One.", "Two."])
    run = ask(session)
    panel = session.panel()
    branch = session.fork(before=run.id)
    panel.show(branch, is_guest=True)
    panel.show(session)
    assert branch.is_closed
    assert not session.is_closed


def test_a_panel_that_was_closed_is_made_anew(opened):
    session = opened(["Done."])
    first = session.panel()
    first.close()
    assert session.panel() is not first


@pytest.mark.parametrize("given", [{"a": 5}, ["a"], "a", {3: "a"}])
def test_starters_are_texts(opened, given):
    with pytest.raises(SessionError, match="texts by title"):
        opened(["Done."]).panel(starters=given)


def test_a_thread_that_was_forgotten_and_made_again_has_another_key(opened, tmp_path):
    first = opened(["Done."]).key
    deepnb.forget("main", tmp_path)
    assert opened(["Done."]).key != first


def test_the_opening_opens_the_thread(opened, tmp_path, monkeypatch):
    session = opened(thread="it's", model="offline")
    monkeypatch.chdir(tmp_path.parent)
    opening = session.opening
    assert str(tmp_path) not in opening
    session.close()
    names: dict = {}
    exec(opening, names)
    assert names["session"].key == session.key
    names["session"].close()


def test_what_cannot_be_told_is_not_told(opened):
    assert opened(["Done."]).opening == ""


def test_a_closed_session_can_still_be_looked_at(opened):
    session = opened(["Done."])
    session.close()
    assert session.panel().session is session


def test_a_transcript_that_is_not_wanted_is_not_given(opened):
    page = Page(opened(["Done."]))
    assert page.do("transcribe", panel="<b>")["result"]["text"].count("&lt;b&gt;") == 2
    page.board.keeps_transcript = False
    assert page.do("transcribe", panel="p")["result"]["text"] == ""


def test_what_is_turned_off_stays_off(opened):
    session = opened(["Done."])
    panel = session.panel(push=False, transcript=False)
    session.panel()
    assert (panel._pushes, panel._keepsake._is_wanted) == (False, False)


def test_a_panel_says_that_its_session_is_closed(opened):
    session = opened(["Done."])
    page = Page(session)
    session.on_change(page.board.notice)
    page.board.news(everything=False, settled=True)
    session.close()
    assert page.board.news(everything=False, settled=True)["facts"]["status"] == "closed"
    reply = page.say("ask", text="go")
    assert reply["error"]["kind"] == "SessionError"
    assert "closed" in reply["error"]["text"]


def test_a_panel_describes_itself_without_an_address(opened):
    panel, how_to_see_it = repr(opened(["Done."]).panel()).splitlines()
    assert panel == "Panel(Session('deep', thread='main', idle))"
    assert "notebook" in how_to_see_it
    assert "session.ask(" in how_to_see_it
    assert isinstance(opened(["Done."]).panel(), Panel)
