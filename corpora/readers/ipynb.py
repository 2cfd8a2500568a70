"""Reads Jupyter notebooks in the formats 3 and 4: cells in order with the text of their outputs.

Markdown and code are stored unchanged, and each cell has a label. Long outputs are cut; errors give their
name and message. Pictures, HTML, widgets and colour codes are left out.
"""

from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any

from ..decoding import TERMINAL, decode
from . import json
from .builder import TextBuilder, whole
from .markup import read_markdown, title_heading

MEDIA_TYPE = "application/x-ipynb+json"
MAX_OUTPUT_LINES = 30
MAX_OUTPUT_CHARACTERS = 3000


def read(data: bytes) -> TextBuilder:
    """The document of a notebook, titled by its metadata or first heading; other JSON is read as JSON."""
    source, encoding = decode(data)
    try:
        notebook = json.parse(source)
    except JSONDecodeError:
        notebook = None
    cells = list(_cells(notebook))
    if not cells:
        return json.read(data)
    builder = TextBuilder()
    n_cut = 0
    for number, cell in enumerate(cells, start=1):
        n_cut += _write_cell(builder, cell, f"cell {number}")
    title = _text(_member(_member(notebook, "metadata"), "title"))
    heading = title_heading(builder.text, builder.headings)
    remark = f"{n_cut} long outputs of cells are cut" if n_cut else ""
    return builder.described(MEDIA_TYPE, title, heading, encoding=encoding, remark=remark)


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    """The cells of a notebook, in format 3 sheet by sheet; none for another value."""
    if _member(notebook, "nbformat") is None:
        return
    for sheet in (notebook, *_elements(_member(notebook, "worksheets"))):
        yield from (cell for cell in _elements(_member(sheet, "cells")) if isinstance(cell, dict))


def _write_cell(builder: TextBuilder, cell: dict[str, Any], label: str) -> int:
    """Write a cell and its outputs; returns the number of outputs that were cut."""
    kind = _text(cell.get("cell_type"))
    source = (_text(cell.get("source")) or _text(cell.get("input"))).strip("\r\n")
    builder.end_line(blank=True)
    if kind == "markdown":
        start = builder.include(read_markdown(source.encode("utf-8", "replace")))
    else:
        start = builder.write(source)
    if kind == "heading":
        builder.add_heading(start, whole(cell.get("level")) or 1)
    n_cut = 0
    for output in _elements(cell.get("outputs")):
        text = TERMINAL.sub("", _output_text(output)).strip("\r\n")
        short = "".join(text.splitlines(keepends=True)[:MAX_OUTPUT_LINES])[:MAX_OUTPUT_CHARACTERS]
        n_cut += short != text
        builder.end_line(blank=True)
        builder.write(text if short == text else short.rstrip() + "\n…")
    if builder.length > start:
        builder.add_label(start, label)
    return n_cut


def _output_text(output: Any) -> str:
    """The text of an output, or the name and message of an error; empty for a picture."""
    if error := _text(_member(output, "ename")):
        return f"{error}: {_text(_member(output, 'evalue'))}"
    data = _member(output, "data")
    texts = _member(output, "text"), _member(data, "text/plain"), _member(data, "text/markdown")
    return next(filter(None, map(_text, texts)), "")


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _elements(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    """The text of a string, or of an array of strings, which notebooks use for lines."""
    if isinstance(value, str):
        return value
    return "".join(line for line in _elements(value) if isinstance(line, str))
