"""The small cards that a session and a run show in a notebook.

Plain HTML that stands still: it is kept in the notebook, and says the same where nothing runs. Its
style follows the host's theme; where a host strips it, the text is still in order.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from deepnb.transcript.html import beside, block_html
from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.prose import render, words
from deepnb.transcript.questions import BROWSER_ANSWERS, asked, is_for_browser, python
from deepnb.transcript.rows import asked_blocks, turn_answer
from deepnb.transcript.steps import FileChange, Notice, Question, Subagent, ToolCall, every
from deepnb.transcript.wording import MARKS, STATUS, TONES, duration, number_of, used

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.transcript.steps import Turn

_LAST = 3
_LONGEST_LINE = 160
_HINTS = {
    "running": (("run.wait()", "waits for it"), ("session.stop()", "stops it")),
    "failed": (("session.resume()", "tries again"), ("session.trace", "shows what happened")),
    "stopped": (('session.ask("Go on.")', "goes on from here"),),
}
_FIRST = (('session.ask("…")', "asks a question"),)
_THEN = (
    ('session.ask("…")', "goes on"),
    ("session.trace", "shows what was done"),
    ('session.export("transcript.html")', "keeps it"),
)


def run_card(turn: Turn) -> str:
    """A run: what was asked, how it stands, what was answered, and what it waits for."""
    answer = turn_answer(turn)
    note = f'<p class="dnt-small">{escape(answer.note)}</p>' if answer and answer.note else ""
    return _card(
        _top(turn.status, [duration(turn.seconds), *used(turn.usage)]),
        f'<p class="dnt-question">{escape(turn.question.strip())}</p>',
        _small(_done(turn)),
        f'<div class="dnt-prose">{render(answer.text)}</div>{note}' if answer else "",
        _trouble(turn),
        _pending(turn),
        "" if turn.pending else _hints(_HINTS.get(turn.status, ())),
    )


def session_card(
    turns: Sequence[Turn], *, agent: str, model: str, thread: str, workspace: str, status: str
) -> str:
    """A session: who answers, how it stands, the last questions, and what to type next.

    Args:
        turns: Its conversation so far.
        agent: The agent's name.
        model: What answers, as a person would say it.
        thread: The thread's name.
        workspace: Where its files are.
        status: How the session stands: a turn's status, or idle.
    """
    about = {"agent": agent, "model": model, "thread": thread, "workspace": workspace}
    facts = "".join(
        f'<span><span class="dnt-small">{name}</span> {escape(one_line(legible(value)))}</span> '
        for name, value in about.items()
        if value
    )
    earlier = len(turns) - _LAST
    waits = any(turn.pending for turn in turns)
    return _card(
        _top(status, []),
        f'<p class="dnt-about">{facts}</p>',
        _small(f"{number_of(earlier, 'question')} before these" if earlier > 0 else ""),
        "".join(map(_short, turns[-_LAST:])),
        "".join(map(_pending, turns)),
        "" if waits else _hints(_HINTS.get(status, _THEN if turns else _FIRST)),
    )


def _card(*parts: str) -> str:
    style = beside("look.css", "card.css")
    return f'<div class="dnt dnt-card"><style>{style}</style>{"".join(parts)}</div>'


def _top(status: str, facts: Iterable[str]) -> str:
    known = status if status in STATUS else "idle"
    said = escape(" · ".join(filter(None, facts)))
    return (
        f'<p class="dnt-top"><b class="dnt-{TONES[known]}">{MARKS[known]} {STATUS[known]}</b> '
        f'<span class="dnt-small">{said}</span></p>'
    )


def _done(turn: Turn) -> str:
    """What was done, on one line: which tools, how often, and what came of it."""
    steps = list(every(turn.steps))
    calls = Counter(one_line(s.name, 40) for s in steps if isinstance(s, ToolCall | Subagent))
    times = "\N{MULTIPLICATION SIGN}"
    tools = [f"{name} {times}{count}" if count > 1 else name for name, count in calls.items()]
    files = sum(isinstance(step, FileChange) for step in steps)
    asked_you = sum(isinstance(step, Question) for step in steps)
    counts = [number_of(files, "file change"), number_of(asked_you, "question")]
    return " · ".join(filter(None, [*tools, *counts]))


def _trouble(turn: Turn) -> str:
    """Why a turn did not end well, in the words of its error."""
    if turn.status not in {"failed", "stopped"}:
        return ""
    errors = [step for step in every(turn.steps) if isinstance(step, Notice) and step.type]
    said = turn.why or (errors[-1].text if errors else "")
    return f'<p class="dnt-trouble">{escape(said)}</p>' if said else ""


def _pending(turn: Turn) -> str:
    return "".join(
        f'<div class="dnt-pending">{_waits(question)}</div>' for question in turn.pending
    )


def _waits(question: Question) -> str:
    what = f"<b>{escape(asked(question.request))}</b>"
    if is_for_browser(question.request):
        return f'<p>{what}</p><p class="dnt-small">{escape(BROWSER_ANSWERS)}</p>'
    return (
        f'<p>{what} <code class="dnt-small">{escape(question.id)}</code></p>'
        f"{''.join(map(block_html, asked_blocks(question)))}"
        f"<pre>{escape(python(question.id, question.request))}</pre>"
    )


def _short(turn: Turn) -> str:
    said = words(turn.answer.text) if turn.answer else turn.why or STATUS[turn.status]
    return (
        f'<p class="dnt-turn"><b class="dnt-{TONES[turn.status]}">{MARKS[turn.status]}</b> '
        f'{escape(one_line(turn.question, _LONGEST_LINE))}<br><span class="dnt-small">'
        f"{escape(one_line(said, _LONGEST_LINE))}</span></p>"
    )


def _small(text: str) -> str:
    return f'<p class="dnt-small">{escape(text)}</p>' if text else ""


def _hints(hints: Iterable[tuple[str, str]]) -> str:
    said = " · ".join(f"<code>{escape(code)}</code> {escape(does)}" for code, does in hints)
    return f'<p class="dnt-hint">{said}</p>' if said else ""
