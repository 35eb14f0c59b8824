"""What the reader lets out of their browser: to the agent's index, to their disk, an address."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import choose, row, unfold
from tests.browser.shelf import add, dialog, drop, my_computer, paste, show, told

ALLOWED = """
import pathlib, deepnb

pathlib.Path("papers").mkdir()
session = deepnb.Session("research", workspace="papers", private=True)
"""
REFUSED = """
import deepnb
from deepnb.testing import ScriptedModel

session = deepnb.Session("deep", workspace=".", client=True, model=ScriptedModel(["hello"]))
"""
FOUND = 'print(session.knowledge.search("what the pump cost").to_csv())'
DISCLOSED = """
told = session.disclosures
print(told[["what", "path", "bytes", "detail"]].to_json(orient="records"))
"""
MINUTES = b"# Minutes\n\nThe pump cost 15 pounds in the year 1858.\n"
PHOTO = bytes(range(256)) * 2000
PAGE = b"<title>Yard</title><p>The yard was paved in 1861.</p>"


@pytest.fixture
def site():
    """Give the address of a page on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/news/yard"
    server.shutdown()
    server.server_close()


def test_a_file_is_indexed_a_page_fetched_and_a_file_saved_because_the_reader_says_so(lab, site):
    panel = show(lab, ALLOWED, FOUND, DISCLOSED)
    privacy = panel.locator(".dn-private")
    add(panel, ("minutes.md", MINUTES), ("photo.bin", PHOTO))
    told(panel, "Added 2 files.")
    asked = dialog(panel, "Add minutes.md to the agent")
    choose(panel, "mine", "/minutes.md", "Add to the agent")
    expect(asked).to_contain_text(f"Its text leaves this browser: {len(MINUTES)} bytes")
    asked.get_by_role("button", name="Cancel").click()
    expect(privacy).to_contain_text("Nothing has left this browser.")
    choose(panel, "mine", "/minutes.md", "Add to the agent")
    asked.get_by_role("button", name="Add to the index").click()
    told(panel, "minutes.md is in the agent")
    expect(privacy).to_contain_text(f"1 file indexed, {len(MINUTES)} bytes")
    lab.run_cell(2)
    expect(lab.outputs(2)).to_contain_text("The pump cost 15 pounds in the year 1858.")

    with lab.page.expect_download() as saving:
        choose(panel, "mine", "/photo.bin", "Save as")
    assert saving.value.suggested_filename == "photo.bin"
    assert saving.value.path().read_bytes() == PHOTO

    my_computer(panel).get_by_role("button", name="Add").click()
    panel.get_by_role("menuitem", name="Page from an address").click()
    page = dialog(panel, "Add a page")
    page.get_by_label("Address").fill(site)
    page.get_by_role("button", name="Fetch").click()
    told(panel, "Saved as pages/127.0.0.1-yard.html in the workspace.")
    unfold(panel, "workspace", "/pages")
    expect(row(panel, "workspace", "/pages/127.0.0.1-yard.html")).to_be_visible()
    assert (lab.folder / "papers" / "pages" / "127.0.0.1-yard.html").read_bytes() == PAGE

    lab.run_cell(3)
    assert json.loads(lab.outputs(3).inner_text()) == [
        {
            "what": "index",
            "path": "/files/minutes.md",
            "bytes": len(MINUTES),
            "detail": "put into the index",
        },
        {"what": "copy", "path": "", "bytes": len(site), "detail": "1 address of a page"},
    ]
    assert lab.strangers == []  # it was not the browser that fetched it
    assert lab.errors == []


def test_an_address_is_fetched_by_the_kernel_and_never_from_a_private_network(lab):
    panel = show(lab, REFUSED)
    mine = my_computer(panel)
    address = f"{lab.server.url}api/status"
    drop(mine, address=f"# a comment\n{address}\n")
    page = dialog(panel, "Add a page")
    expect(page.get_by_label("Address")).to_have_value(address)
    page.get_by_role("button", name="Fetch").click()
    expect(page.get_by_role("alert")).to_contain_text("this machine or to a private network")
    expect(page.get_by_label("Address")).to_have_value(address)
    page.get_by_role("button", name="Cancel").click()
    mine.get_by_role("button", name="Drop files").focus()
    paste(mine.get_by_role("button", name="Drop files"), "https://nowhere.invalid/page")
    page.get_by_role("button", name="Fetch").click()
    expect(page.get_by_role("alert")).to_contain_text("nowhere.invalid")
    page.press("Escape")
    expect(page).to_have_count(0)
    assert list(lab.folder.glob("pages/*")) == []
    assert lab.errors == []


READ = """
import deepnb
from deepnb.testing import ScriptedModel, call

steps = [call("read_file", file_path="/files/a.md"), "It says A."]
session = deepnb.Session("deep", workspace=".", client=True, model=ScriptedModel(steps))
"""
ASK = 'open("answer.txt", "w").write(session.ask("What does it say?").wait().answer)'
UNSEEN = """() => {
  Object.defineProperty(document, "hidden", { get: () => true });
  window.requestAnimationFrame = () => 0; // a browser draws no frames of what nobody sees
}"""


def test_a_page_that_nobody_sees_answers_the_agent(lab):
    lab.alone()  # it stays unseen
    panel = show(lab, READ, ASK)
    add(panel, ("a.md", b"# A\n"))
    told(panel, "Added a.md.")
    lab.page.evaluate(UNSEEN)
    lab.run_cell(2)
    assert (lab.folder / "answer.txt").read_text() == "It says A."
