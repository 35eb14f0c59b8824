"""A report as a Word document."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

from markdown_it.tree import SyntaxTreeNode

from deepnb.citations.marks import MARK
from deepnb.citations.wording import (
    CLAIM_HEADS,
    CLAIMS,
    CONFLICTS,
    SOURCES,
    claim_rows,
    possibly,
    side_of,
)
from deepnb.errors import MissingExtraError
from deepnb.transcript.legible import legible
from deepnb.transcript.prose import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.citations.report import Report

_HIGHEST = 3  # of the headings that `parse` gives
_PIECES = re.compile(r"(\[S\d{1,6}\])")
_LISTS = {"bullet_list": "List Bullet", "ordered_list": "List Number"}


def to_word(report: Report) -> bytes:
    """Write a report with its conflicts, its sources and a verdict in words for every claim.

    Raises:
        MissingExtraError: python-docx is not installed.
    """
    try:
        from docx import Document
    except ModuleNotFoundError as error:
        raise MissingExtraError("python-docx", "'deepnb[documents]'") from error

    document = Document()
    document.core_properties.title = report.title[:255]
    document.core_properties.author = "deepnb"
    if not report.text.startswith("# "):
        document.add_heading(report.title, level=0)
    body, heading, listed = report.text.rpartition(f"\n## {SOURCES}\n")
    _text(document, body)
    _conflicts(document, report)
    _text(document, f"{heading}{listed}")
    _claims(document, report)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _text(document: Any, text: str) -> None:
    _blocks(document, SyntaxTreeNode(parse(legible(text))).children)


def _blocks(document: Any, nodes: Iterable[SyntaxTreeNode], style: str | None = None) -> None:
    for node in nodes:
        if node.type == "heading":
            paragraph = document.add_heading(level=int(node.tag[1]) - _HIGHEST + 1)
            _inline(paragraph, node)
        elif node.type in _LISTS:
            for item in node.children:
                _blocks(document, item.children, _LISTS[node.type])
        elif node.type == "blockquote":
            _blocks(document, node.children, "Quote")
        elif node.type == "table":
            _table(document, node)
        elif node.type in {"fence", "code_block"}:
            document.add_paragraph(style=style).add_run(node.content).font.name = "Courier New"
        elif node.type == "paragraph":
            _inline(document.add_paragraph(style=style), node)


def _table(document: Any, node: SyntaxTreeNode) -> None:
    rows = [row.children for part in node.children for row in part.children]
    table = document.add_table(rows=len(rows), cols=len(rows[0]), style="Table Grid")
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, content in zip(row.cells, cells, strict=True):
            _inline(cell.paragraphs[0], content)


def _inline(paragraph: Any, node: SyntaxTreeNode) -> None:
    for child in node.children[0].children if node.children else []:
        _span(paragraph, child, set())


def _span(paragraph: Any, node: SyntaxTreeNode, marks: set[str]) -> None:
    if node.type in {"strong", "em", "s", "link"}:
        for child in node.children:
            _span(paragraph, child, {*marks, node.type})
    elif node.type in {"softbreak", "hardbreak"}:
        paragraph.add_run(" ")
    elif node.type == "code_inline":
        paragraph.add_run(node.content).font.name = "Courier New"
    else:
        for piece in _PIECES.split(node.content):
            run = paragraph.add_run(piece)
            run.bold, run.italic = "strong" in marks, "em" in marks
            run.font.superscript = MARK.fullmatch(piece) is not None


def _conflicts(document: Any, report: Report) -> None:
    if report.conflicts:
        document.add_heading(CONFLICTS, level=1)
    for conflict in report.conflicts:
        document.add_paragraph(legible(possibly(conflict)))
        heads = [side_of(side, report.sources) for side in conflict["sides"]]
        _grid(document, [heads, [side["text"] for side in conflict["sides"]]])


def _claims(document: Any, report: Report) -> None:
    if not report.citations:
        return
    document.add_heading(CLAIMS, level=1)
    rows = claim_rows(report.citations, report.sources, report.settled)
    _grid(document, [CLAIM_HEADS, *rows])


def _grid(document: Any, rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = legible(text)
