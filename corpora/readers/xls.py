"""Excel workbooks of the form of 1997 to 2003, through xlrd; lines and labels are those of `sheet_writer`."""

from __future__ import annotations

from datetime import datetime
from io import StringIO
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .building import build_document
from .number_formats import NumberFormat
from .sheet_writer import Cell, SheetWriter

if TYPE_CHECKING:
    from xlrd.book import Book
    from xlrd.sheet import Cell as XlsCell
    from xlrd.sheet import Sheet

MEDIA_TYPE = "application/vnd.ms-excel"
EPOCHS = (datetime(1899, 12, 30), datetime(1904, 1, 1))


def read(data: bytes, document_id: str) -> Document:
    """The document of an .xls file, titled with the file name; `DocumentRejected` when it is encrypted."""
    book = _open(data)
    writer = SheetWriter()
    formats = _formats(book)
    for sheet in book.sheets():
        writer.start_sheet(sheet.name, hidden=sheet.visibility != 0)
        _write_sheet(writer, book, formats, sheet)
    return build_document(writer.builder, data, document_id, MEDIA_TYPE, remark=writer.remark)


def _open(data: bytes) -> Book:
    import xlrd

    try:
        return xlrd.open_workbook(file_contents=data, logfile=StringIO(), formatting_info=True)
    except Exception as error:  # xlrd raises what it likes on a damaged file, assertions among it
        if "encrypted" in str(error):
            raise DocumentRejected("encrypted Excel workbook: needs a password") from error
        raise DocumentRejected(f"damaged Excel workbook: {type(error).__name__}: {error}") from error


def _write_sheet(writer: SheetWriter, book: Book, formats: list[NumberFormat], sheet: Sheet) -> None:
    import xlrd

    for number in range(sheet.nrows):
        cells = [
            Cell(column, _text(book, formats, cell), cell.ctype == xlrd.XL_CELL_TEXT)
            for column, cell in enumerate(sheet.row(number))
        ]
        if not writer.write_row(number + 1, cells):
            return


def _formats(book: Book) -> list[NumberFormat]:
    """The number format of each cell style by index."""
    known = {key: NumberFormat.of(style.format_str or "") for key, style in book.format_map.items()}
    return [known.get(style.format_key, NumberFormat()) for style in book.xf_list]


def _text(book: Book, formats: list[NumberFormat], cell: XlsCell) -> str:
    """What a cell shows."""
    import xlrd

    match cell.ctype:
        case xlrd.XL_CELL_TEXT:
            return " ".join(str(cell.value).split())
        case xlrd.XL_CELL_NUMBER | xlrd.XL_CELL_DATE:
            style: NumberFormat = formats[cell.xf_index]
            return style.shown(float(cell.value), EPOCHS[book.datemode])
        case xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        case xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    return ""
