"""Jupyter notebooks, formats 3 and 4: cells in order with the text of their outputs.

Markdown and code are written as they are, each cell under a label; of an output the first lines, of an error
its name and message. Left out: pictures, HTML, widgets, the terminal's colour codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from json import JSONDecodeError

from spanwise.types import Document, Heading

from ..decoding import decode
from . import json, markdown
from .json_writer import Members, Number, Value
from .text_builder import TextBuilder
from .titles import choose_title

MEDIA_TYPE = "application/x-ipynb+json"
SHOWN_LINES, SHOWN_CHARACTERS = 30, 3000  # of one output
ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


def read(data: bytes, document_id: str) -> Document:
    """The document of a notebook; title from its metadata or first heading. Other JSON is read as JSON."""
    source, encoding = decode(data)
    try:
        notebook = json.parse(source)
    except JSONDecodeError:
        notebook = None
    cells = list(cells_of(notebook))
    if not cells:
        return json.read(data, document_id)
    builder, n_cut = TextBuilder(), 0
    for number, cell in enumerate(cells, start=1):
        n_cut += _write_cell(builder, cell, f"cell {number}")
    heading = markdown.top_heading(builder.text, builder.headings, 0)
    remark = {"remark": f"{n_cut} long outputs of cells are cut"} if n_cut else {}
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(
            text_of(member(member(notebook, "metadata"), "title")), heading, document_id=document_id
        ),
        text=builder.text,
        headings=tuple(builder.headings),
        labels=tuple(builder.labels),
        metadata={"encoding": encoding, **remark},
    )


def cells_of(notebook: Value) -> Iterator[Members]:
    """The cells of a notebook, those of format 3 sheet by sheet; none for any other value."""
    if member(notebook, "nbformat") is None:
        return
    for sheet in (notebook, *elements(member(notebook, "worksheets"))):
        yield from (cell for cell in elements(member(sheet, "cells")) if isinstance(cell, Members))


def _write_cell(builder: TextBuilder, cell: Members, label: str) -> int:
    """Write a cell and its outputs; how many outputs were cut."""
    kind = text_of(member(cell, "cell_type"))
    source = text_of(member(cell, "source")) or text_of(member(cell, "input"))
    builder.end_line(blank=True)
    start = builder.write(source.strip("\r\n"))
    if kind == "heading":
        level = text_of(member(cell, "level"))
        builder.add_heading(start, int(level) if level.isdecimal() and len(level) == 1 else 1)
    elif kind == "markdown":
        inner = markdown.find_headings(builder.text_since(start))
        builder.headings += [Heading(start + one.start, one.level, one.text) for one in inner]
    n_cut = 0
    for output in elements(member(cell, "outputs")):
        text = ANSI.sub("", output_text(output)).strip("\r\n")
        short = shortened(text)
        n_cut += short != text
        builder.end_line(blank=True)
        builder.write(short)
    if builder.length > start:
        builder.add_label(start, label)
    return n_cut


def output_text(output: Value) -> str:
    """The plain text of an output, for an error its name and message; empty for a picture alone."""
    if error := text_of(member(output, "ename")):
        return f"{error}: {text_of(member(output, 'evalue'))}"
    data = member(output, "data")
    return (
        text_of(member(output, "text"))
        or text_of(member(data, "text/plain"))
        or text_of(member(data, "text/markdown"))
    )


def shortened(text: str) -> str:
    """The first lines of an output, with a mark where it is cut."""
    lines = text.splitlines(keepends=True)
    short = "".join(lines[:SHOWN_LINES])[:SHOWN_CHARACTERS]
    return text if short == text else short.rstrip() + "\n…"


def member(value: Value, key: str) -> Value:
    """The first member of that name of an object, None when there is none or the value is no object."""
    pairs = value.pairs if isinstance(value, Members) else []
    return next((one for name, one in pairs if name == key), None)


def elements(value: Value) -> list[Value]:
    """The elements of an array; none for any other value."""
    return value if isinstance(value, list) else []


def text_of(value: Value) -> str:
    """A string, or an array of strings as notebooks keep their lines; numbers as they are spelt."""
    if isinstance(value, str):
        return str(value)
    return "".join(one for one in elements(value) if isinstance(one, str) and type(one) is not Number)
