"""OpenDocument spreadsheets: each cell's text as it is shown, in the lines and labels of `sheet_writer`."""

from __future__ import annotations

from collections.abc import Iterator

from spanwise.types import Document

from .building import build_document
from .odf import body, children, count, meta_title, open_package, words
from .package import Element, attribute
from .sheet_writer import Cell, SheetWriter

MEDIA_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
CELLS = ("table-cell", "covered-table-cell")
MAX_COLUMNS = 16_384  # of a sheet


def read(data: bytes, document_id: str) -> Document:
    """The document of an .ods file; title from its properties, else the file name."""
    package = open_package(data)
    root, sheets = body(package, "spreadsheet")
    unseen = {attribute(style, "name") for style in root.iter("{*}style") if _is_unseen(style)}
    writer = SheetWriter()
    for sheet in children(sheets, "table"):
        writer.start_sheet(attribute(sheet, "name"), attribute(sheet, "style-name") in unseen)
        _write_sheet(writer, sheet)
    return build_document(
        writer.builder, data, document_id, MEDIA_TYPE, meta_title(package), remark=writer.remark
    )


def _is_unseen(style: Element) -> bool:
    return any(attribute(settings, "display") == "false" for settings in style)


def _write_sheet(writer: SheetWriter, sheet: Element) -> None:
    """Write the rows; one element may stand for many that are equal."""
    number = 1
    for row in children(sheet, "table-row"):
        repeated = count(row, "number-rows-repeated")
        cells = list(_cells(row))
        for copy in range(repeated if cells else 0):
            if not writer.write_row(number + copy, cells):
                return
        number += repeated


def _cells(row: Element) -> Iterator[Cell]:
    column = 0
    for element in children(row, *CELLS):
        repeated = count(element, "number-columns-repeated")
        if text := words(element):
            is_words = attribute(element, "value-type", "string") == "string"
            for copy in range(column, min(column + repeated, MAX_COLUMNS)):
                yield Cell(copy, text, is_words)
        column += repeated
