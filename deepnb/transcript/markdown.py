"""A conversation as Markdown: to be read as it is, on GitHub, and in a notebook's cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.questions import as_text
from deepnb.transcript.rewrite import code, inert, plain, rewrite
from deepnb.transcript.rows import (
    Checklist,
    Code,
    Fields,
    Prose,
    Row,
    summary,
    turn_answer,
    turn_rows,
)
from deepnb.transcript.wording import SHORTENED, explanation, facts, moment, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.transcript.rows import Block
    from deepnb.transcript.steps import Turn

_LONGEST_TITLE = 100
_DONE = {"completed": "- [x] {}", "in_progress": "- [ ] {} (in progress)"}


def to_markdown(turns: Sequence[Turn], title: str) -> str:
    """Write a conversation as Markdown."""
    parts = [heading(turns, title)]
    for number, turn in enumerate(turns, 1):
        parts += [question(turn, number), steps(turn), answer(turn)]
    return "\n\n".join(filter(None, parts)) + "\n"


def heading(turns: Sequence[Turn], title: str) -> str:
    """The title, and what there is to know about all of it."""
    about = [number_of(len(turns), "question"), moment(turns[0].when) if turns else "", SHORTENED]
    return f"# {plain(one_line(legible(title)))}\n\n{_aside(about)}"


def question(turn: Turn, number: int) -> str:
    """What was asked; a long question has a short title."""
    asked = turn.question.strip() or "Without a question"
    title = one_line(asked, _LONGEST_TITLE)
    parts = [f"## {number}. {plain(title)}", _aside([moment(turn.when)])]
    if title != asked:
        parts.append("\n".join(f"> {line}".rstrip() for line in plain(asked).split("\n")))
    return "\n\n".join(filter(None, parts))


def steps(turn: Turn) -> str:
    """What was done, folded unless it needs a look; nothing if nothing was done."""
    shown = turn_rows(turn)
    if not shown:
        return ""
    is_open = turn.status in {"waiting", "failed"}
    return _folded(inert(summary(turn, shown)), _rows(shown), is_open=is_open)


def answer(turn: Turn) -> str:
    """What was answered, how it ended and what it took."""
    shown = turn_answer(turn)
    said = _prose(shown) if shown else ""
    return "\n\n".join(filter(None, [said, plain(explanation(turn)), _aside(facts(turn))]))


def _rows(shown: Iterable[Row | Prose]) -> str:
    return "\n\n".join(_prose(row) if isinstance(row, Prose) else _row(row) for row in shown)


def _row(row: Row) -> str:
    if not row.more:
        title = f"**{plain(row.title)}** {plain(row.object)}".rstrip()
        return f"{title} · {plain(row.outcome)}" if row.outcome else title
    line = f"<b>{inert(row.title)}</b> {inert(row.object)}".rstrip()
    line = f"{line} · {inert(row.outcome)}" if row.outcome else line
    is_open = row.tone in {"ask", "bad"}
    return _folded(line, "\n\n".join(map(_block, row.more)), is_open=is_open)


def _folded(line: str, content: str, *, is_open: bool) -> str:
    # The empty lines matter: what is between them is Markdown again.
    tag = "<details open>" if is_open else "<details>"
    return f"{tag}\n<summary>{line}</summary>\n\n{content}\n\n</details>"


def _block(block: Block) -> str:
    if isinstance(block, Prose):
        return _prose(block)
    if isinstance(block, Fields):
        return code("\n".join(f"{name}: {as_text(v)}" for name, v in block.values.items()))
    if isinstance(block, Code):
        label = f"{block.label}:\n\n" if block.label else ""
        return f"{label}{code(block.text, block.language)}"
    if isinstance(block, Checklist):
        return "\n".join(
            _DONE.get(s, "- [ ] {}").format(plain(one_line(c))) for c, s in block.items
        )
    return _rows(block.rows)


def _prose(prose: Prose) -> str:
    return "\n\n".join(filter(None, [rewrite(prose.text), _aside([prose.note])]))


def _aside(facts: list[str]) -> str:
    said = " · ".join(filter(None, facts))
    return f"*{plain(said)}*" if said else ""
