"""Tables in stored texts: their columns, and where each cell is."""

from dataclasses import replace

import pytest

from spanwise.corpora import tables
from spanwise.corpora.readers.builder import build_document
from spanwise.corpora.readers.csv import read as read_csv
from spanwise.corpora.tables import count_headers, find_tables, may_hold_rows
from spanwise.types import Document, Passage, Table

MARKDOWN = """# Prices

| Plan | Price \\| year |
|:-----|-------:|
| **Pro** | 450 EUR |
| Free |  |

```
| no | table |
|----|-------|
| in | code  |
```
"""


def document(text: str, media_type: str = "text/html") -> Document:
    return Document("a", media_type, "", "", text)


def cells(text: str, table: Table) -> list[list[str]]:
    return [[text[start:end] for start, end in row] for row in table.rows]


def test_a_markdown_table_has_a_cell_for_each_column():
    [table] = find_tables(document(MARKDOWN, "text/markdown"))
    assert table.columns == ("Plan", "Price \\| year")
    assert cells(MARKDOWN, table)[1:] == [["**Pro**", "450 EUR"], ["Free", ""]]


@pytest.mark.parametrize(
    "markdown",
    [
        "Plan | Year\n--- | ---\nPro | 450",
        "> | Plan | Year |\n> |---|---|\n> | Pro | 450 |",
        "|Plan|Year|\n|-|-|\n|Pro|450|\n",
    ],
)
def test_markdown_tables_are_written_in_several_ways(markdown):
    [table] = find_tables(document(markdown, "text/markdown"))
    assert cells(markdown, table) == [["Plan", "Year"], ["Pro", "450"]]


def test_lines_with_bars_are_a_table_of_the_generated_formats():
    text = "Prices\n\nPlan | Price\nPro | 450\nFree | \n\nMore words | and no table"
    [table] = find_tables(document(text))
    assert table.columns == ("Plan", "Price")
    assert cells(text, table) == [["Plan", "Price"], ["Pro", "450"], ["Free", ""]]


def test_rows_of_another_width_are_another_table():
    text = "Plan | Price\nPro | 450\nTown | Mill | Year\nEskery | Low | 1820"
    assert [table.columns for table in find_tables(document(text))] == [
        ("Plan", "Price"),
        ("Town", "Mill", "Year"),
    ]


def test_tables_beside_each_other_are_two():
    lines = [
        "Staff |  |  | Vans | ",
        "Name | Role |  | Plate | Due",
        "Pia | Cook |  | TK 4 | May",
        "Jon | Clerk |  |  | ",
    ]
    text = "\n".join(lines)
    assert [(table.columns, len(table.rows)) for table in find_tables(document(text))] == [
        (("Name", "Role"), 3),
        (("Plate", "Due"), 2),
    ]


def test_numbers_behind_an_empty_column_are_of_the_same_table():
    text = "Town | Mill |  | 2021 | 2022\nEskery | Low |  | 12 | 14\nHolm | High |  | 9 | 8"
    [table] = find_tables(document(text))
    assert len(table.columns) == 5


def test_cells_of_csv_are_found_without_their_quotes():
    text = 'sep=;\nPlan;Note\n"Pro";"says ""all"""\n'
    table_document = build_document(read_csv(text.encode()), text.encode(), "a.csv")
    [table] = find_tables(table_document)
    assert table.columns == ("Plan", "Note")
    assert cells(text, table)[1] == ["Pro", 'says ""all""']


def test_of_a_huge_table_the_rows_at_the_top_and_near_passages_are_held(monkeypatch):
    text = "id,city\n" + "".join(f"{number},Oslo\n" for number in range(1000))
    monkeypatch.setattr(tables, "MAX_WHOLE", 1000)
    monkeypatch.setattr(tables, "TOP", 20)
    start = text.index("900,")
    [table] = find_tables(Document("a.csv", "text/csv", "", "", text), [(start, start + 18)])
    assert table.columns == ("id", "city")
    assert not table.is_whole
    assert [text[slice(*row[0])] for row in table.rows] == ["id", "0", "900", "901"]


def test_records_of_json_lines_are_rows():
    text = "user: ines\ncode: E4\n\nuser: tomo\ncode: E5\nms: 4\n"
    [table] = find_tables(document(text, "application/x-ndjson"))
    assert table.columns == ("user", "code", "ms")
    assert cells(text, table) == [["ines", "E4", ""], ["tomo", "E5", "4"]]


def test_what_is_left_out_is_in_no_cell():
    text = "Plan | Price\nPro | 450 ~~500~~"
    page = Document("a", "text/html", "", "", text, left_out=((23, 30),))
    [table] = find_tables(page)
    assert cells(text, table)[1] == ["Pro", "450"]


@pytest.mark.parametrize(
    ("rows", "n_headers"),
    [
        ([["Plan", "Price"], ["Pro", "450"]], 1),
        ([["", "2021", "2022"], ["Costs", "1290", "1310"]], 1),
        ([["Year", "2021", "2022"], ["Opened", "1999", "2004"]], 0),
        ([["Office", "Weekdays", "Weekdays"], ["Office", "Open", "Close"], ["Lund", "08:00", "17:00"]], 2),
        ([["Eskery", "14.5"], ["Holm", "11"]], 0),
    ],
)
def test_a_header_is_known_by_its_form(rows, n_headers):
    assert count_headers(rows) == n_headers


def test_a_million_bars_take_linear_time():
    assert find_tables(document("|" * 1_000_000, "text/markdown")) == []
    assert find_tables(document("a |" * 300_000 + "\n" + "b | c")) == []


@pytest.mark.parametrize(
    ("text", "label", "may_hold"),
    [
        ("Pro | 450 EUR", "", True),
        ("2001,Ada Rook", "row 2", True),
        ("user: ines", "record 1", True),
        ("The mill burned, they say.", "", False),
    ],
)
def test_only_passages_that_look_like_rows_may_hold_some(text, label, may_hold):
    passage = Passage(1, "a", 0, len(text), text, label=label)
    assert may_hold_rows(passage) is may_hold


def settings_of(text: str, name: str) -> list[tuple[str, ...]]:
    [table] = find_tables(Document(name, "text/plain", "", "", text))
    cells = [[text[start:end] for start, end in row] for row in table.rows]
    return [(label, *row) for label, row in zip(table.labels, cells, strict=True)]


def test_settings_stand_below_their_sections() -> None:
    server = "server:\n  # port: 80\n  port: 9191  # new\n  tls:\n    on: true\n"
    yaml = f'{server}workers:\n  - name: "cutter"\n    retries: 3\n'
    assert settings_of(yaml, "a.yml") == [
        ("server", "port", "9191"),
        ("server tls", "on", "true"),
        ("workers", "name", "cutter"),
        ("workers cutter", "retries", "3"),
    ]
    assert settings_of('[cache]\nport = 6379\n;port = 1\n\n[tool.x]\nname = "a b"\n', "a.ini") == [
        ("cache", "port", "6379"),
        ("tool.x", "name", "a b"),
    ]


def test_attributes_of_an_element_are_cells_of_its_record() -> None:
    text = "item (id: 7, shelf: C4):\nname: Lantern\n\nitem (id: 8, shelf: D1):\nname: Compass\n"
    [table] = find_tables(replace(document(text, "application/xml"), id="a.xml"))
    assert table.columns == ("id", "shelf", "name")
    assert [text[start:end] for start, end in table.rows[1]] == ["8", "D1", "Compass"]


def test_a_table_goes_on_at_the_top_of_the_next_page() -> None:
    first = "Part | Price\nReed | 16.27\nBeam | 55.78\n"
    second = "Cord | 53.29\nBolt | 48.97\n"
    text = f"{first}page 1\n{second}"
    start = text.index("Cord")
    [table] = find_tables(replace(document(text), page_starts=(0, start)))
    assert table.columns == ("Part", "Price")
    assert len(table.rows) - table.n_headers == 4
    assert len(find_tables(replace(document(text), page_starts=(0,)))) == 2
