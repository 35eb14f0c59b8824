"""One line, then more: how each step is shown, whatever it is shown in.

A row says what was done, to what, and with what outcome; what is behind it are blocks of five
kinds, which is all that a format has to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal

from deepnb.events import short
from deepnb.transcript.legible import one_line
from deepnb.transcript.prose import diff_lines, words
from deepnb.transcript.questions import (
    BROWSER_ANSWERS,
    about,
    actions,
    args_of,
    as_json,
    asked,
    decided,
    is_for_browser,
    options,
    plan_steps,
    python,
)
from deepnb.transcript.steps import (
    FileChange,
    Notice,
    Question,
    Remark,
    Step,
    Subagent,
    Text,
    Todos,
    ToolCall,
)
from deepnb.transcript.wording import duration, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deepnb.transcript.steps import Turn


_LONGEST_NAME = 60
_STATES = {"running": "running", "ok": "", "error": "failed", "stopped": "no result"}


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown that a model or a person wrote; `note` says what is to be known about it."""

    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names and values."""

    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Code:
    """Text as it is, in a language that the format may colour; `label` says what it is."""

    text: str
    language: Literal["", "diff", "python"] = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    """Todos: content and status."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Nested:
    """The rows of a subagent."""

    rows: tuple[Row | Prose, ...]


Block = Prose | Fields | Code | Checklist | Nested


@dataclass(frozen=True, slots=True)
class Row:
    """A step.

    Attributes:
        icon: What kind of step it is.
        title: What was done, or the machine's name of it.
        object: To what, on one line.
        outcome: With what outcome, in a word or two.
        tone: Whether it went wrong, or waits for the person.
        more: What there is to see behind it.
    """

    icon: str
    title: str
    object: str = ""
    outcome: str = ""
    tone: Literal["", "warn", "bad", "ask"] = ""
    more: tuple[Block, ...] = ()


def turn_rows(turn: Turn) -> list[Row | Prose]:
    """What comes before the answer of a turn: its steps, and what the agent thought last."""
    return [*_rows(turn.steps), *(_thought(turn.answer) if turn.answer else [])]


def turn_answer(turn: Turn) -> Prose | None:
    """What was answered."""
    return _prose(turn.answer) if turn.answer else None


def _step_count(shown: Sequence[Row | Prose]) -> str:
    """How many steps there are among rows."""
    return number_of(sum(isinstance(row, Row) for row in shown), "step")


def summary(turn: Turn, shown: Sequence[Row | Prose]) -> str:
    """How many steps a turn took, and how long."""
    return " in ".join(filter(None, [_step_count(shown) or "Steps", duration(turn.seconds)]))


def _rows(steps: Iterable[Step]) -> Iterator[Row | Prose]:
    """The steps; what an agent wrote between them stands by itself."""
    for step in steps:
        if isinstance(step, Text):
            yield from _thought(step)
            if step.text.strip():
                yield _prose(step)
        else:
            yield _row(step)


def _thought(text: Text) -> Iterator[Row]:
    if text.reasoning.strip():
        thought = one_line(words(text.reasoning))
        yield Row("think", "Thought", thought, more=_if_longer(text.reasoning))


def _if_longer(text: str) -> tuple[Prose, ...]:
    """A text behind its row, unless the row has said all of it."""
    return () if one_line(text) == text.strip() else (Prose(text),)


def _prose(text: Text) -> Prose:
    note = {"whole": "", "writing": "Still being written.", "cut": "Cut off here."}
    return Prose(text.text, note[text.state])


@singledispatch
def _row(step: Step) -> Row:
    raise TypeError(f"There is no row for a {type(step).__name__}.")


@_row.register
def _(step: Remark) -> Row:
    outcome = "" if step.heard else "not read by the agent"
    return Row("person", "Remark", one_line(step.text), outcome, more=_if_longer(step.text))


@_row.register
def _(step: ToolCall) -> Row:
    outcome = ", ".join(filter(None, [_STATES[step.state], duration(step.seconds)]))
    args = [Fields(step.args)] if step.args else []
    result = [Code(step.result, label="Result")] if step.result else []
    tone: Literal["bad", ""] = "bad" if step.state == "error" else ""
    return Row("tool", _name(step.name), about(step.args), outcome, tone, (*args, *result))


@_row.register
def _(step: FileChange) -> Row:
    lines = diff_lines(step.diff)
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    outcome = f"+{added} \N{MINUS SIGN}{removed}" if added or removed else ""
    more = (Code(step.diff, "diff"),) if step.diff else ()
    action = _name(step.action or "changed").capitalize()
    return Row("file", action, one_line(step.path), outcome, more=more)


@_row.register
def _(step: Todos) -> Row:
    done = sum(status == "completed" for _, status in step.items)
    by = f"by the {_name(step.by)}" if step.by else ""
    more = (Checklist(step.items),) if step.items else ()
    return Row("todos", "Todos", f"{done} of {len(step.items)} done", by, more=more)


@_row.register
def _(step: Question) -> Row:
    if step.by:
        said = decided(step.request, step.answer, step.by)
        more = (*asked_blocks(step), *_if_longer(said))
        return Row("ask", "Asked", asked(step.request), one_line(said), more=more)
    by_browser = is_for_browser(step.request)
    how = Prose(BROWSER_ANSWERS) if by_browser else Code(python(step.id, step.request), "python")
    outcome = "for your browser" if by_browser else "for an answer"
    return Row("ask", "Waiting", asked(step.request), outcome, "ask", (*asked_blocks(step), how))


def asked_blocks(step: Question) -> Iterator[Block]:
    """What the person saw, and what they changed."""
    request = step.request
    if is_for_browser(request):
        if args := args_of(request):
            yield Fields(args)
        return
    for action in actions(request):
        if description := action.get("description"):
            yield Prose(str(description))
        else:
            yield Fields({"tool": action.get("name", ""), "args": action.get("args", {})})
    if question := _part(request, "question"):
        yield Prose(str(question))
    if choices := options(request):
        yield Fields(dict(choices))
    if is_plan := bool(plan_steps(_part(request, "plan"))):
        yield _plan(_part(request, "plan"))
    if not actions(request) and not is_plan and not _part(request, "question"):
        yield Code(request if isinstance(request, str) else as_json(request, indent=2))
    yield from _changes(step.answer)


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _plan(plan: Any, heading: str = "") -> Fields:
    steps = enumerate(plan_steps(plan), start=1)
    return Fields({f"{heading}{number}. {title}": what for number, (title, what) in steps})


def _changes(answer: Any) -> Iterator[Block]:
    if plan_steps(edited := _part(answer, "plan")):
        yield _plan(edited, "edited to ")
    decisions = _part(answer, "decisions")
    for decision in decisions if isinstance(decisions, list) else []:
        if isinstance(decision, dict) and isinstance(decision.get("edited_action"), dict):
            yield Fields({"edited to": decision["edited_action"]})


@_row.register
def _(step: Notice) -> Row:
    title = _name(step.type or step.level.capitalize())
    tone: Literal["bad", "warn"] = "bad" if step.level == "error" else "warn"
    return Row("warn", title, one_line(step.text), tone=tone, more=_if_longer(step.text))


@_row.register
def _(step: Subagent) -> Row:
    inner = tuple(_rows(step.steps))
    outcome = ", ".join(
        filter(None, [_STATES[step.state], _step_count(inner), duration(step.seconds)])
    )
    nested: list[Block] = [Nested(inner)] if inner else []
    last = next((row.text for row in reversed(inner) if isinstance(row, Prose)), "")
    # Mostly the result is what it wrote last, which is seen already.
    result = (
        [Code(step.result, label="Result")] if step.result not in {"", last, short(last)} else []
    )
    tone: Literal["bad", ""] = "bad" if step.state == "error" else ""
    more = (*_if_longer(step.task), *nested, *result)
    return Row("agent", _name(step.name), one_line(step.task), outcome, tone, more)


def _name(name: str) -> str:
    return one_line(name, _LONGEST_NAME) or "unnamed"
