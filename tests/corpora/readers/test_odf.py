"""OpenDocument texts, spreadsheets and presentations become their visible text."""

import pytest
from helpers.document_checks import documents_of
from helpers.office_files import ODF_NAMESPACES, as_odt, odf, rezipped

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
    head = f"<table:table-header-rows><table:table-row>{''.join(map(cells.format, 'abc'))}"
    rows = head + "</table:table-row></table:table-header-rows>"
    wide = cells.replace("cell>", 'cell table:number-columns-spanned="2">', 1)
    merged = (
        f"<table:table-row>{wide.format('1')}<table:covered-table-cell/>{cells.format('2')}</table:table-row>"
    )
    assert text_of(f"<table:table>{rows}{merged}</table:table>").text == "a | b | c\n1 | 1 | 2"
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


def cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def test_a_merged_cell_of_a_sheet_is_repeated() -> None:
    north = cell("North", 'table:number-rows-spanned="2"')
    rows = [f"{north}{cell('Oak')}", f"<table:covered-table-cell/>{cell('Ash')}"]
    document = sheet("".join(f"<table:table-row>{row}</table:table-row>" for row in rows))
    assert document.text == "S\n\nNorth | Oak\nNorth | Ash"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('table:formula="of:=SUM([.B2:.B5];[$Prices.A1])"', "=SUM(B2:B5;$Prices.A1)"),
        ('table:formula="of:=[.A2]" office:value-type="string" office:string-value=""', ""),
        ('table:formula="of:=[.A2]" office:value-type="float" office:value="7.5"', "7.5"),
        ('office:value-type="date" office:date-value="2024-06-18"', "2024-06-18"),
    ],
)
def test_a_cell_of_a_sheet_without_text_shows_its_value_or_formula(attributes: str, expected: str) -> None:
    document = sheet(f"<table:table-row>{cell('x')}<table:table-cell {attributes}/></table:table-row>")
    assert document.text == (f"S\n\nx | {expected}" if expected else "S\n\nx")


STYLES = (
    '<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="T2">'
    '<style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="T3" style:parent-style-name="T2"/>'
    '<style:style style:name="T4" style:parent-style-name="T2">'
    '<style:text-properties style:text-line-through-style="none"/></style:style>'
    '<style:style style:name="up"><style:text-properties style:text-position="super 58%"/></style:style>'
    '<style:style style:name="up2"><style:text-properties style:text-position="33% 58%"/></style:style>'
    '<style:style style:name="down"><style:text-properties style:text-position="-33% 58%"/></style:style>'
    '<style:style style:name="level"><style:text-properties style:text-position="0% 100%"/></style:style>'
)


def span(style: str, text: str) -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"<text:p>a{span('T1', 'x')}{span('T2', 'x')}{span('T3', 'x')}b{span('T4', 'c')}</text:p>", "abc"),
        (f'<text:p text:style-name="T2">x{span("T4", "shown")}</text:p>', ""),
        ('<text:section text:display="none"><text:p>x</text:p></text:section><text:p>a</text:p>', "a"),
        ('<text:p>a<text:variable-set text:display="none">5</text:variable-set></text:p>', "a"),
        ('<text:h text:style-name="T3">x</text:h><text:p>a</text:p>', "a"),
    ],
)
def test_hidden_and_struck_text_is_left_out(body: str, expected: str) -> None:
    assert text_of(f"{body}<text:p>end</text:p>", STYLES).text == f"{expected}\n\nend".strip()


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (f"10{span('up', '1')}{span('up2', '2')} m", "10¹² m"),
        (f"SO{span('down', '4')}{span('up', '2-')}", "SO₄²⁻"),
        (f"4{span('up', 'th')} 5{span('level', '6')}", "4th 56"),
        (
            "120<text:note><text:note-citation>4</text:note-citation></text:note>",
            "120 [4]",
        ),
    ],
)
def test_what_is_above_or_below_the_line_does_not_join_a_number(spans: str, expected: str) -> None:
    assert text_of(f"<text:p>{spans}</text:p>", STYLES).text == expected


def test_text_of_cells_is_as_shown() -> None:
    cells = cell(f"10{span('up', '5')}") + cell(f"{span('T2', '40')} 55") + cell("x", 'table:style-name="T2"')
    assert sheet(f"<table:table-row>{cells}</table:table-row>", STYLES).text.endswith("10⁵ | 55")


def test_styles_inherit_from_the_part_of_named_styles() -> None:
    named = "<office:document-styles {}><office:styles>{}</office:styles></office:document-styles>"
    data = odf(
        "text",
        f"<text:p>a{span('T9', 'x')}</text:p>",
        '<style:style style:name="T9" style:parent-style-name="T1"/>',
    )
    styles = {"styles.xml": named.format(ODF_NAMESPACES, STYLES)}
    assert read_text(rezipped(data, styles), "a.odt").text == "a"


def test_spanned_cells_repeat_their_text() -> None:
    def cell(text: str, spans: str = "") -> str:
        return f"<table:table-cell {spans}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    rows = (
        cell("Day", 'table:number-rows-spanned="2"')
        + cell("Hours", 'table:number-columns-spanned="2"')
        + covered,
        covered + cell("") + cell("to"),
        cell("Monday", 'table:number-columns-spanned="2" table:number-rows-spanned="2"')
        + covered
        + cell("8"),
        '<table:covered-table-cell table:number-columns-repeated="2"/>' + cell("9"),
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    lines = ["Day | Hours | Hours", "Day |  | to", "Monday | Monday | 8", "Monday | Monday | 9"]
    assert text_of(f"<table:table>{table}</table:table>").text == "\n".join(lines)


def test_hidden_shapes_are_left_out_of_slides() -> None:
    shape = "<draw:custom-shape {}><text:p>{}</text:p></draw:custom-shape>"
    shapes = shape.format('draw:display="none"', "x") + shape.format('draw:display="always"', "shown")
    group = f"<draw:g>{shapes}</draw:g>"
    document = read_presentation(odf("presentation", f"<draw:page>{shapes}{group}</draw:page>"), "a.odp")
    assert document.text == "shown\n\nshown"
