"""A report whose claims were looked up, to be read, kept and sent on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb.citations import bibliography, page
from deepnb.citations.wording import before_sources, claims_table, conflicts_section, counted
from deepnb.transcript.export import destination, save
from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.rewrite import plain

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from deepnb.citations.shapes import Checked, Citation, Conflict, Settled, Source


class Report:
    """A report, what it cites, and what came of checking it.

    Attributes:
        text: The report as Markdown, with marks such as `[S1]` and its sources at the end.
        marks: Where in the text each mark begins.
        citations: A row for every mark, and for every claim without one.
        conflicts: Where the sources may contradict each other.
        sources: All that was read, by id.
        counts: How many claims have which verdict.
        removed: How many marks led to no source, and were taken out.
        settled: By id of a claim, when a person has checked it themselves, and their note.
        question: What was asked.
        title: What it is called.
    """

    def __init__(
        self,
        checked: Checked,
        sources: Mapping[str, Source],
        *,
        question: str = "",
        title: str = "",
        settled: Settled | None = None,
    ) -> None:
        self.text = checked["text"]
        self.marks = checked["marks"]
        self.citations: list[Citation] = checked["citations"]
        self.conflicts: list[Conflict] = checked["conflicts"]
        self.counts = checked["counts"]
        self.removed = checked["removed"]
        self.sources = dict(sources)
        self.settled = dict(settled or {})
        self.question = question
        self.title = one_line(legible(title or question)) or "Report"

    @property
    def markdown(self) -> str:
        """All of it as Markdown: with possible conflicts, and with a verdict for every claim."""
        parts = [
            "" if self.text.startswith("# ") else f"# {plain(self.title)}",
            before_sources(self.text, conflicts_section(self.conflicts, self.sources)),
            claims_table(self.citations, self.sources, self.settled),
        ]
        return "\n\n".join(filter(None, parts)) + "\n"

    def __str__(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return f"<Report {self.title!r}: {counted(self.counts, self.removed)}>"

    def _repr_html_(self) -> str:
        return page.to_fragment(self)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the report to a file; its suffix says what kind.

        Args:
            path: Ends in .md, .html, .docx, .ipynb or .bib.
            overwrite: Whether to replace a file that is there.

        Returns:
            Where it is.

        Raises:
            ExportError: The suffix is another one, the file exists, or it cannot be written; then
                nothing has changed.
            MissingExtraError: For .docx, python-docx is not installed.
        """
        target = destination(path, _FORMS, overwrite=overwrite)
        save(target, _FORMS[target.suffix.lower()](self))
        return target


def _word(report: Report) -> bytes:
    from deepnb.citations.word import to_word

    return to_word(report)


def _notebook(report: Report) -> str:
    from deepnb.citations.notebook import to_notebook

    return to_notebook(report)


_FORMS: dict[str, Callable[[Report], str | bytes]] = {
    ".md": lambda report: report.markdown,
    ".html": page.to_page,
    ".docx": _word,
    ".ipynb": _notebook,
    ".bib": lambda report: bibliography.to_bibtex(report.sources, report.citations),
}
