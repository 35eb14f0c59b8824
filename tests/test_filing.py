"""What a page can have done about files, and what is kept of what it has told."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import threading
from base64 import b64encode

import pytest

import deepnb
from deepnb.testing import call
from deepnb.widgets.filing import _Claims
from tests.pages import Page
from tests.sessions import ask, opening, until

NOTES = b"The pump cost 15 pounds.\n"
CHUNK = 1024 * 1024


@pytest.fixture
def opened(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


@pytest.fixture
def page(opened):
    shown = Page(opened(["Done."]))
    shown.hello()
    return shown


def sha(data):
    return hashlib.sha256(data).hexdigest()


def begin(page, path, data, **changes):
    fields = {"purpose": "copy", "path": path, "size": len(data), "mark": sha(data), "expects": ""}
    return page.do("begin_upload", **{**fields, "source": path, "mapping": None, **changes})


def send(page, path, data, **changes):
    """Send a file whole, and give the last reply."""
    begun = begin(page, path, data, **changes)
    if begun["error"]:
        return begun
    upload = begun["result"]["upload"]
    for at in range(0, len(data), CHUNK):
        page.do("upload_chunk", data[at : at + CHUNK], upload=upload, offset=at)
    return page.do("end_upload", upload=upload, sha256=sha(data))


def send_small(page, path, data, /, **changes):
    """Send a file in one message, and give the reply."""
    fields = {
        "purpose": "copy",
        "path": path,
        "size": len(data),
        "sha256": sha(data),
        "expects": "",
    }
    text = b64encode(data).decode()
    file = {**fields, "source": path, "data": text, **changes}
    return page.do("send_files", files=[file])["result"]["files"][0]


def test_a_small_file_arrives_in_one_message(page, tmp_path):
    assert send_small(page, "/a.md", NOTES)["sha256"] == sha(NOTES)
    assert send_small(page, "/none.md", b"")["size"] == 0
    assert (tmp_path / "a.md").read_bytes() == NOTES
    assert page.shown[0].disclosures["bytes"].to_list() == [len(NOTES), 0]


@pytest.mark.parametrize(
    "wrong",
    [{"expects": sha(b"else")}, {"sha256": sha(b"else")}, {"data": "?"}, {"path": "/../a.md"}],
)
def test_a_small_file_that_is_refused_has_left_the_browser(page, tmp_path, wrong):
    assert send_small(page, "/a.md", NOTES, **wrong)["kind"]
    assert not (tmp_path / "a.md").exists()
    assert page.shown[0].disclosures["detail"].to_list() == ["sent, and not stored"]


def test_a_file_arrives_and_its_going_is_known(page, tmp_path):
    data = bytes(range(256)) * 8192  # two pieces
    stored = send(page, "/data/a.bin", data, source="/mine/a.bin")["result"]
    assert (stored["path"], stored["size"], stored["sha256"]) == (
        "/data/a.bin",
        len(data),
        sha(data),
    )
    session = page.board.session
    assert (session.workspace / "data" / "a.bin").read_bytes() == data
    told = session.disclosures
    assert (set(told.what), set(told.path)) == ({"copy"}, {"/files/mine/a.bin"})
    assert (told["bytes"].sum(), told.detail.iloc[-1]) == (len(data), "copied to the workspace")


def test_bytes_may_come_as_text(page):
    assert begin(page, "/a.md", NOTES)["result"]["buffers"] is False
    upload = begin(page, "/a.md", NOTES)["result"]["upload"]
    text = b64encode(NOTES).decode()
    page.do("upload_chunk", upload=upload, offset=0, data=text)
    page.do("end_upload", upload=upload, sha256=sha(NOTES))
    assert (page.board.session.workspace / "a.md").read_bytes() == NOTES


def test_bytes_that_are_lost_or_no_text_are_told(page):
    upload = begin(page, "/a.md", NOTES)["result"]["upload"]
    lost = page.do("upload_chunk", upload=upload, offset=0)
    broken = page.do("upload_chunk", upload=upload, offset=0, data="=")
    assert "Send" in lost["error"]["text"]
    assert "Send" in broken["error"]["text"]


def test_what_is_there_is_not_overwritten_by_who_has_not_seen_it(page):
    workspace = page.board.session.workspace
    (workspace / "a.md").write_bytes(b"mine")
    refused = send(page, "/a.md", NOTES)
    assert refused["error"]["kind"] == "ChangedError"
    assert (workspace / "a.md").read_bytes() == b"mine"
    assert send(page, "/a.md", NOTES, expects=sha(b"mine"))["error"] is None


@pytest.mark.parametrize("path", ["/../x", "/.deepnb/x", "/a/../../x", "~/x", "/C:/x", "/a\u202eb"])
def test_no_message_reaches_outside(page, path, tmp_path):
    kinds = [
        ("make_folder", {"path": path}),
        ("move_file", {"path": path, "to": "/x"}),
        ("move_file", {"path": "/a.md", "to": path}),
        ("delete_file", {"path": path}),
        ("download_chunk", {"path": path, "offset": 0, "length": 1, "seen": "", "as_text": True}),
        (
            "map_files",
            {"browser": "b", "source": "/a", "target": path, "is_folder": True, "mode": "sync"},
        ),
    ]
    (page.board.session.workspace / "a.md").write_bytes(NOTES)
    for kind, fields in kinds:
        assert page.do(kind, **fields)["error"], kind
    assert begin(page, path, NOTES)["error"]
    assert not (tmp_path / "x").exists()


def test_a_file_is_read_in_parts_beside_the_message_or_as_text(page):
    (page.board.session.workspace / "a.md").write_bytes(NOTES)
    fields = {"path": "/a.md", "offset": 4, "length": 4, "seen": ""}
    about = page.do("download_chunk", **fields, as_text=False)["result"]
    assert (about["size"], page.beside) == (len(NOTES), [b"pump"])
    text = page.do("download_chunk", **fields, as_text=True)["result"]
    assert (text["data"], page.beside) == (b64encode(b"pump").decode(), [])


def test_mappings_are_facts_and_files_have_their_state(page):
    fields = {"source": "/notes", "target": "/notes", "is_folder": True, "mode": "sync"}
    mapping = page.do("map_files", browser="b", **fields)["result"]
    assert page.hello()["facts"]["files"]["mappings"] == [mapping]
    seen = [{"path": "a.md", "size": len(NOTES), "sha256": sha(NOTES)}]
    compared = page.do("compare_files", mapping=mapping["id"], browser="b", files=seen)["result"]
    assert [(step["path"], step["do"]) for step in compared["steps"]] == [("a.md", "send")]
    sent = send(page, "/notes/a.md", NOTES, purpose="sync", mapping=mapping["id"])
    assert sent["error"] is None
    again = page.do("compare_files", mapping=mapping["id"], browser="b", files=seen)["result"]
    assert (again["steps"], again["same"]) == ([], 1)
    session = page.board.session
    files = session.files.set_index("path")
    assert files.loc["/files/notes/a.md", ["home", "state", "other"]].tolist() == [
        "browser",
        "in step",
        "/workspace/notes/a.md",
    ]
    assert session.path("a.md").read_bytes() == NOTES
    page.do("unmap_files", mapping=mapping["id"])
    assert page.hello()["facts"]["files"]["mappings"] == []


def test_a_path_that_is_not_mapped_says_how_to_map_it(page):
    with pytest.raises(deepnb.errors.PathError, match="My computer"):
        page.board.session.path("data.csv")


def test_what_the_agent_is_told_is_kept_as_a_disclosure(opened):
    session = opened([call("grep", pattern="pump", path="/files/"), "Done."], client=True)
    page = Page(session)
    page.hello()
    ask(session)
    (question,) = session.questions
    assert page.do("claim", what=question.id)["result"] == {"granted": True}
    assert Page(session).do("claim", what=question.id)["result"] == {"granted": False}
    match = {"path": "/notes.md", "line": 3, "text": "The pump cost 15 pounds."}
    answered = page.do(
        "client_answer", question=question.id, answer={"result": {"matches": [match]}}
    )
    assert answered["error"] is None
    until(lambda: session.status == "done")
    (row,) = session.disclosures.to_dict("records")
    assert (row["what"], row["tool"], row["path"]) == ("tool", "grep_files", "/files/notes.md")
    assert row["detail"] == "1 matching line"
    assert row["run"] == session.runs[0].id
    for asked in (question.id, "of nobody"):  # what has left the browser has left it
        late = page.do("client_answer", question=asked, answer={"result": {"matches": []}})
        assert late["error"]["kind"] == "QuestionError"
    rows = session.disclosures[["tool", "run", "detail"]].to_numpy().tolist()
    assert rows[1:] == [
        ["grep_files", row["run"], "0 matching lines"],
        ["an earlier question", "", "that it was done"],
    ]


def test_a_claim_ends_when_its_page_is_gone(monkeypatch):
    claims = _Claims()
    assert claims.take("a", "one")
    assert claims.take("a", "one")
    assert not claims.take("a", "two")
    monkeypatch.setattr(_Claims, "LASTS", 0.0)
    assert claims.take("a", "two")


def test_a_cancelled_upload_is_gone_and_what_came_of_it_is_known(page):
    data = NOTES * 100
    upload = begin(page, "/a.md", data)["result"]["upload"]
    page.do("upload_chunk", data[:50], upload=upload, offset=0)
    assert page.do("cancel_upload", upload=upload)["error"] is None
    assert begin(page, "/a.md", data)["result"]["received"] == 0
    (row,) = page.board.session.disclosures.to_dict("records")
    assert (row["bytes"], row["detail"]) == (50, "a part of 2 KB")


def test_changes_of_the_workspace_are_noticed(page):
    before = page.hello()["facts"]["files"]["version"]
    page.do("list_workspace")
    (page.board.session.workspace / "new.md").write_bytes(NOTES)
    until(lambda: page.hello()["facts"]["files"]["version"] > before)


def test_an_approval_names_the_place_that_a_mapping_will_carry_it_to(opened):
    write = call("write_file", file_path="/workspace/notes/a.md", content="x\n")
    session = opened([write, "Done."])
    page = Page(session)
    page.hello()
    fields = {"source": "/mine", "target": "/notes", "is_folder": True, "mode": "sync"}
    page.do("map_files", browser="b", **fields)
    ask(session)
    (question,) = session.questions
    shown = question.request["action_requests"][0]["description"]
    assert "/files/mine/a.md will be changed in the same way" in shown


def test_what_was_sent_in_vain_has_left_the_browser_too(page):
    (page.board.session.workspace / "a.md").write_bytes(b"mine")
    send(page, "/a.md", NOTES)
    (row,) = page.board.session.disclosures.to_dict("records")
    assert (row["bytes"], row["detail"]) == (len(NOTES), "sent, and not stored")


def test_a_part_of_a_file_that_never_comes_whole_has_left_the_browser(page):
    data = bytes(3 * CHUNK)
    upload = begin(page, "/a.bin", data)["result"]["upload"]
    for at in (0, CHUNK):
        page.do("upload_chunk", data[at : at + CHUNK], upload=upload, offset=at)
    (row,) = page.board.session.disclosures.to_dict("records")
    assert (row["bytes"], row["detail"]) == (CHUNK, "a part of 3 MB")
    page.do("upload_chunk", data[2 * CHUNK :], upload=upload, offset=2 * CHUNK)
    page.do("end_upload", upload=upload, sha256=sha(data))
    assert page.board.session.disclosures["bytes"].sum() == len(data)


KILLED = """
import os, signal, sys

from deepnb import Session
from deepnb.testing import ScriptedModel
from tests.pages import Page
from tests.test_filing import CHUNK, begin

page = Page(Session("deep", workspace=sys.argv[1], thread="one", model=ScriptedModel(["Done."])))
page.hello()
data = bytes(5 * CHUNK)
upload = begin(page, "/a.bin", data)["result"]["upload"]
for at in range(0, 3 * CHUNK, CHUNK):
    page.do("upload_chunk", data[at : at + CHUNK], upload=upload, offset=at)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_came_to_a_kernel_that_was_killed_is_listed_by_the_next_one(opened, tmp_path):
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    session = opened(["Done."], thread="one")
    page = Page(session)
    page.hello()
    assert session.disclosures["bytes"].sum() == CHUNK
    for _ in range(2):
        page.do("list_workspace")
        assert session.disclosures["bytes"].sum() == 3 * CHUNK
    data = bytes(5 * CHUNK)
    begun = begin(page, "/a.bin", data)["result"]
    assert begun["received"] == 3 * CHUNK
    for at in (3 * CHUNK, 4 * CHUNK):
        page.do("upload_chunk", data[at : at + CHUNK], upload=begun["upload"], offset=at)
    page.do("end_upload", upload=begun["upload"], sha256=sha(data))
    assert session.disclosures["bytes"].sum() == len(data)


def test_names_of_mapped_files_are_disclosed_once(page):
    fields = {"source": "/mine", "target": "/mine", "is_folder": True, "mode": "sync"}
    mapping = page.do("map_files", browser="b", **fields)["result"]["id"]
    seen = [{"path": "letter.md", "size": len(NOTES), "sha256": sha(NOTES)}]
    for _ in range(2):
        page.do("compare_files", mapping=mapping, browser="b", files=seen)
    (row,) = page.board.session.disclosures.to_dict("records")
    assert (row["path"], row["detail"]) == ("/files/mine/letter.md", "1 name")


def test_a_copy_that_is_done_takes_in_no_more(page):
    fields = {"source": "/mine", "target": "/mine", "is_folder": True, "mode": "copy"}
    mapping = page.do("map_files", browser="b", **fields)["result"]["id"]
    seen = [{"path": "a.md", "size": len(NOTES), "sha256": sha(NOTES)}]
    steps = page.do("compare_files", mapping=mapping, browser="b", files=seen)["result"]["steps"]
    assert [step["do"] for step in steps] == ["send"]
    send(page, "/mine/a.md", NOTES, mapping=mapping)
    page.do("finish_copy", mapping=mapping)
    assert page.hello()["facts"]["files"]["mappings"][0]["done"] is True
    later = [*seen, {"path": "secret.md", "size": 1, "sha256": sha(b"x")}]
    compared = page.do("compare_files", mapping=mapping, browser="b", files=later)["result"]
    assert compared == {"steps": [], "same": 1, "unusable": []}


def test_a_file_is_deleted_only_if_it_is_the_one_that_was_seen(page):
    place = page.board.session.workspace / "a.md"
    place.write_bytes(NOTES)
    refused = page.do("delete_file", path="/a.md", expects=sha(b"another"))
    assert refused["error"]["kind"] == "ChangedError"
    assert place.read_bytes() == NOTES
    deleted = page.do("delete_file", path="/a.md", expects=sha(NOTES))["result"]["deleted"]
    assert not place.exists()
    page.do("restore_file", deleted=deleted)
    assert place.read_bytes() == NOTES


def test_the_chat_goes_on_when_the_mappings_are_damaged(opened):
    session = opened(["Done."])
    (session.workspace / ".deepnb" / "mappings.sqlite").write_bytes(b"no database at all" * 500)
    page = Page(session)
    fields = {"source": "/mine", "target": "/mine", "is_folder": True, "mode": "sync"}
    assert page.hello()["facts"]["files"]["mappings"] == []
    assert page.do("map_files", browser="b", **fields)["error"]["kind"] == "StorageError"


def test_a_name_for_the_browsers_store_is_made_once_and_mended(page):
    session = page.board.session
    name = session.shelf
    assert name == session.shelf
    (session.workspace / ".deepnb" / "shelf").write_text("")
    assert session.shelf


def test_only_the_last_listing_is_kept_for_a_page_that_asks_for_no_news(page):
    for _ in range(3):
        page.do("list_workspace")
    assert sum("files" in reply["result"] for reply in page.pull()["replies"]) == 1


def test_a_cell_waits_for_a_page_that_answers_by_itself(opened):
    session = opened([call("grep", pattern="pump", path="/files/"), "Done."], client=True)
    page = Page(session)
    page.hello()

    def answer():
        until(lambda: session.questions)
        page.do(
            "client_answer", question=session.questions[0].id, answer={"result": {"matches": []}}
        )

    thread = threading.Thread(target=answer)
    thread.start()
    assert session.ask("go").wait(timeout=20).answer == "Done."
    thread.join()


def test_a_cell_waits_for_no_page_that_is_not_there(opened):
    session = opened([call("grep", pattern="pump", path="/files/"), "Done."], client=True)
    run = session.ask("go").wait(timeout=20)
    assert (run.status, run.reason) == ("waiting", "your browser to run grep_files")


def test_a_glob_that_asks_the_client_is_no_failure_on_the_way(opened):
    session = opened([call("glob", pattern="**/*", path="/files/"), "Done."], client=True)
    ask(session)
    (question,) = session.questions
    session.respond(question.id, {"result": {"matches": []}})
    until(lambda: session.status == "done")
    results = [event.data["status"] for event in session.events() if event.kind == "tool_result"]
    assert results == ["ok"]


def test_a_glob_that_is_stopped_while_it_waits_for_the_client_says_so(opened):
    session = opened([call("glob", pattern="**/*", path="/files/"), "Done."], client=True)
    ask(session)
    session.stop()
    (told,) = [event.data["text"] for event in session.events() if event.kind == "tool_result"]
    assert "The person stopped the run" in told
    assert session.state["messages"][-1].text == told
