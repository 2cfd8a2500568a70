"""An Excel workbook of the old form, record by record: what it takes to hold words, numbers and dates."""

from __future__ import annotations

import struct
from collections.abc import Sequence

BOF, EOF, XF, BOUNDSHEET, LABEL, NUMBER, BOOLEAN = 0x809, 0x0A, 0xE0, 0x85, 0x204, 0x203, 0x205
FONT, CODEPAGE, PASSWORD = 0x31, 0x42, 0x2F
GLOBALS, SHEET, VERSION = 5, 0x10, 0x600
GENERAL, PERCENT, DATE = 0, 9, 14  # built-in number formats, one style each
VISIBLE, HIDDEN = 0, 1


def as_xls(rows: Sequence[Sequence[str | float | bool | tuple[float, int]]], state: int = VISIBLE) -> bytes:
    """A workbook of one sheet "S"; a number may come with its number format."""
    sheet = _start(SHEET) + b"".join(
        _cell(number, column, value) for number, row in enumerate(rows) for column, value in enumerate(row)
    )
    font = struct.pack("<HHHHHBBBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 0) + _short("Arial")
    styles = b"".join(_record(XF, struct.pack("<HHH", 0, code, 0) + bytes(14)) for code in range(DATE + 1))
    before = _start(GLOBALS) + _record(CODEPAGE, struct.pack("<H", 1200)) + _record(FONT, font) * 5 + styles
    name = struct.pack("<BB", state, 0) + _short("S")
    offset = len(before) + 4 + 4 + len(name) + 4  # behind the record that holds it and the end of the globals
    bound = _record(BOUNDSHEET, struct.pack("<I", offset) + name)
    return before + bound + _record(EOF, b"") + sheet + _record(EOF, b"")


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _start(kind: int) -> bytes:
    return _record(BOF, struct.pack("<HHHHII", VERSION, kind, 0, 0, 0, 0))


def _short(text: str) -> bytes:
    return struct.pack("<BB", len(text), 1) + text.encode("utf-16-le")


def _cell(row: int, column: int, value: str | float | bool | tuple[float, int]) -> bytes:
    number, style = value if isinstance(value, tuple) else (value, GENERAL)
    place = struct.pack("<HHH", row, column, style)
    if isinstance(number, str):
        return _record(LABEL, place + struct.pack("<HB", len(number), 1) + number.encode("utf-16-le"))
    if isinstance(number, bool):
        return _record(BOOLEAN, place + struct.pack("<BB", number, 0))
    return _record(NUMBER, place + struct.pack("<d", number))
