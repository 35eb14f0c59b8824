"""Tables: each row says what its columns are called, so that it makes sense alone."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from datetime import date, datetime, time
from itertools import chain
from typing import TYPE_CHECKING, Any

from deepnb.chunks import Block
from deepnb.errors import MissingExtraError, UnreadableError
from deepnb.knowledge.readers.document import Document, tidy
from deepnb.knowledge.readers.package import Package
from deepnb.knowledge.readers.text import lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from deepnb.knowledge.readers.text import Line

_LONGEST_NAME = 80
_LONGEST_RECORD = 50  # lines; after more than that, a quotation mark was never closed
_MOST_ROWS = 1_048_576  # of a sheet, as in Excel
_MOST_CELLS = 20_000_000


def read_csv(file: BinaryIO, name: str) -> Document:
    """Read values separated by commas, semicolons, tabs or bars, with their line numbers."""
    numbered = lines(file, name)
    start = next(numbered)
    counts = Counter(start[1])
    delimiter = max(",;\t|", key=lambda mark: counts[mark])
    blocks = _records(chain((start,), numbered), delimiter)
    first = next(blocks, None)
    if first is None:
        raise UnreadableError(name, "has no text: there are only spaces and empty lines in it.")
    return Document(name, "CSV", chain((first,), blocks))


def _records(numbered: Iterable[Line], delimiter: str) -> Iterator[Block]:
    table = _Table()
    held: list[Line] = []
    quotes = 0
    for line in chain(numbered, (None,)):
        if line is not None:
            held.append(line)
            quotes += line[1].count('"')
            if quotes % 2 and len(held) < _LONGEST_RECORD:
                continue
        records = [[line] for line in held] if quotes % 2 else [held]
        for record in filter(None, records):
            text = table.row(_cells("\n".join(line for _, line in record), delimiter))
            if text:
                yield Block(text, "line", record[0][0], record[-1][0])
        held, quotes = [], 0


def _cells(record: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([record], delimiter=delimiter), [])
    except csv.Error:
        return [record]


class _Table:
    """Turns rows into text; the first one may be the names of the columns."""

    def __init__(self) -> None:
        self._names: list[str] | None = None

    def row(self, cells: Sequence[Any]) -> str:
        """A row as "name: value; name: value", without what is empty."""
        values = [_shown(cell) for cell in cells]
        if not any(values):
            return ""
        if self._names is None:
            self._names = [tidy(value) for value in values] if _are_names(values) else []
            return "; ".join(filter(None, values))
        named = [*self._names, *[""] * (len(values) - len(self._names))]
        pairs = zip(named, values, strict=False)
        return "; ".join(f"{name}: {value}" if name else value for name, value in pairs if value)


def _are_names(values: list[str]) -> bool:
    """Whether a first row names the columns: short, no two the same, and none a number."""
    names = [value for value in values if value]
    if len({*names}) != len(names):
        return False
    return all(len(name) <= _LONGEST_NAME and not _is_number(name) for name in names)


def _is_number(value: str) -> bool:
    return value.strip("-+\u2212 %\u20ac$").replace(".", "").replace(",", "").isdecimal()


def _shown(value: Any) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.15g}"  # as many digits as Excel has
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case date() | time():
            return value.isoformat()
        case _:
            return " ".join(str(value).split())


def read_excel(file: BinaryIO, name: str) -> Document:
    """Read a .xlsx: the values of its cells, as they were when it was saved."""
    try:
        import openpyxl  # type: ignore[import-untyped]  # it ships no types
    except ImportError:
        raise MissingExtraError("openpyxl", "'deepnb[documents]'") from None
    package = Package(file, name)
    package.check()
    warnings.filterwarnings("ignore", module="openpyxl")  # about styles that nobody asked for
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except Exception as error:  # noqa: BLE001  # a broken workbook makes it raise anything
        raise package.broken(f"{error}"[:200]) from None
    blocks = _sheets(book, package)
    first = next(blocks, None)
    if first is None:
        raise UnreadableError(name, "has no text: all its sheets are empty.")
    return Document(tidy(package.title()) or name, "Excel", chain((first,), blocks))


def _sheets(book: Any, package: Package) -> Iterator[Block]:
    cells = 0
    too_many = package.broken("its sheets have more cells than can be read")
    try:
        for sheet in book.worksheets:
            table = _Table()
            within = tidy(sheet.title)
            sheet.reset_dimensions()  # what it says of its size is often wrong, and may be huge
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                cells += len(row) + 1
                if number > _MOST_ROWS or cells > _MOST_CELLS:
                    raise too_many  # noqa: TRY301  # the cleanup below is for this as well
                if text := table.row(row):
                    yield Block(text, "row", number, number, within)
    except UnreadableError:
        raise
    except Exception as error:  # noqa: BLE001  # a broken workbook makes it raise anything
        raise package.broken(f"{error}"[:200]) from None
    finally:
        book.close()
