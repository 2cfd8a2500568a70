"""Presentations become the titles, text, tables, charts and notes of their slides."""

from collections.abc import Callable

import pptx
import pytest
from helpers.document_checks import documents_of
from helpers.files import saved
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.slide import Slide
from pptx.util import Inches

from spanwise.corpora.readers import pptx as reader
from spanwise.types import Document

read = documents_of(reader.read)

TITLE_AND_BODY = 1
TITLE_ONLY = 5
BLANK = 6
NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)


def made(*builds: Callable[[Slide], object], layout: int = TITLE_ONLY) -> Document:
    show = pptx.Presentation()
    for build in builds:
        build(show.slides.add_slide(show.slide_layouts[layout]))
    return read(saved(show), "talk.pptx")


def titled(title: str) -> Callable[[Slide], object]:
    return lambda slide: setattr(slide.shapes.title, "text", title)


def test_slides_are_pages_with_labels_and_headings() -> None:
    document = made(titled("One"), lambda slide: None, titled("Three"))
    assert document.text == "One\n\nThree"
    assert document.page_starts == (0, 3, 5)
    assert [(label.start, label.text) for label in document.labels] == [(0, "slide 1"), (5, "slide 3")]
    assert [(heading.start, heading.text) for heading in document.headings] == [(0, "One"), (5, "Three")]
    assert document.metadata["remark"] == "slides without text: 2"


def test_shapes_are_read_row_by_row() -> None:
    def build(slide: Slide) -> None:
        places = [(5, 1, "below"), (1, 1, "Plan"), (3, 4, "14 crowns"), (3.1, 1, "Budget")]
        for top, left, text in places:
            slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(1)).text_frame.text = text

    assert made(build, layout=BLANK).text == "Plan\n\nBudget\n\n14 crowns\n\nbelow"


def test_bodies_are_lists_with_levels_and_notes_have_a_label() -> None:
    def build(slide: Slide) -> None:
        slide.shapes.title.text = "Owners"
        frame = slide.placeholders[1].text_frame
        frame.text = "Hale"
        frame.add_paragraph().text = "of the mill"
        frame.paragraphs[1].level = 1
        slide.notes_slide.notes_text_frame.text = "said\ntwice"

    document = made(build, layout=TITLE_AND_BODY)
    assert document.text == "Owners\n\n- Hale\n  - of the mill\n\nNotes: said\ntwice"
    labels = {label.text: document.text[label.start :][:5] for label in document.labels}
    assert labels == {"slide 1": "Owner", "slide 1, notes": "Notes"}


def test_tables_are_lines_of_cells() -> None:
    def build(slide: Slide) -> None:
        table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
        for index, words in enumerate(["Town", "People", "Eskery", ""]):
            table.cell(index // 2, index % 2).text = words

    assert made(build, layout=BLANK).text == "Town | People\nEskery | "


def test_charts_are_tables_of_their_numbers() -> None:
    def build(slide: Slide) -> None:
        data = CategoryChartData()
        data.categories = ["2021", "2022"]
        data.add_series("Visitors", (19.5, 21))
        kind = XL_CHART_TYPE.COLUMN_CLUSTERED
        chart = slide.shapes.add_chart(kind, 0, 0, Inches(4), Inches(4), data).chart
        chart.has_title = True
        chart.chart_title.text_frame.text = "The fair"

    assert made(build, layout=BLANK).text == "The fair\n | 2021 | 2022\nVisitors | 19.5 | 21"


def test_numbers_of_charts_are_shown_in_their_format() -> None:
    def build(slide: Slide) -> None:
        data = CategoryChartData()
        data.categories = ["a"]
        data.add_series("Tonnes", (1234567,))
        data.add_series("Share", (0.755,), number_format="0.0%")
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(4), data)

    assert made(build, layout=BLANK).text == " | a\nTonnes | 1234567\nShare | 75.5%"


def test_numbered_items_have_their_numbers() -> None:
    numbered = '<a:pPr lvl="{}"><a:buAutoNum type="{}"/></a:pPr>'
    steps = [(0, "arabicPeriod"), (1, "alphaLcParenR"), (1, "alphaLcParenR"), (0, "arabicPeriod")]

    def build(slide: Slide) -> None:
        body = slide.shapes.add_textbox(0, 0, Inches(2), Inches(2)).text_frame._txBody
        for level, kind in [*steps, (1, "alphaLcParenR")]:
            source = f"<a:p {NAMESPACES}>{numbered.format(level, kind)}{run('x')}</a:p>"
            body.append(parse_xml(source))

    assert made(build, layout=BLANK).text == "1. x\n  a. x\n  b. x\n2. x\n  a. x"


def boxed(paragraph: str) -> Callable[[Slide], object]:
    """Builds a slide with a text box that has this paragraph."""

    def build(slide: Slide) -> None:
        box = slide.shapes.add_textbox(0, 0, Inches(2), Inches(2))
        box.text_frame.text = "x"
        old = box.text_frame.paragraphs[0]._p
        old.getparent().replace(old, parse_xml(f"<a:p {NAMESPACES}>{paragraph}</a:p>"))

    return build


def run(text: str, properties: str = "") -> str:
    return f"<a:r><a:rPr {properties}/><a:t>{text}</a:t></a:r>"


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        (run("300", 'strike="sngStrike"') + run("400", 'strike="dblStrike"') + run("450"), "450"),
        (run("old", 'strike="noStrike"'), "old"),
        (run("10") + run("1", 'baseline="30000"') + run("2", 'baseline="30000"') + run(" m"), "10¹² m"),
        (run("CO") + run("2", 'baseline="-25000"') + run("!", 'baseline="0"'), "CO₂!"),
        (
            f"<m:oMath><m:f><m:num>{run('1+a')}</m:num><m:den>{run('2')}</m:den></m:f>"
            f"<m:sSup><m:e>{run('x')}</m:e><m:sup>{run('3')}</m:sup></m:sSup></m:oMath>",
            "(1+a)/2x³",
        ),
    ],
)
def test_runs_are_stored_as_they_are_shown(paragraph: str, expected: str) -> None:
    assert made(boxed(paragraph), layout=BLANK).text == expected


def test_struck_words_are_left_out_of_titles_and_notes() -> None:
    def build(slide: Slide) -> None:
        slide.shapes.title.text = "Old"
        slide.shapes.title.text_frame.paragraphs[0].runs[0]._r.get_or_add_rPr().set("strike", "sngStrike")
        frame = slide.notes_slide.notes_text_frame
        frame.text = "gone"
        frame.paragraphs[0].runs[0]._r.get_or_add_rPr().set("strike", "sngStrike")
        slide.shapes.add_textbox(0, 0, Inches(2), Inches(2)).text_frame.text = "New"

    assert made(build).text == "New"


def test_hidden_shapes_are_left_out() -> None:
    def build(slide: Slide) -> None:
        for name in ("shown", "hidden"):
            box = slide.shapes.add_textbox(0, 0, Inches(2), Inches(2))
            box.text_frame.text = name
        box._element.nvSpPr.cNvPr.set("hidden", "1")

    assert made(build, layout=BLANK).text == "shown"


@pytest.mark.parametrize(("choice", "fallback"), [("words", " "), ("", "words"), ("words", "other words")])
def test_one_alternative_with_text_is_read(choice: str, fallback: str) -> None:
    def build(slide: Slide) -> None:
        group = slide.shapes.add_group_shape()._element
        inner = "<mc:Choice Requires='a14'/><mc:Fallback/>"
        alternatives = parse_xml(f"<mc:AlternateContent {NAMESPACES}>{inner}</mc:AlternateContent>")
        for alternative, words in zip(alternatives, (choice, fallback), strict=True):
            box = slide.shapes.add_textbox(0, 0, Inches(2), Inches(2))
            box.text_frame.text = words
            alternative.append(box._element)
        group.append(alternatives)

    assert made(build, layout=BLANK).text == "words"


def test_spanned_cells_repeat_their_text() -> None:
    def build(slide: Slide) -> None:
        table = slide.shapes.add_table(3, 3, 0, 0, Inches(2), Inches(2)).table
        for index, words in enumerate(["Day", "Hours", "", "", "from", "to", "Monday", "8", ""]):
            table.cell(index // 3, index % 3).text = words
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(0, 0).merge(table.cell(1, 0))

    assert made(build, layout=BLANK).text == "Day | Hours | Hours\nDay | from | to\nMonday | 8 | "


def test_diagrams_are_lists_of_their_texts() -> None:
    def build(slide: Slide) -> None:
        points = "".join(f"<d:pt><d:t><a:p>{run(words)}</a:p></d:t></d:pt>" for words in ("Mill", "Ferry"))
        data = f'<d:dataModel xmlns:d="d" {NAMESPACES}><d:ptLst>{points}</d:ptLst></d:dataModel>'
        part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, data.encode())
        frame = slide.shapes.add_table(1, 1, 0, 0, Inches(2), Inches(2))._element
        inner = frame.find(".//{*}graphicData")
        inner.set("uri", "http://schemas.openxmlformats.org/drawingml/2006/diagram")
        ids = parse_xml(f'<d:relIds xmlns:d="d" {NAMESPACES} r:dm="{slide.part.relate_to(part, "x")}"/>')
        inner.replace(inner[0], ids)

    assert made(build, layout=BLANK).text == "Mill\nFerry"
