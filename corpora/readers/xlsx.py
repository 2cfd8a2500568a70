"""Excel workbooks: every sheet, row by row, with the values that the last program computed.

The parts are read as a stream of rows: openpyxl's read-only mode believes the declared dimensions of a
sheet and gives either values or formulas. A formula is shown only where no value was stored. Comments,
charts and text boxes are left out; hidden rows and columns are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .building import build_document
from .number_formats import NumberFormat
from .opc import core_title, main_part, relation_id, relations, targets
from .package import Element, Package, attribute, local_name
from .sheet_writer import Cell, SheetWriter

T = TypeVar("T")
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PLACE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")  # a character that XML cannot hold
TRUE_FALSE = {"0": "FALSE", "1": "TRUE"}
EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}


@dataclass(frozen=True, slots=True)
class Workbook:
    """What the cells of all sheets share: their strings, the number format of each style, day zero."""

    strings: list[str]
    formats: list[NumberFormat]
    epoch: datetime


def read(data: bytes, document_id: str) -> Document:
    """The document of an .xlsx file; title from its properties, else the file name."""
    package = Package(data)
    main = main_part(package)
    root = package.xml(main)
    related = relations(package, main)
    workbook = Workbook(_strings(package, main), _formats(package, main), _epoch(root))
    writer = SheetWriter()
    for sheet in root.iter("{*}sheet"):
        relation = related.get(relation_id(sheet))
        if relation and relation.kind == "worksheet":
            writer.start_sheet(attribute(sheet, "name"), attribute(sheet, "state", "visible") != "visible")
            _write_sheet(writer, package, relation.target, workbook)
    return build_document(
        writer.builder, data, document_id, MEDIA_TYPE, core_title(package), remark=writer.remark
    )


def _epoch(root: Element) -> datetime:
    settings = root.find("{*}workbookPr")
    return EPOCHS[settings is not None and settings.get("date1904") in ("1", "true")]


def _strings(package: Package, main: str) -> list[str]:
    """The shared strings by index, without the readings of Japanese words."""
    return [
        _words(item)
        for part in targets(package, main, "sharedStrings")
        for item in package.closed_elements(part, "{*}si")
    ]


def _words(item: Element) -> str:
    runs = [*item.iterfind("{*}t"), *item.iterfind("{*}r/{*}t")]
    return _plain("".join(run.text or "" for run in runs))


def _plain(text: str) -> str:
    """A text on one line, with the characters that its escapes stand for."""
    return " ".join(ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).split())


def _formats(package: Package, main: str) -> list[NumberFormat]:
    """The number format of each cell style by index."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    found: list[NumberFormat] = []
    for part in targets(package, main, "styles"):
        styles = package.xml(part)
        known = {str(number): code for number, code in BUILTIN_FORMATS.items()}
        known |= {
            attribute(own, "numFmtId"): attribute(own, "formatCode") for own in styles.iter("{*}numFmt")
        }
        formats = {number: NumberFormat.of(code) for number, code in known.items()}
        styled = styles.iterfind("{*}cellXfs/{*}xf")
        found += [formats.get(attribute(xf, "numFmtId"), NumberFormat()) for xf in styled]
    return found


def _write_sheet(writer: SheetWriter, package: Package, part: str, workbook: Workbook) -> None:
    number = 0
    for row in package.closed_elements(part, "{*}row"):
        said = row.get("r", "")
        number = int(said) if said.isascii() and said.isdigit() else number + 1
        if not writer.write_row(number, list(_cells(row, workbook))):
            return


def _cells(row: Element, workbook: Workbook) -> Iterator[Cell]:
    """The cells of a row that hold something; one without a place stands behind the one before."""
    column = -1
    for cell in row:
        place = PLACE.fullmatch(cell.get("r", ""))
        column = _column(place[1]) if place else column + 1
        kind = cell.get("t", "n")
        if text := _value(cell, kind, workbook):
            yield Cell(column, text, kind in ("s", "str", "inlineStr"))


def _column(letters: str) -> int:
    """The number, from 0, of a column that its letters name.

    >>> [_column(letters) for letters in ("A", "Z", "AA", "XFD")]
    [0, 25, 26, 16383]
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: Element, kind: str, workbook: Workbook) -> str:
    """What a cell shows: its stored value, else its formula."""
    parts = {local_name(part): part for part in cell}
    if "is" in parts:
        return _words(parts["is"])
    value = str(parts["v"].text or "") if "v" in parts else ""
    if not value:
        formula = str(parts["f"].text or "") if "f" in parts else ""
        return f"={formula}" if formula else ""
    match kind:
        case "n":
            return _format(workbook, cell).shown(float(value), workbook.epoch)
        case "s":
            return _item(workbook.strings, value)
        case "b":
            return TRUE_FALSE.get(value, value)
        case _:  # a computed string, an error, a date in ISO's form
            return _plain(value)


def _format(workbook: Workbook, cell: Element) -> NumberFormat:
    """The number format of a cell; a workbook without styles has none."""
    return _item(workbook.formats, cell.get("s", "0")) if workbook.formats else NumberFormat()


def _item(items: Sequence[T], index: str) -> T:
    """The item of that index; `DocumentRejected` when the workbook does not hold it."""
    if not index.isdigit() or int(index) >= len(items):
        raise DocumentRejected(
            f"damaged Excel workbook: no item {index[:20]!r} of {len(items):,} that a cell names"
        )
    return items[int(index)]
