"""Makes files of every format from a text, with other libraries than those that read them."""

import csv
import html
import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from io import BytesIO, StringIO
from typing import Any
from xml.etree import ElementTree

import docx
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from helpers.office_files import NOT_IN_XML, OFFICE_MAKERS

NOT_IN_HELVETICA = re.compile(r"[^\x20-\x7e\xa1-\xac\xae-\xff]")


def as_text(text: str) -> bytes:
    return text.encode()


def as_html(text: str) -> bytes:
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in text.split("\n\n"))
    return f"<!doctype html><html><body>{paragraphs}<pre>{html.escape(text)}</pre></body></html>".encode()


def as_docx(text: str) -> bytes:
    word = docx.Document()
    for part in NOT_IN_XML.sub("", text).split("\n\n"):
        word.add_paragraph(part)
    return saved(word)


def saved(office: Any) -> bytes:
    """The bytes of a document, a presentation or a workbook."""
    file = BytesIO()
    office.save(file)
    return file.getvalue()


def as_pdf(text: str) -> bytes:
    """One page per part between form feeds, without characters that Helvetica lacks."""
    pages = [[NOT_IN_HELVETICA.sub("", line) for line in page.split("\n")] for page in text.split("\f")]
    return pdf_of(pages)


def pdf_of(pages: list[list[str]], title: str = "", outline: dict[str, int] | None = None) -> bytes:
    """A PDF of pages of lines; `outline` gives the level of lines that are entries of the outline."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=A5, invariant=True)
    if title:
        canvas.setTitle(title)
    for lines in pages:
        for height, line in enumerate(lines):
            canvas.drawString(20, 560 - 14 * height, line)
            if outline and line in outline:
                canvas.bookmarkPage(line)
                canvas.addOutlineEntry(line, line, level=outline[line] - 1)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def as_csv(text: str, delimiter: str = ",") -> bytes:
    """A header, and one row per paragraph."""
    rows = [[str(number), part] for number, part in enumerate(text.split("\n\n"))]
    return csv_of([["number", "words"], *rows], delimiter)


def csv_of(rows: Iterable[list[str]], delimiter: str = ",") -> bytes:
    file = StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows(rows)
    return file.getvalue().encode()


def as_json(text: str) -> bytes:
    """A string, a list, one record per paragraph, and a nested object."""
    parts = text.split("\n\n")
    nested = {"all": text, "parts": parts, "records": [{"words": part, "size": len(part)} for part in parts]}
    return json.dumps({"nested": {text[:20]: nested}, "numbers": [[1, 2.5]] * 40}).encode()


def as_json_lines(text: str) -> bytes:
    return "\n".join(json.dumps({"words": part}) for part in text.split("\n\n")).encode()


def as_xml(text: str) -> bytes:
    """A title, a paragraph with inline markup, and a value per paragraph of the text."""
    root = ElementTree.Element("catalog", {"words": NOT_IN_XML.sub("", text)[:20]})
    for part in NOT_IN_XML.sub("", text).split("\n\n"):
        book = ElementTree.SubElement(root, "book")
        ElementTree.SubElement(book, "title").text = part[:20]
        paragraph = ElementTree.SubElement(book, "p")
        paragraph.text = part
        ElementTree.SubElement(paragraph, "em").text = part
        ElementTree.SubElement(book, "price").text = part
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def as_notebook(text: str) -> bytes:
    """A Markdown cell and a code cell with its output per paragraph."""
    cells: list[dict[str, object]] = []
    for part in text.split("\n\n"):
        lines = part.splitlines(keepends=True)
        output = {"output_type": "stream", "name": "stdout", "text": lines}
        code = {"cell_type": "code", "source": part, "outputs": [output]}
        cells += [{"cell_type": "markdown", "source": lines}, code]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


MAKERS: dict[str, Callable[[str], bytes]] = {
    "a.txt": as_text,
    "a.md": as_text,
    "a.html": as_html,
    "a.csv": as_csv,
    "a.tsv": partial(as_csv, delimiter="\t"),
    "a.json": as_json,
    "a.jsonl": as_json_lines,
    "a.xml": as_xml,
    "a.rst": as_text,
    "a.adoc": as_text,
    "a.tex": as_text,
    "a.ipynb": as_notebook,
    "a.docx": as_docx,
    "a.pdf": as_pdf,
    **OFFICE_MAKERS,
}
