"""Workbooks become lines of cells with labels; cells look as shown, and formulas have their values."""

import zipfile
from datetime import date, datetime, time, timedelta
from io import BytesIO

import openpyxl
import pytest
from helpers.document_checks import documents_of
from helpers.office_files import NOT_IN_XML, rezipped, workbook
from hypothesis import given, strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font

from spanwise.corpora.readers import xlsx
from spanwise.types import Document

read = documents_of(xlsx.read)

ANY_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WORDS = ANY_WORDS.map(lambda text: " ".join(NOT_IN_XML.sub("", text).split()))
NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def lines_of(book: openpyxl.Workbook) -> list[str]:
    """The lines of the first sheet."""
    file = BytesIO()
    book.save(file)
    return read(file.getvalue(), "a.xlsx").text.splitlines()[2:]


def sheet_of(row: str, workbook_part: str = "") -> Document:
    """A workbook with a row of XML."""
    rows = f'<dimension ref="A1"/><sheetData><row r="1">{row}</row></sheetData>'
    sheet = f'<worksheet xmlns="{NAMESPACE}">{rows}</worksheet>'
    data = rezipped(workbook({"S": [["x"]]}), {"xl/worksheets/sheet1.xml": sheet})
    with zipfile.ZipFile(BytesIO(data)) as archive:
        part = archive.read("xl/workbook.xml").decode()
    return read(
        rezipped(data, {"xl/workbook.xml": part.replace(' fullCalcOnLoad="1"', workbook_part)}), "a.xlsx"
    )


def test_sheets_are_headings_and_rows_are_lines() -> None:
    document = read(workbook({"Towns": [["Town", "People"], ["Eskery", 812]], "Empty": []}), "a.xlsx")
    assert document.text == "Towns\n\nTown | People\nEskery | 812"
    assert [(h.level, h.text) for h in document.headings] == [(1, "Towns"), (2, "Town | People")]


def test_empty_cells_and_empty_rows_are_kept() -> None:
    document = read(workbook({"S": [["a", None, "c"], [], ["d"]]}), "a.xlsx")
    assert document.text == "S\n\na |  | c\n\nd"


def test_each_row_of_a_table_has_the_same_number_of_cells() -> None:
    rows = [["A", "B", "C"], [None, 2, None], [None, None, 3], [1]]
    document = read(workbook({"S": rows}), "a.xlsx")
    assert document.text.splitlines()[2:] == ["A | B | C", " | 2 | ", " |  | 3", "1 |  | "]


def test_a_row_with_an_empty_first_cell_has_its_label_from_the_start_of_the_line() -> None:
    document = read(workbook({"S": [["A", "B"], [None, "b"]]}), "a.xlsx")
    label = document.labels[-1]
    assert (label.text, document.text[label.start :]) == ("S!B2", " | b")


def test_a_title_above_a_table_has_no_empty_cells() -> None:
    document = read(workbook({"S": [["Prices"], ["Plan", "Price"], ["Pro", 38]]}), "a.xlsx")
    assert document.text == "S\n\nPrices\nPlan | Price\nPro | 38"


def test_columns_that_are_empty_in_a_whole_table_are_left_out_around_it_and_few_inside() -> None:
    document = read(workbook({"S": [[None, None, "a", *[None] * 99, "b"], [None, None, "c"]]}), "a.xlsx")
    assert document.text == "S\n\na" + " | " * 9 + "b\nc" + " | " * 9


def test_a_merged_cell_is_repeated_in_its_range() -> None:
    book = openpyxl.Workbook()
    rows = [["", "Q1", "", "Q2", ""], ["North", 1, 2, 3, 4], ["", 5, 6, 7, 8]]
    for row in rows:
        book.active.append([value or None for value in row])
    for area in ("B1:C1", "D1:E1", "A2:A3"):
        book.active.merge_cells(area)
    assert lines_of(book) == [" | Q1 | Q1 | Q2 | Q2", "North | 1 | 2 | 3 | 4", "North | 5 | 6 | 7 | 8"]


def test_a_merged_title_and_a_merged_text_are_not_repeated() -> None:
    book = openpyxl.Workbook()
    book.active.append(["Prices"])
    book.active.append(["Plan", "Price"])
    book.active["A4"] = "Note"
    book.active.merge_cells("A1:B1")
    book.active.merge_cells("A4:B9")
    assert lines_of(book) == ["Prices", "Plan | Price", "", "Note"]


def test_copies_of_merged_cells_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.xlsx.MAX_COPIES", 3)
    book = openpyxl.Workbook()
    for number in range(4):
        book.active.append(["N" if number == 0 else None, number])
    book.active.merge_cells("A1:A4")
    assert lines_of(book) == ["N | 0", "N | 1", "N | 2", " | 3"]


def test_a_sparse_sheet_is_not_filled_with_empty_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.xlsx.MAX_EMPTY", 2)
    document = read(workbook({"S": [["a"], [None, "b"], [None, None, "c"]]}), "a.xlsx")
    assert document.text == "S\n\na\nb\nc"


@given(rows=st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=5))
def test_every_cell_is_labelled_with_its_place(rows: list[list[str]]) -> None:
    document = read(workbook({"One": rows}), "a.xlsx")
    expected = {
        f"One!{'ABCDE'[x]}{y}": word for y, row in enumerate(rows, 1) for x, word in enumerate(row) if word
    }
    texts = {label.text: document.text[label.start :] for label in document.labels}
    assert set(texts) - {"One"} == set(expected)
    assert all(texts[place].lstrip(" |").startswith(word.lstrip(" |")) for place, word in expected.items())


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (date(2024, 2, 29), "yyyy-mm-dd", "2024-02-29"),
        (datetime(2024, 2, 29, 13, 5), "d/m/yy h:mm", "2024-02-29 13:05"),
        (datetime(2024, 2, 29, 13, 5), "h:mm", "13:05"),
        (time(7, 8, 9), "h:mm:ss", "7:08:09"),
        (timedelta(hours=30), "[h]:mm", "30:00"),
        (0.256, "0.0%", "25.6%"),
        (1234.5, "#,##0.00", "1,234.50"),
        (0.1 + 0.2, "General", "0.3"),
        (10**15, "0", "1000000000000000"),
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
    assert sheet_of(cell).text == f"S\n\n{expected}"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('<c r="A1"><f>SUM(B2:B5)</f></c>', "=SUM(B2:B5)"),
        ('<c r="A1"><f>SUM(B2:B5)</f><v></v></c>', "=SUM(B2:B5)"),
        ('<c r="A1" t="str"><f>A2</f></c>', "=A2"),
        ('<c r="A1"><f>_xlfn.CONCAT(B1,"x")</f></c>', '=CONCAT(B1,"x")'),
        ('<c r="A1"><f t="array" ref="A1">SUM(B1:B2*C1:C2)</f></c>', "=SUM(B1:B2*C1:C2)"),
        (
            '<c r="A1"><f t="shared" si="0" ref="A1:B1">A2+1</f><v>7</v></c>'
            '<c r="B1"><f t="shared" si="0"/></c>',
            "7 | =B2+1",
        ),
        ('<c r="A1"><f t="dataTable" ref="A1" r1="B1"/></c>', "="),
        ('<c><f t="shared" si="0" ref="A1">A2+1</f></c>', "="),
    ],
)
def test_a_formula_without_a_stored_value_is_shown(row: str, expected: str) -> None:
    assert sheet_of(row).text == f"S\n\n{expected}"


def test_an_empty_text_is_a_stored_value() -> None:
    assert sheet_of('<c r="A1"><v>1</v></c><c r="B1" t="str"><f>A2</f><v></v></c>').text == "S\n\n1"


@pytest.mark.parametrize(("setting", "expected"), [('fullCalcOnLoad="1"', "=A2"), ("", "0")])
def test_a_zero_that_awaits_its_computation_is_no_value(setting: str, expected: str) -> None:
    assert sheet_of("<c><f>A2</f><v>0</v></c>", f" {setting}").text == f"S\n\n{expected}"


def test_the_remark_counts_formulas_without_a_value() -> None:
    remark = sheet_of("".join(f'<c r="{column}1"><f>A2</f></c>' for column in "ABCD")).metadata["remark"]
    assert remark == "formulas without a stored value: 4 cells, such as S!A1"


def test_a_giant_workbook_is_cut_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.xlsx.MAX_CELLS", 3)
    document = read(workbook({"A": [["1", "2"], ["3", "4"]], "B": [["5"]]}), "a.xlsx")
    assert document.text == "A\n\n1 | 2"
    assert document.metadata["remark"] == "read up to the limit of 3 cells: A, B"


def test_rich_text_is_as_shown_and_struck_cells_are_left_out() -> None:
    book = openpyxl.Workbook()
    struck = TextBlock(InlineFont(strike=True), "40")
    raised = TextBlock(InlineFont(vertAlign="superscript"), "5")
    book.active.append(
        [CellRichText("2.6 × 10", raised), CellRichText(struck, " 55 crowns"), "06:00", "a_x000D_\nb"]
    )
    book.active["C1"].font = Font(strike=True)
    assert lines_of(book) == ["2.6 × 10⁵ | 55 crowns |  | a b"]


def test_the_labels_of_hidden_cells_say_so() -> None:
    book = openpyxl.Workbook()
    for row in (["Room", "Price", "Cost"], ["Heron", 90, 41], ["Old wing", 55, 30]):
        book.active.append(row)
    book.active.column_dimensions["C"].hidden = True
    book.active.row_dimensions[3].hidden = True
    file = BytesIO()
    book.save(file)
    labels = [label.text for label in read(file.getvalue(), "a.xlsx").labels]
    assert labels[1:4] == ["Sheet!A1", "Sheet!B1", "Sheet!C1 (hidden)"]
    assert labels[4:7] == ["Sheet!A2", "Sheet!B2", "Sheet!C2 (hidden)"]
    assert all(label.endswith(" (hidden)") for label in labels[7:])
