"""Tables in text are stored unchanged; rows have labels, stay whole and get the names of their columns."""

import pytest
from helpers.document_checks import documents_of
from helpers.files import csv_of
from hypothesis import given, strategies as st

from spanwise.corpora.passages import split
from spanwise.corpora.readers import csv
from spanwise.corpora.readers.csv import cells, records

read = documents_of(csv.read)

FIELDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
TOWNS = 'town,population,note\nMill Town,4000,"old,\nbut growing"\nHale,12,\n'


def test_every_row_has_a_label() -> None:
    labels = [(label.text, label.start) for label in read(TOWNS.encode(), "towns.csv").labels]
    assert labels == [("row 1", 0), ("row 2", TOWNS.index("Mill")), ("row 3", TOWNS.index("Hale"))]


def test_every_passage_has_the_columns_and_its_row() -> None:
    rows = "".join(f"Town {number},{number}00,x\n" for number in range(200))
    passages = split(read(f"town,population,note\n{rows}".encode(), "towns.csv"))
    assert len(passages) >= 3
    assert {passage.heading for passage in passages} == {("towns", "town, population, note")}
    assert passages[-1].label.startswith("row ")


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_the_content_gives_the_delimiter(delimiter: str) -> None:
    rows = [["town", "price, in euro"], ["Hale", "1,5"], ["Low; end", "2|7"]]
    document = read(csv_of(rows, delimiter), "towns.csv")
    assert document.headings[0].text == "town, price, in euro"


@pytest.mark.parametrize("first", ["Hale,1840", "a,a", "Hale,$3.50", "Hale,12:30"])
def test_a_first_row_of_values_is_no_header(first: str) -> None:
    assert read(f"{first}\nLow,1841\n".encode(), "towns.csv").headings == ()


@pytest.mark.parametrize("above", ["sep=;\n", "Prices of 2024\n", "Prices of 2024;;\n", "Prices, net\n\n"])
def test_a_line_above_the_header_is_no_header(above: str) -> None:
    document = read(f"{above}Plan;Month;Year\nPro;1,5;15,0\nTeam;2,5;25,0\n".encode(), "prices.csv")
    assert [heading.text for heading in document.headings] == ["Plan, Month, Year"]
    assert document.text.startswith(above)


def test_a_header_may_begin_with_an_empty_name() -> None:
    assert read(b",town\n1,Hale\n2,Low\n", "towns.csv").headings[0].text == "town"


def test_a_first_line_can_name_the_delimiter() -> None:
    document = read(b"sep=;\nplan, month; euro, cent\na, b; c, d\n", "prices.csv")
    assert document.headings[0].text == "plan, month, euro, cent"


@given(st.lists(st.lists(FIELDS, min_size=2, max_size=4), min_size=1, max_size=5), st.sampled_from(",\t;|"))
def test_records_are_those_that_another_writer_wrote(rows: list[list[str]], delimiter: str) -> None:
    text = csv_of(rows, delimiter).decode()
    values = [cells(record, delimiter) for _, record in records(text, delimiter)]
    assert values == [[" ".join(field.split()) for field in row] for row in rows]


def test_more_rows_than_the_limit_are_left_out_with_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.csv.MAX_ROWS", 2)
    document = read(TOWNS.encode(), "towns.csv")
    assert document.text == TOWNS[: TOWNS.index("Hale")]
    assert document.metadata["remark"] == "only the first 2 rows"
