"""A conversation as a notebook: questions and answers in cells of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from deepnb.transcript.markdown import answer, heading, question, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbformat import NotebookNode

    from deepnb.transcript.steps import Turn

_PYTHON = {
    "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
    "language_info": {"name": "python"},
}


def to_notebook(turns: Sequence[Turn], title: str) -> NotebookNode:
    """Make a notebook of a conversation."""
    from nbformat import v4

    cells = [_cell("title", heading(turns, title))]
    for number, turn in enumerate(turns, 1):
        cells += _cells(turn, number)
    made = v4.new_notebook(cells=cells, metadata=_PYTHON)  # type: ignore[no-untyped-call]  # nbformat
    return cast("NotebookNode", made)


def _cells(turn: Turn, number: int) -> Iterator[Any]:
    parts = {"question": question(turn, number), "steps": steps(turn), "answer": answer(turn)}
    for name, source in parts.items():
        if source:
            yield _cell(f"turn-{number}-{name}", source)


def _cell(name: str, source: str) -> Any:
    from nbformat import v4

    # By its place, not by chance: what has not changed is the same file.
    return v4.new_markdown_cell(source, id=name)  # type: ignore[no-untyped-call]  # nbformat
