"""A session's events become something to read, whatever is in them."""

from __future__ import annotations

import ast
import base64
import hashlib
import html
import json
import random
import re
import subprocess
import sys
from html.parser import HTMLParser

import nbformat
import pytest
from markdown_it import MarkdownIt

from deepnb import interrupts
from deepnb.errors import ExportError
from deepnb.events import KINDS, Event
from deepnb.middleware.diffs import diff
from deepnb.transcript import (
    latest,
    run_card,
    session_card,
    to_fragment,
    to_html,
    to_markdown,
    to_notebook,
    turns,
    write,
)
from deepnb.transcript.prose import render
from deepnb.transcript.questions import asked
from deepnb.transcript.rewrite import rewrite
from deepnb.transcript.steps import (
    FileChange,
    Notice,
    Question,
    Remark,
    Text,
    Todos,
    ToolCall,
    every,
)

APPROVAL = {
    "type": "tool_approval",
    "action_requests": [
        {
            "name": "write_file",
            "args": {"file_path": "/workspace/notes.md", "content": "a"},
            "description": f"Create /workspace/notes.md\n\n{diff('', 'a', '/workspace/notes.md')}",
        }
    ],
    "review_configs": [{"action_name": "write_file", "allowed_decisions": ["approve", "reject"]}],
}
CHOICE = {
    "type": "clarification_request",
    "tool": "ask_choices",
    "tool_call_id": "c9",
    "question": "Which year?",
    "options": [{"id": "a", "label": "In 2019"}, {"id": "b", "label": "In 2023"}],
    "allow_multiple": False,
    "allow_freeform": True,
}
BUDGET = {"type": "budget_exhausted", "unit": "usd", "limit": 2.0, "spent": 2.1}
CLIENT = {
    "type": "client_tool_execution",
    "tool": "read_file",
    "tool_call_id": "c1",
    "args": {"path": "/notes/a.md", "offset": 3, "limit": 20},
}
OPEN = {**CHOICE, "tool": "ask_user", "options": []}
SESSION = {"agent": "deep", "model": "offline", "thread": "t", "workspace": ".", "status": "idle"}


class Script(list):
    """Events, numbered and timed in the order in which they are noted."""

    def say(self, kind, run="r1", *, agent="deep", parent="", call="", name="", **data):
        seq = len(self) + 1
        self.append(
            Event(
                seq,
                1772460180.0 + seq,
                kind,
                run,
                agent,
                parent=parent,
                call=call,
                name=name,
                data=data,
            )
        )
        return self

    def ask(self, text="Why?", run="r1", **data):
        self.say("run_started", run, text=text, **data)
        return self.say("message", run, id=run, role="user", text=text)

    def reply(self, text, message="m", run="r1", **options):
        return self.say("message", run, id=message, role="assistant", text=text, **options)

    def use(self, tool, call_id, result=None, **options):
        args = options.pop("args", {})
        self.say("tool_call", name=tool, id=call_id, args=args, **options)
        if result is not None:
            ended = {"id": call_id, "status": "ok", "text": result, "seconds": 0.4}
            self.say("tool_result", name=tool, **ended, **options)
        return self

    def end(self, status="done", run="r1", seconds=3.0, text=""):
        return self.say("run_ended", run, status=status, seconds=seconds, text=text)

    @property
    def turn(self):
        (turn,) = turns(self)
        return turn


# Events to turns


def test_a_run_is_a_turn():
    script = Script().ask("How much?").use("grep", "c1", "a.md:1: 38 %", args={"pattern": "%"})
    script.say("usage", model="m", tokens_in=100, tokens_out=20, cost=0.5)
    script.say("usage", model="m", tokens_in=10, tokens_out=2, cost=0.25)
    turn = script.reply("By 38 %.").end(seconds=4.5).turn
    assert (turn.question, turn.status, turn.seconds) == ("How much?", "done", 4.5)
    assert turn.steps == (ToolCall("c1", "grep", {"pattern": "%"}, "ok", "a.md:1: 38 %", 0.4),)
    assert turn.answer == Text("By 38 %.")
    assert (turn.usage.calls, turn.usage.tokens_in, turn.usage.cost) == (2, 110, 0.75)


def test_a_cost_that_leaves_a_call_out_is_no_cost():
    script = Script().ask().say("usage", tokens_in=1, tokens_out=1, cost=0.5)
    assert script.say("usage", tokens_in=1, tokens_out=1, cost=None).turn.usage.cost is None


def test_a_message_takes_the_place_of_its_tokens():
    script = Script().ask().say("reasoning", id="m", text="Hm").say("token", id="m", text="By 3")
    assert script.turn.answer == Text("By 3", "Hm", "writing")
    assert script.reply("By 38 %.").turn.answer == Text("By 38 %.", "Hm")


def test_what_was_being_written_when_the_run_stopped_is_kept():
    script = Script().ask().say("token", id="m", text="By ").say("token", id="m", text="3")
    turn = script.end("stopped").turn
    assert (turn.status, turn.answer) == ("stopped", Text("By 3", "", "cut"))
    assert "Cut off here." in to_html([turn], "T")


def test_half_characters_meet_across_tokens():
    script = Script().ask().say("token", id="m", text="a\r").say("token", id="m", text="\nb")
    assert script.turn.answer.text == "a\nb"


def test_a_resumed_run_goes_on_in_its_turn():
    script = Script().ask().say("token", id="m1", text="By 3").end("stopped", seconds=2.0)
    script.say("run_started", text="Why?", resumed=True)
    turn = script.reply("By 38 %.", "m2").end(seconds=1.0).turn
    assert turn.steps == (Text("By 3", "", "cut"),)
    assert (turn.answer.text, turn.status, turn.seconds) == ("By 38 %.", "done", 3.0)


def test_a_run_that_never_ended_was_cut_off_before_the_next():
    script = Script().ask().use("grep", "c1").ask("And?", "r2")
    first, second = turns(script)
    assert (first.status, first.why) == ("stopped", "The run was cut off.")
    assert first.steps[0].state == "stopped"
    assert second.status == "running"


def test_a_call_that_begins_again_after_a_pause_is_one_step():
    script = Script().ask().use("ask_user", "c1").use("ask_user", "c1", "yes")
    assert [step.result for step in script.turn.steps] == ["yes"]


def test_a_result_without_its_call_is_a_step():
    script = Script().ask().say("tool_result", name="grep", id="c1", status="error", text="no")
    assert script.turn.steps == (ToolCall("c1", "grep", {}, "error", "no"),)


def test_what_an_agent_says_before_it_acts_is_no_answer():
    script = Script().ask().reply("I will write it.").use("write_file", "c1")
    assert script.turn.answer is None
    assert script.turn.steps[0] == Text("I will write it.")
    # But a last text with a call beside it, when nothing follows, is all the answer there is.
    assert script.end().turn.answer == Text("I will write it.")


def test_a_question_waits_until_it_is_closed():
    script = Script().ask().say("interrupt_opened", id="q", request=APPROVAL)
    assert script.turn.status == "waiting"
    assert script.turn.pending == [Question("q", APPROVAL)]
    answer = {"decisions": [{"type": "approve"}]}
    turn = script.say("interrupt_closed", id="q", answer=answer, by="person").turn
    assert (turn.status, turn.pending) == ("running", [])
    assert turn.steps == (Question("q", APPROVAL, answer, "person"),)


def test_questions_that_follow_each_other_under_one_id_are_two():
    script = Script().ask()
    for request in (CHOICE, BUDGET):
        script.say("interrupt_opened", id="q", request=request)
        script.say("interrupt_opened", id="q", request=request)
        script.say("interrupt_closed", id="q", answer={"stop": True}, by="person")
    assert [step.request for step in script.turn.steps] == [CHOICE, BUDGET]


def test_a_question_that_was_closed_unseen_is_a_step():
    script = Script().ask()
    script.say("interrupt_closed", id="q", request=CHOICE, answer={"selected": ["b"]}, by="policy")
    assert "In 2023 automatically" in to_markdown(turns(script), "T")


def test_nothing_waits_in_a_run_that_has_ended():
    turn = Script().ask().say("interrupt_opened", id="q", request=APPROVAL).end("stopped").turn
    assert turn.pending == []
    assert "not answered" in to_markdown([turn], "T")


def test_subagents_nest_in_place_of_the_calls_that_started_them():
    reader = {"agent": "reader", "parent": "deep", "call": "c1"}
    page = {"agent": "page", "parent": "reader", "call": "c2"}
    script = (
        Script().ask().use("task", "c1").say("subagent_started", **reader, id="c1", text="Read")
    )
    script.use("grep", "g1", "found", **reader).use("task", "c2", **reader)
    script.say("subagent_started", **page, id="c2", text="Page 3")
    script.reply("It says 38 %.", "m1", **page)
    script.say("subagent_ended", **page, id="c2", status="ok", seconds=1.5)
    script.say("tool_result", name="task", id="c2", text="It says 38 %.", **reader)
    script.reply("38 %.", "m2", **reader)
    script.say("subagent_ended", **reader, id="c1", status="ok", seconds=2.5)
    turn = script.reply("By 38 %.").end().turn
    (outer,) = turn.steps
    assert (outer.name, outer.task, outer.state, outer.seconds) == ("reader", "Read", "ok", 2.5)
    inner = outer.steps[1]
    assert outer.steps == (ToolCall("g1", "grep", {}, "ok", "found", 0.4), inner, Text("38 %."))
    assert (inner.name, inner.steps) == ("page", (Text("It says 38 %."),))
    assert turn.answer.text == "By 38 %."


def test_two_subagents_of_one_name_are_told_apart():
    script = Script().ask()
    for call in ("c1", "c2"):
        script.use("task", call).say(
            "subagent_started", agent="r", parent="deep", call=call, id=call
        )
    script.use("grep", "g2", "two", agent="r", call="c2").use(
        "grep", "g1", "one", agent="r", call="c1"
    )
    assert [agent.steps[0].result for agent in script.turn.steps] == ["one", "two"]


def test_a_subagent_that_nobody_announced_has_a_place():
    script = Script().ask().use("grep", "g1", "found", agent="page", parent="deep", call="c7")
    (subagent,) = script.turn.steps
    assert (subagent.name, len(subagent.steps)) == ("page", 1)


def test_a_subagent_without_a_call_is_below_its_caller():
    script = Script().ask()
    script.say("subagent_started", agent="a", parent="deep", call="x", id="x")
    script.say("subagent_started", agent="b", parent="a", call="y", id="y")
    assert [step.name for step in every(script.turn.steps)] == ["a", "b"]
    assert script.turn.steps[0].steps[0].name == "b"


def test_what_a_person_says_meanwhile_is_a_remark():
    script = Script().ask().say("queued", text="Only 2020", steer=True)
    assert script.turn.steps == (Remark("Only 2020", heard=False),)
    script.say("message", id="s1", role="user", text="Only 2020")
    assert script.turn.steps == (Remark("Only 2020", heard=True),)


def test_a_question_in_the_queue_is_a_turn_that_has_not_started():
    script = Script().ask().say("queued", "r2", text="And then?", steer=False)
    assert [turn.status for turn in turns(script)] == ["running", "queued"]
    first, second = turns(script.end().ask("And then?", "r2"))
    assert (first.status, second.status, second.question) == ("done", "running", "And then?")


def test_a_question_that_was_taken_out_of_the_queue_leaves_the_run_alone():
    script = Script().ask().say("queued", "r2", text="And then?", steer=False)
    first, second = turns(script.end("stopped", "r2", seconds=None))
    assert first.status == "running"
    assert (second.status, second.question) == ("stopped", "And then?")


def test_todos_files_and_notices_are_steps_in_their_order():
    change = diff("a\n", "b\n", "/workspace/a.md")
    script = Script().ask()
    script.say("todos", todos=[{"content": "Read", "status": "completed"}], by="person")
    script.say("file", path="/workspace/a.md", action="changed", diff=change, size=2)
    script.say("warning", text="Careful").say("error", type="ModelError", text="No answer")
    todos, file, warning, error = script.turn.steps
    assert todos == Todos((("Read", "completed"),), "person")
    assert isinstance(file, FileChange)
    assert file.diff.startswith("--- /workspace/a.md\n+++")
    assert file.diff.endswith("\n-a\n+b")
    assert (warning, error) == (
        Notice("warning", "Careful"),
        Notice("error", "No answer", "ModelError"),
    )


def test_what_happens_between_runs_stands_behind_the_last():
    script = Script().ask().end().say("warning", run="", text="The folder is read-only")
    assert script.turn.steps == (Notice("warning", "The folder is read-only"),)
    assert Script().say("warning", run="", text="Careful").turn.status == "done"


# What is shown


class Page(HTMLParser):
    """Elements, attributes and text as a browser would find them; tags must be closed in order."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.attributes, self.words, self.open = [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in {"br", "hr", "meta", "input", "img"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def assert_harmless(self):
        forbidden = {"script", "img", "iframe", "object", "form", "link", "base", "video", "i"}
        assert not forbidden & set(self.tags)
        for tag, name, value in self.attributes:
            assert not name.startswith("on")
            assert name not in {"src", "srcset", "style", "action", "background"}
            if name == "href":
                assert (tag, value[:5]) == ("use", "#dnt-") or re.match(
                    r"(https?://|mailto:)", value
                )


def everything(text="text"):
    """Every kind of event, with `text` wherever there is a text."""
    script = Script().ask(text)
    inner = {"agent": text, "parent": "deep", "call": "c2"}
    request = {
        **APPROVAL,
        "action_requests": [
            {"name": text, "args": {text: text}, "description": text},
            {"name": text, "args": {"path": text}},
        ],
    }
    options = [{"id": text, "label": text}]
    edited = {"name": text, "args": {"path": text}}
    script.say("reasoning", id="m1", text=text).say("token", id="m1", text=text)
    script.say("todos", todos=[{"content": text, "status": text}], by=text)
    script.say(
        "todos", todos=[{"content": text, "status": s} for s in ("completed", "in_progress")]
    )
    script.use(text, "c1", text, args={"path": text, text: [text, {text: text}]})
    script.say("tool_call", name="task", id="c2", args={"description": text})
    script.say("subagent_started", **inner, id="c2", text=text).reply(text, "m2", **inner)
    script.say("subagent_ended", **inner, id="c2", status="error", seconds=61)
    script.say("file", path=text, action=text, diff=text, size=1, name=text)
    script.say("file", path="a.md", action="changed", diff=diff("a", text, "a.md"), size=1)
    script.say("interrupt_opened", id="q1", request=request)
    decisions = [{"type": "edit", "edited_action": edited}, {"type": "reject", "message": text}]
    script.say("interrupt_closed", id="q1", answer={"decisions": decisions}, by=text)
    for question in ({**CHOICE, "question": text, "options": options}, {"type": text}, text):
        script.say("interrupt_opened", id="q2", request=question)
        script.say(
            "interrupt_closed", id="q2", answer={"selected": [text], "freeform": text}, by=text
        )
    script.say("queued", text=text, steer=True).say("queued", "r2", text=text, steer=False)
    script.say("warning", text=text).say("error", type=text, text=text).say("node", name=text)
    script.say("usage", name=text, model=text, tokens_in=1, tokens_out=1, cost=0.1)
    script.reply(text, "m3").end("failed", text=text)
    script.ask(text, "r2").say("interrupt_opened", "r2", id=text, request=request)
    return script.ask("The last question", "r3").reply("The last words", "m9", "r3").end(run="r3")


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</details></summary></pre></code></style></main>",
    "</title><script>alert(1)</script>",
    "<!-- ",
    "<![CDATA[ <?php",
    "```\n# Mine\n<b onclick=x>",
    "````\n```\n~~~\n<script>",
    "~~~~~\nstill code",
    "[x](javascript:alert(1)) [y](java&#115;cript:alert(1)) <javascript:alert(1)>",
    "[x]\n\n[x]: javascript:alert(1)",
    "![x](https://example.org/pixel.png) ![y](data:image/png;base64,AAAA)",
    "!\\[x](https://example.org/) \\![a](https://example.org/b.png)",
    "`<i onclick=x>` ``` `` <b> ``` [a`](javascript:1)`",
    "&lt;script&gt; &#60;script&#62; &#10;&#10;<script>",
    "a|b\n-|-\n<script>|`x|<b>`",
    "> <script>\n- ```\n  <script>\n  ```\n1. x\n\n       <b>",
    "$$ <script> $$ \\\\[ <b> \\\\] \\begin{x} $![x](https://e.org/x)$ \\(<b>\\)",
    "$\\href{javascript:alert(1)}{x}$ `$$` <script> `$$`",
    "a\x00b\x1b[31mc\x7f\u202egnp.exe\u2028\ud83d \udc00 \ufffe\r\n\r",
    "\n\n\n",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_shows_hostile_text_and_does_nothing(text):
    page = Page(to_html(turns(everything(text)), text))
    page.assert_harmless()
    assert page.text.endswith("The last question 2026-03-02 14:03 UTC The last words Done 3.0 s")
    if text.strip() and "\x00" not in text and "&" not in text:
        assert " ".join(text.split()) in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_cards_show_hostile_text_and_do_nothing(text):
    read = turns(everything(text))
    about = {**dict.fromkeys(SESSION, text), "status": text}
    for card in [*map(run_card, read), session_card(read, **about)]:
        page = Page(card)
        page.assert_harmless()
        assert page.tags[:2] == ["div", "style"]


def assert_inert(markdown):
    """A reader that takes raw HTML finds none but ours, and the document to its end."""
    page = Page(MarkdownIt("js-default", {"html": True}).render(markdown))
    page.assert_harmless()
    prose = {"p", "h3", "h4", "h5", "h6", "em", "strong", "s", "a", "blockquote", "hr", "br"}
    lists = {"ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"}
    assert set(page.tags) <= prose | lists | {"h1", "h2", "details", "summary", "b"}
    assert page.tags.count("h1") == 1
    assert page.text.endswith("The last question 2026-03-02 14:03 UTC The last words Done · 3.0 s")


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_and_notebooks_of_hostile_text_are_inert(text):
    read = turns(everything(text))
    assert_inert(to_markdown(read, text))
    notebook = to_notebook(read, text)
    nbformat.validate(notebook)
    assert {cell.cell_type for cell in notebook.cells} == {"markdown"}
    assert_inert("\n\n".join(cell.source for cell in notebook.cells))


def test_no_mixture_of_marks_gets_through():
    marks = (
        re.findall(r"\S+|\s", " ".join(HOSTILE[:21])) + list("`*_~[]()!<>|$\\&#-=+\n") + ["\n\n"]
    )
    chance = random.Random(7)
    for _ in range(60):
        text = "".join(chance.choices(marks, k=chance.randint(2, 30)))
        read = turns(everything(text))
        assert_inert(to_markdown(read, "T"))
        Page(to_html(read, "T")).assert_harmless()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "data",
    [
        {},
        dict.fromkeys(("id", "text", "args", "todos", "request", "answer", "by", "seconds"), 7),
        {key: [{"a": None}] for key in ("id", "text", "role", "args", "todos", "request")},
        {"todos": [1, None, {}], "request": {"action_requests": [1], "options": [2]}, "cost": "x"},
        {"request": {"action_requests": [{}], "review_configs": 3}, "answer": {"decisions": [4]}},
        {"id": None, "text": {"a": 1}, "args": "x", "tokens_in": 10**400, "seconds": float("nan")},
    ],
)
def test_events_may_lack_anything(kind, data):
    for agent in ({}, {"agent": "a", "parent": "b", "call": "c"}):
        read = turns(Script().ask().say(kind, **agent, **data).say(kind, run="", **agent, **data))
        nbformat.validate(to_notebook(read, "T"))
        Page(to_html(read, "T"))
        Page(session_card(read, **SESSION))


def test_text_that_cannot_be_seen_is_spelled_out():
    assert turns(Script().ask("a\u202eb\x1bc\ud800"))[0].question == "a\\u202eb\\u001bc\\ud800"


def test_a_very_deep_argument_is_cut():
    args = {}
    for _ in range(3000):
        args = {"a": args}
    assert "…" in to_markdown(turns(Script().ask().use("x", "c1", args=args)), "T")


ORDINARY = """\
# Findings

Total *phosphorus* fell by **38 %**; see `notes_2023.md`, snake_case and C:\\data.
It cost $5, or $6 & more, 2 * 3 < 7.

> Quoted, on
> two lines.

1. one
2. two
   - nested
     - deeper

     with a second paragraph
   - again

- [site](https://example.org/a_b?c=1&d=2)
- ~~struck~~\\
  and broken

| a | b |
|:--|--:|
| 1 | `x` |
| *y* | z |

```python
print("`hello`")
```

***

Setext
------

+ other
"""


def test_ordinary_markdown_means_the_same_after_it_was_written_anew():
    once = rewrite(ORDINARY)
    assert render(once) == render(ORDINARY)
    assert rewrite(once) == once


def test_headings_of_an_answer_are_below_the_question():
    assert rewrite("# A\n\n## B") == "### A\n\n#### B"
    assert rewrite("### A\n\n###### B") == "### A\n\n###### B"


def test_formulas_stay_formulas_and_money_money():
    assert rewrite(r"$a_{i}^* \{x\} < 3$") == r"$a_{i}^* \{x\} \lt  3$"
    assert rewrite(r"so \(x_1\) and" + "\n\n" + r"\[ \frac{a}{b} \]") == (
        "so $x_1$ and\n\n" + r"$$ \frac{a}{b} $$"
    )
    aligned = r"$$\begin{aligned} a &= b \\ c &= d \end{aligned}$$"
    assert rewrite(aligned) == aligned
    assert rewrite(r"$\begin{a} \end{b}$") == r"\$&#92;begin{a} &#92;end{b}\$"
    assert rewrite("$5 or $6") == r"\$5 or \$6"
    assert render(r"$a_i * b_i * c$") == "<p><code>$a_i * b_i * c$</code></p>\n"


def test_code_with_tags_is_shown_as_it_is():
    page = Page(
        MarkdownIt("js-default", {"html": True}).render(rewrite("`<b>` and\n\n    <i>\n    x"))
    )
    assert page.text == "<b> and <i> x"
    assert page.tags == ["p", "code", "pre", "code"]


def test_a_huge_heap_of_brackets_is_shown_as_it_is():
    assert render("[" * 50_000) == f"<p>{'[' * 50_000}</p>\n"


def test_an_image_is_a_link_and_a_path_is_text():
    attributes = 'href="https://example.org/c.png" rel="noopener noreferrer nofollow"'
    assert render("![a chart](https://example.org/c.png)") == (
        f"<p><a {attributes}>a chart</a></p>\n"
    )
    assert render("[notes](/workspace/notes.md)") == "<p>notes (/workspace/notes.md)</p>\n"
    assert render("[n](//evil.example/x)") == "<p>n (//evil.example/x)</p>\n"


def test_a_diff_is_coloured_and_loses_no_line():
    # A removed comment of SQL looks like the head of a diff.
    change = diff("-- keep\n++ this\n", "x\n", "a.sql")
    script = Script().ask().say("file", path="a.sql", action="changed", diff=change)
    page = to_html(turns(script), "T")
    assert '<span class="dnt-del">--- keep\n</span>' in page
    assert '<span class="dnt-del">-++ this\n</span>' in page
    assert '<span class="dnt-add">+x\n</span>' in page
    assert "+++ a.sql" not in page
    assert "+1 \N{MINUS SIGN}2" in page


def test_a_page_allows_its_own_style_and_nothing_else():
    page = to_html(turns(everything()), "T")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert "url(" not in style
    assert "@import" not in style


def test_what_waits_is_open_and_says_how_to_answer():
    read = turns(Script().ask().say("interrupt_opened", id="q1", request=APPROVAL))
    shown = 'session.respond("q1", {"decisions": [{"type": "approve"}]})'
    assert shown in to_markdown(read, "T")
    assert shown in Page(to_html(read, "T")).text
    assert shown in Page(run_card(read[0])).text
    assert shown in Page(session_card(read, **SESSION)).text


def test_what_waits_for_a_browser_asks_nobody_to_type():
    script = Script().ask().say("interrupt_opened", id="q1", request=CLIENT)
    read = turns(script)
    pages = [to_html(read, "T"), run_card(read[0]), session_card(read, **SESSION)]
    for shown in [to_markdown(read, "T"), *(Page(page).text for page in pages)]:
        assert "Read “notes/a.md” in your files" in shown
        assert "There is nothing to type: the browser that has the files answers by itself" in shown
        assert "session.respond" not in shown
        assert "client_tool_execution" not in shown
    script.say("interrupt_closed", id="q1", answer={"result": "…"}, by="person")
    assert "in your files · answered</summary>" in to_markdown(turns(script), "T")


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("list_files", {"path": "/"}, "List your files"),
        ("patch_file", {"path": "/a.md", "search": "x"}, "Change “a.md” in your files"),
        ("glob_files", {"path": "/", "pattern": "*.{md}"},
         "Look in your files for names like “*.{md}”"),
        ("grep_files", {"path": "/notes", "pattern": "{where}"},
         "Look in “notes” in your files for lines with “{where}”"),
        ("search_files", {"query": "lake\ndepth"}, "Search your files for “lake depth”"),
        ("open_door", {"path": "/a"}, "Run open_door /a on your files"),
        ("read_file", "all", "Read your files"),
    ],
)  # fmt: skip
def test_what_is_asked_of_a_browser_is_told_in_words(tool, args, said):
    assert asked({"type": "client_tool_execution", "tool": tool, "args": args}) == said


@pytest.mark.parametrize(
    ("request_", "answer_type"),
    [
        (APPROVAL, interrupts.ApprovalAnswer),
        ({**APPROVAL, "action_requests": APPROVAL["action_requests"] * 2,
          "review_configs": [{"action_name": "x", "allowed_decisions": ["respond"]},
                             {"action_name": "x", "allowed_decisions": ["reject"]}]},
         interrupts.ApprovalAnswer),
        (CHOICE, interrupts.ChoiceAnswer),
        (OPEN, interrupts.TextAnswer),
        (BUDGET, interrupts.BudgetAnswer),
    ],
)  # fmt: skip
def test_the_python_that_a_card_shows_is_an_answer(request_, answer_type):
    turn = Script().ask().say("interrupt_opened", id='q"1', request=request_).turn
    (shown,) = re.findall(r"<pre>(session\.respond\(.*?)</pre>", run_card(turn))
    question, answer = ast.parse(html.unescape(shown), mode="eval").body.args
    assert ast.literal_eval(question) == 'q"1'
    answer_type.model_validate(ast.literal_eval(answer)).fit(request_)


@pytest.mark.parametrize(
    ("answer", "by", "said"),
    [
        ({"decisions": [{"type": "approve"}]}, "grant", "approved by an earlier permission"),
        ({"decisions": [{"type": "reject", "message": "Not yet"}]}, "person", "rejected: Not yet"),
        ({"response": "In 2019"}, "person", "In 2019"),
        ({"raise_to": 4.0}, "policy", "raised to 4.0 automatically"),
        ({"error": "no such file"}, "person", "failed: no such file"),
        ({"approved": False, "reason": "too much"}, "person", "rejected: too much"),
        ({"token": "cashuA123"}, "person", "paid"),
        (None, "stop", "not answered: the run ended"),
    ],
)
def test_a_decision_is_told_in_words(answer, by, said):
    script = Script().ask().say("interrupt_opened", id="q", request=BUDGET)
    read = turns(script.say("interrupt_closed", id="q", answer=answer, by=by))
    assert f"Raise it, or stop? · {said}</summary>" in to_markdown(read, "T")
    assert "cashuA123" not in to_html(read, "T")


def test_a_card_of_a_run_says_how_it_stands():
    script = Script().ask("How much?").use("grep", "c1", "x").use("grep", "c2", "y")
    script.say("usage", tokens_in=1204, tokens_out=88, cost=None)
    assert "● Running" in Page(run_card(script.turn)).text
    done = Page(run_card(script.reply("By **38 %**.").end().turn)).text
    assert "✓ Done 3.0 s · 1,204 tokens in · 88 out · price not known" in done
    assert "How much? grep \N{MULTIPLICATION SIGN}2 By 38 % ." in done
    failed = Page(run_card(script.end("failed", text="No answer. Try again.").turn)).text
    assert "✗ Failed" in failed
    assert "No answer. Try again. session.resume() tries again" in failed


def test_a_card_of_a_session_says_what_to_type_next():
    assert Page(session_card([], **SESSION)).text.endswith('session.ask("…") asks a question')
    script = Script()
    for number in range(5):
        script.ask(f"Question {number}", f"r{number}").reply(
            f"# Answer\n\n*{number}*", run=f"r{number}"
        )
        script.end(run=f"r{number}")
    text = Page(session_card(turns(script), **SESSION)).text
    assert "agent deep model offline thread t workspace . 2 questions before these" in text
    assert "✓ Question 4 Answer 4 session.ask" in text
    assert "Question 1" not in text


def test_what_was_taken_back_before_its_turn_is_not_in_it():
    script = Script().ask("Before?", "r1").reply("Yes.", run="r1").end(run="r1")
    script.say("queued", run="r2", text="My secret", steer=False)
    assert "My secret" in to_fragment(turns(script), "panel")
    script.say("run_ended", run="r2", status="stopped", text="", seconds=0, withdrawn=True)
    assert "My secret" not in to_fragment(turns(script), "panel")


def test_what_is_saved_with_a_notebook_is_the_end_and_has_no_headings():
    script = Script()
    for number in range(60):
        run = f"r{number}"
        script.ask(f"Question {number}?", run).reply(f"# Answer\n\n*{number}*", run=run).end(
            run=run
        )
    shown, before = latest(list(script))
    saved = to_fragment(shown, "panel", before)
    text = Page(saved).text
    assert "10 questions before these are in the thread." in text
    assert "Question 10? " in text
    assert "Question 9?" not in text
    assert not re.search("<h[1-6]", saved)  # JupyterLab's table of contents would list them
    assert '<p class="dnt-h dnt-h3" role="heading" aria-level="3"><b>Answer</b></p>' in saved


# Files


@pytest.mark.parametrize("suffix", [".md", ".html", ".ipynb", ".HTML"])
def test_a_transcript_is_written_by_its_suffix(tmp_path, suffix):
    script = Script().ask("Wie viel? µ\ud800").reply("Um 38 %.").end()
    path = write(tmp_path / f"t{suffix}", script, "Seeblick")
    text = path.read_text(encoding="utf-8")
    assert "Um 38 %." in text
    assert "µ" in text
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    if suffix == ".ipynb":
        nbformat.validate(json.loads(text))
        assert [cell.id for cell in nbformat.read(path, 4).cells] == [
            "title",
            "turn-1-question",
            "turn-1-answer",
        ]


def test_the_same_events_make_the_same_file(tmp_path):
    first, second = (write(tmp_path / name, everything(), "T") for name in ("a.ipynb", "b.ipynb"))
    assert first.read_bytes() == second.read_bytes()


def test_nothing_is_overwritten(tmp_path):
    path = tmp_path / "t.md"
    path.write_text("mine")
    (tmp_path / "link.md").symlink_to(tmp_path / "nowhere")
    for name in ("t.md", "link.md"):
        with pytest.raises(ExportError, match="exists, and is left as it is"):
            write(tmp_path / name, everything(), "T")
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["t.txt", "t", ".md"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(ExportError, match=r"\.md, \.html or \.ipynb"):
        write(tmp_path / name, everything(), "T")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ExportError, match="No such file or directory. Choose another place"):
        write(tmp_path / "nowhere" / "t.md", everything(), "T")
    assert list(tmp_path.iterdir()) == []


def test_reading_a_transcript_needs_no_model_library():
    code = (
        "import sys, deepnb.transcript;"
        "print({m.split('.')[0] for m in sys.modules}"
        " & {'langchain', 'langchain_core', 'langgraph', 'deepagents', 'pandas', 'nbformat'})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
