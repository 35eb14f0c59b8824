"""A report as HTML: for the output of a cell, and as a page of its own.

Every text in it was written by a model or stands in a document, and is escaped.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from deepnb.citations.positions import replaced
from deepnb.citations.wording import (
    CLAIM_HEADS,
    CLAIMS,
    CONFLICTS,
    SIGNS,
    WORDS,
    claim_rows,
    place_of,
    possibly,
    side_of,
    verdict_of,
)
from deepnb.transcript.html import NO_MATH, beside, page
from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.prose import render
from deepnb.transcript.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deepnb.citations.report import Report
    from deepnb.citations.shapes import Citation, Conflict, Source

_TONES = {
    "quoted": "ok",
    "source matched, support not verified": "muted",
    "misattributed": "warn",
    "not found": "bad",
    "uncited": "muted",
}
_MOST_PASSAGES, _LONGEST_TIP = 200, 400


def to_fragment(report: Report) -> str:
    """Write a report for the output of a cell."""
    content = f"<style>{beside('look.css', 'card.css')}{_style()}</style>{_content(report)}"
    return f'<div class="dnt dnt-card dnt-report {NO_MATH}">{content}</div>'


def to_page(report: Report) -> str:
    """Write a report as a page that needs nothing else."""
    about = [report.question] if one_line(report.question) != report.title else []
    style = beside("look.css", "page.css") + _style()
    content = f'<div class="dnt-report">{_content(report)}</div>\n'
    return page(report.title, map(legible, about), "", content, style)


@cache
def _style() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")


def _content(report: Report) -> str:
    prose = _prose(report)
    return (
        f'<p class="dnt-verdicts">{_verdicts(report)}</p><div class="dnt-prose">{prose}</div>'
        f"{_conflicts(report.conflicts, report.sources)}{_claims(report)}{_behind(report)}"
    )


def _verdicts(report: Report) -> str:
    counts = (
        f'<span class="dnt-{_TONES[verdict]}">{SIGNS[verdict]} {number} {WORDS[verdict]}</span> '
        for verdict, number in report.counts.items()
        if number
    )
    removed = number_of(report.removed, "unknown mark")
    return "".join(counts) + (f"<span>{removed} removed</span>" if removed else "")


def _prose(report: Report) -> str:
    """Write the text, with a chip and its verdict in the place of each mark."""
    rows = {row["mark"]: row for row in report.citations if row["mark"] is not None}
    # A word that nobody else could have written; a comma first, as bold text may end before one.
    secret = token_hex(8)
    masked = replaced(report.text, report.marks, lambda number: f",{secret}m{number}e")
    html = render(legible(masked))
    return re.sub(rf",{secret}m(\d+)e", lambda mark: _chip(rows[int(mark[1])], report), html)


def _chip(row: Citation, report: Report) -> str:
    parts = [verdict_of(row, report.settled), place_of(row, report.sources), row["quote"]]
    tip = escape(legible(" · ".join(filter(None, parts))[:_LONGEST_TIP]))
    return (
        f'<span class="dnt-chip dnt-{_TONES[row["verdict"]]}" data-verdict="{row["verdict"]}" '
        f'title="{tip}">{SIGNS[row["verdict"]]} {row["source"]}</span>'
    )


def _conflicts(conflicts: Sequence[Conflict], sources: Mapping[str, Source]) -> str:
    if not conflicts:
        return ""
    cards = "".join(
        f'<div class="dnt-conflict"><p>{escape(legible(possibly(conflict)))}</p>'
        + "".join(
            f"<blockquote>{escape(legible(side['text']))}"
            f"<footer>{escape(legible(side_of(side, sources)))}</footer></blockquote>"
            for side in conflict["sides"]
        )
        + "</div>"
        for conflict in conflicts
    )
    return f"<details open><summary>{CONFLICTS}</summary>{cards}</details>"


def _claims(report: Report) -> str:
    """Every claim with its verdict, and with what a person has noted; open if one has."""
    rows = claim_rows(report.citations, report.sources, report.settled)
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in CLAIM_HEADS)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(legible(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    is_open = " open" if report.settled else ""
    table = f'<div class="dnt-prose"><table><tr>{head}</tr>{body}</table></div>'
    return f"<details{is_open}><summary>{CLAIMS}</summary>{table}</details>"


def _behind(report: Report) -> str:
    """The passages behind the claims."""
    parts = []
    for key, source in report.sources.items():
        numbers = {
            row["passage"]
            for row in report.citations
            if row["passage"] is not None and (row["found_in"] or row["source"]) == key
        }
        passages = "".join(_passage(report, key, n) for n in sorted(numbers)[:_MOST_PASSAGES])
        if passages:
            name = escape(legible(source["title"]))
            parts.append(f"<details><summary><b>{key}</b> {name}</summary>{passages}</details>")
    return f'<div class="dnt-behind">{"".join(parts)}</div>' if parts else ""


def _passage(report: Report, key: str, number: int) -> str:
    passage = report.sources[key]["passages"][number]
    spans = [
        (row["start"], row["end"])
        for row in report.citations
        if (row["found_in"] or row["source"]) == key
        and row["passage"] == number
        and row["start"] is not None
        and row["end"] is not None
    ]
    return (
        f'<p class="dnt-place">{escape(legible(passage["place"]))}</p>'
        f"<blockquote>{_highlighted(passage['text'], spans)}</blockquote>"
    )


def _highlighted(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            parts.append(escape(legible(text[position:start])))
            parts.append(f"<mark>{escape(legible(text[start:end]))}</mark>")
            position = end
    return "".join([*parts, escape(legible(text[position:]))])
