"""How a knowledge base looks in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from deepnb.knowledge.worker import Progress

COUNTS = (
    "SELECT (SELECT count(DISTINCT document) FROM chunk), count(*), "
    "count(*) - coalesce(sum(waiting), 0), "
    "(SELECT count(*) FROM document WHERE problem <> '') FROM chunk"
)
"""The counts that `summary` takes."""


def summary(
    counts: tuple[int, int, int, int], progress: Progress, notices: Mapping[str, str]
) -> list[str]:
    """What there is to say, the most important first."""
    documents, passages, embedded, problems = counts
    facts = [_number(documents, "document"), _number(passages, "passage")]
    if embedded == passages > 0:
        facts.append("all embedded")
    elif embedded:
        facts.append(f"{embedded:,} embedded")
    if problems:
        facts.append(f"{_number(problems, 'problem')}: see kb.problems")
    if progress.phase != "ready":
        facts.append(str(progress))
    return facts + [f"{about}: {notice}" for about, notice in notices.items()]


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def as_html(facts: list[str], documents: pd.DataFrame, problems: pd.DataFrame) -> str:
    """The same as a small page: what is in documents is shown, and never obeyed."""
    from deepnb.transcript.html import NO_MATH

    parts = [f"<p><b>Knowledge</b>: {escape('; '.join(facts))}</p>"]
    if len(documents):
        columns = ["location", "title", "format", "passages", "embedded"]
        parts.append(documents[columns].to_html(index=False, max_rows=20, border=0, escape=True))
    if len(problems):
        parts.append("<p>Problems</p>")
        parts.append(problems.to_html(index=False, max_rows=20, border=0, escape=True))
    return f'<div class="{NO_MATH}">{"".join(parts)}</div>'
