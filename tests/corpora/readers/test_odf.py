"""OpenDocument texts, spreadsheets and presentations become their visible text."""

from __future__ import annotations

import pytest
from helpers.document_checks import documents_of
from helpers.office_files import as_odt, odf, rezipped

from spanwise.corpora.readers import odf as reader
from spanwise.errors import DocumentRejected
from spanwise.types import Document

read_presentation = documents_of(reader.read_presentation)
read_spreadsheet = documents_of(reader.read_spreadsheet)
read_text = documents_of(reader.read_text)


def text_of(body: str, styles: str = "") -> Document:
    return read_text(odf("text", body, styles), "letter.odt")


def sheet(rows: str, styles: str = "") -> Document:
    table = f'<table:table table:name="S" table:style-name="ta1">{rows}</table:table>'
    return read_spreadsheet(odf("spreadsheet", table, styles), "a.ods")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<text:p>one</text:p><text:p/><text:p>two</text:p>", "one\n\ntwo"),
        ('<text:p>a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d</text:p>', "a   b\tc\nd"),
        ("<text:p>a\n  b <text:span>c</text:span>d</text:p>", "a b cd"),
        (
            "<text:tracked-changes><text:changed-region><text:deletion><text:p>old</text:p></text:deletion>"
            "</text:changed-region></text:tracked-changes><text:p>new<text:change/></text:p>",
            "new",
        ),
        ("<text:p>seen<office:annotation><text:p>comment</text:p></office:annotation></text:p>", "seen"),
        (
            "<text:p>x</text:p><text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
            "<text:p>inner</text:p></text:list-item></text:list></text:list-item><text:list-item>"
            "<text:p>two</text:p></text:list-item></text:list><text:p>y</text:p>",
            "x\n\n- one\n  - inner\n- two\n\ny",
        ),
        (
            "<text:p>Hale<text:note><text:note-citation>1</text:note-citation><text:note-body>"
            "<text:p>A miller.</text:p></text:note-body></text:note> wrote.</text:p><text:p>End.</text:p>",
            "Hale [1] wrote.\n\nEnd.\n\n[1] A miller.",
        ),
        (
            "<text:p>around<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame></text:p>",
            "around\n\nbox",
        ),
        ("<text:section><text:p>inside</text:p></text:section>", "inside"),
    ],
)
def test_the_text_is_what_a_person_sees(body: str, expected: str) -> None:
    assert text_of(body).text == expected


def test_tables_are_lines_of_cells_and_frames_are_text() -> None:
    cells = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    head = f"<table:table-header-rows><table:table-row>{cells.format('a')}{cells.format('b')}"
    rows = head + "</table:table-row></table:table-header-rows>"
    wide = cells.replace("cell>", 'cell table:number-columns-spanned="2">', 1)
    merged = f"<table:table-row>{wide.format('1')}<table:covered-table-cell/></table:table-row>"
    assert text_of(f"<table:table>{rows}{merged}</table:table>").text == "a | b\n1 | 1"
    frame = f"<table:table><table:table-row>{cells.format('framed')}</table:table-row></table:table>"
    assert text_of(frame).text == "framed"


def test_headings_have_levels_and_titles_come_by_style() -> None:
    styles = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    document = text_of(
        '<text:p text:style-name="P1">The mill</text:p><text:h text:outline-level="2">Owners</text:h>', styles
    )
    assert [(h.level, h.text, h.start) for h in document.headings] == [(1, "The mill", 0), (2, "Owners", 10)]
    assert document.title == "The mill"


def test_an_encrypted_file_is_refused() -> None:
    manifest = '<m:manifest xmlns:m="x"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    with pytest.raises(DocumentRejected, match="encrypted OpenDocument file"):
        read_text(rezipped(as_odt("words"), {"META-INF/manifest.xml": manifest}), "a.odt")


def test_cells_show_their_text_and_repeat() -> None:
    document = sheet(
        "<table:table-row><table:table-cell><text:p>Town</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="2"/>'
        "<table:table-cell><text:p>Share</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
        '<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="percentage" '
        'table:number-columns-repeated="2"><text:p>25 %</text:p></table:table-cell></table:table-row>'
    )
    assert document.text == "S\n\nTown |  |  | Share\n\n25 % | 25 %\n25 % | 25 %"
    assert [label.text for label in document.labels] == "S S!A1 S!D1 S!A5 S!B5 S!A6 S!B6".split()
    assert [heading.text for heading in document.headings] == ["S", "Town | | | Share"]


def test_slides_have_titles_notes_and_labels() -> None:
    frame = "<draw:frame {}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    notes = f"<presentation:notes>{frame.format('', 'said')}</presentation:notes>"
    title = frame.format('presentation:class="title"', "Title")
    hidden = '<style:style style:name="dp1"><style:p presentation:visibility="hidden"/></style:style>'
    show = (
        f'<draw:page draw:style-name="dp1">{frame.format("", "body")}{title}{notes}</draw:page>'
        "<draw:page><draw:custom-shape><text:p>shape</text:p></draw:custom-shape></draw:page>"
    )
    document = read_presentation(odf("presentation", show, hidden), "a.odp")
    assert document.text == "Title\n\nbody\n\nNotes: said\n\nshape"
    assert document.page_starts == (0, 26)
    assert [label.text for label in document.labels] == ["slide 1", "slide 1, notes", "slide 2"]
    assert document.metadata["remark"] == "hidden slides: 1"
