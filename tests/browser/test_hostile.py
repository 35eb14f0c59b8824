"""What models, tools, files and pages may send: nothing of it is obeyed, and nothing breaks."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from tests.browser.cells import SETUP
from tests.browser.payloads import payloads
from tests.browser.test_essentials import say

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)

READ = f"""{SETUP}
import json
from pathlib import Path

from langchain_core.messages import AIMessage

TEXTS = json.loads(Path("texts.json").read_text())
ALL = chr(10).join([chr(10).join([text, ""]) for text in TEXTS])
SOME = TEXTS[::9]
"""

LIVED = """
def speaks(messages):
    "Think and say everything, in pieces that end anywhere."
    pieces = [ALL[at : at + 67] for at in range(0, len(ALL), 67)]
    said = [{"type": "text", "text": piece, "index": 1} for piece in [*pieces, " spoken"]]
    return AIMessage([{"type": "thinking", "thinking": ALL, "index": 0}, *said])

session = deepnb.Session(
    "deep", workspace=".", thread=SOME[2], persist=False, model=ScriptedModel(speaks, delay=0.002)
)

def tell(kind, data, **places):
    session._record.log.append(kind, run="r", data=data, **places)

tell("run_started", {"text": ALL})
tell("message", {"id": "m", "role": "assistant", "text": ALL, "reasoning": ALL})
for n, text in enumerate(TEXTS):
    about = {"agent": text, "name": text, "node": text}
    diff = f"--- {text}\\n+++ {text}\\n@@ -1 +1 @@\\n-{text}\\n+{text} "
    tell("tool_call", {"id": f"t{n}", "args": {text: text, "more": [text]}}, name=text)
    status = "error" if n % 2 else "ok"
    tell("tool_result", {"id": f"t{n}", "status": status, "text": text, "seconds": 1}, name=text)
    if n % 3 == 0:
        tell("file", {"path": text, "action": text, "diff": diff}, name=text)
        tell("warning", {"text": text}, **about)
        tell("error", {"type": text, "text": text}, **about)
    if n % 6 == 0:
        inside = {"agent": text, "call": f"s{n}"}
        tell("subagent_started", {"id": f"s{n}", "text": text}, name=text, **inside)
        tell("message", {"id": f"m{n}", "role": "assistant", "text": text}, **inside)
        tell("subagent_ended", {"id": f"s{n}", "status": "ok", "seconds": 1}, **inside)
        tell("usage", {"model": text, "tokens_in": 1, "tokens_out": 1, "cost": None}, **about)
        tell("node", {"seconds": 1, "error": text}, **about)
tell("todos", {"by": SOME[0], "todos": [{"content": t, "status": "pending"} for t in TEXTS]})
tell("run_ended", {"status": "failed", "text": ALL, "seconds": 1})
"""

SHOWN = (
    "session.panel(starters={text: text for text in SOME}, actions={text: text for text in SOME})"
)

FACTS = """
news = session._panel._board._news(0, 0, "")
facts = news["facts"]
bad = SOME[3]
facts |= {key: bad for key in ("agent", "title", "workspace", "forked_from", "waiting_for")}
facts["model"] |= {"name": bad, "rule": bad, "detail": bad, "state": "loading"}
facts["models"] = [{"spec": text, "rule": text} for text in SOME]
session._panel.send({"type": "push", "news": news | {"after": news["last"], "events": []}})
"""

ASKED = """
import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

bad = SOME[1]
schema = {
    "title": bad, "description": bad, "required": ["a"],
    "properties": {
        text: {"type": "string", "title": text, "description": text, "enum": [text, "b"]}
        for text in SOME
    },
}
steps = [
    {"id": str(n), "title": t, "tool": t, "input": t, "rationale": t, "depends_on": []}
    for n, t in enumerate(SOME[:15])
]
checks = [{"name": t, "status": "warn", "note": t} for t in SOME]
audit = {"passed": False, "summary": ALL, "policy": bad, "checks": checks, "remarks": SOME}
actions = [{"name": t, "args": {t: t}, "description": t} for t in SOME[:10]]
edit = f"Edit {bad}\\n\\n```diff\\n-{bad}\\n+{bad} \\n```\\n\\n{ALL}"
actions.append({"name": "edit_file", "args": {"file_path": bad}, "description": edit})
allowed = ["approve", "edit", "reject", "respond"]
reviews = [
    {"action_name": a["name"], "allowed_decisions": allowed, "always": bad, "args_schema": schema}
    for a in actions
]
choices = {"type": "clarification_request", "tool": "ask_choices", "tool_call_id": bad,
           "question": ALL, "options": [{"id": t, "label": t} for t in SOME],
           "allow_multiple": True, "allow_freeform": True}
REQUESTS = [
    choices,
    choices | {"tool": "ask_user", "options": []},
    {"type": "tool_approval", "action_requests": actions, "review_configs": reviews},
    {"type": "plan_approval", "plan": {"question": ALL, "steps": steps}, "audit": audit,
     "tools": SOME},
    {"type": "budget_exhausted", "unit": bad, "limit": 1, "spent": 2},
    {"type": "client_tool_execution", "tool": bad, "tool_call_id": bad, "args": {bad: bad}},
    {"type": bad, "message": ALL, bad: bad},
    {"type": "__proto__", "constructor": {"prototype": bad}},
    {"type": "toString", "question": 1},
    ALL,
    None,
    [[bad]],
]

class State(TypedDict):
    messages: Annotated[list, operator.add]

builder = StateGraph(State)
for number, request in enumerate(REQUESTS):
    def node(state, request=request):
        interrupt(request)
        return {"messages": []}
    builder.add_node(f"n{number}", node)
    builder.add_edge(START, f"n{number}")
asking = deepnb.Session(builder.compile(), workspace=".", thread="asking", persist=False)
asking.ask(ALL).wait(30)
"""

OPEN = """root => {
  let opened = 0;
  for (const summary of root.querySelectorAll("details:not([open]) > summary")) {
    summary.click();
    opened++;
  }
  return opened;
}"""

# Whatever waits for a pointer or for the focus has it; of links and buttons, which do what they
# say, only the addresses are looked at.
PROVOKE = """root => {
  for (const element of root.querySelectorAll("*")) {
    const kinds = ["mouseover", "pointerenter", "focus", "animationstart", "toggle"];
    for (const kind of kinds)
      element.dispatchEvent(new Event(kind, { bubbles: false }));
    if (!element.closest("button, a, summary, label, input, textarea, select"))
      element.dispatchEvent(new MouseEvent("click", { bubbles: false }));
  }
}"""

DANGERS = """root => {
  const ACTIVE = (
    "script iframe frame object embed base meta link form img video audio source track portal " +
    "template animate set image feimage foreignobject dialog xss marquee"
  ).split(" ");
  const NAMES = /leak|hit|jupyterapp|proto|defaultView|body|getElement|constructor|attributes/;
  const found = [];
  for (const element of root.querySelectorAll("*")) {
    const { localName: tag } = element;
    if (ACTIVE.includes(tag.toLowerCase()))
      found.push(element.outerHTML.slice(0, 200));
    for (const { name, value } of element.attributes) {
      const isLink = tag === "a" && name === "href";
      if (/^on|srcset|srcdoc|^src$|ping|formaction|poster|background|popover/i.test(name)
        || (isLink && !/^(https?|mailto):/i.test(value))
        || (/href$/i.test(name) && !isLink && !value.startsWith("#dn"))
        || (name === "style" && /url|expression|fixed/i.test(value)))
        found.push(`${tag} ${name}=${value}`.slice(0, 200));
    }
    if (tag === "a" && element.href && !/noopener/.test(element.rel))
      found.push(`${tag} rel=${element.rel}`);
    for (const key of ["id", "name"])
      if (NAMES.test(element.getAttribute(key) ?? ""))
        found.push(`${tag} ${key}=${element.getAttribute(key)}`);
  }
  return found;
}"""


class Evil:
    """A server that nobody shall ask, what it was asked, and what was run or opened in a page."""

    def __init__(self, lab):
        lab.alone()
        self.lab = lab
        self.asked, self.hits, self.opened = [], [], []
        evil = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                evil.asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "image/png")
                self.end_headers()
                self.wfile.write(PIXEL)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        lab.context.expose_binding(
            "__hit", lambda source, *_: self.hits.append(source["frame"].url)
        )
        lab.page.on("dialog", self._note_dialog)
        lab.context.on("page", lambda page: self.opened.append(page.url))

    def _note_dialog(self, dialog):
        self.hits.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def check_nothing_happened(self, address):
        assert self.hits == []
        assert self.asked == []
        assert self.opened == []
        assert self.lab.strangers == []
        assert self.lab.page.url == address

    def check_trap(self):
        """Do what shall not happen: it must have been noticed if it had."""
        self.lab.page.evaluate(
            """host => document.body.insertAdjacentHTML("beforeend",
              `<img src="data:," onerror="__hit(1)"><img src="http://${host}/leak">`)""",
            self.host,
        )
        self.lab.page.wait_for_function("() => [...document.images].every(image => image.complete)")
        assert len(self.hits) == 1
        assert self.asked == ["/leak"]
        assert self.lab.strangers == [f"http://{self.host}/leak"]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def evil(lab):
    evil = Evil(lab)
    (lab.folder / "texts.json").write_text(json.dumps(payloads(evil.host)))
    yield evil
    evil.close()


def look_at_everything(panel):
    """Open all that can be opened, in every tab, and find what could do something."""
    dangers = []
    for tab in [None, *panel.get_by_role("tab").all()]:
        if tab:
            tab.click()
        while panel.evaluate(OPEN):
            panel.page.wait_for_timeout(50)  # a detail is drawn when it is opened
        panel.evaluate(PROVOKE)
        dangers += panel.evaluate(DANGERS)
    return dangers


def test_no_text_is_obeyed_wherever_it_stands(lab, evil):
    lab.open_notebook([READ + LIVED, SHOWN, FACTS])
    address = lab.page.url
    lab.run_cell(0)
    lab.run_cell(1)
    panel = lab.panel(1)
    say(panel, "speak")
    expect(panel.get_by_role("article").last).to_contain_text("spoken")
    assert look_at_everything(panel) == []
    lab.run_cell(2)
    expect(panel.get_by_role("button", name="__hit").first).to_be_visible()
    assert panel.evaluate(DANGERS) == []
    assert lab.outputs(1).locator(".dnt-saved").evaluate(DANGERS) == []
    lab.save()
    evil.check_nothing_happened(address)
    evil.check_trap()


EMPTY = """
for number, text in enumerate(SOME[:12]):
    model = ScriptedModel([text])
    with deepnb.Session("deep", workspace=".", thread=f"t{number}", model=model) as session:
        session.ask(text).wait(30)
empty = deepnb.Session("deep", workspace=".", thread="empty", model="offline")
empty.panel(starters={text: text for text in TEXTS}, actions={text: text for text in TEXTS})
"""


def test_no_question_no_card_and_no_list_is_obeyed(lab, evil):
    lab.open_notebook([READ + ASKED, "asking", EMPTY])
    address = lab.page.url
    lab.run_all()
    panel = lab.panel(1)
    expect(panel.locator(".dn-question")).to_have_count(12)
    assert look_at_everything(panel) == []
    panel = lab.panel(2)
    expect(panel.locator(".dn-card")).to_have_count(len(payloads(evil.host)))
    own = ("div popover=auto", "button popovertarget=", '<form class="dn-')  # no text has these
    for name, place in [
        ("Change model", "[popover]:popover-open"),
        ("More", "[popover]:popover-open"),
        ("Thread history", ".dn-threads"),
    ]:
        panel.get_by_role("button", name=name).first.click()
        expect(panel.locator(place)).to_be_visible()
        panel.evaluate(PROVOKE)
        found = panel.evaluate(DANGERS)
        assert [danger for danger in found if not danger.startswith(own)] == []
        lab.page.keyboard.press("Escape")
    evil.check_nothing_happened(address)
    evil.check_trap()


def test_a_converted_notebook_obeys_nothing(lab, evil):
    lab.open_notebook([READ + LIVED, "session"])
    lab.run_all()
    lab.save()
    html, _ = HTMLExporter().from_filename(str(lab.path))
    assert "__hit" in html
    page = lab.context.new_page()
    evil.opened.clear()  # this one
    page.set_content(html)
    saved = page.locator(".dnt-saved")
    expect(saved).to_be_visible()
    while saved.evaluate(OPEN):
        pass
    saved.evaluate(PROVOKE)
    assert saved.evaluate(DANGERS) == []
    assert evil.hits == evil.asked == evil.opened == []
    # The page itself wants its libraries.
    assert [url for url in lab.strangers if "cdnjs.cloudflare.com" not in url] == []
    page.close()


IMAGES = f"""{SETUP}
session = deepnb.Session(
    "deep", workspace=".", thread="images", persist=False,
    model=ScriptedModel(lambda messages: messages[-1].text),
)
"""


def test_images_are_loaded_when_the_reader_says_so(lab, evil):
    lab.open_notebook([IMAGES, "session"])
    lab.run_all()
    panel = lab.panel(1)
    for name in ("first", "second"):
        say(panel, f"![{name}](http://{evil.host}/{name}.png) end of {name}")
        expect(panel.get_by_role("article").last).to_contain_text(f"end of {name}")
    loads = panel.get_by_role("button", name="Image from")
    expect(loads).to_have_count(2)
    assert evil.asked == []
    loads.first.click()
    expect(panel.get_by_role("img", name="first")).to_be_visible()
    expect(loads).to_have_count(1)
    lab.page.wait_for_function("() => [...document.images].every(image => image.complete)")
    assert evil.asked == ["/first.png"]


# Each comes in one piece: 5,000 rows word by word would take as long as they take to be written.
MUCH = f"""{SETUP}
from langchain_core.messages import AIMessage

rows = "\\n".join(f"| {{n}} | x |" for n in range(5000))
TEXTS = {{
    "table": f"| a | b |\\n|-|-|\\n{{rows}}\\n\\nend of table",
    "line": "x" * 1_000_000 + " end of line",
    "quotes": ">" * 10_000 + " end of quotes",
    "lists": "\\n".join("  " * n + "- x" for n in range(1_500)) + "\\n\\nend of lists",
    "brackets": "[" * 50_000 + "](" * 50_000 + " end of brackets",
    "open": "**a _b `c [d](e \\n```\\n| f |\\n|-\\n> - 1. $$x end of open",
    "override": "\\u202eturned\\u2066 end of override",
}}

def says(messages):
    return AIMessage([{{"type": "text", "text": TEXTS[messages[-1].text]}}])

session = deepnb.Session(
    "deep", workspace=".", thread="much", persist=False,
    model=ScriptedModel(says, window=10**9),  # nothing is summed up
)
"""


def test_what_is_too_much_leaves_the_page_alive(lab):
    lab.open_notebook([MUCH, "session"])
    lab.run_all()
    panel = lab.panel(1)
    for name in ("table", "line", "quotes", "lists", "brackets", "open", "override"):
        say(panel, name)
        expect(panel.get_by_role("article").last).to_contain_text(f"end of {name}")
        panel.get_by_role("tab").last.click()
        panel.get_by_role("tab").first.click()
    assert panel.evaluate("root => root.querySelectorAll('*').length") < 10_000
    assert panel.evaluate("root => /[\\u202e\\u2066]/.test(root.textContent)") is False
    panel.get_by_role("button", name="Show all 5,000 rows").click()
    expect(panel.get_by_role("row")).to_have_count(5001)
    assert lab.errors == []


STATE = """
print(len(session.events()), session.thread, session.status, session.todos.shape,
      {name: getattr(session._panel, name) for name in ("thread", "key", "panel")},
      hash(str(session._panel._esm)))
"""

SEND = """async json => {
  const [{ model }] = window[Symbol.for("deepnb")].entries.values();
  const messages = JSON.parse(json);
  const refused = [];
  model.on("msg:custom", content => {
    const replies = content.type === "push" ? content.news.replies : [content]; // some come late
    for (const { view, error } of replies)
      if (["", "evil"].includes(view) && error) refused.push(error.text);
  });
  for (const message of messages) model.send(message);
  const end = Date.now() + 25_000;
  while (refused.length < messages.length && Date.now() < end)
    await new Promise(go => setTimeout(go, 50));
  return refused;
}"""

SET = """() => {
  const [{ model }] = window[Symbol.for("deepnb")].entries.values();
  model.set("_esm", "export default { render() { __hit(1) } }");
  for (const name of ["thread", "key", "panel"]) model.set(name, "elsewhere");
  model.save_changes();
}"""


def garbage():
    """Messages that no page of ours sends; each must be refused."""
    view = {"id": "1", "view": "evil", "thread": "asked"}
    deep = []
    for _ in range(300):
        deep = [deep]
    kinds = [
        "nothing",
        "",
        "__proto__",
        "constructor",
        None,
        7,
        ["ask"],
        {"type": "ask"},
        "x" * 10_000,
    ]
    yield from ("text", 5, None, [], {}, True, [[]], {"id": "a" * 1000, "view": {}})
    yield from ({**view, "type": kind, "text": "x"} for kind in kinds)
    yield {**view, "type": "ask"}
    yield {**view, "type": "ask", "text": ""}
    yield {**view, "type": "ask", "text": 7}
    yield {**view, "type": "ask", "text": "x" * 300_000}
    yield {**view, "type": "ask", "text": "x", "__proto__": {"admin": True}}
    yield {**view, "type": "ask", "text": "x", "constructor": {"prototype": {"admin": True}}}
    yield {**view, "type": "ask", "text": "x", "thread": "another"}
    yield {**view, "type": "stop", "thread": "another", "id": "2"}
    yield {**view, "type": "ask", "text": "x", "id": 7}
    yield {**view, "type": "ask", "text": "x", "view": "v" * 100}
    yield {**view, "type": "pull", "since": -1, "replies_since": 0, "push": True}
    yield {**view, "type": "pull", "since": "0", "replies_since": 0, "push": True}
    yield {**view, "type": "respond", "question": "none", "answer": "approve", "id": "3"}
    yield {**view, "type": "respond", "question": "none", "answer": deep, "id": "4"}
    yield {**view, "type": "edit_todos", "todos": [{"content": "x", "status": "won"}], "seen": 0}
    yield {**view, "type": "unqueue", "run": "none", "id": "5"}
    yield {**view, "type": "hello"}


def test_a_page_that_sends_anything_is_refused_and_changes_nothing(lab, evil):
    lab.open_notebook([f"{SETUP}\nsession = opened('asked')", "session", STATE])
    lab.run_all()
    panel = lab.panel(1)
    say(panel, "hello")
    expect(panel.get_by_role("article")).to_contain_text("answer to hello")
    lab.run_cell(2)
    before = lab.outputs(2).inner_text()
    sent = list(garbage())
    refused = lab.page.evaluate(SEND, json.dumps(sent))
    assert len(refused) == len(sent)
    assert all(refused)
    lab.page.evaluate(SET)
    lab.run_cell(2)
    assert lab.outputs(2).inner_text() == before
    evil.hits.clear()  # a page may do to itself what it likes
    lab.reload()
    say(panel, "again")
    expect(panel.get_by_role("article").last).to_contain_text("answer to again")
    assert evil.hits == []


NONSENSE = """
for content in [
    None, 5, "text", [], {}, {"type": "nothing"}, {"type": "__proto__"}, {"type": "push"},
    {"type": "push", "news": None}, {"type": "push", "news": []}, {"type": "push", "news": {}},
    {"type": "reply"}, {"type": "reply", "id": 5, "view": None, "error": 5},
]:
    session._panel.send(content)
odd = dict.fromkeys(["id", "text", "todos", "args", "request", "status", "seconds"], [5])
for kind in [*KINDS, "nothing", "constructor", "__proto__"]:
    for data in [{}, odd]:
        if kind != "run_started":
            session._record.log.append(kind, run="r", data=data)
session._record.log.append("warning", run="r", data={"text": "and on"})
"""


def test_a_kernel_that_sends_anything_breaks_no_view(lab):
    kinds = "from deepnb.events import KINDS"
    lab.open_notebook([f"{SETUP}\n{kinds}\nsession = opened('sent')", "session", NONSENSE])
    lab.run_cell(0)
    lab.run_cell(1)
    panel = lab.panel(1)
    say(panel, "hello")
    expect(panel.get_by_role("article").last).to_contain_text("answer to hello")
    lab.run_cell(2)
    expect(panel).to_contain_text("and on")
    say(panel, "again")
    expect(panel.get_by_role("article").last).to_contain_text("answer to again")
    panel.get_by_role("tab").last.click()
    expect(panel.get_by_role("tab").last).to_have_attribute("aria-selected", "true")
