"""Jupyter notebooks: what was written, what was run, and the beginning of what came of it."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from deepnb.chunks import Block
from deepnb.errors import UnreadableError
from deepnb.knowledge.readers.document import Document, Headings, refuse_larger
from deepnb.knowledge.readers.text import markdown_rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

LARGEST = 64 * 1000 * 1000
_LONGEST_OUTPUT = 1000
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_notebook(file: BinaryIO, name: str) -> Document:
    """Read a notebook; cells are numbered from 1, in their order."""
    refuse_larger(file, name, LARGEST)
    try:
        notebook = json.loads(file.read())
    except (ValueError, RecursionError):
        notebook = None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise UnreadableError(
            name,
            "is broken: it is not the JSON of a notebook with cells. Open it in Jupyter, save it "
            "anew, and add that.",
        )
    blocks = _blocks([cell for cell in cells if isinstance(cell, dict)])
    first = next(blocks, None)
    if first is None:
        raise UnreadableError(name, "has no text: its cells are empty.")
    return Document(first.heading or name, "Notebook", chain((first,), blocks))


def _blocks(cells: list[dict[str, Any]]) -> Iterator[Block]:
    headings = Headings()
    for number, cell in enumerate(cells, 1):
        text = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            _follow(text, headings)
        if text.strip():
            yield Block(text, "cell", number, number, "", headings.path)
        if output := "\n".join(_outputs(cell)).strip():
            yield Block(output, "cell", number, number, "Output", headings.path)


def _follow(text: str, headings: Headings) -> None:
    rule = markdown_rule()
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if found := rule(line, following):
            headings.enter(*found)


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        text = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else "")
        yield _COLOUR.sub("", _joined(text)[:_LONGEST_OUTPUT])


def _joined(source: Any) -> str:
    """The text of a cell: a string, or a list of lines; anything else is not text."""
    parts = source if isinstance(source, list) else [source]
    text = "".join(part for part in parts if isinstance(part, str))
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
