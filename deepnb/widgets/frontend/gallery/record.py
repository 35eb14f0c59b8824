"""Writes `states/*.json`: what the kernel would tell a view, from real sessions with a script."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[4]))

from langchain_core.messages import AIMessage

from deepnb import Session
from deepnb.middleware.clarify import ask_choices, ask_user
from deepnb.testing import call
from deepnb.widgets.switchboard import Switchboard
from tests.sessions import Gate, ask, opening, subagent, task, until

STATES = Path(__file__).parent / "states"
STARTERS = {
    "Trace a claim": "Who first blamed the induction coils for the failure of 1858?",
    "Compare sources": "Where do the company minutes and the 1861 inquiry disagree?",
    "Build a timeline": "Every cable expedition from 1857 to 1866, each date with its source.",
    "Read a table": "How did words per minute change from cable to cable in cable-costs.csv?",
}
ACTIONS = ["Summarise new files", "Find contradictions", "List open questions"]
QUESTION = "Why did the 1858 Atlantic cable stop working after three weeks?"

REPORT = r"""## Why the 1858 cable fell silent

The cable carried its first message on **16 August 1858** and its last readable one on 1 September.
Two explanations were on the table within a month, and the papers *never fully agree*.

### A weak core, driven hard

- The inquiry put the working tension near 2,000 volts.
- The core had been coiled in the sun at Greenwich.
  - It was strained again in the laying.

| Cable | Copper, lb per mile | Insulation, lb per mile |
|:------|--------------------:|------------------------:|
| 1858  | 107 | 261 |
| 1866  | 300 | 400 |

Delay grows with the square of the length, $\tau \approx R\,C\,\ell^2$:

$$\tau = \frac{R C \ell^2}{2}, \qquad R = \frac{\rho}{A}$$

```python
df = session.citations
df[df.verdict != "quoted"]
```

> It is the opinion of the Committee that the coils were put to the line at too high a tension.

1. First the minutes.
2. Then the inquiry, at [example.org](https://example.org/inquiry).

A picture: ![the cable](https://tracker.example/cable.png) and `inline code`.
"""


def save(name: str, session: Session, edit: Callable[[Any], None] = lambda news: None) -> None:
    """Write what a view of a session is told first."""
    board = Switchboard(session, show=lambda _, *, is_guest: None, poke=lambda: None)
    board.starters = [{"title": title, "text": text} for title, text in STARTERS.items()]
    board.actions = [{"label": text, "text": text} for text in ACTIONS]
    hello = {"type": "hello", "id": "1", "view": "v", "thread": session.thread}
    reply, _ = board.receive({**hello, "version": 1, "host": ""})
    news = reply["result"]
    edit(news)
    (STATES / f"{name}.json").write_text(json.dumps(news, indent=1) + "\n")
    print(name, len(news["events"]))


def thinking(text: str, *calls: Any) -> AIMessage:
    """Let a scripted model think aloud before it acts."""
    made = [{"name": c.name, "args": c.args, "id": f"think-{n}"} for n, c in enumerate(calls)]
    return AIMessage("", additional_kwargs={"reasoning_content": text}, tool_calls=made)


def plan(done: int) -> Any:
    """Let it write its todos."""
    names = [
        "Find what the company minutes say",
        "Read the 1861 inquiry on voltage",
        "Check the state of the insulation",
        "Weigh the two explanations",
        "Write the report and check its quotes",
    ]
    status = ["completed"] * done + ["in_progress"] + ["pending"] * 5
    return call("write_todos", todos=[{"content": n, "status": s} for n, s in zip(names, status)])


THOUGHT = (
    "Keep voltage and insulation apart; company papers first. The question has two parts that are "
    "easy to run together: what was done to the line, and what state it was in."
)


def model_is_ready(news: Any) -> None:
    """Show a model as if it were a real one."""
    news["facts"]["model"] |= {"name": "ollama:qwen3:8b", "rule": "from OLLAMA_HOST"}
    news["facts"]["model"] |= {"state": "ready", "can_switch": True}
    news["facts"]["title"] = "Why the 1858 cable failed"


def record(open_session: Callable[..., Session], workspace: Path) -> None:
    """Play every scene."""
    (workspace / "notes").mkdir()
    (workspace / "notes/1858-cable.md").write_text(
        "# The 1858 cable\n\n## Why it failed\n\n- Whitehouse burnt out the cable\n  with 2,000 volts.\n"
        "\n- Queen's message: 98 words in 16 hours\n- Speeds: see cable-costs.csv\n"
    )
    (workspace / "minutes.txt").write_text(
        "The fault lies within three hundred miles of the shore.\n"
    )
    save("empty", open_session("deep", thread="empty"))
    report(open_session)
    streaming(open_session)
    approval(open_session)
    clarification(open_session)
    budget(open_session)
    failed(open_session)
    long(open_session)
    research(open_session)


def report(open_session: Callable[..., Session]) -> None:
    script = [
        thinking(THOUGHT, plan(0)),
        [
            call("grep", pattern="fault", path="/workspace"),
            call("read_file", file_path="/workspace/minutes.txt"),
        ],
        plan(5),
        REPORT,
        "It was *both*: a weak core, and too much tension.",
    ]
    session = open_session(script, thread="report")
    ask(session, QUESTION + " Start with the company papers.")
    ask(session, "In one sentence?")
    save("report", session, model_is_ready)


def streaming(open_session: Callable[..., Session]) -> None:
    gate = Gate()
    reader = subagent(
        "insulation-reader",
        [call("glob", pattern="**/*.txt"), call("hold"), "The core was weak."],
        tools=[gate.tool()],
    )
    script = [
        thinking(THOUGHT, plan(2)),
        call("read_file", file_path="/workspace/minutes.txt"),
        task("insulation-reader", "Find what the logs say about the insulation."),
        "Done.",
        "Later.",
    ]
    session = open_session(script, thread="streaming", subagents=[reader])
    session.ask(QUESTION + " Start with the company papers.")
    until(gate.reached.is_set)
    session.ask("Also say what the Valentia operators saw in the last week.")

    def add_words(news: Any) -> None:
        model_is_ready(news)
        text = "The company's own minutes put the loss down to a fault “within three hundred miles of the Irish shore” and say nothing of the coils. The inquiry two years later is less polite: it puts the working tension near 2,000 volts and describes a core that was weak before"
        last, run = news["events"][-1], news["events"][1]["run"]
        common = {
            "time": last["time"],
            "kind": "token",
            "run": run,
            "agent": "deep",
            "node": "model",
        }
        news["last"] += 1
        news["events"].append({**common, "seq": news["last"], "data": {"id": "m", "text": text}})

    save("streaming", session, add_words)
    gate.opened.set()


def approval(open_session: Callable[..., Session]) -> None:
    edit = call(
        "edit_file",
        file_path="/workspace/notes/1858-cable.md",
        old_string="- Whitehouse burnt out the cable\n  with 2,000 volts.\n",
        new_string="- Whitehouse's coils drove the line at about\n  2,000 volts. The inquiry held the core faulty.\n",
    )
    write = call(
        "write_file", file_path="/workspace/sources/appendix-9.html", content="<h1>Appendix</h1>\n"
    )
    read = call("read_file", file_path="/workspace/notes/1858-cable.md")
    session = open_session([read, [edit, write], "Corrected."], thread="approval")
    ask(
        session, "Correct my notes, and get the inquiry's appendix on gutta-percha if it is online."
    )
    save("approval", session, model_is_ready)
    save("disconnected", session, model_is_ready)


def clarification(open_session: Callable[..., Session]) -> None:
    speeds = [
        {"id": "service", "label": "Words per minute in service"},
        {"id": "trials", "label": "Words per minute in trials"},
        {"id": "signal", "label": "Seconds per signal"},
    ]
    columns = [
        {"id": name, "label": name}
        for name in ("outlay_gbp", "repair_gbp", "subscr_1860", "tariff")
    ]
    single = call(
        "ask_choices",
        question="“Speed” is measured three ways in your papers. Which one should the chart use?",
        options=speeds,
        allow_freeform=True,
    )
    several = call(
        "ask_choices",
        question="Which of these columns hold costs?",
        options=columns,
        allow_multiple=True,
    )
    for name, step in (
        ("clarification", single),
        ("clarification-several", several),
        ("clarification-text", call("ask_user", question="Which cable do you mean?")),
    ):
        session = open_session([step, "Thanks."], thread=name, tools=[ask_user, ask_choices])
        ask(session, "Chart how fast the Atlantic cables were.")
        save(name, session, model_is_ready)


def budget(open_session: Callable[..., Session]) -> None:
    from deepnb.middleware import Budget

    session = open_session(
        [call("ls", path="/workspace"), "Enough."], thread="budget", budget=Budget(calls=1)
    )
    ask(session, QUESTION)
    save("budget", session, model_is_ready)


def failed(open_session: Callable[..., Session]) -> None:
    session = open_session(
        [call("ls", path="/workspace"), RuntimeError("The model server has hung up.")],
        thread="failed",
    )
    ask(session, QUESTION)
    save("failed", session, model_is_ready)


def long(open_session: Callable[..., Session]) -> None:
    session = open_session(
        lambda messages: f"Answer **{len(messages)}**, with `code`.", thread="long"
    )
    for number in range(4):
        ask(session, f"Question {number}")
    save("long", session, model_is_ready)


SOURCES = [
    ("file", "Minutes of the company, 1858", "minutes-1858.pdf", [
        ("p. 38", "The first message was passed on the 16th of August, ninety-eight words in sixteen hours."),
        ("p. 41", "The electrician reports a fault within three hundred miles of the Irish shore. The last words that could be read were taken on the 1st of September. The directors ask for patience."),
    ]),
    ("file", "Report of the Joint Committee, 1861", "inquiry-1861.pdf", [
        ("p. 215", "The evidence of the men at the works was to the same effect, and we have no cause to doubt it. We are satisfied that the core was imperfect before it had left the yard, and that no care in the laying could have made it good. Of the coils we say only that they hastened what was already begun."),
        ("p. 219", "The defect cannot be assigned to one place; it was general. The coils worked at some 2,000 volts."),
    ]),
    ("page", "Letters of a cable engineer", "https://example.org/letters/1858", [
        ("¶ 12", "I wrote to nobody that summer, and nobody wrote to me."),
    ]),
    ("note", "Valentia station log", "note 1", [
        ("line 412", "With the reflecting instrument the smallest battery sufficed, and the clerks preferred it."),
    ]),
    ("tool", "search_web", "search_web", [("", "Appendix 9: on gutta-percha and its faults.")]),
]  # fmt: skip
CHECKED = """## Why the 1858 cable fell silent

The cable carried its first message on 16 August 1858, and “the last words that could be read were taken on the 1st of September” [S1]. Two explanations were on the table within a month.

### A weak core, driven hard

The inquiry was blunt: “the core was imperfect before it had left the yard” [S2]. Induction coils then worked at “some 2,000 volts” [S1]. Operators at Valentia had already turned to Thomson's galvanometer, which needed far less [S4]. That the company's electrician “was warned in writing in July” [S5] could not be confirmed.

- The minutes speak of a fault near Ireland [S1][S2].
- In code, `[S1]` is no mark.

Nobody was ever paid back.
"""


def sources() -> dict[str, Any]:
    """Make what was read."""
    return {
        f"S{number}": {
            "id": f"S{number}", "kind": kind, "title": title, "location": location, "read": 1_800_000_000,
            "passages": [{"text": text, "place": place} for place, text in passages],
        }
        for number, (kind, title, location, passages) in enumerate(SOURCES, start=1)
    }  # fmt: skip


def citation(
    number: int, mark: int | None, verdict: str, claim: str, **more: Any
) -> dict[str, Any]:
    """Make a row of a checked report; its quote is looked up in `at`, a source and a passage."""
    at, quote = more.pop("at", None), more.get("quote", "")
    row = {
        "id": f"C{number}", "claim": claim, "quote": "", "source": "", "place": "", "found_in": "",
        "verdict": verdict, "passage": None, "start": None, "end": None, "mark": mark, **more,
    }  # fmt: skip
    if at:
        passage = sources()[at[0]]["passages"][at[1]]
        start = passage["text"].lower().find(quote.lower()) if quote else -1
        row |= {"passage": at[1], "place": passage["place"]}
        row |= {"start": start, "end": start + len(quote)} if start >= 0 else {}
    return row


def checked() -> dict[str, Any]:
    """Make a report with every verdict."""
    matched = "source matched, support not verified"
    last = "the last words that could be read were taken on the 1st of September"
    core = "the core was imperfect before it had left the yard"
    rows = [
        citation(1, 0, "quoted", f"The cable carried its first message, and “{last}”.", quote=last, source="S1", at=("S1", 1)),
        citation(2, 1, "quoted", f"The inquiry was blunt: “{core}”.", quote=core, source="S2", at=("S2", 0)),
        citation(3, 2, "misattributed", "Induction coils then worked at “some 2,000 volts”.", quote="some 2,000 volts", source="S1", found_in="S2", at=("S2", 1)),
        citation(4, 3, matched, "Operators at Valentia had already turned to Thomson's galvanometer, which needed far less.", source="S4", at=("S4", 0)),
        citation(5, 4, "not found", "That the company's electrician “was warned in writing in July” could not be confirmed.", quote="was warned in writing in July", source="S5"),
        citation(6, 5, matched, "The minutes speak of a fault near Ireland.", source="S1", at=("S1", 1)),
        citation(7, 6, matched, "The minutes speak of a fault near Ireland.", source="S2", at=("S2", 1)),
        citation(8, None, "uncited", "Nobody was ever paid back."),
    ]  # fmt: skip
    sides = [
        {"source": "S1", "place": "p. 41", "passage": 1, "text": "The electrician reports a fault within three hundred miles of the Irish shore."},
        {"source": "S2", "place": "p. 219", "passage": 1, "text": "The defect cannot be assigned to one place; it was general."},
    ]  # fmt: skip
    conflict = {"about": ["fault", "place"], "why": "a negation", "sides": sides}
    counts = {"quoted": 2, "misattributed": 1, "not found": 1, matched: 3, "uncited": 1}
    return {
        "text": CHECKED,
        "citations": rows,
        "conflicts": [conflict],
        "counts": counts,
        "removed": 1,
    }


def research(open_session: Callable[..., Session]) -> None:
    """Play a report with every verdict, of which no agent would make all at once."""
    from langgraph.graph import START, MessagesState, StateGraph

    class State(MessagesState):
        sources: dict[str, Any]
        report: dict[str, Any]

    def write(state: State) -> dict[str, Any]:
        said = AIMessage(CHECKED, id="report")
        return {
            "sources": sources(),
            "report": {**checked(), "message": "report"},
            "messages": [said],
        }

    graph = StateGraph(State).add_node("write", write).add_edge(START, "write").compile()
    session = open_session(graph, thread="research")
    ask(session, QUESTION + " Start with the company papers.")

    def entitle(news: Any) -> None:
        news["facts"]["title"] = "Why the 1858 cable failed"

    save("research", session, entitle)


STEPS = [
    ("Find every account of the failure in the company papers", "search_knowledge", "fault, current, silence", []),
    ("Read what the inquiry says about voltage and about the core", "read_file", "inquiry-1861.pdf", []),
    ("Look for later measurements of the core", "search_web", "1858 cable core measurement", ["1"]),
]  # fmt: skip


def plan_approval() -> None:
    """Make a plan that has passed its audit, and one that has not."""
    steps = [
        {"id": str(number), "title": title, "tool": tool, "input": given, "rationale": "It may say why.", "depends_on": before}
        for number, (title, tool, given, before) in enumerate(STEPS, start=1)
    ]  # fmt: skip
    fine = [
        {"name": "Data access", "status": "ok", "note": "Workspace and knowledge base"},
        {"name": "External requests", "status": "warn", "note": "Step 3 sends words of the question to a search engine"},
        {"name": "Tools", "status": "ok", "note": "3 used, all allowed"},
        {"name": "Content", "status": "ok", "note": "Nothing flagged"},
    ]  # fmt: skip
    passed = {"passed": True, "summary": "The plan keeps to the policy's 9 rules. The model approves it.", "policy": "./POLICY.md", "checks": fine, "remarks": []}  # fmt: skip
    refused = {
        **passed,
        "passed": False,
        "summary": "The plan breaks the policy's rules.",
        "checks": [fine[0], {**fine[1], "status": "bad", "note": "Step 3 would ask a search engine"}, {**fine[2], "status": "bad", "note": "search_web is not allowed"}, fine[3]],
        "remarks": ["Step 3 uses search_web, which the policy does not allow.", "Step 3 sends “1858 cable core” to a search engine; the policy allows no external requests."],
    }  # fmt: skip
    for name, audit, refusals in (("plan", passed, 1), ("plan-refused", refused, 5)):
        news = json.loads((STATES / "clarification.json").read_text())
        request = {"type": "plan_approval", "plan": {"question": QUESTION, "steps": steps}, "audit": audit, "refusals": refusals}  # fmt: skip
        for event in news["events"]:
            if event["kind"] == "interrupt_opened":
                event["data"]["request"] = request
        (STATES / f"{name}.json").write_text(json.dumps(news, indent=1) + "\n")


def threads() -> None:
    """Make a list of threads."""
    now = 1_800_000_000
    rows = [
        ("report", "Why the 1858 cable failed", "done", 2, now, ""),
        ("fork", "Only sources before 1860", "running", 1, now - 600, "report"),
        ("speeds", "Telegraph speeds", "waiting", 3, now - 9000, ""),
        ("paid", "Who paid for the cable of 1866?", "done", 14, now - 700_000, ""),
    ]
    keys = ("name", "title", "status", "runs", "updated", "forked_from")
    listed = [dict(zip(keys, row)) | {"agent": "deep", "can_open": True} for row in rows]
    (STATES / "threads.json").write_text(json.dumps({"threads": listed}, indent=1) + "\n")


if __name__ == "__main__":
    STATES.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp())
    with opening(folder) as open_session:
        record(open_session, folder)
    plan_approval()
    threads()
    names = sorted(
        path.stem for path in STATES.glob("*.json") if path.stem not in ("index", "threads")
    )
    (STATES / "index.json").write_text(json.dumps(names) + "\n")
