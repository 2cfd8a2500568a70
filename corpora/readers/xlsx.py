"""Reads spreadsheets: sheets with headings, one line per row, cells separated by " | "; Excel with openpyxl.

The label of a cell is its place, such as "Sheet1!B7", or "Sheet1!B7 (hidden)". A first row of words has the
names of the columns; it becomes a heading, so that each passage of its sheet has it. The rows of a table have
equal numbers of cells, and merged cells are repeated. Formulas show the value that was last computed, else
themselves. Hidden rows and columns are read; struck text, comments, charts and text boxes are left out.
"""

import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import groupby
from typing import Any

from spanwise.types import Heading

from ..archive import Element, office_file
from .builder import (
    BAR,
    HIDDEN,
    MAX_REPEATED,
    SHIFTS,
    TextBuilder,
    join_remarks,
    one_line,
    settle,
    shifted,
    shorten,
)
from .cell_format import show_number, show_time

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_CELLS = 1_000_000  # of a workbook
MAX_EMPTY = 4_000_000  # cells of a workbook that are shown as empty
MAX_COLUMNS = 16_384  # of a sheet, as in Excel
MAX_GAP = 8  # empty columns that are shown between two others
MAX_COPIES = 100_000  # of the merged cells of a workbook
COMPUTES_LATER = b'fullCalcOnLoad="1"'
TRUE = ("1", "true")
NEWER = re.compile(r"_xl(?:fn|ws|pm)\.")  # marks functions that are newer than the file format


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell.

    text: its text as shown.
    is_words: True for words, False for numbers, other values and formulas without a value.
    """

    text: str
    is_words: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    """The number of a row and its cells by column, both counted from 1, without empty cells.

    `hidden` are the columns whose cells are hidden here.
    """

    number: int
    cells: dict[int, SheetCell]
    hidden: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Merged:
    """A range of merged cells: its first and last rows and columns."""

    top: int
    left: int
    bottom: int
    right: int


def read(data: bytes) -> TextBuilder:
    """The document of an .xlsx file, titled by its properties."""
    from openpyxl import load_workbook

    writer = SheetWriter()
    # openpyxl warns of features that it does not support.
    with office_file(data, "Excel workbook") as file, warnings.catch_warnings(action="ignore"):
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False, rich_text=True)
        for sheet in book.worksheets:
            merged: list[Merged] = []
            writer.write_sheet(sheet.title, _rows(sheet, merged), merged, sheet.sheet_state != "visible")
        title = book.properties.title or ""
    return writer.builder.described(MEDIA_TYPE, title, remark=writer.remark)


def _rows(sheet: Any, merged: list[Merged]) -> Iterator[Row]:
    """The rows of a sheet; adds the merged ranges, which follow them in the file, to `merged`."""
    from openpyxl.cell.read_only import ReadOnlyCell

    with sheet._get_source() as source:
        parser = _parser(sheet.parent, source, sheet._shared_strings)
        for number, values in parser.parse():
            cells = (ReadOnlyCell(sheet, **value) for value in values)
            shown = {
                cell.column: _shown(cell.value, cell)
                for cell in cells
                if cell.value is not None and not cell.font.strike
            }
            filled = {column: cell for column, cell in shown.items() if cell.text}
            row = parser.row_dimensions.get(str(number), {})
            ranges = [(1, MAX_COLUMNS)] if row.get("hidden") in TRUE else _hidden_columns(parser)
            hidden = {column for column in filled for first, last in ranges if first <= column <= last}
            yield Row(number, filled, frozenset(hidden))
    if parser.merged_cells:
        ranges = parser.merged_cells.mergeCell
        merged += [Merged(area.min_row, area.min_col, area.max_row, area.max_col) for area in ranges]


def _hidden_columns(parser: Any) -> list[tuple[int, int]]:
    """The first and the last column of each hidden range."""
    columns = parser.column_dimensions.values()
    return [(int(each["min"]), int(each["max"])) for each in columns if each.get("hidden") in TRUE]


def _parser(book: Any, source: Any, strings: Any) -> Any:
    """The parser of a sheet. A cell without a value gets its formula."""
    from openpyxl.worksheet._reader import FORMULA_TAG, VALUE_TAG, WorkSheetParser

    # Programs that do not compute store 0 for each formula, and ask Excel to compute.
    no_values = {None, "", "0" if COMPUTES_LATER in book._archive.read("xl/workbook.xml") else ""}

    class Parser(WorkSheetParser):  # type: ignore[misc]
        def parse_cell(self, element: Element) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            source = element.find(FORMULA_TAG)
            if source is None:
                return cell
            value = element.findtext(VALUE_TAG)
            has_value = value not in no_values or (value == "" and element.get("t") == "str")
            if not has_value or (source.text and source.get("si")):  # a later cell may share the formula
                text = "="
                with suppress(Exception):  # openpyxl raises many kinds on a formula that it cannot split
                    formula = self.parse_formula(element)
                    text = NEWER.sub("", getattr(formula, "text", formula))
                if not has_value:
                    cell |= {"value": text, "data_type": "f"}
            return cell

    return Parser(source, strings, True, book.epoch, book._date_formats, book._timedelta_formats, True)


def _shown(value: Any, cell: Any) -> SheetCell:
    code = cell.number_format or ""
    match value:
        case bool():
            text = str(value).upper()
        case int() | float():
            text = show_number(value, code)
        case date() | time() | timedelta():
            text = show_time(value, code)
        case list():
            text = settle("".join(map(_run, value)))
        case _:
            text = str(value).replace("_x000D_", "\n")
    is_words = isinstance(value, str | list) and cell.data_type != "f"
    return SheetCell(one_line(text), is_words)


def _run(run: Any) -> str:
    """The text of a run of rich text; empty for a struck one."""
    if isinstance(run, str):
        return run
    return "" if run.font.strike else shifted(run.text, SHIFTS.get(run.font.vertAlign, ""))


class SheetWriter:
    """Writes sheets into `builder`; a sheet without cells has no text."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._is_hidden = False
        self._hidden: list[str] = []
        self._cut: list[str] = []
        self._formulas: list[str] = []
        self._n_cells = 0
        self._n_empty = 0
        self._n_copies = 0

    @property
    def remark(self) -> str:
        """The hidden sheets, the sheets cut at the limit and formulas without a value; often empty."""
        limit = f"read up to the limit of {MAX_CELLS:,} cells"
        formulas = [f"{len(self._formulas):,} cells, such as {place}" for place in self._formulas[:1]]
        return join_remarks(
            {"hidden sheets": self._hidden, limit: self._cut, "formulas without a stored value": formulas}
        )

    def write_sheet(self, name: str, rows: Iterable[Row], merged: Sequence[Merged], hidden: bool) -> None:
        """Write a sheet. Its merged ranges need to be known only after the last row."""
        self._is_hidden = hidden
        if hidden:
            self._hidden.append(name)
        filled = list(self._within_limit(name, rows))
        self._repeat(filled, merged)
        if filled:
            start = self.builder.write_heading(one_line(name) or "(sheet without a name)", 1)
            self.builder.add_label(start, name)
        names: int | None = None  # the start of a first row of words, until a second row follows
        has_row = False
        for table in _tables(filled):
            self.builder.end_line(blank=True)
            columns = self._columns(table)
            is_title = True
            for row in table:
                if names is not None:
                    words = shorten(self.builder.text_since(names))
                    self.builder.headings.append(Heading(names, 2, words))
                    names = None
                is_title = is_title and len(row.cells) == 1
                start = self._write_row(name, row, sorted(row.cells) if is_title else columns)
                if len(row.cells) > 1 and not has_row:
                    has_row = True
                    if all(cell.is_words and any(map(str.isalpha, cell.text)) for cell in row.cells.values()):
                        names = start

    def _within_limit(self, name: str, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows with cells, up to the limit."""
        for row in rows:
            self._n_cells += len(row.cells)
            if self._n_cells > MAX_CELLS:
                self._cut.append(name)
                return
            self._formulas += [
                _place(name, row, column)
                for column, cell in row.cells.items()
                if not cell.is_words and cell.text[0] == "="
            ]
            if row.cells:
                yield row

    def _repeat(self, rows: Sequence[Row], merged: Sequence[Merged]) -> None:
        """Repeat merged cells in their ranges, but only where a row has other cells."""
        numbers = [row.number for row in rows]
        for area in merged:
            first = bisect_left(numbers, area.top)
            origin = rows[first].cells.get(area.left) if area.top in numbers[first : first + 1] else None
            if origin is None or len(origin.text) > MAX_REPEATED:
                continue
            columns = range(area.left, min(area.right, MAX_COLUMNS) + 1)
            for index in range(first, bisect_right(numbers, area.bottom)):
                if index == first and len(rows[index].cells) == 1:
                    continue  # a title
                self._n_copies += len(columns)
                if self._n_copies > MAX_COPIES:
                    return
                rows[index].cells.update(dict.fromkeys(columns, origin))

    def _columns(self, table: Sequence[Row]) -> list[int]:
        """The columns to show; none if most cells of the table are empty and the limit is reached."""
        columns: list[int] = []
        for column in sorted({column for row in table for column in row.cells}):
            columns += range(max(columns[-1] + 1, column - MAX_GAP) if columns else column, column + 1)
        n_empty = len(columns) * len(table) - sum(len(row.cells) for row in table)
        if self._n_empty + n_empty > MAX_EMPTY:
            return []
        self._n_empty += n_empty
        return columns

    def _write_row(self, name: str, row: Row, columns: Sequence[int]) -> int:
        """Write a row and label its cells; the label of the first also covers the bars before it."""
        columns = columns or sorted(row.cells)
        texts = [row.cells[column].text if column in row.cells else "" for column in columns]
        start = self.builder.write(BAR.join(texts))
        place = start
        is_first = True
        for column, text in zip(columns, texts, strict=True):
            if text:
                is_hidden = self._is_hidden or column in row.hidden
                label = _place(name, row, column) + HIDDEN * is_hidden
                self.builder.add_label(start if is_first else place, label)
                is_first = False
            place += len(text) + len(BAR)
        self.builder.end_line()
        return start


def _tables(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows without empty rows between them."""
    for _, table in groupby(enumerate(rows), key=lambda item: item[1].number - item[0]):
        yield [row for _, row in table]


def _place(name: str, row: Row, column: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{name}!{get_column_letter(column)}{row.number}"
