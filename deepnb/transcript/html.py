"""A conversation as one page that needs nothing else: no script, no font, no network.

Its policy says so to the browser as well: even if something got past the escaping, nothing but
this page's own style sheet would take effect.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.prose import diff_html, render
from deepnb.transcript.questions import as_text
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
from deepnb.transcript.wording import (
    SHORTENED,
    STATUS,
    TONES,
    explanation,
    facts,
    moment,
    number_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.transcript.rows import Block
    from deepnb.transcript.steps import Turn

NO_MATH = "tex2jax_ignore mathjax_ignore"
"""Classes of what holds the words of others: the notebook is not to make formulas of them."""


def to_html(turns: Sequence[Turn], title: str) -> str:
    """Write a conversation as a page."""
    about = [number_of(len(turns), "question"), moment(turns[0].when) if turns else "", SHORTENED]
    style = beside("look.css", "page.css", "conversation.css")
    return page(title, about, beside("icons.svg"), "".join(map(_turn, turns)), style)


def page(title: str, about: Iterable[str], icons: str, content: str, style: str) -> str:
    """Write a page that loads nothing and runs nothing.

    Args:
        title: What it is called.
        about: What there is to know about all of it.
        icons: HTML before the page's content.
        content: HTML, in which everything is escaped already.
        style: The whole style sheet.
    """
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    name = escape(one_line(legible(title)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="deepnb">\n'
        f"<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n{icons}"
        f'<main class="dnt">\n<header class="dnt-head"><h1>{name}</h1>'
        f"<p>{escape(' · '.join(filter(None, about)))}</p></header>\n"
        f"{content}</main>\n</body>\n</html>\n"
    )


def to_fragment(turns: Sequence[Turn], panel: str, before: int = 0) -> str:
    """Write a conversation for the output of a cell, where a live panel stands in for it.

    Args:
        turns: The conversation.
        panel: Id of that panel, which hides this.
        before: How many turns are left out at its beginning.
    """
    name = escape(panel)
    said = (
        "Saved transcript. To go on, open this notebook in Jupyter and run the cell; if it has "
        "run, trust the notebook (command “Trust Notebook”) and reload the page."
    )
    if before:
        said = f"{said} {number_of(before, 'question')} before these are in the thread."
    conversation = "".join(_turn(turn, opened=False) for turn in turns)
    return (
        f'<div class="dnt dnt-saved deepnb-static-{name} {NO_MATH}" '
        f'data-deepnb-static="{name}">'
        f"<style>{beside('look.css', 'conversation.css', 'saved.css')}</style>{beside('icons.svg')}"
        f'<p class="dnt-small">{said}</p>'
        f"{_without_headings(conversation)}</div>"
    )


def _without_headings(html: str) -> str:
    """Have lines in bold instead: a notebook's table of contents lists the headings of outputs."""
    html = re.sub(
        r"<h([2-6])>", r'<p class="dnt-h dnt-h\1" role="heading" aria-level="\1"><b>', html
    )
    return re.sub(r"</h[2-6]>", "</b></p>", html)


@cache
def beside(*names: str) -> str:
    """The texts of files that lie beside this module, one behind the other."""
    return "".join(Path(__file__).with_name(name).read_text("utf-8") for name in names)


def _icon(name: str, more: str = "") -> str:
    return f'<svg class="dnt-i{more}" aria-hidden="true"><use href="#dnt-{name}"/></svg>'


def _turn(turn: Turn, *, opened: bool = True) -> str:
    asked = escape(turn.question.strip() or "Without a question")
    shown = turn_rows(turn)
    parts = [f'<div class="dnt-user"><h2>{asked}</h2><time>{moment(turn.when)}</time></div>']
    if shown:
        parts.append(
            f'<details class="dnt-all"{" open" if opened else ""}><summary>{summary(turn, shown)}'
            f"{_icon('chev', ' dnt-chev')}</summary>{_steps(shown)}</details>"
        )
    if answer := turn_answer(turn):
        parts.append(_prose(answer))
    if why := explanation(turn):
        parts.append(f'<p class="dnt-why">{escape(why)}</p>')
    return f'<section class="dnt-turn">{"".join(parts)}{_facts(turn)}</section>\n'


def _facts(turn: Turn) -> str:
    icon = _icon("running" if turn.status == "queued" else turn.status)
    _, *others = facts(turn)
    status = f'<span class="dnt-{TONES[turn.status]}">{icon}{STATUS[turn.status]}</span>'
    return (
        f'<p class="dnt-facts">{status}{"".join(f"<span>{escape(o)}</span>" for o in others)}</p>'
    )


def _steps(shown: Iterable[Row | Prose]) -> str:
    items = (
        f'<li class="dnt-said">{_prose(row)}</li>' if isinstance(row, Prose) else _step(row)
        for row in shown
    )
    return f'<ol class="dnt-steps">{"".join(items)}</ol>'


def _step(row: Row) -> str:
    mono = ' class="dnt-mono"' if row.icon == "tool" else ""
    line = (
        f"{_icon(row.icon)}<b{mono}>{escape(row.title)}</b>"
        f'<span class="dnt-cut">{escape(row.object)}</span>'
        f'<span class="dnt-meta">{escape(row.outcome)}</span>'
    )
    tone = f' data-tone="{row.tone}"' if row.tone else ""
    if not row.more:
        return f'<li class="dnt-step"{tone}><div class="dnt-row"{tone}>{line}</div></li>'
    is_open = " open" if row.tone in {"ask", "bad"} else ""
    return (
        f'<li class="dnt-step"{tone}><details{is_open}><summary class="dnt-row"{tone}>{line}'
        f"{_icon('chev', ' dnt-chev')}</summary>"
        f'<div class="dnt-more">{"".join(map(block_html, row.more))}</div></details></li>'
    )


def block_html(block: Block) -> str:
    """Show a block."""
    if isinstance(block, Prose):
        return _prose(block)
    if isinstance(block, Fields):
        pairs = (
            f"<dt>{escape(name)}</dt><dd>{escape(as_text(value))}</dd>"
            for name, value in block.values.items()
        )
        return f'<dl class="dnt-args">{"".join(pairs)}</dl>'
    if isinstance(block, Code):
        if block.language == "diff":
            return diff_html(block.text)
        return f'<pre class="dnt-code">{escape(block.text)}</pre>'
    if isinstance(block, Checklist):
        return f'<ul class="dnt-todos">{"".join(_todo(c, s) for c, s in block.items)}</ul>'
    return _steps(block.rows)


def _todo(content: str, status: str) -> str:
    state = escape(status.replace("_", " "))
    return (
        f'<li data-status="{escape(status)}"><span class="dnt-ring"></span><span>'
        f'{escape(content)}<span class="dnt-sr"> ({state})</span></span></li>'
    )


def _prose(prose: Prose) -> str:
    note = f'<p class="dnt-note">{escape(prose.note)}</p>' if prose.note else ""
    return f'<div class="dnt-prose">{render(prose.text)}{note}</div>'
