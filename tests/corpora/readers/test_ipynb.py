"""Notebooks become the text of their cells and outputs, in order and with labels."""

import json

from helpers.document_checks import documents_of

from spanwise.corpora.readers import ipynb
from spanwise.types import Document

read = documents_of(ipynb.read)

PICTURE = {"output_type": "display_data", "data": {"image/png": "iVBORw0K", "text/plain": ["<Figure>"]}}
ERROR = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["\x1b[0;31mno\x1b[0m"]}


def made(*cells: dict[str, object], **more: object) -> Document:
    return read(json.dumps({"nbformat": 4, "cells": cells, **more}).encode(), "sub/notes.ipynb")


def code(source: str, *outputs: dict[str, object]) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": outputs}


def stream(text: str) -> dict[str, object]:
    return {"output_type": "stream", "text": text.splitlines(keepends=True)}


def markdown(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "source": source.splitlines(keepends=True)}


def test_cells_and_outputs_keep_their_order() -> None:
    document = made(markdown("# Top\nwords"), code("# x\nx", stream("\x1b[31m1\x1b[0m\n"), ERROR, PICTURE))
    assert document.text == "# Top\nwords\n\n# x\nx\n\n1\n\nKeyError: 'x'\n\n<Figure>"
    assert [(label.start, label.text) for label in document.labels] == [(0, "cell 1"), (13, "cell 2")]
    assert [(h.level, h.text, h.start) for h in document.headings] == [(1, "Top", 0)]


def test_withdrawn_text_of_a_markdown_cell_is_left_out() -> None:
    document = made(code("x"), markdown("Opens at ~~six~~ ten. <!-- check -->"))
    assert [document.text[start:end] for start, end in document.left_out] == ["~~six~~", "<!-- check -->"]


def test_long_outputs_are_cut_and_counted() -> None:
    document = made(code("x", stream("line\n" * 99)))
    assert document.text.count("line") == 30
    assert document.text.endswith("\n…")
    assert document.metadata["remark"] == "1 long outputs of cells are cut"


def test_a_notebook_of_format_3_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Top"]},
        {"cell_type": "code", "input": "x", "outputs": [{"output_type": "pyout", "text": ["1"]}]},
    ]
    document = read(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode(), "a.ipynb")
    assert document.text == "Top\n\nx\n\n1"
    assert [(h.level, h.text) for h in document.headings] == [(2, "Top")]
