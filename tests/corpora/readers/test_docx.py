"""Word documents become paragraphs and tables in the order of the body."""

from collections.abc import Callable

import docx
import pytest
from docx.oxml import parse_xml
from helpers.document_checks import documents_of
from helpers.files import saved

from spanwise.corpora.readers import docx as reader
from spanwise.types import Document

read = documents_of(reader.read)

NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
)


def made(build: Callable[[docx.document.Document], object]) -> Document:
    word = docx.Document()
    build(word)
    return read(saved(word), "letter.docx")


def body_of(xml: str, styles: str = "", numbering: str = "") -> str:
    """The text of a document whose body is this XML, with styles and lists."""

    def build(word: docx.document.Document) -> None:
        word.styles.element.extend(parse_xml(f"<w:styles {NAMESPACES}>{styles}</w:styles>"))
        word.part.numbering_part.element.extend(parse_xml(f"<w:x {NAMESPACES}>{numbering}</w:x>"))
        for element in parse_xml(f"<w:body {NAMESPACES}>{xml}</w:body>"):
            word.element.body.insert_element_before(element, "w:sectPr")

    return made(build).text


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


UP = '<w:vertAlign w:val="superscript"/>'
DOWN = '<w:vertAlign w:val="subscript"/>'
STYLES = (
    '<w:style w:type="character" w:styleId="Gone"><w:name w:val="Gone"/><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Child"><w:name w:val="C"/><w:basedOn w:val="Gone"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Old"><w:name w:val="Old"/><w:rPr><w:strike/></w:rPr></w:style>'
)


def test_headings_lists_and_tables_keep_their_order() -> None:
    def build(word: docx.document.Document) -> None:
        word.add_heading("The mill", 0)
        word.add_heading("Owners", 2)
        word.add_paragraph("Hale", style="List Bullet")
        word.add_paragraph("Low", style="List Bullet")
        table = word.add_table(2, 3)
        for index, words in enumerate(["A", "B", "", "1", "", "3"]):
            table.cell(index // 3, index % 3).text = words
        word.add_paragraph("After")

    document = made(build)
    assert document.text == "The mill\n\nOwners\n\n- Hale\n- Low\n\nA | B | \n1 |  | 3\n\nAfter"
    assert [(h.level, h.text, h.start) for h in document.headings] == [(1, "The mill", 0), (2, "Owners", 10)]
    assert document.title == "The mill"


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (f"<w:p>{run('one')}{run(' ')}{run('two')}</w:p>", "one two"),
        (f"<w:p>{run('a')}<w:r><w:tab/></w:r>{run('b')}<w:r><w:br/></w:r>{run('c')}</w:p>", "a\tb\nc"),
        (
            f"<w:p><w:ins>{run('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>",
            "new",
        ),
        (f"<w:sdt><w:sdtContent><w:p>{run('inside')}</w:p></w:sdtContent></w:sdt>", "inside"),
        (f"<w:p><w:hyperlink>{run('link')}</w:hyperlink></w:p>", "link"),
        (f"<w:p><w:r><w:instrText>PAGE</w:instrText></w:r>{run('7')}</w:p>", "7"),
        (
            "<w:p><w:r><mc:AlternateContent>"
            f"<mc:Choice><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent></mc:Choice>"
            f"<mc:Fallback><w:txbxContent><w:p>{run('box')}</w:p></w:txbxContent></mc:Fallback>"
            f"</mc:AlternateContent></w:r>{run('around')}</w:p>",
            "around\n\nbox",
        ),
        (
            f"<w:tbl><w:tr><w:tc><w:p>{run('framed')}</w:p><w:p>{run('text')}</w:p></w:tc></w:tr></w:tbl>",
            "framed\n\ntext",
        ),
        ("<w:p/>", ""),
    ],
)
def test_the_text_is_what_word_shows(xml: str, expected: str) -> None:
    assert body_of(xml) == expected


def test_footnotes_follow_the_body() -> None:
    word = docx.Document()
    word.add_paragraph("Hale")._p.append(
        parse_xml(f'<w:r {NAMESPACES}><w:footnoteReference w:id="2"/></w:r>')
    )
    notes = (
        f'<w:footnotes {NAMESPACES}><w:footnote w:type="separator"><w:p>{run("-")}</w:p></w:footnote>'
        f'<w:footnote w:id="2"><w:p>{run("A miller.")}</w:p></w:footnote></w:footnotes>'
    )
    part = docx.opc.part.Part(
        docx.opc.packuri.PackURI("/word/footnotes.xml"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
        notes.encode(),
        word.part.package,
    )
    word.part.relate_to(part, docx.opc.constants.RELATIONSHIP_TYPE.FOOTNOTES)
    assert read(saved(word), "a.docx").text == "Hale [1]\n\n[1] A miller."


@pytest.mark.parametrize(
    "xml",
    [
        run("x", "<w:vanish/>"),
        run("x", "<w:strike/>"),
        run("x", '<w:dstrike w:val="true"/>'),
        run("x", '<w:rStyle w:val="Gone"/>'),
        run("x", '<w:rStyle w:val="Child"/>'),
        f"<w:hyperlink>{run('x', '<w:strike/>')}</w:hyperlink>",
        f'<w:moveFrom w:id="1">{run("x")}</w:moveFrom>',
    ],
)
def test_hidden_and_struck_runs_are_left_out(xml: str) -> None:
    assert body_of(f"<w:p>{run('a')}{xml}{run('b')}</w:p>", STYLES) == "ab"


@pytest.mark.parametrize(
    "properties",
    ['<w:vanish w:val="0"/>', '<w:strike w:val="false"/>', '<w:rStyle w:val="Gone"/><w:vanish w:val="0"/>'],
)
def test_settings_that_are_off_hide_nothing(properties: str) -> None:
    assert body_of(f"<w:p>{run('x', properties)}</w:p>", STYLES) == "x"


def test_a_paragraph_style_strikes_what_its_runs_do_not_show() -> None:
    shown = run("shown", '<w:strike w:val="0"/>')
    xml = f'<w:p><w:pPr><w:pStyle w:val="Old"/></w:pPr>{run("x")}{shown}</w:p>'
    assert body_of(xml, STYLES) == "shown"


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (run("10") + run("1", UP) + "<w:proofErr/>" + run("2", UP) + run(" m"), "10¹² m"),
        (run("1,250") + run("3.5", UP), "1,250^(3.5)"),
        (run("SO") + run("4", DOWN) + run("2-", UP), "SO₄²⁻"),
        (run("4") + run("th", UP), "4th"),
        (run("120") + '<w:r><w:footnoteReference w:id="4"/></w:r>' + run(" monks"), "120 [1] monks"),
        (run("end. ") + f'<w:r><w:rPr>{UP}</w:rPr><w:endnoteReference w:id="4"/></w:r>', "end. [i]"),
    ],
)
def test_what_is_above_or_below_the_line_does_not_join_a_number(runs: str, expected: str) -> None:
    assert body_of(f"<w:p>{runs}</w:p>") == expected


def test_a_paragraph_whose_end_is_deleted_goes_on_in_the_next() -> None:
    first = paragraph("The fee is", '<w:rPr><w:del w:id="1"/></w:rPr>')
    assert body_of(first + paragraph(" 55 crowns.") + paragraph("End")) == "The fee is 55 crowns.\n\nEnd"
    assert body_of(first + paragraph("") + paragraph("End")) == "The fee is\n\nEnd"


def term(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (f"<m:sSup><m:e>{term('10')}</m:e><m:sup>{term('6')}</m:sup></m:sSup>", "10⁶"),
        (f"<m:sSub><m:e>{term('v')}</m:e><m:sub>{term('max')}</m:sub></m:sSub>", "v_max"),
        (f"{term('1')}<m:f><m:num>{term('1')}</m:num><m:den>{term('2')}</m:den></m:f>", "1 1/2"),
        (f"<m:f><m:num>{term('a+b')}</m:num><m:den>{term('2')}</m:den></m:f>", "(a+b)/2"),
        (f"<m:rad><m:deg/><m:e>{term('a+b')}</m:e></m:rad>", "√(a+b)"),
        (f"{term('2')}<m:d><m:dPr/><m:e>{term('a+b')}</m:e></m:d>", "2(a+b)"),
        (f'<m:d><m:dPr><m:begChr m:val="["/></m:dPr><m:e>{term("a")}</m:e></m:d>', "[a)"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{term("i=1")}</m:sub>'
            f"<m:sup>{term('9')}</m:sup><m:e>{term('i')}</m:e></m:nary>",
            "∑_(i=1)⁹ i",
        ),
        (f"<m:m><m:mr><m:e>{term('1')}</m:e><m:e>{term('2')}</m:e></m:mr></m:m>", "1, 2"),
        (f"{term('a')}<w:del>{term('b')}</w:del>", "a"),
    ],
)
def test_formulas_keep_their_meaning_on_a_line(xml: str, expected: str) -> None:
    assert body_of(f"<w:p><m:oMath>{xml}</m:oMath></w:p>") == expected


BOX = '<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{}"/></w14:checkbox></w:sdtPr></w:sdt>'
FIELD = '<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{}</w:ffData></w:fldChar></w:r>'
ENTRIES = '<w:listEntry w:val="red"/><w:listEntry w:val="blue"/>'


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', "☒"),
        ('<w:r><w:sym w:font="Wingdings" w:char="00A8"/></w:r>', "☐"),
        ('<w:r><w:sym w:font="Wingdings 2" w:char="F0A3"/></w:r>', "☐"),
        ('<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>', "±"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F021"/></w:r>', ""),
        (BOX.format("1"), "☒"),
        (BOX.format("0"), "☐"),
        (FIELD.format('<w:checkBox><w:default w:val="1"/></w:checkBox>'), "☒"),
        (FIELD.format('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>'), "☐"),
        (FIELD.format("<w:checkBox/>"), "☐"),
        (FIELD.format(f'<w:ddList><w:result w:val="1"/>{ENTRIES}</w:ddList>'), "blue"),
        (FIELD.format(f'<w:ddList><w:result w:val="7"/>{ENTRIES}</w:ddList>'), ""),
        (f"<w:sdt><w:sdtPr/><w:sdtContent>{run('chosen')}</w:sdtContent></w:sdt>", "chosen"),
    ],
)
def test_forms_show_their_values(xml: str, expected: str) -> None:
    assert body_of(f"<w:p>{run('Paid: ')}{xml}</w:p>") == f"Paid: {expected}".strip()


def level(depth: int, text: str, form: str = "decimal", rest: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{rest}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def lists(*levels: str, rest: str = "") -> str:
    return (
        f'<w:abstractNum w:abstractNumId="90">{"".join(levels)}</w:abstractNum>'
        f'<w:num w:numId="91"><w:abstractNumId w:val="90"/></w:num>'
        f'<w:num w:numId="92"><w:abstractNumId w:val="90"/>{rest}</w:num>'
    )


def item(text: str, depth: int = 0, number: int = 91, rest: str = "") -> str:
    numbers = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return paragraph(text, numbers + rest)


CLAUSES = (level(0, "%1."), level(1, "%1.%2"), level(2, "(%3)", "lowerLetter"))


def test_clauses_are_numbered_by_level() -> None:
    body = item("a") + item("b", 1) + item("c", 2) + item("d", 2) + item("e", 1) + item("f") + item("g", 1)
    expected = "1. a\n1.1 b\n(a) c\n(b) d\n1.2 e\n2. f\n2.1 g"
    assert body_of(body, numbering=lists(*CLAUSES)) == expected


def test_lists_of_one_definition_count_on_unless_one_starts_again() -> None:
    body = item("a") + item("b", number=92)
    assert body_of(body, numbering=lists(*CLAUSES)) == "1. a\n2. b"
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    body += item("c", number=92)
    assert body_of(body, numbering=lists(*CLAUSES, rest=again)) == "1. a\n5. b\n6. c"


def test_a_list_can_replace_a_level() -> None:
    rest = f'<w:lvlOverride w:ilvl="0">{level(0, "%1)", "upperRoman")}</w:lvlOverride>'
    assert body_of(item("a", number=92), numbering=lists(*CLAUSES, rest=rest)) == "I) a"


def test_legal_levels_count_in_digits() -> None:
    levels = (level(0, "Article %1", "upperRoman"), level(1, "%1.%2", "decimalZero", "<w:isLgl/>"))
    assert body_of(item("a") + item("b", 1), numbering=lists(*levels)) == "Article I a\n1.1 b"


def test_headings_have_the_numbers_of_their_style() -> None:
    style = (
        '<w:style w:type="paragraph" w:styleId="Part"><w:name w:val="heading 7"/><w:pPr><w:numPr>'
        '<w:numId w:val="91"/></w:numPr></w:pPr></w:style>'
    )
    named = '<w:pStyle w:val="Part"/>'
    plain = paragraph("c", f'{named}<w:numPr><w:numId w:val="0"/></w:numPr>')
    body = paragraph("a", named) + paragraph("b", named) + plain
    assert body_of(body, style, lists(*CLAUSES)) == "1. a\n\n2. b\n\nc"


def test_bullets_and_unknown_lists_have_a_dash() -> None:
    body = item("a") + item("b", number=99) + item("c", 1)
    assert body_of(body, numbering=lists(level(0, "§", "bullet"), level(1, "", "none"))) == "- a\n- b\nc"


def test_paragraphs_that_are_not_shown_do_not_count() -> None:
    deleted = item("", rest="<w:rPr><w:del/></w:rPr>")
    assert body_of(item("a") + deleted + item("b"), numbering=lists(*CLAUSES)) == "1. a\n2. b"


def test_numbers_are_shown_in_cells() -> None:
    row = f"<w:tr><w:tc>{item('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
    assert body_of(f"<w:tbl>{row}{row}</w:tbl>", numbering=lists(*CLAUSES)) == "1. a | b\n2. a | b"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def test_spanned_cells_repeat_their_text() -> None:
    wide = '<w:gridSpan w:val="2"/>'
    start = '<w:vMerge w:val="restart"/>'
    rows = (
        cell("", start) + cell("Hours", wide),
        cell("", "<w:vMerge/>") + cell("from") + cell("to"),
        cell("Day", wide + start) + cell(""),
        cell("", wide + '<w:vMerge w:val="continue"/>') + cell("9"),
        cell("short"),
    )
    table = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    lines = [" | Hours | Hours", " | from | to", "Day | Day | ", "Day | Day | 9", "short |  | "]
    assert body_of(f"<w:tbl>{table}</w:tbl>") == "\n".join(lines)


def test_deleted_rows_are_left_out() -> None:
    row = f"<w:tr>{cell('a')}{cell('b')}</w:tr>"
    deleted = row.replace("<w:tr>", "<w:tr><w:trPr><w:del/></w:trPr>")
    assert body_of(f"<w:tbl>{deleted}{row}</w:tbl>") == "a | b"


def test_a_long_text_is_not_repeated() -> None:
    row = cell("x" * 400, '<w:gridSpan w:val="999999"/>')
    text = body_of(f"<w:tbl><w:tr>{row}{cell('b')}</w:tr></w:tbl>")
    assert text.count("x") == 400


def test_embedded_documents_are_read_once_or_named() -> None:
    def build(word: docx.document.Document) -> None:
        body = word.element.body
        for name, content, data in (("a", "text/html", b"<h2>In</h2><p>words"), ("b", "image/png", b"x")):
            address = docx.opc.packuri.PackURI(f"/word/{name}.bin")
            part = docx.opc.part.Part(address, content, data, word.part.package)
            chunk = f'<w:altChunk {NAMESPACES} r:id="{word.part.relate_to(part, "x")}"/>'
            body.insert_element_before(parse_xml(chunk), "w:sectPr")
        body.insert_element_before(parse_xml(chunk), "w:sectPr")

    document = made(build)
    assert document.text == "In\n\nwords"
    assert [heading.text for heading in document.headings] == ["In"]
    assert document.metadata["remark"].startswith("embedded documents that are not read: rId")
