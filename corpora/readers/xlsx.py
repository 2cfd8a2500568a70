"""Reads spreadsheets: sheets with headings, one line per row, cells separated by " | "; Excel with openpyxl.

The label of a cell is its place, such as "Sheet1!B7". A first row of words has the names of the columns; it
becomes a heading, so that each passage of its sheet has it. Formulas show the value that was last computed.
Hidden rows and columns are read; comments, charts and text boxes are left out.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from spanwise.types import Heading

from ..archive import office_file
from .builder import TextBuilder, join_remarks, one_line, shorten

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_CELLS = 1_000_000  # of a workbook
MAX_ROWS = 1_048_576  # of a sheet, as in Excel
MAX_GAP = 8  # empty cells that are shown between two others
FILLERS = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')  # of number formats: quoted text, colours, spaces
PERCENT = re.compile(r"[#0,]{0,20}0(?:\.(0{1,15}))?%")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    column: counted from 1.
    text: its text as shown.
    is_words: True for words, False for numbers and other values.
    """

    column: int
    text: str
    is_words: bool = True


def read(data: bytes) -> TextBuilder:
    """The document of an .xlsx file, titled by its properties."""
    from openpyxl import load_workbook

    writer = SheetWriter()
    # openpyxl warns of features that it does not support.
    with office_file(data, "Excel workbook") as file, warnings.catch_warnings(action="ignore"):
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            writer.start_sheet(sheet.title, sheet.sheet_state != "visible")
            sheet.reset_dimensions()  # the declared ones may be wrong
            for number, row in enumerate(sheet.iter_rows(max_row=MAX_ROWS), start=1):
                if not writer.write_row(number, list(_cells(row))):
                    break
        title = book.properties.title or ""
    return writer.builder.described(MEDIA_TYPE, title, remark=writer.remark)


def _cells(row: Sequence[Any]) -> Iterator[Cell]:
    for cell in row:
        if cell.value is not None and (text := _shown(cell.value, cell)):
            yield Cell(cell.column, text, isinstance(cell.value, str))


def _shown(value: Any, cell: Any) -> str:
    """A value as shown, but without thousands separators, currency signs and fixed decimals."""
    match value:
        case bool():
            return str(value).upper()
        case int() | float():
            percent = PERCENT.fullmatch(cell.number_format or "")
            return f"{value:.{len(percent[1] or '')}%}" if percent else f"{value:.15g}"
        case datetime():
            shown = FILLERS.sub("", cell.number_format or "").lower()
            day = value.date().isoformat()
            clock = str(value.time()).removesuffix(":00")
            has_clock = "h" in shown or "s" in shown
            return (f"{day} {clock}" if has_clock else day) if "y" in shown or "d" in shown else clock
        case date() | time() | timedelta():
            return str(value)
        case _:
            return one_line(str(value))


class SheetWriter:
    """Writes sheets into `builder`; a sheet without cells has no text."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._hidden: list[str] = []
        self._cut: list[str] = []
        self._n_cells = 0
        self._sheet = ""
        self._last_row = 0  # until the heading of the sheet is written
        self._names: int | None = None  # the start of a first row of words, until a second row follows
        self._has_row = False

    @property
    def remark(self) -> str:
        """The names of hidden sheets, and of sheets cut at the limit; often empty."""
        limit = f"read up to the limit of {MAX_CELLS:,} cells"
        return join_remarks({"hidden sheets": self._hidden, limit: self._cut})

    def start_sheet(self, name: str, hidden: bool = False) -> None:
        """Begin a sheet; its heading is written with its first row."""
        self._sheet = name
        self._last_row = 0
        self._names = None
        self._has_row = False
        if hidden:
            self._hidden.append(name)

    def write_row(self, number: int, cells: Sequence[Cell]) -> bool:
        """Write a row, counted from 1; False if the workbook is full and the row was not written."""
        self._n_cells += len(cells)
        if self._n_cells > MAX_CELLS:
            self._cut.append(self._sheet)
            return False
        if not cells:
            return True
        if not self._last_row:
            start = self.builder.write_heading(one_line(self._sheet) or "(sheet without a name)", 1)
            self.builder.add_label(start, self._sheet)
        if self._names is not None:
            words = shorten(self.builder.text_since(self._names))
            self.builder.headings.append(Heading(self._names, 2, words))
            self._names = None
        start = self._write_cells(number, cells)
        if len(cells) > 1 and not self._has_row:
            self._has_row = True
            if all(cell.is_words and any(map(str.isalpha, cell.text)) for cell in cells):
                self._names = start
        return True

    def _write_cells(self, number: int, cells: Sequence[Cell]) -> int:
        """Write the cells of a row; returns its offset. Up to `MAX_GAP` empty cells have separators."""
        from openpyxl.utils import get_column_letter

        if number > self._last_row + 1:
            self.builder.end_line(blank=True)
        starts: list[int] = []
        last = 0
        for cell in cells:
            if last:
                self.builder.write(" | " + " | " * min(cell.column - last - 1, MAX_GAP))
            starts.append(self.builder.write(cell.text))
            self.builder.add_label(starts[-1], f"{self._sheet}!{get_column_letter(cell.column)}{number}")
            last = cell.column
        self.builder.end_line()
        self._last_row = number
        return starts[0]
