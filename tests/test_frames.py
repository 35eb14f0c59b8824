"""Events become DataFrames, whatever is in them and whatever a user does to what they got."""

from __future__ import annotations

import copy
import io
import math
import random
import threading
import time
import unicodedata

import numpy as np
import pandas as pd
import pytest

from deepnb import frames
from deepnb.errors import SessionError
from deepnb.events import KINDS, Event
from deepnb.frames import TIME, Frames, frame

START = 1_760_000_000.0
APPROVAL = {
    "type": "tool_approval",
    "action_requests": [{"name": "write_file", "args": {"file_path": "/workspace/a.md"}}],
    "review_configs": [{"action_name": "write_file", "allowed_decisions": ["approve"]}],
}
DIFF = "```diff\n--- /a.md\n+++ /a.md\n@@ -1,2 +1,3 @@\n # A\n--- old\n+++ new\n+more\n```"
FILES = [
    {"path": "/workspace/a.md", "home": "workspace", "size": 3, "modified": START},
    {"path": "/scratch/b.md", "home": "memory", "size": 0, "modified": None},
]
THREAD = {
    "thread": "thesis",
    "agent": "deep",
    "status": "idle",
    "question": "Why?",
    "runs": 1,
    "events": 9,
    "updated": START,
    "size": 4096,
}


def log(*happened):
    """Number what happened, a second apart: pairs of a kind and its data, or with more fields."""
    return [
        Event(seq, START + seq, kind, **{"agent": "deep", **fields, "data": data})
        for seq, (kind, data, fields) in enumerate(
            ((one[0], one[1], one[2] if len(one) > 2 else {}) for one in happened), start=1
        )
    ]


def since(events):
    return lambda seq: [event for event in list(events) if event.seq > seq]


def shown(*happened):
    return Frames(since(log(*happened)))


def summary(kind, data, **fields):
    return shown((kind, data, fields)).trace().summary[0]


def todos(*statuses_by_content, **fields):
    items = [{"content": content, "status": status} for content, status in statuses_by_content]
    return ("todos", {"todos": items}, fields)


def opened(identity, request):
    return ("interrupt_opened", {"id": identity, "request": request})


def closed(identity, answer=None, by="person"):
    return ("interrupt_closed", {"id": identity, "answer": answer, "by": by})


EVERYTHING = [
    ("queued", {"text": "Compare the drafts", "steer": False}),
    ("run_started", {"text": "Compare the drafts", "resumed": False}, {"run": "r1"}),
    ("message", {"id": "m1", "role": "user", "text": "Compare the drafts"}, {"run": "r1"}),
    ("reasoning", {"id": "m2", "text": "Hm"}),
    ("token", {"id": "m2", "text": "They "}),
    ("message", {"id": "m2", "role": "assistant", "text": "They differ."}, {"step": 3}),
    ("usage", {"model": "m", "tokens_in": 1204, "tokens_out": 88, "cost": 0.01}, {"name": "m"}),
    ("tool_call", {"id": "c1", "args": {"file_path": "/workspace/a.md"}}, {"name": "write_file"}),
    opened("q1", APPROVAL),
    closed("q1", {"decisions": [{"type": "approve"}]}),
    opened("q2", "Really?"),
    ("tool_result", {"id": "c1", "status": "ok", "text": "Done", "seconds": 0.2}),
    ("file", {"path": "/workspace/a.md", "action": "created", "diff": DIFF, "size": 9}),
    ("node", {"seconds": 0.25}, {"name": "tools", "node": "tools"}),
    todos(("read", "completed"), ("write", "in_progress"), ("check", "pending")),
    ("subagent_started", {"id": "c2", "text": "Look it up"}, {"agent": "sub", "parent": "deep"}),
    ("subagent_ended", {"id": "c2", "status": "ok", "seconds": 1.5}),
    ("source", {"id": "S1", "title": "Report", "passages": [{"text": "a"}, {"text": "b"}]}),
    ("report", {"counts": {"quoted": 2, "not found": 0, "uncited": 1}, "citations": []}),
    ("settled", {"citation": "C1", "by": "person", "note": "It is right."}),
    (
        "disclosed",
        {
            "what": "tool",
            "paths": ["/files/a.md", "/files/b.md"],
            "files": 2,
            "bytes": 90,
            "detail": "3 matching lines",
        },
        {"name": "grep_files"},
    ),
    ("payment", {"what": "deposit", "handle": "cashu:0", "amount": 1200, "fee": 1}),
    ("warning", {"text": "Careful"}),
    ("error", {"type": "ValueError", "text": "no"}),
    ("run_ended", {"status": "done", "text": "", "seconds": 3.2}, {"checkpoint": "1f0"}),
]


# Columns and dtypes


def test_the_trace_has_a_row_for_all_but_tokens_and_thoughts():
    trace = shown(*EVERYTHING).trace()
    assert " ".join(trace.columns) == (
        "seq time run step agent parent node kind name summary tokens_in tokens_out cost seconds "
        "checkpoint"
    )
    assert {kind for kind, *_ in EVERYTHING} == set(KINDS)
    assert set(trace.kind) == set(KINDS) - {"token", "reasoning"}
    assert list(trace.seq) == [1, 2, 3, *range(6, len(EVERYTHING) + 1)]
    assert isinstance(trace.index, pd.RangeIndex)


def test_the_trace_says_what_the_events_say():
    trace = shown(*EVERYTHING).trace().set_index("kind")
    assert trace.time["run_ended"] == pd.Timestamp(START + len(EVERYTHING), unit="s", tz="UTC")
    assert trace.loc["usage", ["tokens_in", "tokens_out", "cost"]].to_list() == [1204, 88, 0.01]
    assert trace.seconds["tool_result"] == 0.2
    assert trace.step["message"].to_list() == [pd.NA, 3]
    assert math.isnan(trace.cost["error"])
    assert trace.tokens_in["error"] is pd.NA
    assert trace.loc["subagent_started", ["agent", "parent"]].to_list() == ["sub", "deep"]
    assert trace.loc["run_ended", "checkpoint"] == "1f0"
    assert trace.loc["node", ["name", "node"]].to_list() == ["tools", "tools"]


FULL = shown(*EVERYTHING)
EMPTY = shown()


@pytest.mark.parametrize(
    ("full", "empty"),
    [
        (FULL.trace(), EMPTY.trace()),
        (FULL.messages(), EMPTY.messages()),
        (FULL.todos(), EMPTY.todos()),
        (FULL.usage(), EMPTY.usage()),
        (FULL.pending(), EMPTY.pending()),
        (FULL.files(FILES), EMPTY.files([])),
        (frames.threads([THREAD]), frames.threads([])),
        (
            frames.differences([("file", "/a.md", "here", "there")]),
            frames.differences([]),
        ),
    ],
    ids=["trace", "messages", "todos", "usage", "pending", "files", "threads", "differences"],
)
def test_an_empty_frame_has_the_dtypes_of_a_full_one(full, empty):
    assert len(full) > 0
    assert len(empty) == 0
    pd.testing.assert_series_equal(full.dtypes, empty.dtypes)


def test_dtypes_are_the_ones_to_compute_with():
    kinds = {name: str(dtype) for name, dtype in FULL.trace().dtypes.items()}
    assert kinds["time"] == TIME
    assert kinds["step"] == kinds["tokens_in"] == "Int64"
    assert kinds["cost"] == kinds["seconds"] == "float64"
    assert kinds["kind"] == kinds["summary"] == "str"
    assert kinds["seq"] == "int64"


def test_two_traces_can_be_put_together_and_filtered():
    both = pd.concat([FULL.trace(), EMPTY.trace(), FULL.trace()])
    pd.testing.assert_series_equal(both.dtypes, FULL.trace().dtypes)
    assert both[both.kind == "usage"].tokens_in.sum() == 2 * 1204


# Summaries


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("queued", {"text": "And then?"}, "asked: And then?"),
        ("queued", {"text": "Only 2020", "steer": True}, "for the next step: Only 2020"),
        ("run_started", {"text": "Why?"}, "Why?"),
        ("run_started", {"text": "Why?", "resumed": True}, "resumed: Why?"),
        ("message", {"role": "user", "text": "\n# A\n\nb"}, "user: # A b"),
        ("message", {"role": "assistant", "text": ""}, "assistant: (no text)"),
        ("tool_result", {"status": "ok", "text": "\nfirst\nsecond"}, "first"),
        ("tool_result", {"status": "error", "text": "No such file."}, "error: No such file."),
        ("tool_result", {"status": "ok", "text": ""}, "(no text)"),
        ("node", {"seconds": 0.25}, "done in 250 ms"),
        ("node", {"seconds": 0.25, "error": "KeyError: 'x'"}, "failed: KeyError: 'x'"),
        ("file", {"action": "deleted", "path": "/a.md"}, "deleted /a.md"),
        (
            "file",
            {"action": "changed", "path": "/a.md", "diff": DIFF},
            "changed /a.md (+2 \N{MINUS SIGN}1)",
        ),
        (
            "file",
            {"action": "created", "path": "/a.md", "diff": "@@ -0,0 +1,9 @@\n+a\n… 8 more lines"},
            "created /a.md (+1 \N{MINUS SIGN}0 and more)",
        ),
        ("subagent_started", {"text": "Look\nit up"}, "Look it up"),
        ("subagent_ended", {"status": "ok", "seconds": 125}, "done in 2 min 5 s"),
        ("subagent_ended", {"status": "stopped", "seconds": 3}, "stopped after 3.0 s"),
        ("usage", {"tokens_in": 1204, "tokens_out": 88}, "1,204 in, 88 out"),
        ("usage", {"tokens_in": 1204}, "1,204 in, ? out"),
        ("warning", {"text": "Careful"}, "Careful"),
        ("error", {"type": "ValueError", "text": "no"}, "ValueError: no"),
        ("run_ended", {"status": "done", "seconds": 3.2}, "done in 3.2 s"),
        ("run_ended", {"status": "failed", "text": "no key"}, "failed: no key"),
    ],
)
def test_a_summary_says_what_happened(kind, data, expected):
    assert summary(kind, data) == expected


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("write_file", {"file_path": "/workspace/n.md", "content": "x" * 999}, "/workspace/n.md"),
        ("grep", {"path": "/workspace/", "pattern": "lake"}, "lake /workspace/"),
        ("task", {"description": "Find it", "subagent_type": "reader"}, "reader Find it"),
        ("write_todos", {"todos": [{}, {}]}, "todos=2 items"),
        ("add", {"a": 1, "b": "two"}, "a=1 b=two"),
    ],
)
def test_a_call_is_told_by_the_arguments_that_say_what_it_is_about(name, args, expected):
    assert summary("tool_call", {"args": args}, name=name) == f"{name} {expected}"


def test_todos_are_counted_and_a_persons_edit_is_told():
    items = [{"content": str(n), "status": "completed" if n < 2 else "pending"} for n in range(5)]
    assert summary("todos", {"todos": items, "by": "deep"}) == "2 of 5 done"
    assert summary("todos", {"todos": items, "by": "person"}) == "2 of 5 done, edited by person"


@pytest.mark.parametrize(
    ("answer", "by", "expected"),
    [
        ({"decisions": [{"type": "approve"}]}, "person", "approved by person"),
        (
            {"decisions": [{"type": "reject", "message": "Not now"}]},
            "policy",
            "rejected by policy: Not now",
        ),
        (
            {"decisions": [{"type": "approve"}, {"type": "edit"}, {"type": "approve"}]},
            "grant",
            "2 approved, 1 edited by grant",
        ),
        ({"response": "after 2020"}, "person", "answered by person: after 2020"),
        ({"selected": ["a", "b"]}, "person", "answered by person: a, b"),
        ({"result": {"content": "x"}}, "person", "carried out by person"),
        ({"error": "gone"}, "person", "failed by person: gone"),
        ({"raise_to": 2.5}, "person", "limit raised by person: 2.5"),
        ({"stop": True}, "person", "stopped by person"),
        ({"token": "cashuA-money"}, "person", "paid by person"),
        (None, "stop", "closed by stop"),
    ],
)
def test_a_closed_question_says_how_and_by_whom(answer, by, expected):
    assert summary("interrupt_closed", {"answer": answer, "by": by}) == expected


def test_a_long_text_is_cut_and_joined_emoji_stay_whole():
    long = summary("warning", {"text": "word " * 10_000})
    assert len(long) <= 120
    assert long.endswith("…")
    assert summary("warning", {"text": "a\tfamily 👩‍👧\n"}) == "a family 👩‍👧"


# Hostile data

DEEP: list = []
for _ in range(5_000):
    DEEP = [DEEP]


class Broken:
    def __str__(self):
        raise RuntimeError("no text")


HOSTILE = [
    None,
    True,
    -1,
    10**30,
    10**5_000,
    -1e300,
    math.nan,
    math.inf,
    "",
    "\x00\x1b[31mred\x07\x9b\r\n\u2028\u2029\u202eevil\u2066\ufeff",
    "lone \ud800 surrogate \udfff",
    "\n" * 5_000 + "late",
    "x" * 100_000,
    "@@\n@@ \n+\n-",
    b"\xff",
    [],
    [None, 1, "x", {"status": {}}, {"content": [1], "status": [2]}],
    {},
    {"type": 5, "action_requests": [{"name": ["x"], "args": [1]}, 3], "tool": {"a": 1}},
    {"type": "budget_exhausted", "spent": "lots", "limit": None},
    {"action_requests": [{"name": f"tool_{n}", "args": {}} for n in range(100)]},
    {"decisions": [{"type": []}, {"message": ["\x1b"]}], "selected": 5},
    {1: 2, None: {"\x1b": DEEP}, (1, 2): 3},
    DEEP,
    Broken(),
]
KEYS = [
    *("id", "text", "steer", "resumed", "role", "args", "status", "seconds", "error", "todos"),
    *("by", "path", "action", "diff", "size", "request", "answer", "model", "tokens_in"),
    *("tokens_out", "cost", "type"),
]


@pytest.mark.parametrize("value", HOSTILE, ids=[str(n) for n in range(len(HOSTILE))])
def test_nothing_in_an_event_breaks_a_frame_or_leaves_the_line(value):
    data = [{}, value, *({key: value} for key in KEYS), dict.fromkeys(KEYS, value)]
    data.append({"id": "mine", "request": value})
    # In reverse, so that what is opened is not closed again.
    shown = Frames(since(log(*((kind, each) for kind in reversed(KINDS) for each in data))))
    trace, pending = shown.trace(), shown.pending()
    assert len(trace) == len(data) * (len(KINDS) - 2)
    assert "mine" in set(pending.id)
    files = shown.files([{"path": value, "home": value, "size": value, "modified": value}])
    for made in (trace, pending, files, shown.messages(), shown.todos(), shown.usage()):
        assert len(repr(made)) > 0
        made.drop(columns="request", errors="ignore").to_csv(io.BytesIO())  # which is UTF-8
    for line in [*trace.summary, *pending.question, *pending.type, *pending.tool]:
        assert len(line) <= 120
        assert not {unicodedata.category(c) for c in line} & {"Cc", "Cs", "Zl", "Zp"}
        assert not set("\u202e\u2066\ufeff") & set(line)


def test_names_of_any_type_are_texts():
    strange = Event(1, START, "tool_call", run=["r"], agent=5, name="a\ud800", step="x", data={})
    trace = Frames(since([strange])).trace()
    assert trace.loc[0, ["run", "agent", "name"]].to_list() == ["['r']", "5", "a\ufffd"]
    assert trace.step[0] is pd.NA


def test_a_text_that_begins_with_much_space_is_still_shown():
    assert summary("warning", {"text": "\n" * 5_000 + "late"}) == "late"


# Up to date by appending


def random_events(rng, number):
    whats = [
        *EVERYTHING,
        closed("q2"),
        opened("q3", {"question": "Which?"}),
        todos(("read", "pending")),
    ]
    return log(*(rng.choice(whats) for _ in range(number)))


@pytest.mark.parametrize("seed", range(5))
def test_in_pieces_it_is_the_same_as_at_once(seed):
    rng = random.Random(seed)
    events = random_events(rng, 3_000)
    at_once = Frames(since(events))
    happened: list[Event] = []
    in_pieces = Frames(since(happened))
    asked = [Frames.trace, Frames.messages, Frames.todos, Frames.usage, Frames.pending]
    while len(happened) < len(events):
        happened += events[len(happened) :][: rng.choice([1, 2, 7, 300, 1_200])]
        for get in rng.sample(asked, rng.randrange(len(asked))):
            get(in_pieces)
    for get in asked:
        whole, pieces = get(at_once), get(in_pieces)
        if get is Frames.todos:  # what is in progress takes longer from call to call
            whole, pieces = (df[df.status != "in_progress"] for df in (whole, pieces))
        pd.testing.assert_frame_equal(whole, pieces)
    pd.testing.assert_frame_equal(at_once.files(FILES), in_pieces.files(FILES))


@pytest.mark.parametrize("get", [Frames.trace, Frames.messages, Frames.usage, Frames.pending])
def test_the_second_time_only_what_is_new_is_read(get):
    events = random_events(random.Random(1), 20_000)
    handed = []

    def read(seq):
        new = events[seq:]
        handed.append(len(new))
        return new

    shown = Frames(read)
    get(shown)
    get(shown)
    events.append(events[0]._replace(seq=len(events) + 1))
    get(shown)
    assert handed == [20_000, 0, 1]


class Spoken:
    """Counts how often it is made a text; the first time, a person may interrupt."""

    def __init__(self, interrupted=False):
        self.times = 0
        self.interrupted = interrupted

    def __str__(self):
        self.times += 1
        if self.interrupted and self.times == 1:
            raise KeyboardInterrupt
        return "spoken"


def test_what_was_converted_is_not_converted_again():
    text, agent = Spoken(), Spoken()
    events = random_events(random.Random(4), 3_000)
    events[0] = events[0]._replace(kind="warning", agent=agent, data={"text": text})
    shown = Frames(lambda seq: events[seq:])
    for _ in range(3):
        trace = shown.trace()
        assert trace.loc[0, ["agent", "summary"]].to_list() == ["spoken", "spoken"]
        events.append(events[1]._replace(seq=len(events) + 1))
    assert (text.times, agent.times) == (1, 1)


def test_a_step_that_is_interrupted_is_made_again():
    cut = ("warning", {"text": Spoken(interrupted=True)})
    shown = Frames(since(log(*EVERYTHING, cut, ("warning", {}))))
    with pytest.raises(KeyboardInterrupt):
        shown.trace()
    assert shown.trace().summary.to_list()[-2:] == ["spoken", ""]
    assert len(shown.trace()) == len(EVERYTHING)


def test_an_interrupted_sum_counts_nothing_twice():
    shown = Frames(since(log(used("m"), used(Spoken(interrupted=True)))))
    with pytest.raises(KeyboardInterrupt):
        shown.usage()
    assert shown.usage().set_index("model").calls.to_dict() == {"m": 1, "spoken": 1}


def test_threads_may_ask_at_once_while_more_happens():
    events = random_events(random.Random(2), 3_000)
    seqs = [event.seq for event in events if event.kind not in {"token", "reasoning"}]
    happened: list[Event] = []
    handed: list[int] = []
    wrong: list[object] = []

    def read(seq):
        new = happened[seq:]
        time.sleep(0.001)  # and let the others run, as a disk would
        handed.append(len(new))
        return new

    shown = Frames(read)

    def ask():
        is_last = False
        while not is_last:
            is_last = len(happened) == len(events)
            got = shown.trace().seq.to_list()
            if got != seqs[: len(got)] or (is_last and got != seqs):
                wrong.append(got)

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for start in range(0, len(events), 50):
        happened += events[start : start + 50]
        time.sleep(0.001)
    for asker in askers:
        asker.join()
    assert not wrong
    assert sum(handed) == len(events)


# What a user does to a frame


def spoil(df):
    for column in df.columns:
        values = df[column].array
        if len(values) > 1 and not isinstance(values, pd.arrays.NumpyExtensionArray):
            values[0] = values[1]
    df.iloc[0, 0] = df.iloc[-1, 0]
    df.index.name = df.columns.name = "spoilt"
    df.attrs["spoilt"] = True
    del df[df.columns[-1]]
    df["new"] = 1


@pytest.mark.parametrize("get", [Frames.trace, Frames.messages, Frames.todos, Frames.usage])
@pytest.mark.parametrize("number", [100, 2_500])
def test_what_a_user_does_to_a_frame_harms_no_other(get, number):
    events = random_events(random.Random(3), number)
    shown, untouched = Frames(since(events)), Frames(since(events))
    spoil(get(shown))
    again = get(shown)
    expected = get(untouched)
    if get is Frames.todos:
        again, expected = (df.drop(columns="seconds") for df in (again, expected))
    pd.testing.assert_frame_equal(again, expected)
    assert again.index.name is again.columns.name is None
    assert not again.attrs


def test_a_request_that_is_changed_is_not_the_logs():
    events = log(opened("q", APPROVAL))
    before = copy.deepcopy(APPROVAL)
    shown = Frames(since(events))
    shown.pending().request[0]["action_requests"][0]["args"]["file_path"] = "/etc/passwd"
    assert shown.pending().request[0] == before
    assert events[0].data["request"] == before


# Messages, todos, usage


def test_messages_are_the_conversation_with_the_person():
    subagents = {"agent": "sub", "parent": "deep"}
    said = {"role": "assistant", "text": "to each other"}
    messages = shown(*EVERYTHING, ("message", said, subagents)).messages()
    assert list(messages.columns) == ["seq", "time", "run", "role", "agent", "text"]
    assert list(messages.role) == ["user", "assistant"]
    assert list(messages.text) == ["Compare the drafts", "They differ."]


def test_a_message_is_given_whole():
    text = "# Title\n\n" + "long " * 1_000
    assert shown(("message", {"role": "user", "text": text})).messages().text[0] == text


def at(seq):
    return pd.Timestamp(START + seq, unit="s", tz="UTC")


def test_a_todo_remembers_when_each_status_began():
    plan = shown(
        todos(("a", "pending"), ("b", "pending")),
        todos(("a", "in_progress"), ("b", "pending")),
        todos(("a", "in_progress"), ("b", "completed")),
        todos(("a", "completed"), ("b", "completed")),
    ).todos()
    assert " ".join(plan.columns) == "content status pending in_progress completed seconds"
    assert plan.loc[0, "pending":].to_list() == [at(1), at(2), at(4), 2.0]
    assert plan.loc[1, "completed"] == at(3)
    assert plan.loc[1, ["in_progress", "seconds"]].isna().all()


def test_what_was_in_progress_twice_took_both_times():
    plan = shown(
        todos(("a", "in_progress")),
        todos(("a", "pending")),
        todos(("a", "in_progress")),
        todos(("a", "in_progress"), ("b", "pending")),
        todos(("a", "completed")),
    ).todos()
    assert plan.loc[0, "pending":].to_list() == [at(2), at(3), at(5), 3.0]


def test_what_is_in_progress_counts_until_now():
    begun = time.time() - 1_000
    event = log(todos(("a", "in_progress")))[0]._replace(time=begun)
    plan = Frames(since([event])).todos()
    assert 1_000 <= plan.seconds[0] <= time.time() - begun


def test_the_last_list_counts_and_what_was_removed_or_renamed_is_new():
    plan = shown(
        todos(("a", "completed"), ("b", "pending"), ("c", "pending")),
        todos(("c", "pending"), ("B", "pending")),
        todos(("c", "pending"), ("a", "pending"), ("B", "pending")),
    ).todos()
    assert list(plan.content) == ["c", "a", "B"]
    assert list(plan.pending) == [at(1), at(3), at(2)]
    assert plan.completed.isna().all()


def test_equal_todos_are_told_apart_by_their_place():
    plan = shown(
        todos(("a", "pending"), ("a", "pending")),
        todos(("a", "completed"), ("x", "pending"), ("a", "pending")),
    ).todos()
    assert list(plan.status) == ["completed", "pending", "pending"]
    assert list(plan.pending) == [at(1), at(2), at(1)]


def test_a_subagents_list_and_one_that_is_none_change_nothing():
    plan = shown(
        todos(("a", "pending")),
        todos(("b", "pending"), agent="sub", parent="deep"),
        ("todos", {"todos": "c"}),
    ).todos()
    assert list(plan.content) == ["a"]
    assert shown(todos(("a", "pending")), todos()).todos().empty


def used(model, agent="deep", tokens_in=10, tokens_out=1, cost=0.5):
    data = {"model": model, "tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost}
    return ("usage", data, {"agent": agent})


def test_usage_is_summed_by_model_and_agent():
    usage = shown(used("m"), used("m", "sub"), used("n"), used("m")).usage()
    assert list(usage.columns) == ["model", "agent", "calls", "tokens_in", "tokens_out", "cost"]
    assert usage.to_numpy().tolist() == [
        ["m", "deep", 2, 20, 2, 1.0],
        ["m", "sub", 1, 10, 1, 0.5],
        ["n", "deep", 1, 10, 1, 0.5],
    ]


def test_a_sum_with_an_unknown_part_is_unknown():
    usage = shown(used("m"), used("m", cost=None), used("m"), used("n", tokens_in=None)).usage()
    assert usage.loc[0, ["calls", "tokens_in"]].to_list() == [3, 30]
    assert math.isnan(usage.cost[0])
    assert usage.tokens_in[1] is pd.NA
    assert usage.loc[1, ["tokens_out", "cost"]].to_list() == [1, 0.5]


def test_a_sum_too_large_for_a_column_is_unknown_and_no_error():
    usage = shown(used("m", tokens_in=2**62), used("m", tokens_in=2**62)).usage()
    assert usage.tokens_in[0] is pd.NA


def test_without_a_model_the_events_name_says_it():
    assert shown(("usage", {}, {"name": "m"})).usage().model[0] == "m"


# Pending questions


def test_what_is_open_and_not_closed_is_pending_in_its_order():
    pending = shown(opened("a", 1), opened("b", 2), opened("c", 3), closed("b"), opened("a", 4))
    assert list(pending.pending().id) == ["c", "a"]
    assert list(pending.pending().request) == [3, 4]
    assert list(pending.pending().opened) == [at(3), at(5)]


TWO = {
    "action_requests": [
        {"name": "write_file", "args": {"file_path": "/a.md"}},
        {"name": "edit_file", "args": {"file_path": "/b.md"}},
        {"name": "write_file", "args": {"file_path": "/c.md"}},
    ],
    "review_configs": [],
}


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (APPROVAL, ("tool_approval", "write_file", "Approve write_file /workspace/a.md?")),
        (
            TWO,
            (
                "tool_approval",
                "write_file, edit_file",
                "Approve write_file /a.md, edit_file /b.md, write_file /c.md?",
            ),
        ),
        (
            {"type": "clarification_request", "tool": "ask_user", "question": "Which\nlake?"},
            ("clarification_request", "ask_user", "Which lake?"),
        ),
        (
            {"type": "client_tool_execution", "tool": "read_file", "args": {"path": "n.md"}},
            ("client_tool_execution", "read_file", "Run read_file n.md where the files are"),
        ),
        (
            {"type": "payment_exhausted", "price": 2, "balance": 1, "mints": []},
            ("payment_exhausted", "", "A call costs 2 sat, with 1 left. Pay in a token?"),
        ),
        (
            {"type": "budget_exhausted", "unit": "usd", "limit": 1.5, "spent": 1.5004},
            ("budget_exhausted", "", "1.5004 of 1.5 usd are spent. Raise the limit?"),
        ),
        (
            {"type": "budget_exhausted", "unit": "usd", "limit": 0.00001, "spent": 0.5},
            ("budget_exhausted", "", "0.5 of 0 usd are spent. Raise the limit?"),
        ),
        (
            {"type": "budget_exhausted", "unit": "calls", "limit": 1200.0, "spent": 1200},
            ("budget_exhausted", "", "1,200 of 1,200 calls are spent. Raise the limit?"),
        ),
        ("Go on?", ("question", "", "Go on?")),
        ({"message": "Go on?"}, ("question", "", "Go on?")),
        ({"type": "review", "draft": 3}, ("review", "", "{'type': 'review', 'draft': 3}")),
        (["a", 1], ("question", "", "['a', 1]")),
    ],
)
def test_a_question_says_what_is_asked(request_, expected):
    pending = shown(opened("q", request_)).pending()
    assert tuple(pending.loc[0, ["type", "tool", "question"]]) == expected
    assert pending.loc[0, "request"] == request_
    assert summary(*opened("q", request_)) == expected[2]


# Files, threads, differences


def by(events, modified, path="/workspace/a.md"):
    row = {"path": path, "home": "workspace", "size": 1, "modified": modified}
    return Frames(since(log(*events))).files([row]).by[0]


def wrote(agent, action="changed"):
    return ("file", {"path": "/workspace/a.md", "action": action}, {"agent": agent})


def test_a_file_is_by_the_agent_that_changed_it_last():
    assert by([wrote("deep"), wrote("sub")], START + 2) == "sub"
    assert by([wrote("deep")], None) == "deep"


@pytest.mark.parametrize(
    ("events", "modified"),
    [
        ([], START),
        ([wrote("deep")], START + 1 + 2.5),
        ([wrote("deep"), wrote("deep", "deleted")], START + 2),
        ([wrote("deep"), wrote("")], START + 2),
    ],
    ids=["never told of", "changed later", "written again after it was deleted", "by the session"],
)
def test_a_file_is_a_persons_if_no_agent_changed_it_last(events, modified):
    assert by(events, modified) == "person"


def test_disclosures_say_what_has_left_the_browser():
    (row,) = shown(*EVERYTHING).disclosures().to_dict("records")
    assert (row["what"], row["tool"], row["path"]) == (
        "tool",
        "grep_files",
        "/files/a.md, /files/b.md",
    )
    assert (row["files"], row["bytes"], row["detail"]) == (2, 90, "3 matching lines")
    trace = shown(*EVERYTHING).trace().set_index("kind")
    assert trace.summary["disclosed"] == (
        "left the browser: 3 matching lines of /files/a.md and 1 more"
    )


def test_a_write_may_end_a_moment_after_its_event():
    assert by([wrote("deep")], START + 1 + 1.5) == "deep"


def test_files_have_homes_sizes_and_times():
    files = shown(*EVERYTHING).files(FILES)
    assert list(files.columns) == ["path", "home", "size", "modified", "by", "state", "other"]
    assert list(files.home) == ["workspace", "memory"]
    assert list(files["size"]) == [3, 0]
    assert files.modified[0] == at(0)
    assert files.modified[1] is pd.NaT
    assert list(files.by) == ["deep", "person"]


def test_a_thread_that_cannot_be_read_is_listed_with_what_is_known():
    listed = frames.threads([THREAD, {"thread": "old", "status": "damaged", "size": 5}])
    assert list(listed.columns) == list(THREAD)
    assert list(listed.updated) == [at(0), pd.NaT]
    assert listed.loc[1, ["agent", "question", "runs", "events"]].isna().all()


def test_what_one_side_lacks_is_missing():
    found = frames.differences([("message", 3, "a", None), ("file", "/a.md", None, "b")])
    assert list(found.columns) == ["what", "where", "here", "there"]
    assert list(found["where"]) == ["3", "/a.md"]
    assert found.here.isna().to_list() == [False, True]
    assert found.there.isna().to_list() == [True, False]


# The building block


COLUMNS = {"name": "str", "count": "Int64", "score": "float64", "at": TIME, "ok": "bool"}


def test_rows_come_in_order_or_by_name():
    in_order = frame(COLUMNS, [("a", 1, 0.5, START, True)])
    by_name = frame(COLUMNS, [{"ok": True, "at": START, "score": 0.5, "count": 1, "name": "a"}])
    pd.testing.assert_frame_equal(in_order, by_name)
    assert [str(dtype) for dtype in in_order.dtypes] == list(COLUMNS.values())


def test_what_does_not_fit_is_missing():
    wrong = frame(COLUMNS, [(None, "1", "0.5", "now", False), (None, 1.5, True, math.inf, False)])
    assert wrong.drop(columns="ok").isna().all(axis=None)


def test_numbers_of_numpy_fit():
    numbers = frame(
        COLUMNS, [("a", np.int64(2**60 + 1), np.float32(0.5), np.float64(START), np.True_)]
    )
    assert numbers["count"][0] == 2**60 + 1
    assert numbers["score"][0] == 0.5
    assert numbers["at"][0] == at(0)


def test_a_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        frame(COLUMNS, [("a", 1)])
    with pytest.raises(ValueError, match="zip"):
        frame({"a": "str", "b": "str"}, [("x", "y"), ("x",)])


def test_lists_of_one_length_stay_lists():
    assert list(frame({"x": "object"}, [([1, 2],), ([3, 4],)]).x) == [[1, 2], [3, 4]]


@pytest.mark.parametrize("microseconds", [1_760_000_000_123_457, 0, -546_780_799_607])
def test_times_are_exact_to_the_microsecond(microseconds):
    times = frame({"t": TIME}, [(microseconds / 1e6,)]).t
    assert times[0] == pd.Timestamp(microseconds, unit="us", tz="UTC")


def test_times_too_far_away_are_missing():
    assert frame({"t": TIME}, [(1e18,), (-1e11,)]).t.isna().all()


# A todo list that a person has edited


def test_an_edited_todo_list_is_read_back():
    plan = shown(*EVERYTHING).todos()
    plan.loc[0, "content"] = "read again"
    plan.loc[len(plan), ["content", "status"]] = ["publish", "pending"]
    assert frames.todo_list(plan) == [
        {"content": "read again", "status": "completed"},
        {"content": "write", "status": "in_progress"},
        {"content": "check", "status": "pending"},
        {"content": "publish", "status": "pending"},
    ]


@pytest.mark.parametrize(
    ("todos", "message"),
    [
        (pd.DataFrame({"content": ["a"]}), "columns content and status"),
        ([{"content": "a", "status": "pending"}], "columns content and status"),
        (pd.DataFrame({"content": ["a", " "], "status": ["pending"] * 2}), "row 1 has no content"),
        (pd.DataFrame({"content": ["a"], "status": ["done"]}), "'done'.*completed"),
        (pd.DataFrame({"content": ["a"], "status": [pd.NA]}), "row 0 has the status"),
    ],
)
def test_a_todo_list_that_is_none_is_refused_with_a_reason(todos, message):
    with pytest.raises(SessionError, match=message):
        frames.todo_list(todos)
