"""Which files are documents, and who reads them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.knowledge.readers.html import read_html_file
from deepnb.knowledge.readers.notebook import read_notebook
from deepnb.knowledge.readers.pdf import read_pdf
from deepnb.knowledge.readers.slides import read_slides
from deepnb.knowledge.readers.tables import read_csv, read_excel
from deepnb.knowledge.readers.word import read_word

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from deepnb.knowledge.readers.document import Document

_SUFFIXES = {
    "PDF": "pdf",
    "HTML": "html htm xhtml",
    "Markdown": "md markdown mdx qmd rmd",
    "reStructuredText": "rst",
    "LaTeX": "tex",
    "Text": "txt text log org adoc asc srt vtt",
    "Word": "docx docm",
    "PowerPoint": "pptx pptm",
    "Excel": "xlsx xlsm",
    "CSV": "csv tsv",
    "Notebook": "ipynb",
    "Data": "json jsonl ndjson yaml yml toml ini cfg xml",
    "Bibliography": "bib ris",
    "Source code": "py pyi r jl m c h cc cpp hpp cu java kt scala js jsx ts tsx go rs rb php pl sh "
    "sql swift lua f f90 f95 cs hs ml clj ex erl vb do sas css stan nim zig",
}
_KINDS = {f".{suffix}": kind for kind, all_of in _SUFFIXES.items() for suffix in all_of.split()}
_NAMES = frozenset({"readme", "license", "changelog", "authors", "notes", "makefile", "dockerfile"})
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages"})

READERS: dict[str, Callable[[BinaryIO, str], Document]] = {
    "PDF": read_pdf,
    "HTML": read_html_file,
    "Word": read_word,
    "PowerPoint": read_slides,
    "Excel": read_excel,
    "CSV": read_csv,
    "Notebook": read_notebook,
}
"""What is not here is read as text."""

# These count as documents: better a word on why one was not read than silence.
OUTDATED = {
    ".doc": "is in the format of an old Word. Save it as .docx, and add that.",
    ".ppt": "is in the format of an old PowerPoint. Save it as .pptx, and add that.",
    ".xls": "is in the format of an old Excel. Save it as .xlsx, and add that.",
    ".odt": "is an OpenDocument text, which is not read. Save it as .docx, and add that.",
    ".odp": "is an OpenDocument presentation, which is not read. Save it as .pptx, and add that.",
    ".ods": "is an OpenDocument table, which is not read. Save it as .xlsx, and add that.",
    ".rtf": "is rich text (RTF), which is not read. Save it as .docx, and add that.",
    ".epub": "is an EPUB book, which is not read. Convert it to PDF or HTML, and add that.",
}

_OFFICE = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/json": ".json",
    "application/x-ipynb+json": ".ipynb",
    f"{_OFFICE}wordprocessingml.document": ".docx",
    f"{_OFFICE}presentationml.presentation": ".pptx",
    f"{_OFFICE}spreadsheetml.sheet": ".xlsx",
}


def suffixes() -> frozenset[str]:
    """The endings of the files that are read, with their dots, in lower case."""
    return frozenset(_KINDS)


def kind_of(name: str) -> str:
    """What a file of this name holds, in a word; "Text" if its name does not tell."""
    return _KINDS.get(PurePosixPath(name).suffix.lower(), "Text")


def is_document(name: str) -> bool:
    """Whether the file with this name, or path below a folder, is worth reading.

    Hidden files and folders are not, nor are those that hold a program's own things.
    """
    path = PurePosixPath(name)
    if any(part.startswith(".") or part in _SKIPPED for part in path.parts):
        return False
    suffix = path.suffix.lower()
    return suffix in _KINDS or suffix in OUTDATED or path.name.lower() in _NAMES
