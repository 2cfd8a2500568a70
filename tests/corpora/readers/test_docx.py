"""Word documents become paragraphs and tables in the order of the body."""

from __future__ import annotations

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
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def made(build: Callable[[docx.document.Document], object]) -> Document:
    word = docx.Document()
    build(word)
    return read(saved(word), "letter.docx")


def body_of(xml: str) -> str:
    """The text of a document whose body is this XML."""

    def build(word: docx.document.Document) -> None:
        for element in parse_xml(f"<w:body {NAMESPACES}>{xml}</w:body>"):
            word.element.body.insert_element_before(element, "w:sectPr")

    return made(build).text


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


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
    assert read(saved(word), "a.docx").text == "Hale [2]\n\n[2] A miller."
