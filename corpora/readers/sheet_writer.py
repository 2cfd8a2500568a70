"""The lines of a workbook: sheets under headings, a line a row, cells between " | ", gaps between rows kept.

Every cell is labelled with its place, "Sheet1!B7", so that an answer names the cell it stands in. A first
row of words alone names the columns: it becomes a heading, so that it goes with every passage of its sheet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.types import Heading

from .building import joined
from .text_builder import TextBuilder
from .titles import shorten

MAX_CELLS = 1_000_000  # of one workbook; each carries a label
MAX_GAP = 8  # empty cells that are shown between two others


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its column, counted from 0, its text as shown, and whether that is words or a value."""

    column: int
    text: str
    is_words: bool = True


class SheetWriter:
    """Writes sheets into `builder`; a sheet without cells leaves no text."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._hidden: list[str] = []
        self._cut: list[str] = []
        self._n_cells = 0
        self._sheet = ""
        self._is_open = False  # the heading of the sheet is written
        self._saw_row = False  # the first row of two or more cells is written
        self._last_row = 0  # the number of the last row written
        self._names: int | None = None  # where that row starts, while it may turn out to name columns

    @property
    def remark(self) -> str:
        """Which sheets are hidden and which were cut off at the limit; often nothing."""
        limit = f"read up to the limit of {MAX_CELLS:,} cells"
        return joined({"hidden sheets": self._hidden, limit: self._cut})

    def start_sheet(self, name: str, hidden: bool = False) -> None:
        """Begin a sheet; its heading is written with its first row."""
        self._sheet = name
        self._is_open, self._saw_row, self._names, self._last_row = False, False, None, 0
        if hidden:
            self._hidden.append(name)

    def write_row(self, number: int, cells: Sequence[Cell]) -> bool:
        """Write a row, which counts from 1; False when the workbook is full and it was not written."""
        shown = [cell for cell in cells if cell.text]
        self._n_cells += len(shown)
        if self._n_cells > MAX_CELLS:
            self._cut.append(self._sheet)
            return False
        if shown:
            self._open_sheet()
            if self._names is not None:
                self._add_names(self._names)
            start = self._write_cells(number, shown)
            if len(shown) > 1 and not self._saw_row:
                self._saw_row = True
                self._names = start if all(map(_may_name_column, shown)) else None
        return True

    def _open_sheet(self) -> None:
        if self._is_open:
            return
        self._is_open = True
        self.builder.end_line(blank=True)
        start = self.builder.write(" ".join(self._sheet.split()) or "(sheet without a name)")
        self.builder.add_heading(start, 1)
        self.builder.add_label(start, self._sheet)
        self.builder.end_line(blank=True)

    def _add_names(self, start: int) -> None:
        self.builder.headings.append(Heading(start, 2, shorten(self.builder.text_since(start))))
        self._names = None

    def _write_cells(self, number: int, cells: Sequence[Cell]) -> int:
        """The start of the row; separators stand for empty cells too, up to `MAX_GAP` of them."""
        if number > self._last_row + 1:
            self.builder.end_line(blank=True)
        row_start, last = -1, -1
        for cell in cells:
            if last >= 0:
                self.builder.write(" | " + " | " * min(cell.column - last - 1, MAX_GAP))
            start = self.builder.write(cell.text)
            self.builder.add_label(start, f"{self._sheet}!{column_letters(cell.column)}{number}")
            row_start, last = (start if row_start < 0 else row_start), cell.column
        self.builder.end_line()
        self._last_row = number
        return row_start


def _may_name_column(cell: Cell) -> bool:
    return cell.is_words and any(map(str.isalpha, cell.text))


def column_letters(column: int) -> str:
    """What a spreadsheet calls a column counted from 0.

    >>> [column_letters(column) for column in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    letters = ""
    while column >= 0:
        letters = chr(ord("A") + column % 26) + letters
        column = column // 26 - 1
    return letters


def number_text(value: float) -> str:
    """A number without what binary fractions add to it: 15 digits, as spreadsheets show.

    >>> number_text(0.1 + 0.2), number_text(3.0), number_text(1e21)
    ('0.3', '3', '1e+21')
    """
    is_whole = math.isfinite(value) and value == int(value) and abs(value) < 1e15
    return str(int(value)) if is_whole else f"{value:.15g}"
