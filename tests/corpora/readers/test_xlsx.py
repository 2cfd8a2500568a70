"""Workbooks become lines of cells with labels; formulas show the values that were computed."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from io import BytesIO

import openpyxl
import pytest
from helpers.document_checks import documents_of
from helpers.office_files import NOT_IN_XML, rezipped, workbook
from hypothesis import given, strategies as st

from spanwise.corpora.readers import xlsx

read = documents_of(xlsx.read)

ANY_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WORDS = ANY_WORDS.map(lambda text: " ".join(NOT_IN_XML.sub("", text).split()))
NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def test_sheets_are_headings_and_rows_are_lines() -> None:
    document = read(workbook({"Towns": [["Town", "People"], ["Eskery", 812]], "Empty": []}), "a.xlsx")
    assert document.text == "Towns\n\nTown | People\nEskery | 812"
    assert [(h.level, h.text) for h in document.headings] == [(1, "Towns"), (2, "Town | People")]


def test_empty_cells_and_empty_rows_are_kept() -> None:
    document = read(workbook({"S": [["a", None, "c"], [], ["d"]]}), "a.xlsx")
    assert document.text == "S\n\na |  | c\n\nd"


@given(rows=st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=5))
def test_every_cell_is_labelled_with_its_place(rows: list[list[str]]) -> None:
    document = read(workbook({"One": rows}), "a.xlsx")
    expected = {
        f"One!{'ABCDE'[x]}{y}": word for y, row in enumerate(rows, 1) for x, word in enumerate(row) if word
    }
    texts = {label.text: document.text[label.start :] for label in document.labels}
    assert set(texts) - {"One"} == set(expected)
    assert all(texts[place].startswith(word) for place, word in expected.items())


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (date(2024, 2, 29), "yyyy-mm-dd", "2024-02-29"),
        (datetime(2024, 2, 29, 13, 5), "d/m/yy h:mm", "2024-02-29 13:05"),
        (datetime(2024, 2, 29, 13, 5), "h:mm", "13:05"),
        (time(7, 8, 9), "h:mm:ss", "07:08:09"),
        (timedelta(hours=30), "[h]:mm", "1 day, 6:00:00"),
        (0.256, "0.0%", "25.6%"),
        (1234.5, "#,##0.00", "1234.5"),
        (0.1 + 0.2, "General", "0.3"),
        (10**15, "0", "1e+15"),
        (True, "General", "TRUE"),
    ],
)
def test_values_are_shown_as_a_person_sees_them(value: object, code: str, expected: str) -> None:
    book = openpyxl.Workbook()
    file = BytesIO()
    book.active["A1"].value = value
    book.active["A1"].number_format = code
    book.save(file)
    assert read(file.getvalue(), "a.xlsx").text == f"Sheet\n\n{expected}"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("<c><f>A2+1</f><v>3</v></c>", "3"),
        ('<c t="str"><f>A2&amp;1</f><v>x1</v></c>', "x1"),
        ('<c t="e"><v>#DIV/0!</v></c>', "#DIV/0!"),
        ('<c t="d"><v>2024-02-29</v></c>', "2024-02-29"),
        ('<c t="inlineStr"><is><r><t>rich </t></r><r><t>text</t></r></is></c>', "rich text"),
    ],
)
def test_cells_show_their_computed_value(cell: str, expected: str) -> None:
    rows = f'<dimension ref="A1"/><sheetData><row r="1">{cell}</row></sheetData>'
    sheet = f'<worksheet xmlns="{NAMESPACE}">{rows}</worksheet>'
    data = rezipped(workbook({"S": [["x"]]}), {"xl/worksheets/sheet1.xml": sheet})
    assert read(data, "a.xlsx").text == f"S\n\n{expected}"


def test_a_giant_workbook_is_cut_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.xlsx.MAX_CELLS", 3)
    document = read(workbook({"A": [["1", "2"], ["3", "4"]], "B": [["5"]]}), "a.xlsx")
    assert document.text == "A\n\n1 | 2"
    assert document.metadata["remark"] == "read up to the limit of 3 cells: A, B"
