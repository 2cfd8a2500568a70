"""Old workbooks give the same lines and labels as new ones."""

from __future__ import annotations

import pytest
from made_xls import DATE, HIDDEN, PERCENT, as_xls

from spanwise.corpora.readers.xls import read
from spanwise.errors import DocumentRejected


def test_cells_are_shown_and_labelled_like_those_of_new_workbooks() -> None:
    rows = [["Town", "Founded", "Share"], ["Eskery  東京", (45351, DATE), (0.25, PERCENT)], [0.5, True, "x"]]
    document = read(as_xls(rows), "a.xls")
    assert document.text == "S\n\nTown | Founded | Share\nEskery 東京 | 2024-02-29 | 25%\n0.5 | TRUE | x"
    assert [label.text for label in document.labels[:3]] == ["S", "S!A1", "S!B1"]
    assert [heading.text for heading in document.headings] == ["S", "Town | Founded | Share"]


def test_hidden_sheets_are_said() -> None:
    assert read(as_xls([["x"]], state=HIDDEN), "a.xls").metadata["remark"] == "hidden sheets: S"


@pytest.mark.parametrize("data", [b"", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", as_xls([["words"]])[:300]])
def test_a_damaged_workbook_is_a_reason(data: bytes) -> None:
    with pytest.raises(DocumentRejected, match="damaged Excel workbook"):
        read(data, "a.xls")
